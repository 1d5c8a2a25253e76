/**
 * The databases of the bench: with players and stored bets, vacuumed between rounds, books checked at the
 * end.
 */
import { handlePlaceBet } from 'bet-wallet'
import { createPostgresStore, migratePostgres, type PostgresStore } from 'bet-wallet/postgres'
import type pg from 'pg'
import { createDatabase, type DatabaseServer } from '../../../postgres/server.js'
import { type Contestant, drive, forSeconds, type Sample, type ServerTime } from '../measure.js'
import type { BenchOptions } from '../options.js'
import { postgresTimeOf } from '../processor.js'
import { firstStored, placeBetOf, playersCount } from '../requests.js'
import type { Placing, Tally } from '../tally.js'
import { handWrittenSchema, sendByHand } from './hand-written.js'

/** The server and options of a part. */
export interface Ground {
  server: Pick<DatabaseServer, 'url'>
  options: BenchOptions
}

/** The schema of one contestant. */
export type Schema = 'bet_wallet' | 'hand_written'

/** The initial balance of every player. */
export const opening = '1000000000'

/** Runs `work` on a database with the tables and players of both contestants; drops it afterwards. */
export async function withDatabase<Result>(
  { server, options }: Ground,
  work: (database: BenchDatabase) => Promise<Result>,
): Promise<Result> {
  const { pool, url, drop } = await createDatabase(server, { pool: { max: 16 } })
  try {
    await migratePostgres(pool)
    await pool.query(handWrittenSchema)
    for (const schema of ['bet_wallet', 'hand_written']) {
      await pool.query(
        `INSERT INTO ${schema}.players (player_id, currency, balance)
          SELECT i::text, 'EUR', $1 FROM generate_series(1, $2::integer) i`,
        [opening, playersCount],
      )
    }
    const store = createPostgresStore(pool, options.store)
    await store.ready()
    return await work({ pool, url, store, options, serverTime: await postgresTimeOf(pool) })
  } finally {
    // The pool does not wait until its connections are closed: the DROP may terminate one of them (57P01).
    pool.on('error', error => {
      if ((error as { code?: unknown }).code !== '57P01') throw error
    })
    await drop()
  }
}

/** The same database, with the outbox on from now on. */
export async function withOutbox(database: BenchDatabase): Promise<BenchDatabase> {
  const { pool, options } = database
  await migratePostgres(pool, { outbox: true }, { allowOtherOptions: true })
  const store = createPostgresStore(pool, { ...options.store, outbox: true })
  await store.ready()
  return { ...database, store }
}

export interface BenchDatabase {
  pool: pg.Pool
  url: string
  store: PostgresStore
  options: BenchOptions
  serverTime: ServerTime | null
}

/**
 * Inserts old bets with one transaction each, distributed over all players, and debits their stakes: the
 * books balance afterwards.
 *
 * @param first the first of their ids, which rise by one; with `--ids random` those of `growth` lie anywhere
 */
export async function loadPast(
  { pool }: Pick<BenchDatabase, 'pool'>,
  { count, first = firstStored, random = false }: { count: number; first?: number; random?: boolean },
): Promise<void> {
  // The multiplier and the modulus are coprime: every id is different.
  const id = random
    ? '((i * 618033988749::numeric) % 10000000000000000)::text'
    : `(${first}::bigint + i)::text`
  const perStatement = 500_000
  for (let from = 0; from < count; from += perStatement) {
    const range = `FROM generate_series(${from}::bigint, ${Math.min(from + perStatement, count) - 1}) i`
    await pool.query(`
      INSERT INTO bet_wallet.bets (bet_id, player_id, currency, stake, status, revision)
      SELECT ${id}, (1 + i % ${playersCount})::text, 'EUR', 2.5, 'PLACED', 1 ${range};
      INSERT INTO bet_wallet.transactions
        (operation, transaction_id, player_id, bet_id, amount, currency, account_currency, delta, reason, transaction_date)
      SELECT 'placebet', ${id}, (1 + i % ${playersCount})::text, ${id}, 2.5, 'EUR', 'EUR', -2.5, 'ACCEPTED', '2026-01-01' ${range};
      UPDATE bet_wallet.players p SET balance = p.balance - 2.5 * past.count
      FROM (SELECT (1 + i % ${playersCount})::text AS player_id, count(*) ${range} GROUP BY 1) past
      WHERE p.player_id = past.player_id`)
  }
}

/**
 * Vacuums and analyzes the tables, and runs a checkpoint, so that none of it happens during a measurement.
 */
export async function quieten({ pool }: Pick<BenchDatabase, 'pool'>, schema: Schema): Promise<void> {
  await pool.query(`VACUUM (ANALYZE) ${schema}.players, ${schema}.bets, ${schema}.transactions`)
  await pool.query('CHECKPOINT')
}

/** @throws Error when a balance is not the initial balance plus all deltas */
export async function checkBalances({ pool }: Pick<BenchDatabase, 'pool'>, schema: Schema): Promise<void> {
  const { rows } = await pool.query<{ wrong: number }>(
    `SELECT count(*)::integer AS wrong FROM ${schema}.players p
      LEFT JOIN (SELECT player_id, sum(delta) AS delta FROM ${schema}.transactions GROUP BY player_id) t USING (player_id)
      WHERE p.balance <> $1::numeric + coalesce(t.delta, 0)`,
    [opening],
  )
  if (rows[0]?.wrong !== 0) throw new Error(`${schema}: the books do not balance: ${JSON.stringify(rows[0])}`)
}

/**
 * For a run of accepted placebets.
 *
 * @throws Error when a balance is not the initial balance plus all deltas, or when an answered bet is not
 * stored
 */
export async function checkBooks(
  database: Pick<BenchDatabase, 'pool'>,
  schema: Schema,
  transactions: number,
): Promise<void> {
  await checkBalances(database, schema)
  const { rows } = await database.pool.query<{ transactions: number; betless: number }>(
    `SELECT
      (SELECT count(*) FROM ${schema}.transactions)::integer AS transactions,
      (SELECT count(*) FROM ${schema}.transactions t WHERE NOT EXISTS (
        SELECT FROM ${schema}.bets b WHERE b.bet_id = t.bet_id AND b.player_id = t.player_id))::integer AS betless`,
  )
  const found = rows[0]
  if (found?.betless !== 0 || found.transactions !== transactions) {
    throw new Error(`${schema}: the books do not balance: ${transactions} answered, ${JSON.stringify(found)}`)
  }
}

/** The library: placebets by `handlePlaceBet`. */
export function library(
  database: BenchDatabase,
  { callers, player }: Placing,
  answers: Tally,
  name = 'bet-wallet',
): Contestant {
  const { store, serverTime, options } = database
  return {
    name,
    prepare: () => quieten(database, 'bet_wallet'),
    run: seconds =>
      drive({ callers, goesOn: forSeconds(seconds), serverTime }, async () => {
        answers.accept(await handlePlaceBet(store, placeBetOf(player(), options.ids)))
      }),
  }
}

/** Hand-written code. */
export function byHand(database: BenchDatabase, { callers, player }: Placing, answers: Tally): Contestant {
  const { pool, serverTime, options } = database
  return {
    name: 'hand-written, prepared',
    prepare: () => quieten(database, 'hand_written'),
    run: (seconds): Promise<Sample> =>
      drive({ callers, goesOn: forSeconds(seconds), serverTime }, async () => {
        const answer = await sendByHand(pool, 'placebet', placeBetOf(player(), options.ids))
        if ('errorCode' in answer) throw new Error(answer.errorCode)
        answers.accepted += 1
      }),
  }
}
