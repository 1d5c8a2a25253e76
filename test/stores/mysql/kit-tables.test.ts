/** The kit on a real server, over two more tables, and in batches. `kit-variants.test.ts` has the others. */
import { describe } from 'vitest'
import { inBatches, judge } from '../kit-on-stores.js'
import { enumAccountsPerCurrency, minorUnitAccounts, mysqlHarness } from './harness.js'
import { describeKit } from './shared-kit.js'

describeKit(shared => {
  describe.each([minorUnitAccounts, enumAccountsPerCurrency])('on $name', accounts => {
    judge(mysqlHarness({ ...shared, accounts }), 10)
  })

  // Most commits of the kit are alone, and run commit_one. Here each runs commit, in a batch with another
  // player.
  describe(`in a batch with another player, on ${minorUnitAccounts.name}`, () => {
    judge(inBatches(mysqlHarness({ ...shared, accounts: minorUnitAccounts })), 5)
  })
})
