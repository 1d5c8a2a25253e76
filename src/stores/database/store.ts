/** The contract over a database: wires the check at start, loads and commits. */

import type { QueueStats } from '../../batches/index.js'
import { fieldOf } from '../../foreign-values.js'
import type { CommitResult, WalletChanges, WalletKeys, WalletStore } from '../../store.js'
import type { BalanceColumn, Columns } from './columns.js'
import { type CommitSettings, Commits } from './commits.js'
import { type Durability, DurabilityGauge } from './durability.js'
import { type MakeError, unavailableFor } from './errors.js'
import { createLoads, type LoadSettings } from './loads.js'
import { notRepresentable } from './refusals.js'
import type { CommitRow } from './rows.js'
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
   * For health checks: asks the database now whether it can be reached and written to, within `timeoutMs`,
   * and reads the durability. It does not check what `ready` checks.
   *
   * @throws `UNAVAILABLE`: not reachable, a standby, a former primary, read-only, or less durable than
   *   `requireDurability`, or a commit hangs; the message says why
   */
  ping(): Promise<Durability>
  /**
   * Metrics: requests that are queued or in flight, or were shed. `confirmedLoads`: refusals and replays that
   * wait for the proof that the server is the primary. `lockWaits`: commits that wait for the row lock of a
   * player. `durability`: as `ready` or `ping` has read it last; `null` before. `outbox`: the option, for an
   * alert when no relay runs.
   */
  readonly stats: Record<'loads' | 'confirmedLoads' | 'commits' | 'lockWaits', QueueStats> & {
    readonly durability: Durability | null
    readonly outbox: boolean
  }
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
  /** @throws `UNAVAILABLE` */
  ping(): Promise<Durability>
  requireDurability: boolean
  read: LoadSettings['read']
  readConfirmed: LoadSettings['read']
  execute(entries: Executed, found: Found): ReturnType<CommitSettings['execute']>
  /** Called with what `execute` has returned, when the commits are certain. */
  onConfirmed?(entries: Executed, rows: readonly CommitRow[]): void
}

type Executed = Parameters<CommitSettings['execute']>[0]

export function createDatabaseStore(parts: DatabaseParts): DatabaseStore {
  const { queue, read, classify, errors, players } = parts
  const gauge = new DurabilityGauge({
    ask: parts.ping,
    isRequired: parts.requireDurability,
    makeError: errors.make,
  })
  const database = new StartCheck(async () => {
    const found = await parts.check()
    await gauge.read()
    return found
  })
  const columns = () => database.found.columns
  const shared = { queue, columns, classify, errors, players }
  const loads = createLoads({ ...shared, kind: 'load', read })
  const readConfirmed = gauge.guarded(parts.readConfirmed, false)
  const confirmedLoads = createLoads({ ...shared, kind: 'load-confirmed', read: readConfirmed })
  const execute = gauge.guarded((entries: Executed) => parts.execute(entries, database.found), true)
  const commits = new Commits({
    ...parts,
    columns,
    async execute(entries) {
      const rows = await execute(entries)
      parts.onConfirmed?.(entries, rows)
      return rows
    },
  })
  const load = async (batches: typeof loads, keys: WalletKeys) => {
    if (!database.isChecked) await database.check()
    return await batches.submit(keys)
  }

  return {
    contractVersion: 2,

    async ready() {
      await database.check()
    },

    async ping() {
      const durability = await gauge.read()
      gauge.mustHold()
      return durability
    },

    load: keys => load(loads, keys),
    loadConfirmed: keys => load(confirmedLoads, keys),

    async commit(changes) {
      try {
        if (!database.isChecked) await database.check()
      } catch (error) {
        // Nothing was done. After a conflict the core loads, and the load reports the problem.
        const isUnavailable = fieldOf(error, 'code') === 'UNAVAILABLE'
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
        durability: gauge.last,
        outbox: parts.outbox,
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
