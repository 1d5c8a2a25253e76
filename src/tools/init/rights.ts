/** Rights of the store's user, beside those that `bet-wallet grants` prints. */
import { type Mapping, needsView, playersOf, viewName } from './mapping.js'
import { sqlName } from './source-text.js'

/** To read who may bet, and on MySQL and MariaDB what is below a view, as `ready()` does. */
export function moreGrants(mapping: Mapping, role: string): string[] {
  const { engine, table, id, below, codeBehind, mayBet } = mapping
  const name = (text: string) => sqlName(engine, text)
  if (engine === 'postgres' || !(needsView(mapping) || table.isView)) {
    const columns = mayBet.map(({ column }) => name(column.name)).join(', ')
    const relation = needsView(mapping) ? viewName : table.name
    return columns === ''
      ? []
      : [`GRANT SELECT (${columns}) ON ${name(table.schema)}.${name(relation)} TO ${name(role)};`]
  }
  const grant = (privilege: string, relation: string, schema = table.schema) =>
    `GRANT ${privilege} ON ${name(schema)}.${name(relation)} TO ${name(role)};`
  const view = playersOf(mapping).table.slice(table.schema.length + 1)
  const own = needsView(mapping) && !table.isView ? [grant(`SELECT (${name(id.name)})`, table.name)] : []
  const views = [...new Set([view, ...(table.isView ? [table.name] : [])])]
  return [
    ...views.map(each => grant('SELECT, SHOW VIEW', each)),
    ...own,
    ...[...below, ...(codeBehind === null ? [] : [codeBehind.to])].map(
      ({ schema, name: relation, isView, columns }) =>
        grant(isView ? 'SELECT, SHOW VIEW' : `SELECT (${name(columns[0]?.name ?? '')})`, relation, schema),
    ),
    ...(table.isView && below.length === 0
      ? ['-- And SELECT on a column of each table that the view reads: this user may not see them.']
      : []),
  ]
}
