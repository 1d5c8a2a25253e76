/** `createPostgresLookups`: what happened to a bet, a transaction, a player. Read only. */
import type { WalletLookups } from '../../lookups/records.js'
import { QueryFailed } from '../database/deadline.js'
import {
  createDatabaseLookups,
  type LookupOptions,
  type LookupQuery,
  type LookupRow,
  lookupOptionNames,
} from '../database/lookups.js'
import type { Row } from '../database/rows.js'
import { type Connections, connectionsFrom, type PostgresClient } from './client.js'
import { serverErrorOf } from './driver-errors.js'
import { check, errors, startError, storeError } from './errors.js'
import { withLockTimeout } from './lock-timeout.js'
import { migratedWith } from './migrated-with.js'
import {
  betStatement,
  createIndex,
  lookedUpBetColumns,
  owedStatement,
  playerStatement,
  timeStatement,
  transactionStatement,
} from './sql/lookups.js'
import { type PostgresTables, type Tables, tablesOf } from './tables.js'
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
  const statement = withLockTimeout(connections, statementMs)
  const ask: Connections['statement'] = async (text, values) => {
    try {
      return await statement(text, values)
    } catch (error) {
      throw lookupError(error, tables)
    }
  }
  return createDatabaseLookups({
    check,
    makeError: errors.make,
    options,
    tables,
    transactionsTable: () => transactionsTableOf(ask, tables),
    registeredTables: async () => tablesOf(await migratedWith(ask, tables)),
    readerOf: opened => readerOf(ask, opened),
    describeIndex: index => ({
      table: `${tables.schemaName}.transactions`,
      statement: createIndex(tables, index, 'CONCURRENTLY'),
    }),
    tieBreakerOf: ({ operation, transaction_id: transactionId }) => [operation ?? '', transactionId ?? ''],
    lowestTieBreaker: ['', ''],
  })
}

function readerOf(ask: Connections['statement'], tables: Tables) {
  const statements = {
    bet: betStatement(tables),
    transaction: transactionStatement(tables),
    owed: owedStatement(tables),
    player: playerStatement(tables),
    time: timeStatement(tables),
  }
  return async (query: LookupQuery) =>
    ((await ask(statements[query.of], valuesOf(query))) as Row[]).map(lookupRowOf)
}

function valuesOf(query: LookupQuery): unknown[] {
  switch (query.of) {
    case 'bet':
      return [query.betId]
    case 'transaction':
      return [query.transactionId]
    case 'owed':
      return []
    case 'player':
      return [query.playerKey, query.playerId, query.from, query.to, ...query.before, query.limit]
    case 'time':
      return [...query.after, query.to, query.limit]
  }
}

function lookupRowOf(row: Row): LookupRow {
  return {
    player:
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

/** What the server or the driver has reported, in words. */
function lookupError(error: unknown, { schema, schemaName }: Tables): unknown {
  if (!(error instanceof QueryFailed)) return error
  const { cause } = error
  const { code, message } = serverErrorOf(cause) ?? { code: '', message: '' }
  if (code === '42501') {
    return storeError(
      'INSUFFICIENT_PRIVILEGE',
      `This role lacks privileges (${message}). Lookups need USAGE ON SCHEMA ${schema} and on the schema of the ` +
        `players' table; SELECT ON ${schema}.transactions, ${schema}.bets, ${schema}.options; SELECT on id, currency ` +
        "and balance of the players' table",
      { cause },
    )
  }
  if (code === '3F000') {
    return storeError('SCHEMA_MISSING', `The schema ${schemaName} does not exist`, { cause })
  }
  if (code === '42P01' || code === '42703') {
    return storeError(
      'INVALID_PLAYERS_TABLE',
      `The players' table does not exist as the options name it (${message})`,
      { cause },
    )
  }
  return startError(cause)
}
