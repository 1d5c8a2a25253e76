/** Events in simulated time: a binary heap by step, first in first out within a step. */

interface Entry {
  step: number
  order: number
  run: () => void
}

export interface DueQueue {
  readonly size: number
  push(step: number, run: () => void): void
  /** Removes and returns the first event that is due at `step`; `null` if there is none. */
  popDue(step: number): (() => void) | null
  /** The step of the first event; `null` if the queue is empty. */
  nextStep(): number | null
  clear(): void
}

export function createDueQueue(): DueQueue {
  const heap: Entry[] = []
  let pushed = 0
  const isBefore = (a: Entry, b: Entry) => a.step < b.step || (a.step === b.step && a.order < b.order)

  function sink(entry: Entry): void {
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

  return {
    get size() {
      return heap.length
    },
    push(step, run) {
      const entry = { step, order: pushed, run }
      pushed += 1
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
    },
    popDue(step) {
      const first = heap[0]
      if (first === undefined || first.step > step) return null
      const last = heap.pop() as Entry
      if (heap.length > 0) sink(last)
      return first.run
    },
    nextStep: () => heap[0]?.step ?? null,
    clear: () => {
      heap.length = 0
    },
  }
}
