/** D28: which account a decision means. A player has EUR 100, JPY 5000 and USD 7; the home account is in JPY. */
import { describe, expect, test } from 'vitest'
import { accountOf } from '../../src/decide/accounts.js'
import { decidePlaceBet, placeBetRule } from '../../src/decide/place-bet.js'
import { decideRollbackBet } from '../../src/decide/rollback-bet.js'
import { decideSettlement } from '../../src/decide/settlement.js'
import { decideUnsettlement } from '../../src/decide/unsettlement.js'
import type { Account, Bet, Transaction } from '../../src/store.js'
import {
  bet,
  frozen,
  live,
  placeBet,
  rollbackBet,
  settlement,
  transaction,
  unsettlement,
} from '../fixtures.js'

const inCurrency = (currency: string, balance: string): Account => ({ playerId: 'alice', currency, balance })
const usd = inCurrency('USD', '7')
const eur = inCurrency('EUR', '100')
const jpy = inCurrency('JPY', '5000')

const policy = { clawbacks: true, defaultCurrency: 'JPY' }

interface Known {
  accounts?: readonly Account[]
  bet?: Bet
  transaction?: Transaction
}

const snapshotOf = ({ accounts = [usd, eur, jpy], ...known }: Known) =>
  frozen({ accounts, bet: null, transaction: null, ...known })

/** What the commit names and the answer states: `EUR -30` says that 30 are debited from the account in EUR. */
function named({ outcome, changes }: ReturnType<typeof decidePlaceBet>): string[] {
  const { account, transaction: recorded = null } = changes ?? {}
  expect(recorded?.accountCurrency).toBe(account?.currency)
  return [
    outcome.ok ? `${outcome.balance} ${outcome.currency}` : outcome.errorCode,
    account === undefined ? 'not recorded' : `${account.currency} ${account.delta}`,
  ]
}

const place = (fields: object, known: Known = {}) =>
  named(decidePlaceBet(placeBet(fields), snapshotOf(known), policy))
const rollBack = (known: Known = {}) => named(decideRollbackBet(rollbackBet(), snapshotOf(known), policy))
const settle = (fields: object, known: Known) =>
  named(decideSettlement(settlement(fields), snapshotOf(known), policy))
const unsettle = (known: Known) => named(decideUnsettlement(unsettlement(), snapshotOf(known), policy))

describe('given a placebet', () => {
  test('when the player has an account in its currency, then that one is debited', () => {
    expect(place({ currency: 'EUR' })).toEqual(['70 EUR', 'EUR -30'])
    expect(place({ currency: 'JPY' })).toEqual(['4970 JPY', 'JPY -30'])
  })

  test('when that account does not cover it, then the funds of others do not', () => {
    expect(place({ currency: 'USD' })).toEqual(['INSUFFICIENT_FUNDS', 'USD 0'])
  })

  test('when the player has no account in its currency, then INVALID_CURRENCY is recorded for the home account', () => {
    expect(place({ currency: 'SEK' })).toEqual(['INVALID_CURRENCY', 'JPY 0'])
  })

  test('when the player has no account, then INVALID_PLAYER is not recorded', () => {
    expect(place({}, { accounts: [] })).toEqual(['INVALID_PLAYER', 'not recorded'])
  })

  test('when its bet was rolled back before, then the account of its currency is named, else the home account', () => {
    const tombstone = bet({ status: 'ROLLED_BACK', currency: 'JPY', stake: '0' })
    expect(place({ currency: 'EUR' }, { bet: tombstone })).toEqual(['INVALID_BET', 'EUR 0'])
    expect(place({ currency: 'SEK' }, { bet: tombstone })).toEqual(['INVALID_BET', 'JPY 0'])
  })

  test('when the operator refuses it, then the refusal names the account of its currency', () => {
    const refusal = { errorCode: 'LIMIT', description: 'limit' }
    const refused = placeBetRule.refuse?.(placeBet(), snapshotOf({}), policy, 'REFUSED_BY_OPERATOR', refusal)
    expect(refused && named(refused)).toEqual(['LIMIT', 'EUR 0'])
  })
})

describe('given a settlement', () => {
  test('when its currency is that of the bet, then that account is credited', () => {
    const known = { bet: bet({ currency: 'USD' }) }
    expect(settle({ currency: 'USD' }, known)).toEqual(['67 USD', 'USD 60'])
  })

  test.each(['JPY', 'SEK'])(
    'when its currency is %s and that of the bet USD, then INVALID_CURRENCY',
    currency => {
      const known = { bet: bet({ currency: 'USD' }) }
      expect(settle({ currency }, known)).toEqual(['INVALID_CURRENCY', 'not recorded'])
    },
  )
})

