/** What a simulation found, as data. */
import type { Decimal } from '../../money.js'
import type { SimulatedOperation } from './books.js'
import type { Chaos } from './chaos.js'
import type { Latency } from './histogram.js'

/** Where the wallet's answers and the platform's books disagree. There must be none. */
export interface Difference {
  /**
   * - `balance`: a balance that was answered on the way is not what it must be
   * - `closing balance`: so at the end, when nothing was on its way any more
   * - `repeat`: a repeated call was answered unlike the first time
   * - `late bet`: a bet was accepted after its rollback had been answered
   * - `overspent`: more was taken than was there
   * - `refused`: what had to succeed was refused
   * - `unanswered`: no definite answer, however often it was asked
   * - `unreadable`, `currency`: an answer that is not what the interface describes
   * - `books`: the platform's own books do not add up, which is a fault of the simulator
   */
  kind:
    | 'balance'
    | 'closing balance'
    | 'repeat'
    | 'late bet'
    | 'overspent'
    | 'refused'
    | 'unanswered'
    | 'unreadable'
    | 'currency'
    | 'books'
  playerId: string
  /** The bet of the call at which it showed. */
  betId: string
  operation: SimulatedOperation | null
  transactionId: string | null
  expected: string
  actual: string
  /** To the cent: what the wallet has more (or, negative, less) than it must. `null` where it is not about an amount. */
  amount: Decimal | null
  currency: string
  /** The simulated time: how many bets had been made. */
  step: number
  /** What was decided on the player since its balance was last seen exact: one of these may be the cause. At most 12. */
  recentTransactions: string[]
}

/** The platform's books of one player, for comparing them with a database. */
export interface PlayerBooks {
  playerId: string
  currency: string
  opening: Decimal
  /** What the balance must be. `null` where answers are still missing: then it is one from `expectedLeast` to `expectedMost`. */
  expected: Decimal | null
  expectedLeast: Decimal
  expectedMost: Decimal
  /** What the wallet answered at the end; `null` where it could not be asked any more. */
  actual: Decimal | null
  /** Answered INSUFFICIENT_FUNDS on unsettlements and not yet netted off winnings (spec 4.2 rule 2). */
  debt: Decimal
  /**
   * Transactions that are known to be accepted, each once, however often they were sent. A bet whose answer was lost
   * and that was rolled back may be one more placebet. The balance is read by rollbacks of bets that were never placed:
   * they are among the rollbackbets.
   */
  accepted: Record<SimulatedOperation, number>
  /** So with refusals that stick. */
  refused: Record<SimulatedOperation, number>
}

/** A bet that is over, as the platform's books have it. */
export interface ClosedBet {
  betId: string
  playerId: string
  currency: string
  stake: Decimal
  /** `REFUSED`: nothing was ever taken. `ROLLED_BACK`: nothing is taken any more, if ever anything was. */
  state: 'PLACED' | 'ROLLED_BACK' | 'REFUSED'
  /** What is credited and not reversed, and as what. Both `null` where there is none. */
  live: Decimal | null
  type: 'BET_PAID' | 'VOIDED' | 'CASHOUT' | null
}

export interface SimulationReport {
  /** The version of this format. */
  readonly formatVersion: 1
  /** Without credentials. */
  target: string
  /** ISO 8601 in UTC. */
  startedAt: string
  durationMs: number
  seed: number
  /** All ids of this run begin with it. */
  runId: string
  chaos: Chaos
  concurrency: number
  /** No differences, and everything was answered. */
  passed: boolean
  /** Everything was answered in the end. `false`: the wallet was gone for longer than `giveUpAfterMs`. */
  complete: boolean
  differencesCount: number
  /** The first of them. */
  differences: Difference[]
  /** How many requests were sent, repeats among them. */
  requests: number
  requestsPerSecond: number
  latencyMs: Latency
  /** Per operation and answer (`"200"`, `"402 INSUFFICIENT_FUNDS"`, `"no answer: timed out"`) how often it came. */
  answers: Record<SimulatedOperation, Record<string, number>>
  counts: SimulationCounts
  /** How often the network was made to fail, by kind. */
  faultsInjected: Record<keyof Chaos, number>
  /** Debts that are still to be netted off winnings, per currency. */
  debts: Record<string, Decimal>
  books: { players: PlayerBooks[] }
}

export interface SimulationCounts {
  bets: number
  multiples: number
  betsAccepted: number
  betsRefused: number
  betsRolledBack: number
  matches: number
  goals: number
  settlements: number
  voids: number
  cashOuts: number
  unsettlements: number
  /** Unsettlements that were answered INSUFFICIENT_FUNDS. */
  clawbacksRefused: number
  /** Calls of unsettlements that overtook their settlement, and were told to come again (SETTLEMENT_NOT_FOUND, D19). */
  earlyUnsettlements: number
  /** Settlements from which debts were recovered. */
  recoveries: number
  /** Repeats that were answered like the first time. */
  replaysAbsorbed: number
  lateBetsRefused: number
  balancesExact: number
  balancesInRange: number
  /**
   * Calls that the real network or the wallet failed: no answer, or 5xx. Injected faults are not among them, nor
   * `earlyUnsettlements`.
   */
  failedCalls: number
  /** Transactions of bets of the past that were sent again at the end, and answered like the first time or not. */
  retriedAtEnd: number
}

/** How far it is. */
export interface SimulationProgress {
  phase: 'opening' | 'betting' | 'playing out' | 'reconciling'
  elapsedMs: number
  durationMs: number | null
  bets: number
  betsMax: number | null
  requests: number
  /** Over the time since the last progress. */
  requestsPerSecond: number
  latencyMs: Latency
  replaysAbsorbed: number
  betsRolledBack: number
  lateBetsRefused: number
  clawbacksRefused: number
  failedCalls: number
  differencesCount: number
  /** Transactions that the platform has no definite answer for yet. */
  pending: number
  /** Whether the last call got no answer at all. */
  walletUnreachable: boolean
}
