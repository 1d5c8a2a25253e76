/** `bet-wallet grants`: prints the GRANT statements for a role. */
import { type RoleUse, roleUses } from '../../stores/database/rights.js'
import { escapeInvisible } from '../../visible-text.js'
import { databaseUrlOf, urlOption, withDatabase } from './database-url.js'
import { form, otherwise } from './option.js'
import { playersOptions, tablesGiven, tablesIn } from './players-options.js'
import { command } from './subcommand.js'

const roleUse = form(
  new RegExp(`^(?:${roleUses.join('|')})$`),
  roleUses.join(', '),
  ([use]) => use as RoleUse,
)

export const grants = command({
  usage: 'grants <role>',
  summary: 'prints the GRANT statements for a role of the database',
  about: `Prints the GRANT statements that a role of the database needs, and changes nothing. On MySQL and
MariaDB the role may be a user with its host: wallet@10.0.%`,
  exitCodes: "The exit code is 0, or 2 if the players' table is not known.",
  options: {
    use: otherwise(
      'store',
      roleUse(
        '--for <use>',
        'store: the wallet; lookups: bet, player, transaction, owed and reconcile; settlements: PAM code' +
          ' that calls credit_bet_v1; relay: delivers the events of the outbox',
      ),
    ),
    databaseUrl: urlOption,
    ...playersOptions,
  },
  async work(values, role) {
    const given = tablesGiven(values)
    return await withDatabase(databaseUrlOf(values.databaseUrl), async database => {
      const tables = given ?? (await tablesIn(database, values))
      const statements = database.grants(tables, values.use, role)
      if (values.use === 'store') {
        console.log(grantsOfHook)
        // Where the options name the table, no statement is sent.
        if (given === null) statements.push(...((await database.grantsBelow?.(tables, role)) ?? []))
      }
      for (const statement of statements) console.log(escapeInvisible(`${statement};`))
      return 0
    })
  },
})

/** No check sees what a hook lacks: the first bet does. */
const grantsOfHook =
  '-- And to this role what the statements of your withinTransaction need: INSERT on your ledger.'
