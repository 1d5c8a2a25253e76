import { describe, expect, test } from 'vitest'
import { defaultPolicy } from '../../src/decide/decision.js'
import { decideUnsettlement, unsettlementRule as rule } from '../../src/decide/unsettlement.js'
import type { UnsettlementRequest } from '../../src/requests.js'
import type { Bet } from '../../src/store.js'
import {
  alice,
  bet,
  frozen,
  type Known,
  live,
  type Problem,
  reversed,
  snapshot,
  transaction,
  uncollected,
  unmoved,
  unsettlement,
  withProblems,
} from '../fixtures.js'
import {
  betCurrencyMismatch,
  betOfAnotherPlayer,
  betRolledBack,
  payloadMismatch,
  testOrder,
  unknownPlayer,
} from './order-of-checks.js'

const paid = bet({ credits: { BET_PAID: live('60') }, revision: 2 })

const decide = (known: Known = {}, fields: Partial<UnsettlementRequest> = {}, clawbacks = true) =>
  decideUnsettlement(frozen(unsettlement(fields)), frozen(snapshot({ bet: paid, ...known })), {
    ...defaultPolicy,
    clawbacks,
  })

const requested = transaction({
  operation: 'unsettlement',
  transactionId: 'unsettle-1',
  amount: null,
  currency: null,
  type: 'UNSCORED',
  delta: '0',
  walletTransactionId: null,
})

/** The changes by D7: the refused transaction and the uncollected credit, and no change of the balance. */
const leftUncollected = (reason: string) => ({
  transaction: {
    ...requested,
    reason,
    refusal: { errorCode: 'INSUFFICIENT_FUNDS', description: expect.any(String) },
  },
  bet: bet({ credits: { BET_PAID: uncollected('60') }, revision: 3 }),
  credit: null,
  account: unmoved,
  request: unsettlement(),
})

describe('given a bet that paid 60', () => {
  test('when it is unscored, then 60 are debited under every guard (D18)', () => {
    expect(decide()).toEqual({
      outcome: { ok: true, replayed: false, balance: '40', currency: 'EUR', walletTransactionId: null },
      reason: 'ACCEPTED',
      changes: {
        transaction: { ...requested, delta: '-60' },
        bet: bet({ credits: { BET_PAID: reversed('60') }, revision: 3 }),
        credit: null,
        account: { currency: 'EUR', delta: '-60', floor: '0' },
        request: unsettlement(),
      },
    })
  })

  test('when the balance is exactly 60, then it is debited', () => {
    expect(decide({ player: { ...alice, balance: '60.00' } }).outcome).toMatchObject({
      ok: true,
      balance: '0',
    })
  })

  test('when the balance is one cent short, then INSUFFICIENT_FUNDS is recorded and the clawback stays uncollected (D7)', () => {
    const decision = decide({ player: { ...alice, balance: '59.99' } })
    expect(decision.outcome).toEqual({
      ok: false,
      replayed: false,
      ...decision.changes?.transaction.refusal,
    })
    expect(decision.reason).toBe('INSUFFICIENT_FUNDS')
    expect(decision.changes).toEqual(leftUncollected('INSUFFICIENT_FUNDS'))
  })

  test('when the PAM cannot debit, then the clawback stays uncollected despite sufficient funds (D20)', () => {
    const decision = decide({}, {}, false)
    expect(decision.outcome).toEqual({
      ok: false,
      replayed: false,
      errorCode: 'INSUFFICIENT_FUNDS',
      description: 'betId: the amount of the settlement cannot be debited',
    })
    expect(decision.reason).toBe('CLAWBACKS_DISABLED')
    expect(decision.changes).toEqual(leftUncollected('CLAWBACKS_DISABLED'))
  })

  test("when the store refuses, then the answer is INSUFFICIENT_FUNDS with D7, not the PAM's error code", () => {
    const pam = { errorCode: 'LIMIT_REACHED', description: 'the limit of today' }
    const decision = rule.refuse?.(
      frozen(unsettlement()),
      frozen(snapshot({ bet: paid })),
      defaultPolicy,
      'REFUSED_BY_STORE',
      pam,
    )
    expect(decision?.outcome).toEqual({
      ok: false,
      replayed: false,
      errorCode: 'INSUFFICIENT_FUNDS',
      description: 'betId: the amount of the settlement cannot be debited',
    })
    expect(decision?.reason).toBe('REFUSED_BY_STORE')
    expect(decision?.changes).toEqual(leftUncollected('REFUSED_BY_STORE'))
  })
})

describe('D18: given credits of several types', () => {
  const several = bet({
    credits: { BET_PAID: live('60'), VOIDED: live('30'), CASHOUT: live('10') },
    revision: 4,
  })

  test('when it is unvoided, then only the VOIDED credit is debited', () => {
    const { changes } = decide({ bet: several }, { type: 'UNVOIDED' })
    expect(changes?.account.delta).toBe('-30')
    expect(changes?.bet).toEqual({
      ...several,
      credits: { ...several.credits, VOIDED: reversed('30') },
      revision: 5,
    })
  })

  test('when it is unscored, then only the BET_PAID credit is debited', () => {
    const { changes } = decide({ bet: several })
    expect(changes?.account.delta).toBe('-60')
    expect(changes?.bet?.credits).toEqual({ ...several.credits, BET_PAID: reversed('60') })
  })

  test('when amounts were reversed and left uncollected before, then these sums grow and only the live amount is debited', () => {
    const again = bet({ credits: { BET_PAID: { live: '40', reversed: '60', owed: '5.5' } } })
    expect(decide({ bet: again }).changes).toMatchObject({
      account: { delta: '-40' },
      bet: { credits: { BET_PAID: { live: null, reversed: '100', owed: '5.5' } } },
    })
    expect(decide({ bet: again, player: { ...alice, balance: '1' } }).changes).toMatchObject({
      credit: null,
      account: unmoved,
      bet: { credits: { BET_PAID: { live: null, reversed: '60', owed: '45.5' } } },
    })
  })
})

