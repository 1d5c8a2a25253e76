/** A hash set of states. A state is a row of integers. */
export class StateTable {
  readonly width: number
  rows: Int32Array
  /** Per state: the number of schedules that continue from it; -1 while they are being counted. */
  counts: Float64Array
  size = 0
  /** Open addressing: the number of a row, or -1. */
  #slots: Int32Array

  constructor(width: number) {
    this.width = width
    this.rows = new Int32Array(width * 2048)
    this.counts = new Float64Array(2048)
    this.#slots = new Int32Array(8192).fill(-1)
  }

  clear(): void {
    this.size = 0
    this.#slots.fill(-1)
  }

  /** Returns the number of this state; `~number` if it is new. */
  add(from: Int32Array, offset: number): number {
    const { width } = this
    const mask = this.#slots.length - 1
    let slot = this.#hash(from, offset) & mask
    for (;;) {
      const found = this.#slots[slot] as number
      if (found === -1) break
      if (this.#isAt(found * width, from, offset)) return found
      slot = (slot + 1) & mask
    }
    const number = this.size
    this.size += 1
    if (this.size * width > this.rows.length) this.#growRows()
    const at = number * width
    for (let i = 0; i < width; i += 1) this.rows[at + i] = from[offset + i] as number
    this.#slots[slot] = number
    if (this.size * 2 > this.#slots.length) this.#growSlots()
    return ~number
  }

  #hash(from: Int32Array, offset: number): number {
    let hash = 0
    for (let i = 0; i < this.width; i += 1) {
      hash = Math.imul(hash ^ (from[offset + i] as number), 0x9e3779b1)
      hash ^= hash >>> 15
    }
    return hash
  }

  #isAt(at: number, from: Int32Array, offset: number): boolean {
    for (let i = 0; i < this.width; i += 1) {
      if (this.rows[at + i] !== from[offset + i]) return false
    }
    return true
  }

  #growRows(): void {
    const rows = new Int32Array(this.rows.length * 2)
    rows.set(this.rows)
    this.rows = rows
    const counts = new Float64Array(this.counts.length * 2)
    counts.set(this.counts)
    this.counts = counts
  }

  #growSlots(): void {
    this.#slots = new Int32Array(this.#slots.length * 2).fill(-1)
    const mask = this.#slots.length - 1
    for (let number = 0; number < this.size; number += 1) {
      let slot = this.#hash(this.rows, number * this.width) & mask
      while (this.#slots[slot] !== -1) slot = (slot + 1) & mask
      this.#slots[slot] = number
    }
  }
}
