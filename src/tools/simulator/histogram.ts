/** Latencies in a table of fixed size: memory does not grow with the length of the run. */

/** In milliseconds: percentiles within 2 %, `max` exact. All are 0 if nothing was measured. */
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

export interface Histogram {
  record(milliseconds: number): void
  latency(): Latency
}

export function createHistogram(): Histogram {
  const counts = new Float64Array(stepsPerDoubling * doublings)
  let recorded = 0
  let max = 0

  const percentile = (share: number): number => {
    let left = Math.ceil(recorded * share)
    for (let index = 0; index < counts.length; index += 1) {
      left -= counts[index] as number
      if (left <= 0) return Math.min(max, 2 ** ((index + 0.5) / stepsPerDoubling) / 1000)
    }
    return max
  }

  return {
    record(milliseconds) {
      const index = Math.floor(Math.log2(Math.max(1, milliseconds * 1000)) * stepsPerDoubling)
      const last = counts.length - 1
      const place = index < last ? index : last
      counts[place] = (counts[place] as number) + 1
      recorded += 1
      if (milliseconds > max) max = milliseconds
    },
    latency: () =>
      recorded === 0
        ? { p50: 0, p90: 0, p99: 0, max: 0 }
        : { p50: percentile(0.5), p90: percentile(0.9), p99: percentile(0.99), max },
  }
}
