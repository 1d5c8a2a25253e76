/**
 * A real Galera cluster of three nodes, each on its own loopback address, whose nodes can be killed, stopped and
 * cut off from the others.
 */
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Connection, RowDataPacket } from 'mysql2/promise'
import { freePort } from '../postgres/server.js'
import { startMsMax } from '../processes.js'
import { galeraProvider } from './installation.js'
import { type MariadbServer, ownAddress, startMariadb, withConnection } from './server.js'

export interface GaleraNode extends MariadbServer {
  /** Restarts it after `kill` or `shutDown`. Resolves when it is {@link isSynced}. */
  start(): Promise<void>
  /** Cuts it off from the other nodes; clients still reach it. It notices after {@link suspectMs}. */
  cutOff(): Promise<void>
  /** Resolves when it has left the primary component, and refuses statements. */
  hasLeft(): Promise<void>
  /** Ends `cutOff`. Resolves when it is {@link isSynced}. */
  reconnect(): Promise<void>
  /** Whether it belongs to the primary component, and has applied what the others have committed. */
  isSynced(): Promise<boolean>
  /** It applies no commits of other nodes until the returned function is called: its data are old. */
  holdApplying(): Promise<() => Promise<void>>
}

export interface GaleraCluster {
  readonly nodes: readonly [GaleraNode, GaleraNode, GaleraNode]
  /** The others. */
  except(node: GaleraNode): GaleraNode[]
  /** Resolves when exactly these nodes form the primary component. Default: all. */
  consistsOf(nodes?: readonly GaleraNode[]): Promise<void>
  stop(): Promise<void>
}

export interface GaleraOptions {
  /** Server settings by name, of every node. */
  settings?: Readonly<Record<string, string>>
}

/** How long the others wait for a silent node until they expel it; no commit ends meanwhile. Galera's default: 5 s. */
export const suspectMs = 2_000

const pollMs = 50

const statusOf = async (connection: Connection): Promise<Record<string, string | undefined>> => {
  // Answered by a node that is cut off too.
  const [rows] = await connection.query<RowDataPacket[]>("SHOW STATUS LIKE 'wsrep%'")
  return Object.fromEntries(rows.map(row => [row.Variable_name, row.Value]))
}

const isSyncedBy = async (connection: Connection): Promise<boolean> => {
  const status = await statusOf(connection)
  return (
    status.wsrep_ready === 'ON' &&
    status.wsrep_cluster_status === 'Primary' &&
    status.wsrep_local_state_comment === 'Synced'
  )
}

/** @throws Error with what was awaited and the ends of the logs, when it takes too long */
async function until(
  what: string,
  logs: () => readonly string[],
  holds: () => Promise<boolean>,
): Promise<void> {
  const end = Date.now() + startMsMax
  while (!(await holds())) {
    if (Date.now() > end) {
      const ends = logs().map(log => log.slice(-2_000))
      throw new Error([`after ${startMsMax / 1000} s still not: ${what}`, ...ends].join('\n\n'))
    }
    await sleep(pollMs)
  }
}

/** @throws Error when Galera is not installed, or a node does not start, with its log */
export async function startGalera({ settings = {} }: GaleraOptions = {}): Promise<GaleraCluster> {
  const provider = galeraProvider()
  const hosts = [ownAddress(), ownAddress(), ownAddress()]
  const nodes: GaleraNode[] = []
  const stop = async () => {
    const ends = await Promise.allSettled(nodes.map(node => node.stop()))
    for (const end of ends) if (end.status === 'rejected') throw end.reason
  }
  const join = { name: `bet-wallet-${randomBytes(4).toString('hex')}`, hosts, provider, settings }
  try {
    const first = await startNode({ ...join, host: hosts[0] as string })
    nodes.push(first)
    // One at a time: the transfer of the data occupies the donor.
    for (const host of hosts.slice(1))
      nodes.push(await startNode({ ...join, host, password: first.config.password }))
  } catch (error) {
    await stop().catch(() => {}) // the first error is the reason
    throw error
  }
  return {
    nodes: nodes as unknown as GaleraCluster['nodes'],
    except: excluded => nodes.filter(node => node !== excluded),
    stop,
    async consistsOf(members = nodes) {
      const isMember = (node: GaleraNode) =>
        withConnection(node.config, async connection => {
          const { wsrep_cluster_size: size } = await statusOf(connection)
          return Number(size) === members.length && (await isSyncedBy(connection))
        }).catch(() => false)
      await until(
        `a primary component of ${members.length} nodes`,
        () => nodes.map(node => node.log()),
        async () => (await Promise.all(members.map(isMember))).every(Boolean),
      )
    },
  }
}

