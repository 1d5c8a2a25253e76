/** Events in simulated time: a binary heap by step, first in first out within a step. */

interface Entry {
  step: number
  order: number
  run: () => void
}

const isBefore = (a: Entry, b: Entry) => a.step < b.step || (a.step === b.step && a.order < b.order)

export class DueQueue {
  readonly #heap: Entry[] = []
  #pushed = 0

  get size(): number {
    return this.#heap.length
  }

  push(step: number, run: () => void): void {
    const heap = this.#heap
    const entry = { step, order: this.#pushed, run }
    this.#pushed += 1
    let index = heap.length
    heap.push(entry)
    while (index > 0) {
      const parent = (index - 1) >> 1
      const above = heap[parent] as Entry
      if (!isBefore(entry, above)) break
      heap[index] = above
      index = parent
    }
    heap[index] = entry
  }

  /** Removes and returns the first event that is due at `step`; `null` if there is none. */
  popDue(step: number): (() => void) | null {
    const first = this.#heap[0]
    if (first === undefined || first.step > step) return null
    const last = this.#heap.pop() as Entry
    if (this.#heap.length > 0) this.#sink(last)
    return first.run
  }

  /** The step of the first event; `null` if the queue is empty. */
  nextStep(): number | null {
    return this.#heap[0]?.step ?? null
  }

  clear(): void {
    this.#heap.length = 0
  }

  #sink(entry: Entry): void {
    const heap = this.#heap
    let index = 0
    for (;;) {
      let child = 2 * index + 1
      const left = heap[child]
      if (left === undefined) break
      const right = heap[child + 1]
      let first = left
      if (right !== undefined && isBefore(right, left)) {
        first = right
        child += 1
      }
      if (!isBefore(first, entry)) break
      heap[index] = first
      index = child
    }
    heap[index] = entry
  }
}
