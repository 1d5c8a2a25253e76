/** The databases that incidents arise on: PostgreSQL and MariaDB by their URL, and PGlite. Each incident finds it empty. */
import { PGlite } from '@electric-sql/pglite'
import mysql from 'mysql2/promise'
import pg from 'pg'
import type { WalletStore } from '../../../src/index.js'
import type { WalletLookups } from '../../../src/lookups/index.js'
import type { Relay, RelayOptions } from '../../../src/stores/database/relay.js'
import type { DatabaseStoreOptions } from '../../../src/stores/database/store-options.js'
import {
  createMysqlLookups,
  createMysqlRelay,
  createMysqlStore,
  migrateMysql,
} from '../../../src/stores/mysql/index.js'
import {
  createPostgresLookups,
  createPostgresRelay,
  createPostgresStore,
  migratePostgres,
  type PostgresClient,
} from '../../../src/stores/postgres/index.js'
import { forgetOnMysql, forgetOnPostgres } from '../../stores/forget-player.js'

export type DatabaseName = 'PostgreSQL' | 'PGlite' | 'MySQL or MariaDB'

export interface IncidentDatabase {
  readonly name: DatabaseName
  /** For the command; `null`: there is no server. */
  readonly url: string | null
  readonly schema: string
  readonly store: WalletStore
  readonly lookups: WalletLookups
  /** Empty tables, with the players anna and lena (100 EUR each) and kenji (5000 JPY). */
  reset(): Promise<void>
  /** The rows of a statement. `TRANSACTIONS`, `BETS` and `PLAYERS` stand for the tables. */
  run(statement: string): Promise<readonly object[]>
  /** Of another wallet on the same database. */
  storeWith(options: DatabaseStoreOptions): WalletStore
  /** Of another wallet that reaches the database by another address. */
  storeAt(url: string): { store: WalletStore; close(): Promise<void> }
  relay(options: RelayOptions): Relay
  forgetPlayer(playerId: string): Promise<unknown>
  /** Another program locks the player's row, until the returned function is called or its session is ended. */
  lockPlayer(playerId: string): Promise<{ session: number; unlock(): Promise<void> }>
  close(): Promise<void>
}

/** Short: an incident of a locked row ends with a 503. */
const limits = { lockTimeoutMs: 200, allowNotDurable: true, outbox: true }

/** Of the other program, as a session shows it. */
export const otherProgram = 'bonus-job'

const named = (text: string, names: Record<'TRANSACTIONS' | 'BETS' | 'PLAYERS', string>) =>
  text.replace(/\b(TRANSACTIONS|BETS|PLAYERS)\b/g, name => names[name as keyof typeof names])

const postgresNames = {
  TRANSACTIONS: 'bet_wallet.transactions',
  BETS: 'bet_wallet.bets',
  PLAYERS: 'bet_wallet.players',
}
const players = "('anna', 'EUR', 100), ('lena', 'EUR', 100), ('kenji', 'JPY', 5000)"

/** What PostgreSQL and PGlite have in common. */
function onPostgres(client: PostgresClient) {
  const run = async (text: string) => (await client.query(named(text, postgresNames))).rows as object[]
  return {
    schema: 'bet_wallet',
    store: createPostgresStore(client, limits),
    storeWith: (options: DatabaseStoreOptions) => createPostgresStore(client, { ...limits, ...options }),
    lookups: createPostgresLookups(client),
    relay: (options: RelayOptions) => createPostgresRelay(client, options),
    run,
    async reset() {
      await run('DROP SCHEMA IF EXISTS bet_wallet CASCADE')
      await migratePostgres(client, { outbox: true }, { lookupIndexes: true })
      await run(`INSERT INTO PLAYERS VALUES ${players}`)
    },
    forgetPlayer: (playerId: string) => forgetOnPostgres(client, { playerId, outbox: true }),
  }
}

export function openPostgres(url: string): IncidentDatabase {
  const poolOf = (connectionString: string) => {
    const pool = new pg.Pool({ connectionString, connectionTimeoutMillis: 5_000 })
    // Connections that an incident ends.
    pool.on('error', () => {})
    pool.on('connect', client => client.on('error', () => {}))
    return pool
  }
  const pool = poolOf(url)
  return {
    ...{ name: 'PostgreSQL', url },
    ...onPostgres(pool),
    storeAt(other) {
      const otherPool = poolOf(other)
      return { store: createPostgresStore(otherPool, limits), close: () => otherPool.end() }
    },
    async lockPlayer(playerId) {
      const program = new pg.Client({ connectionString: url, application_name: otherProgram })
      program.on('error', () => {})
      await program.connect()
      await program.query('BEGIN')
      await program.query('SELECT FROM bet_wallet.players WHERE player_id = $1 FOR UPDATE', [playerId])
      const { rows } = await program.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
      return { session: rows[0]?.pid ?? 0, unlock: () => program.end() }
    },
    close: () => pool.end(),
  }
}

export async function openPglite(): Promise<IncidentDatabase> {
  const client = await PGlite.create()
  const single = () => {
    throw new Error('PGlite has one connection, in its own process')
  }
  return {
    ...{ name: 'PGlite', url: null },
    ...onPostgres(client),
    storeAt: single,
    lockPlayer: async () => single(),
    close: () => client.close(),
  }
}

/** @param url with the name of a database, which is the schema; `bet_wallet` without it */
export async function openMariadb(url: string): Promise<IncidentDatabase> {
  const schema = new URL(url).pathname.slice(1) || 'bet_wallet'
  const server = new URL(url)
  server.pathname = ''
  const poolOf = (uri: string) => mysql.createPool({ uri, connectTimeout: 5_000, connectionLimit: 10 })
  const pool = poolOf(server.href)
  const names = {
    TRANSACTIONS: `${schema}.wallet_transactions`,
    BETS: `${schema}.wallet_bets`,
    PLAYERS: `${schema}.wallet_players`,
  }
  const run = async (text: string) => {
    const [rows] = await pool.query(named(text, names))
    return Array.isArray(rows) ? (rows as object[]) : []
  }
  const options = { ...limits, schema }
  return {
    ...{ name: 'MySQL or MariaDB', url, schema, run },
    store: createMysqlStore(pool, options),
    storeWith: more => createMysqlStore(pool, { ...options, ...more }),
    lookups: createMysqlLookups(pool, { schema }),
    relay: relayOptions => createMysqlRelay(pool, { schema, ...relayOptions }),
    async reset() {
      await run(`DROP DATABASE IF EXISTS ${schema}`)
      await run(`CREATE DATABASE ${schema}`)
      await migrateMysql(pool, { schema, outbox: true }, { lookupIndexes: true })
      await run(`INSERT INTO PLAYERS VALUES ${players}`)
    },
    storeAt(other) {
      const otherServer = new URL(other)
      otherServer.pathname = ''
      const otherPool = poolOf(otherServer.href)
      return { store: createMysqlStore(otherPool, options), close: () => otherPool.end() }
    },
    forgetPlayer: playerId => forgetOnMysql(pool, { schema, playerId, outbox: true }),
    async lockPlayer(playerId) {
      const program = await mysql.createConnection({ uri: server.href })
      program.on('error', () => {})
      await program.query('BEGIN')
      await program.query(`SELECT player_id FROM ${names.PLAYERS} WHERE player_id = ? FOR UPDATE`, [playerId])
      return { session: program.threadId, unlock: async () => program.destroy() }
    },
    close: () => pool.end(),
  }
}

export const openByUrl = async (url: string): Promise<IncidentDatabase> =>
  /^postgres(?:ql)?:/i.test(url) ? openPostgres(url) : await openMariadb(url)
