/** Pools and connections of mysql2. */
import { fieldOf } from '../../foreign-values.js'
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

interface PoolConfig {
  resetOnRelease?: unknown
  connectionConfig?: { stringifyObjects?: unknown }
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
  const { config } = (candidate.pool ?? candidate) as { config?: PoolConfig }
  const other = otherClientOf(candidate, config)
  if (other !== null)
    throw storeError(
      'UNSUPPORTED_CLIENT',
      `The client is ${other}: pass a pool of mysql2 that is for the store alone, or a list with one per server`,
    )
  if (config?.resetOnRelease === true)
    throw storeError(
      'UNSUPPORTED_CLIENT',
      'The pool resets its connections (resetOnRelease): the sessions of the store would lose their settings',
    )
  // A pool with promises is a wrapper around one with callbacks, whose connections are known by identity.
  const callbackPool = typeof candidate.pool?.getConnection === 'function' ? candidate.pool : candidate
  return callbackPool as CallbackPool
}

/** Clients that lend connections too, but others, or those of the host. */
function otherClientOf(client: object, config: PoolConfig | undefined): string | null {
  const has = (method: string) => typeof fieldOf(client, method) === 'function'
  if (has('of')) return 'a PoolCluster'
  if (has('batch')) return 'a pool of the driver mariadb'
  if (config?.connectionConfig === undefined) return null
  if (!has('execute')) return 'a pool of the driver mysql'
  // TypeORM sets it in its pools; mysql2 itself does not.
  return config.connectionConfig.stringifyObjects === true
    ? "TypeORM's driver.pool, or another pool with stringifyObjects"
    : null
}

export function acquire(pool: CallbackPool): Promise<Connection> {
  return new Promise((resolve, reject) => {
    pool.getConnection((error, connection) => (error ? reject(error) : resolve(connection)))
  })
}
