/** The options that name tables: the library's schema, the operator's players' table, legacy bets. */
import { type OptionSet, optionSetOf } from '../database/option-set.js'
import {
  type Dialect,
  nameOf,
  type Players,
  type PlayersTable,
  playersOf,
  playersOptions,
  tableNameOf,
} from '../database/players-table.js'
import { check } from './option-checks.js'
import { quoted } from './sql/quoting.js'

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
  players: Players
  legacyBets: string | null
  /** The functions of the store are bound to it. */
  optionSet: OptionSet
}

const tableOptionNames = ['schema', 'players', 'legacyBets']

/** PostgreSQL silently truncates longer names, which would name another table. */
const dialect: Dialect = {
  check,
  nameMax: 63,
  lengthOf: name => new TextEncoder().encode(name).length,
  lengthUnit: 'bytes',
  quoted,
}

/** @throws {StoreError} `INVALID_OPTIONS`, naming the option */
export function tablesOf(options: PostgresTables, others: readonly string[] = []): Tables {
  check.names(options, [...tableOptionNames, ...others])
  const schemaName = nameOf(dialect, 'schema', options.schema ?? 'bet_wallet')
  const { legacyBets } = options
  const players = playersOf(dialect, options.players, [schemaName, 'players'])
  const legacyName = legacyBets === undefined ? null : tableNameOf(dialect, 'legacyBets', legacyBets)
  return {
    schema: quoted(schemaName),
    schemaName,
    players,
    legacyBets: legacyName?.map(quoted).join('.') ?? null,
    optionSet: optionSetOf({ ...playersOptions(players), legacyBets: legacyName?.join('.') ?? null }),
  }
}
