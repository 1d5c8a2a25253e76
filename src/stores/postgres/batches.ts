/**
 * Coalescing: what is asked for at the same time shares a round trip. No timer: a batch leaves as soon as a lane is free,
 * with all that waits by then. So a lone request is not delayed, and a crowd makes its own batches.
 */

export interface BatchSettings<Item, Result> {
  /** How many batches may be under way at once. */
  lanesMax: number
  /** How many items a batch may have. */
  batchMax: number
  /** How many items may wait; of those that yield, half as many. */
  waitingMax: number
  /** How long an item may wait for its batch to leave, in milliseconds. */
  waitMsMax: number
  /** Whether the item is turned away first where too many wait: a placebet, whose rollback will need the room. */
  yields(item: Item): boolean
  /** Items of one order (a player's) are never in two batches at once: they wait for each other, then go together. */
  orderOf?(item: Item): string
  /** Whether a batch has items of one order only, so that nobody waits for another's. */
  oneOrderPerBatch?: boolean
  /** No two items of a batch have one of these in common. Who comes second has `collided`. */
  identitiesOf?(item: Item): readonly string[]
  /** Performs a batch and settles every entry of it. Never rejects. */
  perform(batch: readonly Entry<Item, Result>[]): Promise<void>
  /** Answers who cannot go, or has waited too long: certainly nothing was done. */
  turnAway(entry: Entry<Item, Result>): void
  /** Answers who has an identity in common with one that went ahead, once that one is through. */
  collided?(entry: Entry<Item, Result>): void
}

export interface Entry<Item, Result> {
  readonly item: Item
  /** In milliseconds of `performance.now()`. */
  readonly since: number
  resolve(result: Result): void
  reject(error: unknown): void
}

export interface Batches<Item, Result> {
  submit(item: Item): Promise<Result>
  readonly load: BatchLoad
}

export interface BatchLoad {
  /** How many wait for their batch to leave. */
  waiting: number
  /** How many are under way. */
  underWay: number
  /** How many were turned away since the start. */
  turnedAway: number
}

interface Batch<Item, Result> {
  entries: Entry<Item, Result>[]
  followers: Entry<Item, Result>[]
  orders: Set<string>
  identities: Set<string>
}

export function createBatches<Item, Result>(settings: BatchSettings<Item, Result>): Batches<Item, Result> {
  const { lanesMax, batchMax, waitingMax, waitMsMax, orderOf, oneOrderPerBatch, identitiesOf } = settings
  let firm: Entry<Item, Result>[] = []
  let yielding: Entry<Item, Result>[] = []
  const ordersUnderWay = new Set<string>()
  let lanes = 0
  let underWay = 0
  let turnedAway = 0
  let scheduled = false

  function submit(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      const entry: Entry<Item, Result> = { item, since: performance.now(), resolve, reject }
      const yields = settings.yields(item)
      if (firm.length + yielding.length >= waitingMax || (yields && yielding.length >= waitingMax / 2)) {
        turnAway(entry)
        return
      }
      const queue = yields ? yielding : firm
      queue.push(entry)
      schedule()
    })
  }

  function turnAway(entry: Entry<Item, Result>): void {
    turnedAway += 1
    settings.turnAway(entry)
  }

  /** Once the input of this turn of the event loop is read: what came together leaves together. */
  function schedule(): void {
    if (scheduled || lanes >= lanesMax) return
    scheduled = true
    setImmediate(() => {
      scheduled = false
      while (lanes < lanesMax) {
        const batch = take()
        if (batch.entries.length === 0) return
        void send(batch)
      }
    })
  }

  /** Half of a batch for each of the two kinds, and all of it where the other has nothing to go. */
  function take(): Batch<Item, Result> {
    const latest = performance.now() - waitMsMax
    const batch: Batch<Item, Result> = {
      entries: [],
      followers: [],
      orders: new Set(),
      identities: new Set(),
    }
    firm = join(batch, firm, Math.max(batchMax / 2, batchMax - yielding.length), latest)
    yielding = join(batch, yielding, batchMax, latest)
    return batch
  }

  /** Moves what can go into the batch, and gives what stays, both in their order. */
  function join(
    { entries, followers, orders, identities }: Batch<Item, Result>,
    queue: Entry<Item, Result>[],
    entriesMax: number,
    latest: number,
  ): Entry<Item, Result>[] {
    const stay: Entry<Item, Result>[] = []
    for (const entry of queue) {
      const order = orderOf?.(entry.item)
      const mustWait =
        order !== undefined &&
        (ordersUnderWay.has(order) || (oneOrderPerBatch === true && orders.size > 0 && !orders.has(order)))
      if (entry.since < latest) {
        turnAway(entry)
      } else if (entries.length >= entriesMax || mustWait) {
        stay.push(entry)
      } else {
        const own = identitiesOf?.(entry.item) ?? []
        const collides = own.some(identity => identities.has(identity))
        for (const identity of own) identities.add(identity)
        if (order !== undefined) orders.add(order)
        ;(collides ? followers : entries).push(entry)
      }
    }
    return stay
  }

  async function send({ entries, followers, orders }: Batch<Item, Result>): Promise<void> {
    lanes += 1
    underWay += entries.length + followers.length
    for (const order of orders) ordersUnderWay.add(order)
    await settings.perform(entries)
    for (const order of orders) ordersUnderWay.delete(order)
    lanes -= 1
    underWay -= entries.length + followers.length
    for (const follower of followers) settings.collided?.(follower)
    if (firm.length + yielding.length > 0) schedule()
  }

  return {
    submit,
    get load() {
      return { waiting: firm.length + yielding.length, underWay, turnedAway }
    },
  }
}
