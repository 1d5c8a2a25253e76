/** The whole verification kit on a real server: every kind of players' table, with a hook, in the strictest isolation. */
import { type StoreHarness, walletStoreCases } from 'bet-wallet/testing'
import { afterAll, describe, test } from 'vitest'
import { freshDatabase } from '../../postgres/fresh-database.js'
import {
  everyAccounts,
  type HarnessOptions,
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

describe('with rows of its own in the same commit', () => {
  const options: HarnessOptions['options'] = {
    async inCommit(query, commits) {
      for (const { changes } of commits) await query('SELECT $1::text', [changes.transaction.transactionId])
    },
  }
  judge(postgresHarness({ pool, url, accounts: numericAccounts, options }), 10)
})

// Serializable turns commits away that do not touch each other: lawful, but not what the cases on single commits expect.
describe('in SERIALIZABLE, races and histories', () => {
  const settings = '-c default_transaction_isolation=serializable'
  const raceOrHistory = (id: string) => /^WS-(?:6.|7[0-4]|78|9.)$/.test(id)
  judge(postgresHarness({ pool, url, accounts: ownTable, settings }), 10, raceOrHistory)
})
