/** The lookups of a command: of a database URL with the operator's own driver, or of a config file. */
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { isA, textOf } from '../../foreign-values.js'
import type { WalletLookups } from '../../lookups/records.js'
import { createMysqlLookups } from '../../stores/mysql/index.js'
import { createPostgresLookups } from '../../stores/postgres/index.js'
import { DatabaseError, openDatabase } from './database.js'
import { databaseUrlOf, urlOption, withoutPassword } from './database-url.js'
import { on, text, type Values } from './option.js'
import { wordsOf } from './output.js'
import { schemaOption } from './players-options.js'
import { UsageError } from './usage-error.js'

/** Of every command that reads what is recorded. */
export const sourceOptions = {
  databaseUrl: urlOption,
  schema: schemaOption,
  config: text(
    '--config <file.mjs>',
    'instead: a module that exports lookups, as createPostgresLookups or createMysqlLookups return them,' +
      ' and maybe close, a function',
  ),
  allowScan: on('--scan', 'reads the whole table where an index is missing'),
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
  values: Values<typeof sourceOptions>,
  work: (lookups: WalletLookups) => Promise<T>,
): Promise<T> {
  const { config, databaseUrl, schema, allowScan } = values
  if (config !== undefined && (databaseUrl ?? schema ?? allowScan) !== undefined)
    throw new UsageError('--config excludes --database-url, --schema and --scan: the file makes the lookups')
  const source = config === undefined ? openSource(values) : await configured(config)
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

function openSource({ databaseUrl, schema, allowScan = false }: Values<typeof sourceOptions>): Source {
  const url = databaseUrlOf(databaseUrl, ', or --config')
  const options = { ...(schema !== undefined && { schema }), allowScan }
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
