/** The check at start: server, schema, players' table, privileges. Every error says what to do. */

import { columnsOf } from '../database/columns.js'
import { StoreError } from '../database/errors.js'
import { otherTry } from '../database/registered-options.js'
import { rightsText } from '../database/rights.js'
import type { Findings } from '../database/store.js'
import { checkBaseTables, checkRules } from './check-base-tables.js'
import { checkSettings, checkTables } from './check-durability.js'
import { checkPlayersTable } from './check-players-table.js'
import { checkVisibility } from './check-visibility.js'
import type { Ask } from './client.js'
import { serverErrorOf } from './driver-errors.js'
import { check, hasCode, storeError } from './errors.js'
import { attributesOf, creditFunctionName, functionName } from './sql/fragments.js'
import { besideHint, optionsProblem } from './sql/options.js'
import { literal } from './sql/quoting.js'
import { rightsOf } from './sql/rights.js'
import { functionsOf } from './sql/schema.js'
import { schemaVersion } from './sql/version.js'
import type { Tables } from './tables.js'

/** The first version in which a numeric can be compared with Infinity. */
const serverVersionMin = 140_000

export interface PostgresFindings extends Findings {
  /** Whether triggers may run in a commit. */
  hasTriggers: boolean
  /** Whether no policy hid rows from this role: if one does later, a load fails. */
  everyRow: boolean
}

/** @throws {StoreError} */
export async function checkDatabase(
  ask: Ask,
  tables: Tables,
  allowNotDurable: boolean,
): Promise<PostgresFindings> {
  try {
    await checkServer(ask)
    if (!allowNotDurable) await checkSettings(ask)
    await checkSchema(ask, tables)
    await checkFunctions(ask, tables)
    const column = await checkPlayersTable(ask, tables)
    await checkRules(ask, tables)
    const everyRow = await tryFunctions(ask, tables)
    const target = await checkVisibility(ask, tables)
    if (!allowNotDurable) await checkTables(ask, tables, target.table)
    const hasTriggers = await checkBaseTables(ask, tables, target)
    await checkSequence(ask, tables)
    if (tables.outbox) await checkOrderOfEvents(ask, tables)
    return { columns: columnsOf(tables.players, column, check), column, hasTriggers, everyRow }
  } catch (error) {
    throw withAdvice(error, tables)
  }
}

/** Problems that show only when a statement runs: missing privileges, and columns that do not exist. */
function withAdvice(error: unknown, tables: Tables): unknown {
  const { cause } = error as { cause?: unknown }
  const { code, message } = serverErrorOf(cause) ?? { code: '', message: '' }
  if (code === '42501') {
    return storeError(
      'INSUFFICIENT_PRIVILEGE',
      `This role lacks privileges (${message}). It needs ${rightsText(rightsOf(tables, 'store'))}; EXECUTE ON ALL ROUTINES ` +
        `IN SCHEMA ${tables.schema}`,
      { cause },
    )
  }
  if (code.startsWith('42')) {
    return storeError('SCHEMA_VERSION', `The functions do not run in this database (${message})`, {
      cause,
    })
  }
  return error
}

async function checkServer(ask: Ask): Promise<void> {
  const [server] = await ask<
    { version: number } & Record<'name' | 'encoding' | 'search_path' | 'schemas', string>
  >(
    `SELECT
      current_setting('server_version_num')::integer AS version,
      current_setting('server_version') AS name,
      current_setting('server_encoding') AS encoding,
      current_setting('search_path') AS search_path,
      pg_catalog.array_to_json(pg_catalog.current_schemas(true))::text AS schemas`,
  )
  if (server === undefined) throw storeError('UNSUPPORTED_CLIENT', 'client.query returned no rows')
  if (server.version < serverVersionMin) {
    throw storeError('DATABASE_REJECTED', `PostgreSQL 14 or newer is required; this is ${server.name}`)
  }
  if (/^EUC_|^MULE_/.test(server.encoding)) {
    throw storeError(
      'DATABASE_REJECTED',
      `The encoding of this database is ${server.encoding}, which stores some distinct characters as one: two ids could ` +
        'become the same (D24). Use a database with the encoding UTF8',
    )
  }
  const schemas = (JSON.parse(server.schemas) as string[]).filter(name => !name.startsWith('pg_temp_'))
  if (schemas[0] !== 'pg_catalog') {
    throw storeError(
      'SEARCH_PATH',
      `search_path is ${server.search_path}: an operator or function of ${schemas[0]} could replace one of ` +
        'PostgreSQL and change balances. Remove pg_catalog from it, which is then searched first: ALTER ROLE … ' +
        'SET search_path = …',
    )
  }
}

