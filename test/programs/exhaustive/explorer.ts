/**
 * Explores every schedule of some concurrent requests, with at most one fault, as walks through a graph of
 * states. One step is a load, a commit, a movement by an external writer, or the delivery of a delayed
 * commit. A store acts and replies in one step: no other request can see anything between the two.
 *
 * A state holds everything that the future and the checks depend on. Equal states are visited once; all
 * schedules through them are counted.
 */

import { answeredBalance, Checker, type End, faults } from './checker.js'
import type { Ending } from './handler.js'
import { addsUp, balanceExisted, neverNegative, type Violation } from './money.js'
import {
  commitUnavailable,
  type HandlerState,
  injectedFault,
  loadUnavailable,
  refusal,
  replyBase,
  type StateSpace,
  type StoreState,
  unknown,
} from './state-space.js'
import { StateTable } from './state-table.js'

/** The possible results of the store call that a request waits for. */
export const actions = [
  'is answered',
  'load throws',
  'load is unavailable',
  'is lost before the write',
  'is lost after the write',
  'is lost and delivered later',
  'is unavailable',
  'is refused',
  'load is stale',
] as const

/** One step of a schedule. `slot` -1: the delayed commit is delivered. */
export interface Step {
  slot: number
  action: (typeof actions)[number]
}

export interface Findings {
  /** All schedules, including those through merged states. Identical requests are interchangeable. */
  schedules: number
  states: number
  ends: number
  /** Per invariant: the number of steps and ends that violate it. */
  violated: Map<string, number>
}

/** The numbers of the store state and of all handler states. */
export interface Moment {
  store: number
  handlers: readonly number[]
  /** The delayed commit that is not delivered yet, or -1. */
  delayed: number
}

export interface Trace {
  word: readonly number[]
  steps: readonly Step[]
  /** Before the first step and after each. */
  moments: readonly Moment[]
  violations: readonly Violation[]
}

const delivery = -1
const slotsMax = 3
/**
 * The second number of a row holds the fault, which request was answered before which began, and the delayed
 * commit.
 */
const faultBits = 4
const beforeBits = 9
const delayedShift = faultBits + beforeBits
const faultMask = (1 << faultBits) - 1
const beforeMask = (1 << beforeBits) - 1

const violationCodes = ['', balanceExisted, addsUp, neverNegative] as const

export class Explorer {
  readonly space: StateSpace
  readonly checker: Checker
  #word: readonly number[] = []
  #width = 0
  #table = new StateTable(1)
  readonly #tables = new Map<number, StateTable>()
  /** Per depth: the state after each possible step, the step, and the violation in it. */
  readonly #after: Int32Array[] = []
  readonly #steps: Int32Array[] = []
  readonly #violations: Int32Array[] = []
  /** Per balance number: its bit in the rows of this word. */
  #bits = new Map<number, number>()
  #count = 0
  #ends = 0
  #incomplete = false
  #violated = new Map<string, number>()
  #onEnd: ((end: End) => void) | null = null

  constructor(space: StateSpace) {
    this.space = space
    this.checker = new Checker(space)
  }

