/** The kit on a real server: the other kinds of players' table, with a hook, in batches, in SERIALIZABLE. */
import { afterAll, describe } from 'vitest'
import { freshDatabase } from '../../postgres/fresh-database.js'
import { inBatches, judge } from '../kit-on-stores.js'
import {
  everyAccounts,
  type HarnessOptions,
  minorUnitAccounts,
  numericAccounts,
  ownTable,
  postgresHarness,
  reservingAccounts,
} from './harness.js'

const { url, pool, drop } = await freshDatabase()
afterAll(drop)

const others = everyAccounts.filter(accounts => accounts !== ownTable && accounts !== minorUnitAccounts)
describe.each(others)('on $name', accounts => {
  judge(postgresHarness({ pool, url, accounts }), 10)
})

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

describe.each(reservingAccounts)('on $name', accounts => {
  const harness = postgresHarness({ pool, url, accounts })
  describe('alone', () => judge(harness, 10))
  describe('in a batch with another player', () => judge(inBatches(harness), 10))
})

// SERIALIZABLE also aborts commits that do not conflict: allowed, but not expected by the cases on single
// commits.
describe('in SERIALIZABLE, races and histories', () => {
  const settings = '-c default_transaction_isolation=serializable'
  const raceOrHistory = (id: string) => /^WS-(?:6.|7[0-4]|78|9.)$/.test(id)
  judge(postgresHarness({ pool, url, accounts: ownTable, settings }), 10, raceOrHistory)
})
