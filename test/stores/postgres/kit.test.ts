/** The whole kit on a real server: every kind of players' table, with a hook, in batches, in SERIALIZABLE. */
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

/** @param runs of the randomised cases */
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
  judge(postgresHarness({ pool, url, accounts }), 10)
})

/**
 * The same harness, but every commit shares its batch with a commit of another player that changes no
 * balance.
 */
function inBatches(harness: StoreHarness<Opened>): StoreHarness<Opened> {
  let count = 0
  const ready = new WeakMap<PostgresStore, Promise<void>>()
  const readyOnce = (store: PostgresStore) => {
    const started = ready.get(store) ?? store.ready()
    ready.set(store, started)
    return started
  }
  const withNeighbour = (store: PostgresStore): PostgresStore => ({
    ...store,
    contractVersion: 1,
    load: keys => store.load(keys),
    ready: () => store.ready(),
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
    reopen: async opened => withNeighbour((await harness.reopen?.(opened)) as PostgresStore),
    crash: async opened => withNeighbour((await harness.crash?.(opened)) as PostgresStore),
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

describe('with withinTransaction', () => {
  const options: HarnessOptions['options'] = {
    async withinTransaction(query, pending) {
      for (const { changes } of pending) await query('SELECT $1::text', [changes.transaction.transactionId])
    },
  }
  judge(postgresHarness({ pool, url, accounts: numericAccounts, options }), 10)
})

// Most commits of the kit are alone, and run commit_one. Here each runs commit, in a batch with another
// player.
describe('in a batch with another player', () => {
  judge(inBatches(postgresHarness({ pool, url, accounts: minorUnitAccounts })), 10)
})

// SERIALIZABLE also aborts commits that do not conflict: allowed, but not expected by the cases on single
// commits.
describe('in SERIALIZABLE, races and histories', () => {
  const settings = '-c default_transaction_isolation=serializable'
  const raceOrHistory = (id: string) => /^WS-(?:6.|7[0-4]|78|9.)$/.test(id)
  judge(postgresHarness({ pool, url, accounts: ownTable, settings }), 10, raceOrHistory)
})
