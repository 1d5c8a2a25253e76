/** The check of a PostgreSQL server. */
import { missingIndexes } from '../../stores/database/lookup-indexes.js'
import { grantStatements, type Right } from '../../stores/database/rights.js'
import { planOf } from '../../stores/postgres/check-visibility.js'
import { createPostgresStore, type PostgresClient, type PostgresTables } from '../../stores/postgres/index.js'
import { createIndex } from '../../stores/postgres/sql/lookups.js'
import { quoted } from '../../stores/postgres/sql/quoting.js'
import { rightsOf } from '../../stores/postgres/sql/rights.js'
import { type Tables, tablesOf } from '../../stores/postgres/tables.js'
import { transactionsTableOf } from '../../stores/postgres/transactions-table.js'
import { type CheckSettings, type Finding, finding } from './finding.js'
import { trialFinding } from './postgres-trial.js'
import { allFindings } from './ready.js'
import { type Statement, statementsFinding, switchedOff } from './statements.js'
import type { BalanceColumnName } from './write-back.js'

/** Rows as objects. */
type Ask = (text: string, values: unknown[]) => Promise<unknown[]>

/**
 * All but the connection. A check that is not possible is a finding.
 *
 * @throws {StoreError} `INVALID_OPTIONS`
 */
export async function checkPostgres(
  client: PostgresClient,
  ask: Ask,
  options: PostgresTables,
  { user, settings }: { user: string; settings: CheckSettings },
): Promise<Finding[]> {
  const tables = tablesOf(options)
  return await allFindings(settings, {
    async ready(allowNotDurable) {
      const store = createPostgresStore(client, { ...options, allowNotDurable })
      await store.ready()
      return store.stats.durability
    },
    privileges: () => privilegesFinding(ask, tables, user),
    trial: () => trialFinding(ask, tables, user),
    lookupIndexes: () => indexesFinding(ask, tables),
    statements: () => statementsIn(ask, tables, { user, locked: settings.locked }),
  })
}

async function privilegesFinding(ask: Ask, tables: Tables, user: string): Promise<Finding> {
  const missing: Right[] = []
  for (const right of rightsOf(tables, 'store')) if (!(await isHeld(ask, right))) missing.push(right)
  const [routines] = (await ask(
    `SELECT count(*)::integer AS closed FROM pg_catalog.pg_proc p
      JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
      WHERE n.nspname = $1 AND NOT has_function_privilege(p.oid, 'EXECUTE')`,
    [tables.schemaName],
  )) as { closed: number }[]
  const grantee = quoted(user)
  const lines = [
    ...grantStatements(missing, grantee, { severalObjects: true }),
    ...(routines?.closed ? [`GRANT EXECUTE ON ALL ROUTINES IN SCHEMA ${tables.schema} TO ${grantee}`] : []),
  ]
  if (lines.length === 0) return finding('privileges', 'ok', `${user} has the rights of the store`)
  return finding(
    'privileges',
    'problem',
    `${user} lacks rights. An owner of the tables runs:`,
    lines.map(line => `${line};`),
  )
}

/** Also where the object does not exist: another finding says so. */
async function isHeld(ask: Ask, { privilege, column, kind, object }: Right): Promise<boolean> {
  const [schema = '', name = ''] = [...object.matchAll(/"((?:[^"]|"")*)"|([^."]+)/g)].map(
    ([, inQuotes, plain = '']) => inQuotes?.replaceAll('""', '"') ?? plain,
  )
  const held = kind === 'SEQUENCE' ? 'sequence' : 'table'
  const ofClass = 'FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace'
  const rows = (await (kind === 'SCHEMA'
    ? ask(
        'SELECT has_schema_privilege(n.oid, $2) AS held FROM pg_catalog.pg_namespace n WHERE n.nspname = $1',
        [schema, privilege],
      )
    : column === null
      ? ask(
          `SELECT has_${held}_privilege(c.oid, $3) AS held ${ofClass} WHERE n.nspname = $1 AND c.relname = $2`,
          [schema, name, privilege],
        )
      : ask(
          `SELECT has_column_privilege(c.oid, a.attnum, $3) AS held ${ofClass}
            JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid
            WHERE n.nspname = $1 AND c.relname = $2 AND quote_ident(a.attname) = ANY ($4)`,
          [schema, name, privilege, [column, column.slice(1, -1)]],
        ))) as { held: boolean | null }[]
  return rows.every(row => row.held !== false)
}

async function indexesFinding(ask: Ask, tables: Tables): Promise<Finding> {
  const missing = missingIndexes(await transactionsTableOf(ask, tables))
  if (missing.length === 0) return finding('lookup indexes', 'ok', 'of a bet, of a player, by time')
  return finding(
    'lookup indexes',
    'problem',
    'Lookups and the reconciliation would read the whole table. The owner of the tables runs, while the wallet runs:',
    missing.map(index => `${createIndex(tables, index, 'CONCURRENTLY')};`),
  )
}

