/** Histories play placebets both ways: committed without a load, and loaded first. */
import { createMemoryStore } from 'bet-wallet/memory'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { concurrentBurst, history } from '../../src/testing/arbitraries.js'
import { walletStoreCases } from '../../src/testing/cases.js'
import type { StoreHarness } from '../../src/testing/harness.js'
import { timeoutMs } from './runs.js'

/** Without a load the floor is not checked. A wallet that loads first never commits a debit without one. */
const floorOnlyAfterLoad: StoreHarness = {
  open(players) {
    const memory = createMemoryStore(players)
    const loaded = new Set<string>()
    return {
      store: {
        contractVersion: 2,
        load(keys) {
          loaded.add(`${keys.operation} ${keys.transactionId}`)
          return memory.load(keys)
        },
        commit(changes) {
          const { transaction, account } = changes
          const isLoaded = loaded.has(`${transaction.operation} ${transaction.transactionId}`)
          if (account.delta === '0' || isLoaded) return memory.commit(changes)
          return memory.commit({ ...changes, account: { ...account, floor: null } })
        },
      },
    }
  },
}

// Seen red with histories that load every placebet first.
test.each(walletStoreCases(floorOnlyAfterLoad, { only: ['WS-95', 'WS-97', 'WS-98'] }))(
  '$id finds a store that checks the floor only after a load',
  ({ run }) => expect(run()).rejects.toThrow('expected'),
  timeoutMs,
)

test.each([
  ['history', history],
  ['concurrentBurst', concurrentBurst.map(({ before, concurrent }) => [...before, ...concurrent])],
])('%s has placebets of a wallet with each hook, and without any', (_name, steps) => {
  const hooks = fc
    .sample(steps, { seed: 1, numRuns: 200 })
    .flat()
    .flatMap(step => (step.step === 'call' && step.request.operation === 'placebet' ? [step.hook] : []))
  for (const hook of ['none', 'authorizeRequest', 'authorizeBet']) {
    expect(hooks.filter(one => one === hook).length, hook).toBeGreaterThan(hooks.length / 8)
  }
})
