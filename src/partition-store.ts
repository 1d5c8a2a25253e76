/** One store over several: each player's records are in the store of one partition. */
import { fieldOf } from './foreign-values.js'
import type { WalletStore } from './store.js'
import { checkStore } from './store-checks.js'

/**
 * Joins several stores into one: every call goes to the store of its player's partition. Ids of bets and
 * transactions are then unique per partition only (docs/operations.md). A partition that is unavailable does
 * not affect the others.
 *
 * @param storeOf returns the store of the player's partition: always the same one, in every process, also
 *   while it is unavailable. In another one the player's bets and transactions do not exist, and retries move
 *   money again. `null`: no partition has ever known the player (`INVALID_PLAYER`, D16). Throws if it does
 *   not know: an error whose `code` is `'UNAVAILABLE'` is answered 503, and no changes are made; any other
 *   one 500
 * @returns a store whose `loadConfirmed` is that of the partition, or its `load` if it has none. It has
 *   `addsCredits`: for a partition without it, the commit of a credit is a conflict, which leads to a load
 */
export function partitionStore(
  storeOf: (playerId: string) => WalletStore | null | Promise<WalletStore | null>,
): WalletStore {
  const partitionOf = async (playerId: string): Promise<WalletStore> => {
    const store = await storeOf(playerId)
    if (store === null) return emptyStore
    checkStore(store)
    return store
  }
  return {
    contractVersion: 2,
    addsCredits: true,
    load: async keys => (await partitionOf(keys.playerId)).load(keys),
    async loadConfirmed(keys) {
      const store = await partitionOf(keys.playerId)
      return store.loadConfirmed === undefined ? store.load(keys) : store.loadConfirmed(keys)
    },
    async commit(changes) {
      let store: WalletStore
      try {
        store = await partitionOf(changes.transaction.playerId)
      } catch (error) {
        // Nothing was sent. Any other error is thrown: the operator has to see it.
        if (fieldOf(error, 'code') === 'UNAVAILABLE') return { status: 'unavailable' }
        throw error
      }
      if (changes.credit !== null && store.addsCredits !== true) return { status: 'conflict' }
      return store.commit(changes)
    },
  }
}

/** Of a player who does not exist: no record, and guard 3 fails. */
const emptyStore: WalletStore = {
  contractVersion: 2,
  load: async () => ({ accounts: [], bet: null, transaction: null }),
  commit: async () => ({ status: 'conflict' }),
}
