/** The kit on a real server, over a table of decimals, and over one of minor units with an account per currency. */
import { describe } from 'vitest'
import { judge } from '../kit-on-stores.js'
import { decimalAccounts, minorUnitAccountsPerCurrency, mysqlHarness } from './harness.js'
import { describeKit } from './shared-kit.js'

describeKit(shared => {
  describe.each([decimalAccounts, minorUnitAccountsPerCurrency])('on $name', accounts => {
    judge(mysqlHarness({ ...shared, accounts }), 10)
  })
})
