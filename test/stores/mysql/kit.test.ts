/** The kit on a real server, over a table of decimals, and over one of minor units with an account per currency. */
import mysql from 'mysql2/promise'
import { afterAll, describe } from 'vitest'
import { sharedMariadb } from '../../mariadb/fresh-database.js'
import { noServer } from '../../mysql/engine.js'
import { judge } from '../kit-on-stores.js'
import { decimalAccounts, minorUnitAccountsPerCurrency, mysqlHarness } from './harness.js'

const reason = noServer === null ? '' : ` (skipped: ${noServer})`

describe.skipIf(noServer !== null)(`the kit${reason}`, async () => {
  if (noServer !== null) return
  const { config } = await sharedMariadb()
  const pool = mysql.createPool({ ...config, connectionLimit: 20 })
  afterAll(() => pool.end())
  const shared = { pool, configOf: () => config }

  describe.each([decimalAccounts, minorUnitAccountsPerCurrency])('on $name', accounts => {
    judge(mysqlHarness({ ...shared, accounts }), 10)
  })
})
