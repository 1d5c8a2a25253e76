/** The options that belong to the schema: its name, the players' table, the outbox. */
import type { OptionChecks } from '../../option-checks.js'
import { nameHash } from './name-hash.js'

/** The operator's own players' table. It is used unchanged, and external writers may change it too. */
export interface PlayersTable {
  /** A table or an updatable view with its schema, spelled as in the catalog: `"pam.accounts"`. */
  table: string
  /** The column of the playerId, with a unique index; with `accountPerCurrency`, the first column of it. */
  id: string
  /**
   * `text` (also varchar), `bigint` (any integer type) or `uuid` (MariaDB: `UUID` or `BINARY(16)`; MySQL:
   * `BINARY(16)`).
   * @default 'text'
   */
  idType?: 'text' | 'bigint' | 'uuid'
  /** The column of the currency code, as the platform sends it: `EUR`. */
  currency: string
  /**
   * A player may have a row for each currency, the account in it (D28), with a unique index on exactly the id
   * and the currency.
   * @default false
   */
  accountPerCurrency?: boolean
  /** The column of the balance. Without `reserved`, all of it is available. */
  balance: string
  /**
   * The column of what is reserved, of the balance's type and unit: a bet cannot use it (D29). Available is
   * balance − reserved. It may be negative: a credit line. Also a generated column, or one of a view.
   */
  reserved?: string
  /**
   * The column of your code's optimistic lock, an integer: `lock_version`. It is counted up with each change
   * of the balance, so that code which has read the row before does not write an old balance back.
   */
  version?: string
  /**
   * `numeric`: a decimal; `text`: a decimal as text; `minor-units`: whole minor units of the
   * currency.
   * @default 'numeric'
   */
  balanceType?: 'numeric' | 'text' | 'minor-units'
  /**
   * Required with `minor-units`: how many decimals they have, as a number, or per currency:
   * `{ EUR: 2, JPY: 0, KWD: 3 }`.
   */
  minorUnits?: number | Readonly<Record<string, number>>
  /**
   * The minimum scale of a `numeric` column that has one, checked at start.
   * @default 2
   */
  decimalsMin?: number
}

type Name = readonly [schema: string, table: string]

/** `reserved` is `null`: nothing is reserved. `version` is `null`: there is none, or none is declared. */
export interface PlayersColumns {
  id: string
  currency: string
  balance: string
  reserved: string | null
  version: string | null
}

/** The checked options. `table` and `columns` are quoted for SQL. */
export interface Players {
  /** Whether it is the library's own table. */
  own: boolean
  table: string
  tableName: Name
  columns: PlayersColumns
  columnNames: PlayersColumns
  accountPerCurrency: boolean
  idType: 'text' | 'bigint' | 'uuid'
  balanceType: 'numeric' | 'text' | 'minor-units'
  minorUnits: MinorUnits
  decimalsMin: number
}

/** How a database spells names, and calls its own table. */
export interface Dialect {
  check: OptionChecks
  /** The library's own players' table. */
  ownTable: string
  /** The longest name, and how it is measured. */
  nameMax: number
  lengthOf(name: string): number
  lengthUnit: string
  quoted(name: string): string
}

const playersOptionNames = [
  'table',
  'id',
  'idType',
  'currency',
  'accountPerCurrency',
  'balance',
  'reserved',
  'version',
  'balanceType',
  'minorUnits',
  'decimalsMin',
]

/** The checked options. `schema`, `table` and `columns` are quoted for SQL. */
export interface Tables {
  schema: string
  schemaName: string
  players: Players
  /** Whether every commit writes its events. */
  outbox: boolean
  /** The functions or procedures of the store are bound to it. */
  optionSet: OptionSet
}

/** Options that the migration and the store must have in common. */
interface TablesOptions {
  schema?: string
  players?: PlayersTable
  outbox?: boolean
}

/**
 * @param others names of options that are checked elsewhere
 * @param optionsOfPlayers further options of the players' table, which only this database has
 * @throws `INVALID_OPTIONS`, naming the option
 */
export function tablesFrom<More extends Readonly<Record<string, string | null>>>(
  dialect: Dialect,
  options: TablesOptions,
  others: readonly string[],
  optionsOfPlayers: { names: readonly string[]; check(): More },
): Tables & { players: Players & More } {
  const { check, quoted, ownTable } = dialect
  check.names(options, ['schema', 'players', 'outbox', ...others])
  const schemaName = nameOf(dialect, 'schema', options.schema ?? 'bet_wallet')
  const players = playersOf(dialect, options.players, [schemaName, ownTable], optionsOfPlayers.names)
  const more = optionsOfPlayers.check()
  const outbox = check.boolean('outbox', options.outbox ?? false)
  return {
    schema: quoted(schemaName),
    schemaName,
    players: { ...players, ...more },
    outbox,
    optionSet: optionSetOf({
      ...playersOptions(players),
      ...Object.fromEntries(Object.entries(more).map(([name, value]) => [`players.${name}`, value])),
      // Absent without it: the hash of such a schema stays the same.
      ...(outbox ? { outbox } : {}),
    }),
  }
}

/**
 * @param options `undefined`: the library's own table, `ownTable`
 * @param otherNames of options that only this database has
 */
