import type { Random } from '../numbers/random.js'

/** Of all items that were added, at most `max`: half are the latest, half a random sample of all before. */
export class Remembered<T> {
  /** The latest are a ring at the beginning. */
  readonly items: T[] = []
  readonly #latestMax: number
  readonly #sampleMax: number
  #count = 0
  readonly #random: Pick<Random, 'between'>

  constructor(max: number, random: Pick<Random, 'between'>) {
    this.#latestMax = Math.ceil(max / 2)
    this.#sampleMax = max - this.#latestMax
    this.#random = random
  }

  add(item: T): void {
    if (this.#latestMax === 0) return
    const slot = this.#count % this.#latestMax
    const older = this.items[slot]
    this.items[slot] = item
    // How many were older before: the sample is drawn of them by Algorithm R.
    const index = this.#count - this.#latestMax
    this.#count += 1
    if (older === undefined) return
    const place = index < this.#sampleMax ? index : this.#random.between(0, index)
    if (place < this.#sampleMax) this.items[this.#latestMax + place] = older
  }
}
