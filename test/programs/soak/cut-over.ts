/**
 * The cut-over from a legacy integration to bet-wallet, on the same accounts, while bets are in flight (D27).
 * The order of the steps is essential:
 *
 * 1. Stop all processes of the legacy endpoints. The platform rolls back, or retries, the bets that it cannot
 *    place.
 * 2. Wait until none of their connections is left: a statement in flight commits even after its process has
 *    ended.
 * 3. Migrate, then import the bets and the transactions. With many bets: migrate, and import the bets also on
 *    the day before, while the legacy integration answers.
 * 4. Compare both sides.
 * 5. Start the new endpoints.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { importBets, importTransactions, migratePostgres } from 'bet-wallet/postgres'
import type pg from 'pg'
import type { Accounts } from './accounts.js'
import { legacyApplicationName, legacyBets, legacyTransactions } from './legacy-integration.js'

/** Deliberate mistakes: the proof that the soak detects them. */
export const mistakes = {
  'early-import': 'imports when the processes have ended, without waiting for their statements',
  'bets-only': 'imports the bets and not the transactions',
  'no-bets': 'starts with empty tables',
} as const

export type Mistake = keyof typeof mistakes

/** The connections of the legacy integration, and how many of them wait for a lock. */
export async function legacyConnections(pool: pg.Pool): Promise<{ all: number; waiting: number }> {
  const { rows } = await pool.query<{ all: number; waiting: number }>(
    `SELECT count(*)::integer AS all, (count(*) FILTER (WHERE wait_event_type = 'Lock'))::integer AS waiting
      FROM pg_stat_activity WHERE application_name = $1`,
    [legacyApplicationName],
  )
  return rows[0] ?? { all: 0, waiting: 0 }
}

/** Step 2. */
export async function awaitLegacyConnections(pool: pg.Pool): Promise<void> {
  while ((await legacyConnections(pool)).all > 0) await sleep(20)
}

/** Steps 3 and 4. @throws {Error} if both sides differ */
export async function takeOver(pool: pg.Pool, accounts: Accounts, mistake: Mistake | null): Promise<void> {
  await migratePostgres(pool, accounts.tables)
  if (mistake === 'no-bets') return
  await importBets(pool, {}, await legacyBets(pool))
  if (mistake === 'bets-only') return
  await importTransactions(pool, {}, await legacyTransactions(pool))
  if (mistake === null) await compareSides(pool)
}

/** Compares the open bets with their stakes, and the live credits with their amounts. */
async function compareSides(pool: pg.Pool): Promise<void> {
  const { rows } = await pool.query<{ legacy: string; now: string }>(`SELECT
    (SELECT concat_ws(' ', count(*), trim_scale(sum(stake_cents) / 100.0)) FROM legacy.tickets WHERE NOT cancelled)
      || (SELECT concat_ws(' ', '', count(open_cents), trim_scale(sum(open_cents) / 100.0)) FROM legacy.payouts) AS legacy,
    (SELECT concat_ws(' ', count(*) FILTER (WHERE status = 'PLACED'), trim_scale(sum(stake) FILTER (WHERE status = 'PLACED')),
        count(bet_paid_live) + count(voided_live) + count(cashout_live),
        trim_scale(sum(coalesce(bet_paid_live, 0) + coalesce(voided_live, 0) + coalesce(cashout_live, 0)))) FROM bet_wallet.bets) AS now`)
  const [sides] = rows
  if (sides === undefined || sides.legacy !== sides.now)
    throw new Error(`The cut-over is incomplete: legacy ${sides?.legacy}, now ${sides?.now}`)
}
