/** The migration: as a function, and as text for the operator's own migration tool. */
import { migrationProblem } from './check.js'
import type { PostgresClient } from './client.js'
import { PostgresStoreError } from './errors.js'
import { check } from './option-checks.js'
import { besideAdvice, isRefusedForOptions } from './sql/options.js'
import { dollarQuoted } from './sql/quoting.js'
import { migrationLock, migrationStatements } from './sql/schema.js'
import { schemaVersion } from './sql/version.js'
import { type PostgresTables, tablesOf } from './tables.js'

export interface MigrationSettings {
  /**
   * States that the schema is migrated on purpose with other options than before. Without it, that is an
   * error. The functions of both option sets then live side by side: running processes keep theirs, and new
   * ones are started with the new options. `credit_bet_v1` belongs to the options that were migrated last.
   *
   * @default false
   */
  besideOtherOptions?: boolean
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
 * @throws {PostgresStoreError} `INVALID_OPTIONS`, naming the option
 */
export function postgresMigrationSql(
  options: PostgresTables = {},
  settings: MigrationSqlSettings = {},
): string {
  check.names(settings, ['besideOtherOptions', 'transaction'])
  const beside = check.boolean('besideOtherOptions', settings.besideOtherOptions ?? false)
  const transaction = check.boolean('transaction', settings.transaction ?? true)
  const tables = tablesOf(options)
  return `${header}\n${[
    ...(transaction ? ['BEGIN'] : []),
    `-- Migrations of one schema wait for each other.\nSELECT ${migrationLock(tables)}`,
    ...migrationStatements(tables, beside),
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
 * @throws {PostgresStoreError} `INVALID_OPTIONS`, naming the option; `SCHEMA_OPTIONS` when the schema was
 *   migrated with other options, naming each difference; and the errors of the client
 */
export async function migratePostgres(
  client: PostgresClient,
  options: PostgresTables = {},
  settings: MigrationSettings = {},
): Promise<void> {
  check.names(settings, ['besideOtherOptions'])
  const beside = check.boolean('besideOtherOptions', settings.besideOtherOptions ?? false)
  const { schema, players, legacyBets } = options
  const tables = tablesOf({
    ...(schema === undefined ? {} : { schema }),
    ...(players === undefined ? {} : { players }),
    ...(legacyBets === undefined ? {} : { legacyBets }),
  })
  const problem = await migrationProblem(
    async (text, values) => (await client.query(text, values)).rows,
    tables,
  )
  if (problem === null) return
  if (problem.code === 'SCHEMA_OPTIONS' && !beside) throw problem
  const statements = [`PERFORM ${migrationLock(tables)}`, ...migrationStatements(tables, beside)]
  const body = `BEGIN\n${statements.map(statement => `${statement};\n`).join('\n')}END`
  try {
    // One statement, and so one database transaction with any client.
    await client.query(`DO ${dollarQuoted('migration', body)}`)
  } catch (cause) {
    if (!isRefusedForOptions(cause)) throw cause
    throw new PostgresStoreError('SCHEMA_OPTIONS', `${cause.message}. ${besideAdvice}`, { cause })
  }
}
