/**
 * Coalescing: requests that arrive at the same time share a round trip. No timer collects them: a batch is
 * sent as soon as a slot is free, with its share of everything queued by then. A single request is not
 * delayed; concurrent requests form batches.
 */

import { type BatchMessage, channels, isTraced, trace } from '../diagnostics.js'
import { check } from '../errors.js'
import { callHook, notify } from '../hooks.js'
import { Lane } from './lane.js'

export interface QueueSettings {
  /** Maximum number of batches in flight. */
  slotsMax: number
  /** Maximum number of items in a batch. Free slots share the queue, in batches of at least 16 items. */
  batchMax: number
  /**
   * Maximum number of queued items that are not sheddable; of sheddable items, half as many. One partition
   * takes at most half of either.
   */
  queueMax: number
  /** Maximum time in the queue, in milliseconds. */
  queuedMsMax: number
}

export interface BatchSettings<Item, Result> extends QueueSettings {
  /**
   * What the batches are called in the messages of the channel `bet-wallet:batch`.
   *
   * @default 'batch'
   */
  kind?: string
  /** Whether the item is shed first under load: a placebet, because its rollback will need the space. */
  sheddable(item: Item): boolean
  /**
   * Whether the item belongs to bulk work: the settlements of an event arrive by thousands. While more of it
   * is queued and in flight than a batch holds, and sheddable items arrive too, at least one slot carries
   * none of it, and its batches are smaller.
   */
  bulk?(item: Item): boolean
  /**
   * At most one item of a partition (a player) is in flight: never two in a batch, nor in two batches. The
   * others stay queued, and delay no other partition.
   */
  partitionKeyOf?(item: Item): string
  /**
   * How long items wait for a batch in flight, in milliseconds, before another one is sent beside it. For
   * reads: one statement for all costs less than two, and one that hangs delays the others by this time only.
   *
   * @default 0: they wait for no batch while a slot is free
   */
  batchWaitMsMax?: number
  /** Items of one batch have no key in common. The second item with a key is passed to `onDuplicateKey`. */
  uniqueKeysOf?(item: Item): readonly string[]
  /**
   * Performs a batch, and answers every entry by `resolve` or `reject`. The slot is free again when its
   * promise is settled. If it rejects, every entry that is not answered yet is rejected with the same error.
   */
  perform(batch: readonly Entry<Item, Result>[]): Promise<void>
  /** Answers an entry that the queue has no room for, or that was queued too long: no changes were made. */
  onShed(entry: Entry<Item, Result>): void
  /**
   * Answers an entry that has a key in common with an entry of a batch, after that batch. Required with
   * `uniqueKeysOf`.
   */
  onDuplicateKey?(entry: Entry<Item, Result>): void
}

/** A queued item and the promise of its result. */
export interface Entry<Item, Result> {
  readonly item: Item
  /** In milliseconds of `performance.now()`. */
  readonly queuedAt: number
  readonly resolve: (result: Result) => void
  readonly reject: (error: unknown) => void
}

export interface Batches<Item, Result> {
  /** Queues an item. Its promise is settled as `perform`, `onShed` or `onDuplicateKey` answers its entry. */
  submit(item: Item): Promise<Result>
  /** Queues an entry of another queue. Its time in the queue began when it came to that one. */
  add(entry: Entry<Item, Result>): void
  readonly stats: QueueStats
}

export interface QueueStats {
  /** Requests that are queued now. */
  queued: number
  /** Requests in a statement that is running now. */
  inFlight: number
  /** Requests that were shed since the start. */
  shed: number
}

interface Batch<Item, Result> {
  entries: Entry<Item, Result>[]
  /** Entries with a key in common with one of `entries`. */
  duplicates: Entry<Item, Result>[]
  partitions: unknown[]
  uniqueKeys: Set<string>
  /** How many of the entries are bulk work. */
  bulk: number
  /** Entries that were queued before are shed. */
  queuedSince: number
}

/**
 * Creates a queue whose items are performed in batches.
 *
 * @throws {WalletError} `INVALID_OPTIONS`, naming the setting
 */
export function createBatches<Item, Result>(settings: BatchSettings<Item, Result>): Batches<Item, Result> {
  checkSettings(settings)
  return new Queue(settings)
}

