/** The order of the checks of a rule: of two problems, the earlier one decides the answer. */
import { expect, test } from 'vitest'
import type { Transaction } from '../../src/store.js'
import { type Problem, pairsOf } from '../fixtures.js'

/** @param transaction the recorded one, which differs from the request */
export const payloadMismatch = (transaction: Transaction): Problem => ({
  reason: 'PAYLOAD_MISMATCH',
  errorCode: 'TRANSACTION_CONFLICT',
  description: 'transactionId: already used with a different player, bet, amount, currency or type',
  transaction,
})

export const unknownPlayer: Problem = {
  reason: 'UNKNOWN_PLAYER',
  errorCode: 'INVALID_PLAYER',
  description: 'playerId: unknown player',
  player: null,
}

export const betOfAnotherPlayer: Problem = {
  reason: 'BET_OF_ANOTHER_PLAYER',
  errorCode: 'INVALID_PLAYER',
  description: 'playerId: the bet belongs to another player',
  bet: { playerId: 'bob' },
}

export const betRolledBack: Problem = {
  reason: 'BET_ROLLED_BACK',
  errorCode: 'INVALID_BET',
  description: 'betId: the bet was rolled back',
  bet: { status: 'ROLLED_BACK' },
}

export const currencyMismatch: Problem = {
  reason: 'CURRENCY_MISMATCH',
  errorCode: 'INVALID_CURRENCY',
  description: "currency: differs from the player's currency",
  request: { currency: 'USD' },
}

export const betCurrencyMismatch: Problem = {
  reason: 'BET_CURRENCY_MISMATCH',
  errorCode: 'INVALID_CURRENCY',
  description: "betId: bet currency differs from the player's current currency",
  player: { currency: 'JPY' },
}

/** @param order of the checks; a list stands for problems that exclude each other */
export function testOrder(
  order: readonly (Problem | readonly Problem[])[],
  decideWith: (...problems: Problem[]) => object,
): void {
  const groups = order.map(entry => [entry].flat() as Problem[])
  test.each(groups.flat().map(problem => [problem.reason, problem] as const))(
    '%s alone',
    (reason, problem) => {
      const { errorCode, description } = problem
      expect(decideWith(problem)).toMatchObject({ reason, outcome: { errorCode, description } })
    },
  )

  const pairs = pairsOf(groups).flatMap(([earlier, later]) =>
    earlier.flatMap(first => later.map(second => [first.reason, second.reason, first, second] as const)),
  )
  test.each(pairs)('%s before %s', (reason, _second, first, second) => {
    expect(decideWith(first, second)).toMatchObject({ reason, outcome: { errorCode: first.errorCode } })
  })
}
