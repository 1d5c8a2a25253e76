/**
 * `commit`: many changes in one statement. Retries what may succeed on its own, and answers every request by its
 * row, or by what is known of the failure.
 */

import {
  answerEach,
  type Batches,
  bisect,
  createBatches,
  type QueueSettings,
  type QueueStats,
} from '../../batches/index.js'
import { LockWaits } from '../../batches/lock-waits.js'
import type { CommitResult, WalletChanges } from '../../store.js'
import type { Columns } from './columns.js'
import { type Failure, type StoreErrors, unavailableFor } from './errors.js'
import { notRepresentable } from './refusals.js'
import type { CommitRow } from './rows.js'
import { type CommitEntry, isErrorOfHook, RefusedByHook } from './within-transaction.js'

export interface CommitSettings {
  queue: QueueSettings
  lockTimeoutMs: number
  /** Known before the first changes are submitted. */
  columns(): Columns
  /** Commits the entries in one database transaction. */
  execute(entries: readonly CommitEntry[], columns: Columns): Promise<readonly CommitRow[]>
  classify(error: unknown): Failure
  /**
   * The refusal of a debit that a rule of the PAM about the balance rejects, as the store finds out by itself: the error
   * may come from the operator's own code. `null`: it is a fault.
   */
  refusalOf(changes: WalletChanges, cause: unknown, columns: Columns): Promise<CommitResult | null>
  /** Whether changes whose outcome is unknown are committed once more, on another server: guard 1 allows it. */
  retryUnknown: boolean
  errors: StoreErrors
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
  /** Entries that may be recorded already, and why: only `committed` answers them, anything else is unknown. */
  unknown: WeakMap<CommitEntry, unknown>
}

/** How a batch is executed. */
interface Attempt {
  /** Whether it is of one player, after a larger batch timed out. */
  alone: boolean
  /** Whether to retry once on another connection when this one is lost. */
  retry: boolean
}

export function createCommits(settings: CommitSettings): Commits {
  const giveUp = (entry: CommitEntry) =>
    settle(context, entry, unavailableFor(settings.errors.unavailable(null)))
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
    onDuplicateKey: (entry: CommitEntry) => settle(context, entry, { status: 'conflict' }),
    perform: (entries: readonly CommitEntry[]) => perform(context, entries, { alone: false, retry: true }),
  }
  const commits: Commits['commits'] = createBatches({ ...shared, kind: 'commit' })
  const lockWaits = new LockWaits<WalletChanges, CommitResult>({
    ...shared,
    lockTimeoutMs: settings.lockTimeoutMs,
    onGivenUp: entry => settle(context, entry, unavailableFor(settings.errors.locked)),
  })
  const alone: Context['alone'] = createBatches({
    ...shared,
    kind: 'commit-alone',
    onePartitionPerBatch: true,
    perform: entries => perform(context, entries, { alone: true, retry: true }),
  })
  const context: Context = { ...settings, lockWaits, alone, unknown: new WeakMap() }
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
  let rows: readonly CommitRow[]
  try {
    rows = await context.execute(entries, context.columns())
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
    missing: context.errors.noRow,
  })
  for (const entry of alone) await perform(context, [entry], { ...attempt, retry: true })
}

/** @throws `AMOUNT_NOT_REPRESENTABLE` */
function answer(context: Context, entry: CommitEntry, row: CommitRow): void {
  const { verdict, currency, balance, wallet_transaction_id: walletTransactionId } = row
  if (verdict === 'committed') {
    const balanceAfter = context.columns().fromColumn(balance ?? '', currency ?? '')
    entry.resolve({ status: 'committed', balance: balanceAfter, walletTransactionId })
  } else if (verdict === 'busy') {
    context.lockWaits.wait(entry)
  } else if (verdict === 'out-of-range' && !context.unknown.has(entry)) {
    entry.resolve(notRepresentable(entry.item, context.errors.make))
  } else {
    settle(context, entry, { status: 'conflict' })
  }
}

/** Answers an entry that this attempt did not commit: an earlier one may have. */
function settle({ unknown, errors }: Context, entry: CommitEntry, result: CommitResult): void {
  if (unknown.has(entry)) entry.reject(unknownOutcome(errors, unknown.get(entry)))
  else entry.resolve(result)
}

const unknownOutcome = (errors: StoreErrors, cause: unknown) =>
  errors.make('COMMIT_UNKNOWN', 'The answer to the commit was lost', { cause })

/** After a whole batch has failed: retries the entries that may succeed, and answers the others. */
async function recover(
  context: Context,
  entries: readonly CommitEntry[],
  attempt: Attempt,
  error: unknown,
): Promise<void> {
  const { kind, cause, timedOut, lost, answer } = context.classify(error)
  const retry = (some: readonly CommitEntry[]) => perform(context, some, { ...attempt, retry: true })
  if (cause instanceof RefusedByHook) {
    for (const [entry, refusal] of cause.refusals) settle(context, entry, refusal)
    const others = entries.filter(entry => !cause.refusals.has(entry))
    return others.length === 0 ? undefined : await retry(others)
  }
  // The connection was lost before any change: retry once, on another one.
  if (attempt.retry && lost && !timedOut && kind === 'unavailable')
    return await perform(context, entries, { ...attempt, retry: false })
  if (kind === 'unknown' && context.retryUnknown && attempt.retry) {
    for (const entry of entries) context.unknown.set(entry, cause)
    return await perform(context, entries, { ...attempt, retry: false })
  }
  if (entries.length > 1) {
    // One entry caused it. The others must neither wait for it nor fail with it.
    if (kind === 'conflict' || kind === 'rejected') return await bisect(entries, retry)
    if (kind === 'unavailable' && !attempt.alone && !timedOut && !lost) {
      for (const entry of entries) context.alone.add(entry)
      return
    }
    if (answer !== null && (kind === 'unknown' || lost)) {
      // Guard 1 lets them be recorded only once.
      if (answer === 'unclear') for (const entry of entries) context.unknown.set(entry, cause)
      return await bisect(entries, some => perform(context, some, { ...attempt, retry: false }))
    }
  }
  for (const entry of entries) await answerFailed(context, entry, { kind, cause })
}

async function answerFailed(
  context: Context,
  entry: CommitEntry,
  failure: Pick<Failure, 'kind' | 'cause'>,
): Promise<void> {
  try {
    settle(context, entry, await resultOfFailure(context, entry.item, failure))
  } catch (error) {
    const { unknown, errors } = context
    entry.reject(unknown.has(entry) ? unknownOutcome(errors, unknown.get(entry)) : error)
  }
}

/** @throws the fault, where the failure is no result of the contract */
async function resultOfFailure(
  { errors, refusalOf, columns }: Context,
  changes: WalletChanges,
  { kind, cause }: Pick<Failure, 'kind' | 'cause'>,
): Promise<CommitResult> {
  if (kind === 'conflict') return { status: kind }
  if (kind === 'unavailable') return unavailableFor(cause)
  if (kind === 'unknown') throw unknownOutcome(errors, cause)
  // A statement of the hook has failed: a fault, whatever its error code (D9).
  if (isErrorOfHook(cause)) throw cause
  const refusal = await refusalOf(changes, cause, columns())
  if (refusal !== null) return refusal
  throw cause
}
