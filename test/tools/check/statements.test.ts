/** The list of statements that write balances, from what a server has kept of them. */
import { describe, expect, test } from 'vitest'
import { additions, type BalanceColumn, statementsFinding } from '../../../src/tools/check/statements.js'
import { growthProblem } from '../../regular-expressions.js'

const accounts: BalanceColumn = { schema: 'pam', table: 'accounts', column: 'balance' }
const own = '"pam"."accounts" player'

const findingOf = (texts: readonly string[], columns: readonly BalanceColumn[] = [accounts]) =>
  statementsFinding({
    statements: texts.map((text, index) => ({
      text,
      calls: index + 1,
      details: ['last seen 2026-11-26 14:51'],
    })),
    ...{ columns, own, about: 'recorded since 2026-11-20', forget: 'Forget it: TRUNCATE' },
  })

const wallets: BalanceColumn = { schema: 'public', table: 'Wallet', column: 'balance' }
const hosts: readonly (readonly [string, BalanceColumn, string])[] = [
  [
    'lendsqr: Knex on MariaDB',
    accounts,
    'UPDATE `accounts` SET `balance` = ? , `updated_at` = ? WHERE `id` = ?',
  ],
  [
    'zoroplay: TypeORM on MySQL',
    { schema: 'zoroplay', table: 'wallets', column: 'available_balance' },
    'UPDATE `wallets` SET `available_balance` = ? , `updated_at` = CURRENT_TIMESTAMP WHERE `id` IN (?)',
  ],
  [
    'StakeClone: Sequelize on MariaDB',
    { schema: 'stake', table: 'users', column: 'deposit' },
    'UPDATE `users` SET `deposit` = ? , `updatedAt` = ? WHERE `id` = ?',
  ],
  [
    'GoRide: save() of Django on MySQL',
    { schema: 'goride', table: 'wallet_wallet', column: 'balance' },
    'UPDATE `wallet_wallet` SET `user_id` = ? , `balance` = ? , `updated_at` = ? WHERE `wallet_wallet` . `id` = ?',
  ],
  [
    'dota: update({ balance }) of Prisma',
    wallets,
    'UPDATE "public"."Wallet" SET "balance" = $1, "updatedAt" = $2 WHERE ("public"."Wallet"."id" = $3 AND 1=1) RETURNING "public"."Wallet"."id", "public"."Wallet"."balance"',
  ],
  [
    'crash: save() of TypeORM',
    { schema: 'public', table: 'wallets', column: 'balance' },
    'UPDATE "wallets" SET "balance" = $1, "updated_at" = CURRENT_TIMESTAMP WHERE "id" IN ($2) RETURNING "updated_at"',
  ],
  [
    'Sequelize with a version column',
    accounts,
    'UPDATE "pam"."accounts" SET "balance"=$1,"version"=$2,"updatedAt"=$3 WHERE "id" = $4 AND "version" = $5',
  ],
]

test.each(hosts)('%s lost updates: it stands under "read these", in full', (_, column, text) => {
  const found = findingOf([text], [column])
  expect(found.state).toBe('read')
  expect(found.text).toContain('Read these 1.')
  expect(found.text).toContain('0 statements on ')
  expect(found.lines).toEqual([`1 call, last seen 2026-11-26 14:51: ${text}`])
})

