/** A session: a connection with the store's settings, and what the parts of the store do with it. */
import { CallbackFailed } from '../database/deadline.js'
import type { Query } from '../database/within-transaction.js'
import type { Connection } from './driver.js'
import { storeError } from './errors.js'
import type { Values } from './rows.js'
import { literal } from './sql/quoting.js'

/** What the server itself sets: MariaDB with a binary log at every commit, MySQL at every statement. */
const setByServer = ['last_gtid', 'statement_id']

const rowFormat = { rowsAsArray: true, namedPlaceholders: false, nestTables: false }
/** With a function, mysql2 makes objects for each column of each row: up to half of a bet's Node.js time. */
const castingFormat = { ...rowFormat, typeCast: (_: unknown, next: () => unknown) => next() }

/** Of a packet beside the values. */
const overheadBytes = 1_024

type Rows = readonly Values[]
/** Of a procedure. */
export type Results = readonly [Rows, ...Rows[]]

/** A connection of a pool, as the parts of the store use it. */
export class Session {
  /**
   * Whether a statement has changed its settings, as a trigger, a function or a hook can: SET NAMES, SET
   * TIMESTAMP. Then it is closed: what was changed would change what the next request reads and writes.
   */
  isChanged = false
  /** Which server it is of. */
  server = ''
  /** The name of its server's group, the UUID of its Galera cluster; `null`: it is in neither. */
  cluster: string | null = null
  /** Whether its server was a node of MySQL's Group Replication when it began. */
  isOfGroup = false
  /** The greatest packet in bytes that the server reads; `null`: the session is not prepared yet. */
  #packetBytesMax: number | null = null
  readonly #connection: Connection
  /** Independent of the pool's settings: another `typeCast` than the default only a function replaces. */
  readonly #format: object

  constructor(connection: Connection) {
    this.#connection = connection
    this.#format = connection.config?.typeCast === true ? rowFormat : castingFormat
  }

