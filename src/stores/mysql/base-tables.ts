/** The tables behind a view. The catalog has the engine of tables only, and a failed CHECK names a table. */

import { type Right, rightsOn, rightsOnColumns } from '../database/rights.js'
import { storeError } from './errors.js'
import type { Session } from './session.js'
import { quoted } from './sql/quoting.js'

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
  const definition = (await viewOf(database, name)) ?? ''
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

/** The statement of a view; `null` of a table. Empty: this user may not see it. */
async function viewOf(database: Pick<Session, 'rows'>, name: Name): Promise<string | null> {
  const [view] = await database.rows(
    'SELECT VIEW_DEFINITION FROM information_schema.VIEWS WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ?',
    [...name],
  )
  return view === undefined ? null : String(view[0] ?? '')
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

/** As the catalog has it: ``select `a`.`cents` AS `balance` from …``; `null` where it is computed. */
export function columnIn(definition: string, column: string | null): string | null {
  for (const [, name = '', shown = ''] of definition.matchAll(
    /(?:,|select |distinct )(?:`[^`]+`\.)*`([^`]+)` AS `([^`]+)`/gi,
  ))
    if (shown.toLowerCase() === column?.toLowerCase()) return name
  return null
}

const lower = (name: string | null) => name?.toLowerCase() ?? null

/**
 * Whether a unique index of the table below a view has exactly these columns in this order, beside columns
 * that the view compares with constants, as in `WHERE currency = 'EUR'`: no row is found twice, and none by a
 * scan. `null`: the statement of the view is not understood, or this user may not see the index: the catalog
 * hides the columns of a table that it has no right on.
 */
export async function isUniqueBelow(
  database: Pick<Session, 'rows'>,
  name: Name,
  key: readonly string[],
  constants: readonly string[] = [],
): Promise<boolean | null> {
  const view = await viewOf(database, name)
  if (view === null) {
    const fixed = constants.map(lower)
    const text = (columns: readonly (string | null)[]) =>
      JSON.stringify(columns.map(lower).filter(column => !fixed.includes(column)))
    if ((await uniqueIndexesOf(database, name)).some(index => text(index) === text(key))) return true
    const rows = await database.rows(
      'SELECT COLUMN_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ?',
      [...name],
    )
    const seen = rows.map(([column]) => lower(String(column)))
    return key.every(column => seen.includes(lower(column))) ? false : null
  }
  const definition = withoutSubqueries(view)
  const [source, ...others] = sourcesIn(definition)
  const below = [...key, ...constants].map(column => columnIn(definition, column))
  if (source === undefined || others.length > 0 || below.includes(null)) return null
  const columns = below as string[]
  return await isUniqueBelow(database, source, columns.slice(0, key.length), [
    ...columns.slice(key.length),
    ...constantsIn(definition),
  ])
}

/**
 * What shows a user the tables that a view reads, and their unique indexes: `ready` looks for one. Of a
 * table: none.
 */
export async function rightsBelow(database: Pick<Session, 'rows'>, name: Name): Promise<Right[]> {
  const view = await viewOf(database, name)
  if (view === null) return []
  const rights = rightsOn('', name.map(quoted).join('.'), 'SELECT', 'SHOW VIEW')
  for (const source of sourcesIn(view)) {
    const columns = (await uniqueIndexesOf(database, source)).flat().flatMap(column => column ?? [])
    const object = source.map(quoted).join('.')
    rights.push(
      ...(await rightsBelow(database, source)),
      ...rightsOnColumns(object, 'SELECT', [...new Set(columns)].map(quoted)),
    )
  }
  return rights
}

/** The columns of each unique index; `null` for one of which it has the beginning only, or an expression. */
export async function uniqueIndexesOf(
  database: Pick<Session, 'rows'>,
  name: Name,
): Promise<(string | null)[][]> {
  const rows = await database.rows(
    `SELECT INDEX_NAME, COLUMN_NAME, SUB_PART FROM information_schema.STATISTICS
      WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ? AND NON_UNIQUE = 0
      ORDER BY INDEX_NAME, SEQ_IN_INDEX`,
    [...name],
  )
  const indexes = new Map<string, (string | null)[]>()
  for (const [index, column, part] of rows)
    indexes.set(String(index), [
      ...(indexes.get(String(index)) ?? []),
      part === null && column !== null ? String(column) : null,
    ])
  return [...indexes.values()]
}

function withoutSubqueries(definition: string): string {
  const text = definition.replace(/'(?:[^'\\]|\\.|'')*'/gs, "''")
  const shorter = text.replace(/\(select (?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)/gi, 'NULL')
  return shorter === text ? text : withoutSubqueries(shorter)
}

/** The columns that each row of the view has one value of. */
function constantsIn(definition: string): string[] {
  const [, where = ''] = /^.*? where (.*)$/is.exec(definition) ?? []
  const conditions = where.replace(/\bis (?:not )?null\b/gi, '')
  if (/\b(?:or|xor|not|is|case|if)\b/i.test(conditions)) return []
  return [...conditions.matchAll(/`([^`]+)` = (?:_\w+)?(?:''|-?\d+)(?=\)|$| and )/gi)].map(
    ([, name = '']) => name,
  )
}

const hidden = (view: Name, need: string) =>
  storeError(
    'INSUFFICIENT_PRIVILEGE',
    `This user may not see which tables the view ${view.join('.')} reads, and so not whether a debit can be rolled ` +
      `back. It needs ${need}`,
  )
