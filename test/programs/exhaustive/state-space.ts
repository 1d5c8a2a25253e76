/**
 * Everything reachable from one start, each once and by number: the states of the store, its replies, and the
 * states of a handler after these replies. A transition runs the real handler or the real store only the
 * first time; after that a schedule is a walk over numbers.
 */
import type { WalletChanges, WalletOptions } from 'bet-wallet'
import { isCall, keysOf, type Letter, letters, type Move } from './alphabet.js'
import {
  type Ending,
  endingOfMove,
  optionsOf,
  type Placebets,
  type Reads,
  type Reply,
  runHandler,
} from './handler.js'
import { type Movement, ObservedStore, unchanged, type Variant } from './observed-store.js'
import type { Start } from './starts.js'

/** A commit, or a movement by an external writer. */
export type Write = { changes: WalletChanges } | { move: Move }

/** A state of the store, and the writes that lead to it. */
export interface StoreState {
  text: string
  writes: readonly Write[]
  /** In cents. */
  balance: number
  /** The number of this balance among the balances of all states. */
  balanceNumber: number
  /** One bit per letter: its transaction is recorded. */
  recorded: number
  /** Per letter: the reply to its load. */
  snapshots: readonly number[]
  /** Per write: the number of the state after it times 2^20, plus the number of the reply. */
  next: Map<number, number>
  moved: readonly Movement[]
  observed: ObservedStore
}

/** A state of a handler. */
export interface HandlerState {
  letter: number
  at: 'load' | 'commit' | 'move' | 'end'
  /** At a load: it is confirmed, and so never stale. */
  confirmed: boolean
  /** The write that the handler waits for, at a commit or a movement. */
  write: number
  /** The commit is a debit: the store may refuse it. */
  isDebit: boolean
  ending: Ending | null
  /** The number of the ending's text among all endings. */
  endingNumber: number
  replies: readonly number[]
  /** Per reply: the handler state after it. */
  next: Map<number, number>
}

/** This transition has not run yet. */
export const unknown = -1
export const replyBase = 2 ** 20

/** Each of two other requests can fail one attempt, and so can a delayed commit. */
export const attemptsThatSuffice = 5

/** The replies of an injected fault, of an overloaded store, and of a store that refuses. */
const faultReplies: readonly Reply[] = [
  { error: new Error('Injected fault') },
  { error: Object.assign(new Error('overloaded'), { code: 'UNAVAILABLE' }) },
  { value: { status: 'unavailable' } },
  { value: { status: 'refused', errorCode: 'DEBIT_LIMIT_EXCEEDED', description: 'amount: above the limit' } },
]
export const injectedFault = 0
export const loadUnavailable = 1
export const commitUnavailable = 2
export const refusal = 3

export class StateSpace {
  readonly stores: StoreState[] = []
  readonly handlers: HandlerState[] = []
  readonly writes: Write[] = []
  readonly replies: Reply[] = [...faultReplies]
  readonly endings: Ending[] = []
  /** Per letter: its first handler state. */
  readonly roots: number[] = []
  /** The answers to the requests of the start. */
  readonly before: { letter: Letter; ending: Ending }[] = []

  readonly start: Start
  readonly variant: Variant
  readonly reads: Reads
  /** So few attempts that a request may end with a conflict. */
  readonly conflictsMayEnd: boolean
  readonly #options: WalletOptions
  readonly #storeNumbers = new Map<string, number>()
  readonly balanceNumbers = new Map<number, number>()
  readonly #writeNumbers = new Map<string, number>()
  readonly #replyNumbers = new Map<string, number>()
  readonly #endingNumbers = new Map<string, number>()
  readonly #endNumbers = new Map<string, number>()
  readonly #missingWrites: [store: number, write: number][] = []
  readonly #missingReplies: [handler: number, reply: number][] = []

