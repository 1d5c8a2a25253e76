/** What keeps an audit or a simulation from being done. What a wallet does wrong is no error: it is in the report. */

/**
 * - `INVALID_OPTIONS`: an option is not what it must be; the message names it.
 * - `UNREACHABLE`: nobody answers at the base URL.
 * - `NOT_A_WALLET`: something answers there, but not at `/rollbackbet` (404, a redirection, no JSON).
 * - `AUTHENTICATION_FAILED`: 401 or 403 for the credentials that were given.
 * - `UNKNOWN_PLAYER`: the wallet does not know the player.
 * - `CURRENCY_MISMATCH`: the player's currency is another one.
 * - `BALANCE_MISMATCH`: of a simulation: the player's balance is not what was told.
 * - `INSUFFICIENT_TEST_FUNDS`: the player has too little; the message says how much is needed.
 * - `BALANCE_UNREADABLE`: neither a rollback of an unknown bet nor a bet and its rollback tell the balance (a simulation asks by
 *   the former only).
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
  | 'BALANCE_UNREADABLE'

/** Told apart by `code`, which is the contract. */
export class AuditError extends Error {
  override readonly name = 'AuditError'
  readonly code: AuditErrorCode

  constructor(code: AuditErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.code = code
  }
}
