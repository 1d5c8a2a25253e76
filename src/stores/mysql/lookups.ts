/** `createMysqlLookups`: what happened to a bet, a transaction, a player. Read only. */
import type { WalletLookups } from '../../lookups/records.js'
import { QueryFailed } from '../database/deadline.js'
import {
  createDatabaseLookups,
  type LookupOptions,
  type LookupQuery,
  lookupOptionNames,
} from '../database/lookups.js'
import { connectionsFrom } from './client.js'
import type { MysqlClient } from './driver.js'
import { check, errors, serverErrorOf, startError, storeError } from './errors.js'
import { migratedWith } from './migrated-with.js'
import { lookupRowOf, type Values } from './rows.js'
import {
  betStatement,
  createIndex,
  owedStatement,
  playerStatement,
  timeStatement,
  transactionStatement,
} from './sql/lookups.js'
import { type MysqlTables, type Tables, tablesOf } from './tables.js'
import { transactionsTableOf } from './transactions-table.js'

export interface MysqlLookupOptions extends MysqlTables, LookupOptions {}

/** For one statement, in milliseconds. */
const statementMs = 120_000

type Ask = (text: string, values: unknown[]) => Promise<readonly Values[]>

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
  const ask: Ask = async (text, values) => {
    try {
      return await connections.read(text, values)
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
    readerOf: opened => async query => {
      const [text, values] = statementOf(opened, query)
      return (await ask(text, values)).map(lookupRowOf)
    },
    describeIndex: index => ({
      table: `${tables.schemaName}.wallet_transactions`,
      statement: createIndex(tables, index),
    }),
    tieBreakerOf: ({ id }) => [id ?? ''],
    lowestTieBreaker: ['0'],
  })
}

const dateTimeOf = (time: string) => time.replace('T', ' ')

function statementOf(tables: Tables, query: LookupQuery): [text: string, values: unknown[]] {
  switch (query.of) {
    case 'bet':
      return [betStatement(tables), [JSON.stringify([query.betId])]]
    case 'transaction':
      return [transactionStatement(tables), [query.transactionId]]
    case 'owed':
      return [owedStatement(tables), []]
    case 'player': {
      const { playerKey, playerId, limit } = query
      const [from, to] = [dateTimeOf(query.from), dateTimeOf(query.to)]
      const [at, id] = query.before
      const before = [dateTimeOf(at), dateTimeOf(at), id]
      return [playerStatement(tables, limit), [JSON.stringify([playerKey]), playerId, from, to, ...before]]
    }
    case 'time': {
      const [at, id] = query.after
      const after = [dateTimeOf(at), dateTimeOf(at), id]
      return [timeStatement(tables, query.limit), [...after, dateTimeOf(query.to)]]
    }
  }
}

/** What the server or the driver has reported, in words. */
function lookupError(error: unknown, { schema, players }: Tables): unknown {
  if (!(error instanceof QueryFailed)) return error
  const { cause } = error
  const { number, message } = serverErrorOf(cause) ?? { number: 0, message: '' }
  if ([1044, 1142, 1143, 1227].includes(number)) {
    return storeError(
      'INSUFFICIENT_PRIVILEGE',
      `This user lacks privileges (${message}). Lookups need SELECT ON ${schema}.wallet_transactions and ` +
        `${schema}.wallet_bets; SELECT on the three columns of ${players.own ? "the players' table" : players.table}`,
      { cause },
    )
  }
  if (number === 1054 || number === 1146) {
    return storeError(
      'INVALID_PLAYERS_TABLE',
      `The players' table does not exist as the options name it (${message})`,
      { cause },
    )
  }
  return startError(cause)
}
