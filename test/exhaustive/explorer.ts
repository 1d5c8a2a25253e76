/**
 * Every schedule of some concurrent requests, with at most one fault, as walks through a graph of states. A step is: one
 * request hears from its store, a load shows what there is now, a commit is done or not, another writer moves money, a
 * commit whose answer was lost lands at last. A store acts and answers in one step: between the two, nothing that
 * another request could see happens, and the one that waits does nothing.
 *
 * A state is all that the future depends on and all that the judges ask for. States that are equal are visited once;
 * the schedules through them are counted all the same.
 */
import type { Ending } from './handler.js'
import { answeredBalance, type End, faults, Judge } from './judge.js'
import { addsUp, type Flaw, hadIt, neverNegative } from './money.js'
import { StateTable } from './state-table.js'
import {
  brokenLine,
  commitUnavailable,
  loadUnavailable,
  type Place,
  refusal,
  replyBase,
  type StoreState,
  type Universe,
  unknown,
} from './universe.js'

/** What can happen to the store call that a request waits for. */
export const actions = [
  'is answered',
  'load throws',
  'load is unavailable',
  'is lost before the write',
  'is lost after the write',
  'is lost and lands later',
  'is unavailable',
  'is refused',
] as const

/** One step of a schedule. `slot` -1: the late commit lands. */
export interface Step {
  slot: number
  action: (typeof actions)[number]
}

export interface Findings {
  /** All of them, also those that were not walked one by one. Requests that are the same are not told apart. */
  schedules: number
  states: number
  ends: number
  /** Per invariant: in how many steps or ends it was seen broken. */
  broken: Map<string, number>
}

/** Where everybody is at one moment, by number. */
export interface Moment {
  store: number
  places: readonly number[]
  /** The deed that is still on its way, or -1. */
  late: number
}

export interface Story {
  word: readonly number[]
  steps: readonly Step[]
  /** Before the first step and after each. */
  moments: readonly Moment[]
  flaws: readonly Flaw[]
}

const landing = -1
const slotsMax = 3
/** In the second number of a row: which fault, who was answered before whom began, and the late commit. */
const faultBits = 3
const beforeBits = 9
const lateShift = faultBits + beforeBits
const faultMask = (1 << faultBits) - 1
const beforeMask = (1 << beforeBits) - 1

const flawCodes = ['', hadIt, addsUp, neverNegative] as const

export class Explorer {
  readonly universe: Universe
  readonly judge: Judge
  #word: readonly number[] = []
  #width = 0
  #table = new StateTable(1)
  readonly #tables = new Map<number, StateTable>()
  /** Per depth: the states after each possible step, what step it is, and the flaw that it showed. */
  readonly #after: Int32Array[] = []
  readonly #steps: Int32Array[] = []
  readonly #flaws: Int32Array[] = []
  /** Bit per balance (its number in the universe), for this word. */
  #bits = new Map<number, number>()
  #count = 0
  #ends = 0
  #incomplete = false
  #broken = new Map<string, number>()
  #onEnd: ((end: End) => void) | null = null

  constructor(universe: Universe) {
    this.universe = universe
    this.judge = new Judge(universe)
  }

