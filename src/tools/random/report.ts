/** The result of a random run, as data. */
import type { SettlementType } from '../../store.js'
import type { DecimalText } from '../numbers/decimal.js'
import type { SimulatedOperation } from './books.js'
import type { Chaos } from './chaos.js'
import type { Latency } from './histogram.js'
import type { SimulationTimeline } from './timeline.js'

/** A disagreement between the wallet's answers and the platform's books. A correct wallet has none. */
export interface Difference {
  /**
   * - `balance`: a balance answered during the run is wrong.
   * - `closing-balance`: the balance at the end is wrong.
   * - `replay`: a retry was not answered like the first request (D2).
   * - `late-bet`: a bet was accepted after its rollback had been answered (D11).
   * - `overspent`: more was debited than the player had.
   * - `refused`: a request that must succeed was refused.
   * - `unanswered`: no definite answer in spite of retries.
   * - `currency`: an answer, or an accepted bet, in another currency than the player's (D23).
   * - `unreadable`: an answer that the interface does not allow.
   */
  kind:
    | 'balance'
    | 'closing-balance'
    | 'replay'
    | 'late-bet'
    | 'overspent'
    | 'refused'
    | 'unanswered'
    | 'unreadable'
    | 'currency'
  playerId: string
  /** The bet of the request that showed the difference. */
  betId: string
  operation: SimulatedOperation | null
  transactionId: string | null
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

/** Amounts of one currency, as decimal text of at least 0. */
export interface SimulationCost {
  currency: string
  /** How many players it affects. */
  players: number
  /** What players have more than they should: the operator's loss. */
  tooMuch: DecimalText
  /** What players have less than they should. */
  tooLittle: DecimalText
}

/** The platform's books of one player, to be compared with a database. Amounts are decimal text. */
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
  /** There are no differences, the run is complete, and nothing is `unjudged`. */
  passed: boolean
  /** The signal ended the run before its end: fewer bets, or no pause. */
  stopped: boolean
  /** Why too little was judged: no bet was accepted, or no settlement succeeded; `null`: enough was. */
  unjudged: string | null
  /**
   * Everything was answered in the end. `false`: the wallet did not answer for longer than `giveUpAfterMs`.
   */
  complete: boolean
  differencesCount: number
  /** What the balances at the end are wrong by, by currency. */
  costs: SimulationCost[]
  /** What this run cannot see, one sentence each. */
  limitations: string[]
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
  /** Calls with a success or a final refusal: each was sent again at the end, but `notRetried`. */
  answered: number
  /** The wallet did not answer any more, or could not replay them for another reason. */
  notRetried: number
  /** The wallet did not know them any more: the retry was decided anew. */
  lost: WrongReplay[]
  /** The wallet decides each retry anew. */
  repeated: WrongReplay[]
  /** What the balances were wrong by after the calls were sent again. */
  costsAfter: SimulationCost[]
}

export interface InjectedFault {
  command: string
  /** ISO 8601 in UTC. */
  startedAt: string
  /** The longest time without an answer until the next fault, from the last answer before. */
  silentMs: number
  /** Of the calls that were answered before its end, and after the end of the fault before it. */
  lost: number
}

/** An answered call whose retry is not the replay that it must be (D2). */
export interface WrongReplay {
  operation: SimulatedOperation
  transactionId: string
  betId: string
  playerId: string
  amount: DecimalText
  currency: string
  /** ISO 8601 in UTC: when it was answered. */
  answeredAt: string
  /** `"200"`, and what a retry at the end was answered: `"402 INSUFFICIENT_FUNDS"`. */
  answer: string
  retryAnswer: string
}

export interface SimulationCounts {
  bets: number
  betsAccepted: number
  betsRefused: number
  /** Placebets refused because the funds did not cover the stake. */
  betsRefusedForFunds: number
  /** Placebets refused because they were in another currency than the player's, or of an unknown player. */
  invalidBetsRefused: number
  betsRolledBack: number
  settlements: number
  unsettlements: number
  /** Unsettlements answered INSUFFICIENT_FUNDS. */
  clawbacksRefused: number
  /** Unsettlements that arrived before their settlement, and were answered SETTLEMENT_NOT_FOUND (D19). */
  earlyUnsettlements: number
  /** Calls that must change nothing: changed retries, wrong players, bets that exist. */
  wrongCalls: number
  /** Retries and duplicates answered like the first request. */
  replaysAbsorbed: number
  /** Bets refused because their rollback had arrived before (D11). */
  lateBetsRefused: number
  /** Balances that could have one value only, and had it. */
  balancesExact: number
  /** Balances within the range that requests in flight allow. */
  balancesInRange: number
  /**
   * Requests without an answer, or answered 5xx. Without injected faults, and without `earlyUnsettlements`.
   */
  failedCalls: number
  /** Transactions of closed bets that were sent again at the end. */
  retriedAtEnd: number
}

export interface SimulationProgress {
  phase: 'opening' | 'betting' | 'draining' | 'waiting' | 'reconciling'
  elapsedMs: number
  durationMs: number | null
  bets: number
  betsMax: number | null
  requests: number
  /** Since the last progress. */
  requestsPerSecond: number
  latencyMs: Latency
  failedCalls: number
  differencesCount: number
  /** Transactions without a definite answer. */
  pending: number
  /** The last request was not answered. */
  walletUnreachable: boolean
}
