/** The options that a schema was migrated with, as they are registered there. */
import type { PlayersTable } from './tables.js'

/** The options of a registered set that a store is created with, as far as they belong to the schema. */
export interface RegisteredOptions {
  players?: PlayersTable & { idCollation?: string }
  legacyBets?: string
  outbox?: boolean
}

/**
 * Reads the JSON of an option set.
 *
 * @param ownTable the library's own players' table, which no option names
 */
export function registeredOptions(json: string, ownTable: string): RegisteredOptions {
  const set = JSON.parse(json) as Readonly<Record<string, unknown>>
  const players = Object.fromEntries(
    Object.entries(set)
      .filter(([name, value]) => name.startsWith('players.') && value !== null)
      .map(([name, value]) => [name.slice('players.'.length), value]),
  ) as unknown as PlayersTable & { idCollation?: string }
  return {
    ...(players.table === ownTable ? {} : { players }),
    ...(typeof set.legacyBets === 'string' ? { legacyBets: set.legacyBets } : {}),
    ...(set.outbox === true ? { outbox: true } : {}),
  }
}
