/** Which column of which table the balances of a view are, on MySQL and MariaDB. */
import { sourcesIn } from '../../stores/mysql/base-tables.js'
import type { BalanceColumnName } from './write-back.js'

/** Rows as lists of values. */
type Ask = (text: string, values?: unknown[]) => Promise<readonly (readonly (string | number | null)[])[]>

/**
 * @returns the column itself, and where the table is a view, those below it
 * @throws {Error} if the catalog does not show them to this user, or the column of the view is computed
 */
export async function columnsBehind(ask: Ask, named: BalanceColumnName): Promise<BalanceColumnName[]> {
  const { schema, table, column } = named
  const inCatalog = (what: string, from: string) =>
    ask(`SELECT ${what} FROM information_schema.${from} WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ?`, [
      schema,
      table,
    ])
  const [[type] = []] = await inCatalog('TABLE_TYPE', 'TABLES')
  if (type === undefined)
    throw new Error(
      `${schema}.${table} does not exist, or this user needs SELECT on a column of it to see it`,
    )
  if (type !== 'VIEW') return [named]
  const [[definition] = []] = await inCatalog('VIEW_DEFINITION', 'VIEWS')
  if (!definition)
    throw new Error(
      `to see which table the view reads, this user needs SELECT, SHOW VIEW ON ${schema}.${table}`,
    )
  const below = columnIn(String(definition), column)
  if (below === null)
    throw new Error(`the definition of the view does not tell which column ${schema}.${table}.${column} is`)
  return [named, ...(await columnsBehind(ask, below))]
}

const quotedName = '`(?:[^`]|``)+`'
const namePattern = /`(?:[^`]|``)+`/g
const plain = (quoted: string) => quoted.slice(1, -1).replaceAll('``', '`')

/**
 * The column that a view calls `column`; `null` if that is computed.
 *
 * @param definition as the catalog has it: ``select `a`.`cents` AS `balance` from `pam`.`accounts` `a` ``
 */
export function columnIn(definition: string, column: string): BalanceColumnName | null {
  const columns = definition.matchAll(
    new RegExp(
      `(?<=\\bselect (?:distinct )?|,)((?:${quotedName}\\.){1,2}${quotedName}) AS (${quotedName})`,
      'gi',
    ),
  )
  const found = [...columns].find(([, , name = '']) => plain(name).toLowerCase() === column.toLowerCase())
  const names = [...(found?.[1] ?? '').matchAll(namePattern)].map(([name]) => plain(name))
  const [first, second, third] = names
  if (first === undefined || second === undefined) return null
  if (third !== undefined) return { schema: first, table: second, column: third }
  const source = sourceCalled(first, definition)
  return source && { ...source, column: second }
}

/** The table that has this alias: `` `pam`.`accounts` `a` ``. */
function sourceCalled(alias: string, definition: string): { schema: string; table: string } | null {
  const sources = sourcesIn(definition)
  const [only] = sources
  if (only !== undefined && sources.length === 1) return { schema: only[0], table: only[1] }
  const named = [
    ...definition.matchAll(new RegExp(`(${quotedName})\\.(${quotedName}) (${quotedName})`, 'g')),
  ].find(([, , , name = '']) => plain(name) === alias)
  return named === undefined ? null : { schema: plain(named[1] ?? ''), table: plain(named[2] ?? '') }
}