function playersOf(
  dialect: Dialect,
  options: PlayersTable | undefined,
  ownTable: Name,
  otherNames: readonly string[],
): Players {
  const { check, quoted } = dialect
  const own = options === undefined
  const given: PlayersTable = options ?? {
    table: ownTable.join('.'),
    id: 'player_id',
    currency: 'currency',
    balance: 'balance',
  }
  check.names(given, [...playersOptionNames, ...otherNames], 'players.')
  const tableName = own ? ownTable : tableNameOf(dialect, 'players.table', given.table)
  const columnNames = {
    id: nameOf(dialect, 'players.id', given.id),
    currency: nameOf(dialect, 'players.currency', given.currency),
    balance: nameOf(dialect, 'players.balance', given.balance),
    reserved: given.reserved === undefined ? null : nameOf(dialect, 'players.reserved', given.reserved),
    version: given.version === undefined ? null : nameOf(dialect, 'players.version', given.version),
  }
  const { id, currency, balance, reserved, version } = columnNames
  const idType = check.oneOf('players.idType', given.idType ?? 'text', ['text', 'bigint', 'uuid'])
  const balanceTypes = ['numeric', 'text', 'minor-units'] as const
  const balanceType = check.oneOf('players.balanceType', given.balanceType ?? 'numeric', balanceTypes)
  if ((balanceType === 'minor-units') !== (given.minorUnits !== undefined)) {
    check.invalid("players.minorUnits is required with balanceType 'minor-units', and allowed only with it")
  }
  return {
    own,
    table: tableName.map(quoted).join('.'),
    tableName,
    columns: {
      id: quoted(id),
      currency: quoted(currency),
      balance: quoted(balance),
      reserved: reserved && quoted(reserved),
      version: version && quoted(version),
    },
    columnNames,
    accountPerCurrency: check.boolean('players.accountPerCurrency', given.accountPerCurrency ?? false),
    idType,
    balanceType,
    minorUnits: checkedMinorUnits(check, given.minorUnits ?? 2),
    decimalsMin: check.whole('players.decimalsMin', given.decimalsMin ?? 2, 0, 18),
  }
}

function checkedMinorUnits(
  check: OptionChecks,
  minorUnits: number | Readonly<Record<string, number>>,
): MinorUnits {
  if (typeof minorUnits === 'number') return check.whole('players.minorUnits', minorUnits, 0, 18)
  if (typeof minorUnits !== 'object' || minorUnits === null)
    check.invalid('players.minorUnits must be a number, or one per currency')
  const units = new Map<string, number>()
  for (const [currency, value] of Object.entries(minorUnits)) {
    units.set(currency, check.whole(`players.minorUnits.${currency}`, value, 0, 18))
  }
  return units
}

/** The options that decide what the functions of the store do with the players' table. */
const playersOptions = (players: Players) => ({
  'players.table': players.tableName.join('.'),
  'players.id': players.columnNames.id,
  'players.idType': players.idType,
  'players.currency': players.columnNames.currency,
  ...(players.accountPerCurrency && { 'players.accountPerCurrency': true }),
  'players.balance': players.columnNames.balance,
  ...(players.columnNames.reserved && { 'players.reserved': players.columnNames.reserved }),
  ...(players.columnNames.version && { 'players.version': players.columnNames.version }),
  'players.balanceType': players.balanceType,
  'players.minorUnits': players.balanceType === 'minor-units' ? players.minorUnits : null,
})

function nameOf(dialect: Dialect, option: string, value: unknown): string {
  const { check, nameMax, lengthOf, lengthUnit } = dialect
  if (typeof value !== 'string' || value === '' || value.includes('\0'))
    return check.invalid(`${option} must be a name`)
  // It would end a comment of the SQL in which the name stands.
  if (value.includes('*/')) return check.invalid(`${option} must not have "*/" in it`)
  if (lengthOf(value) > nameMax) check.invalid(`${option} is longer than ${nameMax} ${lengthUnit}`)
  return value
}

function tableNameOf(dialect: Dialect, option: string, value: unknown): Name {
  const parts = typeof value === 'string' ? value.split('.') : []
  const [schema, table] = parts
  if (parts.length !== 2 || !schema || !table) {
    // Without its schema, the table would depend on the settings of the session.
    return dialect.check.invalid(`${option} must be a table with its schema, as in "public.accounts"`)
  }
  return [nameOf(dialect, option, schema), nameOf(dialect, option, table)]
}

/**
 * The options that decide what the functions of the store do, and how the store reads their results. The
 * functions are bound to them by a hash in their names, and the schema registers them.
 */
export interface OptionSet {
  /** 8 hexadecimal digits: the end of the names of the functions. */
  readonly hash: string
  /** Every option by its name, with its default filled in: `{ "players.table": "pam.accounts", … }`. */
  readonly json: string
}

export type MinorUnits = number | ReadonlyMap<string, number>

/** The same options always have the same hash, however they were written. */
export function optionSetOf(
  options: Readonly<Record<string, string | boolean | MinorUnits | null>>,
): OptionSet {
  const json = JSON.stringify(options, (_, value) => (value instanceof Map ? sortedObject(value) : value), 2)
  return { hash: nameHash(json), json }
}

function sortedObject(units: ReadonlyMap<string, number>) {
  return Object.fromEntries([...units].sort(([a], [b]) => (a < b ? -1 : 1)))
}