  /** Walks through all of it, and says what was found. */
  async explore(word: readonly number[], onEnd: ((end: End) => void) | null = null): Promise<Findings> {
    this.#begin(word)
    let schedules: number
    do {
      this.#table.clear()
      this.#broken = new Map()
      this.#ends = 0
      this.#incomplete = false
      this.#onEnd = null
      schedules = this.#walk(this.#addRoot(), 0)
    } while (await this.universe.learn())
    if (this.#incomplete) throw new Error('something remained unknown')
    const findings = { schedules, states: this.#table.size, ends: this.#ends, broken: this.#broken }
    if (onEnd !== null) {
      this.#table.clear()
      this.#onEnd = onEnd
      this.#walk(this.#addRoot(), 0)
      this.#onEnd = null
    }
    return findings
  }

  /** The shortest way to where this is broken, of fewer than so many steps. After `explore` of the word. */
  shortestStory(
    word: readonly number[],
    broken: string,
    stepsMax: number = Number.POSITIVE_INFINITY,
  ): Story | null {
    this.#begin(word)
    this.#table.clear()
    this.#broken = new Map()
    const cameFrom: { state: number; step: number; depth: number }[] = []
    const queue = [this.#addRoot()]
    for (const state of queue) {
      const depth = cameFrom[state]?.depth ?? 0
      if (depth >= stepsMax) return null
      const { rows, width } = this.#table
      if (this.#isEnd(rows, state * width)) {
        const end = this.#endOf(rows, state * width)
        const flaws = this.judge.explain(end).filter(flaw => flaw.broken === broken)
        if (flaws.length > 0) return this.#tell(state, null, cameFrom, flaws)
        continue
      }
      const count = this.#expand(state, 0)
      const [after, steps, flawed] = [this.#after[0], this.#steps[0], this.#flaws[0]]
      for (let k = 0; k < count; k += 1) {
        const code = flawed?.[k] as number
        if (code !== 0 && broken === flawCodes[code] && depth + 1 < stepsMax) {
          const flaw = this.#flawOfStep(code, state, after as Int32Array, k)
          return this.#tell(state, { step: steps?.[k] as number, at: k }, cameFrom, [flaw])
        }
        const next = this.#table.add(after as Int32Array, k * width)
        if (next >= 0) continue
        cameFrom[~next] = { state, step: steps?.[k] as number, depth: depth + 1 }
        queue.push(~next)
      }
    }
    return null
  }

  #begin(word: readonly number[]): void {
    if (word.length > slotsMax) throw new Error(`at most ${slotsMax} at once`)
    this.#word = word
    this.#width = 2 + 2 * word.length
    let table = this.#tables.get(this.#width)
    if (table === undefined) {
      table = new StateTable(this.#width)
      this.#tables.set(this.#width, table)
    }
    this.#table = table
    this.#bits = new Map()
    this.judge.begin(word)
  }

  #addRoot(): number {
    const n = this.#word.length
    const row = new Int32Array(this.#width)
    const { recorded, balanceNumber } = this.universe.stores[0] as StoreState
    for (const [slot, letter] of this.#word.entries()) {
      row[2 + slot] = this.universe.roots[letter] as number
      if (recorded & (1 << letter)) row[2 + n + slot] = this.#bitOf(balanceNumber)
    }
    return ~this.#table.add(row, 0)
  }

  #bitOf(balanceNumber: number): number {
    const known = this.#bits.get(balanceNumber)
    if (known !== undefined) return known
    if (this.#bits.size === 31) throw new Error('too many balances')
    const bit = 1 << this.#bits.size
    this.#bits.set(balanceNumber, bit)
    return bit
  }

  /** How many schedules go on from this state. */
  #walk(state: number, depth: number): number {
    const table = this.#table
    table.counts[state] = -1
    const { width } = table
    if (this.#isEnd(table.rows, state * width)) {
      this.#ends += 1
      this.#judgeEnd(table.rows, state * width)
      table.counts[state] = 1
      return 1
    }
    const count = this.#expand(state, depth)
    if (count === 0 && !this.#incomplete) throw new Error('a schedule that is stuck')
    const after = this.#after[depth] as Int32Array
    const flawed = this.#flaws[depth] as Int32Array
    let schedules = 0
    for (let k = 0; k < count; k += 1) {
      const flaw = flawed[k] as number
      if (flaw !== 0) this.#note(flawCodes[flaw] as string)
      const next = table.add(after, k * width)
      if (next < 0) schedules += this.#walk(~next, depth + 1)
      else {
        const known = table.counts[next] as number
        if (known === -1) throw new Error('a schedule that never ends')
        schedules += known
      }
    }
    table.counts[state] = schedules
    return schedules
  }

  #isEnd(rows: Int32Array, row: number): boolean {
    if ((rows[row + 1] as number) >>> lateShift !== 0) return false
    for (let slot = 0; slot < this.#word.length; slot += 1) {
      if ((this.universe.places[rows[row + 2 + slot] as number] as Place).at !== 'the end') return false
    }
    return true
  }

  #judgeEnd(rows: Int32Array, row: number): void {
    const meta = rows[row + 1] as number
    let key = `${rows[row]} ${meta & faultMask}`
    for (let slot = 0; slot < this.#word.length; slot += 1) key += ` ${rows[row + 2 + slot]}`
    const before = (meta >>> faultBits) & beforeMask
    for (const broken of this.judge.end(key, () => this.#endOf(rows, row), before)) this.#note(broken)
    this.#onEnd?.(this.#endOf(rows, row))
  }

  #endOf(rows: Int32Array, row: number): End {
    const meta = rows[row + 1] as number
    return {
      word: this.#word,
      store: rows[row] as number,
      fault: meta & faultMask,
      endings: this.#word.map(
        (_, slot) => (this.universe.places[rows[row + 2 + slot] as number] as Place).ending as Ending,
      ),
      before: (meta >>> faultBits) & beforeMask,
    }
  }

  #note(broken: string): void {
    this.#broken.set(broken, (this.#broken.get(broken) ?? 0) + 1)
  }

  /** Writes down every state that one step leads to. */
  #expand(state: number, depth: number): number {
    this.#after[depth] ??= new Int32Array((2 + 2 * slotsMax) * 24)
    this.#steps[depth] ??= new Int32Array(24)
    this.#flaws[depth] ??= new Int32Array(24)
    this.#count = 0
    const { rows } = this.#table
    const row = state * this.#width
    const n = this.#word.length
    const store = rows[row] as number
    const meta = rows[row + 1] as number
    const clean = (meta & faultMask) === faults.none
    const { universe } = this

    for (let slot = 0; slot < n; slot += 1) {
      const placeNumber = rows[row + 2 + slot] as number
      const place = universe.places[placeNumber] as Place
      if (place.at === 'the end') continue
      // Of requests that are the same and have not begun, one goes first: which, makes no difference.
      if (
        slot > 0 &&
        this.#word[slot] === this.#word[slot - 1] &&
        placeNumber === rows[row + 1 + slot] &&
        this.#isRoot(slot, placeNumber)
      )
        continue

      if (place.at === 'load') {
        const snapshot = (universe.stores[store] as StoreState).snapshots[place.letter] as number
        this.#go(row, depth, slot, 0, store, snapshot, meta)
        if (clean) {
          this.#go(row, depth, slot, 1, store, brokenLine, meta | faults.harmless)
          this.#go(row, depth, slot, 2, store, loadUnavailable, meta | faults.harmless)
        }
        continue
      }

      const result = universe.storeAfter(store, place.deed)
      const after = Math.floor(result / replyBase)
      if (result === unknown) this.#incomplete = true
      else this.#go(row, depth, slot, 0, after, result % replyBase, meta)
      if (clean && place.at === 'commit') {
        const lost = meta | (faults.lost + slot)
        this.#go(row, depth, slot, 3, store, brokenLine, lost)
        if (result !== unknown) this.#go(row, depth, slot, 4, after, brokenLine, lost)
        this.#go(row, depth, slot, 5, store, brokenLine, lost | ((place.deed + 1) << lateShift))
        this.#go(row, depth, slot, 6, store, commitUnavailable, meta | faults.harmless)
        if (place.takes) this.#go(row, depth, slot, 7, store, refusal, meta | (faults.refused + slot))
      }
    }

    const late = meta >>> lateShift
    if (late !== 0) {
      const result = universe.storeAfter(store, late - 1)
      if (result === unknown) this.#incomplete = true
      else {
        const at = this.#copy(row, depth)
        const out = this.#after[depth] as Int32Array
        out[at + 1] = meta & ((1 << lateShift) - 1)
        const flaw = this.#moveTo(out, at, Math.floor(result / replyBase))
        this.#close(depth, landing, 0, flaw)
      }
    }
    return this.#count
  }

  #isRoot(slot: number, place: number): boolean {
    return this.universe.roots[this.#word[slot] as number] === place
  }

  #copy(row: number, depth: number): number {
    const width = this.#width
    const at = this.#count * width
    const out = this.#after[depth] as Int32Array
    const { rows } = this.#table
    for (let i = 0; i < width; i += 1) out[at + i] = rows[row + i] as number
    return at
  }

