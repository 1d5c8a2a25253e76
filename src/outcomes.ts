/** The answers of the handlers, their error codes and their reasons. */
import type { Decimal, RecordedReason } from './store.js'

/**
 * Every error code that this library answers with. The operator's own codes, from `authorizeBet`,
 * `authorizeRequest` and a store's `refused`, are additional.
 */
export const errorCodes = [
  /** The body is invalid; the description names each invalid field (D21 to D26). */
  'INVALID_REQUEST',
  /** The player is unknown, or the bet belongs to another player (D15, D16). */
  'INVALID_PLAYER',
  /** For the operator's hooks; the library itself never answers with it. */
  'INVALID_SESSION_TOKEN',
  /** The currency of the request or of the bet differs from the player's (D23). */
  'INVALID_CURRENCY',
  /** The state of the bet does not allow the operation (D10 to D13, D15, D19). */
  'INVALID_BET',
  /** The player lacks funds, or the PAM cannot debit (spec 4.2, D7, D20). */
  'INSUFFICIENT_FUNDS',
  /** The transactionId was used with other content (D4). */
  'TRANSACTION_CONFLICT',
  /** The bet was never credited with the settlement to reverse: retry later (D19). */
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
 * The answer to a platform's call. Refusals are answers and are returned; faults are thrown
 * ({@link WalletError}).
 *
 * `replayed`: the answer repeats a recorded decision (D2). Do not trigger side effects on `replayed: false`:
 * if the first answer was lost, the only success that the platform sees is a replay.
 */
export type WalletOutcome =
  | {
      ok: true
      replayed: boolean
      /**
       * The player's current balance (D2); of a handler with at least the decimals of its currency:
       * `"70.00"` (D21).
       */
      balance: Decimal
      currency: string
      /** The PAM's reference for the transaction. */
      walletTransactionId: string | null
    }
  | { ok: false; replayed: boolean; errorCode: ErrorCode | (string & {}); description: string }

/** The reason of an outcome, finer than its error code: for logs and metrics. */
export type OutcomeReason =
  | Exclude<RecordedReason, 'IMPORTED'>
  /** A retry, answered with the recorded decision (D2). */
  | 'REPLAYED'
  | 'INVALID_REQUEST'
  /** The same transactionId with other content (D4). */
  | 'PAYLOAD_MISMATCH'
  | 'UNKNOWN_PLAYER'
  | 'UNKNOWN_BET'
  /** A rollback of a settled bet (D13). */
  | 'BET_SETTLED'
  /** An unsettlement of a credit that was reversed before (D19). */
  | 'ALREADY_UNSETTLED'
  /** The credit's clawback was not collected, and is owed to the platform (D7, D13, D19). */
  | 'CLAWBACK_UNCOLLECTED'
  /** An unsettlement of a bet that was never credited with that type (D19). */
  | 'SETTLEMENT_NOT_FOUND'
  /** The bet's currency differs from the player's current currency (D23). */
  | 'BET_CURRENCY_MISMATCH'
  /** No outcome: a fault was thrown. */
  | 'FAULT'
