/** Errors that prevent an audit or a simulation. Incorrect answers of the wallet are in the report. */

/**
 * - `INVALID_OPTIONS`: an option is invalid; the message names it.
 * - `UNREACHABLE`: no answer from the base URL.
 * - `NOT_A_WALLET`: the server at the base URL does not serve `/rollbackbet` (404, a redirect, not JSON).
 * - `AUTHENTICATION_FAILED`: 401 or 403 for the given credentials.
 * - `UNKNOWN_PLAYER`: the wallet does not know the player.
 * - `CURRENCY_MISMATCH`: the player has another currency.
 * - `BALANCE_MISMATCH`: simulation only; the player's balance differs from the given one.
 * - `INSUFFICIENT_TEST_FUNDS`: the balance is too low; the message names the amount that is needed.
 * - `SETTLEMENT_FAILED`: audit only; a bet could not be settled in the way that the options name.
 * - `BALANCE_UNREADABLE`: the balance cannot be read by the rollback of an unknown bet, nor (audit only) by a
 *   bet and its rollback.
 * - `DECIMALS_REFUSED`: audit only; the wallet's currency has fewer decimals than the audit assumes.
 */
export type AuditErrorCode =
  | 'INVALID_OPTIONS'
  | 'UNREACHABLE'
  | 'NOT_A_WALLET'
  | 'AUTHENTICATION_FAILED'
  | 'UNKNOWN_PLAYER'
  | 'CURRENCY_MISMATCH'
  | 'BALANCE_MISMATCH'
  | 'INSUFFICIENT_TEST_FUNDS'
  | 'SETTLEMENT_FAILED'
  | 'BALANCE_UNREADABLE'
  | 'DECIMALS_REFUSED'

/** An error of a tool. Identified by `code`, which is stable; the message may change. */
export abstract class ToolError<Code extends string> extends Error {
  readonly code: Code

  constructor(code: Code, message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.code = code
  }
}

export class AuditError extends ToolError<AuditErrorCode> {
  override readonly name = 'AuditError'
}
