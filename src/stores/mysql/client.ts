/** The pools of mysql2: connections, their settings, deadlines, and which server is asked first. */
import { CallbackFailed, type Deadline, QueryFailed, withDeadline } from '../database/deadline.js'
import { type Failure, StoreError } from '../database/errors.js'
import type { Query } from '../database/within-transaction.js'
import {
  answerOf,
  classifyError,
  conflictNumbers,
  errors,
  hasNumber,
  isOfServer,
  serverErrorOf,
  storeError,
} from './errors.js'
import type { Values } from './rows.js'
import { literal } from './sql/quoting.js'

/** A pool of mysql2, with promises or with callbacks. It is for the store alone: its sessions get their own settings. */
export interface MysqlPool {
  // biome-ignore lint/suspicious/noExplicitAny: the two kinds of pools have nothing else in common.
  getConnection(...callback: any[]): any
}

/** A pool, or for a cluster one pool per server: the first is preferred. */
export type MysqlClient = MysqlPool | readonly MysqlPool[]

type Callback<T> = (error: unknown, result: T) => void

/** A borrowed connection of a pool with callbacks. */
interface Connection {
  execute(options: object, values: unknown[], callback: Callback<unknown>): unknown
  query(options: object, callback: Callback<unknown>): unknown
  release(): void
  destroy(): void
}

interface CallbackPool {
  getConnection(callback: Callback<Connection>): void
}

/** A server, by its pool. */
interface Node {
  readonly pool: CallbackPool
  /** A failed server is asked last, until a probe has found that it is back. */
  failed: boolean
  /**
   * It came back writable, and is no member of one cluster with the server that took over: a former primary. Each of the
   * two would record the same call. It is not asked until one of them is read-only.
   */
  apart: boolean
  /** When it may be probed again: a time of `performance.now()`. */
  probeAt: number
}

export interface Connections {
  /** Whether there are several servers. */
  readonly isCluster: boolean
  /** Runs a query, on the first server that answers. @throws {QueryFailed} */
  read(text: string, values: unknown[]): Promise<readonly Values[]>
  /** The same for a procedure: the rows of its first result. @throws {QueryFailed} */
  readByCall(
    text: string,
    values: unknown[],
    accept: (rows: readonly Values[]) => void,
  ): Promise<readonly Values[]>
  /** Calls a procedure that commits. @throws {QueryFailed} */
  call(text: string, values: unknown[]): Promise<readonly Values[]>
  /** Runs `work` between BEGIN and COMMIT. When it throws: ROLLBACK. @throws {QueryFailed} */
  transaction<T>(work: (database: Session) => Promise<T>): Promise<T>
  /** Runs `work` on a connection of the first server that answers. @throws {QueryFailed} */
  onAny<T>(work: (database: Session) => Promise<T>): Promise<T>
  /** Runs `work` on every server: a promise for each, in the order of the list. @throws {QueryFailed} */
  onEach<T>(work: (database: Session) => Promise<T>): readonly Promise<T>[]
}

/** A connection, as the parts of the store use it. */
export interface Session {
  rows(text: string, values?: unknown[]): Promise<readonly Values[]>
  call(text: string, values: unknown[]): Promise<readonly Values[]>
  /** Runs a statement that cannot be prepared if it has no values. Returns the number of rows that it has changed. */
  run(text: string, values?: unknown[]): Promise<number>
  /** For the operator's statements: rows as the pool returns them. */
  query: Query
}

/** @param error thrown by {@link Connections} */
export function classify(error: unknown): Failure {
  if (!(error instanceof QueryFailed))
    return { kind: 'rejected', cause: error, timedOut: false, lost: false, answer: null }
  const { cause, sent, timedOut } = error
  const lost = isOfServer(cause)
  // A problem that the check at start has found: another server of the list does not fix it.
  if (cause instanceof StoreError && cause.code !== 'UNAVAILABLE')
    return { kind: 'rejected', cause, timedOut, lost: false, answer: null }
  const kind = cause instanceof CallbackFailed ? 'rejected' : classifyError(cause, sent)
  const answer = timedOut ? null : answerOf(cause)
  return { kind, cause, timedOut, lost: lost && !(cause instanceof CallbackFailed), answer }
}