describe('given a lost bet: a live credit of 0 (D18)', () => {
  test.each<[string, string, boolean]>([
    ['100', '0', true],
    ['-5', '0', true],
    ['100', '0', false],
    ['0', '0.00', false],
  ])(
    'when the balance is %s and the credit %s, then the credit is reversed and the balance does not change (clawbacks: %s)',
    (balance, credit, clawbacks) => {
      const lost = bet({ credits: { BET_PAID: live(credit) }, revision: 2 })
      const { outcome, changes } = decide({ bet: lost, player: { ...alice, balance } }, {}, clawbacks)
      expect(outcome).toMatchObject({ ok: true, balance })
      expect(changes?.account).toEqual(unmoved)
      expect(changes?.transaction).toEqual(requested)
      expect(changes?.bet).toEqual(bet({ credits: { BET_PAID: reversed('0') }, revision: 3 }))
    },
  )
})

describe('D8, D19: given no credit to reverse, when the bet is unscored, then the refusal is not recorded:', () => {
  test.each<[string, Bet | null, string, string]>([
    ['an unknown bet', null, 'UNKNOWN_BET', 'INVALID_BET'],
    ['a tombstone', bet({ status: 'ROLLED_BACK', stake: '0' }), 'BET_ROLLED_BACK', 'INVALID_BET'],
    ['a bet of another player (D15)', bet({ playerId: 'bob' }), 'BET_OF_ANOTHER_PLAYER', 'INVALID_PLAYER'],
    ['a bet that was never credited', bet(), 'SETTLEMENT_NOT_FOUND', 'SETTLEMENT_NOT_FOUND'],
    [
      'a bet that was only voided',
      bet({ credits: { VOIDED: live('30') } }),
      'SETTLEMENT_NOT_FOUND',
      'SETTLEMENT_NOT_FOUND',
    ],
    [
      'a bet that was only cashed out',
      bet({ credits: { CASHOUT: live('30') } }),
      'SETTLEMENT_NOT_FOUND',
      'SETTLEMENT_NOT_FOUND',
    ],
    ['a reversed credit', bet({ credits: { BET_PAID: reversed('60') } }), 'ALREADY_UNSETTLED', 'INVALID_BET'],
    [
      'an uncollected credit (D7)',
      bet({ credits: { BET_PAID: uncollected('60') } }),
      'CLAWBACK_UNCOLLECTED',
      'INVALID_BET',
    ],
  ])('%s', (_what, known, reason, errorCode) => {
    expect(decide({ bet: known })).toMatchObject({
      outcome: { ok: false, replayed: false, errorCode },
      reason,
      changes: null,
    })
  })

  test('an unknown player with an unknown bet (D16)', () => {
    expect(decide({ player: null, bet: null })).toMatchObject({
      outcome: { ok: false, errorCode: 'INVALID_PLAYER' },
      changes: null,
    })
  })
})

test('D19: given an unknown bet, when it is unscored, then the answer describes it', () => {
  expect(decide({ bet: null }).outcome).toEqual({
    ok: false,
    replayed: false,
    errorCode: 'INVALID_BET',
    description: 'betId: unknown bet',
  })
})

test("D23: given a bet whose currency is no longer the player's, when it is unscored, then INVALID_CURRENCY and no changes", () => {
  expect(decide({ player: { ...alice, currency: 'JPY' } })).toMatchObject({
    outcome: { ok: false, replayed: false, errorCode: 'INVALID_CURRENCY' },
    reason: 'BET_CURRENCY_MISMATCH',
    changes: null,
  })
})

describe('given two problems, when the bet is unscored, then the first check decides the answer', () => {
  const states: Problem[] = [
    {
      reason: 'SETTLEMENT_NOT_FOUND',
      errorCode: 'SETTLEMENT_NOT_FOUND',
      description: 'betId: no BET_PAID settlement found',
      bet: { credits: {} },
    },
    {
      reason: 'ALREADY_UNSETTLED',
      errorCode: 'INVALID_BET',
      description: 'betId: the BET_PAID settlement was already reversed',
      bet: { credits: { BET_PAID: reversed('60') } },
    },
    {
      reason: 'CLAWBACK_UNCOLLECTED',
      errorCode: 'INVALID_BET',
      description: 'betId: the clawback of the BET_PAID settlement is uncollected, and owed to the platform',
      bet: { credits: { BET_PAID: uncollected('60') } },
    },
  ]
  const insufficientFunds: Problem = {
    reason: 'INSUFFICIENT_FUNDS',
    errorCode: 'INSUFFICIENT_FUNDS',
    description: 'betId: insufficient funds to reverse the settlement',
    player: { balance: '59.99' },
  }
  testOrder(
    [
      payloadMismatch({ ...requested, type: 'UNVOIDED' }),
      unknownPlayer,
      betOfAnotherPlayer,
      betRolledBack,
      states,
      betCurrencyMismatch,
      insufficientFunds,
    ],
    (...problems) => decide(withProblems(problems, paid).known),
  )
})
