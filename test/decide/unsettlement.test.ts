import { describe, expect, test } from 'vitest'
import { decideUnsettlement, unsettlementRule as rule } from '../../src/decide/unsettlement.js'
import type { UnsettlementRequest } from '../../src/requests.js'
import type { Bet, WalletSnapshot } from '../../src/store.js'
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
  snapshot,
  transaction,
  unsettlement,
} from '../fixtures.js'

const paid = bet({ credits: { BET_PAID: live('60') }, revision: 2 })

const decide = (
  known: Partial<WalletSnapshot> = {},
  fields: Partial<UnsettlementRequest> = {},
  rules = { clawbacks: true },
) =>
  decideUnsettlement(frozen(unsettlement(fields)), frozen(snapshot({ bet: paid, ...known })), frozen(rules))

const asked = transaction({
  operation: 'unsettlement',
  transactionId: 'unsettle-1',
  amount: null,
  currency: null,
  type: 'UNSCORED',
  delta: '0',
  walletTransactionId: null,
})

/** What D7 writes: the refused transaction and the closed credit, and no money. */
const closing = {
  transaction: { ...asked, refusal: { errorCode: 'INSUFFICIENT_FUNDS', description: expect.any(String) } },
  bet: bet({ credits: { BET_PAID: closed('60') }, revision: 3 }),
  balance: null,
  request: unsettlement(),
}

describe('given a bet that paid 60', () => {
  test('when it is unscored, then the 60 are taken under every guard (D18)', () => {
    expect(decide()).toEqual({
      outcome: { ok: true, replayed: false, balance: '40', currency: 'EUR', walletTransactionId: null },
      reason: 'ACCEPTED',
      changes: {
        transaction: { ...asked, delta: '-60' },
        bet: bet({ credits: { BET_PAID: reversed('60') }, revision: 3 }),
        balance: { currency: 'EUR', delta: '-60', floor: '0' },
        request: unsettlement(),
      },
    })
  })

  test('when exactly 60 are there, then they are taken', () => {
    expect(decide({ player: { ...alice, balance: '60.00' } }).outcome).toMatchObject({
      ok: true,
      balance: '0',
    })
  })

  test('when a cent is missing, then INSUFFICIENT_FUNDS is recorded and closes the credit (D7)', () => {
    const decision = decide({ player: { ...alice, balance: '59.99' } })
    expect(decision.outcome).toEqual({
      ok: false,
      replayed: false,
      ...decision.changes?.transaction.refusal,
    })
    expect(decision.reason).toBe('INSUFFICIENT_FUNDS')
    expect(decision.changes).toEqual(closing)
  })

  test('when the PAM cannot deduct, then the same, with ample funds (D20)', () => {
    const decision = decide({}, {}, { clawbacks: false })
    expect(decision.outcome).toMatchObject({ ok: false, replayed: false, errorCode: 'INSUFFICIENT_FUNDS' })
    expect(decision.reason).toBe('CLAWBACKS_DISABLED')
    expect(decision.changes).toEqual(closing)
  })

  test('when the store refuses, then INSUFFICIENT_FUNDS with D7, and not the code of the PAM', () => {
    const pam = { errorCode: 'LIMIT_REACHED', description: 'the limit of today' }
    const decision = rule.refuse?.(
      frozen(unsettlement()),
      frozen(snapshot({ bet: paid })),
      'REFUSED_BY_STORE',
      pam,
    )
    expect(decision?.outcome).toMatchObject({ ok: false, replayed: false, errorCode: 'INSUFFICIENT_FUNDS' })
    expect(decision?.reason).toBe('REFUSED_BY_STORE')
    expect(decision?.changes).toEqual(closing)
  })
})

