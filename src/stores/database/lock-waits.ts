/**
 * Commits whose player another writer has locked. They are retried together, with growing pauses: no commit waits
 * in the database for a player's row lock, so no connection is held meanwhile, and a row that stays locked does
 * not delay the others.
 */
import type { Entry, QueueStats } from '../../batches/index.js'
import { performTraced } from '../../batches/queue.js'
import { channels, isTraced, type LockWaitMessage } from '../../diagnostics.js'

export interface LockWaitSettings<Item, Result> {
  /** Maximum number of waiting entries; for sheddable items, half of it. */
  queueMax: number
  /** Maximum number of entries in a batch. */
  batchMax: number
  /** For how long an entry is retried, in milliseconds. */
  lockTimeoutMs: number
  /** Whether the item is shed first. */
  sheddable(item: Item): boolean
  /** Items of one partition (a player) wait for the same row lock. They are retried together, in their order. */
  partitionKeyOf(item: Item): string
  /** Items of one batch have no key in common. */
  uniqueKeysOf(item: Item): readonly string[]
  /** Tries a batch: calls `wait` again for each entry that is still locked, and answers the others. Never rejects. */
  perform(batch: readonly Entry<Item, Result>[]): Promise<void>
  /** Answers an entry without room, or whose time is over: no changes were made. */
  onGivenUp(entry: Entry<Item, Result>): void
}

export interface LockWaits<Item, Result> {
  /** Retries the entry until its row is not locked any more, or its time is over. */
  wait(entry: Entry<Item, Result>): void
  readonly stats: QueueStats
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
  waiting: Entry<Item, Result>[]
  /** How often it was found locked, one attempt after the other. */
  attempts: number
  /** When it is tried again, in milliseconds of `performance.now()`. */
  dueAt: number
}

interface State<Item, Result> {
  readonly settings: LockWaitSettings<Item, Result>
  /** By partition. The row that was tried least recently is the first. */
  readonly rows: Map<string, LockedRow<Item, Result>>
  /** When the time of an entry is over. */
  readonly giveUpAt: WeakMap<Entry<Item, Result>, number>
  /** The waits that are traced, with their start. */
  readonly traced: WeakMap<Entry<Item, Result>, { message: LockWaitMessage; startedAt: number }>
  /** The running batch, and those of its entries that are still locked. */
  inFlight: Set<Entry<Item, Result>>
  readonly stillLocked: Set<Entry<Item, Result>>
  /** No batch is sent earlier. */
  restUntil: number
  timer: NodeJS.Timeout | undefined
  /** Entries in `rows`; of these, the sheddable ones. */
  total: number
  sheddable: number
  shed: number
}

export function createLockWaits<Item, Result>(
  settings: LockWaitSettings<Item, Result>,
): LockWaits<Item, Result> {
  const state: State<Item, Result> = {
    settings,
    rows: new Map(),
    giveUpAt: new WeakMap(),
    traced: new WeakMap(),
    inFlight: new Set(),
    stillLocked: new Set(),
    restUntil: 0,
    timer: undefined,
    total: 0,
    sheddable: 0,
    shed: 0,
  }
  return {
    wait(entry) {
      if (state.inFlight.has(entry)) state.stillLocked.add(entry)
      else add(state, entry)
    },
    get stats() {
      const { total, inFlight, shed } = state
      return { queued: total - inFlight.size, inFlight: inFlight.size, shed }
    },
  }
}

function add<Item, Result>(state: State<Item, Result>, entry: Entry<Item, Result>): void {
  const { settings, rows, giveUpAt } = state
  const { queueMax, lockTimeoutMs, sheddable, partitionKeyOf } = settings
  if (state.total >= queueMax || (sheddable(entry.item) && state.sheddable >= queueMax / 2)) {
    state.shed += 1
    settings.onGivenUp(entry)
    return
  }
  const now = performance.now()
  if (!giveUpAt.has(entry)) giveUpAt.set(entry, now + lockTimeoutMs)
  count(state, entry, 1)
  const partition = partitionKeyOf(entry.item)
  const row = rows.get(partition)
  if (row !== undefined) row.waiting.push(entry)
  else rows.set(partition, { waiting: [entry], attempts: 1, dueAt: now + pauseAfter(1) })
  if (isTraced(channels.lockWait)) traceStart(state, entry, now)
  schedule(state)
}

