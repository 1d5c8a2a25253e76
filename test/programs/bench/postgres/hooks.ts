/** The limits and the bonus of the examples in `withinTransaction` of the PostgreSQL store. */
import { readFileSync } from 'node:fs'
import { createPostgresStore, migratePostgres } from 'bet-wallet/postgres'
import { numbered } from '../../../../examples/limits/limits.js'
import { type AccountsStore, compareHooks, examples, type Hook } from '../hooks.js'
import type { PartResult } from '../report.js'
import { anyPlayer, playersCount } from '../requests.js'
import { type BenchDatabase, type Ground, library, opening, withDatabase } from './ground.js'

export function hooksPart(ground: Ground): Promise<PartResult> {
  return compareHooks(ground.options, (hook, work) =>
    withDatabase(ground, plain =>
      withDatabase(ground, async database =>
        work([await onAccounts(database, hook), await onAccounts(plain, null)]),
      ),
    ),
  )
}

async function onAccounts(database: BenchDatabase, hook: Hook | null): Promise<AccountsStore> {
  const { pool, options } = database
  await pool.query(
    'CREATE TABLE accounts (player_id text PRIMARY KEY, currency text NOT NULL, balance numeric NOT NULL)',
  )
  await pool.query(
    `INSERT INTO accounts SELECT i::text, 'EUR', ${opening} FROM generate_series(1, ${playersCount}) i`,
  )
  for (const example of examples)
    await pool.query(
      readFileSync(new URL(`../../../../examples/${example}/schema.sql`, import.meta.url), 'utf8'),
    )
  await pool.query('UPDATE accounts SET stake_per_day = balance, loss_per_week = balance')
  const players = { table: 'public.accounts', id: 'player_id', currency: 'currency', balance: 'balance' }
  await migratePostgres(pool, { players }, { allowOtherOptions: true })
  const store = createPostgresStore(pool, {
    ...{ ...options.store, players },
    ...(hook && { withinTransaction: (query, pending) => hook(numbered(query), pending) }),
  })
  await store.ready()
  return {
    placing(answers, name) {
      const contestant = library({ ...database, store }, { callers: 64, player: anyPlayer }, answers, name)
      return {
        ...contestant,
        // Also the tables of the operator, as the server does by itself later.
        async prepare() {
          await pool.query('VACUUM (ANALYZE) accounts, limited_bets, bet_funds')
          await contestant.prepare()
        },
      }
    },
    async books() {
      const { rows } = await pool.query<{ debited: string; counted: number }>(
        `SELECT (SELECT sum(${opening} - balance) FROM accounts) AS debited,
          (SELECT count(*)::integer FROM limited_bets) AS counted`,
      )
      return rows[0] ?? { debited: '', counted: 0 }
    },
  }
}
