/** Refusals by the players' table: a balance that its rules forbid. */
import type { CommitResult, WalletChanges } from '../../store.js'
import type { Columns } from '../database/columns.js'
import { unavailableFor } from '../database/errors.js'
import { belowMinimum } from '../database/refusals.js'
import type { Connections } from './client.js'
import { classify, hasCode } from './errors.js'
import { functionCall } from './prepared-statements.js'
import { functionName } from './sql/fragments.js'
import type { Tables } from './tables.js'
import type { Timelines } from './timeline.js'

/**
 * The result for a debit that a CHECK of the players' table about the balance rejects: a minimum of the PAM.
 * `null` otherwise. A CHECK of a trigger's own table, or about another column, is a fault, and says nothing
 * about funds: so the error is only the occasion for `is_balance_rule`, which finds out by itself.
 */
export async function refusalByRule(
  { transaction, balance }: WalletChanges,
  cause: unknown,
  { connections, tables, timelines, columns, lockTimeoutMs }: BalanceRules,
): Promise<CommitResult | null> {
  const debit = balance && columns.toColumn(balance.delta, balance.currency)
  if (!debit?.startsWith('-') || !hasCode(cause, '23514')) return null
  try {
    const answer = `${functionName(tables, 'is_balance_rule')} AS answer`
    const call = functionCall(tables, { name: 'is_balance_rule', columns: answer, values: 5 })
    const { values, accept } = timelines.next()
    const [row] = (await connections.call(
      call,
      [transaction.playerId, debit, lockTimeoutMs, ...values],
      accept,
    )) as { answer: boolean }[]
    return row?.answer ? belowMinimum : null
  } catch (error) {
    // The debit is rolled back, whatever happened to this statement. A retry may find out.
    return classify(error, tables.schemaName).kind === 'rejected' ? null : unavailableFor(error)
  }
}

interface BalanceRules {
  connections: Connections
  tables: Tables
  timelines: Timelines
  columns: Columns
  lockTimeoutMs: number
}