  private constructor(
    start: Start,
    variant: Variant,
    attemptsMax: number,
    reads: Reads,
    placebets: Placebets,
  ) {
    this.start = start
    this.variant = variant
    this.reads = reads
    this.conflictsMayEnd = attemptsMax < attemptsThatSuffice
    this.#options = optionsOf(attemptsMax, placebets)
  }

  static async from(
    start: Start,
    variant: Variant = unchanged,
    attemptsMax = attemptsThatSuffice,
    reads: Reads = 'replicated',
    placebets: Placebets = 'commit-first',
  ): Promise<StateSpace> {
    const space = new StateSpace(start, variant, attemptsMax, reads, placebets)
    await space.#begin()
    return space
  }

  /** Returns the handler state after this reply, or `unknown`. */
  handlerAfter(handler: number, reply: number): number {
    const { next } = this.handlers[handler] as HandlerState
    const known = next.get(reply)
    if (known !== undefined) return known
    next.set(reply, unknown)
    this.#missingReplies.push([handler, reply])
    return unknown
  }

  /** Returns the store state after this write times 2^20, plus the reply; or `unknown`. */
  storeAfter(store: number, write: number): number {
    const { next } = this.stores[store] as StoreState
    const known = next.get(write)
    if (known !== undefined) return known
    next.set(write, unknown)
    this.#missingWrites.push([store, write])
    return unknown
  }

