/** The database of the killed wallets, on a server or cluster of its own. */
import { migrateMysql } from 'bet-wallet/mysql'
import { migratePostgres } from 'bet-wallet/postgres'
import type { RowDataPacket } from 'mysql2'
import { startGalera } from '../../mariadb/cluster.js'
import { createMariadbDatabase } from '../../mariadb/database.js'
import type { MariadbServer } from '../../mariadb/server.js'
import { startServer } from '../../mysql/engine.js'
import { startPatroni } from '../../postgres/patroni.js'
import { createDatabase, type DatabaseServer, openPostgres } from '../../postgres/server.js'
import { disturbGalera } from '../soak/galera.js'
import { patroniFailing } from '../soak/patroni.js'
import type { Scene } from '../soak/run.js'
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
  address: Pick<ChildSettings, 'engine' | 'servers' | 'schema'>
  /** Injects faults into the servers of a cluster while there is load. Returns when all are up again. */
  disturb(scene: Omit<Scene, 'database' | 'wallets'>): Promise<void>
  /** Events that are not delivered. */
  queued(): Promise<number>
  /** Makes every event due, as if leases and pauses had passed. */
  passTime(): Promise<void>
  /** Every transaction, those of a bet in the order of their commits. */
  recorded(): Promise<Recorded[]>
  close(): Promise<void>
}

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

export const engines: Record<'postgres' | 'mysql' | 'patroni' | 'galera', Open> = {
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
}

async function postgres(
  server: Pick<DatabaseServer, 'url'>,
  { disturb, stop }: Servers,
  playersCount: number,
): Promise<KilledDatabase> {
  const { pool, url, drop } = await createDatabase(server, { pool: { max: 2 } })
  pool.on('error', () => {}) // idle connections that a fault ends
  await migratePostgres(pool, { outbox: true })
  await pool.query(
    `INSERT INTO bet_wallet.players SELECT i::text, 'EUR', 1000 FROM generate_series(0, ${playersCount - 1}) i`,
  )
  return {
    address: { engine: 'postgres', servers: [{ connectionString: url }], schema: 'bet_wallet' },
    disturb: scene => disturb({ ...scene, database: new URL(url).pathname.slice(1) }),
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
      await stop()
    },
  }
}

/** @param nodes the first one can be written to */
async function mysql(
  nodes: readonly Pick<MariadbServer, 'config'>[],
  { disturb, stop }: Servers,
  playersCount: number,
): Promise<KilledDatabase> {
  const [first] = nodes as [Pick<MariadbServer, 'config'>]
  const { config, pool, drop } = await createMariadbDatabase(first.config, { pool: { connectionLimit: 2 } })
  const { database: schema } = config
  await migrateMysql(pool, { schema, outbox: true })
  const players = Array.from({ length: playersCount }, (_, i) => [String(i), 'EUR', '1000'])
  await pool.query('INSERT INTO wallet_players VALUES ?', [players])
  const rows = async (text: string) => (await pool.query<RowDataPacket[]>(text))[0]
  return {
    address: { engine: 'mysql', servers: nodes.map(node => ({ ...node.config, database: schema })), schema },
    disturb: scene => disturb({ ...scene, database: schema }),
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
      await stop()
    },
  }
}
