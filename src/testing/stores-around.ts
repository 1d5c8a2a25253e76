/** Stores around a store. */
import type { WalletKeys, WalletSnapshot, WalletStore } from '../store.js'

type LoadConfirmed = NonNullable<WalletStore['loadConfirmed']>

/** What the contract leaves optional, for a store around `store`: what `store` has of it. */
export function optionalParts(
  store: WalletStore,
  around: (keys: WalletKeys, loadConfirmed: LoadConfirmed) => Promise<WalletSnapshot>,
): Pick<WalletStore, 'addsCredits' | 'loadConfirmed'> {
  const { addsCredits } = store
  return {
    ...(addsCredits === undefined ? {} : { addsCredits }),
    ...(store.loadConfirmed === undefined
      ? {}
      : { loadConfirmed: keys => around(keys, inner => (store.loadConfirmed as LoadConfirmed)(inner)) }),
  }
}

/** The same store with another `commit`. */
export function withCommit(store: WalletStore, commit: WalletStore['commit']): WalletStore {
  return {
    contractVersion: store.contractVersion,
    load: keys => store.load(keys),
    ...optionalParts(store, (keys, loadConfirmed) => loadConfirmed(keys)),
    commit,
  }
}
