/** The table of the balance beside the mapped columns: another id of the player, an optimistic lock. */
import { idTypeOf, isOfPersons, ofPlayer, ownersBeside, versionColumn } from '../init/candidates.js'
import type { DatabaseSchema, Table } from '../init/schema.js'
import { sqlName, sqlTable } from '../init/source-text.js'
import type { Rows } from './balances.js'
import { describe, type Finding, finding } from './finding.js'
import type { BalanceColumn } from './statements.js'

/** @param behind the players' table and what is below it, each with its column of the id */
export async function columnFindings(
  { engine, tables }: Pick<DatabaseSchema, 'engine' | 'tables'>,
  behind: readonly BalanceColumn[],
  version: string | null,
  rows: Rows,
): Promise<Finding[]> {
  const [findings, hidden, versions]: [Finding[], string[], string[]] = [[], [], []]
  for (const { schema, table: name, column: id } of behind) {
    const all = `SELECT * FROM ${sqlTable(engine, { schema, name })} WHERE FALSE`
    // The catalogs of MySQL and MariaDB hide columns that this user has no right on.
    if (engine === 'mysql') await rows.ask(all).catch(() => hidden.push(`${schema}.${name}`))
    const table = tables.find(each => each.schema === schema && each.name === name && !each.isView)
    if (table === undefined) continue
    findings.push(...(await numberedRows(engine, table, id, rows).catch(notChecked)))
    const column = versionColumn(table)
    if (column !== null) versions.push(`${schema}.${name}.${column.name}`)
  }
  if (version === null && versions.length > 0)
    findings.push(
      finding(
        'version column',
        'warning',
        `${versions.join(', ')}: if your code has an optimistic lock by it (Sequelize, MikroORM, Hibernate, Rails), it ` +
          'writes back a balance that it read before a bet. Declare it: players.version (--version), in a view too',
      ),
    )
  if (hidden.length > 0)
    findings.push(
      finding(
        'columns',
        'skipped',
        `this user does not see all columns of ${hidden.join(', ')}: run check again as an owner of the tables`,
      ),
    )
  return findings
}

export const notChecked = (error: unknown) => [
  finding('player ids', 'skipped', `could not be checked: ${describe(error)}`),
]

/** Rows that are compared. */
const rowsMax = 1_000

/** The key of the rows in place of the player's id: a number of both would debit another player. */
async function numberedRows(
  engine: DatabaseSchema['engine'],
  table: Table,
  id: string | null,
  { ask, text }: Rows,
): Promise<Finding[]> {
  const column = table.columns.find(({ name }) => name === id)
  if (column === undefined || table.primaryKey.join('\0') !== id || isOfPersons(table.name)) return []
  const name = (of: string) => sqlName(engine, of)
  const from = sqlTable(engine, table)
  const problems: string[] = []
  for (const owner of ownersBeside(engine, table, column)) {
    if (idTypeOf(engine, owner) !== idTypeOf(engine, column)) continue
    const [row] = await ask(`SELECT ${text('numbered.id')} AS id, ${text('numbered.owner')} AS owner
      FROM (SELECT ${name(id)} AS id, ${name(owner.name)} AS owner FROM ${from}
        WHERE ${name(owner.name)} <> ${name(id)} ORDER BY 1 LIMIT ${rowsMax}) numbered
      WHERE EXISTS (SELECT 1 FROM ${from} other WHERE other.${name(owner.name)} = numbered.id)
      ORDER BY numbered.id LIMIT 1`)
    if (row !== undefined)
      problems.push(
        `${id} numbers the rows of ${table.schema}.${table.name}, and ${ofPlayer([owner])}: a bet of the player ${row[0]} ` +
          `debits the row ${row[0]}, which is of the player ${row[1]}. Map ${owner.name} (--id), unless the platform sends ${id}`,
      )
  }
  return problems.length === 0 ? [] : [finding('player ids', 'warning', problems.join('. '))]
}
