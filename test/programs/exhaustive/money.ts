/**
 * Invariants of the money, whatever the rules are. They compare the observed movements with the records and
 * the answers, and do not checker whether an answer was right.
 */
import { toCents } from '../../../src/testing/platform.js'
import { type Call, isCall, type Letter, paid, voided } from './alphabet.js'
import type { Ending } from './handler.js'
import type { ObservedStore } from './observed-store.js'

export const netZero = 'a placebet and its rollback net to zero'
export const neverCollected = 'an uncollected clawback is never collected later'
export const refusedChangesNothing = 'a refused request does not change the balance'
export const addsUp = 'a balance is the initial balance plus all recorded deltas'
export const neverNegative = 'a balance is never negative'
export const balanceExisted = 'an answered balance existed between commit and answer'

export interface Violation {
  invariant: string
  expected: string
  actual: string
}

export const euros = (cents: number | bigint) => (Number(cents) / 100).toFixed(2)

/** Checked in every state, of each account. */
export function violationOfStore(observed: ObservedStore): Violation | null {
  for (const currency of ['EUR', 'JPY'] as const) {
    const balance = observed.balance(currency)
    const actual = `a balance of ${euros(balance)} ${currency}`
    if (balance < 0) return { invariant: neverNegative, expected: 'at least 0.00', actual }
    const recorded = observed.memory
      .transactions()
      .reduce((sum, each) => sum + (each.accountCurrency === currency ? Number(toCents(each.delta)) : 0), 0)
    const opening = observed.openings[currency]
    const external = currency === 'EUR' ? observed.external : 0
    const expected = opening + external + recorded
    if (balance === expected) continue
    return {
      invariant: addsUp,
      expected: `${euros(opening)} initially, ${euros(external)} external and ${euros(recorded)} recorded: ${euros(expected)}`,
      actual,
    }
  }
  return null
}

/** Checked at the end of a schedule, when every request is answered and every commit is delivered. */
export function violationsOfEnd(
  observed: ObservedStore,
  answered: readonly { letter: Letter; ending: Ending }[],
): readonly Violation[] {
  const violations: Violation[] = []
  const calls = answered.filter((one): one is { letter: Call; ending: Ending } => isCall(one.letter))
  const movements = [...observed.movements.values()]
  const sum = (of: (move: (typeof movements)[number]) => boolean) =>
    movements.filter(of).reduce((total, { cents }) => total + cents, 0)

  for (const bet of ['b1', 'b2']) {
    const net = sum(
      ({ betId, operation }) => betId === bet && (operation === 'placebet' || operation === 'rollbackbet'),
    )
    const rolledBack = calls.some(
      ({ letter: { request }, ending }) =>
        request.operation === 'rollbackbet' && request.betId === bet && ending.text.startsWith('ok'),
    )
    if (net > 0 || (rolledBack && net !== 0)) {
      violations.push({
        invariant: netZero,
        expected: rolledBack
          ? `a net of 0.00 for the placebets and rollbacks of ${bet}: a rollback succeeded`
          : `rollbacks of ${bet} return at most its stakes`,
        actual: `a net of ${euros(net)}`,
      })
    }
  }

  // All credits of a type have the same amount. Each uncollected clawback leaves one of them to the platform.
  for (const [settlement, unsettlement, credit] of [
    ['BET_PAID', 'UNSCORED', paid],
    ['VOIDED', 'UNVOIDED', voided],
  ] as const) {
    const credited = sum(({ operation, type }) => operation === 'settlement' && type === settlement)
    const collected = -sum(({ operation, type }) => operation === 'unsettlement' && type === unsettlement)
    const uncollected = new Set(
      calls
        .filter(
          ({ letter: { request }, ending }) =>
            request.operation === 'unsettlement' &&
            request.type === unsettlement &&
            ending.errorCode === 'INSUFFICIENT_FUNDS',
        )
        .map(({ letter: { request } }) => request.transactionId),
    ).size
    const owed = uncollected * Number(credit)
    if (collected + owed > credited) {
      violations.push({
        invariant: neverCollected,
        expected: `at most the ${euros(credited)} credited is collected or left to the platform`,
        actual: `${euros(collected)} collected and ${euros(owed)} left to the platform`,
      })
    }
  }

  for (const { letter, ending } of calls) {
    const { operation, transactionId } = letter.request
    const final =
      ending.errorCode === 'INSUFFICIENT_FUNDS' ||
      (operation === 'placebet' && ending.errorCode !== null && ending.errorCode !== 'TRANSACTION_CONFLICT')
    const cents = sum(move => move.operation === operation && move.transactionId === transactionId)
    if (final && cents !== 0) {
      violations.push({
        invariant: refusedChangesNothing,
        expected: `no change by ${operation} ${transactionId}: it was refused as ${ending.errorCode}`,
        actual: `a change of ${euros(cents)}`,
      })
    }
  }
  return violations
}
