/** The migration: as a function, and as text for the operator's own migration tool. */
import { textOf } from '../../foreign-values.js'
import { lookupIndexes, missingIndexes } from '../database/lookup-indexes.js'
import { type MigrationSettings, migrationSettings } from '../database/migration-settings.js'
import { databaseStoreOptionNames } from '../database/store-options.js'
import { migrationProblem } from './check.js'
import { type Ask, confirmCommits, onOneConnection, type PostgresClient } from './client.js'
import { check, storeError } from './errors.js'
import { createIndex, dropIndex } from './sql/lookups.js'
import { besideHint, isRefusedForOptions } from './sql/options.js'
import { dollarQuoted } from './sql/quoting.js'
import { indexLock, migrationLock, migrationStatements } from './sql/schema.js'
import { schemaVersion } from './sql/version.js'
import { type PostgresTables, type Tables, tablesOf } from './tables.js'
import { transactionsTableOf } from './transactions-table.js'

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
 * @param options `schema`, `players` and `outbox`, as for the store
 * @throws {StoreError} `INVALID_OPTIONS`, naming the option
 */
export function postgresMigrationSql(
  options: PostgresTables = {},
  settings: MigrationSqlSettings = {},
): string {
  const names = ['allowOtherOptions', 'lookupIndexes', 'transaction']
  const { allowOtherOptions, withIndexes } = migrationSettings(check, settings, names)
  const transaction = check.boolean('transaction', settings.transaction ?? true)
  const tables = tablesOf(options)
  return `${header}\n${[
    ...(transaction ? ['BEGIN'] : []),
    `-- Migrations of one schema wait for each other.\nSELECT ${migrationLock(tables)}`,
    ...migrationStatements(tables, allowOtherOptions),
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
 * @param options those of the store; only `schema`, `players` and `outbox` are used
 * @returns whether there was anything to do
 * @throws {StoreError} `INVALID_OPTIONS`, naming the option; `SCHEMA_OPTIONS` when the schema was
 *   migrated with other options, naming each difference; `COMMIT_UNKNOWN` when the wait for the synchronous
 *   standby was cancelled: migrate again; and the errors of the client
 */
export async function migratePostgres(
  client: PostgresClient,
  options: PostgresTables = {},
  settings: MigrationSettings = {},
): Promise<boolean> {
  const { allowOtherOptions, withIndexes } = migrationSettings(check, settings)
  const tables = tablesOf(options, databaseStoreOptionNames)
  const ask: Ask = async (text, values) => (await client.query(text, values)).rows as never[]
  const problem = await migrationProblem(ask, tables)
  if (problem?.code === 'SCHEMA_OPTIONS' && !allowOtherOptions) throw problem
  if (problem !== null) await migrate(client, tables, allowOtherOptions)
  const lacksIndexes = withIndexes && missingIndexes(await transactionsTableOf(ask, tables)).length > 0
  if (lacksIndexes) await onOneConnection(client, connection => createLookupIndexes(connection, tables))
  return problem !== null || lacksIndexes
}

async function migrate(client: PostgresClient, tables: Tables, allowOtherOptions: boolean): Promise<void> {
  const statements = [`PERFORM ${migrationLock(tables)}`, ...migrationStatements(tables, allowOtherOptions)]
  const body = `BEGIN\n${statements.map(statement => `${statement};\n`).join('\n')}END`
  try {
    // One statement, and so one database transaction with any client.
    await client.query(`DO ${dollarQuoted('migration', body)}`)
    await confirmCommits(client)
  } catch (cause) {
    if (!isRefusedForOptions(cause)) throw cause
    throw storeError('SCHEMA_OPTIONS', `${textOf(cause)}. ${besideHint}`, { cause })
  }
}

/** The pause before this process asks again whether another one still creates the indexes. */
const retryMs = 500

/**
 * Statements of their own: CREATE INDEX CONCURRENTLY cannot be part of a database transaction. One process at
 * a time, without a statement that waits: two of them would wait for each other.
 */
async function createLookupIndexes(connection: Pick<PostgresClient, 'query'>, tables: Tables): Promise<void> {
  const ask: Ask = async (text, values) => (await connection.query(text, values)).rows as never[]
  const lock = indexLock(tables)
  const isLocked = async () => {
    const [row] = await ask<{ locked: boolean }>(`SELECT pg_try_advisory_lock(${lock}) AS locked`)
    return row?.locked === true
  }
  while (!(await isLocked())) await new Promise(resolve => setTimeout(resolve, retryMs))
  try {
    for (const index of missingIndexes(await transactionsTableOf(ask, tables))) {
      // One of this name cannot be used: CREATE INDEX CONCURRENTLY was interrupted.
      await ask(dropIndex(tables, index))
      await ask(createIndex(tables, index, 'CONCURRENTLY'))
    }
  } finally {
    await ask(`SELECT pg_advisory_unlock(${lock})`)
  }
}
