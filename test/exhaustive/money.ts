/**
 * What must hold of the money whatever the rules are. It knows what moved (counted by an onlooker), what was booked and
 * what was answered, and asks nobody whether that was right.
 */
import { toCents } from '../../src/testing/platform.js'
import { type Call, isCall, type Letter, paid, voided } from './alphabet.js'
import type { Ending } from './handler.js'
import type { World } from './world.js'

export const netZero = 'a placebet and its rollback net to zero'
export const neverCollected = 'what was answered 402 is never collected'
export const refusedTakesNothing = 'what was refused takes nothing'
export const addsUp = 'a balance is the opening plus what is booked'
export const neverNegative = 'a balance is never below zero'
export const hadIt = 'an answered balance is one that the player had between commit and answer'

export interface Flaw {
  broken: string
  expected: string
  found: string
}

export const euros = (cents: number | bigint) => (Number(cents) / 100).toFixed(2)

/** At every moment. */
export function flawOfStore(world: World): Flaw | null {
  const balance = world.balance()
  if (balance < 0) {
    return { broken: neverNegative, expected: 'at least 0.00', found: `a balance of ${euros(balance)}` }
  }
  const booked = world.memory.transactions().reduce((sum, { delta }) => sum + Number(toCents(delta)), 0)
  const expected = world.opening + world.external + booked
  if (balance === expected) return null
  return {
    broken: addsUp,
    expected: `${euros(world.opening)} at the opening, ${euros(world.external)} by others and ${euros(booked)} booked: ${euros(expected)}`,
    found: `a balance of ${euros(balance)}`,
  }
}

/** At the end, when everything has been answered and everything that was on its way has landed. */
export function flawsOfEnd(
  world: World,
  answered: readonly { letter: Letter; ending: Ending }[],
): readonly Flaw[] {
  const flaws: Flaw[] = []
  const calls = answered.filter((one): one is { letter: Call; ending: Ending } => isCall(one.letter))
  const moved = [...world.moved.values()]
  const sum = (of: (move: (typeof moved)[number]) => boolean) =>
    moved.filter(of).reduce((total, { cents }) => total + cents, 0)

  for (const bet of ['b1', 'b2']) {
    const net = sum(
      ({ betId, operation }) => betId === bet && (operation === 'placebet' || operation === 'rollbackbet'),
    )
    const rolledBack = calls.some(
      ({ letter: { request }, ending }) =>
        request.operation === 'rollbackbet' && request.betId === bet && ending.text.startsWith('ok'),
    )
    if (net > 0 || (rolledBack && net !== 0)) {
      flaws.push({
        broken: netZero,
        expected: rolledBack
          ? `the rollback of ${bet} was answered with success: 0.00 moved by its placebets and rollbacks`
          : `no more given back for ${bet} than was taken`,
        found: `${euros(net)} moved`,
      })
    }
  }

  // Every credit is of the same amount: who heard a 402 will collect one of them, and so the wallet must not.
  for (const [settlement, unsettlement, credit] of [
    ['BET_PAID', 'UNSCORED', paid],
    ['VOIDED', 'UNVOIDED', voided],
  ] as const) {
    const credited = sum(({ operation, type }) => operation === 'settlement' && type === settlement)
    const collected = -sum(({ operation, type }) => operation === 'unsettlement' && type === unsettlement)
    const left = new Set(
      calls
        .filter(
          ({ letter: { request }, ending }) =>
            request.operation === 'unsettlement' &&
            request.type === unsettlement &&
            ending.errorCode === 'INSUFFICIENT_FUNDS',
        )
        .map(({ letter: { request } }) => request.transactionId),
    ).size
    const owed = left * Number(credit)
    if (collected + owed > credited) {
      flaws.push({
        broken: neverCollected,
        expected: `no more than the ${euros(credited)} credited is collected or, by 402, left to the platform`,
        found: `${euros(collected)} collected and ${euros(owed)} left to the platform`,
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
      flaws.push({
        broken: refusedTakesNothing,
        expected: `${operation} ${transactionId} was answered ${ending.errorCode}: 0.00 moved by it`,
        found: `${euros(cents)} moved`,
      })
    }
  }
  return flaws
}
