/** The lookups of a command: of a database URL with the operator's own driver, or of a config file. */
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { ParseArgsConfig } from 'node:util'
import type { WalletLookups } from '../../lookups/records.js'
import { createMysqlLookups } from '../../stores/mysql/index.js'
import { createPostgresLookups } from '../../stores/postgres/index.js'
import { given, UsageError } from './arguments.js'
import { schemeOf, withoutPassword } from './database-url.js'

export const databaseVariable = 'BET_WALLET_DATABASE_URL'

/** The options of every command that reads the operator's database. */
export const lookupArguments = {
  'database-url': { type: 'string' },
  schema: { type: 'string' },
  config: { type: 'string' },
  scan: { type: 'boolean' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const satisfies ParseArgsConfig['options']

export interface LookupValues {
  'database-url'?: string
  schema?: string
  config?: string
  scan?: boolean
}

/** What stops a command, in words for the user: no driver, an unusable config file. */
export class LookupError extends Error {}

interface Source {
  lookups: WalletLookups
  /** Of the database, if it is known. */
  url?: string
  close(): Promise<void>
}

/**
 * Calls `work` with the lookups, and closes them behind it.
 *
 * @throws {UsageError} for missing or contradicting options
 * @throws {LookupError} without the driver, or for an unusable config file
 */
export async function withLookups<T>(
  values: LookupValues,
  work: (lookups: WalletLookups) => Promise<T>,
): Promise<T> {
  const source = await sourceOf(values)
  try {
    return await work(source.lookups)
  } catch (error) {
    if (error instanceof Error && source.url !== undefined)
      error.message = withoutPassword(error.message, source.url)
    throw error
  } finally {
    await source.close()
  }
}

async function sourceOf(values: LookupValues): Promise<Source> {
  const { config, schema, scan } = values
  if (config !== undefined) {
    if (values['database-url'] !== undefined || schema !== undefined || scan !== undefined)
      throw new UsageError(
        '--config excludes --database-url, --schema and --scan: the file makes the lookups',
      )
    return await configured(config)
  }
  const url = values['database-url'] ?? process.env[databaseVariable]
  if (!url)
    throw new UsageError(
      `The database is missing: --database-url postgres://… or mysql://…, or ${databaseVariable} (environment), or --config`,
    )
  const options = { ...given('schema', schema), allowScan: scan ?? false }
  return openSource(url, options)
}

function openSource(url: string, options: { schema?: string; allowScan: boolean }): Source {
  const scheme = schemeOf(url)
  if (scheme === 'postgres' || scheme === 'postgresql') {
    const pool = postgresPool(url)
    return { lookups: createPostgresLookups(pool, options), url, close: () => pool.end() }
  }
  if (scheme === 'mysql' || scheme === 'mariadb') {
    const pool = mysqlPool(url.replace(/^mariadb:/i, 'mysql:'))
    return { lookups: createMysqlLookups(pool, options), url, close: () => pool.promise().end() }
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

function postgresPool(connectionString: string): PostgresPool {
  const { Pool } = driver('pg') as { Pool: new (options: object) => PostgresPool }
  const pool = new Pool({ connectionString, max: connectionsMax, connectionTimeoutMillis: connectMs })
  // A connection that breaks while nothing runs on it: the next statement reports it.
  pool.on('error', () => {})
  return pool
}

interface MysqlPool {
  // biome-ignore lint/suspicious/noExplicitAny: as the store takes it.
  getConnection(...callback: any[]): any
  promise(): { end(): Promise<void> }
}

function mysqlPool(uri: string): MysqlPool {
  const { createPool } = driver('mysql2') as { createPool(options: object): MysqlPool }
  try {
    return createPool({ uri, connectionLimit: connectionsMax, connectTimeout: connectMs, charset: 'utf8mb4' })
  } catch {
    // Its errors quote the URL.
    throw new LookupError('The options of the database URL are not supported by mysql2')
  }
}

/**
 * The driver that is installed in the current folder: the operator's own. Not that of a folder above, as
 * Node.js would look for it: other users may write there, and it is called with the password.
 */
function driver(name: 'pg' | 'mysql2'): unknown {
  const folder = process.cwd()
  if (!existsSync(join(folder, 'node_modules', name)))
    throw new LookupError(
      `The driver ${name} is not installed in ${folder}: npm install ${name}. Or state lookups of your own by --config.`,
    )
  return createRequire(join(folder, 'package.json'))(name)
}

const lookupNames = ['bet', 'transaction', 'player', 'transactions'] as const

async function configured(file: string): Promise<Source> {
  const path = resolve(file)
  let module: Record<string, unknown>
  try {
    module = await import(pathToFileURL(path).href)
  } catch (error) {
    throw new LookupError(`${path} cannot be loaded: ${(error as Error).message}`)
  }
  const lookups = module.lookups as Partial<WalletLookups> | undefined
  if (!lookupNames.every(name => typeof lookups?.[name] === 'function'))
    throw new LookupError(
      `${path} must export lookups, as createPostgresLookups or createMysqlLookups return them`,
    )
  const { close } = module
  return {
    lookups: lookups as WalletLookups,
    close: async () => {
      if (typeof close === 'function') await close()
    },
  }
}
