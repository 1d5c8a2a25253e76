/** Latencies in a table of fixed size: memory does not grow with the length of the run. */
import { createHistogram } from 'node:perf_hooks'

/** In milliseconds: percentiles within 2 %, `max` exact. */
export interface Latency {
  p50: number
  p90: number
  p99: number
  max: number
}

/** 19 hours. Longer latencies count as these. */
const microsecondsMax = 2 ** 36

export class Histogram {
  readonly #microseconds = createHistogram({ highest: microsecondsMax, figures: 2 })
  #max = 0

  record(milliseconds: number): void {
    this.#microseconds.record(Math.min(Math.max(1, Math.round(milliseconds * 1000)), microsecondsMax))
    this.#max = Math.max(this.#max, milliseconds)
  }

  /** Adds what another one has recorded. */
  add(other: Histogram): void {
    this.#microseconds.add(other.#microseconds)
    this.#max = Math.max(this.#max, other.#max)
  }

  /** `null`: nothing was measured. */
  latency(): Latency | null {
    if (this.#microseconds.count === 0) return null
    const at = (percentile: number) => Math.min(this.#max, this.#microseconds.percentile(percentile) / 1000)
    return { p50: at(50), p90: at(90), p99: at(99), max: this.#max }
  }
}
