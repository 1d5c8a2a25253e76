/**
 * Mutants of `partitionStore`: the partitions are correct reference stores, and the store that joins them has
 * one fault.
 */
import { partitionStore } from '../../src/partition-store.js'
import type { WalletChanges, WalletKeys, WalletStore } from '../../src/store.js'
import type { StoreHarness } from '../../src/testing/harness.js'
import type { Mutant } from './mutants.js'
import { indexOf, type Join, partitionedHarness } from './partitioned.js'
import { type OpenedReference, referenceHarness } from './reference.js'

type Stores = readonly WalletStore[]

const at = (stores: Stores, index: number) => stores[index % stores.length] as WalletStore
const ofPlayer = (stores: Stores, playerId: string) => at(stores, indexOf(playerId, stores.length))
const next = (stores: Stores, playerId: string) => at(stores, indexOf(playerId, stores.length) + 1)
const correct = (stores: Stores) => partitionStore(playerId => ofPlayer(stores, playerId))
const loadOf = (store: WalletStore) => (keys: WalletKeys) => (store.loadConfirmed ?? store.load)(keys)
const isDown = (store: WalletStore) =>
  store.load({ operation: 'placebet', transactionId: 'down?', playerId: 'down?', betId: 'down?' }).then(
    () => false,
    () => true,
  )

/** Builds mutants from `name: [killedBy, fault, join, whether every player is in every partition]`. */
function mutantsOf(
  table: Record<string, readonly [Mutant['killedBy'], string, Join, 'everywhere'?]>,
): Mutant[] {
  return Object.entries(table).map(([name, [killedBy, fault, join, everywhere]]) => ({
    name,
    fault,
    killedBy,
    make: () =>
      partitionedHarness([referenceHarness(), referenceHarness()], {
        join,
        everywhere: everywhere !== undefined,
      }) as unknown as StoreHarness<OpenedReference>,
  }))
}

/** Each bet is in the partition of its id. */
function byBet(stores: Stores): WalletStore {
  const of = ({ betId }: { betId: string }) => at(stores, indexOf(betId, stores.length))
  return {
    contractVersion: 2,
    load: keys => of(keys).load(keys),
    commit: changes => of(changes.transaction).commit(changes),
  }
}

/** Calls another partition if the first one is unavailable. */
function fallingOver(stores: Stores): WalletStore {
  return {
    contractVersion: 2,
    load: keys =>
      ofPlayer(stores, keys.playerId)
        .load(keys)
        .catch(() => next(stores, keys.playerId).load(keys)),
    async commit(changes: WalletChanges) {
      const { playerId } = changes.transaction
      const result = await ofPlayer(stores, playerId).commit(changes)
      return result.status === 'unavailable' ? next(stores, playerId).commit(changes) : result
    },
  }
}

export const partitionMutants: readonly Mutant[] = mutantsOf({
  'routed-by-bet': ['WS-73', 'a call goes to the partition of the bet: the player is unknown there', byBet],
  'routed-by-bet-with-copies': [
    'WS-63',
    'a call goes to the partition of the bet, and each partition has a balance of the player',
    byBet,
    'everywhere',
  ],
  'falls-over': ['WS-90', 'another partition answers for one that is unavailable', fallingOver],
  'falls-over-to-a-copy': [
    'WS-90',
    'another partition, with a copy of the account, answers for one that is unavailable',
    fallingOver,
    'everywhere',
  ],
  'unavailable-is-unknown': [
    'WS-90',
    'the player of a partition that is unavailable is unknown',
    stores =>
      partitionStore(async playerId => {
        const store = ofPlayer(stores, playerId)
        return (await isDown(store)) ? null : store
      }),
  ],
  'one-down-all-down': [
    'WS-90',
    'load asks every partition, and fails if one of them is unavailable',
    stores => ({
      contractVersion: 2,
      async load(keys) {
        const snapshots = await Promise.all(stores.map(store => store.load(keys)))
        const found = snapshots.find(({ accounts }) => accounts.length > 0)
        return found ?? { accounts: [], bet: null, transaction: null }
      },
      async commit(changes) {
        for (const store of stores) if (await isDown(store)) return { status: 'unavailable' }
        return ofPlayer(stores, changes.transaction.playerId).commit(changes)
      },
    }),
  ],
  'moves-without-records': [
    'WS-43',
    'a second process has another partition for the player, and the records stayed in the first one',
    (stores, connection) =>
      partitionStore(playerId => at(stores, indexOf(playerId, stores.length) + connection)),
    'everywhere',
  ],
  'confirmed-elsewhere': [
    'WS-53',
    'loadConfirmed asks one partition for all players',
    stores => ({ ...correct(stores), loadConfirmed: loadOf(at(stores, 1)) }),
  ],
  'unknown-players-in-none': [
    'WS-55',
    'a player without a partition is a fault',
    stores =>
      partitionStore(playerId => {
        if (playerId.startsWith('unknown')) throw new Error(`no partition for ${playerId}`)
        return ofPlayer(stores, playerId)
      }),
  ],
})
