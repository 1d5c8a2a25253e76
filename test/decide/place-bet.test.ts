import { describe, expect, test } from 'vitest'
import { decidePlaceBet, placeBetRule as rule } from '../../src/decide/place-bet.js'
import type { PlaceBetRequest } from '../../src/requests.js'
import type { Bet, WalletSnapshot } from '../../src/store.js'
import {
  alice,
  bet,
  type Flaw,
  flawed,
  frozen,
  live,
  pairsOf,
  placeBet,
  snapshot,
  transaction,
} from '../fixtures.js'

const decide = (fields: Partial<PlaceBetRequest> = {}, known: Partial<WalletSnapshot> = {}) =>
  decidePlaceBet(frozen(placeBet(fields)), frozen(snapshot(known)))

/** What D6 writes: the refused transaction, and nothing else. */
const recorded = (errorCode: string, request = placeBet()) => ({
  transaction: transaction({
    amount: request.amount,
    currency: request.currency,
    delta: '0',
    walletTransactionId: null,
    refusal: { errorCode, description: expect.any(String) },
  }),
  bet: null,
  balance: null,
  request,
})

describe('given a player with 100 and an unknown bet', () => {
  test('when 30 is placed, then 30 is taken under every guard', () => {
    expect(decide()).toEqual({
      outcome: { ok: true, replayed: false, balance: '70', currency: 'EUR', walletTransactionId: null },
      reason: 'ACCEPTED',
      changes: {
        transaction: transaction({ delta: '-30', walletTransactionId: null }),
        bet: bet({ stake: '30', status: 'PLACED', credits: {}, revision: 1 }),
        balance: { currency: 'EUR', delta: '-30', floor: '0' },
        request: placeBet(),
      },
    })
  })

  test('when all of it is placed, then it is taken', () => {
    expect(decide({ amount: '100.00' }).outcome).toMatchObject({ ok: true, balance: '0' })
  })

  test('when a cent more is placed, then INSUFFICIENT_FUNDS is recorded (D6)', () => {
    const decision = decide({ amount: '100.01' })
    expect(decision.outcome).toMatchObject({ ok: false, replayed: false, errorCode: 'INSUFFICIENT_FUNDS' })
    expect(decision.reason).toBe('INSUFFICIENT_FUNDS')
    expect(decision.changes).toEqual(recorded('INSUFFICIENT_FUNDS', placeBet({ amount: '100.01' })))
  })

  test('when it is refused, then what is recorded is what is answered', () => {
    const { outcome, changes } = decide({ amount: '101' })
    expect(outcome).toEqual({ ok: false, replayed: false, ...changes?.transaction.refusal })
  })
})

describe('given a stake of 0', () => {
  test.each(['100', '0', '-5'])(
    'when the balance is %s, then it is placed and no balance is touched',
    balance => {
      const { outcome, changes } = decide({ amount: '0' }, { player: { ...alice, balance } })
      expect(outcome).toMatchObject({ ok: true, balance })
      expect(changes?.balance).toBeNull()
      expect(changes?.transaction.delta).toBe('0')
      expect(changes?.bet).toEqual(bet({ stake: '0' }))
    },
  )

  test('when it is written 0.00, then the same', () => {
    const { changes } = decide({ amount: '0.00' }, { player: { ...alice, balance: '0' } })
    expect(changes?.balance).toBeNull()
    expect(changes?.transaction.delta).toBe('0')
  })
})

describe('given a bet that is known', () => {
  test.each<[string, Partial<Bet>, string]>([
    ['placed under another transactionId (D10)', {}, 'BET_ALREADY_EXISTS'],
    ['settled', { credits: { BET_PAID: live('60') }, revision: 2 }, 'BET_ALREADY_EXISTS'],
    ['rolled back before it came (D11)', { status: 'ROLLED_BACK', stake: '0' }, 'BET_ROLLED_BACK'],
    ["another player's (D15)", { playerId: 'bob' }, 'BET_OF_ANOTHER_PLAYER'],
  ])('when it is %s, then INVALID_BET is recorded', (_what, fields, reason) => {
    const decision = decide({}, { bet: bet(fields) })
    expect(decision.outcome).toMatchObject({ ok: false, replayed: false, errorCode: 'INVALID_BET' })
    expect(decision.reason).toBe(reason)
    expect(decision.changes).toEqual(recorded('INVALID_BET'))
  })
})

test('D23: given a player in EUR, when USD is placed, then INVALID_CURRENCY is recorded', () => {
  const decision = decide({ currency: 'USD' })
  expect(decision.outcome).toMatchObject({ ok: false, errorCode: 'INVALID_CURRENCY' })
  expect(decision.reason).toBe('CURRENCY_MISMATCH')
  expect(decision.changes).toEqual(recorded('INVALID_CURRENCY', placeBet({ currency: 'USD' })))
})

test('D16, D8: given an unknown player, when a bet is placed, then INVALID_PLAYER, and nothing is recorded', () => {
  expect(decide({}, { player: null })).toMatchObject({
    outcome: { ok: false, replayed: false, errorCode: 'INVALID_PLAYER' },
    reason: 'UNKNOWN_PLAYER',
    changes: null,
  })
})

describe('given two flaws, when a bet is placed, then the earlier check answers', () => {
  const flaws: Flaw[] = [
    {
      reason: 'PAYLOAD_MISMATCH',
      errorCode: 'TRANSACTION_CONFLICT',
      transaction: transaction({ betId: 'bet-2' }),
    },
    { reason: 'UNKNOWN_PLAYER', errorCode: 'INVALID_PLAYER', player: null },
    { reason: 'BET_OF_ANOTHER_PLAYER', errorCode: 'INVALID_BET', bet: { playerId: 'bob' } },
    { reason: 'BET_ROLLED_BACK', errorCode: 'INVALID_BET', bet: { status: 'ROLLED_BACK' } },
    {
      reason: 'CURRENCY_MISMATCH',
      errorCode: 'INVALID_CURRENCY',
      request: { currency: 'USD' },
    },
    { reason: 'INSUFFICIENT_FUNDS', errorCode: 'INSUFFICIENT_FUNDS', request: { amount: '100.01' } },
  ]

  const decideWith = (...both: Flaw[]) => {
    const { request, known } = flawed(both, null)
    return decide(request, known)
  }

  test.each(flaws.map(flaw => [flaw.reason, flaw] as const))('%s alone', (reason, flaw) => {
    expect(decideWith(flaw)).toMatchObject({ reason, outcome: { errorCode: flaw.errorCode } })
  })

  test.each(pairsOf(flaws).map(([a, b]) => [a.reason, b.reason, a, b] as const))(
    '%s before %s',
    (reason, _later, earlier, later) => {
      expect(decideWith(earlier, later)).toMatchObject({ reason, outcome: { errorCode: earlier.errorCode } })
    },
  )
})

test.each(['REFUSED_BY_OPERATOR', 'REFUSED_BY_STORE'] as const)(
  'D6: given a bet that the rules allow, when it is %s, then their own code is recorded and nothing moves',
  reason => {
    const refusal = { errorCode: 'LIMIT_REACHED', description: 'the limit of today' }
    expect(rule.refuse?.(frozen(placeBet()), frozen(snapshot()), reason, refusal)).toEqual({
      outcome: { ok: false, replayed: false, ...refusal },
      reason,
      changes: {
        transaction: transaction({ delta: '0', walletTransactionId: null, refusal }),
        bet: null,
        balance: null,
        request: placeBet(),
      },
    })
  },
)
