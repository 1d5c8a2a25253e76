/** The options of the last migration, from the table in which it has registered them. */
import { registeredOptions } from '../database/registered-options.js'
import { storeError } from './errors.js'
import type { PostgresTables, Tables } from './tables.js'

type Ask = (text: string, values: unknown[]) => Promise<unknown[]>

/**
 * The options that the schema was migrated with.
 *
 * @throws {StoreError} `SCHEMA_OPTIONS`: there are several, or none
 */
export async function migratedWith(
  ask: Ask,
  { schema, schemaName }: Pick<Tables, 'schema' | 'schemaName'>,
): Promise<PostgresTables> {
  const rows = (await ask(`SELECT options::text AS options FROM ${schema}.options`, [])) as {
    options: string
  }[]
  const sets = rows.map(({ options }) => options)
  return registeredOptions(storeError, schemaName, 'players', sets)
}
