/** The kit on a store over a database: as tests, and with every commit in a batch with another one. */
import { type StoreHarness, walletStoreCases } from 'bet-wallet/testing'
import { test } from 'vitest'
import type { WalletChanges, WalletStore } from '../../src/store.js'

/**
 * A test per case. A case that needs a hook, which the harness does not have, is skipped with its reason.
 *
 * @param runs of the randomised cases
 */
export function judge<Opened extends { store: WalletStore }>(
  harness: StoreHarness<Opened>,
  runs: number,
  chosen: (id: string) => boolean = () => true,
): void {
  for (const { id, name, skip, run } of walletStoreCases(harness, { runs })) {
    if (!chosen(id)) continue
    test.skipIf(skip !== null)(`${id} ${name}${skip === null ? '' : ` (${skip})`}`, run)
  }
}

/** The player whose commits share the batches of {@link inBatches}. The hook `holdCommit` lets them pass. */
export const neighbourId = 'neighbour'

type ReadyStore = WalletStore & { ready(): Promise<void> }

/**
 * The same harness, but every commit shares its batch with a commit of another player that changes no balance: most
 * commits of the kit are alone, and run `commit_one`.
 */
export function inBatches<Store extends ReadyStore, Opened extends { store: Store }>(
  harness: StoreHarness<Opened>,
): StoreHarness<Opened> {
  let count = 0
  const neighbours = new Set<Promise<unknown>>()
  const ready = new WeakMap<Store, Promise<void>>()
  const readyOnce = (store: Store) => {
    const started = ready.get(store) ?? store.ready()
    ready.set(store, started)
    return started
  }
  const withNeighbour = (store: Store): Store => ({
    ...store,
    async commit(changes: WalletChanges) {
      await readyOnce(store) // or the first commit would wait for it, and leave alone
      count += 1
      const result = store.commit(changes)
      // Its result does not matter: it may wait for its own player, or fail with a connection that the kit
      // closes.
      const other = store
        .commit(neighbour(count))
        .catch(() => {})
        .finally(() => neighbours.delete(other))
      neighbours.add(other)
      return await result
    },
  })
  const { holdCommit } = harness
  return {
    ...harness,
    // The next commit must be the one of the case.
    ...(holdCommit && {
      holdCommit: async (opened: Opened) => {
        await Promise.all(neighbours)
        return await holdCommit(opened)
      },
    }),
    async open(players) {
      const opened = await harness.open([
        ...players,
        { playerId: neighbourId, currency: 'EUR', balance: '0' },
      ])
      return { ...opened, store: withNeighbour(opened.store) }
    },
    reopen: async opened => withNeighbour((await harness.reopen?.(opened)) as Store),
    crash: async opened => withNeighbour((await harness.crash?.(opened)) as Store),
  }
}

/** A recorded refusal. */
function neighbour(number: number): WalletChanges {
  const ids = { transactionId: `neighbour-${number}`, playerId: neighbourId, betId: `neighbour-${number}` }
  const refusal = { errorCode: 'INSUFFICIENT_FUNDS', description: 'amount: insufficient funds' }
  const transaction: WalletChanges['transaction'] = {
    ...{
      operation: 'placebet',
      ...ids,
      amount: '1',
      currency: 'EUR',
      type: null,
      delta: '0',
      accountCurrency: 'EUR',
      refusal,
    },
    ...{ reason: 'INSUFFICIENT_FUNDS', transactionDate: '2026-11-21T10:00:00.000Z' },
    walletTransactionId: null,
  }
  return {
    transaction,
    bet: null,
    credit: null,
    account: { currency: 'EUR', delta: '0', floor: null },
    request: {},
  }
}