describe('adds in the statement: counted', () => {
  test.each([
    ['UPDATE accounts SET balance = balance + $1 WHERE id = $2'],
    ['UPDATE `accounts` SET `balance` = `balance` - ? WHERE `id` = ? AND `balance` >= ?'],
    // F() of Django, increment of Prisma, TypeORM, Knex and Sequelize.
    ['UPDATE `accounts` SET `balance` = ( `accounts` . `balance` + ? ) WHERE `accounts` . `id` = ?'],
    [
      'UPDATE "public"."accounts" SET "balance" = ("public"."accounts"."balance" + $1) WHERE ("public"."accounts"."id" = $2 AND 1=1)',
    ],
    ['UPDATE `accounts` SET `balance` = `balance` + ? , `updated_at` = CURRENT_TIMESTAMP WHERE `id` = ?'],
    ['update "pam"."accounts" set "balance" = "balance" + $1 where "id" = $2'],
    ['UPDATE "accounts" SET "balance"="balance"+ 5,"updatedAt"=$1 WHERE "id" = $2 RETURNING "id","balance"'],
    // With casts.
    ['UPDATE accounts SET balance = (accounts.balance)::numeric(18, 2) - $1 WHERE id = $2'],
    ['UPDATE accounts SET balance = balance::numeric + $1::numeric WHERE id = $2'],
    [
      'UPDATE accounts player SET balance = (player.balance::numeric + item.balance_delta)::text FROM items item',
    ],
    ['UPDATE accounts SET balance = CAST(balance AS numeric(18, 2)) + $1'],
    ['UPDATE accounts SET balance = balance::double precision + $1'],
    ['UPDATE "accounts" SET "balance" = COALESCE("balance", $1) + $2 WHERE "id" = $3'],
    [
      'INSERT INTO accounts (id, balance) VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET balance = accounts.balance + EXCLUDED.balance',
    ],
    [
      'INSERT INTO `accounts` VALUES (...) ON DUPLICATE KEY UPDATE `balance` = `balance` + VALUES ( `balance` )',
    ],
    [
      'MERGE INTO accounts a USING sent ON sent.id = a.id WHEN MATCHED THEN UPDATE SET balance = a.balance + sent.amount',
    ],
    [
      'WITH paid AS (\n  UPDATE accounts\n  SET balance = balance - $1\n  RETURNING id\n)\nSELECT id FROM paid',
    ],
  ])('%s', text => expect(findingOf([text])).toMatchObject({ state: 'ok', lines: [] }))
})

describe('anything else that writes: read', () => {
  test.each([
    ['update ONLY pam.accounts AS a set balance = $1::numeric where a.id = $2'],
    ['UPDATE accounts SET (balance, version) = ($1, version + $2) WHERE id = $3'],
    ['UPDATE accounts SET balance = (SELECT balance FROM staging WHERE staging.id = accounts.id)'],
    ['INSERT INTO accounts (id, balance) VALUES ($1, $2)'],
    [
      'INSERT INTO accounts (id, balance) VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET balance = EXCLUDED.balance',
    ],
    [
      'INSERT INTO accounts (id, balance) VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET balance = "excluded"."balance" + $3',
    ],
    ['REPLACE INTO `accounts` ( `id` , `balance` ) VALUES (...)'],
    [
      'MERGE INTO accounts a USING sent ON sent.id = a.id WHEN MATCHED THEN UPDATE SET balance = sent.balance',
    ],
    ['/* orm: save */ UPDATE accounts SET balance = $1 -- SET balance = balance + $1\nWHERE id = $2'],
    ['UPDATE accounts SET note = CASE WHEN x THEN 1 ELSE 2 END, balance = $1 WHERE id = $2'],
    ['UPDATE accounts SET balance = CASE id WHEN $1 THEN balance + $2 WHEN $3 THEN $4 ELSE balance END'],
    ['UPDATE `accounts` SET `balance` = GREATEST ( `balance` - ? , ? ) WHERE `id` = ?'],
    ['UPDATE accounts SET balance = balance * $1'],
    ['UPDATE accounts SET balance = COALESCE($1, balance - $2) WHERE id = $3'],
    ['UPDATE accounts SET balance = $1 WHERE id = $2 AND balance = $3'],
    ['UPDATE accounts SET bonus_balance = bonus_balance + $1, balance = $2'],
    // Both in one statement.
    ['WITH a AS (UPDATE accounts SET balance = balance + $1) UPDATE accounts SET balance = $2'],
    ['WITH a AS (UPDATE accounts SET balance = $2) UPDATE accounts SET balance = balance + $1'],
    // The server kept only the beginning, here of an addition.
    ['UPDATE `accounts` SET `name` = ? , `street` = ? , `to ...'],
    ['UPDATE `accounts` SET `balance` = `balance` + ? , `name` = ? WHERE ...'],
  ])('%s', text => expect(findingOf([text])).toMatchObject({ state: 'read', lines: [expect.any(String)] }))
})

