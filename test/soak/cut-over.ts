/**
 * From a hand-written integration to bet-wallet, on the same accounts, while bets are in flight (D27). The order of the
 * steps is what makes it right:
 *
 * 1. Stop the earlier endpoints, all of their processes. The platform rolls back, or sends again, what it cannot place.
 * 2. Wait until none of their connections is left: a statement that was under way commits after its process is dead.
 * 3. Migrate, and take over the bets (by import, or by a view) and the transactions.
 * 4. Compare both sides.
 * 5. Start the new endpoints.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { importBets, importTransactions, migratePostgres } from 'bet-wallet/postgres'
import type pg from 'pg'
import type { Accounts } from './accounts.js'
import { earlierBetsView, earlierName, earlierTransactions, legacyBets } from './earlier-integration.js'

/** What can be done wrong, on purpose: the proof that the soak notices. */
export const mistakes = {
  'early-import': 'imports when the processes are dead, and does not wait for their statements',
  'bets-only': 'imports the bets and not the transactions',
  'no-bets': 'starts with empty tables',
} as const

export type Mistake = keyof typeof mistakes

/** How many connections of the earlier integration there are, and how many of them wait for a row. */
export async function earlierConnections(pool: pg.Pool): Promise<{ all: number; waiting: number }> {
  const { rows } = await pool.query<{ all: number; waiting: number }>(
    `SELECT count(*)::integer AS all, (count(*) FILTER (WHERE wait_event_type = 'Lock'))::integer AS waiting
      FROM pg_stat_activity WHERE application_name = $1`,
    [earlierName],
  )
  return rows[0] ?? { all: 0, waiting: 0 }
}

/** Step 2. */
export async function earlierIsOver(pool: pg.Pool): Promise<void> {
  while ((await earlierConnections(pool)).all > 0) await sleep(20)
}

/** Steps 3 and 4. @throws Error when both sides differ */
export async function takeOver(
  pool: pg.Pool,
  accounts: Accounts,
  how: 'import' | 'view',
  mistake: Mistake | null,
): Promise<void> {
  await migratePostgres(pool, {
    ...accounts.tables,
    ...(how === 'view' && mistake !== 'no-bets' ? { legacyBets: earlierBetsView } : {}),
  })
  if (mistake === 'no-bets') return
  if (how === 'import') await importBets(pool, {}, await legacyBets(pool))
  if (mistake === 'bets-only') return
  await importTransactions(pool, {}, await earlierTransactions(pool))
  if (mistake === null) await compareSides(pool, how)
}

/** Open bets and their stakes, and what is credited and can be taken back. */
async function compareSides(pool: pg.Pool, how: 'import' | 'view'): Promise<void> {
  const bets = how === 'import' ? 'bet_wallet.bets' : earlierBetsView
  const { rows } = await pool.query<{ earlier: string; now: string }>(`SELECT
    (SELECT concat_ws(' ', count(*), trim_scale(sum(stake_cents) / 100.0)) FROM earlier.tickets WHERE NOT cancelled)
      || (SELECT concat_ws(' ', '', count(open_cents), trim_scale(sum(open_cents) / 100.0)) FROM earlier.payouts) AS earlier,
    (SELECT concat_ws(' ', count(*) FILTER (WHERE status = 'PLACED'), trim_scale(sum(stake) FILTER (WHERE status = 'PLACED')),
        count(bet_paid_live) + count(voided_live) + count(cashout_live),
        trim_scale(sum(coalesce(bet_paid_live, 0) + coalesce(voided_live, 0) + coalesce(cashout_live, 0)))) FROM ${bets}) AS now`)
  const [sides] = rows
  if (sides === undefined || sides.earlier !== sides.now)
    throw new Error(`The cut-over is not complete: ${sides?.earlier} there, ${sides?.now} here`)
}
