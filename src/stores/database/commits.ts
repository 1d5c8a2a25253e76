/**
 * `commit`: many changes in one statement. Retries what may succeed on its own, and answers every request by
 * its row, or by what is known of the failure.
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
import { type Failure, unavailableFor } from './errors.js'
import { type RowsOfKey, rowsOfKeys, type SnapshotSettings, snapshotOf } from './loads.js'
import { problemOfHook } from './operator-hook.js'
import { isDebit, notRepresentable } from './refusals.js'
import { nextOf, noRetries, type Retries, retriesWithin } from './retries.js'
import type { CommitAnswer, CommitRow } from './rows.js'
import { type CommitEntry, isErrorOfHook, RefusedByHook } from './within-transaction.js'

export interface CommitSettings extends SnapshotSettings {
  queue: QueueSettings
  lockTimeoutMs: number
  /** Commits the entries in one database transaction. */
  execute(entries: readonly CommitEntry[]): Promise<CommitAnswer>
  classify(error: unknown): Failure
  /** The error of a CHECK or a trigger in words, which name it; `null`: another error. */
  ruleProblem(cause: unknown): string | null
  /** Whether changes with an unknown outcome are committed again, on another server: guard 1 allows it. */
  retryUnknown: boolean
  /** Whether events are written: then a batch has at most one of each bet, so that its order is certain. */
  outbox: boolean
}

export class Commits {
  readonly #settings: CommitSettings
  readonly #queue: Batches<WalletChanges, CommitResult>
  /** Commits whose player another writer has locked. */
  readonly #lockWaits: LockWaits<WalletChanges, CommitResult>
  /**
   * Commits of a batch that timed out, as it does for the lock of another row: each alone, so that no player
   * waits for another.
   */
  readonly #isolated: Batches<WalletChanges, CommitResult>
  /** Entries that may be recorded already, and why. Only `committed` answers them; all else is unknown. */
  readonly #unknown = new WeakMap<CommitEntry, unknown>()

