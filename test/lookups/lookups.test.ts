/** Lookups on every SQL store: the same records, pages and streams. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  handlePlaceBet,
  handleRollbackBet,
  handleUnsettlement,
  recordSettlement,
  WalletRefusal,
} from '../../src/index.js'
import type { RecordedTransaction, WalletLookups } from '../../src/lookups/index.js'
import { explainBet } from '../../src/lookups/index.js'
import type { Bet } from '../../src/store.js'
import type { ImportedTransaction } from '../../src/stores/database/import.js'
import { type Opened, testedDatabases } from './databases.js'

const date = '2026-11-21T18:00:00.000Z'
const common = { playerId: 'anna', transactionDate: date }
const stake = { ...common, sessionId: 's', currency: 'EUR', odds: '2', betType: 'SINGLE' }

const placeBet = (wallet: Opened, transactionId: string, betId: string, amount = '30', fields: object = {}) =>
  handlePlaceBet(wallet.store, { ...stake, transactionId, betId, amount, ...fields })
const settle = (wallet: Opened, transactionId: string, betId: string, amount: string, type = 'BET_PAID') =>
  recordSettlement(wallet.store, { ...common, transactionId, betId, amount, currency: 'EUR', type })
const unsettle = (wallet: Opened, transactionId: string, betId: string) =>
  handleUnsettlement(wallet.store, { ...common, transactionId, betId, type: 'UNSCORED' })
const rollBack = (wallet: Opened, transactionId: string, betId: string) =>
  handleRollbackBet(wallet.store, { ...common, transactionId, betId, type: 'TECHNICAL_ERROR' })

const short = ({ operation, transactionId, delta, balanceAfter, refusal }: RecordedTransaction) =>
  [operation, transactionId, delta, balanceAfter, ...(refusal === null ? [] : [refusal.errorCode])].join(' ')

async function all(found: AsyncIterable<RecordedTransaction>): Promise<RecordedTransaction[]> {
  const list: RecordedTransaction[] = []
  for await (const transaction of found) list.push(transaction)
  return list
}

const ever = { from: '2020-01-01', to: '2999-01-01' }

describe.each(testedDatabases)('lookups on $name', ({ name, skipped, open }) => {
  const title = skipped === null ? name : `${name} (skipped: ${skipped})`

  describe.skipIf(skipped !== null)(title, () => {
    let wallet: Opened
    let lookups: WalletLookups
    beforeAll(async () => {
      wallet = await open()
      lookups = wallet.lookups
    })
    afterAll(() => wallet?.close())

    it('finds a bet with its whole life, in order, with the balance that each call left', async () => {
      await placeBet(wallet, 'life-1', 'life')
      await placeBet(wallet, 'life-1', 'life')
      await placeBet(wallet, 'life-2', 'life')
      await settle(wallet, 'life-3', 'life', '75.5')
      await unsettle(wallet, 'life-4', 'life')
      await settle(wallet, 'life-5', 'life', '0')
      const history = await lookups.bet('life')
      expect(history?.transactions.map(short)).toEqual([
        'placebet life-1 -30 70',
        'placebet life-2 0 70 INVALID_BET',
        'settlement life-3 75.5 145.5',
        'unsettlement life-4 -75.5 70',
        'settlement life-5 0 70',
      ])
      expect(history?.bet).toEqual({
        ...{ betId: 'life', playerId: 'anna', currency: 'EUR', stake: '30', status: 'PLACED', revision: 4 },
        credits: { BET_PAID: { live: '0', reversed: '75.5', owed: '0' } },
        recordedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      })
      const [first] = history?.transactions ?? []
      expect(first).toEqual({
        ...{ operation: 'placebet', transactionId: 'life-1', playerId: 'anna', betId: 'life', type: null },
        ...{
          amount: '30',
          currency: 'EUR',
          delta: '-30',
          reason: 'ACCEPTED',
          refusal: null,
          balanceAfter: '70',
          accountCurrency: 'EUR',
        },
        transactionDate: date,
        walletTransactionId: expect.stringMatching(/^\d+$/),
        recordedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      })
      // UTC, whatever the time zone of server and session.
      expect(Math.abs(Date.parse(first?.recordedAt ?? '') - Date.now())).toBeLessThan(60_000)
      await rollBack(wallet, 'life-6', 'life')
    })

    it('tells it: the verdict, and a rule for each call', async () => {
      const history = await lookups.bet('life')
      if (history === null) throw new Error('unknown')
      const { verdict, steps } = explainBet(history)
      expect(verdict).toBe(
        'Taken once, for 30.00 EUR; settled: 0.00 EUR credited as BET_PAID, 75.50 EUR of BET_PAID reversed; 1 other placebet was refused and debited nothing.',
      )
      expect(steps.map(({ rule }) => rule)).toEqual(['spec 4.1', 'D10', 'D17', 'D18', 'D17'])
    })

    it('finds a tombstone, and the late bet that it refused', async () => {
      await rollBack(wallet, 'tomb-1', 'tomb')
      await rollBack(wallet, 'tomb-2', 'tomb')
      await placeBet(wallet, 'tomb-3', 'tomb')
      const history = await lookups.bet('tomb')
      expect(history?.transactions.map(short)).toEqual([
        'rollbackbet tomb-1 0 70',
        'rollbackbet tomb-2 0 70',
        'placebet tomb-3 0 70 INVALID_BET',
      ])
      expect(history?.bet).toMatchObject({ status: 'ROLLED_BACK', stake: '0' })
    })

    it('finds an uncollected clawback, and bets that were only refused', async () => {
      await placeBet(wallet, 'owed-1', 'owed', '10')
      await settle(wallet, 'owed-2', 'owed', '20')
      await placeBet(wallet, 'owed-3', 'spent', '79.5')
      await unsettle(wallet, 'owed-4', 'owed')
      const history = await lookups.bet('owed')
      expect(history?.bet?.credits).toEqual({ BET_PAID: { live: null, reversed: '0', owed: '20' } })
      expect(history?.transactions.map(short).at(-1)).toBe('unsettlement owed-4 0 0.5 INSUFFICIENT_FUNDS')
      await placeBet(wallet, 'poor-1', 'poor')
      expect(await lookups.bet('poor')).toMatchObject({
        bet: null,
        transactions: [
          { transactionId: 'poor-1', refusal: { errorCode: 'INSUFFICIENT_FUNDS' }, balanceAfter: '0.5' },
        ],
      })
    })

    it('returns null for what is unknown, and compares ids exactly', async () => {
      expect(await lookups.bet('nothing')).toBeNull()
      expect(await lookups.bet('LIFE')).toBeNull()
      expect(await lookups.bet('life ')).toBeNull()
      expect(await lookups.bet("' OR 1=1 -- 🎲")).toBeNull()
      expect(await lookups.bet('x'.repeat(300))).toBeNull()
      expect(await lookups.transaction('nothing')).toEqual([])
      expect(await lookups.transaction('LIFE-1')).toEqual([])
      expect(await lookups.player('unknown')).toBeNull()
      expect(await lookups.player('ANNA')).toBeNull()
    })

    it('finds every operation that has used a transactionId', async () => {
      await rollBack(wallet, 'owed-3', 'spent')
      const found = await lookups.transaction('owed-3')
      expect(found.map(short)).toEqual(['placebet owed-3 -79.5 0.5', 'rollbackbet owed-3 79.5 80'])
    })

    it('finds a player with the newest transactions and their bets', async () => {
      const history = await lookups.player('anna', { limit: 3 })
      expect(history?.accounts[0]).toEqual({ playerId: 'anna', currency: 'EUR', balance: '80' })
      expect(history?.transactions.map(short)).toEqual([
        'rollbackbet owed-3 79.5 80',
        'placebet poor-1 0 0.5 INSUFFICIENT_FUNDS',
        'unsettlement owed-4 0 0.5 INSUFFICIENT_FUNDS',
      ])
      expect(history?.bets.map(({ betId, status }) => `${betId} ${status}`)).toEqual([
        'spent ROLLED_BACK',
        'owed PLACED',
      ])
      expect(await lookups.player('kenji')).toEqual({
        playerId: 'kenji',
        accounts: [{ playerId: 'kenji', currency: 'JPY', balance: '5000' }],
        ...{ transactions: [], bets: [], next: null },
      })
    })

    it('pages through all transactions of a player, each once, and within a span of time', async () => {
      const whole = (await lookups.player('anna', { limit: 1_000 }))?.transactions ?? []
      expect(whole.length).toBe(14)
      const paged: RecordedTransaction[] = []
      let cursor: string | null | undefined
      while (cursor !== null) {
        const page = await lookups.player('anna', { limit: 4, ...(cursor === undefined ? {} : { cursor }) })
        paged.push(...(page?.transactions ?? []))
        cursor = page?.next ?? null
      }
      expect(paged).toEqual(whole)
      // A page that ends with the last transaction has no next one.
      expect((await lookups.player('anna', { limit: 14 }))?.next).toBeNull()
      const middle = whole[7]?.recordedAt ?? ''
      const later = (await lookups.player('anna', { limit: 1_000, from: middle }))?.transactions ?? []
      const earlier = (await lookups.player('anna', { limit: 1_000, to: middle }))?.transactions ?? []
      expect([...later, ...earlier]).toEqual(whole)
      expect(later.every(({ recordedAt }) => recordedAt >= middle)).toBe(true)
    })

    it('streams a span of time in the order of recording', async () => {
      const streamed = await all(lookups.transactions(ever))
      const ofAnna = (await lookups.player('anna', { limit: 1_000 }))?.transactions ?? []
      expect(streamed).toEqual([...ofAnna].reverse())
      const second = streamed[1]?.recordedAt ?? ''
      const last = streamed.at(-1)?.recordedAt ?? ''
      const within = await all(lookups.transactions({ from: second, to: last }))
      expect(within.every(({ recordedAt }) => recordedAt >= second && recordedAt < last)).toBe(true)
      expect(await all(lookups.transactions({ from: ever.from, to: '2021-01-01' }))).toEqual([])
    })

    it.each([
      ['a page without a number', () => lookups.player('anna', { limit: 0 }), /limit/],
      ['a page that is too large', () => lookups.player('anna', { limit: 1_001 }), /limit/],
      ['a cursor of its own', () => lookups.player('anna', { cursor: 'MQ==' }), /cursor/],
      ['a time in a named zone', () => lookups.player('anna', { from: '2026-11-22T10:00:00 CET' }), /from/],
      ['a day that does not exist', () => lookups.player('anna', { to: '2026-02-30' }), /to must be/],
      [
        'a span without an end',
        () => all(lookups.transactions({ from: '2026-11-22' } as never)),
        /to must be/,
      ],
      ['no id', () => lookups.bet(''), /betId/],
      ['a NUL', () => lookups.transaction('a\0b'), /transactionId/],
      ['a misspelt option', () => lookups.player('anna', { since: '2026-11-22' } as never), /since/],
    ])('rejects %s', async (_, call, problem) => {
      await expect(call()).rejects.toMatchObject({
        code: 'INVALID_OPTIONS',
        message: expect.stringMatching(problem),
      })
    })
  })
})

describe.each(testedDatabases)('balances and times on $name', ({ name, skipped, open }) => {
  const title = skipped === null ? name : `${name} (skipped: ${skipped})`

  describe.skipIf(skipped !== null)(title, () => {
    let wallet: Opened
    beforeAll(async () => {
      wallet = await open({ ownPlayersTable: true })
    })
    afterAll(() => wallet?.close())

    it('keeps the balance after each item of a batch, in the order in which they were applied', async () => {
      // The first makes its own batch; the others wait for it, and share the next one.
      const numbers = Array.from({ length: 12 }, (_, index) => index + 1)
      const outcomes = await Promise.all(numbers.map(n => placeBet(wallet, `batch-${n}`, `batch-${n}`, '9')))
      expect(outcomes.filter(({ ok }) => ok)).toHaveLength(11)
      const transactions = (await wallet.lookups.player('anna'))?.transactions ?? []
      const accepted = transactions.filter(({ refusal }) => refusal === null).reverse()
      expect(accepted.map(({ balanceAfter }) => balanceAfter)).toEqual(
        numbers.slice(0, 11).map(n => String(100 - 9 * n)),
      )
      expect(transactions.find(({ refusal }) => refusal !== null)?.balanceAfter).toBe('1')
    })

    it('counts only the items of a batch that were committed', async () => {
      // The first makes its own batch. The second lacks funds, and its batch has two bets of kenji.
      const yen = { playerId: 'kenji', currency: 'JPY' }
      const coin = { playerId: 'satoshi', currency: 'BTC' }
      await Promise.all([
        placeBet(wallet, 'mixed-0', 'mixed-0', '1', coin),
        placeBet(wallet, 'mixed-1', 'mixed-1', '300', yen),
        placeBet(wallet, 'mixed-2', 'mixed-2', '9', coin),
        placeBet(wallet, 'mixed-3', 'mixed-3', '200', yen),
      ])
      const found = (await wallet.lookups.player('kenji'))?.transactions ?? []
      expect(found.filter(({ refusal }) => refusal === null).map(short)).toEqual([
        'placebet mixed-3 -200 4500',
        'placebet mixed-1 -300 4700',
      ])
      // And a batch of which all are committed.
      await Promise.all([
        placeBet(wallet, 'mixed-4', 'mixed-4', '1', coin),
        placeBet(wallet, 'mixed-5', 'mixed-5', '10', yen),
        placeBet(wallet, 'mixed-6', 'mixed-6', '20', yen),
        placeBet(wallet, 'mixed-7', 'mixed-7', '30', yen),
      ])
      const later = (await wallet.lookups.player('kenji', { limit: 3 }))?.transactions ?? []
      expect(later.map(({ balanceAfter }) => balanceAfter)).toEqual(['4440', '4470', '4490'])
      await wallet.run("DELETE FROM TRANSACTIONS WHERE transaction_id LIKE 'mixed%'")
      await wallet.run("DELETE FROM BETS WHERE bet_id LIKE 'mixed%'")
      await wallet.setBalance('kenji', 5000)
      await wallet.setBalance('satoshi', 200_000_000)
    })

    it('keeps it in whole units of each currency', async () => {
      const other = { playerId: 'kenji', currency: 'JPY' }
      await placeBet(wallet, 'yen', 'yen', '1200', other)
      await placeBet(wallet, 'coin', 'coin', '0.00000001', { playerId: 'satoshi', currency: 'BTC' })
      expect((await wallet.lookups.bet('yen'))?.transactions.map(short)).toEqual(['placebet yen -1200 3800'])
      expect((await wallet.lookups.bet('coin'))?.transactions.map(short)).toEqual([
        'placebet coin -0.00000001 1.99999999',
      ])
      expect((await wallet.lookups.player('satoshi'))?.accounts[0]?.balance).toBe('1.99999999')
    })

    it('keeps the balance that a refusal by the operator found', async () => {
      const authorizeBet = () => {
        throw new WalletRefusal('SELF_EXCLUDED', 'the player has excluded himself')
      }
      const request = { ...stake, transactionId: 'no-1', betId: 'no', amount: '1' }
      await handlePlaceBet(wallet.store, request, { authorizeBet })
      const history = await wallet.lookups.bet('no')
      expect(history?.transactions.map(short)).toEqual(['placebet no-1 0 1 SELF_EXCLUDED'])
      expect(history?.transactions[0]?.reason).toBe('REFUSED_BY_OPERATOR')
    })

    it('shows imported bets and transactions, without a balance, in the order of their dates', async () => {
      const bet: Bet = {
        ...{ betId: 'old', playerId: 'anna', currency: 'EUR', stake: '5', status: 'PLACED', revision: 1 },
        credits: { BET_PAID: { live: '9', reversed: '0', owed: '0' } },
      }
      const transaction = (fields: Partial<ImportedTransaction>): ImportedTransaction => ({
        ...{ operation: 'placebet', transactionId: 'old-2', playerId: 'anna', betId: 'old', amount: '5' },
        ...{ currency: 'EUR', type: null, delta: '-5', refusal: null, walletTransactionId: 'ref-1' },
        transactionDate: '2025-01-01T00:00:00.000Z',
        ...fields,
      })
      await wallet.importBets([bet])
      await wallet.importTransactions([
        transaction({
          ...{ operation: 'settlement', transactionId: 'old-1', type: 'BET_PAID', amount: '9', delta: '9' },
          ...{ walletTransactionId: null, transactionDate: '2025-01-02T00:00:00.000Z' },
        }),
        transaction({}),
      ])
      const history = await wallet.lookups.bet('old')
      expect(history?.transactions.map(short)).toEqual(['placebet old-2 -5 ', 'settlement old-1 9 '])
      expect(history?.transactions[0]?.walletTransactionId).toBe('ref-1')
      expect(history?.transactions.map(({ reason }) => reason)).toEqual(['IMPORTED', 'IMPORTED'])
      expect(history && explainBet(history).verdict).toBe(
        'Taken once, for 5.00 EUR; settled: 9.00 EUR credited as BET_PAID.',
      )
    })

    it('streams transactions of one time, and more than a page of them, each once', async () => {
      const numbers = Array.from({ length: 4_500 }, (_, index) => `many-${String(index).padStart(4, '0')}`)
      await wallet.importTransactions(
        numbers.map(transactionId => ({
          ...{ operation: 'placebet', transactionId, playerId: 'kenji', betId: transactionId, amount: '1' },
          ...{ currency: 'JPY', type: null, delta: '-1', refusal: null, walletTransactionId: null },
          transactionDate: date,
        })),
      )
      // All of one moment: the ties alone fill several pages.
      await wallet.run(
        "UPDATE TRANSACTIONS SET recorded_at = '2024-06-01 12:00:00' WHERE transaction_id LIKE 'many-%'",
      )
      const streamed = await all(wallet.lookups.transactions({ from: '2024-06-01', to: '2024-06-02' }))
      expect(streamed.map(({ transactionId }) => transactionId).sort()).toEqual(numbers)
      const first = await wallet.lookups.player('kenji', { limit: 1_000, to: '2025-01-01' })
      const second = await wallet.lookups.player('kenji', {
        limit: 1_000,
        to: '2025-01-01',
        cursor: first?.next ?? '',
      })
      const ids = [...(first?.transactions ?? []), ...(second?.transactions ?? [])]
      expect(new Set(ids.map(({ transactionId }) => transactionId)).size).toBe(2_000)
    })

    it('ends a stream that the caller leaves', async () => {
      for await (const { transactionId } of wallet.lookups.transactions(ever)) {
        expect(transactionId).toBe('many-0000')
        break
      }
      expect(await wallet.lookups.transaction('yen')).toHaveLength(1)
    })
  })
})

describe.each(testedDatabases)('indexes on $name', ({ name, skipped, open }) => {
  const title = skipped === null ? name : `${name} (skipped: ${skipped})`

  describe.skipIf(skipped !== null)(title, () => {
    it('refuses to read the whole table, says what is missing, and finds it when it is there', async () => {
      const wallet = await open({ lookupIndexes: false })
      try {
        await placeBet(wallet, 't-1', 'b-1')
        for (const [look, columns] of [
          [() => wallet.lookups.bet('b-1'), 'bet_id'],
          [() => wallet.lookups.player('anna'), 'player_id, recorded_at'],
          [() => all(wallet.lookups.transactions(ever)), 'recorded_at'],
        ] as const)
          await expect(look()).rejects.toMatchObject({
            code: 'LOOKUP_INDEX_MISSING',
            message: expect.stringMatching(
              new RegExp(
                `has no index on \\(${columns}\\).*CREATE INDEX.*transactions.*\\(${columns}\\).*allowScan`,
              ),
            ),
          })
        // By the index of guard 1.
        expect(await wallet.lookups.transaction('t-1')).toHaveLength(1)
        const scanning = wallet.lookupsWith({ allowScan: true })
        expect((await scanning.bet('b-1'))?.transactions).toHaveLength(1)
        expect((await scanning.player('anna'))?.transactions).toHaveLength(1)
        expect(await all(scanning.transactions(ever))).toHaveLength(1)
        await wallet.migrate({ lookupIndexes: true })
        await wallet.migrate({ lookupIndexes: true })
        expect((await wallet.lookups.bet('b-1'))?.transactions).toHaveLength(1)
        expect((await wallet.lookups.player('anna'))?.transactions).toHaveLength(1)
        expect(await all(wallet.lookups.transactions(ever))).toHaveLength(1)
      } finally {
        await wallet.close()
      }
    })

    it('says that the schema is another one', async () => {
      const wallet = await open()
      try {
        const elsewhere = wallet.lookupsWith({ schema: 'elsewhere' })
        await expect(elsewhere.bet('b-1')).rejects.toMatchObject({ code: 'SCHEMA_MISSING' })
      } finally {
        await wallet.close()
      }
    })
  })
})
