/** The database of the killed wallets, on a server or cluster of its own. */
import { migrateMysql } from 'bet-wallet/mysql'
import { migratePostgres } from 'bet-wallet/postgres'
import type { RowDataPacket } from 'mysql2'
import { startGalera } from '../../mariadb/cluster.js'
import { createMariadbDatabase } from '../../mariadb/database.js'
import { type MariadbServer, withConnection } from '../../mariadb/server.js'
import { startServer } from '../../mysql/engine.js'
import { startGroup } from '../../mysql/group.js'
import { startPatroni } from '../../postgres/patroni.js'
import { createDatabase, type DatabaseServer, openPostgres } from '../../postgres/server.js'
import { disturbGalera } from '../soak/galera.js'
import { disturbGroup } from '../soak/group.js'
import { patroniFailing } from '../soak/patroni.js'
import type { Scene } from '../soak/run.js'
import type { ChildSettings } from './child.js'
import { transactionDate } from './settings.js'

/** A row of the table of transactions. */
export interface Recorded {
  id: string
  betId: string
  transactionId: string
  delta: number
  balanceAfter: number
}

export interface KilledDatabase {
  address: Pick<ChildSettings, 'engine' | 'servers' | 'schema'>
  /** Injects faults into the servers of a cluster while there is load. Returns when all are up again. */
  disturb(scene: Omit<Scene, 'database' | 'wallets'>): Promise<void>
  /** Events that are not delivered, without dead letters. */
  queued(): Promise<number>
  /** What is left in the outbox at the end: dead letters. */
  left(): Promise<{ betId: string; problem: string }[]>
  /** Adds an event without a transaction, and makes a transaction unreadable whose event waits. */
  poison(): Promise<void>
  /** Makes every transaction readable again. */
  repair(): Promise<void>
  /** As if the clock had been ahead by an hour when the times of the outbox were written. */
  turnClockBack(): Promise<void>
  /** Makes every event due, as if leases and pauses had passed. */
  passTime(): Promise<void>
  /** Every transaction, those of a bet in the order of their commits. */
  recorded(): Promise<Recorded[]>
  close(): Promise<void>
}

const leftColumns = 'bet_id AS "betId", problem'
let gone = 0
const columns = `bet_id AS "betId", transaction_id AS "transactionId"`

type Open = (playersCount: number) => Promise<KilledDatabase>

/** What differs between a server and a cluster. */
interface Servers {
  disturb(scene: Omit<Scene, 'wallets'>): Promise<void>
  stop(): Promise<void>
}

/** They are killed by the soak. */
const alone = (server: { stop(): Promise<void> }): Servers => ({
  disturb: async () => {},
  stop: () => server.stop(),
})

export const engines: Record<'postgres' | 'mysql' | 'patroni' | 'galera' | 'group', Open> = {
  async postgres(playersCount) {
    const server = await openPostgres()
    return await postgres(server, alone(server), playersCount)
  },
  async mysql(playersCount) {
    const server = await startServer()
    return await mysql([server], alone(server), playersCount)
  },
  async patroni(playersCount) {
    const cluster = await startPatroni()
    const { disturb } = patroniFailing(cluster)
    const servers = {
      disturb: scene => disturb({ ...scene, wallets: [] }),
      stop: cluster.stop,
    } satisfies Servers
    return await postgres(cluster, servers, playersCount)
  },
  async galera(playersCount) {
    const cluster = await startGalera()
    const servers = { disturb: scene => disturbGalera(cluster, scene), stop: cluster.stop } satisfies Servers
    return await mysql(cluster.nodes, servers, playersCount)
  },
  async group(playersCount) {
    const group = await startGroup()
    const servers = { disturb: scene => disturbGroup(group, scene), stop: group.stop } satisfies Servers
    const primary = await group.primary()
    return await mysql([primary, ...group.except(primary)], servers, playersCount, () => group.primary())
  },
}

