/** The kit on a real server, over a table of decimals, and over one of minor units with an account per currency. */
import { afterAll, describe } from 'vitest'
import { freshDatabase } from '../../postgres/fresh-database.js'
import { judge } from '../kit-on-stores.js'
import { minorUnitAccountsPerCurrency, ownTable, postgresHarness } from './harness.js'

const { url, pool, drop } = await freshDatabase()
afterAll(drop)

describe.each([ownTable, minorUnitAccountsPerCurrency])('on $name', accounts => {
  judge(postgresHarness({ pool, url, accounts }), 10)
})
