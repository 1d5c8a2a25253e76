/** The check of what is below the players' table: the tables of a view, partitions, triggers and rules. */
import { type Ask, planOf } from './check-visibility.js'
import { PostgresStoreError } from './errors.js'
import { relationsBelow } from './sql/balance-rule.js'
import { literal } from './sql/quoting.js'
import type { Tables } from './tables.js'

/**
 * @param target schema and name of the table that an update of a player writes to
 * @returns whether triggers of the operator may run in a commit
 * @throws {PostgresStoreError} `INVALID_PLAYERS_TABLE`
 */
export async function checkBaseTables(
  ask: Ask,
  tables: Tables,
  target: readonly [string, string],
): Promise<boolean> {
  const { players } = tables
  const fail = (problem: string): never => {
    throw new PostgresStoreError(
      'INVALID_PLAYERS_TABLE',
      `The players' table ${players.tableName.join('.')}: ${problem}`,
    )
  }
  const [view] = (await ask(
    `WITH RECURSIVE ${relationsBelow(`SELECT ${literal(players.table)}::regclass::oid`)}
    SELECT c.oid::regclass::text AS name
    FROM relation
    JOIN pg_catalog.pg_rewrite rule ON rule.ev_class = relation.oid AND rule.ev_type = '2'
    JOIN pg_catalog.pg_class c ON c.oid = relation.oid
    LIMIT 1`,
    [],
  )) as { name: string }[]
  if (view !== undefined) fail(`${view.name} has a rule for UPDATE, so that it may not change the balance`)

  const relations = (await ask(
    `WITH RECURSIVE ${relationsBelow(`
      SELECT c.oid
      FROM pg_catalog.pg_class c
      JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
      WHERE n.nspname = $1 AND c.relname IN ('bets', 'transactions')
        OR n.nspname = $2 AND c.relname = $3
    `)}
    SELECT c.oid::regclass::text AS name, c.relkind::text AS kind,
      EXISTS (
        SELECT FROM pg_catalog.pg_trigger t
        WHERE t.tgrelid = c.oid AND NOT t.tgisinternal AND t.tgenabled <> 'D'
      ) AS has_triggers
    FROM relation
    JOIN pg_catalog.pg_class c ON c.oid = relation.oid`,
    [tables.schemaName, ...target],
  )) as { name: string; kind: string; has_triggers: boolean }[]
  for (const { name, kind } of relations) {
    if (kind === 'f')
      fail(`${name} is a foreign table: its server commits before this one, and a debit may be done twice`)
    if (kind === 'v')
      fail(`${name} is a view with an INSTEAD OF trigger, so that the balance may not be the one written`)
  }
  await checkUniqueBelow(ask, tables, { target, fail })
  return relations.some(each => each.has_triggers)
}

/** A view has no index: the column of its base table must have it. */
async function checkUniqueBelow(
  ask: Ask,
  { players: { table, tableName, columns } }: Tables,
  { target, fail }: { target: readonly [string, string]; fail: (problem: string) => never },
): Promise<void> {
  if (tableName.join('.') === target.join('.')) return
  // Of one table: the column has no alias, or the alias of the table.
  const { Output: [id = ''] = [] } = await planOf(ask, `SELECT ${columns.id} FROM ${table}`)
  const name = /(?:^|\.)("(?:[^"]|"")*"|[^".]+)$/.exec(id)?.[1] ?? ''
  const column = name.startsWith('"') ? name.slice(1, -1).replaceAll('""', '"') : name
  const [unique] = await ask(
    `SELECT
    FROM pg_catalog.pg_class c
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attname = $3
    JOIN pg_catalog.pg_index x ON x.indrelid = c.oid AND x.indkey[0] = a.attnum
    WHERE n.nspname = $1 AND c.relname = $2
      AND x.indisunique AND x.indisvalid AND x.indpred IS NULL AND x.indnkeyatts = 1`,
    [...target, column],
  )
  if (unique === undefined)
    fail(`the view may return a player twice: there is no unique index on ${id} alone in ${target.join('.')}`)
}
