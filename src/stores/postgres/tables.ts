/** The options that name tables: the library's schema, the operator's players' table, legacy bets. */
import { check } from './option-checks.js'
import { type MinorUnits, type OptionSet, optionSetOf } from './option-set.js'
import { quoted } from './sql/quoting.js'

/** The operator's own players' table. It is used unchanged, and external writers may change it too. */
export interface PlayersTable {
  /**
   * With its schema, spelled as in the catalog: `"pam.accounts"`. A table, a partitioned table or an
   * updatable view.
   */
  table: string
  /** The column of the playerId. It must have a unique index. */
  id: string
  /**
   * `text` (also varchar), `bigint` (any integer type) or `uuid`.
   * @default 'text'
   */
  idType?: 'text' | 'bigint' | 'uuid'
  /** The column of the currency code, as the platform sends it: `EUR`. */
  currency: string
  /** The column of the available balance, which guard 3 tests. */
  balance: string
  /**
   * - `numeric`: a decimal, with or without scale.
   * - `text`: a decimal as text.
   * - `minor-units`: an integer of any type, in minor units of the currency.
   * @default 'numeric'
   */
  balanceType?: 'numeric' | 'text' | 'minor-units'
  /**
   * Required with `minor-units`: how many decimals they have. A number, or one per currency: `{ EUR: 2, JPY:
   * 0, KWD: 3 }`.
   */
  minorUnits?: number | Readonly<Record<string, number>>
  /**
   * The minimum scale of a `numeric` column that has one. Checked at start.
   * @default 2
   */
  decimalsMin?: number
}

/** Options that the migration and the store must have in common. */
export interface PostgresTables {
  /**
   * The schema of the library's tables and functions.
   * @default 'bet_wallet'
   */
  schema?: string
  /** Your players' table. Without it, the migration creates a table `players` in the library's schema. */
  players?: PlayersTable
  /**
   * A view of the bets of a legacy integration that can still change (D27), with its schema:
   * `"pam.legacy_bets"`.
   *
   * It has the columns of the library's `bets` table: bet_id, player_id, currency, stake, status, and per
   * settlement type _live, _reversed and _owed (of a live credit, NULL in the other two counts as 0). It
   * returns each bet at most once, looked up by an index on bet_id. Its rows never change: later changes of
   * these bets are stored in `bets`.
   */
  legacyBets?: string
}

/** The checked options. `schema`, `table`, `columns` and `legacyBets` are quoted for SQL. */
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
    minorUnits: MinorUnits
    decimalsMin: number
  }
  legacyBets: string | null
  /** The functions of the store are bound to it. */
  optionSet: OptionSet
}

const tableOptionNames = ['schema', 'players', 'legacyBets']
const playersOptionNames = [
  ...['table', 'id', 'idType', 'currency', 'balance', 'balanceType', 'minorUnits', 'decimalsMin'],
]

/** @throws {PostgresStoreError} `INVALID_OPTIONS`, naming the option */
export function tablesOf(options: PostgresTables, others: readonly string[] = []): Tables {
  check.names(options, [...tableOptionNames, ...others])
  const schemaName = nameOf('schema', options.schema ?? 'bet_wallet')
  const { legacyBets } = options
  const players = playersOf(options.players, schemaName)
  const legacyName = legacyBets === undefined ? null : tableNameOf('legacyBets', legacyBets)
  return {
    schema: quoted(schemaName),
    schemaName,
    players,
    legacyBets: legacyName?.map(quoted).join('.') ?? null,
    optionSet: optionSetOf({
      'players.table': players.tableName.join('.'),
      'players.id': players.columnNames.id,
      'players.idType': players.idType,
      'players.currency': players.columnNames.currency,
      'players.balance': players.columnNames.balance,
      'players.balanceType': players.balanceType,
      'players.minorUnits': players.balanceType === 'minor-units' ? players.minorUnits : null,
      legacyBets: legacyName?.join('.') ?? null,
    }),
  }
}

function playersOf(players: PlayersTable | undefined, schemaName: string): Tables['players'] {
  const own = players === undefined
  const options: PlayersTable = players ?? {
    table: `${schemaName}.players`,
    id: 'player_id',
    currency: 'currency',
    balance: 'balance',
  }
  check.names(options, playersOptionNames, 'players.')
  const tableName = own ? ([schemaName, 'players'] as const) : tableNameOf('players.table', options.table)
  const columnNames = {
    id: nameOf('players.id', options.id),
    currency: nameOf('players.currency', options.currency),
    balance: nameOf('players.balance', options.balance),
  }
  const { id, currency, balance } = columnNames
  const idType = check.oneOf('players.idType', options.idType ?? 'text', ['text', 'bigint', 'uuid'])
  const balanceTypes = ['numeric', 'text', 'minor-units'] as const
  const balanceType = check.oneOf('players.balanceType', options.balanceType ?? 'numeric', balanceTypes)
  if ((balanceType === 'minor-units') !== (options.minorUnits !== undefined)) {
    check.invalid("players.minorUnits is required with balanceType 'minor-units', and allowed only with it")
  }
  return {
    own,
    table: tableName.map(quoted).join('.'),
    tableName,
    columns: { id: quoted(id), currency: quoted(currency), balance: quoted(balance) },
    columnNames,
    idType,
    balanceType,
    minorUnits: checkedMinorUnits(options.minorUnits ?? 2),
    decimalsMin: check.whole('players.decimalsMin', options.decimalsMin ?? 2, 0, 18),
  }
}

function checkedMinorUnits(minorUnits: number | Readonly<Record<string, number>>): MinorUnits {
  if (typeof minorUnits === 'number') return check.whole('players.minorUnits', minorUnits, 0, 18)
  if (typeof minorUnits !== 'object' || minorUnits === null)
    check.invalid('players.minorUnits must be a number, or one per currency')
  const units = new Map<string, number>()
  for (const [currency, value] of Object.entries(minorUnits)) {
    units.set(currency, check.whole(`players.minorUnits.${currency}`, value, 0, 18))
  }
  return units
}

/** PostgreSQL silently truncates longer names, which would name another table. */
const nameBytesMax = 63

function nameOf(option: string, value: unknown): string {
  if (typeof value !== 'string' || value === '' || value.includes('\0'))
    return check.invalid(`${option} must be a name`)
  if (new TextEncoder().encode(value).length > nameBytesMax)
    check.invalid(`${option} is longer than ${nameBytesMax} bytes`)
  return value
}

function tableNameOf(option: string, value: unknown): readonly [string, string] {
  const parts = typeof value === 'string' ? value.split('.') : []
  const [schema, table] = parts
  if (parts.length !== 2 || !schema || !table) {
    // Without its schema, the table would depend on the search_path of the session.
    return check.invalid(`${option} must be a table with its schema, as in "public.accounts"`)
  }
  return [nameOf(option, schema), nameOf(option, table)]
}
