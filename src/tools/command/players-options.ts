/** The options that belong to a schema, such as the players' table: of every command that needs them. */
import { minorUnitsIn } from '../init/mapping.js'
import type { Database, StoreTables } from './database.js'
import { nameOf, on, option, text, type Values, whole } from './option.js'
import { UsageError } from './usage-error.js'

const columnOptions = {
  id: text('--id <column>', 'the playerId, with a unique index'),
  idType: text('--id-type <type>', 'text (default), bigint, uuid'),
  idCollation: text('--id-collation <name>', 'of a text id on MySQL and MariaDB: utf8mb4_general_ci'),
  currency: text('--currency <column>', 'the currency code: EUR'),
  accountPerCurrency: on('--account-per-currency', 'a player may have a row for each currency'),
  balance: text('--balance <column>', 'the balance'),
  reserved: text('--reserved <column>', 'what is reserved of it: available is balance - reserved'),
  version: text('--version <column>', "of your code's optimistic lock: lock_version"),
  balanceType: text('--balance-type <type>', 'numeric (default), text, minor-units'),
  minorUnits: option(
    '--minor-units <number>',
    'with minor-units: 2, or by currency: EUR=2,JPY=0',
    (value, name) => {
      const units = minorUnitsIn(value)
      if (units !== null) return units
      throw new UsageError(`${name} must be 2, or EUR=2,JPY=0, not ${JSON.stringify(value)}`)
    },
  ),
  decimalsMin: whole('--decimals-min <number>', 'the least scale of a numeric balance (2)'),
}

export const schemaOption = {
  ...text('--schema <name>', "the schema of the library's tables (bet_wallet)"),
  variables: ['BET_WALLET_SCHEMA'] as const,
}

/** The schema of the option, or of the environment, as an option of the store. */
export function schemaIn(given: string | undefined): { schema?: string } {
  const schema = given ?? process.env[schemaOption.variables[0]]
  return schema ? { schema } : {}
}

export const playersOptions = {
  players: {
    ...text(
      '--players <table>',
      "your players' table with its schema, as the catalog spells it: pam.accounts; not needed for a schema" +
        ' that was migrated for one table only',
    ),
    codeName: 'players.table',
  },
  ...columnOptions,
  ownPlayers: on('--own-players', "instead of all these: a table of the library's own"),
  outbox: on('--outbox', 'every commit also writes an event, for a relay: docs/your-own-code.md'),
  schema: schemaOption,
}

export type PlayersValues = Values<typeof playersOptions>

/** Those of the values that have these names. */
const chosen = (values: object, names: readonly string[]) =>
  Object.fromEntries(Object.entries(values).filter(([name]) => names.includes(name)))

/**
 * @returns `null`: the options name no table, so that it is the one that the schema was migrated with
 * @throws {UsageError} for half of a table. What the values are, the store checks
 */
export function tablesGiven(values: PlayersValues): StoreTables | null {
  const { players: table, ownPlayers, id, currency, balance } = values
  const columns = chosen(values, Object.keys(columnOptions))
  const tables: StoreTables = { ...schemaIn(values.schema), ...chosen(values, ['outbox']) }
  if (table === undefined) {
    for (const [name, each] of Object.entries(columnOptions))
      if (name in columns) throw new UsageError(`--${nameOf(each)} needs --players: the players' table`)
    return ownPlayers ? tables : null
  }
  if (ownPlayers) throw new UsageError('--players and --own-players exclude each other')
  if (!id || !currency || !balance)
    throw new UsageError('--players needs its columns: --id, --currency and --balance')
  return { ...tables, players: { table, id, currency, balance, ...columns } }
}

/**
 * The tables that the arguments name; otherwise those of the migration of the schema.
 *
 * @throws {UsageError} where neither names them; {@link RightMissing}
 * @throws {StoreError} `INVALID_OPTIONS`; `SCHEMA_OPTIONS` for a schema with several options
 */
export async function tablesIn(database: Database, values: PlayersValues): Promise<StoreTables> {
  const named = tablesGiven(values)
  if (named !== null) return named
  const options = schemaIn(values.schema)
  const registered = await database.registered(options)
  if (registered !== null) return { ...registered, ...(values.outbox && { outbox: true }) }
  throw new UsageError(
    `The schema ${options.schema ?? 'bet_wallet'} was not migrated yet, or this user may not see it: name your players' table by --players, --id, --currency and --balance`,
  )
}
