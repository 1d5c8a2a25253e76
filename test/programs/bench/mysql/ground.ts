/** The databases of the bench: with players and stored bets, books checked at the end. */
import { deepStrictEqual } from 'node:assert'
import { readFileSync } from 'node:fs'
import { handlePlaceBet } from 'bet-wallet'
import { createMysqlStore, type MysqlStore, migrateMysql } from 'bet-wallet/mysql'
import type mysql from 'mysql2/promise'
import { createMariadbDatabase } from '../../../mariadb/database.js'
import type { MariadbConfig } from '../../../mariadb/server.js'
import { isMysql } from '../../../mysql/engine.js'
import type { Books } from '../lives.js'
import { type Contestant, drive, forSeconds, type ServerTime } from '../measure.js'
import type { BenchOptions } from '../options.js'
import { processTimeOf } from '../processor.js'
import { placeBetOf, playersCount } from '../requests.js'
import type { Placing, Tally } from '../tally.js'
import { handWrittenSchema, sendByHand } from './hand-written.js'

/** The server and options of a part. */
export interface Ground {
  server: { readonly config: MariadbConfig }
  options: BenchOptions
}

/** The server, as Linux names it: the unpacked MySQL is started by the loader of its own libraries. */
const processNames = isMysql ? ['mysqld', 'ld-linux-x86-64'] : ['mariadbd']

/** The initial balance of every player. */
export const opening = '1000000000'

export interface BenchDatabase {
  schema: string
  pool: mysql.Pool
  store: MysqlStore
  options: BenchOptions
  serverTime: ServerTime | null
}

/** The tables of the library, or those of the hand-written code, by their prefix. */
export type Prefix = 'wallet' | 'hand'

/** Runs `work` on a database with the tables and players of both contestants; drops it afterwards. */
export async function withDatabase<Result>(
  { server, options }: Ground,
  work: (database: BenchDatabase) => Promise<Result>,
): Promise<Result> {
  const { config, pool, drop } = await createMariadbDatabase(server.config, {
    pool: { connectionLimit: 16, decimalNumbers: false },
  })
  try {
    const tables = { schema: config.database }
    await migrateMysql(pool, tables)
    for (const statement of handWrittenSchema) await pool.query(statement)
    for (const prefix of ['wallet', 'hand']) {
      await pool.query(
        `INSERT INTO ${prefix}_players (player_id, currency, balance)
          SELECT seq, 'EUR', ${opening} FROM ${numbers(1, playersCount)}`,
      )
    }
    const store = createMysqlStore(pool, { ...tables, ...options.store })
    await store.ready()
    return await work({ ...tables, pool, store, options, serverTime: await serverTimeOf(pool) })
  } finally {
    await drop()
  }
}

/** A table with the column `seq`, of at most 1,000,000 rows: MySQL has no engine for sequences. */
export function numbers(from: number, last: number): string {
  const digit = `(${[...'0123456789'].map(value => `SELECT ${value} AS digit`).join(' UNION ALL ')})`
  const places = ['a', 'b', 'c', 'd', 'e', 'f']
  const value = places.map((name, index) => `${name}.digit * ${10 ** index}`).join(' + ')
  const tables = places.map(name => `${digit} ${name}`).join(', ')
  return `(SELECT ${from} + ${value} AS seq FROM ${tables} HAVING seq <= ${last}) numbers`
}

export async function serverTimeOf(pool: mysql.Pool): Promise<ServerTime | null> {
  const [rows] = await pool.query<mysql.RowDataPacket[]>('SELECT @@pid_file AS file')
  try {
    return processTimeOf(Number(readFileSync(String(rows[0]?.file), 'utf8')), processNames)
  } catch (error) {
    // The server runs elsewhere.
    if (['ENOENT', 'EACCES'].includes((error as NodeJS.ErrnoException).code ?? '')) return null
    throw error
  }
}

/**
 * Inserts old bets with one transaction each, distributed over all players, and debits their stakes: the books balance
 * afterwards. With `--ids random` their ids lie anywhere between those of the measurement.
 */
