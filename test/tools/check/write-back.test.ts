/** Which statements may set a balance instead of adding to it, as pg_stat_statements and the digests of MySQL and MariaDB keep them. */
import { describe, expect, test } from 'vitest'
import { balanceWriteOf } from '../../../src/tools/check/write-back.js'

const accounts = { schema: 'pam', table: 'accounts', column: 'balance' }

describe('sets the balance', () => {
  test.each([
    'UPDATE accounts SET balance = $1 WHERE id = $2',
    'UPDATE "pam"."accounts" SET "updated_at" = $1, "balance" = $2 WHERE "id" = $3',
    'UPDATE `pam` . `accounts` SET `balance` = ? , `version` = ? WHERE `id` = ? AND `version` = ?',
    'update ONLY pam.accounts AS a set balance = $1::numeric where a.id = $2',
    'UPDATE accounts SET balance = $1 WHERE id = $2 AND balance >= $3',
    'UPDATE accounts SET (balance, version) = ($1, version + $2) WHERE id = $3',
    'UPDATE accounts SET (balance, version) = ROW($1, version + $2) WHERE id = $3',
    'UPDATE accounts SET balance = s.balance FROM staging s WHERE s.id = accounts.id',
    'UPDATE accounts SET balance = (SELECT sum(amount) FROM ledger WHERE ledger.id = accounts.id)',
    'UPDATE accounts SET balance = (SELECT balance FROM staging WHERE staging.id = accounts.id)',
    'UPDATE `accounts` `a` JOIN `players` `p` ON `p` . `id` = `a` . `id` SET `a` . `balance` = ? WHERE `p` . `name` = ?',
    'WITH changed AS (UPDATE accounts SET balance = $1 WHERE id = $2 RETURNING id) SELECT * FROM changed',
    'INSERT INTO accounts (id, balance) VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET balance = EXCLUDED.balance',
    'INSERT INTO `accounts` ( `id` , `balance` ) VALUES (...) ON DUPLICATE KEY UPDATE `balance` = VALUES ( `balance` )',
    'INSERT INTO `accounts` VALUES (...) AS `new` ON DUPLICATE KEY UPDATE `balance` = `new` . `balance`',
    'MERGE INTO accounts a USING sent ON sent.id = a.id WHEN MATCHED THEN UPDATE SET balance = sent.balance',
    'REPLACE INTO `accounts` ( `id` , `balance` ) VALUES (...)',
    'REPLACE INTO `accounts` VALUES (...)',
    'EXPLAIN ANALYZE UPDATE accounts SET balance = $1',
    '/* orm: save */ UPDATE accounts SET balance = $1 -- SET balance = balance + $1\nWHERE id = $2',
    // CASE, and quoted names that are words of SQL, do not end the list of assignments.
    'UPDATE accounts SET note = CASE WHEN x THEN 1 ELSE 2 END, balance = $1 WHERE id = $2',
    'UPDATE accounts SET "limit" = $1, "end" = $2, balance = $3 WHERE id = $4',
    // Their conditions are true for other balances too.
    'UPDATE accounts SET balance = $1 WHERE id = $2 AND balance = ledger_balance',
    'UPDATE accounts SET balance = $1 WHERE id = $2 AND ledger_balance = balance',
    'UPDATE accounts SET balance = $1 WHERE id = $2 AND balance IS NOT DISTINCT FROM ledger_balance',
    'UPDATE `accounts` SET `balance` = ? WHERE `id` = ? AND `balance` IN (...)',
    'UPDATE accounts SET balance = $1 WHERE id = $2 AND balance IS NOT NULL',
    'UPDATE accounts SET balance = $1 WHERE id = $2 AND (balance = $3 OR $4)',
    'UPDATE accounts SET balance = $1 WHERE balance = $2 OR id = $3',
    'UPDATE accounts SET balance = $1 WHERE id = $2 AND NOT balance = $3',
    'UPDATE accounts SET balance = $1 WHERE id = $2 AND NOT (balance = $3)',
    'UPDATE `accounts` SET `balance` = ? WHERE `id` = ? AND ! ( `balance` = ? )',
    'UPDATE accounts SET balance = $1 WHERE id = $2 AND $3 <= balance',
    'UPDATE accounts SET balance = $1 WHERE id = $2 AND balance NOT IN ($3)',
    'UPDATE accounts SET balance = $1 WHERE id IN (SELECT id FROM accounts WHERE accounts.balance = $2)',
    'WITH x AS (UPDATE pam.accounts SET balance=$1 WHERE id=$2 RETURNING id) SELECT 1 FROM pam.accounts WHERE balance = 2',
    'WITH x AS (UPDATE pam.accounts SET balance=$1 RETURNING id) SELECT 1 FROM pam.accounts WHERE balance = 2',
  ])('%s', statement => expect(balanceWriteOf(statement, accounts)).toBe('sets'))
})

