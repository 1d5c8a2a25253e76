/** The contract over a database: wires the check at start, loads and commits. */

import type { QueueStats } from '../../batches/index.js'
import { fieldOf } from '../../foreign-values.js'
import { sharing } from '../../sharing.js'
import type { CommitResult, WalletChanges, WalletKeys, WalletStore } from '../../store.js'
import type { BalanceColumn, Columns } from './columns.js'
import { type CommitSettings, Commits } from './commits.js'
import { QueryFailed } from './deadline.js'
import { type Durability, DurabilityGauge } from './durability.js'
import { type MakeError, StoreError, unavailableFor } from './errors.js'
import { createLoads } from './loads.js'
import { OperatorHook } from './operator-hook.js'
import { notRepresentable } from './refusals.js'
import type { CommitAnswer, LoadRow } from './rows.js'
import type { DatabaseStoreSettings } from './store-options.js'
import type { Tables } from './tables.js'
import type { CommitEntry, Query } from './within-transaction.js'

export interface DatabaseStore extends WalletStore {
  loadConfirmed: NonNullable<WalletStore['loadConfirmed']>
  /**
   * Checks client, server, schema, options and players' table. Call it at start; otherwise the first request
   * does it, and fails with the same error. Each call checks again: after an error that is fixed, after a
   * migration.
   *
   * @throws the problem as `code`; the message says what to do
   */
  readonly ready: () => Promise<void>
  /**
   * For health checks: asks the database now whether it can be reached and written to, within `timeoutMs`,
   * and reads the durability. It does not check what `ready` checks.
   *
   * @throws `UNAVAILABLE`: not reachable, a standby, a former primary, read-only, or less durable than
   *   `requireDurability`, or a commit hangs; the message says why
   */
  readonly ping: () => Promise<Durability>
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
export interface Findings {
  columns: Columns
  column: BalanceColumn
}

/** Reads the records of keys. @throws {QueryFailed} */
type Read<More> = (keys: readonly WalletKeys[], found: More) => Promise<readonly LoadRow[]>

/** How a database commits. @throws {QueryFailed} */
export interface Committer<More extends Findings> {
  /** In one statement, which is a database transaction of its own. */
  commit(items: readonly WalletChanges[], found: More): Promise<CommitAnswer>
  /** In one database transaction, with what `callHook` writes before the COMMIT. */
  commitWith(
    callHook: (query: Query, answer: CommitAnswer) => Promise<void>,
    items: readonly WalletChanges[],
    found: More,
  ): Promise<CommitAnswer>
}

/** What a database does differently. */
export interface DatabaseParts<More extends Findings = Findings>
  extends Committer<More>,
    Pick<CommitSettings, 'classify' | 'errors' | 'ruleProblem' | 'retryUnknown'> {
  tables: Tables
  settings: DatabaseStoreSettings
  check(): Promise<More>
  /** Rejects where the database cannot be reached, or must not be written to. */
  ping(): Promise<Durability>
  /** The error of a driver, or of the server, in words. */
  describeError(error: unknown): string
  read: Read<More>
  readConfirmed: Read<More>
  /** Where a value begins that a hook has written into the text of a statement. */
  valueStart: RegExp
  /** Called when commits are certain, with the very answer that `commit` or `commitWith` has returned. */
  onConfirmed?(items: readonly WalletChanges[], answer: CommitAnswer): void
}

export function createDatabaseStore<More extends Findings>(parts: DatabaseParts<More>): DatabaseStore {
  const { tables, settings, errors } = parts
  const isRequired = settings.requireDurability
  const gauge = new DurabilityGauge({ ask: () => pingOf(parts), isRequired, makeError: errors.make })
  /** Of the last check that passed. */
  let found: More | null = null
  const check = sharing(async () => {
    const checked = await parts.check()
    await gauge.read()
    found = checked
  })
  /** Called for requests alone, which wait for the check. */
  const known = () => found as More
  const columns = () => known().columns
  const loadsBy = (kind: 'load' | 'load-confirmed', read: Read<More>) =>
    createLoads({ ...parts, ...settings, kind, columns, ...tables, read: keys => read(keys, known()) })
  const loads = loadsBy('load', parts.read)
  const confirmedLoads = loadsBy('load-confirmed', gauge.guarded(parts.readConfirmed, false))
  const commits = new Commits({
    ...parts,
    ...settings,
    outbox: tables.outbox,
    columns,
    players: tables.players,
    execute: executeWith(parts, gauge, known),
  })
  const load = async (batches: typeof loads, keys: WalletKeys) => {
    if (found === null) await check()
    return await batches.submit(keys)
  }

  return {
    contractVersion: 2,
    addsCredits: true,

    async ready() {
      await check()
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
        if (found === null) await check()
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
        outbox: tables.outbox,
      }
    },
  }
}

/** @throws `UNAVAILABLE` */
async function pingOf({
  ping,
  describeError,
  errors,
}: Pick<DatabaseParts, 'ping' | 'describeError' | 'errors'>) {
  try {
    return await ping()
  } catch (error) {
    const cause = error instanceof QueryFailed ? error.cause : error
    if (cause instanceof StoreError && cause.code === 'UNAVAILABLE') throw cause
    throw errors.make('UNAVAILABLE', `The database is unavailable: ${describeError(cause)}`, { cause })
  }
}

/** Decides whether a batch is one statement, or a database transaction with the operator's rows. */
function executeWith<More extends Findings>(
  parts: DatabaseParts<More>,
  gauge: DurabilityGauge,
  known: () => More,
): CommitSettings['execute'] {
  const { settings, errors, valueStart } = parts
  const { withinTransaction } = settings
  const hook = withinTransaction && new OperatorHook(withinTransaction, errors.make, valueStart)
  const execute = gauge.guarded((entries: readonly CommitEntry[], items: readonly WalletChanges[]) => {
    const found = known()
    if (hook === undefined) return parts.commit(items, found)
    return hook.during(call =>
      parts.commitWith((query, answer) => call(query, { entries, ...answer, ...found }), items, found),
    )
  }, true)
  return async entries => {
    const items = entries.map(({ item }) => item)
    const answer = await execute(entries, items)
    parts.onConfirmed?.(items, answer)
    return answer
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
  const { transaction, account } = changes
  if (!columns.hasCurrency(account.currency)) return { status: 'conflict' } // no player has it
  if (columns.toColumn(account.delta, account.currency) === null) return notRepresentable(changes, makeError)
  // No row of the players' table has such an id.
  return columns.idOf(transaction.playerId) === null ? { status: 'conflict' } : null
}
