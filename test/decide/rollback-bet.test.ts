import { describe, expect, test } from 'vitest'
import { decideRollbackBet, rollbackBetRule as rule } from '../../src/decide/rollback-bet.js'
import type { Bet, Credit } from '../../src/store.js'
import {
  alice,
  bet,
  frozen,
  type Known,
  live,
  type Problem,
  reversed,
  rollbackBet,
  snapshot,
  transaction,
  uncollected,
  unmoved,
  withProblems,
} from '../fixtures.js'
import {
  betCurrencyMismatch,
  betOfAnotherPlayer,
  payloadMismatch,
  testOrder,
  unknownPlayer,
} from './order-of-checks.js'

const decide = (known: Known = {}) => decideRollbackBet(frozen(rollbackBet()), frozen(snapshot(known)))

const requested = transaction({
  operation: 'rollbackbet',
  transactionId: 'rollback-1',
  amount: null,
  currency: null,
  type: 'TECHNICAL_ERROR',
  delta: '0',
  walletTransactionId: null,
})

describe('given a placed bet of 30', () => {
  test('when it is rolled back, then 30 are credited back without a floor', () => {
    expect(decide({ bet: bet() })).toEqual({
      outcome: { ok: true, replayed: false, balance: '130', currency: 'EUR', walletTransactionId: null },
      reason: 'ACCEPTED',
      changes: {
        transaction: { ...requested, delta: '30' },
        bet: bet({ status: 'ROLLED_BACK', revision: 2 }),
        credit: null,
        account: { currency: 'EUR', delta: '30', floor: null },
        request: rollbackBet(),
      },
    })
  })

  test('when the balance is below 0, then the stake is credited back nevertheless', () => {
    expect(decide({ bet: bet(), player: { ...alice, balance: '-50' } }).outcome).toMatchObject({
      ok: true,
      balance: '-20',
    })
  })

  test.each(['0', '0.00'])(
    'when its stake is %s, then the bet is rolled back and the balance does not change',
    stake => {
      expect(decide({ bet: bet({ stake }) }).changes).toEqual({
        transaction: { ...requested, delta: expect.stringMatching(/^0(\.00)?$/) },
        bet: bet({ stake, status: 'ROLLED_BACK', revision: 2 }),
        credit: null,
        account: unmoved,
        request: rollbackBet(),
      })
    },
  )
})

test('D11: given an unknown bet, when it is rolled back, then a tombstone is recorded and the balance does not change', () => {
  expect(decide()).toEqual({
    outcome: { ok: true, replayed: false, balance: '100', currency: 'EUR', walletTransactionId: null },
    reason: 'TOMBSTONE_CREATED',
    changes: {
      transaction: { ...requested, reason: 'TOMBSTONE_CREATED' },
      bet: bet({ stake: '0', status: 'ROLLED_BACK', revision: 1 }),
      credit: null,
      account: unmoved,
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
    ['that never arrived', { stake: '0' }],
    ['in a currency that the player no longer has', { currency: 'JPY' }],
  ])(
    'when one %s is rolled back again, then success, and neither the bet nor the balance changes',
    (_what, fields) => {
      expect(decide({ bet: bet({ status: 'ROLLED_BACK', revision: 2, ...fields }) })).toEqual({
        outcome: { ok: true, replayed: false, balance: '100', currency: 'EUR', walletTransactionId: null },
        reason: 'ALREADY_ROLLED_BACK',
        changes: {
          transaction: { ...requested, reason: 'ALREADY_ROLLED_BACK' },
          bet: null,
          credit: null,
          account: unmoved,
          request: rollbackBet(),
        },
      })
    },
  )
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
    ['left uncollected', uncollected('60')],
    ['left uncollected once and reversed once', { live: null, reversed: '40', owed: '60' }],
  ])('and the credit was %s (D7), then it stays refused', (_what, VOIDED) => {
    expect(decide({ bet: bet({ credits: { VOIDED } }) })).toMatchObject(refused('CLAWBACK_UNCOLLECTED'))
  })

  test('and every credit was reversed, then the stake is credited back', () => {
    const credits = { BET_PAID: reversed('60'), VOIDED: { ...reversed('30'), owed: '0.00' } }
    const { changes } = decide({ bet: bet({ credits, revision: 5 }) })
    expect(changes?.account).toEqual({ currency: 'EUR', delta: '30', floor: null })
    expect(changes?.bet).toEqual(bet({ credits, status: 'ROLLED_BACK', revision: 6 }))
  })
})

test('D16: given an unknown player, when an unknown bet is rolled back, then INVALID_PLAYER, and no tombstone is recorded', () => {
  expect(decide({ player: null })).toMatchObject({
    outcome: { ok: false, replayed: false, errorCode: 'INVALID_PLAYER' },
    reason: 'UNKNOWN_PLAYER',
    changes: null,
  })
})

test("D23: given a bet whose currency is no longer the player's, when it is rolled back, then INVALID_CURRENCY and no changes", () => {
  expect(decide({ bet: bet(), player: { ...alice, currency: 'JPY' } })).toMatchObject({
    outcome: { ok: false, replayed: false, errorCode: 'INVALID_CURRENCY' },
    reason: 'BET_CURRENCY_MISMATCH',
    changes: null,
  })
})

describe('given two problems, when a bet is rolled back, then the first check decides the answer', () => {
  const states: Problem[] = [
    {
      reason: 'BET_SETTLED',
      errorCode: 'INVALID_BET',
      description: 'betId: the bet is settled',
      bet: { credits: { BET_PAID: live('60') } },
    },
    {
      reason: 'CLAWBACK_UNCOLLECTED',
      errorCode: 'INVALID_BET',
      description: 'betId: settled; its reversal could not be collected',
      bet: { credits: { BET_PAID: uncollected('60') } },
    },
  ]
  testOrder(
    [
      payloadMismatch({ ...requested, betId: 'bet-2' }),
      unknownPlayer,
      betOfAnotherPlayer,
      states,
      betCurrencyMismatch,
    ],
    (...problems) => decide(withProblems(problems, bet()).known),
  )

  test('BET_OF_ANOTHER_PLAYER, also for a bet that is already rolled back', () => {
    expect(decide({ bet: bet({ playerId: 'bob', status: 'ROLLED_BACK' }) }).reason).toBe(
      'BET_OF_ANOTHER_PLAYER',
    )
  })
})

test('given a rollback, then neither the store nor the operator can refuse it: the stake must be creditable', () => {
  expect(rule.refuse).toBeUndefined()
})
