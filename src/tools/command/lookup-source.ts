/** The lookups of a command: of a database URL with the operator's own driver, or of a config file. */
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { ParseArgsConfig } from 'node:util'
import { isA, textOf } from '../../foreign-values.js'
import type { WalletLookups } from '../../lookups/records.js'
import { createMysqlLookups } from '../../stores/mysql/index.js'
import { createPostgresLookups } from '../../stores/postgres/index.js'
import { given, UsageError } from './arguments.js'
import { DatabaseError, openDatabase } from './database.js'
import { databaseUrlOf, withoutPassword } from './database-url.js'
import { wordsOf } from './output.js'

/** The options of every command that reads the operator's database. */
export const lookupArguments = {
  'database-url': { type: 'string' },
  schema: { type: 'string' },
  config: { type: 'string' },
  scan: { type: 'boolean' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const satisfies ParseArgsConfig['options']

/** Of a lookup that is written as a page too. */
export const htmlArguments = {
  ...lookupArguments,
  html: { type: 'string' },
} as const satisfies ParseArgsConfig['options']

interface LookupValues {
  'database-url'?: string
  schema?: string
  config?: string
  scan?: boolean
}

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
 * @throws {DatabaseError} without the driver, or for an unusable config file
 */
export async function withLookups<T>(
  values: LookupValues,
  work: (lookups: WalletLookups) => Promise<T>,
): Promise<T> {
  const source = await sourceOf(values)
  try {
    return await work(source.lookups)
  } catch (error) {
    if (isA(error, Error) && source.url !== undefined)
      error.message = withoutPassword(wordsOf(error), source.url)
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
  const url = databaseUrlOf(values, ', or --config')
  return openSource(url, { ...given('schema', schema), allowScan: scan ?? false })
}

function openSource(url: string, options: { schema?: string; allowScan: boolean }): Source {
  const { engine, pool, close } = openDatabase(url, ' Or state lookups of your own by --config.')
  const lookups =
    engine === 'postgres' ? createPostgresLookups(pool, options) : createMysqlLookups(pool, options)
  return { lookups, url, close }
}

const lookupNames = ['bet', 'transaction', 'player', 'owed', 'transactions'] as const

async function configured(file: string): Promise<Source> {
  const path = resolve(file)
  let module: Record<string, unknown>
  try {
    module = await import(pathToFileURL(path).href)
  } catch (error) {
    throw new DatabaseError(`${path} cannot be loaded: ${textOf(error)}`)
  }
  const lookups = module.lookups as Partial<WalletLookups> | undefined
  if (!lookupNames.every(name => typeof lookups?.[name] === 'function'))
    throw new DatabaseError(
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
