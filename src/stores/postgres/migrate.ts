/** The migration: as a function, and as text for a migration tool of the operator's. */
import type { PostgresClient } from './client.js'
import { migrationLock, migrationStatements } from './sql.js'
import { type PostgresTables, tablesOf } from './tables.js'

/**
 * The migration as plain SQL, one text with BEGIN and COMMIT around it: for psql, or for a file of your own migration tool.
 * It can be run again without harm. Made from the same options as the store, since its functions name your players' table.
 *
 * @throws {PostgresStoreError} `INVALID_OPTIONS`, naming the option
 */
export function postgresMigrationSql(options: PostgresTables = {}): string {
  const tables = tablesOf(options)
  return ['BEGIN', migrationLock(tables), ...migrationStatements(tables), 'COMMIT']
    .map(text => `${text};\n`)
    .join('\n')
}

/**
 * Makes the library's tables and functions, or brings them up to date. Can be run at every start, by several processes
 * at once: they wait for each other. The role needs the rights to create; the store itself does not.
 *
 * @param options those of the store; of them only `schema`, `players` and `legacyBets` count
 * @throws {PostgresStoreError} `INVALID_OPTIONS`; and whatever the client throws
 */
export async function migratePostgres(client: PostgresClient, options: PostgresTables = {}): Promise<void> {
  const { schema, players, legacyBets } = options
  const tables = tablesOf({
    ...(schema === undefined ? {} : { schema }),
    ...(players === undefined ? {} : { players }),
    ...(legacyBets === undefined ? {} : { legacyBets: legacyBets }),
  })
  const statements = [migrationLock(tables).replace('SELECT', 'PERFORM'), ...migrationStatements(tables)]
  // One statement, so that it is one commit with any client.
  await client.query(
    `DO $migration$ BEGIN\n${statements.map(text => `${text};\n`).join('\n')}END $migration$`,
  )
}
