/** The credits of a bet (D17, D18). */
import { add } from './money.js'
import type { AddedCredit, Bet, Credit, SettlementType } from './store.js'

/** The bet with one credit changed, at the next revision. */
export function withCredit(bet: Bet, type: SettlementType, credit: Credit): Bet {
  return { ...bet, credits: { ...bet.credits, [type]: credit }, revision: bet.revision + 1 }
}

/**
 * The bet with an amount added to what is live of a type.
 *
 * @throws {RangeError} for a sum of over 40 digits
 */
export function creditedBet(bet: Bet, { type, amount }: Pick<AddedCredit, 'type' | 'amount'>): Bet {
  const { live, reversed, owed } = bet.credits[type] ?? { live: null, reversed: '0', owed: '0' }
  return withCredit(bet, type, { live: add(live ?? '0', amount), reversed, owed })
}