const requiredNames = ['sheddable', 'perform', 'onShed']
const callbackNames = [...requiredNames, 'bulk', 'partitionKeyOf', 'uniqueKeysOf', 'onDuplicateKey']
const numberNames = ['slotsMax', 'batchMax', 'queueMax', 'queuedMsMax']
const optionalNames = ['batchWaitMsMax', 'kind']

function checkSettings(settings: object): void {
  check.names(settings, [...callbackNames, ...numberNames, ...optionalNames])
  const given: Readonly<Record<string, unknown>> = { ...settings }
  for (const name of numberNames) check.whole(name, given[name], name === 'queuedMsMax' ? 0 : 1)
  for (const name of callbackNames) check.func(name, given[name])
  const { kind, batchWaitMsMax } = given
  if (batchWaitMsMax !== undefined) check.whole('batchWaitMsMax', batchWaitMsMax, 0)
  if (kind !== undefined && (typeof kind !== 'string' || kind === '')) check.invalid('kind must be text')
  const required = [...requiredNames, ...(given.uniqueKeysOf ? ['onDuplicateKey'] : [])]
  for (const name of required) if (given[name] === undefined) check.invalid(`${name} must be a function`)
}

/**
 * Load shedding: whether there is no room for another item. Sheddable items take no room from the others: a
 * rollback that is shed comes again, and each placebet that is shed meanwhile brings another rollback.
 *
 * @param queued how many are queued that are as sheddable as the item
 * @param ofPartition those of its partition
 */
export function isFull(queueMax: number, isSheddable: boolean, queued: number, ofPartition: number): boolean {
  const room = isSheddable ? queueMax / 2 : queueMax
  return queued >= room || ofPartition >= room / 2
}

/** For how long after a sheddable item a slot is kept free of a burst of bulk work. */
const mixedMs = 100
/** Smaller batches would cost more than they gain. */
const shareMin = 16
/** A batch of bulk work is smaller: while it runs, the database and this process do less for the others. */
const bulkShare = 3

class Queue<Item, Result> {
  readonly #settings: BatchSettings<Item, Result>
  readonly #partitionsInFlight = new Set<unknown>()
  /** Neither bulk nor sheddable: rollbacks. */
  readonly #priority = new Lane<Entry<Item, Result>>(this.#partitionsInFlight)
  readonly #bulk = new Lane<Entry<Item, Result>>(this.#partitionsInFlight)
  readonly #sheddable = new Lane<Entry<Item, Result>>(this.#partitionsInFlight)
  /** When the last sheddable item arrived, in milliseconds of `performance.now()`. */
  #sheddableAt = Number.NEGATIVE_INFINITY
  /** Batches in flight; of these, the ones with bulk work. */
  #slots = 0
  #bulkSlots = 0
  #inFlight = 0
  #bulkInFlight = 0
  #shedCount = 0
  #isScheduled = false
  /** Runs while items wait only for `batchWaitMsMax`. */
  #timer: NodeJS.Timeout | null = null

  constructor(settings: BatchSettings<Item, Result>) {
    this.#settings = settings
  }

  // `submit` and `add` may be passed on without the queue.
  readonly submit = (item: Item): Promise<Result> =>
    new Promise((resolve, reject) => {
      this.add({ item, queuedAt: performance.now(), resolve, reject })
    })

  get stats(): QueueStats {
    return { queued: this.#queued, inFlight: this.#inFlight, shed: this.#shedCount }
  }

  get #queued(): number {
    return this.#priority.length + this.#bulk.length + this.#sheddable.length
  }

