/** The table of the balance beside the mapped columns: another id of the player, an optimistic lock. */
import { isOfPersons, ofPlayer, ownersBeside, versionColumn } from '../init/candidates.js'
import type { DatabaseSchema, Table } from '../init/schema.js'
import { sqlName, sqlTable } from '../init/source-text.js'
import type { Rows } from './balances.js'
import { type Finding, finding } from './finding.js'

/** @param tables in which the balance is: the players' table, or those below the view */
export async function columnFindings(
  { engine }: Pick<DatabaseSchema, 'engine'>,
  tables: readonly Table[],
  { id, version }: { id: string; version: string | null },
  rows: Rows,
): Promise<Finding[]> {
  const found = tables.flatMap(table => {
    const column = versionColumn(table)
    return column === null ? [] : `${table.schema}.${table.name}.${column.name}`
  })
  const problems: string[] = []
  for (const table of tables) problems.push(...(await numberedRows(engine, table, id, rows)))
  const findings: Finding[] = []
  if (problems.length > 0) findings.push(finding('player ids', 'warning', problems.join('. ')))
  if (version === null && found.length > 0)
    findings.push(
      finding(
        'version column',
        'warning',
        `${found.join(', ')}: if your code has an optimistic lock by it (Sequelize, MikroORM, Hibernate, Rails), it ` +
          'writes back a balance that it read before a bet. Declare it: players.version (--version), in a view too',
      ),
    )
  return findings
}

/** Rows that are compared. */
const rowsMax = 1_000

/** The key of the rows in place of the player's id: a number of both would debit another player. */
async function numberedRows(
  engine: DatabaseSchema['engine'],
  table: Table,
  id: string,
  { ask, text }: Rows,
): Promise<string[]> {
  const column = table.columns.find(({ name }) => name === id)
  if (column === undefined || table.primaryKey.join('\0') !== id || isOfPersons(table.name)) return []
  const name = (of: string) => sqlName(engine, of)
  const from = sqlTable(engine, table)
  const problems: string[] = []
  for (const owner of ownersBeside(engine, table, column)) {
    if (owner.type !== column.type) continue
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
  return problems
}