  constructor(settings: CommitSettings) {
    this.#settings = settings
    const { queue, lockTimeoutMs, errors, outbox } = settings
    const shared = {
      ...queue,
      sheddable: ({ transaction }: WalletChanges) => transaction.operation === 'placebet',
      bulk: ({ transaction: { operation } }: WalletChanges) =>
        operation === 'settlement' || operation === 'unsettlement',
      partitionKeyOf: ({ transaction }: WalletChanges) => transaction.playerId,
      uniqueKeysOf: ({ transaction, bet }: WalletChanges) => [
        `${transaction.operation} ${transaction.transactionId}`,
        ...(bet === null && !outbox ? [] : [`bet ${transaction.betId}`]),
      ],
      onShed: (entry: CommitEntry) => this.#answerWith(entry, unavailableFor(errors.unavailable(null))),
      // Most likely the other entry has inserted the id; if not, the core finds out when it reloads and
      // retries.
      onDuplicateKey: (entry: CommitEntry) => this.#answerWith(entry, { status: 'conflict' }),
      perform: (entries: readonly CommitEntry[]) => this.#perform(entries),
    }
    this.#queue = createBatches({ ...shared, kind: 'commit' })
    this.#lockWaits = new LockWaits({
      ...shared,
      lockTimeoutMs,
      onUnlocked: entry => this.#queue.add(entry),
      onGivenUp: entry => this.#answerWith(entry, unavailableFor(errors.locked)),
    })
    this.#isolated = createBatches({ ...shared, kind: 'commit-isolated', batchMax: 1 })
  }

  submit(changes: WalletChanges): Promise<CommitResult> {
    return this.#queue.submit(changes)
  }

  get stats(): QueueStats {
    return this.#queue.stats
  }

  /** Of the commits that another writer's lock delays. */
  get lockWaitStats(): QueueStats {
    const sum = (name: keyof QueueStats) => this.#lockWaits.stats[name] + this.#isolated.stats[name]
    return { queued: sum('queued'), inFlight: sum('inFlight'), shed: sum('shed') }
  }

  #retries(): Retries {
    return retriesWithin(this.#settings.queue.queuedMsMax)
  }

  async #perform(entries: readonly CommitEntry[], retries = this.#retries()): Promise<void> {
    const { execute, errors } = this.#settings
    let answer: CommitAnswer
    try {
      answer = await execute(entries)
    } catch (error) {
      return await this.#recover(entries, retries, error)
    }
    const loaded = new Map(rowsOfKeys(answer.loaded).map(rows => [rows[0].key_index, rows]))
    answerEach(entries, answer.rows, {
      indexOf: row => row.item_index,
      answer: (entry, row) => this.#answer(entry, row, loaded.get(row.item_index)),
      missing: errors.noRow,
    })
  }

  /** @throws `AMOUNT_NOT_REPRESENTABLE` */
  #answer(entry: CommitEntry, row: CommitRow, loaded: RowsOfKey | undefined): void {
    const { columns, errors } = this.#settings
    const { verdict, wallet_transaction_id: walletTransactionId } = row
    if (verdict === 'committed') {
      const balanceAfter = columns().available(row, row.currency ?? '')
      entry.resolve({ status: 'committed', balance: balanceAfter, walletTransactionId })
    } else if (verdict === 'busy') {
      this.#lockWaits.wait(entry)
    } else if (verdict === 'out-of-range' && !this.#unknown.has(entry)) {
      entry.resolve(notRepresentable(entry.item, errors.make))
    } else {
      this.#answerWith(entry, this.#conflict(entry.item, loaded))
    }
  }

  #conflict({ transaction }: WalletChanges, loaded: RowsOfKey | undefined): CommitResult {
    try {
      if (loaded) return { status: 'conflict', snapshot: snapshotOf(transaction, loaded, this.#settings) }
    } catch {
      // A record that cannot be used: the load that follows reports it.
    }
    return { status: 'conflict' }
  }

  /** Answers an entry that this attempt did not commit: an earlier one may have. */
  #answerWith(entry: CommitEntry, result: CommitResult): void {
    if (this.#unknown.has(entry)) entry.reject(this.#unknownOutcome(this.#unknown.get(entry)))
    else entry.resolve(result)
  }

  #unknownOutcome(cause: unknown): Error {
    return this.#settings.errors.make('COMMIT_UNKNOWN', 'The answer to the commit was lost', { cause })
  }

  /** After a whole batch has failed: retries the entries that may succeed, and answers the others. */
  async #recover(entries: readonly CommitEntry[], retries: Retries, error: unknown): Promise<void> {
    const { classify, retryUnknown } = this.#settings
    const { kind, cause, timedOut, lost, answer } = classify(error)
    const again = (some: readonly CommitEntry[]) => this.#perform(some)
    if (cause instanceof RefusedByHook) {
      for (const [entry, refusal] of cause.refusals) this.#answerWith(entry, refusal)
      const others = entries.filter(entry => !cause.refusals.has(entry))
      return others.length === 0 ? undefined : await again(others)
    }
    const next = nextOf(retries)
    // The connection was lost before any change.
    if (next !== null && lost && !timedOut && kind === 'unavailable')
      return await this.#perform(entries, next)
    if (next !== null && kind === 'unknown' && retryUnknown) {
      for (const entry of entries) this.#unknown.set(entry, cause)
      return await this.#perform(entries, noRetries)
    }
    if (entries.length > 1) {
      // One entry caused it. The others must neither wait for it nor fail with it.
      if (kind === 'conflict' || kind === 'rejected') return await bisect(entries, again)
      if (kind === 'unavailable' && !timedOut && !lost) {
        for (const entry of entries) this.#isolated.add(entry)
        return
      }
      if (answer !== null && (kind === 'unknown' || lost)) {
        // Guard 1 lets them be recorded only once.
        if (answer === 'unclear') for (const entry of entries) this.#unknown.set(entry, cause)
        return await bisect(entries, half => this.#perform(half, noRetries))
      }
    }
    for (const entry of entries) this.#answerFailed(entry, { kind, cause })
  }

  #answerFailed(entry: CommitEntry, failure: Pick<Failure, 'kind' | 'cause'>): void {
    try {
      this.#answerWith(entry, this.#resultOfFailure(entry.item, failure))
    } catch (error) {
      entry.reject(this.#unknown.has(entry) ? this.#unknownOutcome(this.#unknown.get(entry)) : error)
    }
  }

  /** @throws the fault, where the failure is no result of the contract */
  #resultOfFailure(changes: WalletChanges, { kind, cause }: Pick<Failure, 'kind' | 'cause'>): CommitResult {
    const { ruleProblem, errors } = this.#settings
    if (kind === 'conflict') return { status: kind }
    const ofHook = problemOfHook(cause)
    if (ofHook !== null) return unavailableFor(errors.make('HOOK_FAILED', ofHook, { cause }))
    if (kind === 'unavailable') return unavailableFor(cause)
    if (kind === 'unknown') throw this.#unknownOutcome(cause)
    // A statement of the hook has failed: a fault, whatever its error code (D9).
    if (isErrorOfHook(cause)) throw cause
    const problem = isDebit(changes) ? ruleProblem(cause) : null
    if (problem === null) throw cause
    const hint = 'If it protects funds that a bet cannot use, declare them by the option players.reserved'
    throw errors.make('DATABASE_REJECTED', `A rule of the database rejects the debit: ${problem}. ${hint}`, {
      cause,
    })
  }
}
