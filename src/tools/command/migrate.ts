/** `bet-wallet migrate`: creates the library's tables for a players' table, or brings them up to date. */
import { escapeInvisible } from '../../visible-text.js'
import { databaseUrlOf, urlOption, withDatabase } from './database-url.js'
import { off, on } from './option.js'
import { printReport } from './output.js'
import { playersOptions, tablesGiven, tablesIn } from './players-options.js'
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

export const migrate = command({
  usage: 'migrate',
  summary: "creates the library's tables for your players' table, or prints the SQL",
  about: `Creates the library's tables, or brings them up to date, as migratePostgres and migrateMysql do.
Your players' table is not changed. Where there is nothing to do, it only reads.`,
  exitCodes: 'The exit code is 0, or 2 if the migration was not possible.',
  options,
  async work(values) {
    const { lookupIndexes = false, allowOtherOptions = false, transaction = true } = values
    const choices = { lookupIndexes, allowOtherOptions, transaction }
    if (!transaction && !values.print) throw new UsageError('--no-transaction needs --print')
    // Before a connection: half of a table is an error of usage.
    tablesGiven(values)
    return await withDatabase(databaseUrlOf(values.databaseUrl), async database => {
      const tables = await tablesIn(database, values)
      if (values.print) process.stdout.write(escapeInvisible(database.migrationSql(tables, choices)))
      else {
        const word = (await database.migrate(tables, choices)) ? 'Migrated' : 'Nothing to do'
        const { schema = 'bet_wallet', players } = tables
        const sentence = `the schema ${schema}, for ${players?.table ?? "a players' table of its own"}.`
        const verdict = { tone: 'pass', word, sentence } as const
        printReport({ title: 'Migration', verdict, sections: [] })
      }
      return 0
    })
  },
})
