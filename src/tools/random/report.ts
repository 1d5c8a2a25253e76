/** The result of a random run, as data. */
import type { SettlementType } from '../../store.js'
import { type DecimalText, textOf } from '../numbers/decimal.js'
import { type Account, type SimulatedOperation, shown } from './books.js'
import type { Chaos } from './chaos.js'
import type { Latency } from './histogram.js'
import type { ForeignAnswers, SimulationCounts } from './tally.js'
import type { SimulationTimeline } from './timeline.js'

/** What is wrong, for people. */
export const differenceKinds = {
  balance: 'an impossible balance was answered',
  'closing-balance': 'the balance at the end is wrong',
  /** D2 */
  replay: 'a retry was answered differently from the first call',
  /** D11 */
  'late-bet': 'a bet was accepted after its rollback',
  overspent: 'more was debited than the player had',
  refused: 'a call that must succeed was refused',
  unanswered: 'there was no definite answer in spite of retries',
  unreadable: 'the answer breaks the interface',
  /** D23 */
  currency: 'the currency is not the player’s',
  lost: 'an answered call was lost in a fault: its retry was decided anew',
} as const

/** A disagreement between the wallet's answers and the platform's books. A correct wallet has none. */
export interface Difference {
  kind: keyof typeof differenceKinds
  playerId: string
  /** The bet of the request that showed the difference. */
  betId: string
  operation: SimulatedOperation
  transactionId: string
  expected: string
  actual: string
  /**
   * The wallet's surplus over the expected balance as decimal text; negative for a deficit. `null` if the
   * difference is not about an amount.
   */
  amount: DecimalText | null
  currency: string
  /**
   * Decisions on the player since the balance was last known to be exact, at most 12: one of them may be the
   * cause.
   */
  recentTransactions: string[]
}

/** The platform's books of one account, to be compared with a database. Amounts are decimal text. */
export interface PlayerBooks {
  playerId: string
  currency: string
  opening: DecimalText
  /**
   * The balance that the player must have. `null` if answers are missing: then it is one from `expectedLeast`
   * to `expectedMost`.
   */
  expected: DecimalText | null
  expectedLeast: DecimalText
  expectedMost: DecimalText
  /** The balance that the wallet answered at the end; `null` if it did not answer any more. */
  actual: DecimalText | null
  /**
   * Accepted transactions, each counted once. A bet that was rolled back because its answer was lost may be
   * one more placebet. The balance is read by rollbacks of bets that were never placed: the rollbackbets
   * include them.
   */
  accepted: Record<SimulatedOperation, number>
  /** Final refusals, each counted once (D6, D7). */
  refused: Record<SimulatedOperation, number>
}

export function playerBooksOf(account: Account): PlayerBooks {
  const { playerId, currency, opening, low, high, accepted, refused, actual, minorUnits } = account
  return {
    playerId,
    currency,
    accepted,
    refused,
    opening: shown(opening, account),
    expected: low === high ? shown(low, account) : null,
    expectedLeast: shown(low, account),
    expectedMost: shown(high, account),
    actual: actual === null ? null : textOf(actual, minorUnits),
  }
}

/** A closed bet in the platform's books. Amounts are decimal text. */
export interface ClosedBet {
  betId: string
  playerId: string
  currency: string
  stake: DecimalText
  /** `REFUSED`: nothing was debited. `ROLLED_BACK`: a stake that was debited has been credited back. */
  state: 'PLACED' | 'ROLLED_BACK' | 'REFUSED'
  /** The live credits by type: credited and not reversed. */
  live: { BET_PAID?: DecimalText; VOIDED?: DecimalText; CASHOUT?: DecimalText }
}

/** A transaction with the wallet's decision, as the platform's report for a reconciliation has it. */
export interface DecidedTransaction {
  operation: SimulatedOperation
  transactionId: string
  betId: string
  playerId: string
  /** `null` for a placebet and a rollback. */
  type: SettlementType | 'UNSCORED' | 'UNVOIDED' | null
  /** Decimal text; `null` for a rollback: its call has none (spec 4.3). */
  amount: DecimalText | null
  /** `null`: not known yet, for the rollbacks that read the balances at the start. */
  currency: string | null
  accepted: boolean
  /** ISO 8601 in UTC. */
  transactionDate: string
}

export interface SimulationReport {
  /** The version of this format. */
  readonly formatVersion: 1
  target: string
  /** ISO 8601 in UTC. */
  startedAt: string
  durationMs: number
  seed: number
  /** All ids of this run begin with it. */
  runId: string
  chaos: Chaos
  concurrency: number
  /** There are no differences, the run is complete, and nothing is `inconclusive`. */
  passed: boolean
  /** The signal ended the run before its end: fewer bets, or no pause. */
  stopped: boolean
  /** Why too little was judged: no accepted bet, no settlement, or only failed ones; `null`: enough was. */
  inconclusive: string | null
  /**
   * Everything was answered in the end. `false`: the wallet did not answer for longer than `giveUpAfterMs`.
   */
  complete: boolean
  differencesCount: number
  /** Answers that are not the interface's: of a proxy or a limiter before the wallet; `null`: none. */
  foreignAnswers: ForeignAnswers | null
  /** The first differences, at most `differencesMax`. */
  differences: Difference[]
  /** Requests sent, including retries and duplicates. */
  requests: number
  requestsPerSecond: number
  latencyMs: Latency
  /**
   * The number of answers, by operation and answer: `"200"`, `"402 INSUFFICIENT_FUNDS"`, `"no answer: timed
   * out"`.
   */
  answers: Record<SimulatedOperation, Record<string, number>>
  counts: SimulationCounts
  /** The number of injected faults, by kind. */
  faultsInjected: Record<keyof Chaos, number>
  books: { players: PlayerBooks[] }
  /** The run over time; `null` without the option `timeline`. */
  timeline: SimulationTimeline | null
  /** The faults that the operator's commands injected, and what they lost; `null`: without the option. */
  faults: SimulationFaults | null
}

export interface SimulationFaults {
  /** Why a fault was not injected, or failed; `null`: all went as they should. */
  stopped: string | null
  injected: InjectedFault[]
  /**
   * Every call with a success or a final refusal is sent again at the end. These had no definite answer then;
   * `counts.retriedAtEnd` counts the others.
   */
  notRetried: number
  /** Retries with the first answer that may have changed the balance: it could not be read. */
  notCompared: number
}

export interface InjectedFault {
  command: string
  /** ISO 8601 in UTC. */
  startedAt: string
  /** `null`: it has not ended. */
  endedAt: string | null
  /** The longest time without an answer until the next fault, from the last answer before. */
  silentMs: number
  /** Of the calls that were answered before its end, and after the end of the fault before it. */
  lost: number
}

export interface SimulationProgress {
  phase: 'opening' | 'betting' | 'draining' | 'waiting' | 'reconciling'
  elapsedMs: number
  bets: number
  betsMax: number | null
  requests: number
  /** Since the last progress. */
  requestsPerSecond: number
  latencyMs: Latency
  failedCalls: number
  differencesCount: number
  /** The last request was not answered. */
  walletUnreachable: boolean
}
