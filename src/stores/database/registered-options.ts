/** The options that a schema was migrated with, as they are registered there. */
import type { MakeError } from './errors.js'
import type { PlayersTable } from './tables.js'

/** The options of a registered set that a store is created with, as far as they belong to the schema. */
export interface RegisteredOptions {
  schema: string
  players?: PlayersTable & { idCollation?: string }
  outbox?: boolean
}

/** Before a call is recorded, the registration alone is wrong: the tables are the same for all options. */
export const otherTry = (statements: string) =>
  `. No call is recorded yet: if the registered options are wrong, run this as an owner and migrate again: ${statements}`

/**
 * Reads the JSON of option sets. Only the outbox may differ: it is turned on beside processes without it.
 *
 * @param schema whose own players' table, `ownTable`, no option names
 * @throws {StoreError} `SCHEMA_OPTIONS`: there is none, or they name several tables
 */
export function registeredOptions(
  makeError: MakeError,
  { schema, ownTable }: { schema: string; ownTable: string },
  sets: readonly string[],
): RegisteredOptions {
  const [first, ...others] = sets.map(json => optionsOf(json, `${schema}.${ownTable}`))
  const tablesOf = ({ outbox: _, ...tables }: SetOptions) => JSON.stringify(tables)
  if (first === undefined || others.some(each => tablesOf(each) !== tablesOf(first))) {
    throw makeError(
      'SCHEMA_OPTIONS',
      `The schema ${schema} was migrated with ${first === undefined ? 'no' : 'several'} options: state players, as for ` +
        'the store (the command: in a module, --config)',
    )
  }
  return { schema, ...(others.find(({ outbox }) => outbox) ?? first) }
}

type SetOptions = Omit<RegisteredOptions, 'schema'>

function optionsOf(json: string, ownTable: string): SetOptions {
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
