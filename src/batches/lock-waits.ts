/**
 * Commits whose player another writer has locked. One of each player is retried, with growing pauses: no
 * commit waits in the database for a player's row lock, so no connection is held, and a row that stays locked
 * does not delay the others.
 */

import { channels, isTraced, type LockWaitMessage } from '../diagnostics.js'
import { notify } from '../hooks.js'
import { Fifo } from './lane.js'
import { type Entry, isFull, performTraced, type QueueStats } from './queue.js'

export interface LockWaitSettings<Item, Result> {
  /** As of the queue: one row takes at most half of the room. */
  queueMax: number
  /** Maximum number of entries in a batch. */
  batchMax: number
  /** For how long an entry is retried, in milliseconds. */
  lockTimeoutMs: number
  /** Whether the item is shed first. */
  sheddable(item: Item): boolean
  /** Items of one partition (a player) wait for the same row lock: the first of them is retried. */
  partitionKeyOf(item: Item): string
  /** Items of one batch have no key in common. */
  uniqueKeysOf(item: Item): readonly string[]
  /**
   * Tries a batch: calls `wait` for entries that are still locked, answers the others. If it rejects, every
   * entry that is not answered yet is rejected with the same error.
   */
  perform(batch: readonly Entry<Item, Result>[]): Promise<void>
  /** Is called with the other entries of a row that was not locked any more. */
  onUnlocked(entry: Entry<Item, Result>): void
  /** Answers an entry without room, or whose time is over: no changes were made. */
  onGivenUp(entry: Entry<Item, Result>): void
}

const pauseMsMax = 16

/**
 * In milliseconds: about 2, 4, 8, then 16. It is random, so that the attempts do not keep step with a writer
 * that locks the row again and again: each of them meets the row at another moment.
 *
 * @param attempts how often the row was found locked, at least 1
 */
function pauseAfter(attempts: number): number {
  return Math.min(pauseMsMax, 2 ** attempts) * (0.5 + Math.random())
}

/** A row that another writer has locked, and the entries that wait for it. */
interface LockedRow<Item, Result> {
  readonly waiting: Fifo<Entry<Item, Result>>
  /** How many of them are sheddable. */
  sheddable: number
  /** How often it was found locked, one attempt after the other. */
  attempts: number
  /** When it is tried again, in milliseconds of `performance.now()`. */
  dueAt: number
}

export class LockWaits<Item, Result> {
  readonly #settings: LockWaitSettings<Item, Result>
  /** By partition. The row that was tried least recently is the first. */
  readonly #rows = new Map<string, LockedRow<Item, Result>>()
  /** When the time of an entry is over. */
  readonly #giveUpAt = new WeakMap<Entry<Item, Result>, number>()
  /** The waits that are traced, with their start. */
  readonly #traced = new WeakMap<Entry<Item, Result>, { message: LockWaitMessage; startedAt: number }>()
  /** The running batch, and those of its entries that are still locked. */
  #inFlight = new Set<Entry<Item, Result>>()
  readonly #stillLocked = new Set<Entry<Item, Result>>()
  /** No batch is sent earlier. */
  #restUntil = 0
  #timer: NodeJS.Timeout | undefined
  /** Entries in `rows`; of these, the sheddable ones. */
  #total = 0
  #sheddable = 0
  #shed = 0

  constructor(settings: LockWaitSettings<Item, Result>) {
    this.#settings = settings
  }

