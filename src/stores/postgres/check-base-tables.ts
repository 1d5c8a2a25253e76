/** The check of what is below the players' table: the tables of a view, partitions, triggers and rules. */
import { wantedIndex, warnUnproven } from '../database/players-columns.js'
import { failOf, hasUniqueIndex } from './check-players-table.js'
import { type PlayersTarget, planOf } from './check-visibility.js'
import type { Ask } from './client.js'
import { storeError } from './errors.js'
import { literal, quoted } from './sql/quoting.js'
import { ownRelations, relationsBelow } from './sql/relations-below.js'
import type { Tables } from './tables.js'

/** @throws {StoreError} `INVALID_PLAYERS_TABLE` */
export async function checkRules(ask: Ask, { players }: Tables): Promise<void> {
  const [table] = await ask<{ name: string }>(
    `WITH RECURSIVE ${relationsBelow(`SELECT ${literal(players.table)}::regclass::oid`)}
    SELECT c.oid::regclass::text AS name
    FROM relation
    JOIN pg_catalog.pg_rewrite rule ON rule.ev_class = relation.oid AND rule.ev_type = '2' -- UPDATE
    JOIN pg_catalog.pg_class c ON c.oid = relation.oid
    LIMIT 1`,
  )
  if (table !== undefined)
    failOf(players)(`${table.name} has a rule for UPDATE, so that it may not change the balance`)
}

/**
 * @returns whether triggers of the operator may run in a commit
 * @throws {StoreError} `INVALID_PLAYERS_TABLE`
 */
export async function checkBaseTables(ask: Ask, tables: Tables, target: PlayersTarget): Promise<boolean> {
  const { players } = tables
  const relations = await ask<{ name: string; kind: string; has_triggers: boolean }>(
    `WITH RECURSIVE ${relationsBelow(`${ownRelations('bets', 'transactions')} OR n.nspname = $2 AND c.relname = $3`)}
    SELECT c.oid::regclass::text AS name, c.relkind::text AS kind,
      EXISTS (
        SELECT FROM pg_catalog.pg_trigger t
        WHERE t.tgrelid = c.oid AND NOT t.tgisinternal AND t.tgenabled <> 'D'
      ) AS has_triggers
    FROM relation
    JOIN pg_catalog.pg_class c ON c.oid = relation.oid`,
    [tables.schemaName, ...target.table],
  )
  for (const { name, kind } of relations) {
    if (kind === 'f')
      failOf(players)(
        `${name} is a foreign table: its server commits before this one, and a debit may be done twice`,
      )
    if (kind === 'v')
      failOf(players)(
        `${name} is a view with an INSTEAD OF trigger, so that the balance may not be the one written`,
      )
  }
  await checkUniqueBelow(ask, players, target)
  await checkOwnTriggers(ask, tables)
  return relations.some(each => each.has_triggers)
}

/** A BEFORE trigger of a row may drop a record, or change its id: a retry would then be a new transaction. */
async function checkOwnTriggers(ask: Ask, { schemaName }: Tables): Promise<void> {
  const [trigger] = await ask<{ table: string; name: string }>(
    `WITH RECURSIVE ${relationsBelow(ownRelations('bets', 'transactions'))}
    SELECT t.tgrelid::regclass::text AS table, t.tgname::text AS name
    FROM relation
    JOIN pg_catalog.pg_trigger t ON t.tgrelid = relation.oid
    WHERE NOT t.tgisinternal AND t.tgenabled <> 'D' AND t.tgtype & 3 = 3 -- BEFORE, FOR EACH ROW
    LIMIT 1`,
    [schemaName],
  )
  if (trigger === undefined) return
  throw storeError(
    'SCHEMA_VERSION',
    `${trigger.table} has the BEFORE trigger ${trigger.name}, which may change or drop what is recorded. Make it an ` +
      'AFTER trigger',
  )
}

/** A view has no index: the columns of its base table must have it, or as many as its conditions leave. */
async function checkUniqueBelow(
  ask: Ask,
  players: Tables['players'],
  { table, id, currency, isFiltered }: PlayersTarget,
): Promise<void> {
  if (players.tableName.join('.') === table.join('.')) return
  const outputs = players.accountPerCurrency ? [id, currency] : [id]
  const [names, isPlain] = [outputs.map(columnOf), outputs.every(isColumn)]
  if (await hasUniqueIndex(ask, table, names)) return
  const isProven = await isUniqueByPlan(ask, players)
  // Without a condition it is another index of these columns, by which a player may be found by a scan only.
  if (isProven && (isFiltered || !isPlain)) return
  const wanted = wantedIndex(names)
  if (players.accountPerCurrency && !isPlain)
    return warnUnproven(players, `${table.join('.')} has no unique index on ${wanted}`)
  failOf(players)(
    isPlain
      ? `the view may return an account twice: there is no unique index on ${wanted} in ${table.join('.')}. Create it, ` +
          `and declare it in your ORM: CREATE UNIQUE INDEX ON ${table.map(quoted).join('.')} (${names.map(quoted).join(', ')})`
      : 'the view computes the id, so that no index proves that a player is found once: it must be a column of the table',
  )
}

const columnPattern = /^(?:(?:[\w$]+|"(?:[^"]|"")*")\.)?([\w$]+|"(?:[^"]|"")*")$/u
const isColumn = (output: string) => columnPattern.test(output)

/** Without the alias of the table or of a partition. What is no column has no index. */
function columnOf(output: string): string {
  const name = columnPattern.exec(output)?.[1] ?? output
  return name.startsWith('"') ? name.slice(1, -1).replaceAll('""', '"') : name
}

/**
 * Whether PostgreSQL removes a join to the table, which it does where it can prove that no row is found
 * twice: also by an index with more columns, which the view compares with constants.
 */
async function isUniqueByPlan(
  ask: Ask,
  { table, columns: { id, currency }, accountPerCurrency }: Tables['players'],
): Promise<boolean> {
  const same = (accountPerCurrency ? [id, currency] : [id]).map(name => `player.${name} = asked.${name}`)
  const plan = await planOf(
    ask,
    `SELECT FROM json_populate_recordset(NULL::${table}, '[]') asked LEFT JOIN ${table} player ON ${same.join(' AND ')}`,
  )
  return plan.Plans === undefined
}