interface NodeOptions {
  name: string
  hosts: readonly string[]
  host: string
  provider: string
  settings: Readonly<Record<string, string>>
  /** Absent: this node is the first, and creates the cluster. */
  password?: string
}

async function startNode(options: NodeOptions): Promise<GaleraNode> {
  const { name, hosts, host, provider, settings, password } = options
  // By default its program listens on one port of all addresses, where another cluster's may listen.
  const transferPort = await freePort(host)
  const server = await startMariadb({
    host,
    settings: {
      binlog_format: 'ROW',
      innodb_autoinc_lock_mode: '2',
      ...settings,
      wsrep_on: 'ON',
      wsrep_provider: provider,
      // Newer servers have this plugin, which allows no change of wsrep_provider_options.
      loose_plugin_wsrep_provider: 'OFF',
      wsrep_cluster_name: name,
      wsrep_cluster_address: `gcomm://${hosts.map(peer => `${peer}:${groupPort}`).join(',')}`,
      wsrep_node_address: host,
      wsrep_sst_method: 'rsync',
      wsrep_sst_receive_address: `${host}:${transferPort}`,
      wsrep_provider_options: providerOptions(host),
    },
    ...(password === undefined
      ? { firstArguments: ['--wsrep_new_cluster'] }
      : { transferredPassword: password }),
    isReady: isSyncedBy,
  })

  const setIsolated = (isolated: boolean) =>
    withConnection(server.config, async connection => {
      await connection.query(`SET GLOBAL wsrep_provider_options = 'gmcast.isolate=${Number(isolated)}'`)
    })
  const logs = () => [server.log()]
  const isSynced = () => withConnection(server.config, isSyncedBy).catch(() => false)

  return {
    ...server,
    isSynced,
    cutOff: () => setIsolated(true),
    hasLeft: () =>
      until('out of the primary component', logs, () =>
        withConnection(
          server.config,
          async connection => (await statusOf(connection)).wsrep_ready === 'OFF',
        ).catch(() => false),
      ),
    async reconnect() {
      await setIsolated(false)
      await until('synced again', logs, isSynced)
    },
    async holdApplying() {
      let release = () => {}
      const released = new Promise<void>(resolve => {
        release = resolve
      })
      await new Promise<void>((held, failed) => {
        withConnection(server.config, async connection => {
          await connection.query('FLUSH TABLES WITH READ LOCK')
          held()
          await released
          await connection.query('UNLOCK TABLES')
        }).catch(failed)
      })
      return async () => {
        release()
        await until('synced again', logs, isSynced)
      }
    },
  }
}

const groupPort = 4567

const providerOptions = (host: string): string =>
  Object.entries({
    'gmcast.listen_addr': `tcp://${host}:${groupPort}`,
    'ist.recv_addr': `${host}:${groupPort + 1}`,
    'gcache.size': '16M',
    // Each period less than a third of the timeout: Galera refuses to start otherwise.
    'evs.keepalive_period': 'PT0.3S',
    'evs.inactive_check_period': 'PT0.3S',
    'evs.suspect_timeout': `PT${suspectMs / 1000}S`,
    'evs.inactive_timeout': `PT${(2 * suspectMs) / 1000}S`,
    'evs.install_timeout': `PT${(2 * suspectMs) / 1000}S`,
  })
    .map(([name, value]) => `${name}=${value}`)
    .join(';')
