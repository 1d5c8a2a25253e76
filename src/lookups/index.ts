/** `bet-wallet/lookups`: what happened to a bet, a transaction, a player, told for people. */
export { type BetStory, tellBet } from './bet-story.js'
export type * from './records.js'
export type { BetStep } from './steps.js'
export { formatBet, formatPlayer, formatTransaction } from './text.js'
