/** The check of a PostgreSQL server. */
import { missingIndexes } from '../../stores/database/lookup-indexes.js'
import { grantStatements, type Right } from '../../stores/database/rights.js'
import { planOf } from '../../stores/postgres/check-visibility.js'
import type { Ask } from '../../stores/postgres/client.js'
import { createPostgresStore, type PostgresClient, type PostgresTables } from '../../stores/postgres/index.js'
import { asPlayerId } from '../../stores/postgres/sql/fragments.js'
import { createIndex } from '../../stores/postgres/sql/lookups.js'
import { literal, quoted } from '../../stores/postgres/sql/quoting.js'
import { relationsBelow } from '../../stores/postgres/sql/relations-below.js'
import { rightsOf } from '../../stores/postgres/sql/rights.js'
import { type Tables, tablesOf } from '../../stores/postgres/tables.js'
import { transactionsTableOf } from '../../stores/postgres/transactions-table.js'
import { readSchema } from '../init/schema.js'
import type { Rows } from './balances.js'
import { type CheckSettings, checksFinding, type Finding, finding } from './finding.js'
import { trialFinding } from './postgres-trial.js'
import { allFindings, indexesFinding, privilegesFinding } from './ready.js'
import {
  type BalanceColumn,
  notAllowed,
  type Statement,
  statementsFinding,
  switchedOff,
} from './statements.js'

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
  return await allFindings(settings, tables.players, {
    store: allowNotDurable => createPostgresStore(client, { ...options, allowNotDurable }),
    privileges: async () =>
      privilegesFinding(user, await missingGrants(ask, tables, user), 'An owner of the tables'),
    trial: () => trialFinding(ask, tables, user),
    lookupIndexes: async () =>
      indexesFinding(
        missingIndexes(await transactionsTableOf(ask, tables)).map(index =>
          createIndex(tables, index, 'CONCURRENTLY'),
        ),
        'The owner of the tables',
      ),
    rows: postgresRows(ask),
    bets: {
      bets: `${tables.schema}.bets`,
      isAccountOfBet: `player.${tables.players.columns.id} = ${asPlayerId(tables, 'bet.player_id')}
        AND player.${tables.players.columns.currency}::text = bet.currency`,
    },
    behind: () => columnsOf(ask, tables, 'id'),
    schema: () => readSchema({ engine: 'postgres', ask }),
    checks: () => checksIn(ask, tables),
    statements: () => statementsIn(ask, tables, user),
  })
}

async function missingGrants(ask: Ask, tables: Tables, user: string): Promise<string[]> {
  const missing: Right[] = []
  for (const right of rightsOf(tables, 'store')) if (!(await isHeld(ask, right))) missing.push(right)
  const [routines] = await ask<{ closed: number }>(
    `SELECT count(*)::integer AS closed FROM pg_catalog.pg_proc p
      JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
      WHERE n.nspname = $1 AND NOT has_function_privilege(p.oid, 'EXECUTE')`,
    [tables.schemaName],
  )
  const grantee = quoted(user)
  return [
    ...grantStatements(missing, grantee, { severalObjects: true }),
    ...(routines?.closed ? [`GRANT EXECUTE ON ALL ROUTINES IN SCHEMA ${tables.schema} TO ${grantee}`] : []),
  ]
}

type Held = { held: boolean | null }

/** Also where the object does not exist: another finding says so. */
async function isHeld(ask: Ask, { privilege, column, kind, object }: Right): Promise<boolean> {
  const [schema = '', name = ''] = [...object.matchAll(/"((?:[^"]|"")*)"|([^."]+)/g)].map(
    ([, inQuotes, plain = '']) => inQuotes?.replaceAll('""', '"') ?? plain,
  )
  const held = kind === 'SEQUENCE' ? 'sequence' : 'table'
  const ofClass = 'FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace'
  const rows = await (kind === 'SCHEMA'
    ? ask<Held>(
        'SELECT has_schema_privilege(n.oid, $2) AS held FROM pg_catalog.pg_namespace n WHERE n.nspname = $1',
        [schema, privilege],
      )
    : column === null
      ? ask<Held>(
          `SELECT has_${held}_privilege(c.oid, $3) AS held ${ofClass} WHERE n.nspname = $1 AND c.relname = $2`,
          [schema, name, privilege],
        )
      : ask<Held>(
          `SELECT has_column_privilege(c.oid, a.attnum, $3) AS held ${ofClass}
            JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid
            WHERE n.nspname = $1 AND c.relname = $2 AND quote_ident(a.attname) = ANY ($4)`,
          [schema, name, privilege, [column, column.slice(1, -1)]],
        ))
  return rows.every(row => row.held !== false)
}

/** The tables and views below the players' table, that itself among them. */
const withTablesBelow = (tables: Tables) => `WITH RECURSIVE
  ${relationsBelow(`SELECT ${literal(tables.players.table)}::regclass::oid`)}`

export const postgresRows = (ask: Ask): Rows => ({
  ask: async text => (await ask<object>(text)).map(row => Object.values(row)),
  text: expression => `${expression}::text`,
  exact: expression => expression,
})

async function checksIn(ask: Ask, tables: Tables): Promise<Finding> {
  const rows = await ask<{ text: string }>(`${withTablesBelow(tables)}
    SELECT DISTINCT format('%s: %s %s', relation.oid::regclass, k.conname, pg_get_constraintdef(k.oid)) AS text
    FROM relation
    JOIN pg_catalog.pg_constraint k ON k.contype = 'c' AND k.conislocal AND (k.conrelid = relation.oid
      OR k.contypid IN (SELECT atttypid FROM pg_catalog.pg_attribute
        WHERE attrelid = relation.oid AND NOT attisdropped))
    ORDER BY 1`)
  return rows.length === 0
    ? finding('CHECKs', 'ok', "none on the players' table, nor below it")
    : checksFinding(rows.map(({ text }) => text))
}

