/**
 * `commit`: many changes in one statement, or in one database transaction with the rows of
 * `withinTransaction`.
 */

import {
  answerEach,
  type Batches,
  bisect,
  createBatches,
  type QueueSettings,
  type QueueStats,
} from '../../batches/index.js'
import type { Decimal } from '../../money.js'
import type { CommitResult, WalletChanges } from '../../store.js'
import { type Connections, classify } from './client.js'
import type { Columns } from './columns.js'
import { type ErrorClass, isConnectionLost, isOutOfRange, noRow, PostgresStoreError } from './errors.js'
import { createLockWaits, type LockWaits } from './lock-waits.js'
import { type FunctionCall, functionCall } from './prepared-statements.js'
import { belowMinimum, notRepresentable } from './refusals.js'
import { type CommitRow, itemOf, itemsOf } from './rows.js'
import type { Tables } from './tables.js'
import {
  type CommitEntry,
  callWithinTransaction,
  RefusedByHook,
  type WithinTransaction,
} from './within-transaction.js'

export interface CommitSettings {
  connections: Connections
  tables: Tables
  queue: QueueSettings
  lockTimeoutMs: number
  withinTransaction: WithinTransaction | undefined
  /** Known before the first changes are submitted. */
  columns(): Columns
  /** The greatest balance that the column holds; `null`: any. */
  balanceMax(): Decimal | null
}

export interface Commits {
  commits: Batches<WalletChanges, CommitResult>
  /** Commits that another writer's lock delays. */
  lockWaits: { readonly stats: QueueStats }
}

interface Context extends CommitSettings {
  /** Commits whose player another writer has locked. */
  lockWaits: LockWaits<WalletChanges, CommitResult>
  /**
   * Commits of a batch that timed out, as it does for the lock of another row: a batch per player, so that no
   * player waits for another.
   */
  alone: Batches<WalletChanges, CommitResult>
  calls: { commit: FunctionCall; commitOne: FunctionCall }
}

/** How a batch is executed. */
interface Attempt {
  /** Whether it is of one player, after a larger batch timed out. */
  alone: boolean
  /** Whether to retry once on another connection when this one is lost. */
  retry: boolean
}

export function createCommits(settings: CommitSettings): Commits {
  const giveUp = (entry: CommitEntry) => entry.resolve({ status: 'unavailable' })
  const shared = {
    ...settings.queue,
    sheddable: ({ transaction }: WalletChanges) => transaction.operation === 'placebet',
    bulk: ({ transaction: { operation } }: WalletChanges) =>
      operation === 'settlement' || operation === 'unsettlement',
    partitionKeyOf: ({ transaction }: WalletChanges) => transaction.playerId,
    uniqueKeysOf: ({ transaction, bet }: WalletChanges) => [
      `${transaction.operation} ${transaction.transactionId}`,
      ...(bet === null ? [] : [`bet ${bet.betId}`]),
    ],
    onShed: giveUp,
    // Most likely the other entry has inserted the id; if not, the core finds out when it reloads and
    // retries.
    onDuplicateKey: (entry: CommitEntry) => entry.resolve({ status: 'conflict' }),
    perform: (entries: readonly CommitEntry[]) => perform(context, entries, { alone: false, retry: true }),
  }
  const commits: Commits['commits'] = createBatches(shared)
  const lockWaits = createLockWaits<WalletChanges, CommitResult>({
    ...shared,
    lockTimeoutMs: settings.lockTimeoutMs,
    onGivenUp: giveUp,
  })
  const alone: Context['alone'] = createBatches({
    ...shared,
    onePartitionPerBatch: true,
    perform: entries => perform(context, entries, { alone: true, retry: true }),
  })
  const context: Context = { ...settings, lockWaits, alone, calls: callsOf(settings.tables) }
  const stats = (name: keyof QueueStats) => lockWaits.stats[name] + alone.stats[name]
  return {
    commits,
    lockWaits: {
      get stats() {
        return { queued: stats('queued'), inFlight: stats('inFlight'), shed: stats('shed') }
      },
    },
  }
}

async function perform(context: Context, entries: readonly CommitEntry[], attempt: Attempt): Promise<void> {
  let rows: CommitRow[]
  try {
    rows = await execute(context, entries)
  } catch (error) {
    return await recover(context, entries, attempt, error)
  }
  const alone: CommitEntry[] = []
  answerEach(entries, rows, {
    indexOf: row => row.item_index,
    answer(entry, row) {
      // Other items of the same player, judged before it, may be the cause: it is retried alone.
      if (row.verdict === 'out-of-range' && entries.length > 1) alone.push(entry)
      else answer(context, entry, row)
    },
    missing: noRow,
  })
  for (const entry of alone) await perform(context, [entry], { ...attempt, retry: true })
}

