import { describe, expect, test } from 'vitest'
import { decideRollbackBet, rollbackBetRule as rule } from '../../src/decide/rollback-bet.js'
import type { Bet, Credit, WalletSnapshot } from '../../src/store.js'
import {
  alice,
  bet,
  closed,
  type Flaw,
  flawed,
  frozen,
  live,
  pairsOf,
  reversed,
  rollbackBet,
  snapshot,
  transaction,
} from '../fixtures.js'

const decide = (known: Partial<WalletSnapshot> = {}) =>
  decideRollbackBet(frozen(rollbackBet()), frozen(snapshot(known)))

const asked = transaction({
  operation: 'rollbackbet',
  transactionId: 'rollback-1',
  amount: null,
  currency: null,
  type: 'TECHNICAL_ERROR',
  delta: '0',
  walletTransactionId: null,
})

describe('given a placed bet of 30', () => {
  test('when it is rolled back, then 30 are given back without a floor', () => {
    expect(decide({ bet: bet() })).toEqual({
      outcome: { ok: true, replayed: false, balance: '130', currency: 'EUR', walletTransactionId: null },
      reason: 'ACCEPTED',
      changes: {
        transaction: { ...asked, delta: '30' },
        bet: bet({ status: 'ROLLED_BACK', revision: 2 }),
        balance: { currency: 'EUR', delta: '30', floor: null },
        request: rollbackBet(),
      },
    })
  })

  test('when the balance is below 0, then it is given back all the same', () => {
    expect(decide({ bet: bet(), player: { ...alice, balance: '-50' } }).outcome).toMatchObject({
      ok: true,
      balance: '-20',
    })
  })

  test.each(['0', '0.00'])(
    'when its stake is %s, then it is rolled back and no balance is touched',
    stake => {
      expect(decide({ bet: bet({ stake }) }).changes).toEqual({
        transaction: { ...asked, delta: expect.stringMatching(/^0(\.00)?$/) },
        bet: bet({ stake, status: 'ROLLED_BACK', revision: 2 }),
        balance: null,
        request: rollbackBet(),
      })
    },
  )
})

test('D11: given an unknown bet, when it is rolled back, then a tombstone is left and nothing moves', () => {
  expect(decide()).toEqual({
    outcome: { ok: true, replayed: false, balance: '100', currency: 'EUR', walletTransactionId: null },
    reason: 'TOMBSTONE_CREATED',
    changes: {
      transaction: asked,
      bet: bet({ stake: '0', status: 'ROLLED_BACK', revision: 1 }),
      balance: null,
      request: rollbackBet(),
    },
  })
})

test("D11: given a player in JPY, when an unknown bet is rolled back, then the tombstone is in the player's currency", () => {
  expect(decide({ player: { ...alice, currency: 'JPY' } }).changes?.bet?.currency).toBe('JPY')
})

describe('D12: given a bet that is rolled back already', () => {
  test.each<[string, Partial<Bet>]>([
    ['that was placed', {}],
    ['that never came', { stake: '0' }],
    ['in a currency that the player no longer has', { currency: 'JPY' }],
  ])('when one %s is rolled back again, then success, the bet stays and nothing moves', (_what, fields) => {
    expect(decide({ bet: bet({ status: 'ROLLED_BACK', revision: 2, ...fields }) })).toEqual({
      outcome: { ok: true, replayed: false, balance: '100', currency: 'EUR', walletTransactionId: null },
      reason: 'ALREADY_ROLLED_BACK',
      changes: { transaction: asked, bet: null, balance: null, request: rollbackBet() },
    })
  })
})

