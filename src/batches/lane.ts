/** Queued items by partition, in constant time each: no call costs more where many are queued. */

/** First in, first out. `shift` of an array moves all the others. */
export class Fifo<T> {
  #new: T[] = []
  /** The first one is the last. */
  #old: T[] = []

  get length(): number {
    return this.#new.length + this.#old.length
  }

  get first(): T | undefined {
    return this.#old.at(-1) ?? this.#new[0]
  }

  push(item: T): void {
    this.#new.push(item)
  }

  shift(): T | undefined {
    if (this.#old.length === 0) [this.#new, this.#old] = [[], this.#new.reverse()]
    return this.#old.pop()
  }
}

/**
 * The queued items of one priority. The partitions take turns, each with its first item; none has one while
 * it is in `taken`.
 */
export class Lane<Item> {
  readonly #taken: ReadonlySet<unknown>
  readonly #queues = new Map<unknown, Fifo<Item>>()
  /** Partitions with queued items: those whose turn comes, and those that wait until they are released. */
  readonly #ready = new Fifo<unknown>()
  readonly #waiting = new Set<unknown>()
  #length = 0

  /** @param taken partitions of all lanes; call `release` when one is taken out */
  constructor(taken: ReadonlySet<unknown>) {
    this.#taken = taken
  }

  get length(): number {
    return this.#length
  }

  /** How many items may be shifted now. */
  get ready(): number {
    return this.#ready.length
  }

  lengthOf(partition: unknown): number {
    return this.#queues.get(partition)?.length ?? 0
  }

  push(partition: unknown, item: Item): void {
    this.#length += 1
    const queue = this.#queues.get(partition) ?? new Fifo()
    queue.push(item)
    if (queue.length > 1) return
    this.#queues.set(partition, queue)
    if (this.#taken.has(partition)) this.#waiting.add(partition)
    else this.#ready.push(partition)
  }

  /** The next item, if there is one. The others of its partition wait for `release`. */
  shift(): { partition: unknown; item: Item } | undefined {
    while (this.#ready.length > 0) {
      const partition = this.#ready.shift()
      const queue = this.#queues.get(partition)
      const item = this.#taken.has(partition) ? undefined : queue?.shift()
      if (queue?.length === 0) this.#queues.delete(partition)
      else this.#waiting.add(partition)
      if (item === undefined) continue
      this.#length -= 1
      return { partition, item }
    }
    return undefined
  }

  release(partition: unknown): void {
    if (this.#waiting.delete(partition)) this.#ready.push(partition)
  }
}
