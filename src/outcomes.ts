/** What a handler answers, and the list of error codes. */
import type { Decimal, Operation } from './store.js'

/**
 * Every code that this library answers with. Beside them stand codes of the operator's own, from
 * `authorizeBet` and from a store's `refused`.
 */
export const errorCodes = [
  /** The body is not what the interface describes; the description names each bad field (D21 to D26). */
  'INVALID_REQUEST',
  /** The player is unknown, or the bet is another player's (D15, D16). */
  'INVALID_PLAYER',
  /** Not answered by the library itself: for the operator's `authorizeBet`. */
  'INVALID_SESSION_TOKEN',
  /** The currency is not the player's, or the bet's no longer is (D23). */
  'INVALID_CURRENCY',
  /** The state of the bet does not allow it (D10 to D13, D15, D19). */
  'INVALID_BET',
  /** The player lacks funds, or the PAM cannot deduct (spec 4.2, D7, D20). */
  'INSUFFICIENT_FUNDS',
  /** The transactionId is known with another meaning (D4). */
  'TRANSACTION_CONFLICT',
  /** The bet was never credited with what is to be reversed: to be tried again (D19). */
  'SETTLEMENT_NOT_FOUND',
  // Only over HTTP:
  'AUTHENTICATION_FAILED',
  'NOT_FOUND',
  'METHOD_NOT_ALLOWED',
  'PAYLOAD_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
  'INTERNAL_ERROR',
  'UNAVAILABLE',
] as const

export type ErrorCode = (typeof errorCodes)[number]

/**
 * The answer to a call of the platform's. Refusals are answers and are returned; faults are thrown
 * ({@link WalletError}).
 *
 * `replayed`: it repeats an earlier decision (D2). `false` is no licence for side effects: after a lost
 * answer the first success that is heard is a replay.
 */
export type WalletOutcome =
  | {
      ok: true
      replayed: boolean
      /** The player's current balance (D2). */
      balance: Decimal
      currency: string
      /** The PAM's reference for the transaction. */
      walletTransactionId: string | null
    }
  | { ok: false; replayed: boolean; errorCode: ErrorCode | (string & {}); description: string }

/** Why an outcome is what it is: finer than an error code, for logs and metrics. */
export type OutcomeReason =
  | 'ACCEPTED'
  /** A rollback of a bet that never arrived (D11). */
  | 'TOMBSTONE_CREATED'
  /** A rollback of a bet that is rolled back already (D12). */
  | 'ALREADY_ROLLED_BACK'
  /** The first decision again (D2). */
  | 'REPLAYED'
  | 'INVALID_REQUEST'
  /** The same transactionId with another meaning (D4). */
  | 'PAYLOAD_MISMATCH'
  | 'UNKNOWN_PLAYER'
  | 'BET_OF_ANOTHER_PLAYER'
  | 'BET_ALREADY_EXISTS'
  | 'UNKNOWN_BET'
  | 'BET_ROLLED_BACK'
  /** A rollback of a bet with a live credit (D13). */
  | 'BET_SETTLED'
  | 'ALREADY_UNSETTLED'
  /** Closed by D7: the debt is the platform's. */
  | 'CLAWBACK_UNCOLLECTED'
  | 'SETTLEMENT_NOT_FOUND'
  | 'CURRENCY_MISMATCH'
  | 'BET_CURRENCY_MISMATCH'
  | 'INSUFFICIENT_FUNDS'
  /** `clawbacks: false` (D20). */
  | 'CLAWBACKS_DISABLED'
  /** `authorizeBet` refused. */
  | 'REFUSED_BY_OPERATOR'
  /** The store answered `refused`. */
  | 'REFUSED_BY_STORE'
  /** No outcome: a fault was thrown. */
  | 'FAULT'

/** What `onOutcome` is told: one event per handled call, faults among them. */
export interface OutcomeEvent {
  operation: Operation
  /** The ids of the request; all `null` where the request could not be read. */
  transactionId: string | null
  betId: string | null
  playerId: string | null
  /** `null`: a fault; see `error`. */
  outcome: WalletOutcome | null
  reason: OutcomeReason
  /** What was thrown, with its cause; `null` where there is an outcome. */
  error: unknown
  /** What `commit` threw, also where the look that followed found an answer; `null` where it threw nothing. */
  commitError: unknown
  /** What the store refused with, where it did: the PAM's own code, also where the platform hears another one. */
  storeRefusal: { errorCode: string; description: string } | null
  replayed: boolean
  /** How often a snapshot was loaded and decided on: 1 where nobody interfered, 0 for a malformed request. */
  attempts: number
  durationMs: number
}
