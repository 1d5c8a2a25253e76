/** The whole verification kit on a real server: every kind of players' table, with a hook, in the strictest isolation. */
import { type StoreHarness, walletStoreCases } from 'bet-wallet/testing'
import { afterAll, describe, test } from 'vitest'
import type { WalletChanges } from '../../../src/store.js'
import type { PostgresStore } from '../../../src/stores/postgres/index.js'
import { freshDatabase } from '../../postgres/fresh-database.js'
import {
  everyAccounts,
  type HarnessOptions,
  minorUnitAccounts,
  numericAccounts,
  type Opened,
  ownTable,
  postgresHarness,
} from './harness.js'

const { url, pool, drop } = await freshDatabase()
afterAll(drop)

/** @param runs enough to see what is random at all */
function judge(
  harness: StoreHarness<Opened>,
  runs: number,
  chosen: (id: string) => boolean = () => true,
): void {
  for (const { id, name, skip, run } of walletStoreCases(harness, { runs })) {
    if (!chosen(id)) continue
    test.skipIf(skip !== null)(`${id} ${name}${skip === null ? '' : ` (${skip})`}`, run)
  }
}

describe.each(everyAccounts)('on $name', accounts => {
  judge(postgresHarness({ pool, url, accounts }), 25)
})

/** The same harness, whose every commit is submitted together with one that moves nothing, of a player of its own. */
function besideNeighbours(harness: StoreHarness<Opened>): StoreHarness<Opened> {
  let count = 0
  const beside = (store: PostgresStore): PostgresStore => ({
    ...store,
    contractVersion: 1,
    load: keys => store.load(keys),
    ready: () => store.ready(),
    async commit(changes) {
      await store.ready() // or the first commit would wait for it, and go alone
      count += 1
      const result = store.commit(changes)
      // Company only: it may wait for its own player, or end with a connection that the kit cuts off.
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
      return { ...opened, store: beside(opened.store) }
    },
    reopen: async opened => beside((await harness.reopen?.(opened)) as PostgresStore),
    crash: async opened => beside((await harness.crash?.(opened)) as PostgresStore),
  }
}

/** A refusal that is recorded. */
function neighbour(number: number): WalletChanges {
  const ids = { transactionId: `neighbour-${number}`, playerId: 'neighbour', betId: `neighbour-${number}` }
  const refusal = { errorCode: 'INSUFFICIENT_FUNDS', description: 'amount: insufficient funds' }
  const transaction: WalletChanges['transaction'] = {
    ...{ operation: 'placebet', ...ids, amount: '1', currency: 'EUR', type: null, delta: '0', refusal },
    ...{ transactionDate: '2026-11-21T10:00:00.000Z', walletTransactionId: null },
  }
  return { transaction, bet: null, balance: null, request: {} }
}

describe('with rows of its own in the same commit', () => {
  const options: HarnessOptions['options'] = {
    async withinTransaction(query, commits) {
      for (const { changes } of commits) await query('SELECT $1::text', [changes.transaction.transactionId])
    },
  }
  judge(postgresHarness({ pool, url, accounts: numericAccounts, options }), 10)
})

// Most of the kit's commits are alone, and a lone one has a statement of its own: here each shares one with a stranger's.
describe('beside a neighbour in the same statement', () => {
  judge(besideNeighbours(postgresHarness({ pool, url, accounts: minorUnitAccounts })), 10)
})

// Serializable turns commits away that do not touch each other: lawful, but not what the cases on single commits expect.
describe('in SERIALIZABLE, races and histories', () => {
  const settings = '-c default_transaction_isolation=serializable'
  const raceOrHistory = (id: string) => /^WS-(?:6.|7[0-4]|78|9.)$/.test(id)
  judge(postgresHarness({ pool, url, accounts: ownTable, settings }), 10, raceOrHistory)
})
