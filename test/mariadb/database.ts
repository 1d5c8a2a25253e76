/** A database of its own for a test, a soak or a benchmark, on a server that may have others. */
import { randomBytes } from 'node:crypto'
import mysql from 'mysql2/promise'
import { type MariadbConfig, withConnection } from './server.js'

export interface MariadbDatabaseOptions {
  /** Options of the pool: `{ connectionLimit: 16 }`. */
  pool?: Omit<mysql.PoolOptions, keyof MariadbConfig | 'database'>
}

export interface MariadbDatabase {
  /** Of the database, for more connections and pools. */
  readonly config: MariadbConfig & { readonly database: string }
  /** Connections to it. */
  readonly pool: mysql.Pool
  /** Ends the pool and drops the database. */
  drop(): Promise<void>
}

/** Creates an empty database on the server. */
export async function createMariadbDatabase(
  server: MariadbConfig,
  options: MariadbDatabaseOptions = {},
): Promise<MariadbDatabase> {
  const database = `bet_wallet_${randomBytes(8).toString('hex')}`
  await withConnection(server, connection => connection.query(`CREATE DATABASE ${database}`))
  const config = { ...server, database }
  const pool = mysql.createPool({ connectTimeout: 120_000, ...options.pool, ...config })
  return {
    config,
    pool,
    async drop() {
      await pool.end()
      await withConnection(server, connection => connection.query(`DROP DATABASE ${database}`))
    },
  }
}
