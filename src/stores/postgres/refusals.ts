/**
 * Refusals by the players' table: an amount that its balance column cannot hold, or a balance that its rules
 * forbid.
 */
import { isNegative } from '../../money.js'
import type { CommitResult, WalletChanges } from '../../store.js'
import { isCheckOf, PostgresStoreError } from './errors.js'
import type { Tables } from './tables.js'

/** Whether the changes debit the player: only then they may be refused. */
export function isDebit({ balance }: WalletChanges): boolean {
  return balance !== null && isNegative(balance.delta)
}

/**
 * The result for an amount that the balance column cannot hold exactly. A debit is refused, never rounded.
 *
 * @throws {PostgresStoreError} `AMOUNT_NOT_REPRESENTABLE` for a credit: money that is due must not be refused
 */
export function notRepresentable(changes: WalletChanges, cause: unknown): CommitResult {
  const problem = 'not representable in the balance column'
  if (isDebit(changes))
    return { status: 'refused', errorCode: 'INVALID_AMOUNT', description: `amount: ${problem}` }
  const amount = changes.balance?.delta ?? 'The amount'
  throw new PostgresStoreError('AMOUNT_NOT_REPRESENTABLE', `${amount}: ${problem}`, { cause })
}

/**
 * The result for a debit that a CHECK of the players' table rejects: a minimum balance of the PAM. Else
 * `null`.
 */
export function belowMinimum(
  changes: WalletChanges,
  cause: unknown,
  { players }: Tables,
): CommitResult | null {
  if (!isDebit(changes) || !isCheckOf(players.tableName, cause)) return null
  const description = 'amount: below the minimum balance'
  return { status: 'refused', errorCode: 'INSUFFICIENT_FUNDS', description }
}
