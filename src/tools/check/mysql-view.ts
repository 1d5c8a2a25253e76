/** Which columns of which tables the balances of a view are, on MySQL and MariaDB. */

import { columnIn, sourcesIn } from '../../stores/mysql/base-tables.js'
import type { Values } from '../../stores/mysql/rows.js'
import type { BalanceColumn } from './statements.js'

/** Rows as lists of values. */
export type Ask = (text: string, values?: unknown[]) => Promise<readonly Values[]>

/**
 * @returns the column itself, and where the table is a view, those below it
 * @throws {Error} if this user may not see the definition of the view
 */
export async function columnsBehind(ask: Ask, named: BalanceColumn): Promise<BalanceColumn[]> {
  const { schema, table, column } = named
  const [[definition] = []] = await ask(
    'SELECT VIEW_DEFINITION FROM information_schema.VIEWS WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ?',
    [schema, table],
  )
  if (definition === undefined) return [named]
  if (!definition)
    throw new Error(
      `to see which table the view reads, this user needs SELECT, SHOW VIEW ON ${schema}.${table}`,
    )
  const text = String(definition)
  const below = await Promise.all(
    sourcesIn(text).map(([source, name]) =>
      columnsBehind(ask, { schema: source, table: name, column: columnIn(text, column) }),
    ),
  )
  return [named, ...below.flat()]
}
