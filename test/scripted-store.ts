/** A store whose results are a script. */
import type { CommitResult, WalletChanges, WalletKeys, WalletSnapshot, WalletStore } from '../src/store.js'

export type Answer<T> = T | (() => T | Promise<T>)

/**
 * A store that returns these results in order. The last `load` result is repeated; a further `commit` throws.
 * With `confirmed` it has `loadConfirmed`, which returns these in the same way.
 */
export function scripted(
  loads: Answer<WalletSnapshot>[],
  commits: Answer<CommitResult>[],
  confirmed: Answer<WalletSnapshot>[] = [],
) {
  const loaded: WalletKeys[] = []
  const loadedConfirmed: WalletKeys[] = []
  const committed: WalletChanges[] = []
  /** The methods in the order of their calls. */
  const calls: string[] = []
  const resultOf = <T>(answer: Answer<T>) =>
    typeof answer === 'function' ? (answer as () => T | Promise<T>)() : answer
  const read = (keys: WalletKeys, answers: Answer<WalletSnapshot>[], seen: WalletKeys[]) => {
    const answer = answers[Math.min(seen.push(keys), answers.length) - 1]
    return resultOf(answer as Answer<WalletSnapshot>) as Promise<WalletSnapshot>
  }
  const store = {
    contractVersion: 2,
    load(keys: WalletKeys) {
      calls.push('load')
      return read(keys, loads, loaded)
    },
    commit(changes: WalletChanges) {
      calls.push('commit')
      const answer = commits[committed.push(changes) - 1]
      if (answer === undefined) throw new Error('more commits than the script has')
      return resultOf(answer) as Promise<CommitResult>
    },
    ...(confirmed.length === 0
      ? {}
      : {
          loadConfirmed(keys: WalletKeys) {
            calls.push('loadConfirmed')
            return read(keys, confirmed, loadedConfirmed)
          },
        }),
  } satisfies WalletStore
  return { ...store, contractVersion: 2 as const, loaded, loadedConfirmed, committed, calls }
}
