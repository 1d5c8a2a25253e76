/**
 * Coalescing: requests that arrive at the same time share a round trip. There is no timer: a batch is sent as
 * soon as a slot is free, with its share of everything queued by then. A single request is not delayed;
 * concurrent requests form batches.
 */
import { type BatchMessage, channels, isTraced, trace } from '../diagnostics.js'
import { WalletError } from '../errors.js'
import { type OptionChecks, optionChecks } from '../option-checks.js'

export interface QueueSettings {
  /** Maximum number of batches in flight. */
  slotsMax: number
  /** Maximum number of items in a batch. Free slots share the queue, in batches of at least 16 items. */
  batchMax: number
  /** Maximum number of queued items; for sheddable items, half of it. */
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
   * Whether the item belongs to bulk work: the settlements of an event arrive by thousands. While sheddable items
   * arrive too, at least one slot carries no bulk work, and batches of bulk work are smaller.
   */
  bulk?(item: Item): boolean
  /**
   * Items of one partition (a player) are never in two batches in flight: they are queued, then sent
   * together.
   */
  partitionKeyOf?(item: Item): string
  /**
   * Whether all items of a batch are of one partition, so that no item waits for the partition of another.
   */
  onePartitionPerBatch?: boolean
  /** Items of one batch have no key in common. The second item with a key is passed to `onDuplicateKey`. */
  uniqueKeysOf?(item: Item): readonly string[]
  /**
   * Performs a batch, and answers every entry by `resolve` or `reject`. The slot is free again when its promise is
   * settled. If it rejects, every entry that is not answered yet is rejected with the same error.
   */
  perform(batch: readonly Entry<Item, Result>[]): Promise<void>
  /** Answers an entry that the queue has no room for, or that was queued too long: no changes were made. */
  onShed(entry: Entry<Item, Result>): void
  /**
   * Answers an entry that has a key in common with an entry of a batch, after that batch. Required with `uniqueKeysOf`.
   */
  onDuplicateKey?(entry: Entry<Item, Result>): void
}

