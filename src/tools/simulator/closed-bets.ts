/** A bounded selection of closed bets, to be sent again: the latest ones, and a sample of all of them. */
import type { Random } from '../platform/random.js'

export interface ClosedBets<T> {
  readonly isEmpty: boolean
  add(bet: T): void
  /** A random bet of the sample, which must not be empty. */
  draw(): T
  /** Each bet once. */
  all(): T[]
}

/** @param max the most bets to keep: half of them the latest, half of them the sample */
export function createClosedBets<T>(max: number, random: Random): ClosedBets<T> {
  const half = max >> 1
  /** A ring. */
  const latest: T[] = []
  /** Reservoir sampling: every closed bet has the same chance to be in it. */
  const sample: T[] = []
  let added = 0
  return {
    get isEmpty() {
      return sample.length === 0
    },
    add(bet) {
      if (half === 0) return
      latest[added % half] = bet
      const place = added < half ? added : random.between(0, added)
      if (place < half) sample[place] = bet
      added += 1
    },
    draw: () => random.pick(sample),
    all: () => [...new Set([...latest, ...sample])],
  }
}
