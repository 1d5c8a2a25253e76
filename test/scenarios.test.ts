/**
 * The cases by example of docs/decisions.md, one test per id, through the handlers on the memory store.
 * Authentication and malformed JSON are tested over HTTP.
 */
import { describe, expect, test } from 'vitest'
import {
  handlePlaceBet,
  handleRollbackBet,
  handleUnsettlement,
  recordSettlement,
  type WalletOptions,
} from '../src/index.js'
import { createMemoryStore } from '../src/stores/memory.js'
import { alice, placeBet, rollbackBet, settlement, unsettlement } from './fixtures.js'

/** A wallet in which alice has 100 EUR, and the four calls on it. */
function wallet(options: WalletOptions = {}, balance = '100') {
  const store = createMemoryStore([{ ...alice, balance }])
  return {
    store,
    place: (fields = {}) => handlePlaceBet(store, placeBet(fields), options),
    unsettle: (fields = {}) => handleUnsettlement(store, unsettlement(fields), options),
    rollBack: (fields = {}) => handleRollbackBet(store, rollbackBet(fields), options),
    settle: (fields = {}) => recordSettlement(store, settlement(fields), options),
    balance: () => store.account('alice')?.balance,
    /** All stored records, to compare before and after. */
    records: () => [store.account('alice'), store.bets(), store.transactions()],
  }
}

const success = (balance: string, replayed = false) => ({ ok: true, replayed, balance, currency: 'EUR' })
const refusal = (errorCode: string, replayed = false) => ({ ok: false, replayed, errorCode })
const copies = <T>(count: number, make: (index: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, index) => make(index)))

describe('place bet', () => {
  test('P01: given 100, when 30 is placed, then 70 and one debit', async () => {
    const { place, balance, store } = wallet()
    expect(await place()).toMatchObject(success('70.00'))
    expect(balance()).toBe('70')
    expect(store.transactions().map(({ delta }) => delta)).toEqual(['-30'])
  })

  test('P02: given 100, when 100.01 is placed, then INSUFFICIENT_FUNDS and 100', async () => {
    const { place, balance } = wallet()
    expect(await place({ amount: '100.01' })).toMatchObject(refusal('INSUFFICIENT_FUNDS'))
    expect(balance()).toBe('100')
  })

  test('P03: given P01, when it is retried, then the same walletTransactionId and 70', async () => {
    const { place, records } = wallet()
    const first = await place()
    const before = records()
    expect(await place()).toEqual({ ...first, replayed: true })
    expect(first).toMatchObject({ balance: '70.00', walletTransactionId: expect.any(String) })
    expect(records()).toEqual(before)
  })

  test('P04: given P01 and a deposit of 50, when it is retried, then the current balance', async () => {
    const { place, store } = wallet()
    const first = await place()
    store.deposit('alice', '50')
    expect(await place()).toEqual({ ...first, replayed: true, balance: '120.00' })
  })

  test('P05: given 100, when 10 copies of one placebet of 30 arrive concurrently, then ten successes and 70', async () => {
    const { place, balance, store } = wallet()
    const outcomes = await copies(10, () => place())
    expect(outcomes.filter(({ ok }) => ok)).toHaveLength(10)
    expect(outcomes.filter(({ replayed }) => !replayed)).toHaveLength(1)
    expect(new Set(outcomes.map(outcome => outcome.ok && outcome.walletTransactionId)).size).toBe(1)
    expect([balance(), store.transactions().length]).toEqual(['70', 1])
  })

  test('P06: given 100, when 10 placebets of 20 arrive concurrently, then 5 succeed, 5 are refused, and 0', async () => {
    const { place, balance } = wallet({ backOff: async () => {} })
    const outcomes = await copies(10, index =>
      place({ transactionId: `t${index}`, betId: `b${index}`, amount: '20' }),
    )
    expect(outcomes.filter(({ ok }) => ok)).toHaveLength(5)
    expect(
      outcomes.filter(outcome => !outcome.ok && outcome.errorCode === 'INSUFFICIENT_FUNDS'),
    ).toHaveLength(5)
    expect(balance()).toBe('0')
  })

  test('P07: given P01, when its transactionId is reused with amount 40, then TRANSACTION_CONFLICT, unchanged', async () => {
    const { place, records } = wallet()
    await place()
    const before = records()
    expect(await place({ amount: '40' })).toMatchObject(refusal('TRANSACTION_CONFLICT'))
    expect(records()).toEqual(before)
  })

  test('P08: given a placebet refused for insufficient funds and a deposit, when it is retried, then still refused', async () => {
    const { place, balance, store } = wallet()
    await place({ amount: '150' })
    store.deposit('alice', '100')
    expect(await place({ amount: '150' })).toMatchObject(refusal('INSUFFICIENT_FUNDS', true))
    expect([balance(), store.bets()]).toEqual(['200', []])
  })

  test('P09: given an unknown bet that was rolled back, when its placebet arrives late, then INVALID_BET', async () => {
    const { place, rollBack, balance } = wallet()
    await rollBack()
    expect(await place()).toMatchObject(refusal('INVALID_BET'))
    expect(balance()).toBe('100')
  })

  test('P10: given a bet placed under t1, when it is placed under t2, then INVALID_BET', async () => {
    const { place, balance } = wallet()
    await place({ transactionId: 't1' })
    expect(await place({ transactionId: 't2' })).toMatchObject(refusal('INVALID_BET'))
    expect(balance()).toBe('70')
  })

  test('P11: given a player in EUR, when USD is placed, then INVALID_CURRENCY', async () => {
    const { place, balance } = wallet()
    expect(await place({ currency: 'USD' })).toMatchObject(refusal('INVALID_CURRENCY'))
    expect(balance()).toBe('100')
  })

  test('P12: given 0.30, when 0.10 is placed three times, then exactly 0', async () => {
    const { place, balance } = wallet({}, '0.30')
    for (const id of ['1', '2', '3']) {
      expect(await place({ transactionId: id, betId: id, amount: '0.10' })).toMatchObject({ ok: true })
    }
    expect(balance()).toBe('0')
  })
})