describe('given a rollback', () => {
  test('when the bet is known, then the account of its currency is credited', () => {
    expect(rollBack({ bet: bet({ currency: 'USD' }) })).toEqual(['37 USD', 'USD 30'])
  })

  test('when the account of the bet is gone, then INVALID_CURRENCY is not recorded', () => {
    const known = { accounts: [eur], bet: bet({ currency: 'USD' }) }
    expect(rollBack(known)).toEqual(['INVALID_CURRENCY', 'not recorded'])
  })

  test('when the bet is unknown, then the home account answers, and the tombstone has its currency (D11)', () => {
    expect(rollBack()).toEqual(['5000 JPY', 'JPY 0'])
    const { changes } = decideRollbackBet(rollbackBet(), snapshotOf({}), policy)
    expect(changes?.bet).toMatchObject({ currency: 'JPY', stake: '0', status: 'ROLLED_BACK' })
  })

  test('when the bet is rolled back already, then its account answers, or the home account (D12)', () => {
    const known = { bet: bet({ currency: 'USD', status: 'ROLLED_BACK' }) }
    expect(rollBack(known)).toEqual(['7 USD', 'USD 0'])
    expect(rollBack({ ...known, accounts: [jpy, eur] })).toEqual(['5000 JPY', 'JPY 0'])
  })
})

describe('given an unsettlement', () => {
  const paid = (currency: string) => ({
    bet: bet({ currency, credits: { BET_PAID: live('60') }, revision: 2 }),
  })

  test('when the account of the bet covers it, then that one is debited', () => {
    expect(unsettle(paid('EUR'))).toEqual(['40 EUR', 'EUR -60'])
  })

  test('when it does not, then the funds of others do not cover it (D20), and D7 names the account of the bet', () => {
    expect(unsettle(paid('USD'))).toEqual(['INSUFFICIENT_FUNDS', 'USD 0'])
  })

  test('when the account of the bet is gone, then INVALID_CURRENCY is not recorded', () => {
    expect(unsettle({ ...paid('USD'), accounts: [eur, jpy] })).toEqual(['INVALID_CURRENCY', 'not recorded'])
  })
})

describe('given a retry of a success', () => {
  const first = (fields: Partial<Transaction>) => ({ transaction: transaction(fields) })

  test('when its account exists, then it answers, whatever the currency of the request is', () => {
    expect(place({}, first({ accountCurrency: 'EUR' }))).toEqual(['100 EUR', 'not recorded'])
    expect(place({}, first({ accountCurrency: 'USD' }))).toEqual(['7 USD', 'not recorded'])
  })

  test('when its account is gone, then the home account answers: money has moved (D2)', () => {
    const known = { ...first({ accountCurrency: 'USD' }), accounts: [eur, jpy] }
    expect(place({}, known)).toEqual(['5000 JPY', 'not recorded'])
  })

  test('when it was imported, then the account of its own currency answers, else of its bet, else the home account', () => {
    expect(place({}, first({ accountCurrency: null }))).toEqual(['100 EUR', 'not recorded'])
    const rolledBack = transaction({
      ...{ operation: 'rollbackbet', transactionId: 'rollback-1', type: 'TECHNICAL_ERROR' },
      ...{ amount: null, currency: null, accountCurrency: null },
    })
    const known = { transaction: rolledBack, bet: bet({ currency: 'USD', status: 'ROLLED_BACK' }) }
    expect(rollBack(known)).toEqual(['7 USD', 'not recorded'])
    expect(rollBack({ transaction: rolledBack })).toEqual(['5000 JPY', 'not recorded'])
  })

  test('when the player has no account, then INVALID_PLAYER (D16)', () => {
    expect(place({}, { ...first({}), accounts: [] })).toEqual(['INVALID_PLAYER', 'not recorded'])
  })
})

test('given accounts in any order, then the home account is that of the default currency, else the first by code', () => {
  for (const accounts of [
    [usd, jpy, eur],
    [eur, usd, jpy],
    [jpy, eur, usd],
  ]) {
    expect(accountOf(accounts, null, 'USD')).toBe(usd)
    expect(accountOf(accounts, 'SEK', 'SEK')).toBe(eur)
    expect(accountOf(accounts, null, null)).toBe(eur)
    expect(accountOf(accounts, 'JPY', 'USD')).toBe(jpy)
  }
  // By code point: upper case is before lower case, whatever a collation says.
  expect(accountOf([inCurrency('bTC', '1'), inCurrency('EUR', '1')], null, null)?.currency).toBe('EUR')
  expect(accountOf([], 'EUR', 'EUR')).toBeNull()
})