/** @throws {QueryFailed} */
async function execute(context: Context, entries: readonly CommitEntry[]): Promise<CommitRow[]> {
  const { connections, calls, lockTimeoutMs, withinTransaction } = context
  const columns = context.columns()
  const items = entries.map(({ item }) => item)
  const settings = [context.balanceMax(), lockTimeoutMs]
  const [first] = items
  const [call, values] =
    first !== undefined && items.length === 1
      ? [calls.commitOne, [itemOf(first, columns), ...settings]]
      : [calls.commit, [itemsOf(items, columns), ...settings]]
  if (withinTransaction === undefined) return (await connections.call(call, values)) as CommitRow[]
  return await connections.transaction(async query => {
    const rows = (await query(call.text, values)).rows as CommitRow[]
    await callWithinTransaction(withinTransaction, query, { entries, rows, columns })
    return rows
  })
}

function callsOf(tables: Tables): Context['calls'] {
  const columns = 'item_index, verdict, currency, balance, wallet_transaction_id'
  return {
    commit: functionCall(tables, { name: 'commit', columns, values: 3 }),
    commitOne: functionCall(tables, { name: 'commit_one', columns, values: 3 }),
  }
}

/** @throws {PostgresStoreError} `AMOUNT_NOT_REPRESENTABLE` */
function answer(context: Context, entry: CommitEntry, row: CommitRow): void {
  const { verdict, currency, balance, wallet_transaction_id: walletTransactionId } = row
  if (verdict === 'committed') {
    const balanceAfter = context.columns().fromColumn(balance ?? '', currency ?? '')
    entry.resolve({ status: 'committed', balance: balanceAfter, walletTransactionId })
  } else if (verdict === 'out-of-range') {
    entry.resolve(notRepresentable(entry.item, null))
  } else if (verdict === 'busy') {
    context.lockWaits.wait(entry)
  } else {
    entry.resolve({ status: 'conflict' })
  }
}

/** After a whole batch has failed: retries the entries that may succeed, and answers the others. */
async function recover(
  context: Context,
  entries: readonly CommitEntry[],
  attempt: Attempt,
  error: unknown,
): Promise<void> {
  const { kind, cause, timedOut } = classify(error)
  const retry = (some: readonly CommitEntry[]) => perform(context, some, { ...attempt, retry: true })
  if (cause instanceof RefusedByHook) {
    for (const [entry, refusal] of cause.refusals) entry.resolve(refusal)
    const others = entries.filter(entry => !cause.refusals.has(entry))
    return others.length === 0 ? undefined : await retry(others)
  }
  const lost = isConnectionLost(cause)
  // The connection was lost before any change: retry once, on another one.
  if (attempt.retry && lost && !timedOut && kind === 'unavailable')
    return await perform(context, entries, { ...attempt, retry: false })
  if (entries.length > 1) {
    // One entry caused it. The others must neither wait for it nor fail with it.
    if (kind === 'conflict' || kind === 'rejected') return await bisect(entries, retry)
    if (kind === 'unavailable' && !attempt.alone && !timedOut && !lost) {
      for (const entry of entries) context.alone.add(entry)
      return
    }
  }
  for (const entry of entries) await answerFailed(entry, kind, cause, context)
}

async function answerFailed(
  entry: CommitEntry,
  kind: ErrorClass,
  cause: unknown,
  context: Context,
): Promise<void> {
  try {
    entry.resolve(await resultOfFailure(entry.item, kind, cause, context))
  } catch (error) {
    entry.reject(error)
  }
}

/** @throws the fault, where the failure is no result of the contract */
async function resultOfFailure(
  changes: WalletChanges,
  kind: ErrorClass,
  cause: unknown,
  context: Context,
): Promise<CommitResult> {
  if (kind === 'conflict' || kind === 'unavailable') return { status: kind }
  if (kind === 'unknown')
    throw new PostgresStoreError('COMMIT_UNKNOWN', 'The answer to the commit was lost', { cause })
  if (isOutOfRange(cause)) return notRepresentable(changes, cause)
  const refusal = await belowMinimum(changes, cause, context)
  if (refusal !== null) return refusal
  throw cause
}
