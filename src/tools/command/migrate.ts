/** `bet-wallet migrate`: creates the library's tables for a players' table, or brings them up to date. */
import type { ParseArgsConfig } from 'node:util'
import { migrateMysql, mysqlMigrationSql } from '../../stores/mysql/migrate.js'
import { migratePostgres, postgresMigrationSql } from '../../stores/postgres/migrate.js'
import { escapeInvisible } from '../../visible-text.js'
import { noArguments, parseWords, UsageError } from './arguments.js'
import { type Database, withDatabase } from './database.js'
import { databaseUrlOf } from './database-url.js'
import { migrateHelp } from './help.js'
import { forTerminal } from './output.js'
import { playersArguments, type StoreTables, tablesGiven } from './players-options.js'
import { tablesIn } from './registered-tables.js'

const migrateArguments = {
  ...playersArguments,
  'database-url': { type: 'string' },
  'lookup-indexes': { type: 'boolean' },
  'allow-other-options': { type: 'boolean' },
  'no-transaction': { type: 'boolean' },
  print: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const satisfies ParseArgsConfig['options']

type Values = ReturnType<typeof parseWords<typeof migrateArguments>>['values']

export async function migrate(words: string[]): Promise<number> {
  const { values, positionals } = parseWords(words, migrateArguments)
  if (values.help) {
    console.log(migrateHelp)
    return 0
  }
  noArguments('migrate', positionals)
  if (values['no-transaction'] && !values.print) throw new UsageError('--no-transaction needs --print')
  // Before a connection: half of a table is an error of usage.
  tablesGiven(values)
  return await withDatabase(databaseUrlOf(values), async database => {
    const tables = await tablesIn(database, values)
    if (values.print) process.stdout.write(escapeInvisible(migrationSql(database, tables, values)))
    else {
      const what = (await apply(database, tables, values)) ? 'Migrated' : 'Nothing to do'
      const { schema = 'bet_wallet', players } = forTerminal(tables)
      console.log(`${what}: the schema ${schema}, for ${players?.table ?? "a players' table of its own"}.`)
    }
    return 0
  })
}

const settingsOf = (values: Values) => ({ lookupIndexes: values['lookup-indexes'] ?? false })

async function apply(database: Database, tables: StoreTables, values: Values): Promise<boolean> {
  const settings = { ...settingsOf(values), allowOtherOptions: values['allow-other-options'] ?? false }
  return database.engine === 'postgres'
    ? await migratePostgres(database.pool, tables, settings)
    : await migrateMysql(database.pool, tables, settings)
}

function migrationSql({ engine }: Database, tables: StoreTables, values: Values): string {
  if (engine === 'postgres')
    return postgresMigrationSql(tables, {
      ...settingsOf(values),
      allowOtherOptions: values['allow-other-options'] ?? false,
      transaction: !values['no-transaction'],
    })
  if (values['no-transaction'])
    throw new UsageError('--no-transaction is for PostgreSQL: here every statement commits by itself')
  if (values['allow-other-options'])
    throw new UsageError(
      '--allow-other-options is not needed: the SQL for this server never compares options',
    )
  return mysqlMigrationSql(tables, settingsOf(values))
}
