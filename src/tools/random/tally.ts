/** Counts answers and latencies. */
import { perOperation, type Transaction } from './books.js'
import { Histogram, type Latency } from './histogram.js'
import { isDefinite, isForeign, isNotFound, type Reading, shortOf } from './reading.js'
import type { ForeignAnswers, SimulationCounts } from './report.js'

/** A wallet whose failures all have different texts must not fill the memory. */
const answersMax = 50

export class Tally {
  readonly answers = perOperation((): Record<string, number> => ({}))
  foreign: ForeignAnswers | null = null
  /** Definitely. */
  hasAnswered = false
  readonly #latencies = new Histogram()

  constructor(readonly counts: SimulationCounts) {}

  record({ operation, transactionId }: Transaction, reading: Reading, milliseconds: number): void {
    const short = shortOf(reading)
    // D19: an unsettlement that arrives before its settlement is not a failure.
    if (operation === 'unsettlement' && isNotFound(reading)) this.counts.earlyUnsettlements += 1
    else if (reading.kind === 'no-answer' || reading.kind === 'fault') this.counts.failedCalls += 1
    this.hasAnswered ||= isDefinite(reading)
    if (reading.kind !== 'no-answer') this.#latencies.record(milliseconds)
    count(this.answers[operation], short)
    // The answers to settlements are the operator's own.
    if (operation === 'settlement' || !isForeign(reading)) return
    this.foreign ??= { first: `${short} to ${operation} ${transactionId}`, answers: {} }
    count(this.foreign.answers, short)
  }

  latency(): Latency {
    return this.#latencies.latency() ?? { p50: 0, p90: 0, p99: 0, max: 0 }
  }
}

function count(counts: Record<string, number>, name: string): void {
  const counted = name in counts || Object.keys(counts).length < answersMax ? name : 'others'
  counts[counted] = (counts[counted] ?? 0) + 1
}
