/** The PAM before the adoption: migrations, cashier, settlements. This code does not know bet-wallet. */
import { readdirSync, readFileSync } from 'node:fs'
import type { Query } from 'bet-wallet/postgres'
import type { Database } from '../database.js'

const folder = new URL('./migrations/', import.meta.url)

/** Runs the migration files that have not run yet, in the order of their names, and records each. */
export async function migratePam({ client, run }: Database): Promise<void> {
  await run(
    'CREATE SCHEMA IF NOT EXISTS pam; CREATE TABLE IF NOT EXISTS pam.migrations (name text PRIMARY KEY)',
  )
  const { rows } = await client.query('SELECT name FROM pam.migrations')
  const done = (rows as { name: string }[]).map(({ name }) => name)
  for (const name of readdirSync(folder)
    .filter(file => file.endsWith('.sql'))
    .sort()) {
    if (done.includes(name)) continue
    await run(
      `${readFileSync(new URL(name, folder), 'utf8')}\nINSERT INTO pam.migrations (name) VALUES ('${name}');`,
    )
  }
}

/** Opens an account, unless it exists. Amounts are whole cents everywhere in this PAM. */
export async function openAccount(
  database: Database,
  account: { accountNo: string; currency: string; cents: bigint; stakeLimitCents?: bigint },
): Promise<void> {
  const { accountNo, currency, cents, stakeLimitCents } = account
  await database.transaction(async query => {
    const { rows } = await query(
      `INSERT INTO pam.accounts (account_no, currency, stake_limit_cents) VALUES ($1, $2, $3)
        ON CONFLICT DO NOTHING RETURNING account_id`,
      [accountNo, currency, stakeLimitCents?.toString() ?? null],
    )
    if (rows.length > 0 && cents !== 0n)
      await changeBalance(query, accountNo, cents, 'bank', 'opening balance')
  })
}

/** A deposit, or with negative cents a withdrawal. */
export async function deposit(database: Database, accountNo: string, cents: bigint): Promise<void> {
  const reference = cents < 0n ? 'withdrawal' : 'deposit'
  await database.transaction(query => changeBalance(query, accountNo, cents, 'bank', reference))
}

export interface PamSettlement {
  settlementId: string
  accountNo: string
  betId: string
  kind: 'BET_PAID' | 'VOIDED' | 'CASHOUT'
  cents: bigint
}

/** Credits the result of a bet, once per settlementId. */
export async function settle(database: Database, settlement: PamSettlement): Promise<void> {
  const { settlementId, accountNo, betId, kind, cents } = settlement
  await database.transaction(async query => {
    const { rows } = await query(
      `INSERT INTO pam.settlements (settlement_id, account_id, bet_id, kind, amount_cents)
        VALUES ($1, (SELECT account_id FROM pam.accounts WHERE account_no = $2), $3, $4, $5)
        ON CONFLICT DO NOTHING RETURNING settlement_id`,
      [settlementId, accountNo, betId, kind, cents.toString()],
    )
    if (rows.length > 0 && cents > 0n)
      await changeBalance(query, accountNo, cents, 'sportsbook', settlementId)
  })
}

export async function block(database: Database, accountNo: string): Promise<void> {
  await database.client.query(`UPDATE pam.accounts SET status = 'blocked' WHERE account_no = $1`, [accountNo])
}

/**
 * Changes the balance and writes both ledger rows. Checks and adds in one statement, because other code
 * writes too.
 */
async function changeBalance(
  query: Query,
  accountNo: string,
  cents: bigint,
  against: 'bank' | 'sportsbook',
  reference: string,
): Promise<void> {
  const { rows } = await query(
    `WITH changed AS (
        UPDATE pam.accounts
        SET balance_cents = balance_cents + $2::bigint
        WHERE account_no = $1 AND ($2::bigint > 0 OR balance_cents + $2::bigint >= 0)
        RETURNING account_id
      )
      SELECT pam.book(account_id, $2::bigint, $3, $4)
      FROM changed`,
    [accountNo, cents.toString(), against, reference],
  )
  if (rows.length === 0) throw new Error(`${accountNo}: unknown account or insufficient funds`)
}