/** A queued item and the promise of its result. */
export interface Entry<Item, Result> {
  readonly item: Item
  /** In milliseconds of `performance.now()`. */
  readonly queuedAt: number
  resolve(result: Result): void
  reject(error: unknown): void
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

interface State<Item, Result> {
  readonly settings: BatchSettings<Item, Result>
  /** Neither bulk nor sheddable: rollbacks. */
  priorityQueue: Entry<Item, Result>[]
  bulkQueue: Entry<Item, Result>[]
  sheddableQueue: Entry<Item, Result>[]
  /** When the last sheddable item arrived, in milliseconds of `performance.now()`. */
  sheddableAt: number
  readonly partitionsInFlight: Set<string>
  /** Batches in flight; of these, the ones with bulk work. */
  slots: number
  bulkSlots: number
  /** Entries in flight. */
  inFlight: number
  shed: number
  scheduled: boolean
}

interface Batch<Item, Result> {
  entries: Entry<Item, Result>[]
  /** Entries with a key in common with one of `entries`. */
  duplicates: Entry<Item, Result>[]
  partitions: Set<string>
  uniqueKeys: Set<string>
  /** Whether it carries bulk work. */
  isBulk: boolean
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
  const state: State<Item, Result> = {
    settings,
    priorityQueue: [],
    bulkQueue: [],
    sheddableQueue: [],
    sheddableAt: Number.NEGATIVE_INFINITY,
    partitionsInFlight: new Set(),
    slots: 0,
    bulkSlots: 0,
    inFlight: 0,
    shed: 0,
    scheduled: false,
  }
  return {
    submit: item =>
      new Promise((resolve, reject) => {
        enqueue(state, { item, queuedAt: performance.now(), resolve, reject })
      }),
    add: entry => enqueue(state, entry),
    get stats() {
      return { queued: queuedIn(state), inFlight: state.inFlight, shed: state.shed }
    },
  }
}

const check: OptionChecks = optionChecks(message => {
  throw new WalletError('INVALID_OPTIONS', message)
})

const callbackNames = [
  ...['sheddable', 'bulk', 'partitionKeyOf', 'uniqueKeysOf'],
  ...['perform', 'onShed', 'onDuplicateKey'],
]
const numberNames = ['slotsMax', 'batchMax', 'queueMax', 'queuedMsMax']

function checkSettings(settings: object): void {
  check.names(settings, [...callbackNames, ...numberNames, 'onePartitionPerBatch', 'kind'])
  const given: Readonly<Record<string, unknown>> = { ...settings }
  for (const name of numberNames) check.whole(name, given[name], name === 'queuedMsMax' ? 0 : 1)
  for (const name of callbackNames) check.func(name, given[name])
  const { kind } = given
  if (kind !== undefined && (typeof kind !== 'string' || kind === '')) check.invalid('kind must be text')
  const required = ['sheddable', 'perform', 'onShed', ...(given.uniqueKeysOf ? ['onDuplicateKey'] : [])]
  for (const name of required) if (given[name] === undefined) check.invalid(`${name} must be a function`)
}

function queuedIn<Item, Result>({ priorityQueue, bulkQueue, sheddableQueue }: State<Item, Result>): number {
  return priorityQueue.length + bulkQueue.length + sheddableQueue.length
}

function enqueue<Item, Result>(state: State<Item, Result>, entry: Entry<Item, Result>): void {
  const { settings, sheddableQueue } = state
  const isSheddable = settings.sheddable(entry.item)
  const isFull =
    queuedIn(state) >= settings.queueMax || (isSheddable && sheddableQueue.length >= settings.queueMax / 2)
  if (isFull) {
    shed(state, entry)
    return
  }
  if (isSheddable) {
    sheddableQueue.push(entry)
    state.sheddableAt = performance.now()
  } else if (settings.bulk?.(entry.item) === true) {
    state.bulkQueue.push(entry)
  } else {
    state.priorityQueue.push(entry)
  }
  schedule(state)
}

function shed<Item, Result>(state: State<Item, Result>, entry: Entry<Item, Result>): void {
  state.shed += 1
  state.settings.onShed(entry)
}

/**
 * Sends batches after the input of this turn of the event loop is read: requests that arrived together are
 * sent together.
 */
function schedule<Item, Result>(state: State<Item, Result>): void {
  const { slotsMax } = state.settings
  if (state.scheduled || state.slots >= slotsMax) return
  state.scheduled = true
  setImmediate(() => {
    state.scheduled = false
    while (state.slots < slotsMax) {
      const batch = takeBatch(state)
      if (batch.entries.length === 0) return
      void send(state, batch)
    }
  })
}

/** For how long after a sheddable item a slot is kept free of bulk work. */
const mixedMs = 100

function takeBatch<Item, Result>(state: State<Item, Result>): Batch<Item, Result> {
  const { slotsMax, queuedMsMax } = state.settings
  const now = performance.now()
  const batch: Batch<Item, Result> = {
    entries: [],
    duplicates: [],
    partitions: new Set(),
    uniqueKeys: new Set(),
    isBulk: false,
    queuedSince: now - queuedMsMax,
  }
  if (slotsMax === 1 || now - state.sheddableAt > mixedMs) return takeFromAll(state, batch)
  // Bulk work goes on in one slot; the other slots are for everything else, and for bulk work only if there is
  // nothing else.
  if (state.bulkSlots === 0) takeBulk(state, batch)
  if (batch.entries.length === 0) takeOthers(state, batch)
  if (batch.entries.length === 0 && state.bulkSlots < slotsMax - 1) takeBulk(state, batch)
  return batch
}

/**
 * How many items a batch takes: the free slots share the queue. One batch with all of it would leave the other slots
 * idle: the callers wait for that batch, and their next requests arrive together again.
 */
function shareOf<Item, Result>({ settings, slots }: State<Item, Result>, queued: number): number {
  const { batchMax, slotsMax } = settings
  return Math.min(batchMax, Math.max(shareMin, Math.ceil(queued / (slotsMax - slots))))
}

/** Smaller batches would cost more than they gain. */
const shareMin = 16

/** Half of the batch is for sheddable items; each half may be larger if the other one is short. */
function takeFromAll<Item, Result>(
  state: State<Item, Result>,
  batch: Batch<Item, Result>,
): Batch<Item, Result> {
  const batchMax = shareOf(state, queuedIn(state))
  const most = Math.max(batchMax / 2, batchMax - state.sheddableQueue.length)
  state.priorityQueue = fill(state, batch, state.priorityQueue, most)
  const others = batch.entries.length
  state.bulkQueue = fill(state, batch, state.bulkQueue, most)
  batch.isBulk = batch.entries.length > others
  state.sheddableQueue = fill(state, batch, state.sheddableQueue, batchMax)
  return batch
}

function takeOthers<Item, Result>(state: State<Item, Result>, batch: Batch<Item, Result>): void {
  const batchMax = shareOf(state, state.priorityQueue.length + state.sheddableQueue.length)
  const most = Math.max(batchMax / 2, batchMax - state.sheddableQueue.length)
  state.priorityQueue = fill(state, batch, state.priorityQueue, most)
  state.sheddableQueue = fill(state, batch, state.sheddableQueue, batchMax)
}

/** A smaller batch: while it runs, the database and this process have less time for the others. */
function takeBulk<Item, Result>(state: State<Item, Result>, batch: Batch<Item, Result>): void {
  state.bulkQueue = fill(state, batch, state.bulkQueue, Math.ceil(state.settings.batchMax / bulkShare))
  batch.isBulk = batch.entries.length > 0
}

const bulkShare = 2

/**
 * Moves entries from the queue into the batch, and sheds those that were queued too long.
 *
 * @returns the entries that stay queued, in their order
 */
function fill<Item, Result>(
  state: State<Item, Result>,
  batch: Batch<Item, Result>,
  queue: readonly Entry<Item, Result>[],
  entriesMax: number,
): Entry<Item, Result>[] {
  const { settings, partitionsInFlight } = state
  const { entries, duplicates, partitions, uniqueKeys, queuedSince } = batch
  const staying: Entry<Item, Result>[] = []
  for (const entry of queue) {
    const partition = settings.partitionKeyOf?.(entry.item)
    const mustWait =
      partition !== undefined &&
      (partitionsInFlight.has(partition) ||
        (settings.onePartitionPerBatch === true && partitions.size > 0 && !partitions.has(partition)))
    if (entry.queuedAt < queuedSince) {
      shed(state, entry)
    } else if (entries.length >= entriesMax || mustWait) {
      staying.push(entry)
    } else {
      const keys = settings.uniqueKeysOf?.(entry.item) ?? []
      const isDuplicate = keys.some(key => uniqueKeys.has(key))
      for (const key of keys) uniqueKeys.add(key)
      if (partition !== undefined) partitions.add(partition)
      ;(isDuplicate ? duplicates : entries).push(entry)
    }
  }
  return staying
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

async function send<Item, Result>(state: State<Item, Result>, batch: Batch<Item, Result>): Promise<void> {
  const { settings, partitionsInFlight } = state
  const { entries, duplicates, partitions, isBulk } = batch
  state.slots += 1
  if (isBulk) state.bulkSlots += 1
  state.inFlight += entries.length + duplicates.length
  for (const partition of partitions) partitionsInFlight.add(partition)
  try {
    await performTraced(settings.kind ?? 'batch', settings, entries)
  } catch (error) {
    for (const entry of entries) entry.reject(error)
  }
  for (const partition of partitions) partitionsInFlight.delete(partition)
  state.slots -= 1
  if (isBulk) state.bulkSlots -= 1
  state.inFlight -= entries.length + duplicates.length
  for (const entry of duplicates) settings.onDuplicateKey?.(entry)
  if (queuedIn(state) > 0) schedule(state)
}
