/** The kit on a real server, over two kinds of players' table, and two with accounts per currency. `kit-variants.test.ts` has the others. */
import { afterAll, describe } from 'vitest'
import { freshDatabase } from '../../postgres/fresh-database.js'
import { judge } from '../kit-on-stores.js'
import { accountsPerCurrency, minorUnitAccounts, ownTable, postgresHarness } from './harness.js'

const { url, pool, drop } = await freshDatabase()
afterAll(drop)

describe.each([ownTable, minorUnitAccounts, ...accountsPerCurrency])('on $name', accounts => {
  judge(postgresHarness({ pool, url, accounts }), 10)
})