describe('rollback bet', () => {
  test('R01: given a bet of 30, when it is rolled back, then 100', async () => {
    const { place, rollBack, balance } = wallet()
    await place()
    expect(await rollBack()).toMatchObject(success('100.00'))
    expect(balance()).toBe('100')
  })

  test('R02: given R01, when it is retried and repeated under a new id, then both succeed and 100', async () => {
    const { place, rollBack, balance } = wallet()
    await place()
    const first = await rollBack()
    expect(await rollBack()).toEqual({ ...first, replayed: true })
    expect(await rollBack({ transactionId: 'another' })).toMatchObject(success('100.00'))
    expect(balance()).toBe('100')
  })

  test('R03: given an unknown bet of a known player, when it is rolled back, then success and 100', async () => {
    const { rollBack, balance } = wallet()
    expect(await rollBack()).toMatchObject(success('100.00'))
    expect(balance()).toBe('100')
  })

  test('R04: given a bet settled BET_PAID 60, when it is rolled back, then INVALID_BET, unchanged', async () => {
    const { place, settle, rollBack, records } = wallet()
    await place()
    await settle()
    const before = records()
    expect(await rollBack()).toMatchObject(refusal('INVALID_BET'))
    expect(records()).toEqual(before)
  })

  test('R05: given an unknown player, when a bet is rolled back, then INVALID_PLAYER', async () => {
    const { rollBack, records } = wallet()
    const before = records()
    expect(await rollBack({ playerId: 'unknown-player' })).toMatchObject(refusal('INVALID_PLAYER'))
    expect(records()).toEqual(before)
  })

  test.each(['placebet first', 'rollback first'])(
    'R06: given a concurrent placebet and rollback, when they arrive %s, then 100',
    async order => {
      const { place, rollBack, balance, store } = wallet()
      const [, rolledBack] =
        order === 'placebet first'
          ? await Promise.all([place(), rollBack()])
          : (await Promise.all([rollBack(), place()])).reverse()
      expect(rolledBack).toMatchObject({ ok: true })
      expect(balance()).toBe('100')
      expect(store.bet('bet-1')?.status).toBe('ROLLED_BACK')
    },
  )
})

