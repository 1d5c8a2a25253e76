/** Finds the call that made a balance wrong: not the reading of the balance that noticed it. */
import { type Decimal, parseDecimal, subtract } from '../numbers/decimal.js'
import type { AuditExchange } from './report.js'

/** -1, 0 or 1. */
export const signOf = ({ units }: Decimal) => (units < 0n ? -1 : units > 0n ? 1 : 0)

/**
 * @param opening the balance before the first exchange
 * @param lastGoodExchange index of the last exchange after which the balance was right; -1 for none
 * @param seenAt index of the exchange that shows the wrong balance
 * @param difference the wrong balance minus the right one
 * @returns the index of the last call that changed the balance in that direction; if none did, of the last
 * call before the wrong balance was seen: it should have changed it
 */
export function callThatChanged(
  exchanges: readonly AuditExchange[],
  opening: Decimal,
  lastGoodExchange: number,
  seenAt: number,
  difference: Decimal,
): number {
  let balance = opening
  let latest: number | null = null
  let found: number | null = null
  for (const index of inOrderOfAnswers(exchanges, seenAt)) {
    const exchange = exchanges[index] as AuditExchange
    const reads = exchange.isReading === true
    if (!reads && index > lastGoodExchange) latest = index
    // The smallest bet of a reading is undone by the next call.
    const after = reads && exchange.path === '/placebet' ? null : parseDecimal(exchange.balance ?? '')
    if (after === null) continue
    const change = subtract(after, balance)
    // A call without a balance, such as a refusal, shows its effect in the next answer.
    if (index > lastGoodExchange && signOf(change) === signOf(difference) && latest !== null)
      found = reads ? latest : index
    balance = after
  }
  return found ?? latest ?? seenAt
}

function inOrderOfAnswers(exchanges: readonly AuditExchange[], seenAt: number): number[] {
  const moment = (index: number) => exchanges[index]?.answeredAtMs ?? exchanges[index]?.sentAtMs ?? 0
  const before = Array.from({ length: seenAt }, (_, index) => index)
  return [...before.sort((one, other) => moment(one) - moment(other) || one - other), seenAt]
}

/** How much a call changed the balance, by the answers before it; `null` if that is unknown. */
export function changeBy(
  exchanges: readonly AuditExchange[],
  opening: Decimal,
  index: number,
): Decimal | null {
  const after = parseDecimal(exchanges[index]?.balance ?? '')
  if (after === null) return null
  const earlier = exchanges.slice(0, index).findLast(({ balance }) => balance !== null)
  const before = earlier === undefined ? opening : parseDecimal(earlier.balance ?? '')
  return before === null ? null : subtract(after, before)
}
