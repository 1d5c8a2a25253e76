/** `createMysqlLookups`: what happened to a bet, a transaction, a player. Read only. */
import type { WalletLookups } from '../../lookups/records.js'
import {
  askForLookups,
  createDatabaseLookups,
  type LookupOptions,
  lookupOptionNames,
} from '../database/lookups.js'
import { connectionsFrom } from './client.js'
import type { MysqlClient } from './driver.js'
import { check, errors, hasNumber, statementErrors } from './errors.js'
import { migratedWith } from './migrated-with.js'
import { lookupRowOf } from './rows.js'
import { createIndex, lookupStatements } from './sql/lookups.js'
import { rightsOf } from './sql/rights.js'
import { type MysqlTables, tablesOf } from './tables.js'
import { transactionsTableOf } from './transactions-table.js'

export interface MysqlLookupOptions extends MysqlTables, LookupOptions {}

/** For one statement, in milliseconds. */
const statementMs = 120_000

/**
 * Creates lookups over the tables of the store. They only read, also from a replica: a user with SELECT is
 * enough. All but `transaction` need an index: migrate with `lookupIndexes: true`.
 *
 * @param client as for the store
 * @param options those of the store. Without `players`, they are read from the procedures of
 *   the schema, where the migration has registered them; that needs EXECUTE on one of them
 * @throws {StoreError} `INVALID_OPTIONS` or `UNSUPPORTED_CLIENT`; each lookup rejects with the problems of
 *   the database, and with `INVALID_OPTIONS` for an invalid id, page or time
 */
export function createMysqlLookups(client: MysqlClient, options: MysqlLookupOptions = {}): WalletLookups {
  const tables = tablesOf(options, lookupOptionNames)
  const connections = connectionsFrom(client, { timeoutMs: statementMs, lockTimeoutMs: statementMs })
  const ask = askForLookups(
    connections.read,
    { ...statementErrors, isMissing: cause => hasNumber(cause, 1054, 1146) },
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
    read: async (text, values) => (await ask(text, values)).map(lookupRowOf),
    transactionsName: `${tables.schemaName}.wallet_transactions`,
    createIndex: index => createIndex(tables, index),
    tieBreaker: [['id', '0']],
  })
}
