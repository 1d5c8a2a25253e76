/** The database of the killed wallets, on a server of its own. */
import { migrateMysql } from 'bet-wallet/mysql'
import { migratePostgres } from 'bet-wallet/postgres'
import type { RowDataPacket } from 'mysql2'
import { createMariadbDatabase } from '../../mariadb/database.js'
import { startServer } from '../../mysql/engine.js'
import { createDatabase, openPostgres } from '../../postgres/server.js'
import type { ChildSettings } from './child.js'

/** A row of the table of transactions. */
export interface Recorded {
  id: string
  betId: string
  transactionId: string
  delta: number
  balanceAfter: number
}

export interface KilledDatabase {
  address: Pick<ChildSettings, 'databaseUrl' | 'schema'>
  /** Events that are not delivered. */
  queued(): Promise<number>
  /** Makes every event due, as if leases and pauses had passed. */
  passTime(): Promise<void>
  /** Every transaction, those of a bet in the order of their commits. */
  recorded(): Promise<Recorded[]>
  close(): Promise<void>
}

const columns = `bet_id AS "betId", transaction_id AS "transactionId"`

export async function openDatabase(
  engine: ChildSettings['engine'],
  playersCount: number,
): Promise<KilledDatabase> {
  return engine === 'postgres' ? await postgres(playersCount) : await mysql(playersCount)
}

async function postgres(playersCount: number): Promise<KilledDatabase> {
  const server = await openPostgres()
  const { pool, url, drop } = await createDatabase(server, { pool: { max: 2 } })
  await migratePostgres(pool, { outbox: true })
  await pool.query(
    `INSERT INTO bet_wallet.players SELECT i::text, 'EUR', 1000 FROM generate_series(0, ${playersCount - 1}) i`,
  )
  return {
    address: { databaseUrl: url, schema: 'bet_wallet' },
    queued: async () =>
      Number((await pool.query('SELECT count(*) AS queued FROM bet_wallet.outbox')).rows[0]?.queued),
    passTime: async () => {
      await pool.query('UPDATE bet_wallet.outbox SET due_at = now() WHERE due_at > now()')
    },
    recorded: async () =>
      (
        await pool.query(
          `SELECT wallet_transaction_id AS id, ${columns}, delta::float8, balance_after::float8 AS "balanceAfter"
            FROM bet_wallet.transactions ORDER BY wallet_transaction_id::bigint`,
        )
      ).rows,
    async close() {
      await drop()
      await server.stop()
    },
  }
}

async function mysql(playersCount: number): Promise<KilledDatabase> {
  const server = await startServer()
  const { config, pool, drop } = await createMariadbDatabase(server.config, { pool: { connectionLimit: 2 } })
  const { host, port, user, password, database: schema } = config
  await migrateMysql(pool, { schema, outbox: true })
  const players = Array.from({ length: playersCount }, (_, i) => [String(i), 'EUR', '1000'])
  await pool.query('INSERT INTO wallet_players VALUES ?', [players])
  const rows = async (text: string) => (await pool.query<RowDataPacket[]>(text))[0]
  return {
    address: { databaseUrl: `mysql://${user}:${password}@${host}:${port}/${schema}`, schema },
    queued: async () => Number((await rows('SELECT COUNT(*) AS queued FROM wallet_outbox'))[0]?.queued),
    passTime: async () => {
      await rows('UPDATE wallet_outbox SET due_at = UTC_TIMESTAMP(6) WHERE due_at > UTC_TIMESTAMP(6)')
    },
    recorded: async () =>
      (
        await rows(
          `SELECT CAST(id AS char) AS id, bet_id AS betId, transaction_id AS transactionId, delta, balance_after AS balanceAfter
            FROM wallet_transactions ORDER BY recorded_at`,
        )
      ).map(
        row => ({ ...row, delta: Number(row.delta), balanceAfter: Number(row.balanceAfter) }) as Recorded,
      ),
    async close() {
      await drop()
      await server.stop()
    },
  }
}
