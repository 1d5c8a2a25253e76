/** A pool of the operator's database, with the driver that the operator has installed. */
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { UsageError } from './arguments.js'
import { schemeOf } from './database-url.js'

/** No usable driver, in words for the user. */
export class DriverError extends Error {}

export type OpenedPool =
  | { engine: 'postgres'; pool: PostgresPool; close(): Promise<void> }
  | { engine: 'mysql'; pool: MysqlPool; close(): Promise<void> }

/**
 * @param url with a password: no message shows it
 * @param instead what the user can do without a driver, for the error
 * @throws {UsageError} for a URL that cannot be read, or of another database
 * @throws {DriverError} without the driver, or for options that it does not know
 */
export function openPool(url: string, instead = ''): OpenedPool {
  const scheme = schemeOf(url)
  if (scheme === 'postgres' || scheme === 'postgresql') {
    const pool = postgresPool(url, instead)
    return { engine: 'postgres', pool, close: () => pool.end() }
  }
  if (scheme === 'mysql' || scheme === 'mariadb') {
    const pool = mysqlPool(url.replace(/^mariadb:/i, 'mysql:'), instead)
    return { engine: 'mysql', pool, close: () => pool.promise().end() }
  }
  // Never its value: it contains a password.
  throw new UsageError(
    scheme === null
      ? 'The database URL cannot be read: postgres://user:password@host/database, with characters such as / ? # @ % in the password percent-encoded'
      : '--database-url must begin with postgres:// or mysql://',
  )
}

/** Beside a statement, one that reads the next page. */
const connectionsMax = 2
const connectMs = 10_000

interface PostgresPool {
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>
  connect(): Promise<unknown>
  on(event: 'error', listener: () => void): unknown
  end(): Promise<void>
}

function postgresPool(connectionString: string, instead: string): PostgresPool {
  const { Pool } = driver('pg', instead) as { Pool: new (options: object) => PostgresPool }
  const pool = new Pool({ connectionString, max: connectionsMax, connectionTimeoutMillis: connectMs })
  // A connection that breaks while nothing runs on it: the next statement reports it.
  pool.on('error', () => {})
  return pool
}

interface MysqlPool {
  // biome-ignore lint/suspicious/noExplicitAny: as the store takes it.
  getConnection(...callback: any[]): any
  promise(): { query(text: string, values?: unknown[]): Promise<[unknown, unknown]>; end(): Promise<void> }
}

function mysqlPool(uri: string, instead: string): MysqlPool {
  const { createPool } = driver('mysql2', instead) as { createPool(options: object): MysqlPool }
  try {
    return createPool({ uri, connectionLimit: connectionsMax, connectTimeout: connectMs, charset: 'utf8mb4' })
  } catch {
    // Its errors quote the URL.
    throw new DriverError('The options of the database URL are not supported by mysql2')
  }
}

/**
 * The driver that is installed in the current folder: the operator's own. Not that of a folder above, as
 * Node.js would look for it: other users may write there, and it is called with the password.
 */
function driver(name: 'pg' | 'mysql2', instead: string): unknown {
  const folder = process.cwd()
  if (!existsSync(join(folder, 'node_modules', name)))
    throw new DriverError(`The driver ${name} is not installed in ${folder}: npm install ${name}.${instead}`)
  return createRequire(join(folder, 'package.json'))(name)
}
