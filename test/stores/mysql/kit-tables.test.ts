/** The kit on a real server, over two more tables, and in batches. `kit-variants.test.ts` has the others. */
import mysql from 'mysql2/promise'
import { afterAll, describe } from 'vitest'
import { sharedMariadb } from '../../mariadb/fresh-database.js'
import { noServer } from '../../mysql/engine.js'
import { inBatches, judge } from '../kit-on-stores.js'
import { enumAccountsPerCurrency, minorUnitAccounts, mysqlHarness } from './harness.js'

const reason = noServer === null ? '' : ` (skipped: ${noServer})`

describe.skipIf(noServer !== null)(`the kit${reason}`, async () => {
  if (noServer !== null) return
  const { config } = await sharedMariadb()
  const pool = mysql.createPool({ ...config, connectionLimit: 20 })
  afterAll(() => pool.end())
  const shared = { pool, configOf: () => config }

  describe.each([minorUnitAccounts, enumAccountsPerCurrency])('on $name', accounts => {
    judge(mysqlHarness({ ...shared, accounts }), 10)
  })

  // Most commits of the kit are alone, and run commit_one. Here each runs commit, in a batch with another
  // player.
  describe(`in a batch with another player, on ${minorUnitAccounts.name}`, () => {
    judge(inBatches(mysqlHarness({ ...shared, accounts: minorUnitAccounts })), 5)
  })
})
