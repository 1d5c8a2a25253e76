/** The kit on a real server: the other kinds of players' table and ids, with a hook, in batches. */
import { describe } from 'vitest'
import { inBatches, judge } from '../kit-on-stores.js'
import {
  bigintAccounts,
  decimalAccounts,
  everyAccounts,
  type HarnessOptions,
  minorUnitAccounts,
  mysqlHarness,
  reservingAccounts,
  uuidAccounts,
} from './harness.js'
import { bigintOf, uuidOf, withIds } from './numbered-players.js'
import { describeKit } from './shared-kit.js'

describeKit(shared => {
  const others = everyAccounts.filter(accounts => ![decimalAccounts, minorUnitAccounts].includes(accounts))
  describe.each(others)('on $name', accounts => {
    judge(mysqlHarness({ ...shared, accounts }), 10)
  })

  describe.each([
    { accounts: uuidAccounts, name: uuidAccounts.name, idOf: uuidOf },
    { accounts: bigintAccounts, name: bigintAccounts.name, idOf: bigintOf },
  ])('on $name', ({ accounts, idOf }) => {
    judge(withIds(mysqlHarness({ ...shared, accounts }), idOf), 5)
  })

  describe('with withinTransaction', () => {
    const options: HarnessOptions['options'] = {
      async withinTransaction(query, pending) {
        for (const { changes } of pending) await query('SELECT ?', [changes.transaction.transactionId])
      },
    }
    judge(mysqlHarness({ ...shared, accounts: decimalAccounts, options }), 5)
  })

  // Most commits of the kit are alone, and run commit_one. Here each runs commit, in a batch with another
  // player.
  describe(`in a batch with another player, on ${decimalAccounts.name}`, () => {
    judge(inBatches(mysqlHarness({ ...shared, accounts: decimalAccounts })), 5)
  })

  describe.each(reservingAccounts)('on $name', accounts => {
    const harness = mysqlHarness({ ...shared, accounts })
    describe('alone', () => judge(harness, 5))
    describe('in a batch with another player', () => judge(inBatches(harness), 5))
  })
})