  /** Runs the transitions that were unknown. Returns `false` if there were none. */
  async learn(): Promise<boolean> {
    if (this.#missingWrites.length + this.#missingReplies.length === 0) return false
    for (const [store, write] of this.#missingWrites.splice(0)) {
      const state = this.stores[store] as StoreState
      state.next.set(write, await this.#perform(state, write))
    }
    for (const [handler, reply] of this.#missingReplies.splice(0)) {
      const from = this.handlers[handler] as HandlerState
      from.next.set(reply, await this.#handlerAt(from.letter, [...from.replies, reply]))
    }
    return true
  }

  async #begin(): Promise<void> {
    for (const [index, letter] of letters.entries()) {
      if (isCall(letter)) {
        this.roots.push(await this.#handlerAt(index, []))
        continue
      }
      const write = this.#write({ move: letter }, letter.name)
      const root = this.#addHandler({ letter: index, at: 'move', write })
      for (const moved of ['done', 'not-done'] as const) {
        this.handlers[root]?.next.set(this.#reply({ moved }, moved), this.#end(index, endingOfMove(moved)))
      }
      this.roots.push(root)
    }
    // The requests of the start, one after the other.
    let writes: readonly Write[] = []
    for (const letter of this.start.before) {
      writes = [...writes, ...(await this.#past(letter, writes))]
    }
    await this.#store(writes)
  }

  async #past(letter: Letter, writes: readonly Write[]): Promise<Write[]> {
    const observed = await this.#storeOf(writes)
    if (!isCall(letter)) {
      this.before.push({ letter, ending: endingOfMove(observed.move(letter.step, letter.amount)) })
      return [{ move: letter }]
    }
    const done: Write[] = []
    const replies: Reply[] = []
    for (;;) {
      const waits = await runHandler(letter, replies, this.#options, this.reads)
      if (waits.at === 'end') {
        this.before.push({ letter, ending: waits.ending })
        return done
      }
      if (waits.at === 'load') replies.push({ value: await observed.load(keysOf(letter)) })
      else {
        replies.push({ value: await observed.commit(waits.changes) })
        done.push({ changes: waits.changes })
      }
    }
  }

  async #storeOf(writes: readonly Write[]): Promise<ObservedStore> {
    const observed = new ObservedStore(this.start, this.variant)
    for (const write of writes) await perform(observed, write)
    return observed
  }

  async #perform(state: StoreState, writeNumber: number): Promise<number> {
    const write = this.writes[writeNumber] as Write
    const observed = await this.#storeOf(state.writes)
    const reply = await perform(observed, write)
    const number = this.#reply(reply, 'moved' in reply ? reply.moved : `result ${JSON.stringify(reply)}`)
    const text = observed.text()
    const after =
      text === state.text
        ? (this.#storeNumbers.get(text) as number)
        : await this.#store([...state.writes, write], observed, text)
    return after * replyBase + number
  }

  async #store(writes: readonly Write[], built?: ObservedStore, itsText?: string): Promise<number> {
    const observed = built ?? (await this.#storeOf(writes))
    const text = itsText ?? observed.text()
    const known = this.#storeNumbers.get(text)
    if (known !== undefined) return known
    const balance = observed.balance()
    const balanceNumber = numberOf(this.balanceNumbers, balance, this.balanceNumbers.size)
    const snapshots: number[] = []
    let recorded = 0
    for (const [index, letter] of letters.entries()) {
      if (!isCall(letter)) {
        snapshots.push(unknown)
        continue
      }
      const value = await observed.load(keysOf(letter))
      if (value.transaction !== null) recorded |= 1 << index
      snapshots.push(this.#reply({ value }, `snapshot ${JSON.stringify(value)}`))
    }
    const number = this.stores.length
    this.#storeNumbers.set(text, number)
    this.stores.push({
      text,
      writes,
      balance,
      balanceNumber,
      recorded,
      snapshots,
      next: new Map(),
      moved: [...observed.movements.values()],
      observed,
    })
    return number
  }

  async #handlerAt(letterNumber: number, replies: readonly number[]): Promise<number> {
    const letter = letters[letterNumber] as Letter
    if (!isCall(letter)) throw new Error(`${letter.name} is not a call`)
    const known = replies.map(reply => this.replies[reply] as Reply)
    const waits = await runHandler(letter, known, this.#options, this.reads)
    if (waits.at === 'end') return this.#end(letterNumber, waits.ending)
    if (waits.at === 'load') {
      const { confirmed } = waits
      return this.#addHandler({ letter: letterNumber, at: 'load', confirmed, replies })
    }
    const { request: _, ...identifying } = waits.changes
    const write = this.#write({ changes: waits.changes }, JSON.stringify(identifying))
    const isDebit = waits.changes.account.delta.startsWith('-') ?? false
    return this.#addHandler({ letter: letterNumber, at: 'commit', write, isDebit, replies })
  }

  #end(letter: number, ending: Ending): number {
    const key = `${letter} ${ending.text} ${ending.fault}`
    const known = this.#endNumbers.get(key)
    if (known !== undefined) return known
    const endingNumber = numberOf(this.#endingNumbers, ending.text, this.endings.length)
    this.endings[endingNumber] = ending
    const handler = this.#addHandler({ letter, at: 'end', ending, endingNumber })
    this.#endNumbers.set(key, handler)
    return handler
  }

  #addHandler(of: Partial<HandlerState> & Pick<HandlerState, 'letter' | 'at'>): number {
    return (
      this.handlers.push({
        write: unknown,
        isDebit: false,
        confirmed: false,
        ending: null,
        endingNumber: unknown,
        replies: [],
        next: new Map(),
        ...of,
      }) - 1
    )
  }

  #write(write: Write, key: string): number {
    const number = numberOf(this.#writeNumbers, key, this.writes.length)
    if (number === this.writes.length) this.writes.push(write)
    return number
  }

  #reply(reply: Reply, key: string): number {
    const number = numberOf(this.#replyNumbers, key, this.replies.length)
    if (number === this.replies.length) this.replies.push(reply)
    return number
  }
}

async function perform(observed: ObservedStore, write: Write): Promise<Reply> {
  if ('changes' in write) return { value: await observed.commit(write.changes) }
  return { moved: observed.move(write.move.step, write.move.amount) }
}

function numberOf<K>(numbers: Map<K, number>, key: K, next: number): number {
  const known = numbers.get(key)
  if (known !== undefined) return known
  numbers.set(key, next)
  return next
}
