/** The options that every store over a database has. */
import type { OptionChecks } from '../../option-checks.js'
import type { PendingCommit, Query } from './within-transaction.js'

export interface DatabaseStoreOptions {
  /**
   * Writes your own rows in the same database transaction: a ledger entry, the odds of `changes.request`.
   * Called once per database transaction, before COMMIT, with all requests that share it, at most one of each
   * player, including recorded refusals (`changes.transaction.refusal`).
   *
   * If it fails, no changes were made: each request is retried without the others, and then unavailable. It
   * may be called again for the same request. **Run statements by `query` only, and await each:** another
   * connection waits for rows that the store holds, and what it writes stays. **Only INSERT, and no other
   * player's row.** It needs a client that lends connections: a pool, or PGlite.
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
   * Maximum number of requests queued in this process, for `load`, `loadConfirmed` and `commit` each, and
   * half as many placebets beside them; more are shed at once: 503. Commits of one player take at most half
   * of either.
   * @default 10_000
   */
  queueMax?: number
  /**
   * Maximum number of connections for `load`, for `loadConfirmed`, for `commit` and for lock waits, each.
   * Size the pool for four times this number, plus the connections that your own code needs.
   * @default 2
   */
  connectionsMax?: number
  /**
   * Starts although `ready` would throw `NOT_DURABLE`: a crash or a failover may lose answered transactions.
   * For tests, and for hosted servers that are durable by other means than the settings that `ready` checks,
   * as their provider states.
   * @default false
   */
  allowNotDurable?: boolean
  /**
   * `'synchronous'`: decisions are unavailable (503) while the server does not prove that a commit reaches
   * another server before its answer (docs/operations.md#durability).
   * @default none
   */
  requireDurability?: 'synchronous'
}

export const databaseStoreOptionNames = [
  'withinTransaction',
  'timeoutMs',
  'lockTimeoutMs',
  'batchMax',
  'queueMax',
  'connectionsMax',
  'allowNotDurable',
  'requireDurability',
]

export type DatabaseStoreSettings = ReturnType<typeof databaseStoreSettings>

/** @throws `INVALID_OPTIONS`, naming the option */
export function databaseStoreSettings(check: OptionChecks, options: DatabaseStoreOptions) {
  const { withinTransaction, requireDurability } = options
  check.func('withinTransaction', withinTransaction)
  if (requireDurability !== undefined) check.oneOf('requireDurability', requireDurability, ['synchronous'])
  const allowNotDurable = check.boolean('allowNotDurable', options.allowNotDurable ?? false)
  if (allowNotDurable && requireDurability !== undefined)
    check.invalid('requireDurability and allowNotDurable exclude each other')
  const timeoutMs = check.whole('timeoutMs', options.timeoutMs ?? 10_000, 1, 3_600_000)
  return {
    withinTransaction,
    allowNotDurable,
    requireDurability: requireDurability !== undefined,
    timeoutMs,
    lockTimeoutMs: check.whole('lockTimeoutMs', options.lockTimeoutMs ?? 2_000, 1, 3_600_000),
    queue: {
      batchMax: check.whole('batchMax', options.batchMax ?? 128, 1, 10_000),
      queueMax: check.whole('queueMax', options.queueMax ?? 10_000, 2, 1_000_000),
      slotsMax: check.whole('connectionsMax', options.connectionsMax ?? 2, 1, 1_000),
      queuedMsMax: timeoutMs,
    },
  }
}