/** @throws {StoreError} `UNSUPPORTED_CLIENT` */
export function connectionsFrom(client: MysqlClient, limits: Limits): Connections {
  const pools = Array.isArray(client) ? client : [client]
  const nodes = pools.map(nodeOf)
  if (nodes.length === 0) throw storeError('UNSUPPORTED_CLIENT', 'The list of pools is empty')
  // Each server has its share, so that another one is asked in time.
  const timeoutMs = Math.ceil(limits.timeoutMs / nodes.length)
  const borrow: Borrow = (node, work, share = 1) =>
    withDeadline(timeoutMs * share, errors.make, deadline =>
      withConnection(node, deadline, limits, connection => work(connection, deadline)),
    )
  return connectionsOf(nodes, borrow)
}

/** The settings of the store that its sessions get. */
export interface Limits {
  timeoutMs: number
  lockTimeoutMs: number
}

function nodeOf(pool: MysqlPool): Node {
  const candidate = pool as { getConnection?: unknown; pool?: { getConnection?: unknown } } | null
  // Never its value: a URL contains a password.
  if (typeof candidate !== 'object' || typeof candidate?.getConnection !== 'function') {
    throw storeError(
      'UNSUPPORTED_CLIENT',
      `The client must be a pool of mysql2, or a list of them; it is ${pool === null ? 'null' : typeof pool}`,
    )
  }
  const { config } = (candidate.pool ?? candidate) as { config?: { resetOnRelease?: unknown } }
  if (config?.resetOnRelease === true)
    throw storeError(
      'UNSUPPORTED_CLIENT',
      'The pool resets its connections (resetOnRelease): the sessions of the store would lose their settings',
    )
  // A pool with promises is a wrapper around one with callbacks, whose connections are known by identity.
  const callbackPool = typeof candidate.pool?.getConnection === 'function' ? candidate.pool : candidate
  return { pool: callbackPool as CallbackPool, failed: false, apart: false, probeAt: 0 }
}

/** @param share of the time that a server has */
type Borrow = <T>(
  node: Node,
  work: (connection: Connection, deadline: Deadline) => Promise<T>,
  share?: number,
) => Promise<T>

function connectionsOf(nodes: readonly Node[], borrow: Borrow): Connections {
  /** Asks the servers one after the other, until one answers or rejects the statement itself. */
  async function onFirst<T>(mayMoveOn: (failure: Failure) => boolean, work: Parameters<typeof borrow<T>>[1]) {
    let last: unknown
    for (const node of inOrder(nodes, borrow)) {
      try {
        return await borrow(node, async (connection, deadline) => {
          if (node.failed && nodes.length > 1) await checkNode(node, connection, nodes, borrow)
          return await work(connection, deadline)
        })
      } catch (error) {
        const failure = classify(error)
        const moveOn = mayMoveOn(failure)
        if (failure.lost || failure.timedOut || moveOn) markFailed(node)
        if (!moveOn) {
          // A wait for a lock may also be how a node without a majority answers.
          if (failure.kind === 'unavailable' && nodes.length > 1) void probe(node, nodes, borrow)
          throw error
        }
        last = error
      }
    }
    throw last
  }
  const onAny = <T>(work: (connection: Connection) => Promise<T>) =>
    // 1205 is how a cluster's node without a majority ends the wait of a read.
    onFirst(({ kind }) => kind !== 'rejected', work)
  /** Nothing was done, and another server may do it. */
  const mayCommitElsewhere = ({ kind, lost }: Failure) => kind === 'unavailable' && lost
  return {
    isCluster: nodes.length > 1,
    read: (text, values) =>
      onAny(async connection => {
        const rows = await execute(connection, text, values)
        // Its end reports what the query has changed in the session, as a function of a view can.
        await query(connection, 'DO 0')
        return rows
      }),
    readByCall: (text, values, accept) =>
      onAny(async connection => {
        const rows = await callProcedure(connection, text, values)
        accept(rows)
        return rows
      }),
    call: (text, values) =>
      onFirst(mayCommitElsewhere, (connection, deadline) => {
        sends(deadline)
        return callProcedure(connection, text, values)
      }),
    transaction: work =>
      onFirst(mayCommitElsewhere, (connection, deadline) => inTransaction(connection, deadline, work)),
    onAny: work => onAny(connection => work(sessionOf(connection))),
    onEach: work => nodes.map(node => borrow(node, connection => work(sessionOf(connection)))),
  }
}

