/**
 * The SQL uses no feature newer than MySQL 8.0.29. The versions are those of the manual of 8.0. No server of 8.0 is
 * run: Debian has none any more.
 */
// cspell:ignore tablesample
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { root } from '../../docs/pages.js'
import { allSql, codeOf } from './sql-text.js'

/** As check-server.ts requires it. */
const oldest = '8.0.29'

/** What MySQL 8.0 brought, of what the store uses, and a pattern of it. */
const used: [feature: string, since: string, pattern: RegExp][] = [
  ['SKIP LOCKED and FOR UPDATE OF', '8.0.1', /FOR UPDATE (OF \w+ )?SKIP LOCKED/],
  ['JSON_TABLE', '8.0.4', /JSON_TABLE\(/],
  ['regular expressions of ICU, with (?=', '8.0.4', /\(\?[=!]/],
  ['expressions as defaults of columns', '8.0.13', /DEFAULT \(/],
  ['CHECK', '8.0.16', /\bCHECK \(/],
  ['utf8mb4_0900_bin', '8.0.17', /utf8mb4_0900_bin/],
  ['JSON_VALUE', '8.0.21', /JSON_VALUE\(/],
  ['invisible columns', '8.0.23', /\bINVISIBLE\b/],
  ['IF NOT EXISTS of procedures', '8.0.29', /PROCEDURE {1,2}IF NOT EXISTS/],
]

/** What came later: a statement that reads like MySQL and runs on 9.7 may have it. */
const newer: [feature: string, since: string, pattern: RegExp][] = [
  ['INTERSECT and EXCEPT', '8.0.31', /\b(INTERSECT|EXCEPT)\b/i],
  ['FULL and QUALIFY', '9.0', /\b(FULL (OUTER )?JOIN|QUALIFY)\b/i],
  ['vectors', '9.0', /\bVECTOR\b/i],
  ['TABLESAMPLE', '9.0', /\bTABLESAMPLE\b/i],
]

/** Functions of every MySQL 5.7, and those of `used`. */
const functions = new Set(
  `ABS BINARY CAST CHAR_LENGTH COALESCE CONCAT CONVERT COUNT GET_LOCK GREATEST IF JSON_TABLE JSON_VALUE LEFT LOCATE MAX MIN
  MOD RELEASE_LOCK REPLACE ROUND ROW_COUNT SUM TIMESTAMPDIFF TRIM UNHEX UNIX_TIMESTAMP UTC_TIMESTAMP UUID_SHORT VERSION`.split(
    /\s+/,
  ),
)

/** What may stand before a parenthesis too. */
const words = new Set(
  `AND AS BY CHAR CHECK COLUMNS COMMIT DECIMAL DEFAULT END EXISTS FROM IN INDEX INTO JOIN KEY NOT ON OR OVER PROCEDURE
  SELECT THEN UNIQUE UPDATE VALUES VARCHAR WHEN WHERE`.split(/\s+/),
)

const folder = join(root, 'src/stores/mysql')
const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter(name => name.endsWith('.ts'))
  .map(name => readFileSync(join(folder, name), 'utf8'))

const numberOf = (version: string) =>
  version.split('.').reduce((sum, part, index) => sum + Number(part) * 1_000 ** (2 - index), 0)

test.each(used)('%s, since %s, is used, and the oldest server has it', (_, since, pattern) => {
  expect(allSql).toMatch(pattern)
  expect(numberOf(since)).toBeLessThanOrEqual(numberOf(oldest))
})

test('the oldest server that is accepted is the one that brought the newest of them', () => {
  const newest = used.map(([, since]) => since).sort((one, other) => numberOf(other) - numberOf(one))[0]
  expect(newest).toBe(oldest)
  expect(sources.join('\n')).toContain(`MySQL ${oldest} or newer is required`)
})

test.each(newer)('%s, since %s, is not used', (_, since, pattern) => {
  expect(numberOf(since)).toBeGreaterThan(numberOf(oldest))
  expect(codeOf(allSql)).not.toMatch(pattern)
})

test('every function is one of the oldest server', () => {
  const calls = [codeOf(allSql), ...sources.map(text => text.replace(/^ *(\/?\*|\/\/).*$/gm, ''))].flatMap(
    text => [...text.matchAll(/\b([A-Z][A-Z0-9_]+) ?\(/g)].map(([, name = '']) => name),
  )
  for (const name of ['JSON_TABLE', 'UTC_TIMESTAMP', 'GET_LOCK']) expect(calls).toContain(name)
  expect([...new Set(calls)].filter(name => !functions.has(name) && !words.has(name))).toEqual([])
})
