/** Forgets a player: pseudonym and counts. The library's tables know of a player the id alone. */
import type { OptionChecks } from '../../option-checks.js'

export interface ForgottenPlayer {
  /** What stands for the player from now on: `forgotten-` and a random UUID, which does not tell the id. */
  pseudonym: string
  /** How many bets and transactions had the id. */
  bets: number
  transactions: number
  /**
   * How many of them have the id again, counted after the COMMIT: calls in flight wrote it. Above 0: run it
   * again, when the account is closed and its last calls have ended.
   */
  remaining: number
}

/** @throws `INVALID_OPTIONS` */
export function pseudonymFor(check: OptionChecks, playerId: unknown): string {
  if (typeof playerId !== 'string' || playerId === '' || playerId.includes('\0'))
    check.invalid('playerId must be an id')
  return `forgotten-${crypto.randomUUID()}`
}

/** The tables are read as a whole, since the bets have no index on the player. In milliseconds. */
export const forgettingMs = 3_600_000