/** How long a server is not probed again, in milliseconds. */
const restMs = 1_000

function markFailed(node: Node): void {
  node.failed = true
  node.probeAt = Math.max(node.probeAt, performance.now() + restMs)
}

/** The servers in the order of the list; those that have failed come last, and are probed beside the request. */
function inOrder(nodes: readonly Node[], borrow: Borrow): readonly Node[] {
  const failed = nodes.filter(each => each.failed)
  if (nodes.length > 1) for (const node of failed) void probe(node, nodes, borrow)
  return [...nodes.filter(each => !each.failed), ...failed]
}

/** Finds out whether a server can commit, unless that was found out just now. */
async function probe(node: Node, nodes: readonly Node[], borrow: Borrow): Promise<void> {
  if (node.probeAt > performance.now()) return
  // Until this probe has ended, there is no other.
  node.probeAt = Number.POSITIVE_INFINITY
  try {
    await borrow(node, connection => checkNode(node, connection, nodes, borrow))
    node.failed = false
  } catch {
    // It stays last, and the next probe is later.
    node.failed = true
  }
  node.probeAt = performance.now() + restMs
}

/**
 * A server that has failed may come back writable beside the one that took over. Where the two are no cluster, both would
 * record the same call: it is not used until one of them is read-only.
 *
 * @throws {StoreError} `UNAVAILABLE`
 */
async function checkNode(
  node: Node,
  connection: Connection,
  nodes: readonly Node[],
  borrow: Borrow,
): Promise<void> {
  const cluster = await checkWritable(sessionOf(connection))
  if (!node.failed) return
  // One that has failed just now may be the one that took over. One that is apart is not, unless both are.
  const others = nodes.filter(each => each !== node && (node.apart || !each.apart))
  const states = await Promise.allSettled(
    // It must leave time for the answer of this one.
    others.map(each => borrow(each, other => serverState(sessionOf(other)), 0.5)),
  )
  const answers = states.flatMap(state => (state.status === 'fulfilled' ? [state.value] : []))
  const isApart = answers.some(other => other.problem === null && other.cluster !== cluster)
  // What the other one has recorded is not here: it waits for an answer of any of them.
  node.apart = isApart || (node.apart && answers.length === 0)
  if (node.apart)
    throw storeError(
      'UNAVAILABLE',
      'The database is unavailable: two servers of the list are writable, and are no cluster. Set read_only on one of them',
    )
}

export interface ServerState {
  /** Why it cannot be written to now; `null`: it can. */
  problem: string | null
  /** What a commit on it reaches: its cluster, or itself. */
  cluster: string
}

const stateNames = [
  ...['read_only', 'wsrep_on', 'group_replication_group_name'],
  // MySQL, MariaDB since 10.10, and what older ones have instead.
  ...['server_uuid', 'server_uid', 'hostname', 'port', 'datadir', 'server_id'],
]