export async function loadPast({ pool, options }: BenchDatabase, count: number): Promise<void> {
  // The multiplier and the modulus are coprime: every id is different.
  const id = options.ids === 'random' ? '(seq * 618033988749) % 10000000000000000' : '1000000000000000 + seq'
  const perStatement = 100_000
  for (let from = 0; from < count; from += perStatement) {
    const last = Math.min(from + perStatement, count) - 1
    const source = `FROM ${numbers(from, last)}`
    await pool.query(`INSERT INTO wallet_bets (id, bet_id, player_id, currency, stake, status, revision)
      SELECT seq + 1, ${id}, 1 + seq % ${playersCount}, 'EUR', 2.5, 'PLACED', 1 ${source}`)
    await pool.query(`INSERT INTO wallet_transactions
        (id, operation, transaction_id, player_id, bet_id, amount, currency, account_currency, delta, reason,
          transaction_date)
      SELECT seq + 1, 'placebet', ${id}, 1 + seq % ${playersCount}, ${id}, 2.5, 'EUR', 'EUR', -2.5, 'ACCEPTED',
        '2026-01-01' ${source}`)
    await pool.query(`UPDATE wallet_players player
      JOIN (SELECT 1 + seq % ${playersCount} AS player_id, count(*) AS bets ${source} GROUP BY 1) past
        ON player.player_id = CAST(past.player_id AS char)
      SET player.balance = player.balance - 2.5 * past.bets`)
  }
}

/**
 * For a run of accepted placebets.
 *
 * @throws Error when a balance is not the initial balance plus all deltas, or when an answered bet is not stored
 */
export async function checkBooks(
  { pool }: BenchDatabase,
  prefix: Prefix,
  transactions: number,
): Promise<void> {
  const [rows] = await pool.query<mysql.RowDataPacket[]>(
    `SELECT
      (SELECT count(*) FROM ${prefix}_players player
        LEFT JOIN (SELECT player_id, sum(delta) AS delta FROM ${prefix}_transactions GROUP BY player_id) moved
          USING (player_id)
        WHERE player.balance <> ${opening} + COALESCE(moved.delta, 0)) AS wrong,
      (SELECT count(*) FROM ${prefix}_transactions) AS transactions,
      (SELECT count(*) FROM ${prefix}_transactions t LEFT JOIN ${prefix}_bets b USING (bet_id, player_id)
        WHERE b.bet_id IS NULL) AS betless`,
  )
  const found = rows[0]
  if (found?.wrong !== 0 || found.betless !== 0 || found.transactions !== transactions)
    throw new Error(`${prefix}: the books do not balance: ${transactions} answered, ${JSON.stringify(found)}`)
}

/** What the player of a bet got back, in the columns of each. */
const returned = {
  wallet: 'COALESCE(bet.bet_paid_live, 0) + COALESCE(bet.bet_paid_owed, 0)',
  hand: 'COALESCE(bet.credit, 0) + COALESCE(bet.owed, 0)',
}

/** For a run of lives. @throws Error when balances, transactions or bets differ from what was answered */
export async function checkLives({ pool }: BenchDatabase, prefix: Prefix, books: Books): Promise<void> {
  const read = async (text: string) => (await pool.query<mysql.RowDataPacket[]>(text))[0]
  const recorded = await read(`SELECT CONCAT(operation, ' ', COALESCE(error_code, 'ACCEPTED')) AS name,
    COUNT(*) AS count FROM ${prefix}_transactions GROUP BY 1`)
  deepStrictEqual(Object.fromEntries(recorded.map(({ name, count }) => [name, count])), { ...books })
  const movedOf = (key: string) =>
    `JOIN (SELECT ${key}, SUM(delta) AS delta FROM ${prefix}_transactions GROUP BY ${key}) moved USING (${key})`
  const wrong = [
    ...(await read(`SELECT player_id FROM ${prefix}_players player ${movedOf('player_id')}
      WHERE player.balance <> ${opening} + moved.delta LIMIT 3`)),
    ...(await read(`SELECT bet_id FROM ${prefix}_bets bet ${movedOf('bet_id')}
      WHERE moved.delta <> ${returned[prefix]} - IF(bet.status = 'PLACED', bet.stake, 0) LIMIT 3`)),
  ]
  deepStrictEqual(wrong, [])
}

/** The library: placebets by `handlePlaceBet`. */
export function library(
  { store, serverTime, options }: BenchDatabase,
  { callers, player }: Placing,
  answers: Tally,
  name = 'bet-wallet',
): Contestant {
  return {
    name,
    prepare: async () => {},
    run: seconds =>
      drive({ callers, goesOn: forSeconds(seconds), serverTime }, async () => {
        answers.accept(await handlePlaceBet(store, placeBetOf(player(), options.ids)))
      }),
  }
}

/** Hand-written code. */
export function byHand(
  { pool, serverTime, options }: BenchDatabase,
  { callers, player }: Placing,
  answers: Tally,
): Contestant {
  return {
    name: 'hand-written, prepared',
    prepare: async () => {},
    run: seconds =>
      drive({ callers, goesOn: forSeconds(seconds), serverTime }, async () => {
        const answer = await sendByHand(pool, 'placebet', placeBetOf(player(), options.ids))
        if ('errorCode' in answer) throw new Error(answer.errorCode)
        answers.accepted += 1
      }),
  }
}
