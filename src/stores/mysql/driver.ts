/** Pools and connections of mysql2. */
import { storeError } from './errors.js'

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
