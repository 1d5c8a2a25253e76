/** Latencies in a table of fixed size: memory does not grow with the length of the run. */

/** In milliseconds: percentiles within 2 %, `max` exact. */
export interface Latency {
  p50: number
  p90: number
  p99: number
  max: number
}

/** The steps of each doubling of a microsecond: a step is at most 1/32 of its value wide. */
const stepsPerDoubling = 32
/** 2^36 microseconds are 19 hours. Longer latencies count as these. */
const doublings = 36

export class Histogram {
  readonly #counts = new Float64Array(stepsPerDoubling * doublings)
  #recorded = 0
  #max = 0

  record(milliseconds: number): void {
    const index = Math.floor(Math.log2(Math.max(1, milliseconds * 1000)) * stepsPerDoubling)
    const place = Math.min(index, this.#counts.length - 1)
    this.#counts[place] = (this.#counts[place] as number) + 1
    this.#recorded += 1
    if (milliseconds > this.#max) this.#max = milliseconds
  }

  /** Adds what another one has recorded. */
  add(other: Histogram): void {
    for (const [place, count] of other.#counts.entries())
      this.#counts[place] = (this.#counts[place] as number) + count
    this.#recorded += other.#recorded
    this.#max = Math.max(this.#max, other.#max)
  }

  /** `null`: nothing was measured. */
  latency(): Latency | null {
    if (this.#recorded === 0) return null
    const [p50, p90, p99] = [this.#percentile(0.5), this.#percentile(0.9), this.#percentile(0.99)]
    return { p50, p90, p99, max: this.#max }
  }

  #percentile(share: number): number {
    let left = Math.ceil(this.#recorded * share)
    for (const [index, count] of this.#counts.entries()) {
      left -= count
      if (left <= 0) return Math.min(this.#max, 2 ** ((index + 0.5) / stepsPerDoubling) / 1000)
    }
    return this.#max
  }
}
