/** The contract over a database: wires the check at start, loads and commits. */
import type { QueueStats } from '../../batches/index.js'
import type { CommitResult, WalletChanges, WalletKeys, WalletStore } from '../../store.js'
import type { BalanceColumn, Columns } from './columns.js'
import { type CommitSettings, Commits } from './commits.js'
import { type MakeError, unavailableFor } from './errors.js'
import { createLoads, type LoadSettings } from './loads.js'
import { notRepresentable } from './refusals.js'
import { StartCheck } from './start-check.js'

export interface DatabaseStore extends WalletStore {
  loadConfirmed: NonNullable<WalletStore['loadConfirmed']>
  /**
   * Checks client, server, schema, options and players' table. Call it at start; otherwise the first request
   * does it, and fails with the same error. Each call checks again: after an error that is fixed, after a
   * migration.
   *
   * @throws the problem as `code`; the message says what to do
   */
  ready(): Promise<void>
  /**
   * For health checks: asks the database now whether it can be reached and written to, in one small statement
   * and within `timeoutMs`. It does not check what `ready` checks.
   *
   * @throws `UNAVAILABLE`: not reachable, a standby, or read-only; the message says why
   */
  ping(): Promise<void>
  /**
   * Metrics: requests that are queued or in flight, or were shed. `confirmedLoads`: refusals and replays that
   * wait for the proof that the server is the primary. `lockWaits`: commits that wait for the row lock of a
   * player.
   */
  readonly stats: Record<'loads' | 'confirmedLoads' | 'commits' | 'lockWaits', QueueStats>
}

/** The results of the check of the database. */
export interface Found {
  columns: Columns
  column: BalanceColumn
}

/** What a database does differently. */
export interface DatabaseParts
  extends Omit<CommitSettings, 'columns' | 'execute'>,
    Omit<LoadSettings, 'kind' | 'columns' | 'read'> {
  check(): Promise<Found>
  ping(): Promise<void>
  read: LoadSettings['read']
  readConfirmed: LoadSettings['read']
  execute(
    entries: Parameters<CommitSettings['execute']>[0],
    found: Found,
  ): ReturnType<CommitSettings['execute']>
}

export function createDatabaseStore(parts: DatabaseParts): DatabaseStore {
  const database = new StartCheck(parts.check)
  const columns = () => database.found.columns
  const { queue, read, readConfirmed, classify, errors } = parts
  const loads = createLoads({ kind: 'load', queue, columns, read, classify, errors })
  const confirmedLoads = createLoads({
    kind: 'load-confirmed',
    queue,
    columns,
    classify,
    errors,
    read: readConfirmed,
  })
  const commits = new Commits({
    ...parts,
    columns,
    execute: entries => parts.execute(entries, database.found),
  })
  const load = async (batches: typeof loads, keys: WalletKeys) => {
    if (!database.isChecked) await database.check()
    return await batches.submit(keys)
  }

  return {
    contractVersion: 1,

    async ready() {
      await database.check()
    },

    ping: parts.ping,
    load: keys => load(loads, keys),
    loadConfirmed: keys => load(confirmedLoads, keys),

    async commit(changes) {
      try {
        if (!database.isChecked) await database.check()
      } catch (error) {
        // Nothing was done. After a conflict the core loads, and the load reports the problem.
        const isUnavailable = (error as { code?: unknown } | null)?.code === 'UNAVAILABLE'
        return isUnavailable ? unavailableFor(error) : { status: 'conflict' }
      }
      return resultWithoutDatabase(changes, columns(), errors.make) ?? (await commits.submit(changes))
    },

    get stats() {
      return {
        loads: loads.stats,
        confirmedLoads: confirmedLoads.stats,
        commits: commits.stats,
        lockWaits: commits.lockWaitStats,
      }
    },
  }
}

/**
 * The result of a commit that cannot succeed, or `null`.
 *
 * @throws `AMOUNT_NOT_REPRESENTABLE`
 */
function resultWithoutDatabase(
  changes: WalletChanges,
  columns: Columns,
  makeError: MakeError,
): CommitResult | null {
  const { transaction, balance } = changes
  if (balance !== null) {
    if (!columns.hasCurrency(balance.currency)) return { status: 'conflict' } // no player has it
    if (columns.toColumn(balance.delta, balance.currency) === null)
      return notRepresentable(changes, makeError)
  }
  // No row of the players' table has such an id.
  return columns.idOf(transaction.playerId) === null ? { status: 'conflict' } : null
}
