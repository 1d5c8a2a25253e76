/** What a run counts: calls, answers and latencies. */
import { perOperation, type Transaction } from './books.js'
import { Histogram, type Latency } from './histogram.js'
import { isDefinite, isForeign, isNotFound, type Reading, shortOf } from './reading.js'

export interface ForeignAnswers {
  /** `429 to placebet run-p7` */
  first: string
  /** How many, by status: `"429"`, or `"200, unreadable: the body is not a JSON object"`. */
  answers: Record<string, number>
}

/** Answers that the platform did not receive count too. */
export const noCounts = () => ({
  bets: 0,
  betsAccepted: 0,
  betsRefused: 0,
  /** Placebets refused because the funds did not cover the stake. */
  betsRefusedForFunds: 0,
  /** Placebets refused because they were in another currency than the player's, or of an unknown player. */
  invalidBetsRefused: 0,
  betsRolledBack: 0,
  settlements: 0,
  unsettlements: 0,
  /** Unsettlements answered INSUFFICIENT_FUNDS. */
  clawbacksRefused: 0,
  /** Unsettlements that arrived before their settlement, and were answered SETTLEMENT_NOT_FOUND (D19). */
  earlyUnsettlements: 0,
  /** Calls that must change nothing: changed retries, wrong players, bets that exist. */
  wrongCalls: 0,
  /** Retries and duplicates answered like the first request. */
  replaysAbsorbed: 0,
  /** Bets refused because their rollback had arrived before (D11). */
  lateBetsRefused: 0,
  /** Balances that could have one value only, and had it. */
  balancesExact: 0,
  /** Balances within the range that requests in flight allow. */
  balancesInRange: 0,
  /**
   * Requests without an answer, or answered 5xx. Without injected faults, and without `earlyUnsettlements`.
   */
  failedCalls: 0,
  /** Transactions that were sent again at the end. */
  retriedAtEnd: 0,
})

export type SimulationCounts = ReturnType<typeof noCounts>

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
