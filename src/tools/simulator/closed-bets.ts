/** A bounded selection of closed bets, to be sent again: the latest ones, and a sample of all of them. */
import type { Random } from '../numbers/random.js'

export class ClosedBets<T> {
  readonly #half: number
  readonly #random: Random
  /** A ring. */
  readonly #latest: T[] = []
  /** Reservoir sampling: every closed bet has the same chance to be in it. */
  readonly #sample: T[] = []
  #added = 0

  /** @param max the most bets to keep: half of them the latest, half of them the sample */
  constructor(max: number, random: Random) {
    this.#half = max >> 1
    this.#random = random
  }

  get isEmpty(): boolean {
    return this.#sample.length === 0
  }

  add(bet: T): void {
    if (this.#half === 0) return
    this.#latest[this.#added % this.#half] = bet
    const place = this.#added < this.#half ? this.#added : this.#random.between(0, this.#added)
    if (place < this.#half) this.#sample[place] = bet
    this.#added += 1
  }

  /** A random bet of the sample, which must not be empty. */
  draw(): T {
    return this.#random.pick(this.#sample)
  }

  /** Each bet once. */
  all(): T[] {
    return [...new Set([...this.#latest, ...this.#sample])]
  }
}