  /** Retries the entry until its row is not locked any more, or its time is over. */
  wait(entry: Entry<Item, Result>): void {
    if (this.#inFlight.has(entry)) this.#stillLocked.add(entry)
    else this.#add(entry)
  }

  get stats(): QueueStats {
    return { queued: this.#total - this.#inFlight.size, inFlight: this.#inFlight.size, shed: this.#shed }
  }

  #add(entry: Entry<Item, Result>): void {
    const { queueMax, lockTimeoutMs, sheddable, partitionKeyOf, onGivenUp } = this.#settings
    const now = performance.now()
    const partition = partitionKeyOf(entry.item)
    const row = this.#rows.get(partition) ?? {
      waiting: new Fifo(),
      sheddable: 0,
      attempts: 1,
      dueAt: now + pauseAfter(1),
    }
    const isSheddable = sheddable(entry.item)
    const [queued, ofRow] = isSheddable
      ? [this.#sheddable, row.sheddable]
      : [this.#total - this.#sheddable, row.waiting.length - row.sheddable]
    if (isFull(queueMax, isSheddable, queued, ofRow)) {
      this.#shed += 1
      onGivenUp(entry)
      return
    }
    if (!this.#giveUpAt.has(entry)) this.#giveUpAt.set(entry, now + lockTimeoutMs)
    this.#count(entry, row, 1)
    row.waiting.push(entry)
    this.#rows.set(partition, row)
    if (isTraced(channels.lockWait)) this.#traceStart(entry, now)
    this.#schedule()
  }

  #traceStart(entry: Entry<Item, Result>, startedAt: number): void {
    const playerId = this.#settings.partitionKeyOf(entry.item)
    const message: LockWaitMessage = { playerId, attempts: 0, result: null, error: null, durationMs: 0 }
    this.#traced.set(entry, { message, startedAt })
    channels.lockWait.start.publish(message)
    channels.lockWait.end.publish(message)
  }

  #traceEnd(entry: Entry<Item, Result>, result: NonNullable<LockWaitMessage['result']>, now: number): void {
    const wait = this.#traced.get(entry)
    if (wait === undefined) return
    this.#traced.delete(entry)
    const { message, startedAt } = wait
    message.result = result
    message.durationMs = now - startedAt
    channels.lockWait.asyncStart.publish(message)
    channels.lockWait.asyncEnd.publish(message)
  }

  #count(entry: Entry<Item, Result>, row: LockedRow<Item, Result>, change: 1 | -1): void {
    this.#total += change
    if (!this.#settings.sheddable(entry.item)) return
    this.#sheddable += change
    row.sheddable += change
  }

  #schedule(): void {
    clearTimeout(this.#timer)
    if (this.#inFlight.size > 0 || this.#rows.size === 0) return
    let dueAt = Number.POSITIVE_INFINITY
    for (const row of this.#rows.values()) dueAt = Math.min(dueAt, row.dueAt)
    const pause = Math.max(dueAt, this.#restUntil) - performance.now()
    this.#timer = setTimeout(() => notify('A retry of lock waits', () => this.#retry()), Math.max(0, pause))
  }

  async #retry(): Promise<void> {
    const startedAt = performance.now()
    const batch = this.#takeDue(startedAt)
    this.#inFlight = new Set(batch)
    try {
      if (batch.length > 0) await performTraced('lock-wait', this.#settings, batch)
    } catch (error) {
      this.#stillLocked.clear()
      for (const entry of batch) entry.reject(error)
    } finally {
      this.#endAttempt(batch, startedAt)
    }
  }

  #endAttempt(batch: readonly Entry<Item, Result>[], startedAt: number): void {
    const now = performance.now()
    // Attempts take at most half of the time of one connection.
    this.#restUntil = now + (now - startedAt)
    this.#inFlight = new Set()
    for (const { item } of batch) this.#afterAttempt(this.#settings.partitionKeyOf(item), now)
    this.#stillLocked.clear()
    this.#schedule()
  }

  /** The first entry of each row that is due, up to `batchMax`. */
  #takeDue(now: number): Entry<Item, Result>[] {
    const { batchMax, uniqueKeysOf } = this.#settings
    const batch: Entry<Item, Result>[] = []
    const keys = new Set<string>()
    for (const { waiting, dueAt } of this.#rows.values()) {
      const { first } = waiting
      // A timer may fire a little too early.
      if (dueAt > now + 1 || first === undefined) continue
      if (batch.length >= batchMax) return batch
      const own = uniqueKeysOf(first.item)
      // It stays for the next batch: by then the other entry is answered.
      if (own.some(key => keys.has(key))) continue
      for (const key of own) keys.add(key)
      batch.push(first)
    }
    return batch
  }

  /** Keeps the entries of a row whose first entry is still locked, while their time is not over. */
  #afterAttempt(partition: string, now: number): void {
    const row = this.#rows.get(partition)
    if (row === undefined) return
    this.#rows.delete(partition)
    const { waiting } = row
    const tried = waiting.first
    const isLocked = tried !== undefined && this.#stillLocked.has(tried)
    const message = tried && this.#traced.get(tried)?.message
    if (message !== undefined) message.attempts += 1
    const giveUpAt = (entry: Entry<Item, Result>) => this.#giveUpAt.get(entry) ?? now
    for (let entry = tried; entry !== undefined; entry = waiting.first) {
      if (isLocked && giveUpAt(entry) > now) {
        const attempts = row.attempts + 1
        // The last attempt is at the end of the time.
        const dueAt = Math.min(now + pauseAfter(attempts), giveUpAt(entry))
        this.#rows.set(partition, Object.assign(row, { attempts, dueAt }))
        return
      }
      waiting.shift()
      this.#count(entry, row, -1)
      this.#traceEnd(entry, isLocked ? 'gave-up' : 'ended', now)
      if (isLocked) this.#settings.onGivenUp(entry)
      else if (entry !== tried) this.#passOn(entry)
    }
  }

  #passOn(entry: Entry<Item, Result>): void {
    this.#giveUpAt.delete(entry)
    this.#settings.onUnlocked(entry)
  }
}
