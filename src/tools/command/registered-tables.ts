/** The players' table that a schema was migrated with. */
import { migratedWith as migratedMysqlWith } from '../../stores/mysql/migrated-with.js'
import { granteeOf } from '../../stores/mysql/sql/quoting.js'
import { tablesOf as mysqlTablesOf } from '../../stores/mysql/tables.js'
import { migratedWith as migratedPostgresWith } from '../../stores/postgres/migrated-with.js'
import { tablesOf as postgresTablesOf } from '../../stores/postgres/tables.js'
import type { Database } from './database.js'
import { type PlayersValues, type StoreTables, schemaIn, tablesGiven } from './players-options.js'
import { UsageError } from './usage-error.js'

const tableOptions = '--players, --id, --currency and --balance'

/** The schema exists, but this user may not see what the migration has registered in it. */
export class RightMissing extends UsageError {
  /** What grants it. */
  readonly statement: (user: string) => string
  constructor(problem: string, statement: (user: string) => string) {
    super(problem)
    this.statement = statement
  }
}

/**
 * The tables that the arguments name; otherwise those of the migration of the schema.
 *
 * @throws {UsageError} where neither names them; {@link RightMissing}
 * @throws {StoreError} `INVALID_OPTIONS`; `SCHEMA_OPTIONS` for a schema with several options
 */
export async function tablesIn(database: Database, values: PlayersValues): Promise<StoreTables> {
  const named = tablesGiven(values)
  if (named !== null) return named
  const options = schemaIn(values.schema)
  const registered = await registeredIn(database, options)
  if (registered !== null) return { ...registered, ...(values.outbox && { outbox: true }) }
  throw new UsageError(
    `The schema ${options.schema ?? 'bet_wallet'} was not migrated yet, or this user may not see it: name your players' table by ${tableOptions}`,
  )
}

async function registeredIn(database: Database, options: { schema?: string }): Promise<StoreTables | null> {
  try {
    if (database.engine === 'mysql') return await migratedMysqlWith(database.ask, mysqlTablesOf(options))
    return (await migratedPostgresWith(database.ask, postgresTablesOf(options))) as StoreTables
  } catch (error) {
    const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown }
    // No such schema, no such table.
    if (code === '3F000' || code === '42P01') return null
    if (code === '42501')
      throw new RightMissing(
        `This user may not read what the migration has registered (${message}): name your players' table by ${tableOptions}, or an owner of the tables runs what this prints:`,
        user => `npx bet-wallet grants ${user}`,
      )
    if (code !== 'INSUFFICIENT_PRIVILEGE') throw error
    if (database.engine === 'mysql') await checkExecute(database, mysqlTablesOf(options))
    return null
  }
}

/** Without EXECUTE the catalog shows no procedure, in whose comments the options are registered. */
async function checkExecute(
  { ask }: Extract<Database, { engine: 'mysql' }>,
  { schema, schemaName }: ReturnType<typeof mysqlTablesOf>,
): Promise<void> {
  const tables = await ask(
    "SELECT 1 FROM information_schema.TABLES WHERE TABLE_SCHEMA = ? AND TABLE_NAME = 'wallet_transactions'",
    [schemaName],
  )
  if (tables.length === 0) return
  throw new RightMissing(
    `This user lacks EXECUTE on the procedures of the schema ${schemaName}. An administrator runs:`,
    user => `GRANT EXECUTE ON ${schema}.* TO ${granteeOf(user)};`,
  )
}
