/** The check at start: server, schema, players' table, privileges. Every error says what to do. */
import { checkPlayersTable } from './check-players-table.js'
import type { Connections } from './client.js'
import type { BalanceColumn } from './columns.js'
import { PostgresStoreError } from './errors.js'
import { functionName } from './sql/fragments.js'
import { functionsOf } from './sql/schema.js'
import { schemaVersion } from './sql/version.js'
import type { Tables } from './tables.js'

type Ask = Connections['statement']

/** The first version in which a numeric can be compared with Infinity. */
const serverVersionMin = 140_000

/** @throws {PostgresStoreError} */
export async function checkDatabase(ask: Ask, tables: Tables): Promise<BalanceColumn> {
  try {
    await checkServer(ask)
    await checkSchema(ask, tables)
    await checkFunctions(ask, tables)
    const column = await checkPlayersTable(ask, tables)
    await tryFunctions(ask, tables)
    return column
  } catch (error) {
    throw withAdvice(error, tables)
  }
}

/** Problems that show only when a statement runs: missing privileges, and columns that do not exist. */
function withAdvice(error: unknown, { schema, players }: Tables): unknown {
  const cause = (error as { cause?: unknown }).cause
  const { code, message } = (cause ?? {}) as { code?: unknown; message?: unknown }
  if (code === '42501') {
    return new PostgresStoreError(
      'INSUFFICIENT_PRIVILEGE',
      `This role lacks privileges (${message}). It needs USAGE ON SCHEMA ${schema} and on the schema of the players' ` +
        `table; SELECT ON ${schema}.migrations; SELECT, INSERT ON ${schema}.transactions; SELECT, INSERT, UPDATE ON ` +
        `${schema}.bets; USAGE ON SEQUENCE ${schema}.wallet_transaction_ids; EXECUTE on the functions of ${schema}; ` +
        `SELECT on the three columns of ${players.table}, and UPDATE on its balance`,
      { cause },
    )
  }
  if (typeof code === 'string' && code.startsWith('42')) {
    return new PostgresStoreError(
      'SCHEMA_VERSION',
      `The functions do not run in this database (${message})`,
      {
        cause,
      },
    )
  }
  return error
}

async function checkServer(ask: Ask): Promise<void> {
  const [server] = (await ask(
    `SELECT
      current_setting('server_version_num')::integer AS version,
      current_setting('server_version') AS name,
      current_setting('synchronous_commit') AS synchronous_commit`,
    [],
  )) as { version: number; name: string; synchronous_commit: string }[]
  if (server === undefined)
    throw new PostgresStoreError('UNSUPPORTED_CLIENT', 'client.query returned no rows')
  if (server.version < serverVersionMin) {
    throw new PostgresStoreError(
      'SCHEMA_VERSION',
      `PostgreSQL 14 or newer is required; this is ${server.name}`,
    )
  }
  if (server.synchronous_commit === 'off') {
    throw new PostgresStoreError(
      'NOT_DURABLE',
      'synchronous_commit is off: commits that were answered could be lost. Set it to on for this role: ' +
        'ALTER ROLE … SET synchronous_commit = on',
    )
  }
}

const migrateAdvice =
  'run migratePostgres(client, options), or the SQL of postgresMigrationSql(options), with the same options'

async function checkSchema(ask: Ask, { schema, schemaName }: Tables): Promise<void> {
  const [migrations] = (await ask('SELECT to_regclass($1) IS NOT NULL AS exists', [
    `${schema}.migrations`,
  ])) as {
    exists: boolean
  }[]
  if (!migrations?.exists) {
    throw new PostgresStoreError(
      'SCHEMA_MISSING',
      `The schema ${schemaName} has no tables of bet-wallet, or this role lacks USAGE on it: ${migrateAdvice}`,
    )
  }
  const [newest] = (await ask(`SELECT max(version) AS version FROM ${schema}.migrations`, [])) as {
    version: number | null
  }[]
  const version = newest?.version ?? 0
  if (version !== schemaVersion) {
    const advice = version > schemaVersion ? 'use the release that it was migrated for' : migrateAdvice
    throw new PostgresStoreError(
      'SCHEMA_VERSION',
      `The schema ${schemaName} has version ${version}; this release needs ${schemaVersion}: ${advice}`,
    )
  }
}

/** Compares the functions with the catalog: they depend on the options, and on the release. */
async function checkFunctions(ask: Ask, tables: Tables): Promise<void> {
  const { schemaName } = tables
  const stored = (await ask(
    `SELECT p.proname::text AS name, p.prosrc AS body
      FROM pg_catalog.pg_proc p
      JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
      WHERE n.nspname = $1`,
    [schemaName],
  )) as { name: string; body: string }[]
  for (const { name, body } of functionsOf(tables)) {
    if (!stored.some(other => other.name === name && other.body === body)) {
      throw new PostgresStoreError(
        'SCHEMA_VERSION',
        `The function ${schemaName}.${name} was made from other options (players, legacyBets) or by another release: ` +
          migrateAdvice,
      )
    }
  }
}

/** Calls every function once, without changes: PostgreSQL reports the problems that are left. */
async function tryFunctions(ask: Ask, tables: Tables): Promise<void> {
  const { schema } = tables
  const call = (name: string, args: string) =>
    `SELECT * FROM ${schema}.${functionName(tables, name)}(${args})`
  const key = '{"key_index":0,"operation":"placebet","transaction_id":"","player_id":null,"bet_id":""}'
  for (const name of ['load', 'load_confirmed']) await ask(call(name, '$1'), [`[${key}]`])
  await ask(call('commit', '$1, NULL, 1000'), ['{}'])
  await ask(call('commit_one', '$1, NULL, 1000'), ['{}'])
  const [sequence] = (await ask('SELECT has_sequence_privilege($1, $2) AS usable', [
    `${schema}.wallet_transaction_ids`,
    'USAGE',
  ])) as { usable: boolean }[]
  if (!sequence?.usable) {
    throw new PostgresStoreError(
      'INSUFFICIENT_PRIVILEGE',
      `This role may not use the sequence: GRANT USAGE ON ALL SEQUENCES IN SCHEMA ${schema}`,
    )
  }
}