/** A sequence that is behind its table, as after logical replication or a restore of tables alone. */
async function checkSequence(ask: Ask, { schema, schemaName }: Tables): Promise<void> {
  const [used] = await ask<{ id: string }>(
    `SELECT transaction.wallet_transaction_id AS id
      FROM pg_catalog.pg_sequences sequence
      CROSS JOIN generate_series(1, ${idsProbed}) n
      JOIN ${schema}.transactions transaction ON transaction.wallet_transaction_id =
        coalesce(
          sequence.last_value + n * sequence.increment_by,
          sequence.start_value + (n - 1) * sequence.increment_by
        )::text
      WHERE sequence.schemaname = $1 AND sequence.sequencename = 'wallet_transaction_ids'
      LIMIT 1`,
    [schemaName],
  )
  if (used === undefined) return
  throw storeError(
    'SEQUENCE_BEHIND',
    `The sequence ${schemaName}.wallet_transaction_ids is behind its table: ${used.id} is used already. Run ` +
      `SELECT setval(${literal(`${schema}.wallet_transaction_ids`)}, max(wallet_transaction_id::bigint)) FROM ` +
      `${schema}.transactions WHERE wallet_transaction_id ~ '^[0-9]{1,18}$'`,
  )
}

/** With a cache, sessions draw numbers ahead: events of a bet would not have the order of its commits. */
async function checkOrderOfEvents(ask: Ask, { schema, schemaName }: Tables): Promise<void> {
  const [changed] = await ask(
    `SELECT FROM pg_catalog.pg_sequences
      WHERE schemaname = $1 AND sequencename = 'wallet_transaction_ids'
        AND (cache_size > 1 OR increment_by < 1 OR cycle)`,
    [schemaName],
  )
  if (changed === undefined) return
  throw storeError(
    'SCHEMA_VERSION',
    `The sequence ${schemaName}.wallet_transaction_ids was changed: events need their order. Run ALTER SEQUENCE ` +
      `${schema}.wallet_transaction_ids INCREMENT BY 1 CACHE 1 NO CYCLE`,
  )
}

/**
 * The transactions after the sequence's value have nearly all of the next ids: a few are lost by rollbacks,
 * and up to 32 by a crash.
 */
const idsProbed = 1_000

const migrateAdvice =
  'run migratePostgres(client, options), or the SQL of postgresMigrationSql(options), with the same options'

/**
 * What the migration is needed for; `null`: there is nothing to do. It reads only what exists and what the
 * role may read: an error would abort the database transaction of a migration tool.
 */
export async function migrationProblem(ask: Ask, tables: Tables): Promise<StoreError | null> {
  const [readable] = await ask<{ readable: boolean }>(
    `SELECT
      count(*) = 2 AND coalesce(bool_and(
        has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT')
      ), false) AS readable
    FROM pg_catalog.pg_class c
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = $1 AND c.relname IN ('migrations', 'options')`,
    [tables.schemaName],
  )
  if (!readable?.readable) return storeError('SCHEMA_MISSING', 'The schema cannot be read')
  try {
    await checkSchema(ask, tables)
    await checkFunctions(ask, tables)
    return null
  } catch (error) {
    if (error instanceof StoreError) return error
    throw error
  }
}

/**
 * The players' table, before anything is created for it. Only where this role has all rights on it: a
 * migration needs none, and other roles may see less than the store's.
 */
export async function judgePlayersTable(ask: Ask, tables: Tables): Promise<void> {
  const { own, tableName } = tables.players
  const [table] = await ask<{ usable: boolean }>(
    `SELECT has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT')
      AND has_table_privilege(c.oid, 'UPDATE') AND NOT row_security_active(c.oid) AS usable
    FROM pg_catalog.pg_class c
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = $1 AND c.relname = $2`,
    [...tableName],
  )
  if (own || !table?.usable) return
  await checkPlayersTable(ask, tables)
  await checkRules(ask, tables)
  await checkBaseTables(ask, tables, await checkVisibility(ask, tables))
}