  /** Runs a statement; without values it is not prepared. */
  async rows(text: string, values?: unknown[]): Promise<readonly Values[]> {
    this.#checkPacket(values ?? [])
    return (await this.#send({ sql: text, ...this.#format }, values)) as readonly Values[]
  }

  /** Calls a procedure. @returns the rows of each query of it; what ends the list has no rows */
  async call(text: string, values: unknown[]): Promise<Results> {
    const [first, ...others] = (await this.rows(text, values)).filter(Array.isArray)
    if (first !== undefined) return [first, ...others]
    throw storeError('UNSUPPORTED_CLIENT', 'The client returned no rows of a procedure')
  }

  /** As `rows`. @returns the number of rows that the statement has changed */
  async run(text: string, values?: unknown[]): Promise<number> {
    return Number(((await this.rows(text, values)) as { affectedRows?: number }).affectedRows ?? 0)
  }

  /** For the operator's statements: rows as the pool returns them. */
  readonly query: Query = async (text, values = []) => {
    // mysql2 rejects undefined, and pg takes it as NULL.
    const nulls = values.map(value => value ?? null)
    const result = await this.#send({ sql: text }, nulls)
    return { rows: Array.isArray(result) ? result : [] }
  }

  #send(options: object, values: unknown[] | undefined): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const callback = (error: unknown, result: unknown) => {
        // An error does not report what the statement has changed before it.
        if (error || hasChanges(result)) this.isChanged = true
        if (error) reject(error)
        else resolve(result)
      }
      if (values === undefined) this.#connection.query(options, callback)
      else this.#connection.execute(options, values, callback)
    })
  }

  /**
   * A batch that the server would not read is divided before anything is sent. The server would close the
   * connection, and the outcome of the commit would be unknown.
   *
   * @throws {CallbackFailed}
   */
  #checkPacket(values: readonly unknown[]): void {
    const bytesMax = (this.#packetBytesMax ?? Number.POSITIVE_INFINITY) - overheadBytes
    const texts = values.filter(value => typeof value === 'string')
    const length = texts.reduce((sum, text) => sum + text.length, 0)
    // Of a code unit, UTF-8 makes three bytes at most.
    if (length * 3 <= bytesMax) return
    const bytes = texts.reduce((sum, text) => sum + new TextEncoder().encode(text).length, 0)
    if (bytes > bytesMax)
      throw new CallbackFailed(
        `max_allowed_packet of the server is ${bytesMax + overheadBytes} bytes, too few for a statement of ${bytes}`,
      )
  }

  /**
   * READ COMMITTED: a commit judges the rows as they are when it holds their locks, and takes no locks of
   * gaps. Joins without buffers: with a small table the optimizer would read and lock all of it. On a cluster
   * a read waits until the node has what the others have committed, and on a new primary of a group until it
   * has what the old one had.
   *
   * @throws {StoreError} `UNSUPPORTED_CLIENT`: the connection is not utf8mb4, so that ids change on the way
   */
  async prepare(limits: SessionLimits): Promise<void> {
    if (this.#packetBytesMax !== null) return
    // Before anything is asked: on MySQL sql_select_limit cuts what SHOW returns.
    await this.#set(plainSettings)
    const variables = await settingsOf(this, 'VARIABLES', settingNames)
    const settingOf: SettingOf = name => variables.get(name) ?? ''
    for (const name of characterSets) {
      if (settingOf(name) === 'utf8mb4') continue
      throw storeError(
        'UNSUPPORTED_CLIENT',
        `${name} of the connection is ${settingOf(name)}; it must be utf8mb4, or ids are changed on the way: use the ` +
          "pool's default charset",
      )
    }
    await this.#set(settingsFor(settingOf, limits))
    this.isChanged = false
    this.server = JSON.stringify(serverNames.map(settingOf))
    const group = settingOf('group_replication_group_name')
    this.isOfGroup = group !== ''
    const isGalera = settingOf('wsrep_on') === 'ON'
    const uuid = 'wsrep_cluster_state_uuid'
    const galera = isGalera ? ((await settingsOf(this, 'GLOBAL STATUS', [uuid])).get(uuid) ?? '') : null
    this.cluster = group || galera
    this.#packetBytesMax = Number(settingOf('max_allowed_packet'))
  }

  #set(settings: readonly string[]) {
    return this.run(`SET SESSION ${settings.join(', SESSION ')}`)
  }
}

function hasChanges(result: unknown): boolean {
  // The results of a procedure end with that of the CALL.
  const end = (Array.isArray(result) ? result.at(-1) : result) as {
    stateChanges?: { systemVariables: object }
  } | null
  const names = Object.keys(end?.stateChanges?.systemVariables ?? {})
  return names.some(name => !setByServer.includes(name))
}

/** A pool lends its connections many times. */
const sessions = new WeakMap<Connection, Session>()

export function sessionOf(connection: Connection): Session {
  const session = sessions.get(connection) ?? new Session(connection)
  sessions.set(connection, session)
  return session
}

/** The settings of a session or of its server, or the status of this: of these names those that it knows. */
export async function settingsOf(
  database: Pick<Session, 'rows'>,
  kind: 'VARIABLES' | 'GLOBAL VARIABLES' | 'GLOBAL STATUS',
  names: readonly string[],
): Promise<Map<string, string>> {
  const rows = await database.rows(`SHOW ${kind} WHERE Variable_name IN (${names.map(literal).join(', ')})`)
  return new Map(rows.map(([name, value]) => [String(name), String(value)]))
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

/** What tells servers apart: MySQL, MariaDB since 10.10, and what older ones have instead. */
export const serverNames = ['server_uuid', 'server_uid', 'hostname', 'port', 'datadir', 'server_id']

const characterSets = ['character_set_client', 'character_set_connection', 'character_set_results']

const settingNames = [
  ...serverNames,
  ...characterSets,
  'version',
  'wsrep_on',
  'max_allowed_packet',
  'group_replication_group_name',
  'group_replication_consistency',
]

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
