/** `bet-wallet grants`: prints the GRANT statements for a role. */
import { grantStatements, type RoleUse, roleUses } from '../../stores/database/rights.js'
import { granteeOf } from '../../stores/mysql/sql/quoting.js'
import { rightsOf as mysqlRightsOf } from '../../stores/mysql/sql/rights.js'
import { tablesOf as mysqlTablesOf } from '../../stores/mysql/tables.js'
import { quoted as postgresQuoted } from '../../stores/postgres/sql/quoting.js'
import { rightsOf as postgresRightsOf } from '../../stores/postgres/sql/rights.js'
import { tablesOf as postgresTablesOf } from '../../stores/postgres/tables.js'
import { escapeInvisible } from '../../visible-text.js'
import { type Database, withDatabase } from './database.js'
import { databaseUrlOf, urlOption } from './database-url.js'
import { option, otherwise } from './option.js'
import { playersOptions, type StoreTables, tablesGiven } from './players-options.js'
import { tablesIn } from './registered-tables.js'
import { command } from './subcommand.js'
import { UsageError } from './usage-error.js'

export const grants = command({
  usage: 'grants <role>',
  summary: 'prints the GRANT statements for a role of the database',
  about: `Prints the GRANT statements that a role of the database needs, and changes nothing. On MySQL and
MariaDB the role may be a user with its host: wallet@10.0.%`,
  exitCodes: "The exit code is 0, or 2 if the players' table is not known.",
  options: {
    use: otherwise(
      'store',
      option(
        '--for <use>',
        'store: the wallet; lookups: bet, player, transaction, owed and reconcile; settlements: PAM code' +
          ' that calls credit_bet_v1; relay: delivers the events of the outbox',
        useOf,
      ),
    ),
    databaseUrl: urlOption,
    ...playersOptions,
  },
  async work(values, role) {
    tablesGiven(values)
    return await withDatabase(databaseUrlOf(values.databaseUrl), async database => {
      const statements = grantsFor(database.engine, await tablesIn(database, values), values.use, role)
      if (values.use === 'store') console.log(grantsOfHook)
      for (const statement of statements) console.log(escapeInvisible(`${statement};`))
      return 0
    })
  },
})

function useOf(text: string, name: string): RoleUse {
  const use = roleUses.find(each => each === text)
  if (use !== undefined) return use
  throw new UsageError(`${name} must be ${roleUses.join(', ')}, not ${JSON.stringify(text)}`)
}

/** No check sees what a hook lacks: the first bet does. */
const grantsOfHook =
  '-- And to this role what the statements of your withinTransaction need: INSERT on your ledger.'

/** @param role as the catalog spells it; on MySQL and MariaDB a role, a user, or `user@host` */
export function grantsFor(
  engine: Database['engine'],
  tables: StoreTables,
  use: RoleUse,
  role: string,
): string[] {
  if (engine === 'postgres')
    return grantStatements(postgresRightsOf(postgresTablesOf(tables), use), postgresQuoted(role), {
      severalObjects: true,
    })
  return grantStatements(mysqlRightsOf(mysqlTablesOf(tables), use), granteeOf(role), {
    severalObjects: false,
  })
}
