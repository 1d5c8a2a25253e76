/** `createPostgresStore`: the contract over PostgreSQL, with many requests in one statement. */

import type { QueueStats } from '../../batches/index.js'
import type { Decimal } from '../../money.js'
import type { CommitResult, WalletChanges, WalletStore } from '../../store.js'
import { checkDatabase } from './check.js'
import { checkClient, ping } from './check-client.js'
import { type Connections, connectionsFrom, type PostgresClient, type Query, QueryFailed } from './client.js'
import { type Columns, columnsOf } from './columns.js'
import { createCommits } from './commits.js'
import { PostgresStoreError, startError } from './errors.js'
import { createLoads } from './loads.js'
import { check } from './option-checks.js'
import { notRepresentable } from './refusals.js'
import { type PostgresTables, type Tables, tablesOf } from './tables.js'
import type { PendingCommit } from './within-transaction.js'

export interface PostgresStoreOptions extends PostgresTables {
  /**
   * Writes your own rows in the same database transaction: a ledger entry, an event, the bet with its odds
   * from `changes.request`. Called once per database transaction, before COMMIT, with all requests that share
   * it, including recorded refusals (`changes.transaction.refusal`).
   *
   * If it throws, nothing is committed, and each request is retried without the others. It may be called
   * again for the same request: it must have no effects other than its queries. It needs a client that lends
   * connections: a `Pool` of pg, or PGlite.
   *
   * @param query runs a statement in the database transaction
   * @param pending the requests that are about to be committed
   */
  withinTransaction?(query: Query, pending: readonly PendingCommit[]): Promise<void>
  /**
   * Time limit of a batch in milliseconds, from borrowing a connection to the answer.
   * @default 10_000
   */
  timeoutMs?: number
  /**
   * Time limit in milliseconds for a commit to wait for the row lock of a player.
   * @default 2_000
   */
  lockTimeoutMs?: number
  /**
   * Maximum number of requests in one statement.
   * @default 128
   */
  batchMax?: number
  /**
   * Maximum number of requests queued in this process, for `load`, `loadConfirmed` and `commit` each. More
   * are shed at once: 503. Placebets may fill half of it; the other half is reserved for requests that must not be shed.
   * @default 2_000
   */
  queueMax?: number
  /**
   * Maximum number of connections for `load`, for `loadConfirmed`, for `commit` and for lock waits, each. Size
   * the pool for four times this number, plus the connections that your own code needs.
   * @default 2
   */
  connectionsMax?: number
  /**
   * Starts although `ready` would throw `NOT_DURABLE`: a crash or a failover may lose transactions that were
   * answered. For tests, and for hosted servers that are durable by other means than `fsync`, as their
   * provider states.
   * @default false
   */
  allowNotDurable?: boolean
}

export interface PostgresStore extends WalletStore {
  loadConfirmed: NonNullable<WalletStore['loadConfirmed']>
  /**
   * Checks client, server, schema, options and players' table. Call it at start; otherwise the first request does
   * it, and fails with the same error. Each call checks again: after an error that is fixed, after a migration.
   *
   * @throws {PostgresStoreError} the problem as `code`; the message says what to do
   */
  ready(): Promise<void>
  /**
   * For health checks: asks the database now whether it can be reached and written to, in one small statement
   * and within `timeoutMs`. It does not check what `ready` checks.
   *
   * @throws {PostgresStoreError} `UNAVAILABLE`: not reachable, a standby, or read-only; the message says why
   */
  ping(): Promise<void>
  /**
   * Metrics: requests that are queued or in flight, or were shed. `confirmedLoads`: refusals and replays that
   * wait for the proof that the server is the primary. `lockWaits`: commits that wait for the row lock of a
   * player.
   */
  readonly stats: Record<'loads' | 'confirmedLoads' | 'commits' | 'lockWaits', QueueStats>
}

/**
 * Creates a store over PostgreSQL. Run {@link migratePostgres} with the same options before.
 *
 * @param client a `Pool` of pg, a PGlite, or anything else with `query(text, values)`
 * @throws {PostgresStoreError} `INVALID_OPTIONS` or `UNSUPPORTED_CLIENT`. Problems of the database are
 *   reported by `ready`
 */