describe('settlement', () => {
  test('S01: given a bet of 30, when BET_PAID 60 arrives twice under one id, then +60 once', async () => {
    const { place, settle, balance } = wallet()
    await place()
    expect(await settle()).toMatchObject(success('130.00'))
    expect(await settle()).toMatchObject(success('130.00', true))
    expect(balance()).toBe('130')
  })
})

describe('unsettlement', () => {
  /** A placed bet of 30 that was paid 60: balance 130. */
  async function paid(options: WalletOptions = {}) {
    const calls = wallet(options)
    await calls.place()
    await calls.settle()
    return calls
  }

  /** U03: paid 60, balance 20, UNSCORED. */
  async function spent() {
    const calls = await paid()
    calls.store.withdraw('alice', '110')
    return { ...calls, refused: await calls.unsettle() }
  }

  test('U01: given BET_PAID 60, when UNSCORED arrives, then -60, and the bet can be settled again', async () => {
    const { unsettle, settle, balance } = await paid()
    expect(await unsettle()).toMatchObject(success('70.00'))
    expect(await settle({ transactionId: 'settle-2', amount: '40' })).toMatchObject(success('110.00'))
    expect(balance()).toBe('110')
  })

  test('U02: given VOIDED 30, when UNVOIDED arrives, then -30', async () => {
    const { place, settle, unsettle, balance } = wallet()
    await place()
    await settle({ type: 'VOIDED', amount: '30' })
    expect(await unsettle({ type: 'UNVOIDED' })).toMatchObject(success('70.00'))
    expect(balance()).toBe('70')
  })

  test('U03: given BET_PAID 60 and a balance of 20, when UNSCORED arrives, then refused and 20', async () => {
    const { refused, balance, store } = await spent()
    expect(refused).toMatchObject(refusal('INSUFFICIENT_FUNDS'))
    expect(balance()).toBe('20')
    expect(store.owed('alice')).toEqual({ EUR: '60' })
  })

  test('U04: given U03 and a deposit of 100, when it is retried, then still refused and 120', async () => {
    const { unsettle, store, balance } = await spent()
    store.deposit('alice', '100')
    expect(await unsettle()).toMatchObject(refusal('INSUFFICIENT_FUNDS', true))
    // D19: under a new transactionId too.
    expect(await unsettle({ transactionId: 'another' })).toMatchObject(refusal('INVALID_BET'))
    expect([balance(), store.owed('alice')]).toEqual(['120', { EUR: '60' }])
  })

  test('U05: given paid 60, UNSCORED, paid 40, when UNSCORED arrives under a new id, then -40', async () => {
    const { unsettle, settle, balance } = await paid()
    await unsettle()
    await settle({ transactionId: 'settle-2', amount: '40' })
    expect(await unsettle({ transactionId: 'unsettle-2' })).toMatchObject(success('70.00'))
    expect(balance()).toBe('70')
  })

  test('U06: given clawbacks: false, when UNSCORED arrives with ample funds, then refused and owed', async () => {
    const { unsettle, balance, store } = await paid({ clawbacks: false })
    expect(await unsettle()).toMatchObject(refusal('INSUFFICIENT_FUNDS'))
    expect([balance(), store.owed('alice')]).toEqual(['130', { EUR: '60' }])
  })

  test('U07: given a placed bet, when UNSCORED arrives before its settlement, then it succeeds on retry', async () => {
    const { place, unsettle, settle, balance } = wallet()
    await place()
    expect(await unsettle()).toMatchObject(refusal('SETTLEMENT_NOT_FOUND'))
    await settle()
    expect(await unsettle()).toMatchObject(success('70.00'))
    expect(balance()).toBe('70')
  })

  test('U08: given VOIDED 30, spent, UNVOIDED refused, when it is rolled back, then INVALID_BET', async () => {
    const { place, settle, unsettle, rollBack, store, balance } = wallet()
    await place()
    await settle({ type: 'VOIDED', amount: '30' })
    store.withdraw('alice', '90')
    expect(await unsettle({ type: 'UNVOIDED' })).toMatchObject(refusal('INSUFFICIENT_FUNDS'))
    expect(await rollBack()).toMatchObject(refusal('INVALID_BET'))
    expect(balance()).toBe('10')
  })
})
