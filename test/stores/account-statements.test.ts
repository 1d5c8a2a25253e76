/** What accounts per currency cost a table without them: a column, and the currency in guard 3. */
import { describe, expect, test } from 'vitest'
import { proceduresOf } from '../../src/stores/mysql/sql/schema.js'
import { tablesOf as mysqlTablesOf } from '../../src/stores/mysql/tables.js'
import { functionsOf } from '../../src/stores/postgres/sql/schema.js'
import { tablesOf } from '../../src/stores/postgres/tables.js'

const named = { table: 'pam.accounts', id: 'id', currency: 'iso', balance: 'money' }
const mysqlNamed = { ...named, idCollation: 'utf8mb4_bin' }

const linesOf = (bodies: readonly { body: string }[]) =>
  bodies.flatMap(({ body }) => body.split('\n').map(line => line.trim()))

/** Lines that name the currency column, or compare what was read of it. */
const ofCurrency = (lines: readonly string[]) =>
  lines.filter(line => /[`"]iso[`"]|<> item[._]account_currency/.test(line))

describe.each([
  {
    engine: 'PostgreSQL',
    statementsOf: (more: object) => linesOf(functionsOf(tablesOf({ players: { ...named, ...more } }))),
    without: [
      `SELECT coalesce(player."iso"::text, '') AS currency, CASE`,
      `coalesce(player."iso"::text, '') AS currency,`,
      "WHEN player.currency <> item.account_currency THEN 'conflict' -- guard 3",
      `SELECT coalesce(player."iso"::text, ''), CASE`,
      'AND player."iso"::text = item.account_currency',
      'AND player."iso"::text = item.account_currency',
    ],
    // Lock, busy, UPDATE, what triggers left; of one: lock, busy, UPDATE, what triggers left; credit_bet_v1.
    further: 9,
  },
  {
    engine: 'MariaDB and MySQL',
    statementsOf: (more: object) =>
      linesOf(proceduresOf(mysqlTablesOf({ players: { ...mysqlNamed, ...more } }))),
    without: [
      "CAST(CAST(IF(player.`id` IS NULL, NULL, COALESCE(CONVERT(player.`iso` USING utf8mb4), '')) AS char CHARACTER SET utf8mb4) AS binary),",
      "SELECT item.player_id, COALESCE(CONVERT(player.`iso` USING utf8mb4), ''), player.`money`",
      "WHEN locked.currency <> item.account_currency THEN 'conflict' -- guard 3",
      "SELECT true, COALESCE(CONVERT(player.`iso` USING utf8mb4), ''), player.`money`,",
      'IF player_currency <> item_account_currency THEN',
    ],
    // Twice each, by the index and exactly: lock, busy, UPDATE, balance; of one: lock, busy, UPDATE, balance; credit_bet_v1.
    further: 18,
  },
])('the statements on $engine', ({ statementsOf, without, further }) => {
  test('name the currency of a player to read it, and in guard 3, without accounts per currency', () => {
    expect(ofCurrency(statementsOf({}))).toEqual(without)
    expect(statementsOf({ accountPerCurrency: false })).toEqual(statementsOf({}))
  })

  test('count a version column up in the two statements that change a balance, and are else the same', () => {
    const counting = statementsOf({ version: 'lock' }).filter(line => line.includes('COALESCE(player.'))
    const plain = (more: object) =>
      statementsOf(more).map(line => line.replace(/,$/, '').replace(/_[0-9a-f]{8}\b/g, ''))
    expect(counting.filter(line => /[`"]lock[`"]/.test(line))).toHaveLength(2)
    // Their lines before it end with a comma, as the first of several assignments.
    const others = plain({ version: 'lock' }).filter(line => !/[`"]lock[`"]/.test(line))
    expect(others).toEqual(plain({}))
  })

  test('name it wherever they find a row by its player, with accounts per currency', () => {
    expect(ofCurrency(statementsOf({ accountPerCurrency: true })).length - without.length).toBe(further)
  })
})
