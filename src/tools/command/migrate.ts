/** `bet-wallet migrate`: creates the library's tables for a players' table, or brings them up to date. */
import { migrateMysql, mysqlMigrationSql } from '../../stores/mysql/migrate.js'
import { migratePostgres, postgresMigrationSql } from '../../stores/postgres/migrate.js'
import { escapeInvisible } from '../../visible-text.js'
import { type Database, withDatabase } from './database.js'
import { databaseUrlOf, urlOption } from './database-url.js'
import { off, on, type Values as ValuesOf } from './option.js'
import { printReport } from './output.js'
import { playersOptions, type StoreTables, tablesGiven } from './players-options.js'
import { tablesIn } from './registered-tables.js'
import { command } from './subcommand.js'
import { UsageError } from './usage-error.js'

const options = {
  ...playersOptions,
  databaseUrl: urlOption,
  lookupIndexes: on('--lookup-indexes', 'creates the indexes of lookups too: of a bet, of a player, by time'),
  allowOtherOptions: on('--allow-other-options', 'migrates on purpose with other options than before'),
  print: on('--print', 'prints the SQL, for your own migration tool, and changes nothing'),
  transaction: off('--no-transaction', 'with --print, on PostgreSQL: without BEGIN and COMMIT'),
}

type Values = ValuesOf<typeof options>

export const migrate = command({
  usage: 'migrate',
  summary: "creates the library's tables for your players' table, or prints the SQL",
  about: `Creates the library's tables, or brings them up to date, as migratePostgres and migrateMysql do.
Your players' table is not changed. Where there is nothing to do, it only reads.`,
  exitCodes: 'The exit code is 0, or 2 if the migration was not possible.',
  options,
  async work(values) {
    if (values.transaction === false && !values.print) throw new UsageError('--no-transaction needs --print')
    // Before a connection: half of a table is an error of usage.
    tablesGiven(values)
    return await withDatabase(databaseUrlOf(values.databaseUrl), async database => {
      const tables = await tablesIn(database, values)
      if (values.print) process.stdout.write(escapeInvisible(migrationSql(database, tables, values)))
      else {
        const word = (await apply(database, tables, values)) ? 'Migrated' : 'Nothing to do'
        const { schema = 'bet_wallet', players } = tables
        const sentence = `the schema ${schema}, for ${players?.table ?? "a players' table of its own"}.`
        const verdict = { tone: 'pass', word, sentence } as const
        printReport({ title: 'Migration', verdict, facts: [], sections: [], footnotes: [] })
      }
      return 0
    })
  },
})

async function apply(
  database: Database,
  tables: StoreTables,
  { lookupIndexes = false, allowOtherOptions = false }: Values,
): Promise<boolean> {
  const settings = { lookupIndexes, allowOtherOptions }
  return database.engine === 'postgres'
    ? await migratePostgres(database.pool, tables, settings)
    : await migrateMysql(database.pool, tables, settings)
}

function migrationSql(
  { engine }: Database,
  tables: StoreTables,
  { lookupIndexes = false, allowOtherOptions = false, transaction = true }: Values,
): string {
  if (engine === 'postgres')
    return postgresMigrationSql(tables, { lookupIndexes, allowOtherOptions, transaction })
  if (!transaction)
    throw new UsageError('--no-transaction is for PostgreSQL: here every statement commits by itself')
  if (allowOtherOptions)
    throw new UsageError(
      '--allow-other-options is not needed: the SQL for this server never compares options',
    )
  return mysqlMigrationSql(tables, { lookupIndexes })
}
