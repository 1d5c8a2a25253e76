/** All words of a size from one start: totals, and the shortest story of what is broken. */

import { letters } from './alphabet.js'
import { Explorer, type Story } from './explorer.js'
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
  /** Every invariant that was seen broken. */
  broken: Set<string>
  /** The shortest, and in how many steps it is told. */
  story: { text: string; steps: number } | null
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

/** @param of a larger size is not looked at once something is broken: it would only be told at greater length */
export async function search(
  start: Start,
  of: { sizes: readonly number[]; variant?: Variant; attemptsMax?: number; broken?: string },
): Promise<Found> {
  const { sizes, variant = sound, attemptsMax = attemptsThatSuffice } = of
  const universe = await Universe.from(start, variant, attemptsMax)
  const explorer = new Explorer(universe)
  const found: Found = { totals: new Map(), broken: new Set(), story: null }
  let shortest: Story | null = null
  for (const size of sizes) {
    const totals: Totals = { configurations: 0, schedules: 0, states: 0, ends: 0 }
    found.totals.set(size, totals)
    for (const word of words(size)) {
      const { schedules, states, ends, broken } = await explorer.explore(word)
      totals.configurations += 1
      totals.schedules += schedules
      totals.states += states
      totals.ends += ends
      for (const name of broken.keys()) found.broken.add(name)
      if (of.broken === undefined ? broken.size === 0 : !broken.has(of.broken)) continue
      const story = explorer.shortestStory(word, of.broken)
      if (story !== null && (shortest === null || story.steps.length < shortest.steps.length))
        shortest = story
    }
    if (shortest !== null) break
  }
  if (shortest !== null) found.story = { text: tell(universe, shortest), steps: shortest.steps.length }
  return found
}
