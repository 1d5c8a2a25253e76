/** The SQL of the store, with every kind of options: for tests that read it. */
import { type MysqlTables, mysqlMigrationSql } from '../../../src/stores/mysql/index.js'
import { lookupStatements } from '../../../src/stores/mysql/sql/lookups.js'
import { tablesOf } from '../../../src/stores/mysql/tables.js'

const players = { table: 'pam.accounts', id: 'no', currency: 'iso', balance: 'amount' }
const options: MysqlTables[] = [
  {},
  { players: { ...players, idType: 'bigint' } },
  { players: { ...players, idCollation: 'latin1_swedish_ci', balanceType: 'text' } },
  { players: { ...players, idType: 'uuid', balanceType: 'minor-units', minorUnits: { EUR: 2 } } },
]

function statementsOf(given: MysqlTables): string[] {
  const lookups = lookupStatements(tablesOf(given))
  const page = { playerId: '', playerKey: '', from: '', to: '', before: [''], after: [''], limit: 1 } as const
  return [
    mysqlMigrationSql(given, { lookupIndexes: true }),
    ...[lookups.bet(''), lookups.transaction(''), lookups.owed()].map(([text]) => text),
    ...[lookups.player(page), lookups.time(page)].map(([text]) => text),
  ]
}

/** Migration, procedures and lookups, as MySQL reads them: comments for its versions are code. */
export const allSql = options
  .flatMap(statementsOf)
  .join('\n')
  .replace(/\/\*!\d*(.*?)\*\//gs, '$1')

/** Without comments and literals. Names in quotes are QUOTED. */
export const codeOf = (text: string) =>
  text.replace(/\/\*.*?\*\/|--[^\n]*|'(?:[^'\\]|''|\\.)*'/gs, ' ').replace(/`[^`]*`/g, 'QUOTED')
