/** Refusals by the players' table: a balance that its rules forbid. */
import type { CommitResult, WalletChanges } from '../../store.js'
import { unavailableFor } from '../database/errors.js'
import { belowMinimum, isDebit } from '../database/refusals.js'
import { type Connections, classify } from './client.js'
import { type FailedCheck, failedCheckOf } from './errors.js'
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
  const failed = failedCheckOf(cause)
  if (!isDebit(changes) || failed === null || !isOfPlayers(failed, tables)) return null
  try {
    const clause = await clauseOf(connections, tables, failed.name)
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
    return classify(error).kind === 'rejected' ? null : unavailableFor(error)
  }
}

/** Not of a table that a trigger of the players' table writes. */
function isOfPlayers({ table }: FailedCheck, { players: { tableName } }: Tables): boolean {
  return (
    table === null || table.every((name, index) => name.toLowerCase() === tableName[index]?.toLowerCase())
  )
}

/** The condition of a CHECK of the players' table; `null`: it belongs to another table. */
async function clauseOf(
  connections: Connections,
  { players: { tableName } }: Tables,
  name: string,
): Promise<string | null> {
  // On MariaDB two tables may have a CHECK of one name (CONSTRAINT_1), and CHECK_CONSTRAINTS has a column TABLE_NAME. On
  // MySQL it has none, names are unique in a schema, and TABLE_NAME means the one of `owner`.
  const [row] = await connections.read(
    `SELECT (SELECT rule.CHECK_CLAUSE FROM information_schema.CHECK_CONSTRAINTS rule
        WHERE rule.CONSTRAINT_SCHEMA = owner.CONSTRAINT_SCHEMA AND rule.CONSTRAINT_NAME = owner.CONSTRAINT_NAME
          AND TABLE_NAME = owner.TABLE_NAME)
      FROM information_schema.TABLE_CONSTRAINTS owner
      WHERE owner.TABLE_SCHEMA = ? AND owner.TABLE_NAME = ? AND owner.CONSTRAINT_NAME = ?
        AND owner.CONSTRAINT_TYPE = 'CHECK'`,
    [...tableName, name],
  )
  return row?.[0] == null ? null : withoutEscapes(String(row[0]))
}

/** MySQL shows the literal 'EUR' as _utf8mb4\'EUR\', which it does not accept itself. */
const withoutEscapes = (clause: string) =>
  /_[a-z0-9]+\\'/.test(clause) ? clause.replaceAll("\\'", "'") : clause
