/** Counts answers and latencies. */
import { perOperation, type SimulatedOperation } from './books.js'
import { Histogram, type Latency } from './histogram.js'
import { isDefinite, type Reading, shortOf } from './reading.js'

interface SettlementTally {
  worked: boolean
  failures: number
  /** Failures that are definite refusals. */
  refusals: number
  /** A short name of the last failure. */
  lastFailure: string
}

/** A wallet whose failures all have different texts must not fill the memory. */
const answersMax = 50

export class Tally {
  readonly #histogram = new Histogram()
  readonly #answers = perOperation(() => new Map<string, number>())
  /** Definitely. */
  hasAnswered = false
  failedCalls = 0
  earlyUnsettlements = 0
  /** Whether one succeeded, and the failures until then. */
  readonly settlements: SettlementTally = { worked: false, failures: 0, refusals: 0, lastFailure: '' }

  record(operation: SimulatedOperation, reading: Reading, milliseconds: number): void {
    if (isEarly(operation, reading)) this.earlyUnsettlements += 1
    else if (reading.kind === 'no-answer' || reading.kind === 'fault') this.failedCalls += 1
    this.hasAnswered ||= isDefinite(reading)
    if (reading.kind !== 'no-answer') this.#histogram.record(milliseconds)
    if (operation === 'settlement' && !this.settlements.worked) recordSettlement(this.settlements, reading)
    const counts = this.#answers[operation]
    const short = shortOf(reading)
    const answer = counts.has(short) || counts.size < answersMax ? short : 'others'
    counts.set(answer, (counts.get(answer) ?? 0) + 1)
  }

  latency(): Latency {
    return this.#histogram.latency() ?? { p50: 0, p90: 0, p99: 0, max: 0 }
  }

  /** The number of answers, by operation and answer. */
  answers(): Record<SimulatedOperation, Record<string, number>> {
    return perOperation(operation => Object.fromEntries(this.#answers[operation]))
  }
}

function recordSettlement(settlements: SettlementTally, reading: Reading): void {
  if (reading.kind === 'success') settlements.worked = true
  else {
    settlements.failures += 1
    if (reading.kind === 'refusal') settlements.refusals += 1
    settlements.lastFailure = shortOf(reading)
  }
}

/** D19: an unsettlement that arrives before its settlement is not a failure. */
function isEarly(operation: SimulatedOperation, reading: Reading): boolean {
  return (
    operation === 'unsettlement' && reading.kind === 'fault' && reading.errorCode === 'SETTLEMENT_NOT_FOUND'
  )
}
