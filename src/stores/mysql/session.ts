/** A session: a connection with the store's settings, and what the parts of the store do with it. */
import type { Query } from '../database/within-transaction.js'
import {
  type Connection,
  callProcedure,
  changedSessions,
  execute,
  packetBytesMax,
  query,
  resultOf,
} from './driver.js'
import { storeError } from './errors.js'
import type { Values } from './rows.js'
import { literal } from './sql/quoting.js'

/** A connection, as the parts of the store use it. */
export interface Session {
  rows(text: string, values?: unknown[]): Promise<readonly Values[]>
  call(text: string, values: unknown[]): Promise<readonly Values[]>
  /** Runs a statement; without values it is not prepared. @returns the number of rows that it has changed */
  run(text: string, values?: unknown[]): Promise<number>
  /** For the operator's statements: rows as the pool returns them. */
  query: Query
  /** Whether its server was a node of MySQL's Group Replication when it began. */
  isOfGroup: boolean
}

export function sessionOf(connection: Connection): Session {
  return {
    isOfGroup: isOfGroup(connection),
    rows: (text, values = []) => execute(connection, text, values),
    call: (text, values) => callProcedure(connection, text, values),
    async run(text, values) {
      const result = values === undefined ? query(connection, text) : execute(connection, text, values)
      return Number(((await result) as { affectedRows?: number }).affectedRows ?? 0)
    },
    query(text, values = []) {
      // mysql2 rejects undefined, and pg takes it as NULL.
      return resultOf<unknown>(connection, callback =>
        connection.execute(
          { sql: text },
          values.map(value => value ?? null),
          callback,
        ),
      ).then(result => ({
        rows: Array.isArray(result) ? result : [],
      }))
    },
  }
}

/** Settings of a session that the server may begin with otherwise, and that change what a statement does. */
const plainSettings = [
  'autocommit = 1',
  'completion_type = 0',
  // Loads and lookups need all rows. DEFAULT would be the server's value.
  'sql_select_limit = 18446744073709551615',
  'sql_safe_updates = 0',
  // Keys and constraints are read from messages.
  "lc_messages = 'en_US'",
  // Every change is reported with the end of its statement.
  "session_track_system_variables = '*'",
]

/** What `prepareSession` has read of the server of a session. */
interface ServerFacts {
  /** Which server it is. */
  server: string
  /** The name of its group, the UUID of its Galera cluster; `null`: it is in neither. */
  cluster: string | null
  /** Whether it is a node of MySQL's Group Replication. */
  isOfGroup: boolean
}

const facts = new WeakMap<Connection, ServerFacts>()
export const isOfGroup = (connection: Connection) => facts.get(connection)?.isOfGroup === true
export const serverOf = (connection: Connection) => facts.get(connection)?.server ?? ''
export const clusterOf = (connection: Connection) => facts.get(connection)?.cluster ?? null

/** What tells servers apart: MySQL, MariaDB since 10.10, and what older ones have instead. */
export const serverNames = ['server_uuid', 'server_uid', 'hostname', 'port', 'datadir', 'server_id']

const groupNames = ['group_replication_group_name', 'group_replication_consistency']
const characterSets = ['character_set_client', 'character_set_connection', 'character_set_results']

/**
 * READ COMMITTED: a commit judges the rows as they are when it holds their locks, and takes no locks of gaps.
 * Joins without buffers: with a small table the optimizer would read and lock all of it. On a cluster a read
 * waits until the node has what the others have committed, and on a new primary of a group until it has what
 * the old one had.
 *
 * @throws {StoreError} `UNSUPPORTED_CLIENT`: the connection is not utf8mb4, so that ids change on the way
 */
export async function prepareSession(connection: Connection, limits: SessionLimits): Promise<void> {
  if (packetBytesMax.has(connection)) return
  // Before anything is asked: on MySQL sql_select_limit cuts what SHOW returns.
  await set(connection, plainSettings)
  const names = ['version', 'wsrep_on', 'max_allowed_packet', ...serverNames, ...groupNames, ...characterSets]
  const variables = await query(
    connection,
    `SHOW VARIABLES WHERE Variable_name IN (${names.map(literal).join(', ')})`,
  )
  const settingOf = (name: string) => String(variables.find(([key]) => key === name)?.[1] ?? '')
  for (const name of characterSets) {
    if (settingOf(name) === 'utf8mb4') continue
    throw storeError(
      'UNSUPPORTED_CLIENT',
      `${name} of the connection is ${settingOf(name)}; it must be utf8mb4, or ids are changed on the way: use the ` +
        "pool's default charset",
    )
  }
  await set(connection, settingsFor(settingOf, limits))
  changedSessions.delete(connection)
  facts.set(connection, {
    server: JSON.stringify(serverNames.map(settingOf)),
    cluster: settingOf('group_replication_group_name') || (await galeraOf(connection, settingOf)),
    isOfGroup: settingOf('group_replication_group_name') !== '',
  })
  packetBytesMax.set(connection, Number(settingOf('max_allowed_packet')))
}

/** The time limits of a session, in milliseconds. */
export interface SessionLimits {
  /** Of a statement: its client has gone when it is over. */
  timeoutMs: number
  lockTimeoutMs: number
}

type SettingOf = (name: string) => string

function settingsFor(settingOf: SettingOf, { timeoutMs, lockTimeoutMs }: SessionLimits): string[] {
  const isMaria = /mariadb/i.test(settingOf('version'))
  return [
    `innodb_lock_wait_timeout = ${Math.max(1, Math.round(lockTimeoutMs / 1000))}`,
    // Of metadata. MySQL does not notice that the client of a statement that waits has gone.
    `lock_wait_timeout = ${Math.max(1, Math.floor(timeoutMs / 1000))}`,
    ...(isMaria
      ? ["tx_isolation = 'READ-COMMITTED'", 'join_cache_level = 0']
      : ["transaction_isolation = 'READ-COMMITTED'", "optimizer_switch = 'block_nested_loop=off'"]),
    ...(settingOf('wsrep_on') === 'ON' ? ['wsrep_sync_wait = 1'] : []),
    ...(settingOf('wsrep_on') === 'ON' && isMaria ? ['wsrep_dirty_reads = OFF'] : []),
    ...(settingOf('group_replication_consistency') === 'EVENTUAL'
      ? ["group_replication_consistency = 'BEFORE_ON_PRIMARY_FAILOVER'"]
      : []),
  ]
}

const set = (connection: Connection, settings: readonly string[]) =>
  query(connection, `SET SESSION ${settings.join(', SESSION ')}`)

async function galeraOf(connection: Connection, settingOf: SettingOf): Promise<string | null> {
  if (settingOf('wsrep_on') !== 'ON') return null
  const status = await query(connection, "SHOW GLOBAL STATUS LIKE 'wsrep_cluster_state_uuid'")
  return String(status[0]?.[1] ?? '')
}
