/** The harness of the memory store, with every hook that it supports. */
import type { Account } from '../../src/store.js'
import { createMemoryStore, type MemoryStore } from '../../src/stores/memory.js'
import type { StoreHarness } from '../../src/testing/index.js'

export const memoryHarness: StoreHarness<{ store: MemoryStore }> = {
  open: (players: readonly Account[]) => ({ store: createMemoryStore(players) }),
  reopen: ({ store }) => store,
  accountPerCurrency: true,
  limits: { digits: 38, scale: 18 },
  depositExternally({ store }, playerId, amount, currency) {
    if (amount.startsWith('-')) store.withdraw(playerId, amount.slice(1), currency)
    else store.deposit(playerId, amount, currency)
  },
}
