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
}

export function sessionOf(connection: Connection): Session {
  return {
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
  // Loads, lookups and `forgetPlayer` need all rows. DEFAULT would be the server's value.
  'sql_select_limit = 18446744073709551615',
  'sql_safe_updates = 0',
  // Keys and constraints are read from messages.
  "lc_messages = 'en_US'",
  // Every change is reported with the end of its statement.
  "session_track_system_variables = '*'",
]

/** On nodes of MySQL's Group Replication. */
const sessionsOfGroups = new WeakSet<Connection>()
export const isOfGroup = (connection: Connection) => sessionsOfGroups.has(connection)

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
export async function prepareSession(connection: Connection, lockTimeoutMs: number): Promise<void> {
  if (packetBytesMax.has(connection)) return
  const names = ['version', 'wsrep_on', 'max_allowed_packet', ...groupNames, ...characterSets]
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
  const isMaria = /mariadb/i.test(settingOf('version'))
  const settings = [
    ...plainSettings,
    `innodb_lock_wait_timeout = ${Math.max(1, Math.round(lockTimeoutMs / 1000))}`,
    ...(isMaria
      ? ["tx_isolation = 'READ-COMMITTED'", 'join_cache_level = 0']
      : ["transaction_isolation = 'READ-COMMITTED'", "optimizer_switch = 'block_nested_loop=off'"]),
    ...(settingOf('wsrep_on') === 'ON' ? ['wsrep_sync_wait = 1'] : []),
    ...(settingOf('wsrep_on') === 'ON' && isMaria ? ['wsrep_dirty_reads = OFF'] : []),
    ...(settingOf('group_replication_consistency') === 'EVENTUAL'
      ? ["group_replication_consistency = 'BEFORE_ON_PRIMARY_FAILOVER'"]
      : []),
  ]
  await query(connection, `SET SESSION ${settings.join(', SESSION ')}`)
  changedSessions.delete(connection)
  if (settingOf('group_replication_group_name') !== '') sessionsOfGroups.add(connection)
  packetBytesMax.set(connection, Number(settingOf('max_allowed_packet')))
}
