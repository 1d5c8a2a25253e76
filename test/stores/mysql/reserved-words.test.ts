/** No name in the store's SQL is a reserved word of MySQL: MariaDB has others. */
import mysql from 'mysql2/promise'
import { expect, test } from 'vitest'
import { sharedMariadb } from '../../mariadb/fresh-database.js'
import { isMysql, noServer } from '../../mysql/engine.js'
import { allSql, codeOf } from './sql-text.js'

const reason = isMysql ? noServer : 'MariaDB does not report which words are reserved'

/** Names of tables and their aliases, of columns, variables and parameters, that are not quoted. */
function namesIn(text: string): Set<string> {
  const code = codeOf(text)
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
  const names = namesIn(allSql)
  for (const name of ['RECORDED', 'ITEM', 'BET_ID', 'IS_COMMITTING', 'KEY_ARRAY'])
    expect(names).toContain(name)
  // What stands behind a parenthesis or AS and is no name.
  const words = new Set(['NOT', 'THEN', 'UNSIGNED', 'SIGNED', 'CHAR', 'DECIMAL', 'BINARY', 'AND', 'OR', 'AS'])
  expect([...names].filter(name => reserved.has(name) && !words.has(name))).toEqual([])
})