  /** Explores all schedules of a word. */
  async explore(word: readonly number[], onEnd: ((end: End) => void) | null = null): Promise<Findings> {
    this.#begin(word)
    let schedules: number
    do {
      this.#table.clear()
      this.#violated = new Map()
      this.#ends = 0
      this.#incomplete = false
      this.#onEnd = null
      schedules = this.#walk(this.#addRoot(), 0)
    } while (await this.space.learn())
    if (this.#incomplete) throw new Error('a transition remained unknown')
    const findings = { schedules, states: this.#table.size, ends: this.#ends, violated: this.#violated }
    if (onEnd !== null) {
      this.#table.clear()
      this.#onEnd = onEnd
      this.#walk(this.#addRoot(), 0)
      this.#onEnd = null
    }
    return findings
  }

  /**
   * Returns the shortest trace that violates the invariant, with fewer than `stepsMax` steps. Call `explore`
   * first.
   */
  shortestTrace(
    word: readonly number[],
    invariant: string,
    stepsMax: number = Number.POSITIVE_INFINITY,
  ): Trace | null {
    this.#begin(word)
    this.#table.clear()
    this.#violated = new Map()
    const cameFrom: { state: number; step: number; depth: number }[] = []
    const queue = [this.#addRoot()]
    for (const state of queue) {
      const depth = cameFrom[state]?.depth ?? 0
      if (depth >= stepsMax) return null
      const { rows, width } = this.#table
      if (this.#isEnd(rows, state * width)) {
        const end = this.#endOf(rows, state * width)
        const violations = this.checker.explain(end).filter(violation => violation.invariant === invariant)
        if (violations.length > 0) return this.#traceTo(state, null, cameFrom, violations)
        continue
      }
      const count = this.#expand(state, 0)
      const [after, steps, violated] = [this.#after[0], this.#steps[0], this.#violations[0]]
      for (let k = 0; k < count; k += 1) {
        const code = violated?.[k] as number
        if (code !== 0 && invariant === violationCodes[code] && depth + 1 < stepsMax) {
          const violation = this.#violationOfStep(code, state, after as Int32Array, k)
          return this.#traceTo(state, { step: steps?.[k] as number, at: k }, cameFrom, [violation])
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
    if (word.length > slotsMax) throw new Error(`at most ${slotsMax} concurrent requests`)
    this.#word = word
    this.#width = 2 + 2 * word.length
    let table = this.#tables.get(this.#width)
    if (table === undefined) {
      table = new StateTable(this.#width)
      this.#tables.set(this.#width, table)
    }
    this.#table = table
    this.#bits = new Map()
    this.checker.begin(word)
  }

  #addRoot(): number {
    const n = this.#word.length
    const row = new Int32Array(this.#width)
    const { recorded, balanceNumber } = this.space.stores[0] as StoreState
    for (const [slot, letter] of this.#word.entries()) {
      row[2 + slot] = this.space.roots[letter] as number
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

  /** Returns the number of schedules that continue from this state. */
  #walk(state: number, depth: number): number {
    const table = this.#table
    table.counts[state] = -1
    const { width } = table
    if (this.#isEnd(table.rows, state * width)) {
      this.#ends += 1
      this.#checkEnd(table.rows, state * width)
      table.counts[state] = 1
      return 1
    }
    const count = this.#expand(state, depth)
    if (count === 0 && !this.#incomplete) throw new Error('a schedule is stuck')
    const after = this.#after[depth] as Int32Array
    const violated = this.#violations[depth] as Int32Array
    let schedules = 0
    for (let k = 0; k < count; k += 1) {
      const violation = violated[k] as number
      if (violation !== 0) this.#note(violationCodes[violation] as string)
      const next = table.add(after, k * width)
      if (next < 0) schedules += this.#walk(~next, depth + 1)
      else {
        const known = table.counts[next] as number
        if (known === -1) throw new Error('a schedule never ends')
        schedules += known
      }
    }
    table.counts[state] = schedules
    return schedules
  }

  #isEnd(rows: Int32Array, row: number): boolean {
    if ((rows[row + 1] as number) >>> delayedShift !== 0) return false
    for (let slot = 0; slot < this.#word.length; slot += 1) {
      if ((this.space.handlers[rows[row + 2 + slot] as number] as HandlerState).at !== 'end') return false
    }
    return true
  }

  #checkEnd(rows: Int32Array, row: number): void {
    const meta = rows[row + 1] as number
    let key = `${rows[row]} ${meta & faultMask}`
    for (let slot = 0; slot < this.#word.length; slot += 1) key += ` ${rows[row + 2 + slot]}`
    const before = (meta >>> faultBits) & beforeMask
    for (const invariant of this.checker.end(key, () => this.#endOf(rows, row), before)) this.#note(invariant)
    this.#onEnd?.(this.#endOf(rows, row))
  }

  #endOf(rows: Int32Array, row: number): End {
    const meta = rows[row + 1] as number
    return {
      word: this.#word,
      store: rows[row] as number,
      fault: meta & faultMask,
      endings: this.#word.map(
        (_, slot) => (this.space.handlers[rows[row + 2 + slot] as number] as HandlerState).ending as Ending,
      ),
      before: (meta >>> faultBits) & beforeMask,
    }
  }

  #note(invariant: string): void {
    this.#violated.set(invariant, (this.#violated.get(invariant) ?? 0) + 1)
  }

  /** Writes every state after one more step. Returns their number. */
  #expand(state: number, depth: number): number {
    this.#after[depth] ??= new Int32Array((2 + 2 * slotsMax) * 24)
    this.#steps[depth] ??= new Int32Array(24)
    this.#violations[depth] ??= new Int32Array(24)
    this.#count = 0
    const { rows } = this.#table
    const row = state * this.#width
    const n = this.#word.length
    const store = rows[row] as number
    const meta = rows[row + 1] as number
    const clean = (meta & faultMask) === faults.none
    const { space } = this

    for (let slot = 0; slot < n; slot += 1) {
      const handlerNumber = rows[row + 2 + slot] as number
      const handler = space.handlers[handlerNumber] as HandlerState
      if (handler.at === 'end') continue
      // Of identical requests that have not begun, only the first may begin: they are interchangeable.
      if (
        slot > 0 &&
        this.#word[slot] === this.#word[slot - 1] &&
        handlerNumber === rows[row + 1 + slot] &&
        this.#isRoot(slot, handlerNumber)
      )
        continue

      if (handler.at === 'load') {
        const snapshot = (space.stores[store] as StoreState).snapshots[handler.letter] as number
        this.#addStep(row, depth, slot, 0, store, snapshot, meta)
        const old = (space.stores[0] as StoreState).snapshots[handler.letter] as number
        const mayBeStale = space.reads !== 'single' && !handler.confirmed && old !== snapshot
        if (mayBeStale && (clean || (meta & faultMask) === faults.stale))
          this.#addStep(row, depth, slot, 8, store, old, meta | faults.stale)
        if (clean) {
          this.#addStep(row, depth, slot, 1, store, injectedFault, meta | faults.harmless)
          this.#addStep(row, depth, slot, 2, store, loadUnavailable, meta | faults.harmless)
        }
        continue
      }

      const result = space.storeAfter(store, handler.write)
      const after = Math.floor(result / replyBase)
      if (result === unknown) this.#incomplete = true
      else this.#addStep(row, depth, slot, 0, after, result % replyBase, meta)
      if (clean && handler.at === 'commit') {
        const lost = meta | (faults.lost + slot)
        this.#addStep(row, depth, slot, 3, store, injectedFault, lost)
        if (result !== unknown) this.#addStep(row, depth, slot, 4, after, injectedFault, lost)
        this.#addStep(row, depth, slot, 5, store, injectedFault, lost | ((handler.write + 1) << delayedShift))
        this.#addStep(row, depth, slot, 6, store, commitUnavailable, meta | faults.harmless)
        if (handler.isDebit)
          this.#addStep(row, depth, slot, 7, store, refusal, meta | (faults.refused + slot))
      }
    }

    const delayed = meta >>> delayedShift
    if (delayed !== 0) {
      const result = space.storeAfter(store, delayed - 1)
      if (result === unknown) this.#incomplete = true
      else {
        const at = this.#copy(row, depth)
        const out = this.#after[depth] as Int32Array
        out[at + 1] = meta & ((1 << delayedShift) - 1)
        const violation = this.#moveTo(out, at, Math.floor(result / replyBase))
        this.#close(depth, delivery, 0, violation)
      }
    }
    return this.#count
  }

  #isRoot(slot: number, handler: number): boolean {
    return this.space.roots[this.#word[slot] as number] === handler
  }

  #copy(row: number, depth: number): number {
    const width = this.#width
    const at = this.#count * width
    const out = this.#after[depth] as Int32Array
    const { rows } = this.#table
    for (let i = 0; i < width; i += 1) out[at + i] = rows[row + i] as number
    return at
  }

  #close(depth: number, slot: number, action: number, violation: number): void {
    const steps = this.#steps[depth] as Int32Array
    const violations = this.#violations[depth] as Int32Array
    steps[this.#count] = slot === delivery ? delivery : slot * actions.length + action
    violations[this.#count] = violation
    this.#count += 1
  }

  /** One request receives this reply, and the store is in this state. */
  #addStep(
    row: number,
    depth: number,
    slot: number,
    action: number,
    store: number,
    reply: number,
    meta: number,
  ): void {
    const { space } = this
    const next = space.handlerAfter(this.#table.rows[row + 2 + slot] as number, reply)
    if (next === unknown) {
      this.#incomplete = true
      return
    }
    const n = this.#word.length
    const at = this.#copy(row, depth)
    const out = this.#after[depth] as Int32Array
    out[at + 1] = meta
    let violation = this.#moveTo(out, at, store)
    out[at + 2 + slot] = next
    const { ending } = space.handlers[next] as HandlerState
    if (ending !== null) {
      if (ending.balance !== null && violation === 0) {
        const had = out[at + 2 + n + slot] as number
        const number = space.balanceNumbers.get(ending.balance)
        const bit = number === undefined ? undefined : this.#bits.get(number)
        if (bit === undefined || (had & bit) === 0) violation = 1
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
    this.#close(depth, slot, action, violation)
  }

  /** Sets the store state. A waiting request whose transaction is recorded has seen the new balance. */
  #moveTo(out: Int32Array, at: number, store: number): number {
    const old = out[at] as number
    if (store === old) return 0
    out[at] = store
    const n = this.#word.length
    const { recorded, balanceNumber } = this.space.stores[store] as StoreState
    for (let slot = 0; slot < n; slot += 1) {
      const letter = this.#word[slot] as number
      const handler = this.space.handlers[out[at + 2 + slot] as number] as HandlerState
      if ((recorded & (1 << letter)) === 0 || handler.at === 'end') continue
      const since = at + 2 + n + slot
      out[since] = (out[since] as number) | this.#bitOf(balanceNumber)
    }
    const violation = this.checker.store(store)
    return violation === null
      ? 0
      : violationCodes.indexOf(violation.invariant as (typeof violationCodes)[number])
  }

  #balances(bits: number): number[] {
    const balances: number[] = []
    for (const [balance, number] of this.space.balanceNumbers) {
      if (bits & (this.#bits.get(number) ?? 0)) balances.push(balance)
    }
    return balances
  }

  #violationOfStep(code: number, state: number, after: Int32Array, k: number): Violation {
    const store = after[k * this.#width] as number
    if (code !== 1) return this.checker.store(store) as Violation
    const n = this.#word.length
    const row = state * this.#width
    for (let slot = 0; slot < n; slot += 1) {
      const handler = after[k * this.#width + 2 + slot] as number
      if (handler === this.#table.rows[row + 2 + slot]) continue
      const had = this.#table.rows[row + 2 + n + slot] as number
      const now = (this.space.stores[store] as StoreState).balance
      const { ending } = this.space.handlers[handler] as HandlerState
      return answeredBalance(ending as Ending, [...new Set([...this.#balances(had), now])])
    }
    throw new Error('no request was answered')
  }

  #traceTo(
    state: number,
    last: { step: number; at: number } | null,
    cameFrom: readonly { state: number; step: number }[],
    violations: readonly Violation[],
  ): Trace {
    const momentOf = (rows: Int32Array, row: number): Moment => ({
      store: rows[row] as number,
      handlers: Array.from(rows.subarray(row + 2, row + 2 + this.#word.length)),
      delayed: ((rows[row + 1] as number) >>> delayedShift) - 1,
    })
    const stepOf = (step: number): Step =>
      step === delivery
        ? { slot: delivery, action: actions[0] }
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
    return { word: this.#word, steps, moments, violations }
  }
}
