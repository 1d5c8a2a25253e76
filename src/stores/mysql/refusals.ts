/** Refusals by the players' table: a balance that its rules forbid. */
import type { CommitResult, WalletChanges } from '../../store.js'
import { CallbackFailed, QueryFailed } from '../database/deadline.js'
import { unavailableFor } from '../database/errors.js'
import { belowMinimum, isDebit } from '../database/refusals.js'
import { type Connections, classify } from './client.js'
import { type FailedCheck, failedCheckOf } from './errors.js'
import { balancePlus, isPlayer } from './sql/fragments.js'
import type { Tables } from './tables.js'

/**
 * The result for a debit that a CHECK of the players' table rejects, if that is a rule about the balance: a
 * minimum of the PAM. `null` otherwise: a rule about another column that an old row does not meet is a fault,
 * and says nothing about funds.
 *
 * The server tells by an UPDATE that increases the balance and is rolled back. The text of a CHECK is shown only to
 * users who have every privilege on the table, and an UPDATE without a change tests no CHECK.
 */
export async function refusalByRule(
  changes: WalletChanges,
  cause: unknown,
  { connections, tables }: { connections: Connections; tables: Tables },
): Promise<CommitResult | null> {
  const failed = failedCheckOf(cause)
  if (!isDebit(changes) || failed === null) return null
  const { table, columns } = tables.players
  const where = isPlayer(tables, 'player', '?')
  const ids = where
    .split('?')
    .slice(1)
    .map(() => changes.transaction.playerId)
  try {
    if (!(await isOfPlayers(failed, connections, tables))) return null
    return await connections.transaction<never>(async database => {
      const increased = balancePlus(tables, 'player', '1')
      await database.run(
        `UPDATE ${table} player SET player.${columns.balance} = ${increased} WHERE ${where}`,
        ids,
      )
      throw new RowIsValid()
    })
  } catch (error) {
    if (error instanceof QueryFailed && error.cause instanceof RowIsValid) return belowMinimum
    // The debit is rolled back, whatever happened to this statement. A retry may find out.
    return classify(error).kind === 'rejected' ? null : unavailableFor(error)
  }
}

/** The player's row meets the rules but for the debit. Thrown, it rolls back. */
class RowIsValid extends CallbackFailed {
  override readonly name = 'RowIsValid'
}

/** Not of a table that a trigger of the players' table writes. */
async function isOfPlayers(
  { name, table }: FailedCheck,
  connections: Connections,
  { players: { tableName } }: Tables,
): Promise<boolean> {
  if (table !== null)
    return table.every((part, index) => part.toLowerCase() === tableName[index]?.toLowerCase())
  // MySQL does not tell the table. The name is unique in a schema.
  const owners = await connections.read(
    `SELECT 1 FROM information_schema.TABLE_CONSTRAINTS
      WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ? AND CONSTRAINT_NAME = ? AND CONSTRAINT_TYPE = 'CHECK'`,
    [...tableName, name],
  )
  return owners.length > 0
}
