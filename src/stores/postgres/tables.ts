/** Where things are: the library's schema, and the operator's own players' table. */
import { PostgresStoreError } from './errors.js'

/** The operator's own players' table, used as it stands. Other code keeps writing to it. */
export interface PlayersTable {
  /** With its schema, as the catalog spells them: `"pam.accounts"`. A table, a partitioned table, or a view that can be updated. */
  table: string
  /** The column of the playerId; unique. */
  id: string
  /** `text` (also varchar), `bigint` (any integer), or `uuid`. Default `text`. */
  idType?: 'text' | 'bigint' | 'uuid'
  /** The column of the currency code, as the platform writes it: `EUR`. */
  currency: string
  /** The column of what can be bet with: exactly what guard 3 tests. */
  balance: string
  /**
   * - `numeric`: a decimal, with or without scale (default).
   * - `text`: a decimal as text.
   * - `minor-units`: a whole number of the currency's smallest units, in any integer column.
   */
  balanceType?: 'numeric' | 'text' | 'minor-units'
  /** Of `minor-units`: how many decimals they stand for: `2`, or per currency: `{ EUR: 2, JPY: 0, KWD: 3 }`. */
  minorUnits?: number | Readonly<Record<string, number>>
  /** Of a `numeric` column with a scale: how many decimals it must hold at least; checked at start. Default 2. */
  decimalsMin?: number
}

/** What the migration and the store must agree on. */
export interface PostgresTables {
  /** The schema of the library's own tables and functions. Default `bet_wallet`. */
  schema?: string
  /** Default: a table `players` in the library's schema, made by the migration. */
  players?: PlayersTable
  /**
   * A view of the bets that an earlier integration took and that can still change (D27), with its schema:
   * `"pam.legacy_bets"`. It has the columns of the library's `bets` table (bet_id, player_id, currency, stake, status,
   * and per settlement type _live, _reversed and _owed; of a credit that is live, NULL for the other two is 0), has a bet
   * once, is fast by bet_id, and does not change any more: what happens to such a bet from now on is kept in `bets`.
   * Default: none.
   */
  legacyBets?: string
}

/** The same with nothing left open; names are quoted. */
export interface Tables {
  schema: string
  schemaName: string
  players: {
    own: boolean
    table: string
    tableName: readonly [schema: string, table: string]
    columns: { id: string; currency: string; balance: string }
    columnNames: { id: string; currency: string; balance: string }
    idType: 'text' | 'bigint' | 'uuid'
    balanceType: 'numeric' | 'text' | 'minor-units'
    minorUnits: number | ReadonlyMap<string, number>
    decimalsMin: number
  }
  legacyBets: string | null
}

const tableOptionNames = ['schema', 'players', 'legacyBets']
const playersOptionNames = [
  ...['table', 'id', 'idType', 'currency', 'balance', 'balanceType', 'minorUnits', 'decimalsMin'],
]

/** @throws {PostgresStoreError} `INVALID_OPTIONS`, naming the option */
export function tablesOf(options: PostgresTables, others: readonly string[] = []): Tables {
  if (typeof options !== 'object' || options === null) invalid('the options must be an object')
  knownOnly('', options, [...tableOptionNames, ...others])
  const schemaName = nameOf('schema', options.schema ?? 'bet_wallet')
  const { legacyBets } = options
  return {
    schema: quoted(schemaName),
    schemaName,
    players: playersOf(options.players, schemaName),
    legacyBets: legacyBets === undefined ? null : tableNameOf('legacyBets', legacyBets).map(quoted).join('.'),
  }
}

function playersOf(players: PlayersTable | undefined, schemaName: string): Tables['players'] {
  const own = players === undefined
  const given: PlayersTable = players ?? {
    table: `${schemaName}.players`,
    id: 'player_id',
    currency: 'currency',
    balance: 'balance',
  }
  if (typeof given !== 'object' || given === null) invalid('players must be an object')
  knownOnly('players.', given, playersOptionNames)
  const tableName = own ? ([schemaName, 'players'] as const) : tableNameOf('players.table', given.table)
  const columnNames = {
    id: nameOf('players.id', given.id),
    currency: nameOf('players.currency', given.currency),
    balance: nameOf('players.balance', given.balance),
  }
  const { id, currency, balance } = columnNames
  const idType = oneOf('players.idType', given.idType ?? 'text', ['text', 'bigint', 'uuid'])
  const balanceTypes = ['numeric', 'text', 'minor-units'] as const
  const balanceType = oneOf('players.balanceType', given.balanceType ?? 'numeric', balanceTypes)
  if ((balanceType === 'minor-units') !== (given.minorUnits !== undefined)) {
    invalid('players.minorUnits must be given for a balance in minor units, and for no other')
  }
  return {
    own,
    table: tableName.map(quoted).join('.'),
    tableName,
    columns: { id: quoted(id), currency: quoted(currency), balance: quoted(balance) },
    columnNames,
    idType,
    balanceType,
    minorUnits: checkedMinorUnits(given.minorUnits ?? 2),
    decimalsMin: wholeNumber('players.decimalsMin', given.decimalsMin ?? 2, 0, 18),
  }
}

function checkedMinorUnits(
  given: number | Readonly<Record<string, number>>,
): Tables['players']['minorUnits'] {
  if (typeof given === 'number') return wholeNumber('players.minorUnits', given, 0, 18)
  if (typeof given !== 'object' || given === null)
    invalid('players.minorUnits must be a number, or one per currency')
  const units = new Map<string, number>()
  for (const [currency, value] of Object.entries(given)) {
    units.set(currency, wholeNumber(`players.minorUnits.${currency}`, value, 0, 18))
  }
  return units
}

export function invalid(flaw: string): never {
  throw new PostgresStoreError('INVALID_OPTIONS', `Invalid options: ${flaw}`)
}

export function wholeNumber(name: string, value: unknown, least: number, most: number): number {
  if (!Number.isSafeInteger(value) || (value as number) < least || (value as number) > most) {
    invalid(`${name} must be a whole number from ${least} to ${most}`)
  }
  return value as number
}

function knownOnly(where: string, options: object, names: readonly string[]): void {
  for (const name in options) if (!names.includes(name)) invalid(`there is no option ${where}${name}`)
}

function oneOf<T extends string>(name: string, value: unknown, values: readonly T[]): T {
  const found = values.find(known => known === value)
  return found ?? invalid(`${name} must be one of ${values.join(', ')}`)
}

/** PostgreSQL cuts longer names off in silence, and then means another table. */
const nameBytesMax = 63

function nameOf(option: string, value: unknown): string {
  const fine = typeof value === 'string' && value !== '' && !value.includes('\0')
  if (!fine) invalid(`${option} must be a name, as text`)
  if (new TextEncoder().encode(value).length > nameBytesMax)
    invalid(`${option} is longer than ${nameBytesMax} bytes`)
  return value
}

function tableNameOf(option: string, value: unknown): readonly [string, string] {
  const parts = typeof value === 'string' ? value.split('.') : []
  const [schema, table] = parts
  if (parts.length !== 2 || !schema || !table) {
    // Without it, what is meant would depend on the search_path of whoever asks.
    return invalid(`${option} must be a table with its schema, as in "public.accounts"`)
  }
  return [nameOf(option, schema), nameOf(option, table)]
}

/** As an identifier of SQL. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/** As a literal of SQL. */
export function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}
