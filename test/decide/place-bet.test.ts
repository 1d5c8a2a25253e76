import { describe, expect, test } from 'vitest'
import { defaultPolicy } from '../../src/decide/decision.js'
import { decidePlaceBet, placeBetRule as rule } from '../../src/decide/place-bet.js'
import type { PlaceBetRequest } from '../../src/requests.js'
import type { Bet } from '../../src/store.js'
import {
  alice,
  bet,
  frozen,
  type Known,
  live,
  placeBet,
  snapshot,
  transaction,
  unmoved,
  withProblems,
} from '../fixtures.js'
import {
  betOfAnotherPlayer,
  betRolledBack,
  currencyMismatch,
  payloadMismatch,
  testOrder,
  unknownPlayer,
} from './order-of-checks.js'

const decide = (fields: Partial<PlaceBetRequest> = {}, known: Known = {}) =>
  decidePlaceBet(frozen(placeBet(fields)), frozen(snapshot(known)))

/** The changes by D6: the refused transaction, and nothing else. */
const recorded = (errorCode: string, reason: string, request = placeBet()) => ({
  transaction: transaction({
    amount: request.amount,
    currency: request.currency,
    delta: '0',
    walletTransactionId: null,
    refusal: { errorCode, description: expect.any(String) },
    reason,
  }),
  bet: null,
  credit: null,
  account: unmoved,
  request,
})

describe('given a player with 100 and an unknown bet', () => {
  test('when 30 is placed, then 30 is debited under every guard', () => {
    expect(decide()).toEqual({
      outcome: { ok: true, replayed: false, balance: '70', currency: 'EUR', walletTransactionId: null },
      reason: 'ACCEPTED',
      changes: {
        transaction: transaction({ delta: '-30', walletTransactionId: null }),
        bet: bet({ stake: '30', status: 'PLACED', credits: {}, revision: 1 }),
        credit: null,
        account: { currency: 'EUR', delta: '-30', floor: '0' },
        request: placeBet(),
      },
    })
  })

  test('when the whole balance is placed, then it is debited', () => {
    expect(decide({ amount: '100.00' }).outcome).toMatchObject({ ok: true, balance: '0' })
  })

  test('when one cent more than the balance is placed, then INSUFFICIENT_FUNDS is recorded (D6)', () => {
    const decision = decide({ amount: '100.01' })
    expect(decision.outcome).toMatchObject({ ok: false, replayed: false, errorCode: 'INSUFFICIENT_FUNDS' })
    expect(decision.reason).toBe('INSUFFICIENT_FUNDS')
    expect(decision.changes).toEqual(
      recorded('INSUFFICIENT_FUNDS', 'INSUFFICIENT_FUNDS', placeBet({ amount: '100.01' })),
    )
  })

  test('when the bet is refused, then the recorded refusal equals the answer', () => {
    const { outcome, changes } = decide({ amount: '101' })
    expect(outcome).toEqual({ ok: false, replayed: false, ...changes?.transaction.refusal })
  })
})

describe('given a stake of 0', () => {
  test.each(['100', '0', '-5'])(
    'when the balance is %s, then the bet is placed and the balance does not change',
    balance => {
      const { outcome, changes } = decide({ amount: '0' }, { player: { ...alice, balance } })
      expect(outcome).toMatchObject({ ok: true, balance })
      expect(changes?.account).toEqual(unmoved)
      expect(changes?.transaction.delta).toBe('0')
      expect(changes?.bet).toEqual(bet({ stake: '0' }))
    },
  )

  test('when the amount is 0.00, then the bet is placed and the balance does not change', () => {
    const { changes } = decide({ amount: '0.00' }, { player: { ...alice, balance: '0' } })
    expect(changes?.account).toEqual(unmoved)
    expect(changes?.transaction.delta).toBe('0')
  })
})

describe('given a known bet', () => {
  const used = 'betId: already used by another transaction'
  const rolledBack = 'betId: the bet was rolled back'

  test.each<[string, Partial<Bet>, string, string]>([
    ['placed under another transactionId (D10)', {}, 'BET_ALREADY_EXISTS', used],
    ['settled', { credits: { BET_PAID: live('60') }, revision: 2 }, 'BET_ALREADY_EXISTS', used],
    [
      'rolled back before it arrived (D11)',
      { status: 'ROLLED_BACK', stake: '0' },
      'BET_ROLLED_BACK',
      rolledBack,
    ],
    ["another player's (D15)", { playerId: 'bob' }, 'BET_OF_ANOTHER_PLAYER', used],
  ])('when it is %s, then INVALID_BET is recorded', (_what, fields, reason, description) => {
    const decision = decide({}, { bet: bet(fields) })
    expect(decision.outcome).toEqual({ ok: false, replayed: false, errorCode: 'INVALID_BET', description })
    expect(decision.reason).toBe(reason)
    expect(decision.changes).toEqual(recorded('INVALID_BET', reason))
  })
})

test('D23: given a player in EUR, when a bet in USD is placed, then INVALID_CURRENCY is recorded', () => {
  const decision = decide({ currency: 'USD' })
  expect(decision.outcome).toMatchObject({ ok: false, errorCode: 'INVALID_CURRENCY' })
  expect(decision.reason).toBe('CURRENCY_MISMATCH')
  expect(decision.changes).toEqual(
    recorded('INVALID_CURRENCY', 'CURRENCY_MISMATCH', placeBet({ currency: 'USD' })),
  )
})

test('D16, D8: given an unknown player, when a bet is placed, then INVALID_PLAYER, and nothing is recorded', () => {
  expect(decide({}, { player: null })).toMatchObject({
    outcome: { ok: false, replayed: false, errorCode: 'INVALID_PLAYER' },
    reason: 'UNKNOWN_PLAYER',
    changes: null,
  })
})

describe('given two problems, when a bet is placed, then the first check decides the answer', () => {
  const order = [
    payloadMismatch(transaction({ betId: 'bet-2' })),
    unknownPlayer,
    {
      ...betOfAnotherPlayer,
      ...{ errorCode: 'INVALID_BET', description: 'betId: already used by another transaction' },
    },
    betRolledBack,
    currencyMismatch,
    {
      reason: 'INSUFFICIENT_FUNDS',
      errorCode: 'INSUFFICIENT_FUNDS',
      description: 'amount: insufficient funds',
      request: { amount: '100.01' },
    },
  ]
  testOrder(order, (...problems) => {
    const { request, known } = withProblems(problems, null)
    return decide(request, known)
  })
})

test.each(['REFUSED_BY_OPERATOR', 'REFUSED_BY_STORE'] as const)(
  'D6: given a bet that the rules allow, when it is %s, then its error code is recorded and the balance does not change',
  reason => {
    const refusal = { errorCode: 'LIMIT_REACHED', description: 'the limit of today' }
    expect(rule.refuse?.(frozen(placeBet()), frozen(snapshot()), defaultPolicy, reason, refusal)).toEqual({
      outcome: { ok: false, replayed: false, ...refusal },
      reason,
      changes: {
        transaction: transaction({ delta: '0', walletTransactionId: null, refusal, reason }),
        bet: null,
        credit: null,
        account: unmoved,
        request: placeBet(),
      },
    })
  },
)
