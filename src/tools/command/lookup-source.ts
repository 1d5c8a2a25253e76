/** The lookups of a command: of a database URL with the operator's own driver, or of a config file. */
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { textOf } from '../../foreign-values.js'
import type { WalletLookups } from '../../lookups/records.js'
import { DatabaseError } from './database.js'
import { databaseUrlOf, urlOption, withDatabase } from './database-url.js'
import { on, text, type Values } from './option.js'
import { schemaIn, schemaOption } from './players-options.js'
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

/**
 * Calls `work` with the lookups, and closes them behind it.
 *
 * @throws {UsageError} for missing or contradicting options
 * @throws {DatabaseError} without the driver, or for an unusable config file
 */
export async function withLookups<T>(
  { config, databaseUrl, schema, allowScan }: Values<typeof sourceOptions>,
  work: (lookups: WalletLookups) => Promise<T>,
): Promise<T> {
  if (config !== undefined) {
    if ((databaseUrl ?? schema ?? allowScan) === undefined) return await withConfigured(config, work)
    throw new UsageError('--config excludes --database-url, --schema and --scan: the file makes the lookups')
  }
  const options = { ...schemaIn(schema), allowScan: allowScan ?? false }
  const url = databaseUrlOf(databaseUrl, ', or --config')
  const advice = ' Or state lookups of your own by --config.'
  return await withDatabase(url, database => work(database.lookups(options)), advice)
}

const lookupNames = ['bet', 'transaction', 'player', 'owed', 'transactions'] as const

async function withConfigured<T>(file: string, work: (lookups: WalletLookups) => Promise<T>): Promise<T> {
  const path = resolve(file)
  let module: Record<string, unknown>
  try {
    module = await import(pathToFileURL(path).href)
  } catch (error) {
    throw new DatabaseError(`${path} cannot be loaded: ${textOf(error)}`)
  }
  const { close } = module
  const lookups = module.lookups as Partial<WalletLookups> | undefined
  if (!lookupNames.every(name => typeof lookups?.[name] === 'function'))
    throw new DatabaseError(
      `${path} must export lookups, as createPostgresLookups or createMysqlLookups return them`,
    )
  try {
    return await work(lookups as WalletLookups)
  } finally {
    if (typeof close === 'function') await close()
  }
}