describe('names the balance, and may set it in a case', () => {
  test.each([
    'UPDATE accounts SET balance = CASE id WHEN $1 THEN balance + $2 WHEN $3 THEN $4 ELSE balance END',
    'UPDATE `accounts` SET `balance` = IF ( ? , `balance` - ? , ? ) WHERE `id` = ?',
    'UPDATE accounts SET balance = COALESCE($1, balance - $2) WHERE id = $3',
    'UPDATE accounts SET balance = COALESCE(balance * $1, $2) + $3 WHERE id = $4',
    'UPDATE accounts SET balance = balance + ($1 - balance) WHERE id = $2',
    'UPDATE accounts SET balance = balance + (SELECT $1 - balance) WHERE id = $2',
    'UPDATE `accounts` `a` JOIN `accounts` `b` ON `a` . `id` = `b` . `id` SET `a` . `balance` = `a` . `balance` + ( ? - `b` . `balance` )',
    'UPDATE `accounts` SET `balance` = `balance` + ? IS NULL WHERE `id` = ?',
    'UPDATE `accounts` SET `balance` = `balance` + ? > ? WHERE `id` = ?',
    'UPDATE accounts SET balance = balance * $1',
    'UPDATE accounts SET balance = - balance + $1',
    'UPDATE accounts SET (balance, version) = (GREATEST(balance, $1), $2) WHERE id = $3',
    'UPDATE accounts SET balance = COALESCE($2, balance) WHERE id = $1',
    'UPDATE `accounts` SET `balance` = IFNULL ( ? , `balance` ) WHERE `id` = ?',
    'UPDATE accounts SET balance = COALESCE($2, balance) + $3 WHERE id = $1',
    'UPDATE accounts SET balance = GREATEST($1, balance) WHERE id = $2',
    'UPDATE accounts SET balance = GREATEST($1, accounts.balance::numeric(18, 2)) WHERE id = $2',
    'UPDATE `accounts` SET `balance` = IF ( `balance` < ? , ? , ? ) WHERE `id` = ?',
    'UPDATE `accounts` SET `balance` = IF ( `balance` - ? < ? , ? , ? ) WHERE `id` = ?',
    'UPDATE accounts SET balance = (CASE WHEN id=$1 THEN $2 ELSE balance END)',
    'UPDATE accounts SET balance = CASE WHEN balance - $1 > $2 THEN $3 ELSE $4 END',
    'UPDATE accounts SET balance = CASE balance WHEN $1 THEN $2 ELSE $3 END',
    'UPDATE accounts SET balance = (balance > $1)::integer',
    'INSERT INTO accounts (id, balance) VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET balance = GREATEST(EXCLUDED.balance, accounts.balance)',
    'MERGE INTO accounts a USING sent ON sent.id = a.id WHEN MATCHED THEN UPDATE SET balance = CASE WHEN $1 THEN sent.balance ELSE a.balance END WHEN NOT MATCHED THEN DO NOTHING',
    'UPDATE accounts a SET balance = greatest(a.balance - $1, $2) WHERE id = $3',
    'UPDATE accounts SET balance = (SELECT accounts.balance + sum(amount) FROM ledger) WHERE id = $1',
    'UPDATE accounts SET balance = CASE WHEN $1 THEN balance + $2 ELSE balance END',
    'UPDATE `accounts` SET `balance` = IF ( ? , `balance` + ? , `balance` ) WHERE `id` = ?',
    'UPDATE accounts SET balance = round(CAST(balance AS numeric) * $1, $2)',
  ])('%s', statement => expect(balanceWriteOf(statement, accounts)).toBe('unclear'))
})

