/** All words of a size from one start: totals, and the shortest story of what is broken. */
import { letters } from './alphabet.js'
import { Explorer } from './explorer.js'
import type { Start } from './starts.js'
import { tell } from './story.js'
import { attemptsThatSuffice, Universe } from './universe.js'
import { sound, type Variant } from './world.js'

export interface Totals {
  configurations: number
  schedules: number
  states: number
  ends: number
}

export interface Found {
  /** Per number of concurrent requests. */
  totals: Map<number, Totals>
  /** Every invariant that was seen broken, with its shortest story and how many steps that has. */
  broken: Map<string, { text: string; steps: number }>
}

/** All multisets of so many letters, as their numbers. */
export function words(size: number, from = 0): number[][] {
  if (size === 0) return [[]]
  const found: number[][] = []
  for (let letter = from; letter < letters.length; letter += 1) {
    for (const rest of words(size - 1, letter)) found.push([letter, ...rest])
  }
  return found
}

/** @param of its sizes above 2 are not looked at when something is broken: it would only be told at greater length */
export async function search(
  start: Start,
  of: { sizes: readonly number[]; variant?: Variant; attemptsMax?: number },
): Promise<Found> {
  const { sizes, variant = sound, attemptsMax = attemptsThatSuffice } = of
  const universe = await Universe.from(start, variant, attemptsMax)
  const explorer = new Explorer(universe)
  const found: Found = { totals: new Map(), broken: new Map() }
  for (const size of sizes) {
    const totals: Totals = { configurations: 0, schedules: 0, states: 0, ends: 0 }
    found.totals.set(size, totals)
    for (const word of words(size)) {
      const { schedules, states, ends, broken } = await explorer.explore(word)
      totals.configurations += 1
      totals.schedules += schedules
      totals.states += states
      totals.ends += ends
      for (const name of broken.keys()) {
        const story = explorer.shortestStory(word, name, found.broken.get(name)?.steps)
        if (story === null) continue
        found.broken.set(name, { text: tell(universe, story), steps: story.steps.length })
      }
    }
    if (found.broken.size > 0 && size >= 2) break
  }
  return found
}
