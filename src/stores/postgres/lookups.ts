/** `createPostgresLookups`: what happened to a bet, a transaction, a player. Read only. */
import type { WalletLookups } from '../../lookups/records.js'
import {
  askForLookups,
  createDatabaseLookups,
  type LookupOptions,
  type LookupRow,
  lookupOptionNames,
} from '../database/lookups.js'
import type { Row } from '../database/rows.js'
import { connectionsFrom, type PostgresClient } from './client.js'
import { check, errors, hasCode, statementErrors } from './errors.js'
import { withLockTimeout } from './lock-timeout.js'
import { migratedWith } from './migrated-with.js'
import { createIndex, lookedUpBetColumns, lookupStatements } from './sql/lookups.js'
import { rightsOf } from './sql/rights.js'
import { type PostgresTables, tablesOf } from './tables.js'
import { transactionsTableOf } from './transactions-table.js'

export interface PostgresLookupOptions extends PostgresTables, LookupOptions {}

/** For one statement, in milliseconds. */
const statementMs = 120_000

/**
 * Creates lookups over the tables of the store. They only read, also from a standby: a role with SELECT is
 * enough. All but `transaction` need an index: migrate with `lookupIndexes: true`.
 *
 * @param client as for the store
 * @param options those of the store. Without `players`, they are read from the schema, where
 *   the migration has registered them
 * @throws {StoreError} `INVALID_OPTIONS` or `UNSUPPORTED_CLIENT`; each lookup rejects with the problems of
 *   the database, and with `INVALID_OPTIONS` for an invalid id, page or time
 */
export function createPostgresLookups(
  client: PostgresClient,
  options: PostgresLookupOptions = {},
): WalletLookups {
  const tables = tablesOf(options, lookupOptionNames)
  const connections = connectionsFrom(client, { timeoutMs: statementMs, transactions: false, durable: false })
  const ask = askForLookups(
    withLockTimeout(connections, statementMs),
    { ...statementErrors, isMissing: cause => hasCode(cause, '42P01', '42703') },
    rightsOf(tables, 'lookups'),
  )
  return createDatabaseLookups({
    check,
    makeError: errors.make,
    options,
    tables,
    transactionsTable: () => transactionsTableOf(ask, tables),
    registeredTables: async () => tablesOf(await migratedWith(ask, tables)),
    statementsOf: lookupStatements,
    read: async (text, values) => ((await ask(text, values)) as Row[]).map(lookupRowOf),
    transactionsName: `${tables.schemaName}.transactions`,
    createIndex: index => createIndex(tables, index, 'CONCURRENTLY'),
    tieBreaker: [
      ['operation', ''],
      ['transaction_id', ''],
    ],
  })
}

function lookupRowOf(row: Row): LookupRow {
  return {
    account:
      row.p_currency == null
        ? null
        : { currency: row.p_currency, balance: row.p_balance ?? '', reserved: row.p_reserved ?? null },
    bet:
      row.b_bet_id == null
        ? null
        : Object.fromEntries(lookedUpBetColumns.map(column => [column, row[`b_${column}`]])),
    transaction: row.transaction_id == null ? null : row,
  }
}
