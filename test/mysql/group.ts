/**
 * A real group of three nodes of MySQL Group Replication, single primary, each in a network of its own, whose
 * nodes can be killed, stopped and cut off from the others.
 */
// cspell:ignore BLACKHOLE
import { randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Connection, RowDataPacket } from 'mysql2/promise'
import { type MariadbServer, withConnection } from '../mariadb/server.js'
import { startMsMax } from '../processes.js'
import { noMysql } from './installation.js'
import { type Network, networkProblem, openNetwork } from './network.js'
import { startMysql } from './server.js'

export interface GroupNode extends MariadbServer {
  /** Restarts it after `kill` or `shutDown`. It is no member: writable, and alone. */
  boot(): Promise<void>
  /** Restarts it. Resolves when it is a member again. */
  start(): Promise<void>
  /** Cuts it off from the other nodes; clients still reach it. */
  cutOff(): Promise<void>
  /** Ends `cutOff`. */
  reconnect(): Promise<void>
  /** Makes it a member: by the transactions that it has missed, or by a copy of all data. */
  join(by?: 'recovery' | 'clone'): Promise<void>
  /** What it reports of itself; `null`: nothing. */
  state(): Promise<Member | null>
  /** What it reports of all nodes. */
  members(): Promise<Member[]>
  /** Runs statements as an administrator. @returns the rows of the last one */
  run(...statements: readonly string[]): Promise<RowDataPacket[]>
}

export interface Member {
  id: string
  state: string
  role: string
}

export interface MysqlGroup {
  readonly nodes: readonly [GroupNode, GroupNode, GroupNode]
  /** The node that is the primary, and can be written to. Resolves when there is one. */
  primary(): Promise<GroupNode>
  except(...nodes: readonly GroupNode[]): GroupNode[]
  /** Resolves when exactly these nodes are the group, with a primary that can be written to. */
  consistsOf(nodes: readonly GroupNode[]): Promise<void>
  /** Resolves when all nodes are the group. Those that have left it are asked to join. */
  whole(): Promise<void>
  /** The same, and each has applied what was committed. */
  settled(): Promise<void>
  /** Makes a node the primary. With a limit, it ends what lasts longer, and refuses what is new. */
  setPrimary(node: GroupNode, limitSeconds?: number): Promise<void>
  stop(): Promise<void>
}

/** Why no group can be started here; `null`: it can. */
export const noGroup: string | null = noMysql ?? networkProblem()

const pollMs = 50

/** @param log of the server, for the error when it takes too long */
async function until(what: string, holds: () => Promise<boolean>, log = () => ''): Promise<void> {
  const end = Date.now() + startMsMax
  while (!(await holds())) {
    if (Date.now() > end)
      throw new Error(`after ${startMsMax / 1000} s still not: ${what}\n${log().slice(-4_000)}`)
    await sleep(pollMs)
  }
}

async function membersBy(connection: Connection): Promise<Member[]> {
  const [rows] = await connection.query<RowDataPacket[]>(
    `SELECT MEMBER_ID AS id, MEMBER_STATE AS state, MEMBER_ROLE AS role
      FROM performance_schema.replication_group_members ORDER BY id`,
  )
  return rows as Member[]
}

export interface GroupOptions {
  /** Server settings by name, of every node. */
  settings?: Readonly<Record<string, string>>
}

/** @throws Error when there can be none here, or a node does not start, with its log */
export async function startGroup({ settings = {} }: GroupOptions = {}): Promise<MysqlGroup> {
  if (noGroup !== null) throw new Error(noGroup)
  const network = await openNetwork(3)
  const nodes: GroupNode[] = []
  const stop = async () => {
    const ends = await Promise.allSettled(nodes.map(node => node.stop()))
    await network.close()
    for (const end of ends) if (end.status === 'rejected') throw end.reason
  }
  const shared = { network, settings, group: randomUUID(), password: randomBytes(16).toString('hex') }
  try {
    const started = await Promise.allSettled([0, 1, 2].map(index => startNode(index, shared)))
    for (const each of started) if (each.status === 'fulfilled') nodes.push(each.value)
    for (const each of started) if (each.status === 'rejected') throw each.reason
    const [first, ...others] = nodes as [GroupNode, ...GroupNode[]]
    await first.run(
      'SET GLOBAL group_replication_bootstrap_group = ON',
      'START GROUP_REPLICATION',
      'SET GLOBAL group_replication_bootstrap_group = OFF',
    )
    for (const node of others) await node.join()
  } catch (error) {
    await stop().catch(() => {}) // the first error is the reason
    throw error
  }
  return groupOf(nodes as [GroupNode, GroupNode, GroupNode], stop)
}

