/** Refusals by the players' table: a balance that its rules forbid. */
import type { CommitResult, WalletChanges } from '../../store.js'
import { unavailableFor } from '../database/errors.js'
import { belowMinimum, isDebit } from '../database/refusals.js'
import { type Connections, classify } from './client.js'
import { failedCheckOf } from './errors.js'
import { functionName } from './sql/fragments.js'
import type { Tables } from './tables.js'

/**
 * The result for a debit that a CHECK of the players' table rejects, if that is a rule about the balance: a
 * minimum of the PAM. `null` otherwise: a rule about another column that an old row does not meet is a fault,
 * and says nothing about funds.
 */
export async function refusalByRule(
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
    return row?.answer ? belowMinimum : null
  } catch (error) {
    // The debit is rolled back, whatever happened to this statement. A retry may find out.
    return classify(error).kind === 'rejected' ? null : unavailableFor(error)
  }
}

interface BalanceRules {
  connections: Connections
  tables: Tables
  lockTimeoutMs: number
}
