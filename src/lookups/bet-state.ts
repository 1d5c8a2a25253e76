/** What became of a bet, in the words of support. Text and pages have them from here. */
import { isZero } from '../money.js'
import type { BetHistory, RecordedBet } from './records.js'
import { isTombstone, wasRefusedFirst } from './steps.js'

/** Of a bet that was taken, or rolled back before it arrived. */
export function betState({ status, credits }: RecordedBet): string {
  if (status === 'ROLLED_BACK') return 'Rolled back'
  const live = Object.entries(credits).filter(([, credit]) => credit.live !== null)
  const [[type = '', credit] = [], another] = live
  if (credit === undefined)
    return Object.keys(credits).length === 0 ? 'Open' : 'Open again: the result was corrected'
  if (another !== undefined) return 'Settled'
  if (type !== 'BET_PAID') return type === 'VOIDED' ? 'Declared void' : 'Cashed out'
  return isZero(credit.live ?? '0') ? 'Lost' : 'Settled'
}

/** With all of its calls, also of a betId that was never taken. */
export function stateOf(history: Omit<BetHistory, 'betId'>): string {
  const { bet, transactions } = history
  if (bet === null) return transactions.length === 0 ? 'Unknown' : 'Refused'
  if (!isTombstone(history)) return betState(bet)
  return wasRefusedFirst(history) ? 'Refused' : 'Cancelled before it arrived'
}
