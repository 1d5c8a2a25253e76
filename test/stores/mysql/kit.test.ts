/** The whole kit on a real server: every kind of players' table, with a hook, in batches. */
import { type StoreHarness, walletStoreCases } from 'bet-wallet/testing'
import mysql from 'mysql2/promise'
import { afterAll, describe, test } from 'vitest'
import type { WalletChanges } from '../../../src/store.js'
import type { MysqlStore } from '../../../src/stores/mysql/index.js'
import { sharedMariadb } from '../../mariadb/fresh-database.js'
import { noMariadb } from '../../mariadb/installation.js'
import {
  decimalAccounts,
  everyAccounts,
  type HarnessOptions,
  minorUnitAccounts,
  mysqlHarness,
  type Opened,
} from './harness.js'

const reason = noMariadb === null ? '' : ` (skipped: ${noMariadb})`

describe.skipIf(noMariadb !== null)(`the kit${reason}`, async () => {
  if (noMariadb !== null) return
  const { config } = await sharedMariadb()
  const pool = mysql.createPool({ ...config, connectionLimit: 20 })
  afterAll(() => pool.end())
  const shared = { pool, configOf: () => config }

  describe.each(everyAccounts)('on $name', accounts => {
    judge(mysqlHarness({ ...shared, accounts }), 10)
  })

  describe('with withinTransaction', () => {
    const options: HarnessOptions['options'] = {
      async withinTransaction(query, pending) {
        for (const { changes } of pending) await query('SELECT ?', [changes.transaction.transactionId])
      },
    }
    judge(mysqlHarness({ ...shared, accounts: decimalAccounts, options }), 5)
  })

  // Most commits of the kit are alone, and run commit_one. Here each runs commit, in a batch with another
  // player.
  describe.each([minorUnitAccounts, decimalAccounts])(
    'in a batch with another player, on $name',
    accounts => {
      judge(inBatches(mysqlHarness({ ...shared, accounts })), 5)
    },
  )
})

/** @param runs of the randomised cases */
function judge(harness: StoreHarness<Opened>, runs: number): void {
  for (const { id, name, skip, run } of walletStoreCases(harness, { runs }))
    test.skipIf(skip !== null)(`${id} ${name}${skip === null ? '' : ` (${skip})`}`, run)
}

/**
 * The same harness, but every commit shares its batch with a commit of another player that changes no
 * balance.
 */
function inBatches(harness: StoreHarness<Opened>): StoreHarness<Opened> {
  let count = 0
  const ready = new WeakMap<MysqlStore, Promise<void>>()
  const readyOnce = (store: MysqlStore) => {
    const started = ready.get(store) ?? store.ready()
    ready.set(store, started)
    return started
  }
  const withNeighbour = (store: MysqlStore): MysqlStore => ({
    ...store,
    contractVersion: 1,
    async commit(changes) {
      await readyOnce(store) // or the first commit would wait for it, and leave alone
      count += 1
      const result = store.commit(changes)
      // Its result does not matter: it may wait for its own player, or fail with a connection that the kit
      // closes.
      store.commit(neighbour(count)).catch(() => {})
      return await result
    },
  })
  return {
    ...harness,
    async open(players) {
      const opened = await harness.open([
        ...players,
        { playerId: 'neighbour', currency: 'EUR', balance: '0' },
      ])
      return { ...opened, store: withNeighbour(opened.store) }
    },
    reopen: async opened => withNeighbour((await harness.reopen?.(opened)) as MysqlStore),
    crash: async opened => withNeighbour((await harness.crash?.(opened)) as MysqlStore),
  }
}

/** A recorded refusal. */
function neighbour(number: number): WalletChanges {
  const ids = { transactionId: `neighbour-${number}`, playerId: 'neighbour', betId: `neighbour-${number}` }
  const refusal = { errorCode: 'INSUFFICIENT_FUNDS', description: 'amount: insufficient funds' }
  const transaction: WalletChanges['transaction'] = {
    ...{ operation: 'placebet', ...ids, amount: '1', currency: 'EUR', type: null, delta: '0', refusal },
    ...{ transactionDate: '2026-11-21T10:00:00.000Z', walletTransactionId: null },
  }
  return { transaction, bet: null, balance: null, request: {} }
}
