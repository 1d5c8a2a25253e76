/** The tasks of a worker process: explore one start, or compare the exploration with direct execution. */

import { endText, executeAll } from './direct-execution.js'
import { Explorer } from './explorer.js'
import type { Placebets } from './handler.js'
import { unchanged } from './observed-store.js'
import { type SearchOptions, search, type Totals, words } from './search.js'
import type { Start } from './starts.js'
import { attemptsThatSuffice, StateSpace, type StoreState } from './state-space.js'

export interface Exploration {
  start: string
  totals: [size: number, Totals][]
  violated: [name: string, trace: { text: string; steps: number }][]
}

export type ExploreOptions = Pick<SearchOptions, 'sizes' | 'attemptsMax' | 'placebets'>

export async function explore(start: Start, of: ExploreOptions): Promise<Exploration> {
  const { totals, violated } = await search(start, of)
  return { start: start.name, totals: [...totals], violated: [...violated] }
}

/** The number of executed schedules, and the words whose ends differ from those that were explored. */
export interface Comparison {
  schedules: number
  differences: string[]
}

/**
 * Executes every schedule of all words of this size, one by one, and compares the ends with the exploration.
 */
export async function compare(
  start: Start,
  size: number,
  placebets: Placebets = 'commit-first',
): Promise<Comparison> {
  const space = await StateSpace.from(start, unchanged, attemptsThatSuffice, 'replicated', placebets)
  const explorer = new Explorer(space)
  const comparison: Comparison = { schedules: 0, differences: [] }
  for (const word of words(size)) {
    const ends = new Set<string>()
    const explored = await explorer.explore(word, ({ endings, fault, before, store }) => {
      ends.add(endText(endings, fault, before, (space.stores[store] as StoreState).text))
    })
    const executed = await executeAll(start, word, { placebets })
    comparison.schedules += executed.schedules
    const same = ends.size === executed.ends.size && [...ends].every(end => executed.ends.has(end))
    if (!same || explored.schedules !== executed.schedules) {
      comparison.differences.push(
        `${start.name}, ${word.join(' ')}: ${explored.schedules} schedules and ${ends.size} ends explored, ` +
          `${executed.schedules} and ${executed.ends.size} executed`,
      )
    }
  }
  return comparison
}