export async function serverState(database: Session): Promise<ServerState> {
  const valuesOf = async (kind: 'VARIABLES' | 'STATUS', names: readonly string[]) =>
    new Map(
      (await database.rows(
        `SHOW GLOBAL ${kind} WHERE Variable_name IN (${names.map(literal).join(', ')})`,
      )) as [string, string][],
    )
  const {
    read_only: readOnly,
    wsrep_on: isGalera,
    group_replication_group_name: group,
    ...ids
  } = Object.fromEntries(await valuesOf('VARIABLES', stateNames))
  const problem = readOnly === 'OFF' ? null : 'this server is read-only'
  if (isGalera !== 'ON') return { problem, cluster: group || JSON.stringify(ids) }
  const status = await valuesOf('STATUS', ['wsrep_cluster_status', 'wsrep_ready', 'wsrep_cluster_state_uuid'])
  const cluster = status.get('wsrep_cluster_state_uuid') ?? ''
  status.delete('wsrep_cluster_state_uuid')
  const wrong = [...status].find(([, value]) => value !== 'ON' && value !== 'Primary')
  return { problem: problem ?? (wrong ? `${wrong[0]} of this node is ${wrong[1]}` : null), cluster }
}

/**
 * @returns what a commit reaches: @see {@link ServerState}
 * @throws {StoreError} `UNAVAILABLE`: the server is read-only, or no member of its cluster's majority
 */
export async function checkWritable(database: Session): Promise<string> {
  const { problem, cluster } = await serverState(database)
  if (problem === null) return cluster
  throw storeError('UNAVAILABLE', `The database is unavailable: ${problem}`)
}

/**
 * Runs `work` on a connection. Closes the connection after an error, when its settings have changed, and when the deadline
 * expires.
 */
async function withConnection<T>(
  node: Node,
  deadline: Deadline,
  limits: Limits,
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
  let connection: Connection | null = null
  let broken = false
  deadline.onExpiry = () => {
    connection?.destroy()
    connection = null
  }
  try {
    const acquired = await acquire(node.pool)
    if (deadline.expired) {
      acquired.release()
      throw storeError('UNAVAILABLE', 'Timed out waiting for a connection')
    }
    connection = acquired
    await prepareSession(acquired, limits)
    return await work(acquired)
  } catch (error) {
    broken = !(error instanceof CallbackFailed)
    // The locks of what is still open end now: an interrupted procedure runs no handler.
    if (connection !== null && !(broken && isOfServer(error)))
      await query(connection, 'ROLLBACK').catch(() => {})
    throw error
  } finally {
    const borrowed = connection as Connection | null
    if (borrowed !== null && (broken || changedSessions.has(borrowed))) borrowed.destroy()
    else borrowed?.release()
    connection = null
  }
}

function acquire(pool: CallbackPool): Promise<Connection> {
  return new Promise((resolve, reject) => {
    pool.getConnection((error, connection) => (error ? reject(error) : resolve(connection)))
  })
}

/** Connections that have their settings, and the greatest packet in bytes that their server reads. */
const preparedSessions = new WeakMap<Connection, number>()

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

const characterSets = ['character_set_client', 'character_set_connection', 'character_set_results']

/**
 * READ COMMITTED: a commit judges the rows as they are when it holds their locks, and takes no locks of gaps. Joins
 * without buffers: with a small table the optimizer would read and lock all of it. On a cluster a read waits until
 * the node has what the others have committed.
 *
 * @throws {StoreError} `UNSUPPORTED_CLIENT`: the connection is not utf8mb4, so that ids change on the way
 */
async function prepareSession(connection: Connection, { lockTimeoutMs }: Limits): Promise<void> {
  if (preparedSessions.has(connection)) return
  const variables = await query(
    connection,
    `SHOW VARIABLES WHERE Variable_name IN ('version', 'wsrep_on', 'max_allowed_packet', ${characterSets.map(literal).join(', ')})`,
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
  ]
  await query(connection, `SET SESSION ${settings.join(', SESSION ')}`)
  changedSessions.delete(connection)
  preparedSessions.set(connection, Number(settingOf('max_allowed_packet')))
}

/**
 * Connections whose settings a statement has changed, as a trigger, a function or a hook can: SET NAMES, SET TIMESTAMP.
 * They are closed: what was changed would change what the next request reads and writes.
 */
const changedSessions = new WeakSet<Connection>()

/** What the server itself sets: MariaDB with a binary log at every commit, MySQL at every statement. */
const ofServer = ['last_gtid', 'statement_id']

