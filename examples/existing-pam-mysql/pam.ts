/** The PAM before the adoption: its tables, deposits and settlements. Amounts are whole cents everywhere. */
import type { Pool, PoolConnection, ResultSetHeader } from 'mysql2/promise'

const schema = [
  'CREATE DATABASE IF NOT EXISTS pam CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci',
  `CREATE TABLE IF NOT EXISTS pam.accounts (
    account_no varchar(40) NOT NULL PRIMARY KEY,
    currency char(3) NOT NULL,
    balance_cents bigint NOT NULL CHECK (balance_cents >= 0),
    status varchar(10) NOT NULL DEFAULT 'open'
  )`,
  `CREATE TABLE IF NOT EXISTS pam.ledger (
    entry_id bigint unsigned NOT NULL AUTO_INCREMENT PRIMARY KEY,
    account_no varchar(40) NOT NULL,
    cents bigint NOT NULL,
    reason varchar(12) NOT NULL,
    reference varchar(255) NOT NULL,
    booked_at datetime(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3),
    KEY (account_no)
  )`,
  `CREATE TABLE IF NOT EXISTS pam.settlements (
    settlement_id varchar(64) NOT NULL PRIMARY KEY,
    bet_id varchar(255) NOT NULL,
    cents bigint NOT NULL
  )`,
]

export async function createPam(pool: Pool): Promise<void> {
  for (const statement of schema) await pool.query(statement)
}

/** Opens an account, unless it exists. */
export async function openAccount(
  pool: Pool,
  accountNo: string,
  currency: string,
  cents: bigint,
): Promise<void> {
  await inTransaction(pool, async connection => {
    const [{ affectedRows }] = await connection.execute<ResultSetHeader>(
      'INSERT IGNORE INTO pam.accounts (account_no, currency, balance_cents) VALUES (?, ?, 0)',
      [accountNo, currency],
    )
    if (affectedRows > 0 && cents !== 0n)
      await book(connection, accountNo, cents, 'deposit', 'opening balance')
  })
}

/** A deposit, or with negative cents a withdrawal. */
export async function deposit(pool: Pool, accountNo: string, cents: bigint): Promise<void> {
  const reason = cents < 0n ? 'withdrawal' : 'deposit'
  await inTransaction(pool, connection => book(connection, accountNo, cents, reason, reason))
}

export interface PamSettlement {
  settlementId: string
  accountNo: string
  betId: string
  kind: 'BET_PAID' | 'VOIDED' | 'CASHOUT'
  cents: bigint
}

/** Credits the result of a bet, once per settlementId. */
export async function settle(pool: Pool, settlement: PamSettlement): Promise<void> {
  const { settlementId, accountNo, betId, kind, cents } = settlement
  await inTransaction(pool, async connection => {
    const [{ affectedRows }] = await connection.execute<ResultSetHeader>(
      'INSERT IGNORE INTO pam.settlements (settlement_id, bet_id, cents) VALUES (?, ?, ?)',
      [settlementId, betId, cents.toString()],
    )
    if (affectedRows === 0) return
    await book(connection, accountNo, cents, 'settlement', settlementId)
    // The only line that is new: the wallet knows what an unsettlement may debit.
    await connection.execute('CALL pam.credit_bet_v1(?, ?, CAST(? AS decimal(38, 2)) / 100)', [
      betId,
      kind,
      cents.toString(),
    ])
  })
}

export async function block(pool: Pool, accountNo: string): Promise<void> {
  await pool.execute(`UPDATE pam.accounts SET status = 'blocked' WHERE account_no = ?`, [accountNo])
}

async function book(
  connection: PoolConnection,
  accountNo: string,
  cents: bigint,
  reason: string,
  reference: string,
): Promise<void> {
  const change = cents.toString()
  // Checks and adds in one statement, because other code writes too.
  const [{ affectedRows }] = await connection.execute<ResultSetHeader>(
    `UPDATE pam.accounts SET balance_cents = balance_cents + CAST(? AS signed)
      WHERE account_no = ? AND (CAST(? AS signed) >= 0 OR balance_cents + CAST(? AS signed) >= 0)`,
    [change, accountNo, change, change],
  )
  if (affectedRows === 0) throw new Error(`${accountNo}: unknown account or insufficient funds`)
  await connection.execute(
    'INSERT INTO pam.ledger (account_no, cents, reason, reference) VALUES (?, ?, ?, ?)',
    [accountNo, change, reason, reference],
  )
}

/**
 * A deadlock; a lock wait that took too long; a row that was changed since this database transaction read it.
 */
const conflicts = [1213, 1205, 1020]
const attemptsMax = 5

/**
 * Runs the whole database transaction again after a conflict: another writer, such as the wallet, came first.
 */
async function inTransaction(pool: Pool, work: (connection: PoolConnection) => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await attemptTransaction(pool, work)
    } catch (error) {
      if (attempt === attemptsMax || !conflicts.includes(Number((error as { errno?: unknown }).errno)))
        throw error
    }
  }
}

async function attemptTransaction(
  pool: Pool,
  work: (connection: PoolConnection) => Promise<void>,
): Promise<void> {
  const connection = await pool.getConnection()
  try {
    await connection.beginTransaction()
    await work(connection)
    await connection.commit()
    connection.release()
  } catch (error) {
    // Closing it rolls back. After an error, MySQL may have undone the last statement only.
    connection.destroy()
    throw error
  }
}