  #close(depth: number, slot: number, action: number, flaw: number): void {
    const steps = this.#steps[depth] as Int32Array
    const flaws = this.#flaws[depth] as Int32Array
    steps[this.#count] = slot === landing ? landing : slot * actions.length + action
    flaws[this.#count] = flaw
    this.#count += 1
  }

  /** One request hears this reply, and the store is in this state. */
  #go(
    row: number,
    depth: number,
    slot: number,
    action: number,
    store: number,
    reply: number,
    meta: number,
  ): void {
    const { universe } = this
    const next = universe.placeAfter(this.#table.rows[row + 2 + slot] as number, reply)
    if (next === unknown) {
      this.#incomplete = true
      return
    }
    const n = this.#word.length
    const at = this.#copy(row, depth)
    const out = this.#after[depth] as Int32Array
    out[at + 1] = meta
    let flaw = this.#moveTo(out, at, store)
    out[at + 2 + slot] = next
    const { ending } = universe.places[next] as Place
    if (ending !== null) {
      if (ending.balance !== null && flaw === 0) {
        const had = out[at + 2 + n + slot] as number
        const number = universe.balanceNumbers.get(ending.balance)
        const bit = number === undefined ? undefined : this.#bits.get(number)
        if (bit === undefined || (had & bit) === 0) flaw = 1
      }
      out[at + 2 + n + slot] = 0
      if (ending.fault === null) {
        let before = 0
        for (let other = 0; other < n; other += 1) {
          if (other !== slot && this.#isRoot(other, out[at + 2 + other] as number)) {
            before |= 1 << (slot * 3 + other)
          }
        }
        out[at + 1] = meta | (before << faultBits)
      }
    }
    this.#close(depth, slot, action, flaw)
  }

  /** The store goes on; who waits sees balances come, once its transaction is recorded. */
  #moveTo(out: Int32Array, at: number, store: number): number {
    const old = out[at] as number
    if (store === old) return 0
    out[at] = store
    const n = this.#word.length
    const { recorded, balanceNumber } = this.universe.stores[store] as StoreState
    for (let slot = 0; slot < n; slot += 1) {
      const letter = this.#word[slot] as number
      const place = this.universe.places[out[at + 2 + slot] as number] as Place
      if ((recorded & (1 << letter)) === 0 || place.at === 'the end') continue
      const since = at + 2 + n + slot
      out[since] = (out[since] as number) | this.#bitOf(balanceNumber)
    }
    const flaw = this.judge.store(store)
    return flaw === null ? 0 : flawCodes.indexOf(flaw.broken as (typeof flawCodes)[number])
  }

