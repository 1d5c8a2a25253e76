/** The tables behind a view. The catalog has the engine of tables only, and a failed CHECK names a table. */

import { storeError } from './errors.js'
import type { Session } from './session.js'

type Name = readonly [schema: string, table: string]

export interface BaseTable {
  /** As the catalog spells it. */
  name: Name
  engine: string
}

/**
 * @returns the tables that a view reads, through views over views; of a table, itself. Empty: there is no
 *   such table, or this user may not see it. A CHECK about the balance is one of the only table, or of any of
 *   several: the catalog does not tell which of them has the column
 * @throws {StoreError} `INSUFFICIENT_PRIVILEGE`: this user may not see what a view reads;
 *   `INVALID_PLAYERS_TABLE`: a view reads no table
 */
export async function baseTablesOf(
  database: Pick<Session, 'rows'>,
  name: Name,
): Promise<readonly BaseTable[]> {
  const [table] = await database.rows(
    `SELECT TABLE_TYPE, ENGINE FROM information_schema.TABLES WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ?`,
    [...name],
  )
  if (table === undefined) return []
  const [type, engine] = table
  if (type !== 'VIEW') return [{ name, engine: String(engine) }]
  const [view] = await database.rows(
    'SELECT VIEW_DEFINITION FROM information_schema.VIEWS WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ?',
    [...name],
  )
  const definition = String(view?.[0] ?? '')
  // SELECT on some of its columns is not enough.
  if (definition === '') throw hidden(name, `SELECT, SHOW VIEW ON ${name.join('.')}`)
  const sources = sourcesIn(definition)
  if (sources.length === 0)
    throw storeError('INVALID_PLAYERS_TABLE', `The view ${name.join('.')} reads no table: ${definition}`)
  const found: BaseTable[] = []
  for (const source of sources) {
    const tables = await baseTablesOf(database, source)
    if (tables.length === 0)
      throw hidden(name, `SELECT on a column of ${source.join('.')}, so that it sees this table`)
    found.push(...tables)
  }
  return found
}

const quotedName = '`((?:[^`]|``)+)`'
const sourcePattern = new RegExp(`\\b(?:from|(?:straight_)?join)\\s+\\(*${quotedName}\\.${quotedName}`, 'gi')

/** What the statement of a view reads. The catalog has each table with its schema, both quoted. */
export function sourcesIn(definition: string): Name[] {
  const withoutTexts = definition.replace(/'(?:[^'\\]|\\.|'')*'/gs, "''")
  return [...withoutTexts.matchAll(sourcePattern)].map(([, schema = '', table = '']) => [
    schema.replaceAll('``', '`'),
    table.replaceAll('``', '`'),
  ])
}

const hidden = (view: Name, need: string) =>
  storeError(
    'INSUFFICIENT_PRIVILEGE',
    `This user may not see which tables the view ${view.join('.')} reads, and so not whether a debit can be rolled ` +
      `back. It needs ${need}`,
  )