async function checkSchema(ask: Ask, tables: Tables): Promise<void> {
  const { schema, schemaName } = tables
  const [exists] = await ask<{ exists: boolean }>(
    'SELECT to_regclass($1) IS NOT NULL AND to_regclass($2) IS NOT NULL AS exists',
    [`${schema}.migrations`, `${schema}.options`],
  )
  if (!exists?.exists) {
    throw storeError(
      'SCHEMA_MISSING',
      `The schema ${schemaName} has no tables of bet-wallet, or this role lacks USAGE on it: ${migrateAdvice}`,
      { isSolvedByMigration: true },
    )
  }
  const [newest] = await ask<{ version: number | null }>(
    `SELECT max(version) AS version FROM ${schema}.migrations`,
  )
  const version = newest?.version ?? 0
  // A newer schema keeps the functions of this release.
  if (version < schemaVersion) {
    throw storeError(
      'SCHEMA_VERSION',
      `The schema ${schemaName} has version ${version}; this release needs ${schemaVersion}: ${migrateAdvice}`,
      { isSolvedByMigration: true },
    )
  }
  const [options] = await ask<{ problem: string }>(optionsProblem(tables))
  if (options === undefined) return
  const [transactions] = await ask<{ readable: boolean }>(
    `SELECT has_table_privilege(name, 'SELECT') AND NOT row_security_active(name) AS readable
      FROM to_regclass($1) name`,
    [`${schema}.transactions`],
  )
  const recorded = transactions?.readable ? await ask(`SELECT FROM ${schema}.transactions LIMIT 1`) : null
  throw storeError(
    'SCHEMA_OPTIONS',
    `${options.problem}. ${besideHint}${recorded?.length === 0 ? otherTry(`DELETE FROM ${schema}.options`) : ''}`,
  )
}

/** Compares the functions with the catalog: SQL by hand may have replaced them. */
async function checkFunctions(ask: Ask, tables: Tables): Promise<void> {
  const { schema, schemaName } = tables
  const stored = await ask<{ name: string; body: string; attributes: string }>(
    `SELECT p.proname::text AS name, p.prosrc AS body, ${attributesOf('p')} AS attributes
      FROM pg_catalog.pg_proc p
      JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
      WHERE n.nspname = $1`,
    [schemaName],
  )
  const [registered] = await ask<{ sets: number }>(`SELECT count(*)::integer AS sets FROM ${schema}.options`)
  for (const { name, body, attributes } of functionsOf(tables)) {
    const sameName = stored.filter(other => other.name === name)
    // PAM code calls this one. Beside other options, it may belong to those.
    const isOfOthers = name === creditFunctionName && (registered?.sets ?? 0) > 1
    const isSame = (other: (typeof stored)[number]) =>
      (other.body === body || isOfOthers) && other.attributes === attributes
    if (!sameName.some(isSame)) {
      throw storeError(
        'SCHEMA_VERSION',
        `The function ${schemaName}.${name} ${sameName.length === 0 ? 'does not exist' : 'was changed'}: ${migrateAdvice}`,
        { isSolvedByMigration: true },
      )
    }
  }
}

/**
 * Calls every function once, without changes: PostgreSQL reports the problems that are left.
 *
 * @returns whether no policy hides rows from this role
 */
async function tryFunctions(ask: Ask, tables: Tables): Promise<boolean> {
  const { schema } = tables
  const call = (name: string, args: string) =>
    `SELECT * FROM ${schema}.${functionName(tables, name)}(${args})`
  const procedure = (name: string, args: string) =>
    `CALL ${schema}.${functionName(tables, name)}(${args}, NULL)`
  const key = '{"key_index":0,"operation":"placebet","transaction_id":"","player_id":null,"bet_id":""}'
  await ask(call('load', '$1, false, 1000, NULL, NULL'), [`[${key}]`])
  const everyRow = await ask(call('load', '$1, true, 1000, NULL, NULL'), [`[${key}]`]).then(
    () => true,
    error => {
      if (hasCode(error.cause, '42501')) return false
      throw error
    },
  )
  // Of no keys: it must not wait for a standby.
  await ask(procedure('load_confirmed', '$1, false, 1000, false, NULL, NULL'), ['[]'])
  // Each calls the function of its name. The one item is a conflict without keys: it proves nothing either.
  await ask(procedure('commit_procedure', '$1, NULL, 1000, false, false, true, false, NULL, NULL'), ['{}'])
  await ask(
    procedure('commit_one_procedure', '$1, NULL, NULL, 1000, false, false, false, false, NULL, NULL'),
    ['{}'],
  )
  const [sequence] = await ask<{ usable: boolean }>('SELECT has_sequence_privilege($1, $2) AS usable', [
    `${schema}.wallet_transaction_ids`,
    'USAGE',
  ])
  if (!sequence?.usable) {
    throw storeError(
      'INSUFFICIENT_PRIVILEGE',
      `This role may not use the sequence: GRANT USAGE ON ALL SEQUENCES IN SCHEMA ${schema}`,
    )
  }
  return everyRow
}
