/** Broken lines: a store whose answers get lost, or whose commits land late. */
import type { CommitResult, WalletChanges, WalletStore } from '../store.js'

export interface FaultyStore extends WalletStore {
  /** What the next commits meet, in this order; then the line is sound again. */
  failNext(...how: CommitFault[]): void
  /** Forgets the breaks that no commit has met. */
  clearFaults(): void
  /** Lets the commits land that were held back. Gives what became of them. */
  deliverDelayed(): Promise<CommitResult[]>
}

/**
 * - `before`: the commit never reaches the store, and throws.
 * - `after`: it is done, but its answer is lost: throws.
 * - `late`: it throws at once, and reaches the store only with `landAll`.
 */
export type CommitFault = 'before' | 'after' | 'late'

export class InjectedFaultError extends Error {
  override readonly name = 'LineBroken'
}

/**
 * The store at the other end of a line that breaks when it is told to.
 *
 * @param plan what the first commits meet, `null` for a sound line
 */
export function faultyStore(store: WalletStore, plan: readonly (CommitFault | null)[] = []): FaultyStore {
  const breaks = [...plan]
  const late: WalletChanges[] = []
  return {
    contractVersion: store.contractVersion,
    load: keys => store.load(keys),
    async commit(changes) {
      const how = breaks.shift()
      if (how === 'late') late.push(changes)
      if (how === 'after') await store.commit(changes)
      if (how !== undefined && how !== null)
        throw new InjectedFaultError(`the line broke (${how} the commit)`)
      return store.commit(changes)
    },
    failNext: (...how) => void breaks.push(...how),
    clearFaults: () => void breaks.splice(0),
    async deliverDelayed() {
      const results: CommitResult[] = []
      for (const changes of late.splice(0)) results.push(await store.commit(changes))
      return results
    },
  }
}
