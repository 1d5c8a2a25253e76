/** Refusals by the players' table: a balance that its rules forbid. */
import type { CommitResult, WalletChanges } from '../../store.js'
import type { Columns } from '../database/columns.js'
import { CallbackFailed, QueryFailed } from '../database/deadline.js'
import { unavailableFor } from '../database/errors.js'
import { belowMinimum } from '../database/refusals.js'
import { baseTablesOf } from './base-tables.js'
import type { Connections } from './client.js'
import { classify, type FailedCheck, failedCheckOf } from './errors.js'
import type { Session } from './session.js'
import { balanceOf, balancePlus, isPlayer, unitDecimal } from './sql/fragments.js'
import type { Tables } from './tables.js'

/**
 * The result for a debit that a CHECK of the players' table about the balance rejects: a minimum of the PAM.
 * `null` otherwise. A CHECK of a trigger's own table, or about another column, is a fault, and says nothing
 * about funds.
 *
 * The error is only the occasion. The balance is raised by the debit, then debited: both must pass and change
 * it by exactly that, so that no trigger and no rule of another column is in the way. The same debit again
 * must then fail by a CHECK of the players' table. All of it is rolled back; until then no rule can be
 * dropped. The text of a CHECK is shown only to users who have every privilege on the table.
 */
export async function refusalByRule(
  { transaction, balance }: WalletChanges,
  cause: unknown,
  { connections, tables, columns }: { connections: Connections; tables: Tables; columns: Columns },
): Promise<CommitResult | null> {
  const debit = balance && columns.toColumn(balance.delta, balance.currency)
  if (!debit?.startsWith('-') || failedCheckOf(cause) === null) return null
  try {
    await connections.transaction(async database => {
      throw new Probed(await failsByRule(database, tables, { playerId: transaction.playerId, debit }))
    })
    return null
  } catch (error) {
    if (error instanceof QueryFailed && error.cause instanceof Probed)
      return error.cause.isRefused ? belowMinimum : null
    // The debit is rolled back, whatever happened to this statement. A retry may find out.
    return classify(error).kind === 'rejected' ? null : unavailableFor(error)
  }
}

/** Thrown, it rolls back. */
class Probed extends CallbackFailed {
  override readonly name = 'Probed'
  readonly isRefused: boolean
  constructor(isRefused: boolean) {
    super('The updates are rolled back')
    this.isRefused = isRefused
  }
}

/** @param debit below 0, in the unit of the column */
async function failsByRule(
  database: Session,
  tables: Tables,
  { playerId, debit }: { playerId: string; debit: string },
): Promise<boolean> {
  const { table, columns } = tables.players
  const where = isPlayer(tables, 'player', '?')
  const ids = where
    .split('?')
    .slice(1)
    .map(() => playerId)
  const amount = `CAST('${debit}' AS ${unitDecimal})`
  const balance = async (plus: string, lock = ''): Promise<unknown> =>
    (
      await database.rows(
        `SELECT CAST(${balanceOf(tables, 'player')} + ${plus} AS char) FROM ${table} player WHERE ${where} ${lock}`,
        ids,
      )
    )[0]?.[0]
  const change = (delta: string) =>
    database.run(
      `UPDATE ${table} player SET player.${columns.balance} = ${balancePlus(tables, 'player', delta)} WHERE ${where}`,
      ids,
    )
  const before = await balance(`0 * ${amount}`, 'FOR UPDATE')
  if (before == null) return false
  await change(`(0 - ${amount})`)
  if ((await balance(amount)) !== before) return false
  await change(amount)
  if ((await balance(`0 * ${amount}`)) !== before) return false
  try {
    await change(amount)
    return false
  } catch (error) {
    const failed = failedCheckOf(error)
    if (failed === null) throw error
    return await isOfBalance(failed, database, tables)
  }
}

/** Not of a table that a trigger of the players' table writes; nor of another column. */
async function isOfBalance(
  { name, table, column }: FailedCheck,
  database: Session,
  { players: { tableName, columnNames } }: Tables,
): Promise<boolean> {
  const bases = await baseTablesOf(database, tableName)
  const isView = bases.some(base => base.name !== tableName)
  const isSame = (a: readonly string[], b: readonly string[]) =>
    a.every((part, index) => part.toLowerCase() === b[index]?.toLowerCase())
  if (table !== null) {
    if (!bases.some(base => isSame(base.name, table))) return false
    // A view may show the column by another name.
    return column === null || isView || column.toLowerCase() === columnNames.balance.toLowerCase()
  }
  // MySQL does not tell the table. The name is unique in a schema.
  for (const base of bases) {
    const owners = await database.rows(
      `SELECT 1 FROM information_schema.TABLE_CONSTRAINTS
        WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ? AND CONSTRAINT_NAME = ? AND CONSTRAINT_TYPE = 'CHECK'`,
      [...base.name, name],
    )
    if (owners.length > 0) return true
  }
  return false
}