async function statementsIn(
  ask: Ask,
  tables: Tables,
  { user, locked }: { user: string; locked: readonly string[] },
): Promise<Finding> {
  const [extension] = (await ask(
    `SELECT quote_ident(n.nspname) AS schema,
        to_regclass(quote_ident(n.nspname) || '.pg_stat_statements_info') IS NOT NULL AS "hasInfo"
      FROM pg_catalog.pg_extension e
      JOIN pg_catalog.pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'pg_stat_statements'`,
    [],
  )) as { schema: string; hasInfo: boolean }[]
  if (extension === undefined)
    return switchedOff(
      'the extension pg_stat_statements is not in this database: CREATE EXTENSION pg_stat_statements',
    )
  const [server] = (await ask(
    `SELECT current_setting('pg_stat_statements.track', true) AS track,
      pg_has_role('pg_read_all_stats', 'USAGE') AS sees_all`,
    [],
  )) as { track: string | null; sees_all: boolean }[]
  if (!server?.track)
    return switchedOff('pg_stat_statements is not among the shared_preload_libraries of the server')
  if (server.track === 'none') return switchedOff('pg_stat_statements.track is none')
  const columns = await columnsOf(ask, tables)
  const rows = (await ask(
    `SELECT s.query AS text, sum(s.calls)::text AS calls, min(r.rolname::text) AS user
      FROM ${extension.schema}.pg_stat_statements s
      LEFT JOIN pg_catalog.pg_roles r ON r.oid = s.userid
      WHERE s.dbid = (SELECT oid FROM pg_catalog.pg_database WHERE datname = current_database())
        AND EXISTS (SELECT FROM unnest($1::text[]) name WHERE strpos(lower(s.query), lower(name)) > 0)
      GROUP BY s.query`,
    [columns.map(({ table }) => table)],
  )) as { text: string; calls: string; user: string | null }[]
  const since = extension.hasInfo
    ? await recordedSince(ask, extension.schema)
    : ['ALTER EXTENSION pg_stat_statements UPDATE shows since when they are recorded']
  return statementsFinding(
    rows.map((row): Statement => ({ ...row, calls: Number(row.calls), schemaDefault: null })),
    columns,
    {
      locked,
      about: [
        ...since,
        ...(server.track === 'all'
          ? []
          : [`those inside functions are not (pg_stat_statements.track is ${server.track})`]),
      ].join(', '),
      grant: server.sees_all ? null : `GRANT pg_read_all_stats TO ${quoted(user)}`,
    },
  )
}

/** The extension has this view from its version 1.9 on; pg_upgrade keeps an older one. */
async function recordedSince(ask: Ask, schema: string): Promise<string[]> {
  const [info] = (await ask(
    `SELECT to_char(stats_reset AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI') AS since, dealloc::text AS forgotten
      FROM ${schema}.pg_stat_statements_info`,
    [],
  )) as { since: string; forgotten: string }[]
  return [
    `recorded since ${info?.since} UTC`,
    ...(info?.forgotten === '0' ? [] : ['the rarest were forgotten (pg_stat_statements.max)']),
  ]
}

/**
 * The column of the options, and where the table is a view, that of the table to which an update writes. The
 * update is planned, not executed.
 *
 * @throws {Error} where the plan does not tell it
 */
async function columnsOf(ask: Ask, { players }: Tables): Promise<BalanceColumnName[]> {
  const [schema, table] = players.tableName
  const { balance } = players.columns
  const named = { schema, table, column: players.columnNames.balance }
  const plan = await planOf(ask, `UPDATE ${players.table} SET ${balance} = ${balance}`)
  const [relation] = (await ask(
    `SELECT c.relkind::text AS kind FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
      WHERE n.nspname = $1 AND c.relname = $2`,
    [...players.tableName],
  )) as { kind: string }[]
  if (relation?.kind !== 'v') return [named]
  const output = plan.Plans?.[0]?.Output?.[0] ?? ''
  const below = /^(?:(?:[\w$]+|"(?:[^"]|"")*")\.)?("(?:[^"]|"")*"|[\w$]+)$/u.exec(output)?.[1]
  const base = { schema: plan.Schema, table: plan['Relation Name'] }
  if (!base.schema || !base.table || below === undefined || (base.schema === schema && base.table === table))
    throw new Error(`the plan of an update does not tell which table the view ${schema}.${table} writes to`)
  const column = below.startsWith('"') ? below.slice(1, -1).replaceAll('""', '"') : below
  return [named, { schema: base.schema, table: base.table, column }]
}