  readonly add = (entry: Entry<Item, Result>): void => {
    const { queueMax, sheddable, bulk, partitionKeyOf } = this.#settings
    const isSheddable = callHook('sheddable', () => sheddable(entry.item))
    const partition = callHook('partitionKeyOf', () => partitionKeyOf?.(entry.item)) ?? entry
    let [queued, ofPartition] = [0, 0]
    for (const lane of isSheddable ? [this.#sheddable] : [this.#priority, this.#bulk]) {
      queued += lane.length
      ofPartition += lane.lengthOf(partition)
    }
    if (isFull(queueMax, isSheddable, queued, ofPartition)) {
      this.#shed(entry)
      return
    }
    if (isSheddable) this.#sheddableAt = performance.now()
    const isBulk = !isSheddable && callHook('bulk', () => bulk?.(entry.item)) === true
    const lane = isSheddable ? this.#sheddable : isBulk ? this.#bulk : this.#priority
    lane.push(partition, entry)
    this.#schedule()
  }

  #shed(entry: Entry<Item, Result>): void {
    this.#shedCount += 1
    answerBy(entry, () => this.#settings.onShed(entry))
  }

  /**
   * Sends batches after the input of this turn of the event loop is read: requests that arrived together are
   * sent together.
   */
  #schedule(): void {
    const { slotsMax, batchWaitMsMax = 0 } = this.#settings
    if (this.#isScheduled || this.#timer !== null || this.#slots >= slotsMax) return
    if (batchWaitMsMax > 0 && this.#slots > 0) {
      this.#timer = setTimeout(() => this.#sendBatches(), batchWaitMsMax)
      return
    }
    this.#isScheduled = true
    setImmediate(() => this.#sendBatches())
  }

  #sendBatches(): void {
    this.#isScheduled = false
    this.#stopTimer()
    for (let free = this.#free; free > 0; free -= 1) {
      const batch = this.#takeBatch()
      if (batch.entries.length === 0) return
      notify('A batch', () => this.#send(batch))
    }
  }

  #stopTimer(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
  }

  /** How many batches may be sent now. */
  get #free(): number {
    const { slotsMax, batchWaitMsMax = 0 } = this.#settings
    const free = slotsMax - this.#slots
    return batchWaitMsMax > 0 ? Math.min(1, free) : free
  }

  #takeBatch(): Batch<Item, Result> {
    const { slotsMax, batchMax, queuedMsMax } = this.#settings
    const now = performance.now()
    const batch: Batch<Item, Result> = {
      entries: [],
      duplicates: [],
      partitions: [],
      uniqueKeys: new Set(),
      bulk: 0,
      queuedSince: now - queuedMsMax,
    }
    const isBurst = this.#bulk.length + this.#bulkInFlight > batchMax
    if (slotsMax === 1 || !isBurst || now - this.#sheddableAt > mixedMs) {
      this.#takeFromAll(batch)
      return batch
    }
    // A burst of bulk work goes on in one slot; the other slots are for everything else, and for bulk work
    // only if there is nothing else.
    if (this.#bulkSlots === 0) this.#takeBulk(batch)
    if (batch.entries.length === 0) this.#takeOthers(batch)
    if (batch.entries.length === 0 && this.#bulkSlots < slotsMax - 1) this.#takeBulk(batch)
    return batch
  }

  /**
   * How many items a batch takes: the free slots share the queue. One batch with all of it would leave the
   * other slots idle: the callers wait for that batch, and their next requests arrive together again.
   */
  #shareOf(queued: number): number {
    return Math.min(this.#settings.batchMax, Math.max(shareMin, Math.ceil(queued / this.#free)))
  }

  /** Half of the batch is for sheddable items; each half may be larger if the other one is short. */
  #takeFromAll(batch: Batch<Item, Result>): void {
    const batchMax = this.#shareOf(this.#priority.ready + this.#bulk.ready + this.#sheddable.ready)
    const most = Math.max(batchMax / 2, batchMax - this.#sheddable.ready)
    this.#fill(batch, this.#priority, most)
    const others = batch.entries.length
    this.#fill(batch, this.#bulk, most)
    batch.bulk = batch.entries.length - others
    this.#fill(batch, this.#sheddable, batchMax)
  }

  #takeOthers(batch: Batch<Item, Result>): void {
    const batchMax = this.#shareOf(this.#priority.ready + this.#sheddable.ready)
    const most = Math.max(batchMax / 2, batchMax - this.#sheddable.ready)
    this.#fill(batch, this.#priority, most)
    this.#fill(batch, this.#sheddable, batchMax)
  }

  #takeBulk(batch: Batch<Item, Result>): void {
    this.#fill(batch, this.#bulk, Math.ceil(this.#settings.batchMax / bulkShare))
    batch.bulk = batch.entries.length
  }