export function createPostgresStore(
  client: PostgresClient,
  options: PostgresStoreOptions = {},
): PostgresStore {
  const settings = settingsOf(options)
  const { tables, timeoutMs, lockTimeoutMs, withinTransaction, queue } = settings
  const connections = connectionsFrom(client, timeoutMs, withinTransaction !== undefined)
  const database = createDatabaseCheck(connections, tables, {
    transactions: withinTransaction !== undefined,
    allowNotDurable: settings.allowNotDurable,
  })
  const columns = () => database.found().columns
  const balanceMax = () => database.found().balanceMax
  const loads = createLoads({ connections, tables, queue, columns, confirmed: false })
  const confirmedLoads = createLoads({ connections, tables, queue, columns, confirmed: true })
  const { commits, lockWaits } = createCommits({
    ...{ connections, tables, queue, lockTimeoutMs, withinTransaction, columns, balanceMax },
  })

  return {
    contractVersion: 1,

    async ready() {
      await database.check()
    },

    ping: () => ping(connections),

    async load(keys) {
      if (!database.isChecked()) await database.check()
      return await loads.submit(keys)
    },

    async loadConfirmed(keys) {
      if (!database.isChecked()) await database.check()
      return await confirmedLoads.submit(keys)
    },

    async commit(changes) {
      try {
        if (!database.isChecked()) await database.check()
      } catch (error) {
        // Nothing was done. After a conflict the core loads, and the load reports the problem.
        const isUnavailable = error instanceof PostgresStoreError && error.code === 'UNAVAILABLE'
        return { status: isUnavailable ? 'unavailable' : 'conflict' }
      }
      return resultWithoutDatabase(changes, columns()) ?? (await commits.submit(changes))
    },

    get stats() {
      return {
        loads: loads.stats,
        confirmedLoads: confirmedLoads.stats,
        commits: commits.stats,
        lockWaits: lockWaits.stats,
      }
    },
  }
}

const optionNames = [
  'withinTransaction',
  'timeoutMs',
  'lockTimeoutMs',
  'batchMax',
  'queueMax',
  'connectionsMax',
  'allowNotDurable',
]

/** @throws {PostgresStoreError} `INVALID_OPTIONS`, naming the option */
function settingsOf(options: PostgresStoreOptions) {
  const tables = tablesOf(options, optionNames)
  const { withinTransaction } = options
  if (withinTransaction !== undefined && typeof withinTransaction !== 'function')
    check.invalid('withinTransaction must be a function')
  const timeoutMs = check.whole('timeoutMs', options.timeoutMs ?? 10_000, 1, 3_600_000)
  return {
    tables,
    withinTransaction,
    allowNotDurable: check.boolean('allowNotDurable', options.allowNotDurable ?? false),
    timeoutMs,
    lockTimeoutMs: check.whole('lockTimeoutMs', options.lockTimeoutMs ?? 2_000, 1, 3_600_000),
    queue: {
      batchMax: check.whole('batchMax', options.batchMax ?? 128, 1, 10_000),
      queueMax: check.whole('queueMax', options.queueMax ?? 2_000, 2, 1_000_000),
      slotsMax: check.whole('connectionsMax', options.connectionsMax ?? 2, 1, 1_000),
      queuedMsMax: timeoutMs,
    },
  }
}

/** The results of the check of the database. */
interface Found {
  columns: Columns
  /** The greatest balance that the column holds; `null`: any. */
  balanceMax: Decimal | null
}

/** Checks the database. Calls at the same time share a check; later ones check again. */
function createDatabaseCheck(
  connections: Connections,
  tables: Tables,
  { transactions, allowNotDurable }: { transactions: boolean; allowNotDurable: boolean },
) {
  let found: Found | null = null
  let running: Promise<Found> | null = null

  async function check(): Promise<Found> {
    try {
      await checkClient(connections, transactions)
      const ask: Connections['statement'] = (text, values) => connections.statement(text, values)
      const column = await checkDatabase(ask, tables, allowNotDurable)
      found = { columns: columnsOf(tables.players, column), balanceMax: column.max }
      return found
    } catch (error) {
      throw error instanceof QueryFailed ? startError(error.cause) : error
    } finally {
      running = null
    }
  }

  return {
    isChecked: () => found !== null,
    check() {
      running ??= check()
      return running
    },
    found(): Found {
      if (found === null) throw new Error('The database is not checked yet')
      return found
    },
  }
}

/**
 * The result of a commit that cannot succeed, or `null`.
 *
 * @throws {PostgresStoreError} `AMOUNT_NOT_REPRESENTABLE`
 */
function resultWithoutDatabase(changes: WalletChanges, columns: Columns): CommitResult | null {
  const { transaction, balance } = changes
  if (balance !== null) {
    if (!columns.hasCurrency(balance.currency)) return { status: 'conflict' } // no player has it
    if (columns.toColumn(balance.delta, balance.currency) === null) return notRepresentable(changes, null)
  }
  // No row of the players' table has such an id.
  return columns.idOf(transaction.playerId) === null ? { status: 'conflict' } : null
}
