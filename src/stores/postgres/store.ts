/** `createPostgresStore`: the contract over PostgreSQL, with many requests in one statement. */
import { QueryFailed } from '../database/deadline.js'
import { createDatabaseStore, type DatabaseStore } from '../database/store.js'
import {
  type DatabaseStoreOptions,
  databaseStoreOptionNames,
  databaseStoreSettings,
} from '../database/store-options.js'
import { checkDatabase } from './check.js'
import { checkClient, ping } from './check-client.js'
import { connectionsFrom, type PostgresClient } from './client.js'
import { createCommitter } from './commits.js'
import { describeError } from './driver-errors.js'
import { check, classify, errors, ruleProblem, startError } from './errors.js'
import { withoutHangingCommits } from './hanging-commits.js'
import { createReaders } from './loads.js'
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
  const { timeoutMs, allowNotDurable, withinTransaction } = settings
  const transactions = withinTransaction !== undefined
  const connections = connectionsFrom(client, { timeoutMs, transactions, durable: !allowNotDurable })
  const committing = withoutHangingCommits(connections, timeoutMs)
  const timelines = new Timelines()
  return createDatabaseStore({
    tables,
    settings,
    errors,
    classify: error => classify(error, tables.schemaName),
    ruleProblem,
    async check() {
      try {
        await checkClient(connections, transactions)
        return await checkDatabase(connections.statement, tables, allowNotDurable)
      } catch (error) {
        throw error instanceof QueryFailed ? startError(error.cause) : error
      }
    },
    ping: () => ping(connections, committing, timelines),
    describeError,
    ...createReaders(connections, committing, timelines, tables, settings),
    ...createCommitter(committing, timelines, tables, settings),
    valueStart,
    // The client has one address: the same commit would most likely meet the same server.
    retryUnknown: false,
  })
}

/** A text or a number in a statement: not a name in double quotes, nor a parameter. */
const valueStart = /'|\$(?!\d)|(?<![\w$."])\d/
