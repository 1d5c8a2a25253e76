/** `bet-wallet grants`: prints the GRANT statements for a role. */
import type { ParseArgsConfig } from 'node:util'
import { grantStatements, type RoleUse, roleUses } from '../../stores/database/rights.js'
import { granteeOf } from '../../stores/mysql/sql/quoting.js'
import { rightsOf as mysqlRightsOf } from '../../stores/mysql/sql/rights.js'
import { tablesOf as mysqlTablesOf } from '../../stores/mysql/tables.js'
import { quoted as postgresQuoted } from '../../stores/postgres/sql/quoting.js'
import { rightsOf as postgresRightsOf } from '../../stores/postgres/sql/rights.js'
import { tablesOf as postgresTablesOf } from '../../stores/postgres/tables.js'
import { escapeInvisible } from '../../visible-text.js'
import { parseWords, UsageError } from './arguments.js'
import { type Database, withDatabase } from './database.js'
import { databaseUrlOf } from './database-url.js'
import { grantsHelp } from './help.js'
import { playersArguments, type StoreTables, tablesGiven } from './players-options.js'
import { tablesIn } from './registered-tables.js'

const grantsArguments = {
  ...playersArguments,
  'database-url': { type: 'string' },
  for: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const satisfies ParseArgsConfig['options']

export async function grants(words: string[]): Promise<number> {
  const { values, positionals } = parseWords(words, grantsArguments)
  if (values.help) {
    console.log(grantsHelp)
    return 0
  }
  const [role, ...more] = positionals
  if (role === undefined || role === '' || more.length > 0)
    throw new UsageError('Name one role: bet-wallet grants wallet')
  const use = useOf(values.for)
  tablesGiven(values)
  return await withDatabase(databaseUrlOf(values), async database => {
    if (use === 'store') console.log(grantsOfHook)
    for (const statement of grantsFor(database.engine, await tablesIn(database, values), use, role))
      console.log(escapeInvisible(`${statement};`))
    return 0
  })
}

function useOf(text = 'store'): RoleUse {
  const use = roleUses.find(each => each === text)
  if (use !== undefined) return use
  throw new UsageError(`--for must be ${roleUses.join(', ')}, not ${JSON.stringify(text)}`)
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
