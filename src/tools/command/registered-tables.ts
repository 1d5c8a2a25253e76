/** The players' table that a schema was migrated with. */
import { migratedWith as migratedMysqlWith } from '../../stores/mysql/migrated-with.js'
import { tablesOf as mysqlTablesOf } from '../../stores/mysql/tables.js'
import { migratedWith as migratedPostgresWith } from '../../stores/postgres/migrated-with.js'
import { tablesOf as postgresTablesOf } from '../../stores/postgres/tables.js'
import { given, UsageError } from './arguments.js'
import type { Database } from './database.js'
import { type PlayersValues, type StoreTables, tablesGiven } from './players-options.js'

/**
 * The tables that the arguments name; otherwise those of the migration of the schema.
 *
 * @throws {UsageError} where neither names them
 * @throws {StoreError} `INVALID_OPTIONS`; `SCHEMA_OPTIONS` for a schema with several options
 */
export async function tablesIn(database: Database, values: PlayersValues): Promise<StoreTables> {
  const named = tablesGiven(values)
  if (named !== null) return named
  const registered = await registeredIn(database, given('schema', values.schema))
  if (registered !== null) return { ...registered, ...given('outbox', values.outbox) }
  throw new UsageError(
    `The schema ${values.schema ?? 'bet_wallet'} was not migrated yet, or this user may not see it: name your players' table by ` +
      '--players, --id, --currency and --balance',
  )
}

async function registeredIn(database: Database, options: { schema?: string }): Promise<StoreTables | null> {
  try {
    if (database.engine === 'mysql') return await migratedMysqlWith(database.ask, mysqlTablesOf(options))
    return (await migratedPostgresWith(database.ask, postgresTablesOf(options))) as StoreTables
  } catch (error) {
    if (isMissing(error)) return null
    throw error
  }
}

/** No such schema, no such table, or none that this user may see. */
const isMissing = (error: unknown) =>
  ['3F000', '42P01', '42501', 'INSUFFICIENT_PRIVILEGE'].includes(
    String((error as { code?: unknown } | null)?.code),
  )
