/** Faults, which a handler throws, and refusals, which `authorizeBet` and `authorizeRequest` throw. */
import { fieldOf } from './foreign-values.js'
import { type OptionChecks, optionChecks } from './option-checks.js'
import type { ErrorCode } from './outcomes.js'
import type { Operation } from './store.js'

export const walletErrorCodes = [
  'UNAVAILABLE',
  'CONFLICT',
  'DEADLINE_PASSED',
  'COMMIT_UNKNOWN',
  'AMOUNT_NOT_REPRESENTABLE',
  'LOAD_FAILED',
  'STORE_CONTRACT',
  'HOOK_FAILED',
  'INVALID_OPTIONS',
  'UNEXPECTED',
] as const

/**
 * - `UNAVAILABLE`: the store reported that it is unavailable. Retryable.
 * - `CONFLICT`: every attempt ended in a conflict. Retryable.
 * - `DEADLINE_PASSED`: `deadlineMs` had passed before a commit was started. Retryable.
 * - `COMMIT_UNKNOWN`: `commit` threw, and its transaction is not recorded (yet), or the follow-up read
 *   failed.
 * - `AMOUNT_NOT_REPRESENTABLE`: the store cannot hold the amount of a credit exactly; no changes were made.
 * - `LOAD_FAILED`: `load` threw.
 * - `STORE_CONTRACT`: the store returned a value that the contract does not allow; the message names the
 *   field.
 * - `HOOK_FAILED`: `authorizeBet`, `authorizeRequest`, `minorUnits`, `parseTransactionDate` or `backOff`
 *   threw or returned an invalid value: a promise is one of `minorUnits` and `parseTransactionDate`.
 * - `INVALID_OPTIONS`: an option is invalid; the message names it.
 * - `UNEXPECTED`: anything else was thrown, see `cause`: a property of a record or of the body that cannot be
 *   read, or a bug of this library.
 */
export type WalletErrorCode = (typeof walletErrorCodes)[number]

const retryableCodes: readonly WalletErrorCode[] = ['UNAVAILABLE', 'CONFLICT', 'DEADLINE_PASSED']

/** A call of a handler. */
export interface FaultyCall {
  operation: Operation
  /** The ids of the request; all `null` if it could not be parsed. */
  transactionId: string | null
  betId: string | null
  playerId: string | null
}

/**
 * A fault: no decision was made, or its outcome is unknown. Never answered as a refusal (D9). Match it by
 * `code`. One that is `retryable` has no stack trace.
 */
export class WalletError extends Error {
  override readonly name = 'WalletError'
  readonly code: WalletErrorCode
  /**
   * `true`: no changes were made, and a retry may succeed (HTTP 503). `false`: changes may have been made; if
   * so, a retry is answered with the recorded decision.
   */
  readonly retryable: boolean
  /** The call of a handler that threw it; `null` for any other error: an invalid option, say. */
  call: FaultyCall | null = null

  constructor(code: WalletErrorCode, message: string, options?: { cause?: unknown }) {
    const retryable = retryableCodes.includes(code)
    // Expected under load, thousands of times per second: without a stack trace, which would cost more than
    // the rest of the answer and lead nowhere. Reflect.set does not throw where the built-in objects are
    // frozen.
    const { stackTraceLimit } = Error
    if (retryable) Reflect.set(Error, 'stackTraceLimit', 0)
    super(message, options)
    if (retryable) Reflect.set(Error, 'stackTraceLimit', stackTraceLimit)
    this.code = code
    this.retryable = retryable
  }
}

/** The checks of options that are not a store's. */
export const check: OptionChecks = optionChecks(message => {
  throw new WalletError('INVALID_OPTIONS', message)
})

/**
 * Whether the error is a retryable {@link WalletError}. By name and code and not by class: the package may be
 * loaded twice, as ESM and as CommonJS, and errors of other libraries have a `retryable` too.
 */
export function isRetryable(error: unknown): boolean {
  const code = fieldOf(error, 'code')
  return fieldOf(error, 'name') === 'WalletError' && retryableCodes.some(retryable => retryable === code)
}

/** Whether a store rejects a credit that it cannot hold exactly, before it has written anything. */
export const isNotRepresentable = (error: unknown): boolean =>
  fieldOf(error, 'code') === 'AMOUNT_NOT_REPRESENTABLE'

/** Codes of faults and of HTTP. A refusal is definite, so it must not look like one of them (D9). */
const reservedCodes: readonly string[] = [
  'INTERNAL_ERROR',
  'UNAVAILABLE',
  'SETTLEMENT_NOT_FOUND',
  'TRANSACTION_CONFLICT',
  'AUTHENTICATION_FAILED',
  'NOT_FOUND',
  'METHOD_NOT_ALLOWED',
  'PAYLOAD_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
] satisfies ErrorCode[]

const descriptionLengthMax = 500

/**
 * Checks a refusal from `authorizeBet`, `authorizeRequest` or the store before it is recorded and answered.
 *
 * @param errorCode valid: 1 to 64 letters, digits, `_`, `-` or `.`, and none of the library's reserved codes
 * @param description valid: 1 to 500 well-formed characters without control characters
 * @returns the problem as text, or `null`
 */
export function refusalProblem(errorCode: unknown, description: unknown): string | null {
  if (typeof errorCode !== 'string' || !/^[A-Za-z0-9_.-]{1,64}$/.test(errorCode)) {
    return 'errorCode must be 1 to 64 letters, digits, "_", "-" or "."'
  }
  if (reservedCodes.includes(errorCode)) return `errorCode ${errorCode} is reserved`
  if (
    typeof description !== 'string' ||
    description.length > descriptionLengthMax ||
    !/^[^\p{Cc}\p{Cs}]+$/u.test(description)
  ) {
    return `description must be 1 to ${descriptionLengthMax} characters without control characters`
  }
  return null
}

/**
 * Throw it from `authorizeRequest` or `authorizeBet` to refuse the bet. The refusal is final: recorded, and
 * replayed to every retry of the placebet (D6). Any other error is a fault: 500, not recorded.
 *
 * @param errorCode such as `INVALID_SESSION_TOKEN`, or your own code as agreed with the platform
 * @param description for a human reader; it is sent to the platform
 * @throws {TypeError} for an invalid code or description
 */
export class WalletRefusal extends Error {
  override readonly name = 'WalletRefusal'
  readonly code = 'WALLET_REFUSAL'
  readonly errorCode: string
  readonly description: string

  constructor(errorCode: string, description: string) {
    const problem = refusalProblem(errorCode, description)
    if (problem !== null) throw new TypeError(`WalletRefusal: ${problem}`)
    super(`${errorCode}: ${description}`)
    this.errorCode = errorCode
    this.description = description
  }
}

/** By code and not by class: the package may be loaded twice, as ESM and as CommonJS. */
export function isWalletRefusal(error: unknown): error is WalletRefusal {
  return (
    fieldOf(error, 'code') === 'WALLET_REFUSAL' &&
    refusalProblem(fieldOf(error, 'errorCode'), fieldOf(error, 'description')) === null
  )
}
