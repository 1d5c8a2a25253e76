/** No name in the store's SQL is a reserved word of MySQL: MariaDB has others. */
import mysql from 'mysql2/promise'
import { expect, test } from 'vitest'
import { type MysqlTables, mysqlMigrationSql } from '../../../src/stores/mysql/index.js'
import {
  betStatement,
  playerStatement,
  timeStatement,
  transactionStatement,
} from '../../../src/stores/mysql/sql/lookups.js'
import { tablesOf } from '../../../src/stores/mysql/tables.js'
import { sharedMariadb } from '../../mariadb/fresh-database.js'
import { isMysql, noServer } from '../../mysql/engine.js'

const reason = isMysql ? noServer : 'MariaDB does not report which words are reserved'

const players = { table: 'pam.accounts', id: 'no', currency: 'iso', balance: 'amount' }
const options: MysqlTables[] = [
  {},
  { legacyBets: 'pam.bets', players: { ...players, idType: 'bigint' } },
  { players: { ...players, idCollation: 'latin1_swedish_ci', balanceType: 'text' } },
  { players: { ...players, idType: 'uuid', balanceType: 'minor-units', minorUnits: { EUR: 2 } } },
]

function statementsOf(given: MysqlTables): string[] {
  const tables = tablesOf(given)
  return [
    mysqlMigrationSql(given, { lookupIndexes: true }),
    betStatement(tables),
    transactionStatement(tables),
    playerStatement(tables, 1),
    timeStatement(tables, 1),
  ]
}

/** Names of tables and their aliases, of columns, variables and parameters, that are not quoted. */
function namesIn(text: string): Set<string> {
  const code = text.replace(/\/\*.*?\*\/|--[^\n]*|'(?:[^'\\]|''|\\.)*'/gs, ' ').replace(/`[^`]*`/g, 'QUOTED')
  const patterns = [
    /\b([a-z_]\w*)\s*\./gi,
    /\.\s*([a-z_]\w*)/gi,
    /\bDECLARE\s+([a-z_, ]+?)\s+(?:varchar|decimal|integer|boolean)/gi,
    /^\s*([a-z_]\w*)\s+(?:varchar|decimal|integer|boolean|bigint|datetime|longtext|FOR ORDINALITY)\b/gim,
    /\bAS\s+([a-z_]\w*)/gi,
    /\)\s+([a-z_]+)\s*$/gm,
  ]
  return new Set(
    patterns.flatMap(pattern =>
      [...code.matchAll(pattern)].flatMap(([, names = '']) =>
        names.split(/[\s,]+/).map(name => name.toUpperCase()),
      ),
    ),
  )
}

test.skipIf(reason !== null)(`names${reason === null ? '' : ` (skipped: ${reason})`}`, async () => {
  const connection = await mysql.createConnection((await sharedMariadb()).config)
  const [rows] = await connection.query('SELECT WORD FROM information_schema.KEYWORDS WHERE RESERVED = 1')
  await connection.end()
  const reserved = new Set((rows as { WORD: string }[]).map(({ WORD }) => WORD))
  expect(reserved).toContain('STORED')
  const names = namesIn(options.flatMap(statementsOf).join('\n'))
  for (const name of ['RECORDED', 'ITEM', 'BET_ID', 'IS_COMMITTING', 'REJECTED', 'KEY_ARRAY'])
    expect(names).toContain(name)
  // What stands behind a parenthesis or AS and is no name.
  const words = new Set(['NOT', 'THEN', 'UNSIGNED', 'SIGNED', 'CHAR', 'DECIMAL', 'BINARY', 'AND', 'OR', 'AS'])
  expect([...names].filter(name => reserved.has(name) && !words.has(name))).toEqual([])
})
