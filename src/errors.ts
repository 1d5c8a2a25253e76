/** What a handler throws, and what the operator's `authorizeBet` throws to refuse. */
import type { ErrorCode } from './outcomes.js'

/**
 * - `UNAVAILABLE`: the store said that it cannot now. Retryable.
 * - `CONFLICT`: the attempts were used up by conflicts. Retryable.
 * - `DEADLINE_PASSED`: `deadlineMs` was over before a commit was begun. Retryable.
 * - `COMMIT_UNKNOWN`: `commit` threw, and the transaction is not (yet) recorded, or the look failed.
 * - `LOAD_FAILED`: `load` threw.
 * - `STORE_CONTRACT`: the store answered what the contract does not allow; the message names field and promise.
 * - `HOOK_FAILED`: `authorizeBet`, `minorUnits`, `parseTransactionDate` or `backOff` threw or answered nonsense.
 * - `INVALID_OPTIONS`: an option is not what it must be; the message names it.
 */
export type WalletErrorCode =
  | 'UNAVAILABLE'
  | 'CONFLICT'
  | 'DEADLINE_PASSED'
  | 'COMMIT_UNKNOWN'
  | 'LOAD_FAILED'
  | 'STORE_CONTRACT'
  | 'HOOK_FAILED'
  | 'INVALID_OPTIONS'

const retryableCodes: readonly WalletErrorCode[] = ['UNAVAILABLE', 'CONFLICT', 'DEADLINE_PASSED']

/**
 * A fault: it is never answered as a refusal (D9). Told apart by `code`, which is the contract. With `retryable`
 * nothing was done, certainly; without, a commit may have happened, and what is recorded answers the next call.
 */
export class WalletError extends Error {
  override readonly name = 'WalletError'
  readonly code: WalletErrorCode
  /** Certainly nothing was done, and the same call may succeed later: HTTP 503. */
  readonly retryable: boolean

  constructor(code: WalletErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.code = code
    this.retryable = retryableCodes.includes(code)
  }
}

/**
 * Whether it is a {@link WalletError} that says that nothing was done. By name and code and not by class: the package
 * may be loaded twice, as ESM and as CommonJS, and other libraries call their time-outs retryable too.
 */
export function isRetryable(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false
  const { name, code } = error as { name?: unknown; code?: unknown }
  return name === 'WalletError' && retryableCodes.some(retryable => retryable === code)
}

/** Faults and the surface of HTTP: no refusal of a bet may look like one of them, since a refusal is definite (D9). */
const notForRefusals: readonly string[] = [
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
 * What is wrong with a refusal by the operator's code or store, or `null`. Its code is 1 to 64 letters,
 * digits, `_`, `-` or `.` and none of the library's codes for faults; its description 1 to 500 well-formed
 * characters without control characters, because it is stored and answered.
 */
export function refusalProblem(errorCode: unknown, description: unknown): string | null {
  if (typeof errorCode !== 'string' || !/^[A-Za-z0-9_.-]{1,64}$/.test(errorCode)) {
    return 'errorCode must be 1 to 64 letters, digits, "_", "-" or "."'
  }
  if (notForRefusals.includes(errorCode)) return `errorCode ${errorCode} does not say that a bet is refused`
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
 * Throw it from `authorizeBet` to refuse the bet. The refusal is recorded and every repeat of the placebet is
 * refused alike (D6). Any other throw is a fault: 500, not recorded.
 *
 * @param errorCode such as `INVALID_SESSION_TOKEN`, or one of your own as agreed with the platform
 * @param description for a human reader; it goes to the platform
 * @throws TypeError for a code or a description that cannot be answered
 */
export class WalletRefusal extends Error {
  override readonly name = 'WalletRefusal'
  readonly code = 'WALLET_REFUSAL'
  readonly errorCode: string
  readonly description: string

  constructor(errorCode: string, description: string) {
    const flaw = refusalProblem(errorCode, description)
    if (flaw !== null) throw new TypeError(`WalletRefusal: ${flaw}`)
    super(`${errorCode}: ${description}`)
    this.errorCode = errorCode
    this.description = description
  }
}

/** By code and not by class: the package may be loaded twice, as ESM and as CommonJS. */
export function isWalletRefusal(error: unknown): error is WalletRefusal {
  return (
    typeof error === 'object' &&
    error !== null &&
    'code' in error &&
    error.code === 'WALLET_REFUSAL' &&
    refusalProblem(Reflect.get(error, 'errorCode'), Reflect.get(error, 'description')) === null
  )
}

const reported = new Set<string>()

/**
 * Calls a hook that only listens. It must not change an answer that may have moved money: what it throws is
 * said once per process as a warning, and otherwise ignored.
 */
export function notify(hook: string, call: () => unknown): void {
  try {
    Promise.resolve(call()).catch((error: unknown) => report(hook, error))
  } catch (error) {
    report(hook, error)
  }
}

function report(hook: string, error: unknown): void {
  if (reported.has(hook)) return
  reported.add(hook)
  process.emitWarning(`${hook} threw, and is ignored whenever it does: ${textOf(error)}`, 'BetWalletWarning')
}

/** Whatever was thrown: `Object.create(null)` has no text, and a getter may throw again. */
function textOf(error: unknown): string {
  try {
    return error instanceof Error ? (error.stack ?? error.message) : String(error)
  } catch {
    return 'what cannot be shown'
  }
}