  #balances(bits: number): number[] {
    const found: number[] = []
    for (const [balance, number] of this.universe.balanceNumbers) {
      if (bits & (this.#bits.get(number) ?? 0)) found.push(balance)
    }
    return found
  }

  #flawOfStep(code: number, state: number, after: Int32Array, k: number): Flaw {
    const store = after[k * this.#width] as number
    if (code !== 1) return this.judge.store(store) as Flaw
    const n = this.#word.length
    const row = state * this.#width
    for (let slot = 0; slot < n; slot += 1) {
      const place = after[k * this.#width + 2 + slot] as number
      if (place === this.#table.rows[row + 2 + slot]) continue
      const had = this.#table.rows[row + 2 + n + slot] as number
      const now = (this.universe.stores[store] as StoreState).balance
      const { ending } = this.universe.places[place] as Place
      return answeredBalance(ending as Ending, [...new Set([...this.#balances(had), now])])
    }
    throw new Error('nobody was answered')
  }

  #tell(
    state: number,
    last: { step: number; at: number } | null,
    cameFrom: readonly { state: number; step: number }[],
    flaws: readonly Flaw[],
  ): Story {
    const momentOf = (rows: Int32Array, row: number): Moment => ({
      store: rows[row] as number,
      places: Array.from(rows.subarray(row + 2, row + 2 + this.#word.length)),
      late: ((rows[row + 1] as number) >>> lateShift) - 1,
    })
    const stepOf = (step: number): Step =>
      step === landing
        ? { slot: landing, action: actions[0] }
        : {
            slot: Math.floor(step / actions.length),
            action: actions[step % actions.length] as Step['action'],
          }
    const { rows } = this.#table
    const steps: Step[] = []
    const moments = [momentOf(rows, state * this.#width)]
    for (let from = cameFrom[state]; from !== undefined; from = cameFrom[from.state]) {
      steps.unshift(stepOf(from.step))
      moments.unshift(momentOf(rows, from.state * this.#width))
    }
    if (last !== null) {
      steps.push(stepOf(last.step))
      moments.push(momentOf(this.#after[0] as Int32Array, last.at * this.#width))
    }
    return { word: this.#word, steps, moments, flaws }
  }
}
