/**
 * Refusals by the players' table: an amount that its balance column cannot hold, or a balance that its rules
 * forbid.
 */
import { isNegative } from '../../money.js'
import type { CommitResult, WalletChanges } from '../../store.js'
import { type Connections, classify } from './client.js'
import { failedCheckOf, PostgresStoreError } from './errors.js'
import { functionName } from './sql/fragments.js'
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
 * The result for a debit that a CHECK of the players' table rejects, if that is a rule about the balance: a
 * minimum of the PAM. `null` otherwise: a rule about another column that an old row does not meet is a fault,
 * and says nothing about funds.
 */
export async function belowMinimum(
  changes: WalletChanges,
  cause: unknown,
  { connections, tables, lockTimeoutMs }: BalanceRules,
): Promise<CommitResult | null> {
  const rule = failedCheckOf(cause)
  if (!isDebit(changes) || rule === null) return null
  try {
    const [row] = (await connections.statement(
      `SELECT ${tables.schema}.${functionName(tables, 'is_balance_rule')}($1, $2, $3, $4, $5) AS answer`,
      [changes.transaction.playerId, rule.schema, rule.table, rule.domain, lockTimeoutMs],
    )) as { answer: boolean }[]
    if (!row?.answer) return null
  } catch (error) {
    // The debit is rolled back, whatever happened to this statement. A retry may find out.
    return classify(error).kind === 'rejected' ? null : { status: 'unavailable' }
  }
  const description = 'amount: below the minimum balance'
  return { status: 'refused', errorCode: 'INSUFFICIENT_FUNDS', description }
}

interface BalanceRules {
  connections: Connections
  tables: Tables
  lockTimeoutMs: number
}