function groupOf(nodes: MysqlGroup['nodes'], stop: MysqlGroup['stop']): MysqlGroup {
  const isPrimary = (node: GroupNode) =>
    withConnection(node.config, async connection => {
      const [[row]] = await connection.query<RowDataPacket[]>(
        'SELECT @@server_uuid AS id, @@read_only AS isReadOnly',
      )
      const members = await membersBy(connection)
      const member = members.find(({ id }) => id === row?.id)
      const reachable = members.filter(({ state }) => state !== 'UNREACHABLE').length
      const isMember = member?.state === 'ONLINE' && reachable > members.length / 2
      return isMember && member.role === 'PRIMARY' && row?.isReadOnly === 0
    }).catch(() => false)
  const areGroup = async (members: readonly GroupNode[]) => {
    const views = await Promise.all(members.map(node => node.members().catch(() => [])))
    const areComplete = views.every(
      view => view.length === members.length && view.every(({ state }) => state === 'ONLINE'),
    )
    return areComplete && (await Promise.all(members.map(isPrimary))).filter(Boolean).length === 1
  }
  async function primary(): Promise<GroupNode> {
    let found: GroupNode | undefined
    await until('a primary', async () => {
      const answers = await Promise.all(nodes.map(isPrimary))
      found = nodes.find((_, index) => answers[index])
      return found !== undefined
    })
    return found as GroupNode
  }
  const whole = () =>
    until('a group of all nodes', async () => {
      // One that comes back believes for a moment to be a member still.
      await Promise.all(nodes.map(node => node.join()))
      return areGroup(nodes)
    })
  return {
    nodes,
    stop,
    except: (...excluded) => nodes.filter(node => !excluded.includes(node)),
    primary,
    whole,
    consistsOf: members => until(`a group of ${members.length} nodes`, () => areGroup(members)),
    async settled() {
      await whole()
      const [row] = await (await primary()).run('SELECT @@GLOBAL.gtid_executed AS executed')
      for (const node of nodes) await node.run(`DO WAIT_FOR_EXECUTED_GTID_SET('${row?.executed}')`)
    },
    async setPrimary(node, limitSeconds) {
      const limit = limitSeconds === undefined ? '' : `, ${limitSeconds}`
      await node.run(`SELECT group_replication_set_as_primary(@@server_uuid${limit})`)
    },
  }
}

interface Shared {
  network: Network
  settings: Readonly<Record<string, string>>
  group: string
  password: string
}

const groupPort = 33061

async function startNode(index: number, { network, settings, group, password }: Shared): Promise<GroupNode> {
  const host = network.hosts[index]
  if (host === undefined) throw new Error(`no host ${index}`)
  const server = await startMysql({
    network: host,
    password,
    settings: {
      server_id: `${index + 1}`,
      gtid_mode: 'ON',
      enforce_gtid_consistency: 'ON',
      report_host: host.address,
      plugin_load: 'group_replication.so;mysql_clone.so',
      // As in the manual of MySQL.
      disabled_storage_engines: 'MyISAM,BLACKHOLE,FEDERATED,ARCHIVE,MEMORY',
      group_replication_group_name: group,
      group_replication_local_address: `${host.address}:${groupPort}`,
      group_replication_group_seeds: network.hosts.map(({ address }) => `${address}:${groupPort}`).join(','),
      group_replication_start_on_boot: 'OFF',
      group_replication_recovery_get_public_key: 'ON',
      // A donor may be cut off. The default is 60 s.
      group_replication_recovery_reconnect_interval: '1',
      // As soon as the others suspect a silent node, after 5 s. Any timeout is rounded up to 15 s more.
      group_replication_member_expel_timeout: '0',
      ...settings,
    },
  })
  const { config } = server
  const run = (...statements: readonly string[]) =>
    withConnection(config, async connection => {
      let rows: RowDataPacket[] = []
      for (const statement of statements) [rows] = await connection.query<RowDataPacket[]>(statement)
      return rows
    })
  const members = () => withConnection(config, membersBy)
  const state = async () => {
    const [row] = await run('SELECT @@server_uuid AS id')
    return (await members()).find(({ id }) => id === row?.id) ?? null
  }
  await run(
    `CHANGE REPLICATION SOURCE TO SOURCE_USER = '${config.user}', SOURCE_PASSWORD = '${password}'
      FOR CHANNEL 'group_replication_recovery'`,
  )

  /** Asks it to join as long as it is no member: the others may not have expelled it yet. */
  async function join(by: 'recovery' | 'clone' = 'recovery'): Promise<void> {
    let threshold = by === 'clone' ? '1' : '9223372036854775807'
    await until(
      'a member of the group',
      async () => {
        try {
          const now = (await state())?.state
          if (now === 'ONLINE') return true
          if (now === 'RECOVERING') return false
          await run(
            'STOP GROUP_REPLICATION',
            'SET GLOBAL offline_mode = OFF',
            `SET GLOBAL group_replication_clone_threshold = ${threshold}`,
            'START GROUP_REPLICATION',
          )
        } catch (error) {
          // With all data of another node, it shuts down.
          if (by === 'clone' && !server.isRunning()) {
            threshold = '9223372036854775807'
            await server.start()
          } else if (!server.isRunning()) throw error
        }
        return false
      },
      server.log,
    )
  }

  return {
    ...server,
    boot: server.start,
    async start() {
      await server.start()
      await join()
    },
    join,
    run,
    members,
    state,
    cutOff: host.cutOff,
    reconnect: host.reconnect,
  }
}
