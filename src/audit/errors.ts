/** What keeps an audit or a simulation from being done. What a wallet does wrong is no error: it is in the report. */

/**
 * - `INVALID_OPTIONS`: an option is not what it must be; the message names it.
 * - `UNREACHABLE`: nobody answers at the base URL.
 * - `NO_WALLET_HERE`: something answers there, but not at `/rollbackbet` (404, a redirection, no JSON).
 * - `NOT_LET_IN`: 401 or 403 for the credentials that were given.
 * - `PLAYER_UNKNOWN`: the wallet does not know the player.
 * - `CURRENCY_DIFFERS`: the player's currency is another one.
 * - `BALANCE_DIFFERS`: of a simulation: the player's balance is not what was told.
 * - `FUNDS_TOO_SMALL`: the player has too little; the message says how much is needed.
 * - `NO_BALANCE`: neither a rollback of an unknown bet nor a bet and its rollback tell the balance (a simulation asks by
 *   the former only).
 */
export type AuditErrorCode =
  | 'INVALID_OPTIONS'
  | 'UNREACHABLE'
  | 'NO_WALLET_HERE'
  | 'NOT_LET_IN'
  | 'PLAYER_UNKNOWN'
  | 'CURRENCY_DIFFERS'
  | 'BALANCE_DIFFERS'
  | 'FUNDS_TOO_SMALL'
  | 'NO_BALANCE'

/** Told apart by `code`, which is the contract. */
export class AuditError extends Error {
  override readonly name = 'AuditError'
  readonly code: AuditErrorCode

  constructor(code: AuditErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.code = code
  }
}
