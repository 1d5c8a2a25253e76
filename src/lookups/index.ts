/** `bet-wallet/lookups`: what happened to a bet, a transaction, a player, in words for people. */
export { type BetExplanation, explainBet } from './bet-explanation.js'
export { dailyTotals } from './daily-totals.js'
export type * from './records.js'
export { type DecidedCall, sentenceOf } from './rules.js'
export type { BetStep } from './steps.js'
