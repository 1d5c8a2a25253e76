/** The options that a schema was migrated with, as they are registered there. */
import type { MakeError } from './errors.js'
import type { PlayersTable } from './tables.js'

/** The options of a registered set that a store is created with, as far as they belong to the schema. */
export interface RegisteredOptions {
  schema?: string
  players?: PlayersTable & { idCollation?: string }
  outbox?: boolean
}

/**
 * Reads the JSON of option sets. Only the outbox may differ: it is turned on beside processes without it.
 *
 * @param ownTable the library's own players' table, which no option names
 * @throws `SCHEMA_OPTIONS`: there is none, or they name several tables
 */
export function registeredOptions(
  makeError: MakeError,
  schema: string,
  ownTable: string,
  sets: readonly string[],
): RegisteredOptions {
  const [first, ...others] = sets.map(json => optionsOf(json, `${schema}.${ownTable}`))
  const tablesOf = ({ outbox: _, ...tables }: RegisteredOptions) => JSON.stringify(tables)
  if (first === undefined || others.some(each => tablesOf(each) !== tablesOf(first)))
    throw makeError(
      'SCHEMA_OPTIONS',
      `The schema ${schema} was migrated with ${first === undefined ? 'no' : 'several'} options: state players, as ` +
        'for the store (the command: in a module, --config)',
    )
  return { schema, ...(others.find(({ outbox }) => outbox) ?? first) }
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
