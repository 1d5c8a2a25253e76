/** The operator's database, by its URL and with the operator's own driver. */
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { isA } from '../../foreign-values.js'
import { engineOf, withoutPassword } from './database-url.js'
import { wordsOf } from './output.js'

/** What stops a command, in words for the user: no driver, an unusable config file. */
export class DatabaseError extends Error {}

interface PostgresDatabase {
  engine: 'postgres'
  url: string
  pool: PostgresPool
  /** Runs a statement, for a minute at most: rows as objects. */
  ask(text: string, values?: unknown[]): Promise<unknown[]>
  close(): Promise<void>
}

interface MysqlDatabase {
  engine: 'mysql'
  url: string
  pool: MysqlPool
  /** Runs a statement, for a minute at most: rows as lists of values. */
  ask(text: string, values?: unknown[]): Promise<readonly (readonly (string | number | null)[])[]>
  close(): Promise<void>
}

export type Database = PostgresDatabase | MysqlDatabase

/**
 * Opens a pool. It connects with the first statement.
 *
 * @param advice what else to do without the driver
 * @throws {UsageError} for a URL that is not supported
 * @throws {DatabaseError} without the driver
 */
export function openDatabase(url: string, advice = ''): Database {
  if (engineOf(url) === 'postgres') {
    const pool = postgresPool(url, advice)
    return {
      engine: 'postgres',
      url,
      pool,
      close: () => pool.end(),
      ask: async (text, values = []) => (await pool.query({ text, values, query_timeout: statementMs })).rows,
    }
  }
  const pool = mysqlPool(url.replace(/^mariadb:/i, 'mysql:'), advice)
  return {
    engine: 'mysql',
    url,
    pool,
    close: () => pool.promise().end(),
    ask: (text, values = []) =>
      mysqlRows(pool, { sql: text, values, rowsAsArray: true, timeout: statementMs }),
  }
}

async function mysqlRows(pool: MysqlPool, statement: object): Promise<(string | number | null)[][]> {
  const connection = await pool.promise().getConnection()
  try {
    return (await connection.query(statement))[0]
  } catch (error) {
    // The statement goes on, and the end of the pool would wait for it.
    if ((error as { code?: unknown }).code === 'PROTOCOL_SEQUENCE_TIMEOUT') connection.destroy()
    throw error
  } finally {
    connection.release()
  }
}

/** Calls `work` with the database, and closes it behind it. Errors do not show the password. */
export async function withDatabase<T>(
  url: string,
  work: (database: Database) => Promise<T>,
  advice = '',
): Promise<T> {
  const database = openDatabase(url, advice)
  try {
    return await work(database)
  } catch (error) {
    if (isA(error, Error)) error.message = withoutPassword(wordsOf(error), url)
    throw error
  } finally {
    await database.close()
  }
}

/** Beside a statement, one that reads the next page. */
const connectionsMax = 2
const connectMs = 10_000
/** For one statement of `ask`. Stores, lookups and migrations have limits of their own. */
const statementMs = 60_000

interface PostgresPool {
  query(statement: string | object, values?: unknown[]): Promise<{ rows: unknown[] }>
  connect(): Promise<unknown>
  on(event: 'error', listener: () => void): unknown
  end(): Promise<void>
}

function postgresPool(connectionString: string, advice: string): PostgresPool {
  const { Pool } = driver('pg', advice) as { Pool: new (options: object) => PostgresPool }
  const pool = new Pool({ connectionString, max: connectionsMax, connectionTimeoutMillis: connectMs })
  // A connection that breaks while nothing runs on it: the next statement reports it.
  pool.on('error', () => {})
  return pool
}

export interface MysqlPool {
  // biome-ignore lint/suspicious/noExplicitAny: as the store takes it.
  getConnection(...callback: any[]): any
  promise(): {
    getConnection(): Promise<{
      query(options: object): Promise<[(string | number | null)[][], unknown]>
      release(): void
      destroy(): void
    }>
    end(): Promise<void>
  }
}

function mysqlPool(uri: string, advice: string): MysqlPool {
  const { createPool } = driver('mysql2', advice) as { createPool(options: object): MysqlPool }
  try {
    return createPool({ uri, connectionLimit: connectionsMax, connectTimeout: connectMs, charset: 'utf8mb4' })
  } catch {
    // Its errors quote the URL.
    throw new DatabaseError('The options of the database URL are not supported by mysql2')
  }
}

/**
 * The driver that is installed in the current folder: the operator's own. Not that of a folder above, as
 * Node.js would look for it: other users may write there, and it is called with the password.
 *
 * @throws {DatabaseError} if it is not installed
 */
export function driver(name: 'pg' | 'mysql2' | '@electric-sql/pglite', advice = ''): unknown {
  const folder = process.cwd()
  if (!existsSync(join(folder, 'node_modules', name)))
    throw new DatabaseError(`The driver ${name} is not installed in ${folder}: npm install ${name}.${advice}`)
  return createRequire(join(folder, 'package.json'))(name)
}
