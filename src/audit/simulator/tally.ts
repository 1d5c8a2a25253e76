/** Counts answers and latencies. */
import { perOperation, type SimulatedOperation } from './books.js'
import { createHistogram, type Latency } from './histogram.js'
import { type Reading, shortOf } from './reading.js'

export interface Tally {
  readonly hasAnswered: boolean
  readonly failedCalls: number
  readonly earlyUnsettlements: number
  record(operation: SimulatedOperation, reading: Reading, milliseconds: number): void
  latency(): Latency
  /** The number of answers, by operation and answer. */
  answers(): Record<SimulatedOperation, Record<string, number>>
}

/** A wallet whose failures all have different texts must not fill the memory. */
const answersMax = 50

export function createTally(): Tally {
  const histogram = createHistogram()
  const answers = perOperation(() => new Map<string, number>())
  let failedCalls = 0
  let earlyUnsettlements = 0
  let hasAnswered = false
  return {
    get hasAnswered() {
      return hasAnswered
    },
    get failedCalls() {
      return failedCalls
    },
    get earlyUnsettlements() {
      return earlyUnsettlements
    },
    record(operation, reading, milliseconds) {
      if (isEarly(operation, reading)) earlyUnsettlements += 1
      else if (reading.kind === 'no-answer' || reading.kind === 'fault') failedCalls += 1
      if (reading.kind !== 'no-answer') {
        hasAnswered = true
        histogram.record(milliseconds)
      }
      const counts = answers[operation]
      const short = shortOf(reading)
      const answer = counts.has(short) || counts.size < answersMax ? short : 'others'
      counts.set(answer, (counts.get(answer) ?? 0) + 1)
    },
    latency: () => histogram.latency(),
    answers: () => perOperation(operation => Object.fromEntries(answers[operation])),
  }
}

/** D19: an unsettlement that arrives before its settlement is not a failure. */
function isEarly(operation: SimulatedOperation, reading: Reading): boolean {
  return (
    operation === 'unsettlement' && reading.kind === 'fault' && reading.errorCode === 'SETTLEMENT_NOT_FOUND'
  )
}