function noteChanges(connection: Connection, result: unknown): void {
  // The results of a procedure end with that of the CALL.
  const end = (Array.isArray(result) ? result.at(-1) : result) as {
    stateChanges?: { systemVariables: object }
  } | null
  const names = Object.keys(end?.stateChanges?.systemVariables ?? {})
  if (names.some(name => !ofServer.includes(name))) changedSessions.add(connection)
}

/** Something is sent that commits. */
function sends(deadline: Deadline): void {
  if (deadline.expired) throw storeError('UNAVAILABLE', 'Timed out')
  deadline.sent = true
}

async function inTransaction<T>(
  connection: Connection,
  deadline: Deadline,
  work: (database: Session) => Promise<T>,
): Promise<T> {
  await query(connection, 'START TRANSACTION')
  // It marks our database transaction: gone, if the hook has ended it, or a deadlock that the hook swallowed. A name
  // that no hook can know: one that rolls back to it, or makes it again, would not be noticed.
  const savepoint = `bet_wallet_${crypto.randomUUID().replaceAll('-', '')}`
  await query(connection, `SAVEPOINT ${savepoint}`)
  const result = await work(sessionOf(connection))
  await query(connection, `RELEASE SAVEPOINT ${savepoint}`).catch((error: unknown) => {
    throw hasNumber(error, 1305)
      ? new CallbackFailed('withinTransaction swallowed a deadlock or ended the database transaction', {
          cause: error,
        })
      : error
  })
  sends(deadline)
  try {
    await query(connection, 'COMMIT')
  } catch (error) {
    throw hasNumber(error, ...conflictNumbers) ? error : new CommitFailed(error)
  }
  return result
}

/** The error of a COMMIT that is no conflict: the outcome is unknown, whatever its number. */
class CommitFailed extends Error {
  override readonly name = 'CommitFailed'
  /** As the procedures number it. */
  readonly errno = 1180
  readonly sqlState = 'HY000'
  constructor(cause: unknown) {
    super(serverErrorOf(cause)?.message ?? 'COMMIT failed', { cause })
  }
}

function sessionOf(connection: Connection): Session {
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

/** Independent of the settings of the pool, whose own `typeCast` only another function replaces. */
const rowFormat = {
  rowsAsArray: true,
  typeCast: (_: unknown, next: () => unknown) => next(),
  namedPlaceholders: false,
  nestTables: false,
}

function query(connection: Connection, text: string): Promise<readonly Values[]> {
  return resultOf(connection, callback =>
    connection.query({ sql: text, ...rowFormat }, callback as Callback<unknown>),
  )
}

/** Of a packet beside the values. */
const overheadBytes = 1_024

/**
 * A batch that the server would not read is divided before anything is sent: the server would close the connection, and
 * of a commit nobody would know the outcome.
 *
 * @throws {CallbackFailed}
 */
function checkPacket(connection: Connection, values: readonly unknown[]): void {
  const bytesMax = (preparedSessions.get(connection) ?? Number.POSITIVE_INFINITY) - overheadBytes
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

async function execute(connection: Connection, text: string, values: unknown[]): Promise<readonly Values[]> {
  checkPacket(connection, values)
  return resultOf(connection, callback =>
    connection.execute({ sql: text, ...rowFormat }, values, callback as Callback<unknown>),
  )
}

/** A procedure returns a list of results; the last one has no rows. */
async function callProcedure(
  connection: Connection,
  text: string,
  values: unknown[],
): Promise<readonly Values[]> {
  const [first] = (await execute(connection, text, values)) as unknown as readonly (readonly Values[])[]
  if (Array.isArray(first)) return first
  throw storeError('UNSUPPORTED_CLIENT', 'The client returned no rows of a procedure')
}

function resultOf<T>(connection: Connection, start: (callback: Callback<T>) => unknown): Promise<T> {
  return new Promise((resolve, reject) => {
    start((error, result) => {
      if (error) {
        // It does not report what it has changed before it failed.
        changedSessions.add(connection)
        reject(error)
      } else {
        noteChanges(connection, result)
        resolve(result)
      }
    })
  })
}
