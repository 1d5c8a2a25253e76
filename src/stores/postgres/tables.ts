/** The options that belong to the schema: its name, the players' table, the outbox. */

import { type Dialect, type PlayersTable, type Tables, tablesFrom } from '../database/tables.js'
import { check } from './errors.js'
import { quoted } from './sql/quoting.js'

export type { Tables }

/** Options that the migration and the store must have in common. */
export interface PostgresTables {
  /**
   * The schema of the library's tables and functions.
   * @default 'bet_wallet'
   */
  schema?: string
  /**
   * Your players' table.
   * @default a table `players` in the library's schema, which the migration creates
   */
  players?: PlayersTable
  /**
   * Whether every commit also writes an event, for a relay to deliver (docs/your-own-code.md). It goes into
   * the table `outbox`, in the same statement.
   * @default false
   */
  outbox?: boolean
}

/** PostgreSQL silently truncates longer names, which would name another table. */
const dialect: Dialect = {
  check,
  ownTable: 'players',
  nameMax: 63,
  lengthOf: name => new TextEncoder().encode(name).length,
  lengthUnit: 'bytes',
  quoted,
}

/** @throws {StoreError} `INVALID_OPTIONS`, naming the option */
export const tablesOf = (options: PostgresTables, others: readonly string[] = []): Tables =>
  tablesFrom(dialect, options, others, { names: [], check: () => ({}) })
