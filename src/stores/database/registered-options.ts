/** The options that a schema was migrated with, as they are registered there. */
import type { PlayersTable } from './tables.js'

/** The options of a registered set that a store is created with, as far as they belong to the schema. */
export interface RegisteredOptions {
  players?: PlayersTable & { idCollation?: string }
  outbox?: boolean
}

/**
 * Reads the JSON of option sets. Only the outbox may differ: it is turned on beside processes without it.
 *
 * @param ownTable the library's own players' table, which no option names
 * @returns `null`: there is none, or they name several tables
 */
export function registeredOptions(sets: readonly string[], ownTable: string): RegisteredOptions | null {
  const [first, ...others] = sets.map(json => optionsOf(json, ownTable))
  const tablesOf = ({ outbox: _, ...tables }: RegisteredOptions) => JSON.stringify(tables)
  if (first === undefined || others.some(each => tablesOf(each) !== tablesOf(first))) return null
  return others.find(({ outbox }) => outbox) ?? first
}

function optionsOf(json: string, ownTable: string): RegisteredOptions {
  const set = JSON.parse(json) as Readonly<Record<string, unknown>>
  const players = Object.fromEntries(
    Object.entries(set)
      .filter(([name, value]) => name.startsWith('players.') && value !== null)
      .map(([name, value]) => [name.slice('players.'.length), value]),
  ) as unknown as PlayersTable & { idCollation?: string }
  return {
    ...(players.table === ownTable ? {} : { players }),
    ...(set.outbox === true ? { outbox: true } : {}),
  }
}
