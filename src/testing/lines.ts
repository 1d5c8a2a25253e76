/** Broken lines: a store whose answers get lost, or whose commits land late. */
import type { CommitResult, WalletChanges, WalletStore } from '../store.js'

export interface BrokenLine extends WalletStore {
  /** What the next commits meet, in this order; then the line is sound again. */
  breaks(...how: Break[]): void
  /** Forgets the breaks that no commit has met. */
  mend(): void
  /** Lets the commits land that were held back. Gives what became of them. */
  landAll(): Promise<CommitResult[]>
}

/**
 * - `before`: the commit never reaches the store, and throws.
 * - `after`: it is done, but its answer is lost: throws.
 * - `late`: it throws at once, and reaches the store only with `landAll`.
 */
export type Break = 'before' | 'after' | 'late'

export class LineBroken extends Error {
  override readonly name = 'LineBroken'
}

/**
 * The store at the other end of a line that breaks when it is told to.
 *
 * @param plan what the first commits meet, `null` for a sound line
 */
export function brokenLine(store: WalletStore, plan: readonly (Break | null)[] = []): BrokenLine {
  const breaks = [...plan]
  const late: WalletChanges[] = []
  return {
    contract: store.contract,
    load: keys => store.load(keys),
    async commit(changes) {
      const how = breaks.shift()
      if (how === 'late') late.push(changes)
      if (how === 'after') await store.commit(changes)
      if (how !== undefined && how !== null) throw new LineBroken(`the line broke (${how} the commit)`)
      return store.commit(changes)
    },
    breaks: (...how) => void breaks.push(...how),
    mend: () => void breaks.splice(0),
    async landAll() {
      const results: CommitResult[] = []
      for (const changes of late.splice(0)) results.push(await store.commit(changes))
      return results
    },
  }
}