async function postgres(
  server: Pick<DatabaseServer, 'url'>,
  { disturb, stop }: Servers,
  playersCount: number,
): Promise<KilledDatabase> {
  const { pool, url, drop } = await createDatabase(server, { pool: { max: 2 } })
  pool.on('error', () => {}) // idle connections that a fault ends
  await migratePostgres(pool, { outbox: true })
  // Processes with and without the option.
  await migratePostgres(pool, {}, { allowOtherOptions: true })
  await pool.query(
    `INSERT INTO bet_wallet.players SELECT i::text, 'EUR', 1000 FROM generate_series(0, ${playersCount - 1}) i`,
  )
  return {
    address: { engine: 'postgres', servers: [{ connectionString: url }], schema: 'bet_wallet' },
    disturb: scene => disturb({ ...scene, database: new URL(url).pathname.slice(1) }),
    queued: async () =>
      Number((await pool.query('SELECT count(due_at) AS queued FROM bet_wallet.outbox')).rows[0]?.queued),
    left: async () => (await pool.query(`SELECT ${leftColumns} FROM bet_wallet.outbox`)).rows,
    async poison() {
      gone += 1
      await pool.query('INSERT INTO bet_wallet.outbox (bet_id, event_number) VALUES ($1, $2)', [
        ...[`gone-${gone}`, -gone],
      ])
      await pool.query(`UPDATE bet_wallet.transactions SET transaction_date = 'infinity'
        WHERE wallet_transaction_id IN (
          SELECT event_number::text FROM bet_wallet.outbox WHERE event_number > 0 ORDER BY 1 DESC LIMIT 1
        )`)
    },
    async repair() {
      await pool.query(
        `UPDATE bet_wallet.transactions SET transaction_date = '${transactionDate}' WHERE transaction_date = 'infinity'`,
      )
    },
    async turnClockBack() {
      await pool.query(`UPDATE bet_wallet.outbox
        SET due_at = due_at + interval '1 hour', recorded_at = recorded_at + interval '1 hour'`)
    },
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
      await stop()
    },
  }
}

/** @param nodes the first one can be written to, at the beginning */
async function mysql(
  nodes: readonly Pick<MariadbServer, 'config'>[],
  { disturb, stop }: Servers,
  playersCount: number,
  writable = async () => nodes[0] as Pick<MariadbServer, 'config'>,
): Promise<KilledDatabase> {
  const [first] = nodes as [Pick<MariadbServer, 'config'>]
  const { config, pool } = await createMariadbDatabase(first.config, { pool: { connectionLimit: 2 } })
  const { database: schema } = config
  await migrateMysql(pool, { schema, outbox: true })
  await migrateMysql(pool, { schema }, { allowOtherOptions: true })
  const players = Array.from({ length: playersCount }, (_, i) => [String(i), 'EUR', '1000'])
  await pool.query('INSERT INTO wallet_players VALUES ?', [players])
  const rows = async (text: string) => {
    const own = { ...(await writable()).config, database: schema }
    return await withConnection(own, async connection => (await connection.query<RowDataPacket[]>(text))[0])
  }
  return {
    address: { engine: 'mysql', servers: nodes.map(node => ({ ...node.config, database: schema })), schema },
    disturb: scene => disturb({ ...scene, database: schema }),
    queued: async () => Number((await rows('SELECT COUNT(due_at) AS queued FROM wallet_outbox'))[0]?.queued),
    left: async () => (await rows(`SELECT ${leftColumns} FROM wallet_outbox`)) as never,
    async poison() {
      gone += 1
      await rows(
        `INSERT INTO wallet_outbox (id, bet_id, due_at) VALUES (${gone}, 'gone-${gone}', UTC_TIMESTAMP(6))`,
      )
      const [waiting] = await rows('SELECT id FROM wallet_outbox WHERE id > 1000000 ORDER BY id DESC LIMIT 1')
      await rows(
        `UPDATE IGNORE wallet_transactions SET transaction_date = '0000-00-00' WHERE id = ${waiting?.id ?? 0}`,
      )
    },
    async repair() {
      const date = transactionDate.slice(0, 23).replace('T', ' ')
      await rows(
        `UPDATE wallet_transactions SET transaction_date = '${date}' WHERE transaction_date < '1000-01-01'`,
      )
    },
    async turnClockBack() {
      await rows(
        'UPDATE wallet_outbox SET due_at = due_at + INTERVAL 1 HOUR, recorded_at = recorded_at + INTERVAL 1 HOUR',
      )
    },
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
      await pool.end()
      await stop()
    },
  }
}
