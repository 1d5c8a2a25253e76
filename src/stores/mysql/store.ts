/** `createMysqlStore`: the contract over MySQL and MariaDB, with many requests in one statement. */

import { notify } from '../../hooks.js'
import { columnsOf } from '../database/columns.js'
import { createDatabaseStore, type DatabaseStore } from '../database/store.js'
import {
  type DatabaseStoreOptions,
  databaseStoreOptionNames,
  databaseStoreSettings,
} from '../database/store-options.js'
import { checkServers } from './check.js'
import { connectionsFrom } from './client.js'
import { createCommitter } from './commits.js'
import { ConfirmedRecords } from './confirmed-records.js'
import type { MysqlClient } from './driver.js'
import { readDurability } from './durability.js'
import { check, classify, describeError, errors, ruleProblem } from './errors.js'
import { createReaders } from './loads.js'
import { checkWritable } from './server-state.js'
import { type MysqlTables, tablesOf } from './tables.js'

export interface MysqlStoreOptions extends MysqlTables, DatabaseStoreOptions {}

/** The store. `ready` and `ping` throw a `StoreError`. */
export interface MysqlStore extends DatabaseStore {
  /**
   * Ends a stop: no server that answers has a transaction that this store has answered as committed, and its
   * loss is accepted. From now on the store asks the server that it reaches. Reconcile afterwards.
   */
  readonly acceptLoss: () => void
  /**
   * Also the transaction that no server has that answers, `placebet t-1`: calls are unavailable; `null`:
   * there is none.
   */
  readonly stats: DatabaseStore['stats'] & { readonly missingTransaction: string | null }
}

/**
 * Creates a store over MySQL or MariaDB. Run {@link migrateMysql} with the same options before.
 *
 * @param client a pool of mysql2, with promises or callbacks; for a cluster a list of them, one per server,
 *   the preferred one first. The pools are for the store alone
 * @throws {StoreError} `INVALID_OPTIONS` or `UNSUPPORTED_CLIENT`. Problems of the database are
 *   reported by `ready`
 */
export function createMysqlStore(client: MysqlClient, options: MysqlStoreOptions = {}): MysqlStore {
  const tables = tablesOf(options, databaseStoreOptionNames)
  const settings = databaseStoreSettings(check, options)
  if (settings.queue.batchMax > batchMaxMost)
    check.invalid(`batchMax must be a whole number from 1 to ${batchMaxMost}`)
  const records = new ConfirmedRecords(tables)
  const connections = connectionsFrom(client, settings, records)

  const store = createDatabaseStore({
    tables,
    settings,
    errors,
    classify,
    ruleProblem,
    async check() {
      const column = await checkServers(connections, tables, settings.allowNotDurable)
      return { columns: columnsOf(tables.players, column, check), column }
    },
    async ping() {
      notify('A look at idle servers', () => connections.servers.look())
      return await connections.onAny(async database => {
        await checkWritable(database)
        return await readDurability(database)
      })
    },
    describeError,
    ...createReaders(connections, tables),
    ...createCommitter(connections, tables),
    valueStart,
    retryUnknown: connections.servers.hasSeveral,
    onConfirmed: (changes, answer) => records.confirm(changes, answer),
  })
  return {
    ...store,
    get stats() {
      return { ...store.stats, missingTransaction: records.missing }
    },
    acceptLoss: () => records.acceptLoss(),
  }
}

/** The items of a batch are rows of a table in memory, which the server limits (`max_heap_table_size`). */
const batchMaxMost = 1_000

/** A text or a number in a statement: not a name in backticks. */
const valueStart = /['"]|(?<![\w$.`])\d/
