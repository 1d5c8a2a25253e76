/** The migration: as a function, and as text for the operator's own migration tool. */
import type { PostgresClient } from './client.js'
import { migrationLock, migrationStatements } from './sql/schema.js'
import { schemaVersion } from './sql/version.js'
import { type PostgresTables, tablesOf } from './tables.js'

/**
 * Returns the migration as plain SQL with BEGIN and COMMIT around it, for psql or for your migration tool. It
 * can be run again. Its functions name your players' table: make it from the options of the store.
 *
 * @param options `schema`, `players` and `legacyBets`, as for the store
 * @throws {PostgresStoreError} `INVALID_OPTIONS`, naming the option
 */
export function postgresMigrationSql(options: PostgresTables = {}): string {
  const tables = tablesOf(options)
  return `${header}\n${[
    'BEGIN',
    `-- Migrations of one schema wait for each other.\nSELECT ${migrationLock(tables)}`,
    ...migrationStatements(tables),
    'COMMIT',
  ]
    .map(statement => `${statement};\n`)
    .join('\n')}`
}

const header = `-- Tables and functions of bet-wallet, version ${schemaVersion}.
-- This file can be run again: tables and rows are kept, functions are replaced.
`

/**
 * Creates the library's tables and functions, or brings them up to date. Several processes may call it at
 * once, and at every start. The role needs the CREATE privilege; the store itself does not.
 *
 * @param options those of the store; only `schema`, `players` and `legacyBets` are used
 * @throws {PostgresStoreError} `INVALID_OPTIONS`, naming the option; and the errors of the client
 */
export async function migratePostgres(client: PostgresClient, options: PostgresTables = {}): Promise<void> {
  const { schema, players, legacyBets } = options
  const tables = tablesOf({
    ...(schema === undefined ? {} : { schema }),
    ...(players === undefined ? {} : { players }),
    ...(legacyBets === undefined ? {} : { legacyBets }),
  })
  const statements = [`PERFORM ${migrationLock(tables)}`, ...migrationStatements(tables)]
  // One statement, and so one database transaction with any client.
  await client.query(
    `DO $migration$ BEGIN\n${statements.map(statement => `${statement};\n`).join('\n')}END $migration$`,
  )
}
