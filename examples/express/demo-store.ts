/**
 * The store of `npm start`, with its players: on PGlite, PostgreSQL, MySQL or MariaDB, as DATABASE_URL says.
 */
import type { WalletLookups } from 'bet-wallet/lookups'
import { createMysqlLookups, createMysqlStore, type MysqlStore, migrateMysql } from 'bet-wallet/mysql'
import {
  createPostgresLookups,
  createPostgresStore,
  migratePostgres,
  type PostgresStore,
} from 'bet-wallet/postgres'
import type { RowDataPacket } from 'mysql2'
import { openDatabase } from '../database.js'
import { mustBeDatabaseUrl, serverProblem } from '../database-url.js'

export interface DemoStore {
  store: PostgresStore | MysqlStore
  lookups: WalletLookups
  playerIds: string[]
  /** A line per player: `anna has 100.00 EUR`. */
  balances: string[]
  /** For messages: where the data is, and how to delete it. */
  location: string
  resetHint: string
  /** Stands for your cashier. */
  deposit(playerId: string, amount: string): Promise<unknown>
  close(): Promise<void>
}

export const schema = 'bet_wallet_express'
const players = [
  ['anna', 'EUR', '100.00'],
  ['kenji', 'JPY', '5000'],
] as const

const playerIds = players.map(([playerId]) => playerId)

// Your store uses your own players' table: see examples/existing-pam.
export async function openDemoStore(): Promise<DemoStore> {
  const { DATABASE_URL = '' } = process.env
  if (DATABASE_URL !== '') mustBeDatabaseUrl(DATABASE_URL, ['postgres', 'postgresql', 'mysql'])
  return /^mysql:/i.test(DATABASE_URL) ? openMysql(DATABASE_URL) : openPostgres()
}

async function openPostgres(): Promise<DemoStore> {
  const { client, location, resetHint, close } = await openDatabase(schema)
  await migratePostgres(client, { schema }, { lookupIndexes: true })
  for (const player of players) {
    await client.query(
      `INSERT INTO ${schema}.players (player_id, currency, balance) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`,
      [...player],
    )
  }
  const { rows } = await client.query(
    `SELECT concat_ws(' ', player_id, 'has', balance, currency) AS line FROM ${schema}.players ORDER BY player_id`,
  )
  const store = createPostgresStore(client, { schema })
  await store.ready()
  const lookups = createPostgresLookups(client, { schema })
  const balances = (rows as { line: string }[]).map(({ line }) => line)
  const add = `UPDATE ${schema}.players SET balance = balance + CAST($1 AS numeric) WHERE player_id = $2`
  const deposit = (playerId: string, amount: string) => client.query(add, [amount, playerId])
  return { store, lookups, playerIds, balances, location, resetHint, deposit, close }
}

async function openMysql(uri: string): Promise<DemoStore> {
  const { default: mysql } = await import('mysql2/promise')
  const pool = mysql.createPool({ uri, connectTimeout: 5_000 })
  try {
    await pool.query('SELECT 1')
  } catch (error) {
    await pool.end()
    throw serverProblem(error)
  }
  await migrateMysql(pool, { schema }, { lookupIndexes: true })
  for (const player of players) {
    await pool.query(
      `INSERT IGNORE INTO ${schema}.wallet_players (player_id, currency, balance) VALUES (?)`,
      [player],
    )
  }
  const [rows] = await pool.query<(RowDataPacket & { line: string })[]>(
    `SELECT CONCAT_WS(' ', player_id, 'has',
        IF(currency = 'JPY', CAST(TRUNCATE(balance, 0) AS char), CAST(TRUNCATE(balance, 2) AS char)), currency) AS line
      FROM ${schema}.wallet_players ORDER BY player_id`,
  )
  const store = createMysqlStore(pool, { schema })
  await store.ready()
  return {
    store,
    lookups: createMysqlLookups(pool, { schema }),
    playerIds,
    balances: rows.map(({ line }) => line),
    location: `${schema} on the server that DATABASE_URL names`,
    resetHint: `DROP DATABASE ${schema}`,
    deposit: (playerId, amount) =>
      pool.query(
        `UPDATE ${schema}.wallet_players SET balance = balance + CAST(? AS decimal(38, 18)) WHERE player_id = ?`,
        [amount, playerId],
      ),
    close: () => pool.end(),
  }
}