describe('no write of the balance, or the wallet itself: nothing was seen', () => {
  test.each([
    ['SELECT balance FROM accounts WHERE id = $1 FOR UPDATE'],
    ['SELECT `balance` , `name` FROM `accounts` WHERE ...'],
    ['EXPLAIN UPDATE accounts SET balance = $1'],
    ['CREATE TRIGGER log_balance AFTER UPDATE ON pam.accounts FOR EACH ROW WHEN (NEW.balance < OLD.balance)'],
    ['GRANT UPDATE (balance) ON pam.accounts TO wallet'],
    ['UPDATE accounts SET status = $1, updated_at = now()'],
    ['UPDATE accounts SET balance_limit = $1, old_balance = $2'],
    ['UPDATE accounts_old SET balance = $1 WHERE id = $2'],
    ['UPDATE my_accounts SET balance = $1 WHERE id = $2'],
    [`UPDATE ${own} SET "balance" = $1`],
  ])('%s', text => {
    const found = findingOf([text])
    expect(found).toMatchObject({ state: 'skipped', lines: [] })
    expect(found.text).toMatch(
      /^nothing was seen: .* pam\.accounts was recorded but the wallet's own; recorded since/,
    )
  })
})

test('the most called first, the additions as a count, and how to forget one', () => {
  const [first, second] = ['UPDATE accounts SET balance = $1', 'UPDATE accounts\n  SET balance = $2']
  const { state, text, lines } = findingOf([first, 'UPDATE accounts SET balance = balance + $1', second])
  expect(state).toBe('read')
  expect(text).toMatch(
    /^1 statement on pam\.accounts adds to the balance in the statement; recorded since 2026-11-20\. Read these 2\. .* Forget it: TRUNCATE$/,
  )
  expect(text).not.toContain('max_digest_length')
  expect(lines).toEqual([
    '3 calls, last seen 2026-11-26 14:51: UPDATE accounts SET balance = $2',
    `1 call, last seen 2026-11-26 14:51: ${first}`,
  ])
})

test('a cut text: says what the server must keep', () => {
  expect(findingOf(['UPDATE `accounts` SET ...']).text).toContain('raise max_digest_length')
})

test('of a view, the table below counts with its own column, or with any where that is not known', () => {
  const view = { schema: 'pam', table: 'v', column: 'balance' }
  const below = (column: string | null) => [view, { schema: 'pam', table: 'accounts', column }]
  expect(findingOf(['UPDATE accounts SET cents = $1'], below('cents')).state).toBe('read')
  expect(findingOf(['UPDATE accounts SET cents = cents + $1'], below('cents')).state).toBe('ok')
  expect(findingOf(['UPDATE accounts SET name = $1'], below('cents')).state).toBe('skipped')
  expect(findingOf(['UPDATE accounts SET cents = cents + $1'], below(null)).state).toBe('read')
})

test('names that are patterns, and a text without end: no pattern of ours breaks', () => {
  const column = 'b.a|l(a'
  const odd = { schema: 'pam', table: 'a+c', column }
  expect(findingOf([`UPDATE "a+c" SET "${column}" = "${column}" + $1`], [odd]).state).toBe('ok')
  expect(findingOf([`UPDATE "a+c" SET "${column}" = $1`], [odd]).state).toBe('read')
  // A pattern that tries every division of these would not end.
  expect(additions('balance').test(`UPDATE accounts SET balance = ${'( balance :: x '.repeat(5_000)}`)).toBe(
    false,
  )
  expect(additions('balance').test(`UPDATE accounts SET ${'balance = balance '.repeat(5_000)}`)).toBe(false)
  expect(growthProblem(additions('balance'))).toBeNull()
})