  /** Moves entries into the batch until it is full, and sheds those that were queued too long. */
  #fill(batch: Batch<Item, Result>, lane: Lane<Entry<Item, Result>>, entriesMax: number): void {
    while (batch.entries.length < entriesMax) {
      const next = lane.shift()
      if (next === undefined) return
      const { partition, item: entry } = next
      if (this.#take(batch, entry)) {
        batch.partitions.push(partition)
        this.#partitionsInFlight.add(partition)
      } else lane.release(partition)
    }
  }

  /** @returns whether the entry is in the batch; otherwise it is answered */
  #take({ entries, duplicates, uniqueKeys, queuedSince }: Batch<Item, Result>, entry: Entry<Item, Result>) {
    if (entry.queuedAt < queuedSince) {
      this.#shed(entry)
      return false
    }
    try {
      const keys = callHook('uniqueKeysOf', () => this.#settings.uniqueKeysOf?.(entry.item)) ?? []
      const isDuplicate = keys.some(key => uniqueKeys.has(key))
      for (const key of keys) uniqueKeys.add(key)
      ;(isDuplicate ? duplicates : entries).push(entry)
      return true
    } catch (error) {
      entry.reject(error)
      return false
    }
  }

  async #send({ entries, duplicates, partitions, bulk }: Batch<Item, Result>): Promise<void> {
    const settings = this.#settings
    const count = entries.length + duplicates.length
    this.#slots += 1
    if (bulk > 0) this.#bulkSlots += 1
    this.#inFlight += count
    this.#bulkInFlight += bulk
    try {
      await performTraced(settings.kind ?? 'batch', settings, entries)
    } catch (error) {
      for (const entry of entries) entry.reject(error)
    }
    for (const partition of partitions) {
      this.#partitionsInFlight.delete(partition)
      for (const lane of [this.#priority, this.#bulk, this.#sheddable]) lane.release(partition)
    }
    this.#slots -= 1
    if (bulk > 0) this.#bulkSlots -= 1
    this.#inFlight -= count
    this.#bulkInFlight -= bulk
    for (const entry of duplicates) answerBy(entry, () => settings.onDuplicateKey?.(entry))
    if (this.#slots === 0) this.#stopTimer()
    if (this.#queued > 0) this.#schedule()
  }
}

/** An entry whose answer fails, at once or later, is rejected with that error. */
export function answerBy<Item, Result>(entry: Entry<Item, Result>, answer: () => unknown): void {
  ;(async () => await answer())().catch((error: unknown) => entry.reject(error))
}

/** Calls `perform`, with the events of the channel `bet-wallet:batch` if it has a subscriber. */
export function performTraced<Item, Result>(
  kind: string,
  settings: Pick<BatchSettings<Item, Result>, 'perform'>,
  entries: readonly Entry<Item, Result>[],
): Promise<void> {
  if (!isTraced(channels.batch)) return settings.perform(entries)
  const now = performance.now()
  const queuedMs = entries.reduce((most, { queuedAt }) => Math.max(most, now - queuedAt), 0)
  const message: BatchMessage = { kind, size: entries.length, queuedMs, error: null, durationMs: 0 }
  return trace(channels.batch, message, async () => await settings.perform(entries))
}

/** How the rows of a batch answer its entries. */
export interface RowAnswers<Item, Result, Row> {
  /** The index of the entry that a row belongs to, from 0. */
  indexOf(row: Row): number
  /** Answers an entry by its row. An entry for which it throws is rejected with that error. */
  answer(entry: Entry<Item, Result>, row: Row): void
  /** The error of an entry that has no row. */
  missing(): unknown
}

/**
 * Answers every entry by its row. An entry whose row is missing or unreadable is rejected; the others are not
 * affected. Of several rows for one entry, the first counts.
 */
export function answerEach<Item, Result, Row>(
  entries: readonly Entry<Item, Result>[],
  rows: readonly Row[],
  { indexOf, answer, missing }: RowAnswers<Item, Result, Row>,
): void {
  const unanswered: (Entry<Item, Result> | undefined)[] = [...entries]
  for (const row of rows) {
    const index = callHook('indexOf', () => indexOf(row))
    const entry = unanswered[index]
    if (entry === undefined) continue
    unanswered[index] = undefined
    answerBy(entry, () => answer(entry, row))
  }
  for (const entry of unanswered) entry?.reject(callHook('missing', missing))
}

/**
 * Performs the two halves of a failed batch, one after the other. Repeated bisection isolates the entry that
 * causes the failure.
 */
export async function bisect<T>(
  entries: readonly T[],
  perform: (half: readonly T[]) => Promise<void>,
): Promise<void> {
  const middle = Math.ceil(entries.length / 2)
  await perform(entries.slice(0, middle))
  await perform(entries.slice(middle))
}
