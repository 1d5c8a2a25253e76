/** The options that belong to the schema: its name, the players' table, the outbox. */

import {
  type Tables as DatabaseTables,
  type Dialect,
  type Players,
  type PlayersTable,
  tablesFrom,
} from '../database/tables.js'
import { check } from './errors.js'
import { quoted } from './sql/quoting.js'

/** The operator's own players' table, on the same server as the library's schema. */
export interface MysqlPlayersTable extends PlayersTable {
  /**
   * Required with a text id: the collation of the id column, as `SHOW FULL COLUMNS` prints it. The player is
   * looked up by it, so that the column's index is used, and also compared exactly (D24).
   */
  idCollation?: string
}

/** Options that the migration and the store must have in common. */
export interface MysqlTables {
  /**
   * The schema (database) of the library's tables and procedures. Their names begin with `wallet_`: it may be
   * a schema of your own.
   * @default 'bet_wallet'
   */
  schema?: string
  /**
   * Your players' table.
   * @default a table `wallet_players` in the library's schema, which the migration creates
   */
  players?: MysqlPlayersTable
  /**
   * Whether every commit also writes an event, for a relay to deliver (docs/your-own-code.md). It goes into
   * the table `wallet_outbox`, in the same statement.
   * @default false
   */
  outbox?: boolean
}

export interface Tables extends DatabaseTables {
  players: Players & {
    /** `null`: the column compares exactly, as the library's own columns do, or it is no text. */
    idCollation: string | null
  }
}

const dialect: Dialect = {
  check,
  ownTable: 'wallet_players',
  nameMax: 64,
  lengthOf: name => [...name].length,
  lengthUnit: 'characters',
  quoted,
}

/** @throws {StoreError} `INVALID_OPTIONS`, naming the option */
export const tablesOf = (options: MysqlTables, others: readonly string[] = []): Tables =>
  tablesFrom(dialect, options, others, {
    names: ['idCollation'],
    check: () => ({ idCollation: idCollationOf(options.players) }),
  })

function idCollationOf(players: MysqlPlayersTable | undefined): string | null {
  if (players === undefined) return null
  const { idType = 'text', idCollation } = players
  if (idType !== 'text') {
    if (idCollation !== undefined) check.invalid('players.idCollation is allowed only with a text id')
    return null
  }
  if (typeof idCollation === 'string' && /^[a-z0-9_]{3,64}$/.test(idCollation)) return idCollation
  return check.invalid(
    'players.idCollation must be the collation of the id column, as in "utf8mb4_general_ci": SHOW FULL COLUMNS prints it',
  )
}