describe('D13: given a bet with credits, when it is rolled back', () => {
  const refused = (reason: string) => ({
    outcome: { ok: false, replayed: false, errorCode: 'INVALID_BET' },
    reason,
    changes: null,
  })

  test.each(['BET_PAID', 'VOIDED', 'CASHOUT'])('and %s is live, then it is refused', type => {
    expect(decide({ bet: bet({ credits: { [type]: live('60') } }) })).toMatchObject(refused('BET_SETTLED'))
  })

  test('and a live credit is 0 (a lost bet), then it is refused', () => {
    expect(decide({ bet: bet({ credits: { BET_PAID: live('0') } }) })).toMatchObject(refused('BET_SETTLED'))
  })

  test('and one of two is live, then it is refused', () => {
    const credits = { BET_PAID: reversed('60'), VOIDED: live('30') }
    expect(decide({ bet: bet({ credits }) })).toMatchObject(refused('BET_SETTLED'))
  })

  test.each<[string, Credit]>([
    ['closed', closed('60')],
    ['closed once and reversed once', { live: null, reversed: '40', owed: '60' }],
  ])('and the credit was %s (D7), then it stays refused', (_what, VOIDED) => {
    expect(decide({ bet: bet({ credits: { VOIDED } }) })).toMatchObject(refused('CLAWBACK_UNCOLLECTED'))
  })

  test('and every credit was reversed, then the stake is given back', () => {
    const credits = { BET_PAID: reversed('60'), VOIDED: { ...reversed('30'), owed: '0.00' } }
    const { changes } = decide({ bet: bet({ credits, revision: 5 }) })
    expect(changes?.balance).toEqual({ currency: 'EUR', delta: '30', floor: null })
    expect(changes?.bet).toEqual(bet({ credits, status: 'ROLLED_BACK', revision: 6 }))
  })
})

test('D16: given an unknown player, when an unknown bet is rolled back, then INVALID_PLAYER and no tombstone', () => {
  expect(decide({ player: null })).toMatchObject({
    outcome: { ok: false, replayed: false, errorCode: 'INVALID_PLAYER' },
    reason: 'UNKNOWN_PLAYER',
    changes: null,
  })
})

test("D23: given a bet whose currency is no longer the player's, when it is rolled back, then nothing moves", () => {
  expect(decide({ bet: bet(), player: { ...alice, currency: 'JPY' } })).toMatchObject({
    outcome: { ok: false, replayed: false, errorCode: 'INVALID_CURRENCY' },
    reason: 'BET_CURRENCY_MISMATCH',
    changes: null,
  })
})

describe('given two flaws, when it is rolled back, then the earlier check answers', () => {
  const surface: Flaw[] = [
    {
      reason: 'PAYLOAD_MISMATCH',
      errorCode: 'TRANSACTION_CONFLICT',
      transaction: { ...asked, betId: 'bet-2' },
    },
    { reason: 'UNKNOWN_PLAYER', errorCode: 'INVALID_PLAYER', player: null },
    { reason: 'BET_OF_ANOTHER_PLAYER', errorCode: 'INVALID_PLAYER', bet: { playerId: 'bob' } },
  ]
  const states: Flaw[] = [
    { reason: 'BET_SETTLED', errorCode: 'INVALID_BET', bet: { credits: { BET_PAID: live('60') } } },
    {
      reason: 'CLAWBACK_UNCOLLECTED',
      errorCode: 'INVALID_BET',
      bet: { credits: { BET_PAID: closed('60') } },
    },
  ]
  const currency: Flaw = {
    reason: 'BET_CURRENCY_MISMATCH',
    errorCode: 'INVALID_CURRENCY',
    player: { currency: 'JPY' },
  }
  const decideWith = (...both: Flaw[]) => decide(flawed(both, bet()).known)

  test.each([...surface, ...states, currency].map(flaw => [flaw.reason, flaw] as const))(
    '%s alone',
    (reason, flaw) => {
      expect(decideWith(flaw)).toMatchObject({ reason, outcome: { errorCode: flaw.errorCode } })
    },
  )

  const pairs = states.flatMap(state => pairsOf([...surface, state, currency]))
  test.each([...new Map(pairs.map(([a, b]) => [`${a.reason} before ${b.reason}`, { a, b }]))])(
    '%s',
    (_name, { a, b }) => {
      expect(decideWith(a, b)).toMatchObject({ reason: a.reason, outcome: { errorCode: a.errorCode } })
    },
  )

  test("a rolled back bet of another player's is still refused", () => {
    expect(decide({ bet: bet({ playerId: 'bob', status: 'ROLLED_BACK' }) }).reason).toBe(
      'BET_OF_ANOTHER_PLAYER',
    )
  })
})

test('given a rollback, then nobody may refuse it: money that goes back must be able to go back', () => {
  expect(rule.refuse).toBeUndefined()
})
