/** Fault injection: a store whose commit requests or answers get lost, or whose commits are delayed. */
import type { CommitResult, WalletChanges, WalletStore } from '../store.js'
import { withCommit } from './stores-around.js'

export interface FaultyStore extends WalletStore {
  /** The next commits meet these faults, in this order; `null`: no fault. Later commits meet none. */
  failNext(...faults: (CommitFault | null)[]): void
  /** Removes the faults that no commit has met yet. */
  clearFaults(): void
  /**
   * Delivers the delayed commits to the store.
   *
   * @returns their results
   */
  deliverDelayed(): Promise<CommitResult[]>
}

/**
 * - `lost-request`: the commit never reaches the store, and throws.
 * - `lost-answer`: the store commits, its answer is lost, and the commit throws.
 * - `delayed`: the commit throws at once, and reaches the store only with `deliverDelayed`.
 */
export type CommitFault = 'lost-request' | 'lost-answer' | 'delayed'

export class InjectedFaultError extends Error {
  override readonly name = 'InjectedFaultError'
}

/**
 * Wraps a store so that chosen commits fail.
 *
 * @param store the store behind the faults
 * @param plan the faults of the first commits; `null`: no fault
 * @throws {InjectedFaultError} from `commit`, for every injected fault
 */
export function faultyStore(store: WalletStore, plan: readonly (CommitFault | null)[] = []): FaultyStore {
  const faults = [...plan]
  const delayed: WalletChanges[] = []
  return {
    ...withCommit(store, async changes => {
      const fault = faults.shift() ?? null
      if (fault === null) return store.commit(changes)
      if (fault === 'delayed') delayed.push(changes)
      if (fault === 'lost-answer') await store.commit(changes)
      throw new InjectedFaultError(`Injected fault: ${fault}`)
    }),
    failNext: (...next) => void faults.push(...next),
    clearFaults: () => void faults.splice(0),
    async deliverDelayed() {
      const results: CommitResult[] = []
      for (const changes of delayed.splice(0)) results.push(await store.commit(changes))
      return results
    },
  }
}
