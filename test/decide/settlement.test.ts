import { describe, expect, test } from 'vitest'
import { decideSettlement, settlementRule as rule } from '../../src/decide/settlement.js'
import type { SettlementRequest } from '../../src/requests.js'
import type { Bet } from '../../src/store.js'
import {
  alice,
  bet,
  frozen,
  type Known,
  live,
  reversed,
  settlement,
  snapshot,
  transaction,
  unmoved,
  withProblems,
} from '../fixtures.js'
import {
  betCurrencyMismatch,
  betOfAnotherPlayer,
  betRolledBack,
  currencyMismatch,
  payloadMismatch,
  testOrder,
  unknownPlayer,
} from './order-of-checks.js'

const decide = (fields: Partial<SettlementRequest> = {}, known: Known = {}) =>
  decideSettlement(frozen(settlement(fields)), frozen(snapshot({ bet: bet(), ...known })))

const requested = transaction({
  operation: 'settlement',
  transactionId: 'settle-1',
  amount: '60',
  type: 'BET_PAID',
  delta: '0',
  walletTransactionId: null,
})

describe('D17: given a placed bet', () => {
  test.each(['BET_PAID', 'VOIDED', 'CASHOUT'] as const)(
    'when %s 60 is recorded, then 60 are credited without a floor',
    type => {
      expect(decide({ type })).toEqual({
        outcome: { ok: true, replayed: false, balance: '160', currency: 'EUR', walletTransactionId: null },
        reason: 'ACCEPTED',
        changes: {
          transaction: { ...requested, type, delta: '60' },
          bet: bet({ credits: { [type]: live('60') }, revision: 2 }),
          credit: null,
          account: { currency: 'EUR', delta: '60', floor: null },
          request: settlement({ type }),
        },
        credit: { playerId: 'alice', currency: 'EUR', status: 'PLACED', type, amount: '60' },
      })
    },
  )

  test('when 0 is recorded (a lost bet), then a live credit of 0 is written and the balance does not change', () => {
    const { outcome, changes } = decide({ amount: '0' })
    expect(outcome).toMatchObject({ ok: true, balance: '100' })
    expect(changes).toEqual({
      transaction: { ...requested, amount: '0' },
      bet: bet({ credits: { BET_PAID: live('0') }, revision: 2 }),
      credit: null,
      account: unmoved,
      request: settlement({ amount: '0' }),
    })
  })

  test('when the balance is below 0, then the amount is credited nevertheless', () => {
    expect(decide({}, { player: { ...alice, balance: '-100' } }).outcome).toMatchObject({
      ok: true,
      balance: '-40',
    })
  })
})

describe('D18: given a bet with credits', () => {
  test('when a second settlement of the type is recorded, then the amounts add up exactly', () => {
    const known = bet({ credits: { BET_PAID: live('0.1') }, revision: 2 })
    expect(decide({ amount: '0.2' }, { bet: known }).changes?.bet).toEqual(
      bet({ credits: { BET_PAID: live('0.3') }, revision: 3 }),
    )
  })

  test('when a settlement of another type is recorded, then both credits are kept', () => {
    const known = bet({ credits: { CASHOUT: live('10') } })
    expect(decide({}, { bet: known }).changes?.bet?.credits).toEqual({
      CASHOUT: live('10'),
      BET_PAID: live('60'),
    })
  })

  test('when a reversed and an uncollected credit is paid again, then both sums stay unchanged', () => {
    const known = bet({ credits: { BET_PAID: { ...reversed('60'), owed: '7' } } })
    expect(decide({ amount: '40' }, { bet: known }).changes?.bet?.credits).toEqual({
      BET_PAID: { live: '40', reversed: '60', owed: '7' },
    })
  })
})

describe('D8: given a settlement that the rules refuse, then the refusal is not recorded:', () => {
  test.each<[string, Bet | null, string, string]>([
    ['an unknown bet', null, 'UNKNOWN_BET', 'INVALID_BET'],
    ['a bet that was rolled back', bet({ status: 'ROLLED_BACK' }), 'BET_ROLLED_BACK', 'INVALID_BET'],
    ['a bet of another player', bet({ playerId: 'bob' }), 'BET_OF_ANOTHER_PLAYER', 'INVALID_PLAYER'],
    [
      "a bet in a currency other than the player's",
      bet({ currency: 'JPY' }),
      'BET_CURRENCY_MISMATCH',
      'INVALID_CURRENCY',
    ],
  ])('%s', (_what, known, reason, errorCode) => {
    expect(decide({}, { bet: known })).toMatchObject({
      outcome: { ok: false, replayed: false, errorCode },
      reason,
      changes: null,
    })
  })

  test('an unknown bet is described as such', () => {
    expect(decide({}, { bet: null }).outcome).toMatchObject({ description: 'betId: unknown bet' })
  })

  test("a settlement in a currency other than the player's (D23)", () => {
    expect(decide({ currency: 'USD' })).toMatchObject({
      outcome: { ok: false, replayed: false, errorCode: 'INVALID_CURRENCY' },
      reason: 'CURRENCY_MISMATCH',
      changes: null,
    })
  })

  test('an unknown player with an unknown bet (D16)', () => {
    expect(decide({}, { player: null, bet: null })).toMatchObject({
      outcome: { ok: false, replayed: false, errorCode: 'INVALID_PLAYER' },
      reason: 'UNKNOWN_PLAYER',
      changes: null,
    })
  })
})

describe('given two problems, when the bet is settled, then the first check decides the answer', () => {
  const order = [
    payloadMismatch({ ...requested, betId: 'bet-2' }),
    unknownPlayer,
    betOfAnotherPlayer,
    betRolledBack,
    currencyMismatch,
    { ...betCurrencyMismatch, player: {}, bet: { currency: 'JPY' } },
  ]
  testOrder(order, (...problems) => {
    const { request, known } = withProblems(problems, bet())
    return decide(request, known)
  })
})

test('given a settlement, then neither the store nor the operator can refuse it', () => {
  expect(rule.refuse).toBeUndefined()
})
