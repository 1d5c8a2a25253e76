/** Counts answers and latencies. */
import { perOperation, type SimulatedOperation } from './books.js'
import { createHistogram, type Latency } from './histogram.js'
import { type Reading, shortOf } from './reading.js'

export interface Tally {
  readonly hasAnswered: boolean
  readonly failedCalls: number
  readonly earlyUnsettlements: number
  /** Of settlements: whether one succeeded, and the failures until then. */
  readonly settlements: Readonly<SettlementTally>
  record(operation: SimulatedOperation, reading: Reading, milliseconds: number): void
  latency(): Latency
  /** The number of answers, by operation and answer. */
  answers(): Record<SimulatedOperation, Record<string, number>>
}

export interface SettlementTally {
  worked: boolean
  failures: number
  /** Failures that are definite refusals. */
  refusals: number
  /** A short name of the last failure. */
  lastFailure: string
}

/** A wallet whose failures all have different texts must not fill the memory. */
const answersMax = 50

export function createTally(): Tally {
  const histogram = createHistogram()
  const answers = perOperation(() => new Map<string, number>())
  let failedCalls = 0
  let earlyUnsettlements = 0
  let hasAnswered = false
  const settlements: SettlementTally = { worked: false, failures: 0, refusals: 0, lastFailure: '' }
  return {
    get hasAnswered() {
      return hasAnswered
    },
    get failedCalls() {
      return failedCalls
    },
    settlements,
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
      if (operation === 'settlement' && !settlements.worked) recordSettlement(settlements, reading)
      const counts = answers[operation]
      const short = shortOf(reading)
      const answer = counts.has(short) || counts.size < answersMax ? short : 'others'
      counts.set(answer, (counts.get(answer) ?? 0) + 1)
    },
    latency: () => histogram.latency(),
    answers: () => perOperation(operation => Object.fromEntries(answers[operation])),
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
