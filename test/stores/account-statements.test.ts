/** What accounts per currency cost a table without them: a column, and the currency in guard 3. */
import { describe, expect, test } from 'vitest'
import { mysqlMigrationSql } from '../../src/stores/mysql/index.js'
import { proceduresOf } from '../../src/stores/mysql/sql/schema.js'
import { tablesOf as mysqlTablesOf } from '../../src/stores/mysql/tables.js'
import { postgresMigrationSql } from '../../src/stores/postgres/index.js'
import { functionsOf } from '../../src/stores/postgres/sql/schema.js'
import { tablesOf } from '../../src/stores/postgres/tables.js'

const named = { table: 'pam.accounts', id: 'id', currency: 'iso', balance: 'money' }
const mysqlNamed = { ...named, idCollation: 'utf8mb4_bin' }

/** Of a load, and of what a commit returns of a conflict. */
const loadedOnMysql =
  "CAST(CAST(IF(player.`id` IS NULL, NULL, COALESCE(CONVERT(player.`iso` USING utf8mb4), '')) AS char CHARACTER SET utf8mb4) AS binary),"

const linesOf = (bodies: readonly { body: string }[]) =>
  bodies.flatMap(({ body }) => body.split('\n').map(line => line.trim()))

/** Lines that name the currency column, or compare what was read of it. */
const ofCurrency = (lines: readonly string[]) =>
  lines.filter(line => /[`"]iso[`"]|<> item[._]account_currency/.test(line))

describe.each([
  {
    engine: 'PostgreSQL',
    statementsOf: (more: object) => linesOf(functionsOf(tablesOf({ players: { ...named, ...more } }))),
    sqlOf: (more: object) => postgresMigrationSql({ players: { ...named, ...more } }),
    hashOf: (more: object) => tablesOf({ players: { ...named, ...more } }).optionSet.hash,
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
    sqlOf: (more: object) => mysqlMigrationSql({ players: { ...mysqlNamed, ...more } }),
    hashOf: (more: object) => mysqlTablesOf({ players: { ...mysqlNamed, ...more } }).optionSet.hash,
    without: [
      loadedOnMysql,
      "SELECT item.player_id, COALESCE(CONVERT(player.`iso` USING utf8mb4), ''), player.`money`",
      "WHEN locked.currency <> item.account_currency THEN 'conflict' -- guard 3",
      loadedOnMysql,
      "SELECT true, COALESCE(CONVERT(player.`iso` USING utf8mb4), ''), player.`money`,",
      'IF player_currency <> item_account_currency THEN',
      loadedOnMysql,
    ],
    // Twice each, by the index and exactly: lock, busy, UPDATE, balance; of one: lock, busy, UPDATE, balance; credit_bet_v1.
    further: 18,
  },
])('the statements on $engine', ({ statementsOf, sqlOf, hashOf, without, further }) => {
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

  test('have names of their own with a version column, which the migration registers', () => {
    expect(hashOf({ version: 'lock' })).not.toBe(hashOf({}))
    expect(sqlOf({ version: 'lock' })).toContain('"players.version": "lock"')
    expect(sqlOf({})).not.toContain('"players.version"')
  })

  test('name it wherever they find a row by its player, with accounts per currency', () => {
    expect(ofCurrency(statementsOf({ accountPerCurrency: true })).length - without.length).toBe(further)
  })
})

const exact = '/*!80017 utf8mb4_0900_bin *//*M! utf8mb4_nopad_bin */'

describe.each([
  {
    engine: 'PostgreSQL',
    sqlOf: (accountPerCurrency: boolean) =>
      postgresMigrationSql({ players: { ...named, accountPerCurrency } }, { lookupIndexes: true }),
    // What the option adds, as often as it does.
    added: [
      [/^ +"players\.accountPerCurrency": true,\n/gm, '', 2],
      [/^ +changed_currencies (?:text\[\];|:= .*)\n/gm, '', 2],
      [/^ +AND \(player\."id"::text \|\| chr\(10\) .*\n +SELECT .*\n +\)\)\n/gm, '', 1],
      [/(?<=\S) AND player\.(?:"iso"::text|currency) = \w+\.(?:account_)?currency$/gm, '', 9],
      [/(?<=player_balance), item\.account_currency$/gm, '', 1],
      [/(?<=changed_balances), changed_currencies|(?<=player_id, balance), currency(?=\)$)/gm, '', 2],
      [/^ +IF NOT found THEN\n.* has no account in %'.*\n.*\n +END IF;\n/gm, '', 1],
    ],
    currency: [
      'account_currency text,',
      "'account_currency', transaction.account_currency::text,",
      'unnest(fields[14]::text[]) AS account_currency,',
      "WHEN player.currency <> item.account_currency THEN 'conflict' -- guard 3",
      'amount, currency, type, delta, account_currency,',
      'item.amount, item.currency, item.type, item.delta, item.account_currency,',
      'fields[14] AS account_currency,',
      'AND player."iso"::text = item.account_currency',
      'AND player."iso"::text = item.account_currency',
      'amount, currency, type, delta, account_currency,',
      'item.amount, item.currency, item.type, item.delta, item.account_currency,',
    ],
  },
  {
    engine: 'MariaDB and MySQL',
    sqlOf: (accountPerCurrency: boolean) =>
      mysqlMigrationSql({ players: { ...mysqlNamed, accountPerCurrency } }, { lookupIndexes: true }),
    added: [
      [/ {2}"players\.accountPerCurrency": true,\\n/g, '', 4],
      [/ NOT NULL(?=,\n.*\n +balance decimal\(65,20\),\n +PRIMARY KEY)/g, ' NOT NULL PRIMARY KEY', 1],
      [/,\n +PRIMARY KEY \(player_id, currency\)/g, '', 1],
      [/(?<=PATH '\$)\[0\](?=', account_currency)/g, '', 1],
      [/, account_currency varchar\(16\) .* PATH '\$\[1\]'(?=\)\) item$)/gm, '', 1],
      [/\n +AND player\.`iso` = CONVERT\(.*\n +AND CONVERT\(player\.`iso` .*?_currency(?=\n|[);])/g, '', 9],
      [/(?<=\S) AND locked\.currency = item\.account_currency$/gm, '', 4],
      [/^ +DECLARE bet_currency .*\n|, bet\.currency(?= INTO)|(?<=known_player_id), bet_currency/gm, '', 3],
      [/^ +SET bet_currency = .*\n/gm, '', 1],
      [/^ +IF is_locked IS NULL THEN\n.* no account in .*\n.*\n +END IF;\n/gm, '', 1],
    ],
    currency: [
      'account_currency varchar(16),',
      'CAST(CAST(recorded.account_currency AS char CHARACTER SET utf8mb4) AS binary),',
      `account_currency varchar(16) CHARACTER SET utf8mb4 COLLATE ${exact},`,
      "WHEN locked.currency <> item.account_currency THEN 'conflict' -- guard 3",
      'item.account_currency,',
      `account_currency varchar(16) CHARACTER SET utf8mb4 COLLATE ${exact} PATH '$[13]' ERROR ON ERROR,`,
      'account_currency,',
      'item.account_currency,',
      'CAST(CAST(recorded.account_currency AS char CHARACTER SET utf8mb4) AS binary),',
      `item_account_currency varchar(16) CHARACTER SET utf8mb4 COLLATE ${exact},`,
      'IF player_currency <> item_account_currency THEN',
      'account_currency,',
      'item_account_currency,',
      'CAST(CAST(recorded.account_currency AS char CHARACTER SET utf8mb4) AS binary),',
    ],
  },
] as const)('the whole SQL of the migration on $engine', ({ sqlOf, added, currency }) => {
  const withoutHashes = (sql: string) => sql.replace(/(?<=VALUES \('|_)[0-9a-f]{8}(?![0-9a-f])/g, '…')

  test('without accounts per currency, it names the currency of an account in a column and guard 3 only', () => {
    const lines = sqlOf(false)
      .split('\n')
      .map(line => line.trim())
    expect(lines.filter(line => line.includes('account_currency'))).toEqual(currency)
  })

  test('with them, it is the same text and what they add', () => {
    let sql = withoutHashes(sqlOf(true))
    for (const [pattern, replacement, count] of added) {
      expect([pattern.source, sql.match(pattern)?.length]).toEqual([pattern.source, count])
      sql = sql.replace(pattern, replacement)
    }
    expect(sql).toBe(withoutHashes(sqlOf(false)))
  })
})
