/** The kit on a real server, over two more tables. `kit-variants.test.ts` has the others. */
import { afterAll, describe } from 'vitest'
import { freshDatabase } from '../../postgres/fresh-database.js'
import { judge } from '../kit-on-stores.js'
import { enumAccountsPerCurrency, minorUnitAccounts, postgresHarness } from './harness.js'

const { url, pool, drop } = await freshDatabase()
afterAll(drop)

describe.each([minorUnitAccounts, enumAccountsPerCurrency])('on $name', accounts => {
  judge(postgresHarness({ pool, url, accounts }), 10)
})
