/**
 * Explores all words of some sizes from one start: totals, and the shortest trace of every violated
 * invariant.
 */
import { isCall, letters } from './alphabet.js'
import { Explorer } from './explorer.js'
import type { Placebets, Reads } from './handler.js'
import { unchanged, type Variant } from './observed-store.js'
import type { Start } from './starts.js'
import { attemptsThatSuffice, StateSpace } from './state-space.js'
import { formatTrace } from './trace.js'

export interface Totals {
  configurations: number
  schedules: number
  states: number
  ends: number
}

export interface SearchResult {
  /** Per number of concurrent requests. */
  totals: Map<number, Totals>
  /** Every violated invariant, with its shortest trace and the number of its steps. */
  violated: Map<string, { text: string; steps: number }>
}

/** All multisets of `size` letters, as letter numbers. */
export function words(size: number, from = 0): number[][] {
  if (size === 0) return [[]]
  const result: number[][] = []
  for (let letter = from; letter < letters.length; letter += 1) {
    for (const rest of words(size - 1, letter)) result.push([letter, ...rest])
  }
  return result
}

/** The letters that begin otherwise with `load-first`. */
const loadingLetters = new Set(
  letters.flatMap((letter, number) =>
    isCall(letter) && ['placebet', 'settlement'].includes(letter.request.operation) ? [number] : [],
  ),
)

export interface SearchOptions {
  sizes: readonly number[]
  variant?: Variant
  attemptsMax?: number
  reads?: Reads
  placebets?: Placebets
}

/**
 * @param of after a violation, sizes above 2 are skipped: they would only give longer traces. With
 *   `load-first`, so are words with neither a placebet nor a settlement: they are the same as with
 *   `commit-first`
 */
export async function search(start: Start, of: SearchOptions): Promise<SearchResult> {
  const { sizes, variant = unchanged, attemptsMax = attemptsThatSuffice, placebets } = of
  const space = await StateSpace.from(start, variant, attemptsMax, of.reads, placebets)
  const explorer = new Explorer(space)
  const result: SearchResult = { totals: new Map(), violated: new Map() }
  for (const size of sizes) {
    const totals: Totals = { configurations: 0, schedules: 0, states: 0, ends: 0 }
    result.totals.set(size, totals)
    for (const word of words(size)) {
      if (placebets === 'load-first' && !word.some(letter => loadingLetters.has(letter))) continue
      const { schedules, states, ends, violated } = await explorer.explore(word)
      totals.configurations += 1
      totals.schedules += schedules
      totals.states += states
      totals.ends += ends
      for (const name of violated.keys()) {
        const trace = explorer.shortestTrace(word, name, result.violated.get(name)?.steps)
        if (trace === null) continue
        result.violated.set(name, { text: formatTrace(space, trace), steps: trace.steps.length })
      }
    }
    if (result.violated.size > 0 && size >= 2) break
  }
  return result
}