describe('D18: given credits of several types', () => {
  const several = bet({
    credits: { BET_PAID: live('60'), VOIDED: live('30'), CASHOUT: live('10') },
    revision: 4,
  })

  test('when it is unvoided, then only the VOIDED credit is taken', () => {
    const { changes } = decide({ bet: several }, { type: 'UNVOIDED' })
    expect(changes?.balance?.delta).toBe('-30')
    expect(changes?.bet).toEqual({
      ...several,
      credits: { ...several.credits, VOIDED: reversed('30') },
      revision: 5,
    })
  })

  test('when it is unscored, then only the BET_PAID credit is taken', () => {
    const { changes } = decide({ bet: several })
    expect(changes?.balance?.delta).toBe('-60')
    expect(changes?.bet?.credits).toEqual({ ...several.credits, BET_PAID: reversed('60') })
  })

  test('when amounts were reversed and closed before, then these sums grow, and only the live one is taken', () => {
    const again = bet({ credits: { BET_PAID: { live: '40', reversed: '60', owed: '5.5' } } })
    expect(decide({ bet: again }).changes).toMatchObject({
      balance: { delta: '-40' },
      bet: { credits: { BET_PAID: { live: null, reversed: '100', owed: '5.5' } } },
    })
    expect(decide({ bet: again, player: { ...alice, balance: '1' } }).changes).toMatchObject({
      balance: null,
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
    'when the balance is %s and the credit %s, then it is reversed and nothing moves (clawbacks: %s)',
    (balance, credit, clawbacks) => {
      const lost = bet({ credits: { BET_PAID: live(credit) }, revision: 2 })
      const { outcome, changes } = decide({ bet: lost, player: { ...alice, balance } }, {}, { clawbacks })
      expect(outcome).toMatchObject({ ok: true, balance })
      expect(changes?.balance).toBeNull()
      expect(changes?.transaction).toEqual(asked)
      expect(changes?.bet).toEqual(bet({ credits: { BET_PAID: reversed('0') }, revision: 3 }))
    },
  )
})

describe('D8, D19: given nothing to reverse, when it is unscored, then it is refused and not recorded', () => {
  test.each<[string, Bet | null, string, string]>([
    ['an unknown bet', null, 'UNKNOWN_BET', 'INVALID_BET'],
    ['a tombstone', bet({ status: 'ROLLED_BACK', stake: '0' }), 'BET_ROLLED_BACK', 'INVALID_BET'],
    ['a bet of another player (D15)', bet({ playerId: 'bob' }), 'BET_OF_ANOTHER_PLAYER', 'INVALID_PLAYER'],
    ['a bet never credited', bet(), 'SETTLEMENT_NOT_FOUND', 'SETTLEMENT_NOT_FOUND'],
    [
      'a bet only voided',
      bet({ credits: { VOIDED: live('30') } }),
      'SETTLEMENT_NOT_FOUND',
      'SETTLEMENT_NOT_FOUND',
    ],
    [
      'a bet cashed out',
      bet({ credits: { CASHOUT: live('30') } }),
      'SETTLEMENT_NOT_FOUND',
      'SETTLEMENT_NOT_FOUND',
    ],
    ['a reversed credit', bet({ credits: { BET_PAID: reversed('60') } }), 'ALREADY_UNSETTLED', 'INVALID_BET'],
    [
      'a closed credit (D7)',
      bet({ credits: { BET_PAID: closed('60') } }),
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

test("D23: given a bet whose currency is no longer the player's, when it is unscored, then nothing moves", () => {
  expect(decide({ player: { ...alice, currency: 'JPY' } })).toMatchObject({
    outcome: { ok: false, replayed: false, errorCode: 'INVALID_CURRENCY' },
    reason: 'BET_CURRENCY_MISMATCH',
    changes: null,
  })
})

describe('given two flaws, when it is unscored, then the earlier check answers', () => {
  const surface: Flaw[] = [
    {
      reason: 'PAYLOAD_MISMATCH',
      errorCode: 'TRANSACTION_CONFLICT',
      transaction: { ...asked, type: 'UNVOIDED' },
    },
    { reason: 'UNKNOWN_PLAYER', errorCode: 'INVALID_PLAYER', player: null },
    { reason: 'BET_OF_ANOTHER_PLAYER', errorCode: 'INVALID_PLAYER', bet: { playerId: 'bob' } },
    { reason: 'BET_ROLLED_BACK', errorCode: 'INVALID_BET', bet: { status: 'ROLLED_BACK' } },
  ]
  const states: Flaw[] = [
    { reason: 'SETTLEMENT_NOT_FOUND', errorCode: 'SETTLEMENT_NOT_FOUND', bet: { credits: {} } },
    { reason: 'ALREADY_UNSETTLED', errorCode: 'INVALID_BET', bet: { credits: { BET_PAID: reversed('60') } } },
    {
      reason: 'CLAWBACK_UNCOLLECTED',
      errorCode: 'INVALID_BET',
      bet: { credits: { BET_PAID: closed('60') } },
    },
  ]
  const rest: Flaw[] = [
    { reason: 'BET_CURRENCY_MISMATCH', errorCode: 'INVALID_CURRENCY', player: { currency: 'JPY' } },
    { reason: 'INSUFFICIENT_FUNDS', errorCode: 'INSUFFICIENT_FUNDS', player: { balance: '59.99' } },
  ]
  const decideWith = (...both: Flaw[]) => decide(flawed(both, paid).known)

  test.each([...surface, ...states, ...rest].map(flaw => [flaw.reason, flaw] as const))(
    '%s alone',
    (reason, flaw) => {
      expect(decideWith(flaw)).toMatchObject({ reason, outcome: { errorCode: flaw.errorCode } })
    },
  )

  const pairs = states.flatMap(state => pairsOf([...surface, state, ...rest]))
  test.each([...new Map(pairs.map(([a, b]) => [`${a.reason} before ${b.reason}`, { a, b }]))])(
    '%s',
    (_name, { a, b }) => {
      expect(decideWith(a, b)).toMatchObject({ reason: a.reason, outcome: { errorCode: a.errorCode } })
    },
  )
})
