/** Pools and connections of mysql2, and statements on them. */
import { CallbackFailed } from '../database/deadline.js'
import { storeError } from './errors.js'
import type { Values } from './rows.js'

/** A pool of mysql2, with promises or callbacks. It is for the store alone, which sets its sessions. */
export interface MysqlPool {
  // biome-ignore lint/suspicious/noExplicitAny: the two kinds of pools have nothing else in common.
  getConnection(...callback: any[]): any
}

/** A pool, or for a cluster one pool per server: the first is preferred. */
export type MysqlClient = MysqlPool | readonly MysqlPool[]

type Callback<T> = (error: unknown, result: T) => void

/** A borrowed connection of a pool with callbacks. */
export interface Connection {
  execute(options: object, values: unknown[], callback: Callback<unknown>): unknown
  query(options: object, callback: Callback<unknown>): unknown
  release(): void
  destroy(): void
  config?: { typeCast?: unknown }
}

export interface CallbackPool {
  getConnection(callback: Callback<Connection>): void
}

/** @throws {StoreError} `UNSUPPORTED_CLIENT` */
export function callbackPoolOf(pool: MysqlPool): CallbackPool {
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
  return callbackPool as CallbackPool
}

export function acquire(pool: CallbackPool): Promise<Connection> {
  return new Promise((resolve, reject) => {
    pool.getConnection((error, connection) => (error ? reject(error) : resolve(connection)))
  })
}

/**
 * Connections whose settings a statement has changed, as a trigger, a function or a hook can: SET NAMES, SET
 * TIMESTAMP. They are closed: what was changed would change what the next request reads and writes.
 */
export const changedSessions = new WeakSet<Connection>()

/** What the server itself sets: MariaDB with a binary log at every commit, MySQL at every statement. */
const setByServer = ['last_gtid', 'statement_id']

function noteChanges(connection: Connection, result: unknown): void {
  // The results of a procedure end with that of the CALL.
  const end = (Array.isArray(result) ? result.at(-1) : result) as {
    stateChanges?: { systemVariables: object }
  } | null
  const names = Object.keys(end?.stateChanges?.systemVariables ?? {})
  if (names.some(name => !setByServer.includes(name))) changedSessions.add(connection)
}

const rowFormat = { rowsAsArray: true, namedPlaceholders: false, nestTables: false }
/** With a function, mysql2 makes objects for each column of each row: up to half of a bet's Node.js time. */
const castingFormat = { ...rowFormat, typeCast: (_: unknown, next: () => unknown) => next() }

/** Independent of the settings of the pool: another `typeCast` than the default only a function replaces. */
const formatOf = ({ config }: Connection) => (config?.typeCast === true ? rowFormat : castingFormat)

export function query(connection: Connection, text: string): Promise<readonly Values[]> {
  return resultOf(connection, callback =>
    connection.query({ sql: text, ...formatOf(connection) }, callback as Callback<unknown>),
  )
}

/** The greatest packet in bytes that the server of a connection reads. */
export const packetBytesMax = new WeakMap<Connection, number>()

/** Of a packet beside the values. */
const overheadBytes = 1_024

/**
 * A batch that the server would not read is divided before anything is sent. The server would close the
 * connection, and the outcome of the commit would be unknown.
 *
 * @throws {CallbackFailed}
 */
function checkPacket(connection: Connection, values: readonly unknown[]): void {
  const bytesMax = (packetBytesMax.get(connection) ?? Number.POSITIVE_INFINITY) - overheadBytes
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

export async function execute(
  connection: Connection,
  text: string,
  values: unknown[],
): Promise<readonly Values[]> {
  checkPacket(connection, values)
  return resultOf(connection, callback =>
    connection.execute({ sql: text, ...formatOf(connection) }, values, callback as Callback<unknown>),
  )
}

/** A procedure returns a list of results; the last one has no rows. */
export async function callProcedure(
  connection: Connection,
  text: string,
  values: unknown[],
): Promise<readonly Values[]> {
  const [first] = (await execute(connection, text, values)) as unknown as readonly (readonly Values[])[]
  if (Array.isArray(first)) return first
  throw storeError('UNSUPPORTED_CLIENT', 'The client returned no rows of a procedure')
}

export function resultOf<T>(connection: Connection, start: (callback: Callback<T>) => unknown): Promise<T> {
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
