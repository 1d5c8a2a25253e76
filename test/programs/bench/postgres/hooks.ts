/** What the operator's own rules in `withinTransaction` cost a placebet: the limits and the bonus of the examples. */
import { readFileSync } from 'node:fs'
import { createPostgresStore, migratePostgres, type PostgresStoreOptions } from 'bet-wallet/postgres'
import { createBonus } from '../../../../examples/bonus/bonus.js'
import { createLimits, numbered } from '../../../../examples/limits/limits.js'
import { type Contestant, inTurn, type Measured, ratioOf } from '../measure.js'
import type { PartResult, Ratio } from '../report.js'
import { anyPlayer, playersCount } from '../requests.js'
import { tally } from '../tally.js'
import { type BenchDatabase, type Ground, library, opening, withDatabase } from './ground.js'

type Hook = NonNullable<PostgresStoreOptions['withinTransaction']>

const limits = createLimits({ timeZone: 'UTC' })
const bonus = createBonus({ EUR: 2 })
const hooks: Readonly<Record<'limits' | 'bonus', Hook>> = {
  limits: (query, pending) => limits(numbered(query), pending),
  bonus: (query, pending) => bonus(numbered(query), pending),
}

/** The operator's accounts with the columns of both examples, and a store over them. */
async function onAccounts(database: BenchDatabase, hook?: Hook): Promise<BenchDatabase> {
  const { pool, options } = database
  await pool.query(
    'CREATE TABLE accounts (player_id text PRIMARY KEY, currency text NOT NULL, balance numeric NOT NULL)',
  )
  await pool.query(
    `INSERT INTO accounts SELECT i::text, 'EUR', ${opening} FROM generate_series(1, ${playersCount}) i`,
  )
  for (const example of Object.keys(hooks))
    await pool.query(
      readFileSync(new URL(`../../../../examples/${example}/schema.sql`, import.meta.url), 'utf8'),
    )
  await pool.query('UPDATE accounts SET stake_per_day = balance, loss_per_week = balance')
  const players = { table: 'public.accounts', id: 'player_id', currency: 'currency', balance: 'balance' }
  await migratePostgres(pool, { players }, { allowOtherOptions: true })
  const within = hook === undefined ? {} : { withinTransaction: hook }
  const store = createPostgresStore(pool, { ...options.store, ...within, players })
  await store.ready()
  return { ...database, store }
}

/** Also the tables of the operator, as the server does by itself later. */
const analyzed = ({ pool }: BenchDatabase, contestant: Contestant): Contestant => ({
  ...contestant,
  async prepare() {
    await pool.query('VACUUM (ANALYZE) accounts, limited_bets, bet_funds')
    await contestant.prepare()
  },
})

export async function hooksPart(ground: Ground): Promise<PartResult> {
  const placing = { callers: 64, player: anyPlayer }
  const measured: Measured[] = []
  const ratios: Ratio[] = []
  for (const [name, hook] of Object.entries(hooks)) {
    const pair = await withDatabase(ground, plain =>
      withDatabase(ground, async database => {
        const [withHook, without] = [await onAccounts(database, hook), await onAccounts(plain)]
        const [ofWith, ofWithout] = [tally(), tally()]
        const both = await inTurn(
          [
            analyzed(withHook, library(withHook, placing, ofWith, `with the ${name} of the example`)),
            analyzed(without, library(without, placing, ofWithout, `without (${name})`)),
          ],
          ground.options,
        )
        const { rows } = await database.pool.query<{ debited: string; counted: number }>(
          `SELECT (SELECT sum(${opening} - balance) FROM accounts) / 2.5 AS debited,
            (SELECT count(*)::integer FROM limited_bets) AS counted`,
        )
        const counted = name === 'limits' ? ofWith.accepted : 0
        if (Number(rows[0]?.debited) !== ofWith.accepted || rows[0]?.counted !== counted)
          throw new Error(`${name}: the books do not balance: ${JSON.stringify(rows[0])}`)
        return both
      }),
    )
    measured.push(...pair)
    ratios.push({ name: `times the placebets per second, ${name}`, value: ratioOf(pair, s => s.perSecond) })
  }
  return { title: 'Rules in withinTransaction: 64 concurrent callers', measured, ratios, notes: [] }
}
