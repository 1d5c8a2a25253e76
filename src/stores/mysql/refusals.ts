/** Refusals by the players' table: a balance that its rules forbid. */
import type { CommitResult, WalletChanges } from '../../store.js'
import { belowMinimum, isDebit } from '../database/refusals.js'
import { type Connections, classify } from './client.js'
import { failedCheckOf } from './errors.js'
import { isPlayer } from './sql/fragments.js'
import type { Tables } from './tables.js'

/**
 * The result for a debit that a CHECK of the players' table rejects, if that is a rule about the balance: a
 * minimum of the PAM. `null` otherwise: a rule about another column that an old row does not meet is a fault,
 * and says nothing about funds.
 */
export async function refusalByRule(
  changes: WalletChanges,
  cause: unknown,
  { connections, tables }: { connections: Connections; tables: Tables },
): Promise<CommitResult | null> {
  const name = failedCheckOf(cause)
  if (!isDebit(changes) || name === null) return null
  try {
    const clause = await clauseOf(connections, tables, name)
    if (clause === null || !clause.includes(tables.players.columns.balance)) return null
    // The player's row meets the rule as long as the balance does not change.
    const [row] = await connections.read(
      `SELECT (${clause}) IS NOT FALSE FROM ${tables.players.table} player WHERE ${isPlayer(tables, 'player', '?')}`,
      isPlayer(tables, 'player', '?')
        .split('?')
        .slice(1)
        .map(() => changes.transaction.playerId),
    )
    return String(row?.[0]) === '1' ? belowMinimum : null
  } catch (error) {
    // The debit is rolled back, whatever happened to this statement. A retry may find out.
    return classify(error).kind === 'rejected' ? null : { status: 'unavailable' }
  }
}

/** The condition of a CHECK of the players' table; `null`: it belongs to another table. */
async function clauseOf(
  connections: Connections,
  { players: { tableName } }: Tables,
  name: string,
): Promise<string | null> {
  const [schema, table] = tableName
  const [row] = await connections.read(
    `SELECT rule.CHECK_CLAUSE
      FROM information_schema.CHECK_CONSTRAINTS rule
      JOIN information_schema.TABLE_CONSTRAINTS owner
        ON owner.CONSTRAINT_SCHEMA = rule.CONSTRAINT_SCHEMA AND owner.CONSTRAINT_NAME = rule.CONSTRAINT_NAME
      WHERE owner.TABLE_SCHEMA = ? AND owner.TABLE_NAME = ? AND rule.CONSTRAINT_NAME = ?`,
    [schema, table, name],
  )
  return row === undefined ? null : String(row[0])
}