describe('loses no debit', () => {
  test.each([
    'UPDATE accounts SET balance = balance + $1 WHERE id = $2',
    'UPDATE "pam"."accounts" SET "balance" = "accounts"."balance" - $1 WHERE "id" = $2',
    'UPDATE `accounts` SET `balance` = `balance` - ? WHERE `id` = ? AND `balance` >= ?',
    'UPDATE accounts SET (balance, version) = (balance + $1, $2) WHERE id = $3',
    'UPDATE accounts SET balance = COALESCE(balance, $1) + $2 WHERE id = $3',
    'UPDATE accounts SET balance = (accounts.balance)::numeric(18, 2) - $1 WHERE id = $2',
    'UPDATE accounts SET balance = COALESCE(balance, $1)',
    'UPDATE accounts SET balance = balance WHERE id = $1',
    'UPDATE "accounts" SET "balance" = (("accounts"."balance" + $1)) WHERE "id" = $2',
    'UPDATE "accounts" SET "balance" = COALESCE("balance", $1) + $2 WHERE "id" = $3',
    'UPDATE accounts SET balance = balance - ($1 + $2) * $3 / fee_of($4, kind) - bonus',
    'UPDATE accounts player SET balance = (player.balance::numeric + item.balance_delta)::text FROM items item',
    'UPDATE accounts player SET balance = player.balance + change.delta::bigint FROM changes change',
    // It fails when the balance has changed.
    'UPDATE accounts SET balance = $1 WHERE id = $2 AND $3 = balance',
    'UPDATE accounts SET balance = $1 WHERE id = $2 AND $3 = pam.accounts.balance',
    'UPDATE accounts SET balance = $1 WHERE id = $2 AND balance IS NOT DISTINCT FROM $3',
    'UPDATE accounts SET balance = $1 WHERE closed IS NOT NULL AND kind NOT IN ($2) AND balance = $3 RETURNING id',
    'UPDATE accounts SET balance = $1 WHERE id = $2 AND balance = $3',
    'UPDATE `accounts` SET `balance` = ? WHERE `id` = ? AND `accounts` . `balance` <=> ?',
    // Other columns, tables and schemas.
    'UPDATE accounts SET status = $1, updated_at = now() WHERE balance < $2',
    'UPDATE accounts_old SET balance = $1 WHERE id = $2',
    'UPDATE casino.accounts SET balance = $1 WHERE id = $2',
    'UPDATE bets SET balance = $1 WHERE account IN (SELECT id FROM accounts)',
    'UPDATE accounts SET balance_limit = $1',
    'UPDATE accounts a JOIN bonuses b ON b.id = a.id SET b.balance = ?',
    'UPDATE `bonuses` `b` JOIN `accounts` `a` ON `b` . `id` = `a` . `id` SET `b` . `balance` = ? , `a` . `status` = ?',
    // No write.
    'SELECT balance FROM accounts WHERE id = $1 FOR UPDATE',
    'SELECT balance FROM accounts WHERE id = $1 FOR NO KEY UPDATE',
    'EXPLAIN UPDATE accounts SET balance = $1',
    'INSERT INTO accounts (id, balance) VALUES ($1, $2)',
    'INSERT INTO accounts (id, balance) VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET balance = accounts.balance + EXCLUDED.balance',
    'INSERT INTO `accounts` VALUES (...) ON DUPLICATE KEY UPDATE `balance` = `balance` + VALUES ( `balance` )',
    'INSERT INTO log (balance) SELECT balance FROM accounts ON CONFLICT (id) DO UPDATE SET balance = EXCLUDED.balance',
    "SELECT replace(name, 'UPDATE accounts SET balance = 1', '') FROM accounts",
    'REPLACE INTO `accounts` ( `id` , `status` ) VALUES (...)',
    '',
  ])('%s', statement => expect(balanceWriteOf(statement, accounts)).toBe('safe'))
})

test('a name without a schema is of the default schema, where that is known', () => {
  const statement = 'UPDATE `accounts` SET `balance` = ? WHERE `id` = ?'
  expect(balanceWriteOf(statement, accounts, 'pam')).toBe('sets')
  expect(balanceWriteOf(statement, accounts, 'casino')).toBe('safe')
  const named = statement.replace('`accounts`', '`pam` . `accounts`')
  expect(balanceWriteOf(named, accounts, 'casino')).toBe('sets')
})
