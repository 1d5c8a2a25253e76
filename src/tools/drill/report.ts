/** The result of a drill, as data. */
import type { SimulatedOperation } from '../simulator/books.js'
import type { SimulationCost, SimulationReport } from '../simulator/index.js'

/** A fault of the operator's system, as shell commands. */
export interface Fault {
  name: string
  command: string
  /** Undoes it, and returns when the system is whole again. `null`: nothing is to be undone. */
  repair: string | null
}

/**
 * Where a commit is when it is answered.
 *
 * - `alone`: on this server only, and no other one follows it.
 * - `asynchronous`: on this server only; others receive it later.
 * - `synchronous`: on another server too.
 */
export interface Durability {
  /** `null`: it could not be read, for the `reason`. */
  level: 'alone' | 'asynchronous' | 'synchronous' | null
  /** Names the setting. */
  reason: string
}

export interface FaultReport {
  name: string
  /** ISO 8601. */
  startedAt: string
  /** The longest time without an answer, from the last one before to the first one after. */
  silentMs: number
  /**
   * How the calls came to be answered again: without the repair, only after it, or never. `null`: the fault's
   * own command failed.
   */
  answeredAgain: 'by itself' | 'after the repair' | 'never' | null
  /** As it was read before the fault, and before the repair; `null`: no database was given. */
  before: Durability | null
  after: Durability | null
  /** Why a command of it failed, one sentence each. */
  problems: string[]
  /** Of the calls that were answered before it, and after the fault before it. */
  lost: number
}

/** An answered call whose retry is not the replay that it must be (D2). */
export interface WrongReplay {
  operation: SimulatedOperation
  transactionId: string
  betId: string
  playerId: string
  /** Decimal text. */
  amount: string
  currency: string
  /** ISO 8601: when it was answered. */
  answeredAt: string
  /** `"200"`, and what a retry at the end was answered: `"402 INSUFFICIENT_FUNDS"`. */
  answer: string
  retryAnswer: string
}

export interface DrillReport {
  /** The version of this format. */
  readonly formatVersion: 1
  target: string
  /** ISO 8601. */
  startedAt: string
  durationMs: number
  /** All ids of this run begin with it. */
  runId: string
  seed: number
  /** All faults were injected, the wallet answered after each, and nothing was lost or wrong. */
  passed: boolean
  /** Why not all faults were injected; `null`: all were. */
  stopped: string | null
  faults: FaultReport[]
  /** Answered calls: each was sent again at the end, but `notRetried`. */
  answered: number
  notRetried: number
  /** The wallet did not know them any more: the retry was decided anew. */
  lost: WrongReplay[]
  /** The wallet decides each retry anew. */
  repeated: WrongReplay[]
  /** What the balances were wrong by, before and after the calls were sent again. */
  costsBefore: SimulationCost[]
  costsAfter: SimulationCost[]
  /** As it was read at the end; `null`: no database was given. */
  durability: Durability | null
  /** The load, and what was wrong in it. */
  simulation: SimulationReport
}