async function statementsIn(ask: Ask, tables: Tables, user: string): Promise<Finding> {
  const [extension] = await ask<{ schema: string; hasInfo: boolean; track: string | null; seesAll: boolean }>(
    `SELECT quote_ident(n.nspname) AS schema,
        to_regclass(quote_ident(n.nspname) || '.pg_stat_statements_info') IS NOT NULL AS "hasInfo",
        current_setting('pg_stat_statements.track', true) AS track,
        pg_has_role('pg_read_all_stats', 'USAGE') AS "seesAll"
      FROM pg_catalog.pg_extension e
      JOIN pg_catalog.pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'pg_stat_statements'`,
  )
  if (extension === undefined)
    return switchedOff(
      'the extension pg_stat_statements is not in this database: CREATE EXTENSION pg_stat_statements',
    )
  const { schema, hasInfo, track, seesAll } = extension
  if (!track) return switchedOff('pg_stat_statements is not among the shared_preload_libraries of the server')
  if (track === 'none') return switchedOff('pg_stat_statements.track is none')
  if (!seesAll) return notAllowed(`GRANT pg_read_all_stats TO ${quoted(user)}`)
  const columns = await columnsOf(ask, tables, 'balance')
  const since = hasInfo
    ? await recordedSince(ask, schema)
    : ['ALTER EXTENSION pg_stat_statements UPDATE shows since when they are recorded']
  return statementsFinding({
    statements: await recordedIn(ask, schema, columns),
    columns,
    own: `${tables.players.table} player`,
    about: [
      ...since,
      ...(track === 'all' ? [] : [`those inside functions are not (pg_stat_statements.track is ${track})`]),
    ].join(', '),
    forget:
      `PostgreSQL does not record when a statement was last seen. Forget one that you have corrected: SELECT ` +
      `${schema}.pg_stat_statements_reset(0, 0, <queryid>), and look whether it comes back`,
  })
}

type RecordedRow = { text: string; id: string; calls: string; users: string | null; since: string | null }

async function recordedIn(ask: Ask, schema: string, columns: readonly BalanceColumn[]): Promise<Statement[]> {
  const rows = await ask<RecordedRow>(
    `SELECT s.query AS text, s.queryid::text AS id, sum(s.calls)::text AS calls,
        string_agg(DISTINCT r.rolname::text, ', ') AS users, min(to_json(s) ->> 'stats_since') AS since
      FROM ${schema}.pg_stat_statements s
      LEFT JOIN pg_catalog.pg_roles r ON r.oid = s.userid
      WHERE s.dbid = (SELECT oid FROM pg_catalog.pg_database WHERE datname = current_database())
        AND EXISTS (SELECT FROM unnest($1::text[]) name WHERE strpos(lower(s.query), lower(name)) > 0)
      GROUP BY s.query, s.queryid`,
    [columns.map(({ table }) => table)],
  )
  return rows.map(({ text, id, calls, users, since }) => ({
    text,
    calls: Number(calls),
    details: [
      ...(users === null ? [] : [`by ${users}`]),
      // From version 1.11 of the extension on.
      ...(since === null ? [] : [`since ${since.slice(0, 16).replace('T', ' ')}`]),
      `queryid ${id}`,
    ],
  }))
}

/** The extension has this view from its version 1.9 on; pg_upgrade keeps an older one. */
async function recordedSince(ask: Ask, schema: string): Promise<string[]> {
  const [info] = await ask<{ since: string; forgotten: string }>(
    `SELECT to_char(stats_reset AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI') AS since, dealloc::text AS forgotten
      FROM ${schema}.pg_stat_statements_info`,
  )
  return [
    `recorded since ${info?.since} UTC`,
    ...(info?.forgotten === '0' ? [] : ['the rarest were forgotten (pg_stat_statements.max)']),
  ]
}

/**
 * The column of the options, and that of each table below: its name is in the plan of an update, which is not
 * executed. A trigger of a view may write to any.
 */
async function columnsOf(ask: Ask, tables: Tables, of: 'id' | 'balance'): Promise<BalanceColumn[]> {
  const { table, tableName, columns, columnNames } = tables.players
  const relations = await ask<{ schema: string; table: string; kind: string }>(`${withTablesBelow(tables)}
    SELECT n.nspname AS schema, c.relname AS table, c.relkind::text AS kind FROM relation
    JOIN pg_catalog.pg_class c ON c.oid = relation.oid
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace`)
  const plan = await planOf(
    ask,
    `UPDATE ${table} SET ${columns.balance} = ${columns.balance} RETURNING ${columns[of]}`,
  )
  const output = plan.Output?.[0] ?? ''
  const below = /^(?:(?:[\w$]+|"(?:[^"]|"")*")\.)?("(?:[^"]|"")*"|[\w$]+)$/u.exec(output)?.[1]
  const isNamed = (schema?: string, name?: string) => schema === tableName[0] && name === tableName[1]
  const target = isNamed(plan.Schema, plan['Relation Name']) ? undefined : below
  const column = target?.replace(/^"(.*)"$/, '$1').replaceAll('""', '"') ?? null
  const isView = relations.some(each => isNamed(each.schema, each.table) && each.kind === 'v')
  return relations.map(each => ({
    ...each,
    column: isView && !isNamed(each.schema, each.table) ? column : columnNames[of],
  }))
}
