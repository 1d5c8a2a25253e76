/**
 * A primary and a hot standby that replicates from it, behind an address that moves: for failovers on any
 * machine with Node and npm. Its clients use the address; what leads to which server is up to the test.
 */
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type MovingAddress, openMovingAddress } from './cluster-address.js'
import { copyForStandby } from './cluster-copy.js'
import { type PostgresServer, startPostgres, withClient } from './server.js'

export interface Cluster {
  /** `postgres://…` at the address. */
  readonly url: string
  /** Where the clients connect. It leads to the primary until it is moved. */
  readonly address: MovingAddress
  /** The connection of the standby to its primary. */
  readonly link: MovingAddress
  readonly primary: PostgresServer
  /** After `promote` and before `rebuildStandby`: the old primary. */
  readonly standby: PostgresServer
  /**
   * Makes COMMIT on the primary wait for a standby, or not, as an administrator does after a failover.
   * `rebuildStandby` restores the initial setting.
   */
  setSynchronous(synchronous: boolean): Promise<void>
  /**
   * Promotes the standby. The address is not moved, and the old primary is left as it is. Resolves when the
   * new primary accepts writes.
   */
  promote(): Promise<void>
  /**
   * Ends the standby, or old primary, and replaces its data by a copy of the primary's. Resolves when it
   * replicates.
   */
  rebuildStandby(): Promise<void>
  /** Resolves when the standby has received and replayed what the primary has written so far. */
  caughtUp(): Promise<void>
  stop(): Promise<void>
}

export interface ClusterOptions {
  synchronous: boolean
  /** Server settings by name, of both. */
  settings?: Readonly<Record<string, string>>
}

const pollMs = 20

export async function startCluster({ synchronous, settings = {} }: ClusterOptions): Promise<Cluster> {
  const options = {
    settings: {
      wal_keep_size: '512MB',
      // The standby connects again at once.
      wal_retrieve_retry_interval: '100ms',
      ...settings,
    },
  }
  let primary = await startPostgres(options)
  const password = new URL(primary.url).password
  const link = await openMovingAddress(primary.port)
  const address = await openMovingAddress(primary.port)
  const conninfo = `host=127.0.0.1 port=${link.port} user=postgres password=${password}`
  const nodes = [primary]
  let standby = primary
  let isSynchronous = false

  const onPrimary = <Row extends object>(text: string) =>
    withClient(primary.url, async client => (await client.query<Row>(text)).rows)

  async function setSynchronous(next: boolean): Promise<void> {
    isSynchronous = next
    const names = next ? '*' : ''
    await onPrimary(`ALTER SYSTEM SET synchronous_standby_names = '${names}'`)
    await onPrimary('SELECT pg_reload_conf()')
    for (;;) {
      const [row] = await onPrimary<{ names: string }>(
        "SELECT current_setting('synchronous_standby_names') AS names",
      )
      if (row?.names === names) return
      await sleep(pollMs)
    }
  }

  async function replicates(): Promise<void> {
    const state = isSynchronous ? 'sync' : 'async'
    for (;;) {
      const rows = await onPrimary<{ state: string; sync_state: string }>(
        'SELECT state, sync_state FROM pg_stat_replication',
      )
      if (rows.some(row => row.state === 'streaming' && row.sync_state === state)) return
      await sleep(pollMs)
    }
  }

  async function stop(): Promise<void> {
    await Promise.all([address.close(), link.close()])
    const ends = await Promise.allSettled(nodes.map(node => node.stop()))
    for (const end of ends) if (end.status === 'rejected') throw end.reason
  }

  try {
    await setSynchronous(synchronous)
    standby = await startPostgres({
      ...options,
      data: { password, fill: folder => copyForStandby(primary, folder, conninfo) },
    })
    nodes.push(standby)
    await replicates()
  } catch (error) {
    await stop().catch(() => {}) // the first error is the reason
    throw error
  }
  const url = new URL(primary.url)
  url.port = String(address.port)

  return {
    url: url.href,
    address,
    link,
    setSynchronous,
    stop,
    get primary() {
      return primary
    },
    get standby() {
      return standby
    },

    async promote() {
      await withClient(standby.url, client => client.query('SELECT pg_promote()'))
      ;[primary, standby] = [standby, primary]
    },

    async rebuildStandby() {
      if (standby.isRunning()) await standby.kill()
      for (const name of readdirSync(standby.dataFolder))
        rmSync(join(standby.dataFolder, name), { recursive: true, force: true })
      link.moveTo(primary.port, { cut: true })
      link.release()
      // Before the copy, which contains the setting.
      if (isSynchronous !== synchronous) await setSynchronous(synchronous)
      await copyForStandby(primary, standby.dataFolder, conninfo)
      await standby.start()
      await replicates()
    },

    async caughtUp() {
      const [row] = await onPrimary<{ lsn: string }>('SELECT pg_current_wal_flush_lsn()::text AS lsn')
      await withClient(standby.url, async client => {
        for (;;) {
          const { rows } = await client.query('SELECT pg_last_wal_replay_lsn() >= $1::pg_lsn AS reached', [
            row?.lsn,
          ])
          if (rows[0]?.reached) return
          await sleep(pollMs)
        }
      })
    },
  }
}
