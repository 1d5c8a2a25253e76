/** Stores around a store. */
import type { WalletKeys, WalletSnapshot, WalletStore } from '../store.js'

type LoadConfirmed = NonNullable<WalletStore['loadConfirmed']>

/** Returns `loadConfirmed` for a store around `store`, or nothing if `store` has none. */
export function withLoadConfirmed(
  store: WalletStore,
  around: (keys: WalletKeys, loadConfirmed: LoadConfirmed) => Promise<WalletSnapshot>,
): Pick<WalletStore, 'loadConfirmed'> {
  if (store.loadConfirmed === undefined) return {}
  return { loadConfirmed: keys => around(keys, inner => (store.loadConfirmed as LoadConfirmed)(inner)) }
}

/** The same store with another `commit`. */
export function withCommit(store: WalletStore, commit: WalletStore['commit']): WalletStore {
  return {
    contractVersion: store.contractVersion,
    load: keys => store.load(keys),
    ...withLoadConfirmed(store, (keys, loadConfirmed) => loadConfirmed(keys)),
    commit,
  }
}
