import { describe, expect, test } from 'vitest'
import { decideSettlement, settlementRule as rule } from '../../src/decide/settlement.js'
import type { SettlementRequest } from '../../src/requests.js'
import type { Bet, WalletSnapshot } from '../../src/store.js'
import {
  alice,
  bet,
  type Flaw,
  flawed,
  frozen,
  live,
  pairsOf,
  reversed,
  settlement,
  snapshot,
  transaction,
} from '../fixtures.js'

const decide = (fields: Partial<SettlementRequest> = {}, known: Partial<WalletSnapshot> = {}) =>
  decideSettlement(frozen(settlement(fields)), frozen(snapshot({ bet: bet(), ...known })))

const asked = transaction({
  operation: 'settlement',
  transactionId: 'settle-1',
  amount: '60',
  type: 'BET_PAID',
  delta: '0',
  walletTransactionId: null,
})

describe('D17: given a placed bet', () => {
  test.each(['BET_PAID', 'VOIDED', 'CASHOUT'] as const)(
    'when %s 60 comes, then 60 are credited without a floor',
    type => {
      expect(decide({ type })).toEqual({
        outcome: { ok: true, replayed: false, balance: '160', currency: 'EUR', walletTransactionId: null },
        reason: 'ACCEPTED',
        changes: {
          transaction: { ...asked, type, delta: '60' },
          bet: bet({ credits: { [type]: live('60') }, revision: 2 }),
          balance: { currency: 'EUR', delta: '60', floor: null },
          request: settlement({ type }),
        },
      })
    },
  )

  test('when 0 comes (a lost bet), then a live credit of 0 is written and no balance is touched', () => {
    const { outcome, changes } = decide({ amount: '0' })
    expect(outcome).toMatchObject({ ok: true, balance: '100' })
    expect(changes).toEqual({
      transaction: { ...asked, amount: '0' },
      bet: bet({ credits: { BET_PAID: live('0') }, revision: 2 }),
      balance: null,
      request: settlement({ amount: '0' }),
    })
  })

  test('when the balance is below 0, then it is credited all the same', () => {
    expect(decide({}, { player: { ...alice, balance: '-100' } }).outcome).toMatchObject({
      ok: true,
      balance: '-40',
    })
  })
})

describe('D18: given a bet with credits', () => {
  test('when another of the type comes, then they add up exactly', () => {
    const known = bet({ credits: { BET_PAID: live('0.1') }, revision: 2 })
    expect(decide({ amount: '0.2' }, { bet: known }).changes?.bet).toEqual(
      bet({ credits: { BET_PAID: live('0.3') }, revision: 3 }),
    )
  })

  test('when one of another type comes, then both are kept', () => {
    const known = bet({ credits: { CASHOUT: live('10') } })
    expect(decide({}, { bet: known }).changes?.bet?.credits).toEqual({
      CASHOUT: live('10'),
      BET_PAID: live('60'),
    })
  })

  test('when what was reversed and closed is paid anew, then these sums stay', () => {
    const known = bet({ credits: { BET_PAID: { ...reversed('60'), owed: '7' } } })
    expect(decide({ amount: '40' }, { bet: known }).changes?.bet?.credits).toEqual({
      BET_PAID: { live: '40', reversed: '60', owed: '7' },
    })
  })
})

describe('D8: given what cannot be settled, when 60 comes, then it is refused and not recorded', () => {
  test.each<[string, Bet | null, string, string]>([
    ['an unknown bet', null, 'UNKNOWN_BET', 'INVALID_BET'],
    ['a bet that was rolled back', bet({ status: 'ROLLED_BACK' }), 'BET_ROLLED_BACK', 'INVALID_BET'],
    ['a bet of another player', bet({ playerId: 'bob' }), 'BET_OF_ANOTHER_PLAYER', 'INVALID_PLAYER'],
    [
      "a bet in a currency not the player's",
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

  test("a settlement in a currency not the player's (D23)", () => {
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

describe('given two flaws, when it is settled, then the earlier check answers', () => {
  const flaws: Flaw[] = [
    {
      reason: 'PAYLOAD_MISMATCH',
      errorCode: 'TRANSACTION_CONFLICT',
      transaction: { ...asked, betId: 'bet-2' },
    },
    { reason: 'UNKNOWN_PLAYER', errorCode: 'INVALID_PLAYER', player: null },
    { reason: 'BET_OF_ANOTHER_PLAYER', errorCode: 'INVALID_PLAYER', bet: { playerId: 'bob' } },
    { reason: 'BET_ROLLED_BACK', errorCode: 'INVALID_BET', bet: { status: 'ROLLED_BACK' } },
    { reason: 'CURRENCY_MISMATCH', errorCode: 'INVALID_CURRENCY', request: { currency: 'USD' } },
    { reason: 'BET_CURRENCY_MISMATCH', errorCode: 'INVALID_CURRENCY', bet: { currency: 'JPY' } },
  ]
  const decideWith = (...both: Flaw[]) => {
    const { request, known } = flawed(both, bet())
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

test('given a settlement, then nobody may refuse it', () => {
  expect(rule.refuse).toBeUndefined()
})
