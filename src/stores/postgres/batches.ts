/**
 * Coalescing: what is asked for at the same time shares a round trip. No timer: a batch leaves as soon as a lane is free,
 * with all that waits by then. So a lone request is not delayed, and a crowd makes its own batches.
 */

export interface BatchSettings<Item, Result> {
  /** How many batches may be under way at once. */
  slotsMax: number
  /** How many items a batch may have. */
  batchMax: number
  /** How many items may wait; of those that yield, half as many. */
  queueMax: number
  /** How long an item may wait for its batch to leave, in milliseconds. */
  queuedMsMax: number
  /** Whether the item is turned away first where too many wait: a placebet, whose rollback will need the room. */
  sheddable(item: Item): boolean
  /** Items of one order (a player's) are never in two batches at once: they wait for each other, then go together. */
  partitionKeyOf?(item: Item): string
  /** Whether a batch has items of one order only, so that nobody waits for another's. */
  onePartitionPerBatch?: boolean
  /** No two items of a batch have one of these in common. Who comes second has `collided`. */
  uniqueKeysOf?(item: Item): readonly string[]
  /** Performs a batch and settles every entry of it. Never rejects. */
  perform(batch: readonly Entry<Item, Result>[]): Promise<void>
  /** Answers who cannot go, or has waited too long: certainly nothing was done. */
  onShed(entry: Entry<Item, Result>): void
  /** Answers who has an identity in common with one that went ahead, once that one is through. */
  onDuplicateKey?(entry: Entry<Item, Result>): void
}

export interface Entry<Item, Result> {
  readonly item: Item
  /** In milliseconds of `performance.now()`. */
  readonly queuedAt: number
  resolve(result: Result): void
  reject(error: unknown): void
}

export interface Batches<Item, Result> {
  submit(item: Item): Promise<Result>
  readonly stats: QueueStats
}

export interface QueueStats {
  /** How many wait for their batch to leave. */
  queued: number
  /** How many are under way. */
  inFlight: number
  /** How many were turned away since the start. */
  shed: number
}

interface Batch<Item, Result> {
  entries: Entry<Item, Result>[]
  followers: Entry<Item, Result>[]
  partitions: Set<string>
  uniqueKeys: Set<string>
}

export function createBatches<Item, Result>(settings: BatchSettings<Item, Result>): Batches<Item, Result> {
  const { slotsMax, batchMax, queueMax, queuedMsMax, partitionKeyOf, onePartitionPerBatch, uniqueKeysOf } =
    settings
  let priorityQueue: Entry<Item, Result>[] = []
  let sheddableQueue: Entry<Item, Result>[] = []
  const partitionsInFlight = new Set<string>()
  let slots = 0
  let inFlight = 0
  let shed = 0
  let scheduled = false

  function submit(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      const entry: Entry<Item, Result> = { item, queuedAt: performance.now(), resolve, reject }
      const yields = settings.sheddable(item)
      if (
        priorityQueue.length + sheddableQueue.length >= queueMax ||
        (yields && sheddableQueue.length >= queueMax / 2)
      ) {
        shedEntry(entry)
        return
      }
      const queue = yields ? sheddableQueue : priorityQueue
      queue.push(entry)
      schedule()
    })
  }

  function shedEntry(entry: Entry<Item, Result>): void {
    shed += 1
    settings.onShed(entry)
  }

  /** Once the input of this turn of the event loop is read: what came together leaves together. */
  function schedule(): void {
    if (scheduled || slots >= slotsMax) return
    scheduled = true
    setImmediate(() => {
      scheduled = false
      while (slots < slotsMax) {
        const batch = take()
        if (batch.entries.length === 0) return
        void send(batch)
      }
    })
  }

  /** Half of a batch for each of the two kinds, and all of it where the other has nothing to go. */
  function take(): Batch<Item, Result> {
    const latest = performance.now() - queuedMsMax
    const batch: Batch<Item, Result> = {
      entries: [],
      followers: [],
      partitions: new Set(),
      uniqueKeys: new Set(),
    }
    priorityQueue = join(
      batch,
      priorityQueue,
      Math.max(batchMax / 2, batchMax - sheddableQueue.length),
      latest,
    )
    sheddableQueue = join(batch, sheddableQueue, batchMax, latest)
    return batch
  }

  /** Moves what can go into the batch, and gives what stays, both in their order. */
  function join(
    { entries, followers, partitions, uniqueKeys }: Batch<Item, Result>,
    queue: Entry<Item, Result>[],
    entriesMax: number,
    latest: number,
  ): Entry<Item, Result>[] {
    const stay: Entry<Item, Result>[] = []
    for (const entry of queue) {
      const order = partitionKeyOf?.(entry.item)
      const mustWait =
        order !== undefined &&
        (partitionsInFlight.has(order) ||
          (onePartitionPerBatch === true && partitions.size > 0 && !partitions.has(order)))
      if (entry.queuedAt < latest) {
        shedEntry(entry)
      } else if (entries.length >= entriesMax || mustWait) {
        stay.push(entry)
      } else {
        const own = uniqueKeysOf?.(entry.item) ?? []
        const collides = own.some(identity => uniqueKeys.has(identity))
        for (const identity of own) uniqueKeys.add(identity)
        if (order !== undefined) partitions.add(order)
        ;(collides ? followers : entries).push(entry)
      }
    }
    return stay
  }

  async function send({ entries, followers, partitions }: Batch<Item, Result>): Promise<void> {
    slots += 1
    inFlight += entries.length + followers.length
    for (const order of partitions) partitionsInFlight.add(order)
    await settings.perform(entries)
    for (const order of partitions) partitionsInFlight.delete(order)
    slots -= 1
    inFlight -= entries.length + followers.length
    for (const follower of followers) settings.onDuplicateKey?.(follower)
    if (priorityQueue.length + sheddableQueue.length > 0) schedule()
  }

  return {
    submit,
    get stats() {
      return { queued: priorityQueue.length + sheddableQueue.length, inFlight, shed }
    },
  }
}
