/** The migration: as a function, and as text for the operator's own migration tool. */
import { lookupIndexes, missingIndexes } from '../database/lookup-indexes.js'
import { rejectSettingsIn } from '../database/migration-settings.js'
import { migrationProblem } from './check.js'
import { confirmCommits, onOneConnection, type PostgresClient } from './client.js'
import { storeError } from './errors.js'
import { transactionsTableOf } from './lookups.js'
import { check } from './option-checks.js'
import { createIndex, dropIndex } from './sql/lookups.js'
import { besideAdvice, isRefusedForOptions } from './sql/options.js'
import { dollarQuoted } from './sql/quoting.js'
import { indexLock, migrationLock, migrationStatements } from './sql/schema.js'
import { schemaVersion } from './sql/version.js'
import { type PostgresTables, type Tables, tablesOf } from './tables.js'

export interface MigrationSettings {
  /**
   * States that the schema is migrated on purpose with other options than before. Without it, that is an
   * error. The functions of both option sets then live side by side: running processes keep theirs, and new
   * ones are started with the new options. `credit_bet_v1` belongs to the options that were migrated last.
   *
   * @default false
   */
  allowOtherOptions?: boolean
  /**
   * Whether the migration creates the indexes of lookups too: of the transactions of a bet, of a player, and by time.
   * On tables that exist already, commits go on meanwhile. Each commit writes to them: docs/lookups.md says what they
   * cost.
   *
   * @default false
   */
  lookupIndexes?: boolean
}

export interface MigrationSqlSettings extends MigrationSettings {
  /**
   * Whether BEGIN and COMMIT are part of the text. `false`: your migration tool opens the database
   * transaction.
   *
   * @default true
   */
  transaction?: boolean
}

/**
 * Returns the migration as plain SQL with BEGIN and COMMIT around it, for psql or for your migration tool. It
 * can be run again. Its functions name your players' table: make it from the options of the store. Executed
 * on a schema that was migrated with other options, it fails (55000) and names the differences.
 *
 * @param options `schema`, `players` and `legacyBets`, as for the store
 * @throws {StoreError} `INVALID_OPTIONS`, naming the option
 */
export function postgresMigrationSql(
  options: PostgresTables = {},
  settings: MigrationSqlSettings = {},
): string {
  check.names(settings, ['allowOtherOptions', 'lookupIndexes', 'transaction'])
  const allowsOthers = check.boolean('allowOtherOptions', settings.allowOtherOptions ?? false)
  const transaction = check.boolean('transaction', settings.transaction ?? true)
  const withIndexes = check.boolean('lookupIndexes', settings.lookupIndexes ?? false)
  const tables = tablesOf(options)
  return `${header}\n${[
    ...(transaction ? ['BEGIN'] : []),
    `-- Migrations of one schema wait for each other.\nSELECT ${migrationLock(tables)}`,
    ...migrationStatements(tables, allowsOthers),
    ...(withIndexes ? Object.values(lookupIndexes).map(index => createIndex(tables, index)) : []),
    ...(transaction ? ['COMMIT'] : []),
  ]
    .map(statement => `${statement};\n`)
    .join('\n')}`
}

const header = `-- Tables and functions of bet-wallet, version ${schemaVersion}.
-- This file can be run again: tables and rows are kept, functions are replaced.
`

/**
 * Creates the library's tables and functions, or brings them up to date. Several processes may call it at
 * once, and at every start: where there is nothing to do it only reads. Otherwise the role needs CREATE on
 * the schema, or on the database where the schema does not exist yet; the store itself needs neither.
 *
 * @param options those of the store; only `schema`, `players` and `legacyBets` are used
 * @throws {StoreError} `INVALID_OPTIONS`, naming the option; `SCHEMA_OPTIONS` when the schema was
 *   migrated with other options, naming each difference; `COMMIT_UNKNOWN` when the wait for the synchronous
 *   standby was cancelled: migrate again; and the errors of the client
 */
export async function migratePostgres(
  client: PostgresClient,
  options: PostgresTables = {},
  settings: MigrationSettings = {},
): Promise<void> {
  rejectSettingsIn(options, check)
  check.names(settings, ['allowOtherOptions', 'lookupIndexes'])
  const withIndexes = check.boolean('lookupIndexes', settings.lookupIndexes ?? false)
  const allowsOthers = check.boolean('allowOtherOptions', settings.allowOtherOptions ?? false)
  const { schema, players, legacyBets } = options
  const tables = tablesOf({
    ...(schema === undefined ? {} : { schema }),
    ...(players === undefined ? {} : { players }),
    ...(legacyBets === undefined ? {} : { legacyBets }),
  })
  const ask: Ask = async (text, values) => (await client.query(text, values)).rows
  const problem = await migrationProblem(ask, tables)
  if (problem?.code === 'SCHEMA_OPTIONS' && !allowsOthers) throw problem
  if (problem !== null) await migrate(client, tables, allowsOthers)
  if (withIndexes && missingIndexes(await transactionsTableOf(ask, tables)).length > 0)
    await onOneConnection(client, connection => createLookupIndexes(connection, tables))
}

type Ask = Parameters<typeof migrationProblem>[0]

async function migrate(client: PostgresClient, tables: Tables, allowsOthers: boolean): Promise<void> {
  const statements = [`PERFORM ${migrationLock(tables)}`, ...migrationStatements(tables, allowsOthers)]
  const body = `BEGIN\n${statements.map(statement => `${statement};\n`).join('\n')}END`
  try {
    // One statement, and so one database transaction with any client.
    await client.query(`DO ${dollarQuoted('migration', body)}`)
    await confirmCommits(client)
  } catch (cause) {
    if (!isRefusedForOptions(cause)) throw cause
    throw storeError('SCHEMA_OPTIONS', `${cause.message}. ${besideAdvice}`, { cause })
  }
}

/** The pause before this process asks again whether another one still creates the indexes. */
const retryMs = 500

/**
 * Statements of their own: CREATE INDEX CONCURRENTLY cannot be part of a database transaction. One process at a time,
 * without a statement that waits: two of them would wait for each other.
 */
async function createLookupIndexes(connection: Pick<PostgresClient, 'query'>, tables: Tables): Promise<void> {
  const ask: Ask = async (text, values) => (await connection.query(text, values)).rows
  const lock = indexLock(tables)
  const isLocked = async () => {
    const [row] = (await ask(`SELECT pg_try_advisory_lock(${lock}) AS locked`, [])) as { locked: boolean }[]
    return row?.locked === true
  }
  while (!(await isLocked())) await new Promise(resolve => setTimeout(resolve, retryMs))
  try {
    for (const index of missingIndexes(await transactionsTableOf(ask, tables))) {
      // One of this name cannot be used: CREATE INDEX CONCURRENTLY was interrupted.
      await ask(dropIndex(tables, index), [])
      await ask(createIndex(tables, index, 'CONCURRENTLY'), [])
    }
  } finally {
    await ask(`SELECT pg_advisory_unlock(${lock})`, [])
  }
}
