/** `createPostgresStore`: the contract over PostgreSQL, with many requests in one statement. */
import { columnsOf } from '../database/columns.js'
import { QueryFailed } from '../database/deadline.js'
import { createDatabaseStore, type DatabaseStore, type Found } from '../database/store.js'
import {
  type DatabaseStoreOptions,
  databaseStoreOptionNames,
  databaseStoreSettings,
} from '../database/store-options.js'
import { checkDatabase } from './check.js'
import { checkClient, ping } from './check-client.js'
import { type Connections, connectionsFrom, type PostgresClient } from './client.js'
import { createCommitter } from './commits.js'
import { check, classify, errors, ruleProblem, startError } from './errors.js'
import { withoutHangingCommits } from './hanging-commits.js'
import { createConfirmedReader, createReader } from './loads.js'
import { type PostgresTables, tablesOf } from './tables.js'
import { Timelines } from './timeline.js'

export interface PostgresStoreOptions extends PostgresTables, DatabaseStoreOptions {}

/** The store. `ready` and `ping` throw a `StoreError`. */
export interface PostgresStore extends DatabaseStore {}

/**
 * Creates a store over PostgreSQL. Run {@link migratePostgres} with the same options before.
 *
 * @param client a `Pool` of pg, a PGlite, or anything else with `query(text, values)`
 * @throws {StoreError} `INVALID_OPTIONS` or `UNSUPPORTED_CLIENT`. Problems of the database are
 *   reported by `ready`
 */
export function createPostgresStore(
  client: PostgresClient,
  options: PostgresStoreOptions = {},
): PostgresStore {
  const tables = tablesOf(options, databaseStoreOptionNames)
  const settings = databaseStoreSettings(check, options)
  const { timeoutMs, lockTimeoutMs, withinTransaction, allowNotDurable, requireDurability, queue } = settings
  const transactions = withinTransaction !== undefined
  const durable = !allowNotDurable
  const connections = connectionsFrom(client, { timeoutMs, transactions, durable })
  const committing = withoutHangingCommits(connections, timeoutMs)
  const timelines = new Timelines()
  let hasTriggers = false
  let everyRow = false

  async function checkStart(): Promise<Found> {
    try {
      await checkClient(connections, transactions)
      const ask: Connections['statement'] = (text, values) => connections.statement(text, values)
      const { column, ...found } = await checkDatabase(ask, tables, allowNotDurable)
      hasTriggers = found.hasTriggers
      everyRow = found.everyRow
      return { columns: columnsOf(tables.players, column, check), column }
    } catch (error) {
      throw error instanceof QueryFailed ? startError(error.cause) : error
    }
  }

  const loading = { connections, tables, timelines, timeoutMs, everyRow: () => everyRow }
  return createDatabaseStore({
    queue,
    lockTimeoutMs,
    errors,
    classify: error => classify(error, tables.schemaName),
    check: checkStart,
    ping: () => ping(connections, committing, timelines),
    requireDurability,
    players: tables.players,
    read: createReader(loading),
    readConfirmed: createConfirmedReader({ ...loading, connections: committing }, durable),
    execute: createCommitter({
      connections: committing,
      tables,
      timelines,
      timeoutMs,
      lockTimeoutMs,
      withinTransaction,
      durable,
      hasTriggers: () => hasTriggers,
    }),
    ruleProblem,
    // The client has one address: the same commit would most likely meet the same server.
    retryUnknown: false,
    outbox: tables.outbox,
  })
}