function traceStart<Item, Result>(
  { traced, settings }: State<Item, Result>,
  entry: Entry<Item, Result>,
  startedAt: number,
): void {
  const playerId = settings.partitionKeyOf(entry.item)
  const message: LockWaitMessage = { playerId, attempts: 0, result: null, error: null, durationMs: 0 }
  traced.set(entry, { message, startedAt })
  channels.lockWait.start.publish(message)
  channels.lockWait.end.publish(message)
}

function traceEnd<Item, Result>(
  { traced }: State<Item, Result>,
  entry: Entry<Item, Result>,
  result: NonNullable<LockWaitMessage['result']>,
  now: number,
): void {
  const wait = traced.get(entry)
  if (wait === undefined) return
  traced.delete(entry)
  const { message, startedAt } = wait
  message.result = result
  message.durationMs = now - startedAt
  channels.lockWait.asyncStart.publish(message)
  channels.lockWait.asyncEnd.publish(message)
}

function count<Item, Result>(state: State<Item, Result>, entry: Entry<Item, Result>, change: 1 | -1): void {
  state.total += change
  if (state.settings.sheddable(entry.item)) state.sheddable += change
}

function schedule<Item, Result>(state: State<Item, Result>): void {
  clearTimeout(state.timer)
  if (state.inFlight.size > 0 || state.rows.size === 0) return
  let dueAt = Number.POSITIVE_INFINITY
  for (const row of state.rows.values()) dueAt = Math.min(dueAt, row.dueAt)
  const pause = Math.max(dueAt, state.restUntil) - performance.now()
  state.timer = setTimeout(() => void retry(state), Math.max(0, pause))
}

async function retry<Item, Result>(state: State<Item, Result>): Promise<void> {
  const startedAt = performance.now()
  const batch = takeDue(state, startedAt)
  state.inFlight = new Set(batch)
  if (batch.length > 0) await performTraced('lock-wait', state.settings, batch)
  const now = performance.now()
  // Attempts take at most half of the time of one connection.
  state.restUntil = now + (now - startedAt)
  const tried = state.inFlight
  state.inFlight = new Set()
  for (const partition of new Set(batch.map(({ item }) => state.settings.partitionKeyOf(item))))
    settle(state, partition, tried, now)
  state.stillLocked.clear()
  schedule(state)
}

/** The entries of all rows that are due, up to `batchMax`. */
function takeDue<Item, Result>({ settings, rows }: State<Item, Result>, now: number): Entry<Item, Result>[] {
  const batch: Entry<Item, Result>[] = []
  const keys = new Set<string>()
  for (const { waiting, dueAt } of rows.values()) {
    // A timer may fire a little too early.
    if (dueAt > now + 1) continue
    for (const entry of waiting) {
      if (batch.length >= settings.batchMax) return batch
      const own = settings.uniqueKeysOf(entry.item)
      // It stays for the next batch: by then the other entry is answered.
      if (own.some(key => keys.has(key))) continue
      for (const key of own) keys.add(key)
      batch.push(entry)
    }
  }
  return batch
}

/** After an attempt: keeps the entries of a row that are still locked, and those that were not tried. */
function settle<Item, Result>(
  state: State<Item, Result>,
  partition: string,
  tried: ReadonlySet<Entry<Item, Result>>,
  now: number,
): void {
  const { rows, stillLocked, settings } = state
  const row = rows.get(partition)
  if (row === undefined) return
  const giveUpAt = (entry: Entry<Item, Result>) => state.giveUpAt.get(entry) ?? now
  const waiting: Entry<Item, Result>[] = []
  let isLocked = false
  for (const entry of row.waiting) {
    const message = state.traced.get(entry)?.message
    if (message !== undefined && tried.has(entry)) message.attempts += 1
    if (stillLocked.has(entry)) isLocked = true
    if (!tried.has(entry) || (stillLocked.has(entry) && giveUpAt(entry) > now)) {
      waiting.push(entry)
    } else {
      count(state, entry, -1)
      traceEnd(state, entry, stillLocked.has(entry) ? 'gave-up' : 'ended', now)
      if (stillLocked.has(entry)) settings.onGivenUp(entry)
    }
  }
  rows.delete(partition)
  if (waiting.length === 0) return
  const attempts = isLocked ? row.attempts + 1 : 0
  // The last attempt is at the end of the time.
  const dueAt = isLocked ? Math.min(now + pauseAfter(attempts), ...waiting.map(giveUpAt)) : now
  rows.set(partition, { waiting, attempts, dueAt })
}
