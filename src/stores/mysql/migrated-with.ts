/** The options of the migration, from the procedures in whose comments it has registered them. */
import { registeredOptions } from '../database/registered-options.js'
import { storeError } from './errors.js'
import type { Values } from './rows.js'
import type { MysqlTables, Tables } from './tables.js'

type Ask = (text: string, values: unknown[]) => Promise<readonly Values[]>

/**
 * The options that the schema was migrated with.
 *
 * @throws {StoreError} `SCHEMA_OPTIONS`: there are several; `INSUFFICIENT_PRIVILEGE`: none can be seen
 */
export async function migratedWith(
  ask: Ask,
  { schemaName }: Pick<Tables, 'schemaName'>,
): Promise<MysqlTables> {
  const procedures = await ask(
    `SELECT ROUTINE_NAME, ROUTINE_COMMENT FROM information_schema.ROUTINES
      WHERE ROUTINE_SCHEMA = ? AND ROUTINE_TYPE = 'PROCEDURE'`,
    [schemaName],
  )
  const sets = procedures
    .filter(([name]) => /^wallet_commit_v\d+_[0-9a-f]{8}(_[0-9a-f]{8})?$/.test(String(name)))
    .map(([, comment]) => String(comment))
  if (sets.length === 0) {
    throw storeError(
      'INSUFFICIENT_PRIVILEGE',
      `This user sees no procedure of the schema ${schemaName}, where the options of the migration are registered: ` +
        'state players, as for the store, or grant EXECUTE on the schema',
    )
  }
  return registeredOptions(storeError, schemaName, 'wallet_players', sets)
}
