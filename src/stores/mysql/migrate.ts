/** The migration: as a function, and as text for the operator's own migration tool. */

import { QueryFailed } from '../database/deadline.js'
import { lookupIndexes, missingIndexes } from '../database/lookup-indexes.js'
import { type MigrationSettings, migrationSettings } from '../database/migration-settings.js'
import { sql } from '../database/sql-text.js'
import { databaseStoreOptionNames } from '../database/store-options.js'
import { migrationProblem, wrongProcedures } from './check.js'
import { connectionsFrom } from './client.js'
import type { MysqlPool } from './driver.js'
import { check, storeError } from './errors.js'
import type { Session } from './session.js'
import { creditProcedureName, type Procedure } from './sql/fragments.js'
import { createIndex, createMissingIndex } from './sql/lookups.js'
import { literal } from './sql/quoting.js'
import { createSchema, migrationLock, procedureMode, proceduresOf, tableStatements } from './sql/schema.js'
import { schemaVersion } from './sql/version.js'
import { type MysqlTables, type Tables, tablesOf } from './tables.js'
import { transactionsTableOf } from './transactions-table.js'

/**
 * Returns the migration as plain SQL, for Flyway or the client of the server (`mysql` or `mariadb`):
 * procedures are between lines with DELIMITER, which these tools know. It can be run again. Its procedures
 * name your players' table: make it from the options of the store. It creates no schema: run it where the
 * schema exists. It does not notice that the schema was migrated with other options; `ready` of the store
 * does.
 *
 * @param options `schema`, `players` and `outbox`, as for the store
 * @param settings `lookupIndexes`
 * @throws {StoreError} `INVALID_OPTIONS`, naming the option
 */
export function mysqlMigrationSql(
  options: MysqlTables = {},
  settings: Pick<MigrationSettings, 'lookupIndexes'> = {},
): string {
  const { withIndexes } = migrationSettings(check, settings, ['lookupIndexes'])
  const tables = tablesOf(options)
  const indexes = withIndexes
    ? Object.values(lookupIndexes).map(index => createMissingIndex(tables, index))
    : []
  return [
    `-- Tables and procedures of bet-wallet, version ${schemaVersion}.`,
    '-- This file can be run again, also while the wallet runs: tables, rows and procedures that are called are kept.',
    `SET ${sessionVariables.map(name => `@bet_wallet_${name} = @@SESSION.${name}`).join(', ')};`,
    `SET SESSION sql_mode = ${literal(procedureMode)};`,
    '-- The character set of this file; procedures keep that of the session.',
    'SET NAMES utf8mb4;',
    ...[...tableStatements(tables), ...indexes].map(statement => `${statement};`),
    'DELIMITER $$',
    ...proceduresOf(tables)
      .flatMap(each => (each.name === creditProcedureName ? replacing(tables, each) : [each.definition]))
      .map(statement => `${statement} $$`),
    'DELIMITER ;',
    `SET ${sessionVariables.map(name => `SESSION ${name} = @bet_wallet_${name}`).join(', ')};`,
    '',
  ].join('\n\n')
}

/** What the SQL changes in its session, and changes back. */
const sessionVariables = ['sql_mode', 'character_set_client', 'character_set_results', 'collation_connection']

/**
 * On MySQL a procedure that is replaced is dropped first, and with it what was granted on it. Each server
 * takes the comments of the other for comments.
 */
const replacing = ({ schema }: Tables, { name, definition }: Procedure) => [
  `/*!80000 DROP PROCEDURE IF EXISTS ${schema}.${name} */ /*M!100001 DO 0 */`,
  definition,
]

/**
 * Creates the library's tables and procedures, or brings them up to date. Several processes may call it at
 * once, and at every start: where there is nothing to do it only reads. Otherwise the user needs CREATE,
 * CREATE ROUTINE and ALTER ROUTINE on the schema; the store itself needs none of them.
 *
 * @param client a pool; on a cluster that of any one server
 * @param options those of the store; only `schema`, `players` and `outbox` are used
 * @returns whether there was anything to do
 * @throws {StoreError} `INVALID_OPTIONS`, naming the option; `SCHEMA_OPTIONS` when the schema was
 *   migrated with other options, naming each difference; and the errors of the client
 */
export async function migrateMysql(
  client: MysqlPool,
  options: MysqlTables = {},
  settings: MigrationSettings = {},
): Promise<boolean> {
  const { allowOtherOptions, withIndexes } = migrationSettings(check, settings)
  const tables = tablesOf(options, databaseStoreOptionNames)
  const connections = connectionsFrom(client, { timeoutMs: migrationMs, lockTimeoutMs: lockWaitMs })
  try {
    return await connections.onAny(async database => {
      const isMigrated = await migrate(database, tables, allowOtherOptions)
      return (withIndexes && (await createLookupIndexes(database, tables))) || isMigrated
    })
  } catch (error) {
    throw error instanceof QueryFailed ? error.cause : error
  }
}

/** The time limits of the whole migration, and for another one to end. */
const migrationMs = 600_000
const lockWaitMs = 300_000

/** @returns whether there was anything to do */
async function migrate(database: Session, tables: Tables, allowOtherOptions: boolean): Promise<boolean> {
  const problem = await migrationProblem(database, tables, allowOtherOptions)
  if (problem === null) return false
  if (problem.code === 'SCHEMA_OPTIONS') throw problem
  await inTurn(database, tables, async () => {
    // Another process may have migrated before this one had the lock.
    const left = await migrationProblem(database, tables, allowOtherOptions)
    if (left === null) return
    if (left.code === 'SCHEMA_OPTIONS') throw left
    await createMissingSchema(database, tables)
    for (const statement of tableStatements(tables)) await database.run(statement)
    await database.run(`SET SESSION sql_mode = ${literal(procedureMode)}`)
    const wrong = await wrongProcedures(database, tables, allowOtherOptions)
    const replaced = proceduresOf(tables).filter(({ name }) => wrong.has(name))
    for (const statement of replaced.flatMap(each => replacing(tables, each))) await database.run(statement)
  })
  return true
}

/** @returns whether there was anything to do */
async function createLookupIndexes(database: Session, tables: Tables): Promise<boolean> {
  const missing = async () =>
    missingIndexes(await transactionsTableOf((text, values) => database.rows(text, values), tables))
  if ((await missing()).length === 0) return false
  await inTurn(database, tables, async () => {
    for (const index of await missing()) await database.run(createIndex(tables, index))
  })
  return true
}

/** Migrations of one schema wait for each other. */
async function inTurn(database: Session, tables: Tables, work: () => Promise<void>): Promise<void> {
  const lock = migrationLock(tables)
  const [locked] = await database.rows(`SELECT GET_LOCK(${lock}, ${lockWaitMs / 1000})`)
  if (String(locked?.[0]) !== '1')
    throw storeError('UNAVAILABLE', 'Another migration of this schema has not ended')
  try {
    await work()
  } finally {
    await database.rows(`SELECT RELEASE_LOCK(${lock})`)
  }
}

/** IF NOT EXISTS would require CREATE on the server although the schema exists. */
async function createMissingSchema(database: Session, tables: Tables): Promise<void> {
  const found = await database.rows(
    sql`SELECT 1 FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = ${literal(tables.schemaName)}`,
  )
  if (found.length === 0) await database.run(createSchema(tables))
}
