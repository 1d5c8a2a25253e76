/** What one process does at a time: one start, by the explorer and by playing it live. */
import { Explorer } from './explorer.js'
import { endText, playAll } from './live.js'
import { search, type Totals, words } from './search.js'
import type { Start } from './starts.js'
import { type StoreState, Universe } from './universe.js'

export interface Lap {
  start: string
  totals: [size: number, Totals][]
  broken: [name: string, story: { text: string; steps: number }][]
}

export async function explore(start: Start, attemptsMax: number): Promise<Lap> {
  const { totals, broken } = await search(start, { sizes: [0, 1, 2, 3], attemptsMax })
  return { start: start.name, totals: [...totals], broken: [...broken] }
}

/** Schedules that were played, and the words of which the explorer found more, less or something else. */
export interface Comparison {
  schedules: number
  differences: string[]
}

/** Plays every schedule of all words of this size, one by one, and compares with what the explorer found. */
export async function compare(start: Start, size: number): Promise<Comparison> {
  const universe = await Universe.from(start)
  const explorer = new Explorer(universe)
  const comparison: Comparison = { schedules: 0, differences: [] }
  for (const word of words(size)) {
    const ends = new Set<string>()
    const explored = await explorer.explore(word, ({ endings, fault, before, store }) => {
      ends.add(endText(endings, fault, before, (universe.stores[store] as StoreState).text))
    })
    const played = await playAll(start, word)
    comparison.schedules += played.schedules
    const same = ends.size === played.ends.size && [...ends].every(end => played.ends.has(end))
    if (!same || explored.schedules !== played.schedules) {
      comparison.differences.push(
        `${start.name}, ${word.join(' ')}: ${explored.schedules} schedules and ${ends.size} ends explored, ` +
          `${played.schedules} and ${played.ends.size} played`,
      )
    }
  }
  return comparison
}
