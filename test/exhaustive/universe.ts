/**
 * Everything that can be, from one start, each thing once and by number: the states of the store, what it answers, and
 * where a handler is after these answers. Real handlers and the real store are asked when something is met for the
 * first time; from then on a schedule is a walk over numbers.
 */
import type { WalletChanges, WalletOptions } from 'bet-wallet'
import { isCall, keysOf, type Letter, letters, type Move } from './alphabet.js'
import { type Ending, endingOfMove, lead, optionsOf, type Reply } from './handler.js'
import type { Start } from './starts.js'
import { type Moved, sound, type Variant, World } from './world.js'

/** What can be done to a store. */
export type Deed = { changes: WalletChanges } | { move: Move }

/** A state of the store, and how it is reached. */
export interface StoreState {
  text: string
  deeds: readonly Deed[]
  /** In cents. */
  balance: number
  /** Of this balance, among those of all states. */
  balanceNumber: number
  /** Bit per letter: its transaction is recorded. */
  recorded: number
  /** Reply per letter: what its load would show. */
  snapshots: readonly number[]
  /** Per deed: the state after it times 2^20, plus the reply. */
  next: Map<number, number>
  moved: readonly Moved[]
  world: World
}

/** Where a handler is. */
export interface Place {
  letter: number
  at: 'load' | 'commit' | 'move' | 'the end'
  /** Of a commit or a move: what it is about to do. */
  deed: number
  /** Of a commit: it takes money, and so may be refused. */
  takes: boolean
  ending: Ending | null
  /** Of an end: of its text, among all. */
  endingNumber: number
  replies: readonly number[]
  /** Per reply: the place after it. */
  next: Map<number, number>
}

/** Met for the first time, and not known yet. */
export const unknown = -1
export const replyBase = 2 ** 20

/** Each of two others makes one attempt fail at most, and a commit that lands late another one. */
export const attemptsThatSuffice = 5

/** What a broken line, an overloaded store and a PAM with rules of its own answer. */
const faultReplies: readonly Reply[] = [
  { error: new Error('the line broke') },
  { error: Object.assign(new Error('overloaded'), { code: 'UNAVAILABLE' }) },
  { value: { status: 'unavailable' } },
  { value: { status: 'refused', errorCode: 'LIMIT_OF_THE_HOUSE', description: 'a rule of the house' } },
]
export const brokenLine = 0
export const loadUnavailable = 1
export const commitUnavailable = 2
export const refusal = 3

export class Universe {
  readonly stores: StoreState[] = []
  readonly places: Place[] = []
  readonly deeds: Deed[] = []
  readonly replies: Reply[] = [...faultReplies]
  readonly endings: Ending[] = []
  /** Per letter: where it begins. */
  readonly roots: number[] = []
  /** What the requests of the start were answered. */
  readonly before: { letter: Letter; ending: Ending }[] = []

  readonly start: Start
  readonly variant: Variant
  /** So few attempts that a conflict may be the end of a request. */
  readonly conflictsMayEnd: boolean
  readonly #options: WalletOptions
  readonly #storeNumbers = new Map<string, number>()
  readonly balanceNumbers = new Map<number, number>()
  readonly #deedNumbers = new Map<string, number>()
  readonly #replyNumbers = new Map<string, number>()
  readonly #endingNumbers = new Map<string, number>()
  readonly #endNumbers = new Map<string, number>()
  readonly #missingDeeds: [store: number, deed: number][] = []
  readonly #missingReplies: [place: number, reply: number][] = []

  private constructor(start: Start, variant: Variant, attemptsMax: number) {
    this.start = start
    this.variant = variant
    this.conflictsMayEnd = attemptsMax < attemptsThatSuffice
    this.#options = optionsOf(attemptsMax)
  }

  static async from(
    start: Start,
    variant: Variant = sound,
    attemptsMax = attemptsThatSuffice,
  ): Promise<Universe> {
    const universe = new Universe(start, variant, attemptsMax)
    await universe.#begin()
    return universe
  }

  /** The place after this reply, or `unknown`. */
  placeAfter(place: number, reply: number): number {
    const { next } = this.places[place] as Place
    const known = next.get(reply)
    if (known !== undefined) return known
    next.set(reply, unknown)
    this.#missingReplies.push([place, reply])
    return unknown
  }

  /** The state after this deed times 2^20, plus the reply to it; or `unknown`. */
  storeAfter(store: number, deed: number): number {
    const { next } = this.stores[store] as StoreState
    const known = next.get(deed)
    if (known !== undefined) return known
    next.set(deed, unknown)
    this.#missingDeeds.push([store, deed])
    return unknown
  }

  /** Finds out what was unknown. `false`: nothing was. */
  async learn(): Promise<boolean> {
    if (this.#missingDeeds.length + this.#missingReplies.length === 0) return false
    for (const [store, deed] of this.#missingDeeds.splice(0)) {
      const state = this.stores[store] as StoreState
      state.next.set(deed, await this.#perform(state, deed))
    }
    for (const [place, reply] of this.#missingReplies.splice(0)) {
      const from = this.places[place] as Place
      from.next.set(reply, await this.#placeOf(from.letter, [...from.replies, reply]))
    }
    return true
  }

  async #begin(): Promise<void> {
    for (const [index, letter] of letters.entries()) {
      if (isCall(letter)) {
        this.roots.push(await this.#placeOf(index, []))
        continue
      }
      const deed = this.#deed({ move: letter }, letter.name)
      const root = this.#newPlace({ letter: index, at: 'move', deed })
      for (const moved of ['done', 'not done'] as const) {
        this.places[root]?.next.set(this.#reply({ moved }, moved), this.#end(index, endingOfMove(moved)))
      }
      this.roots.push(root)
    }
    // The past, one after the other: each handler is led by a store that answers at once.
    let deeds: readonly Deed[] = []
    for (const letter of this.start.before) {
      deeds = [...deeds, ...(await this.#past(letter, deeds))]
    }
    await this.#store(deeds)
  }

  async #past(letter: Letter, deeds: readonly Deed[]): Promise<Deed[]> {
    const world = await this.#worldOf(deeds)
    if (!isCall(letter)) {
      this.before.push({ letter, ending: endingOfMove(world.move(letter.step, letter.amount)) })
      return [{ move: letter }]
    }
    const done: Deed[] = []
    const replies: Reply[] = []
    for (;;) {
      const waits = await lead(letter, replies, this.#options)
      if (waits.at === 'the end') {
        this.before.push({ letter, ending: waits.ending })
        return done
      }
      if (waits.at === 'load') replies.push({ value: await world.load(keysOf(letter)) })
      else {
        replies.push({ value: await world.commit(waits.changes) })
        done.push({ changes: waits.changes })
      }
    }
  }

  async #worldOf(deeds: readonly Deed[]): Promise<World> {
    const world = new World(this.start, this.variant)
    for (const deed of deeds) await perform(world, deed)
    return world
  }

  async #perform(state: StoreState, deedNumber: number): Promise<number> {
    const deed = this.deeds[deedNumber] as Deed
    const world = await this.#worldOf(state.deeds)
    const reply = await perform(world, deed)
    const number = this.#reply(reply, 'moved' in reply ? reply.moved : `result ${JSON.stringify(reply)}`)
    const text = world.text()
    const after =
      text === state.text
        ? (this.#storeNumbers.get(text) as number)
        : await this.#store([...state.deeds, deed], world, text)
    return after * replyBase + number
  }

  async #store(deeds: readonly Deed[], built?: World, itsText?: string): Promise<number> {
    const world = built ?? (await this.#worldOf(deeds))
    const text = itsText ?? world.text()
    const known = this.#storeNumbers.get(text)
    if (known !== undefined) return known
    const balance = world.balance()
    const balanceNumber = numberOf(this.balanceNumbers, balance, this.balanceNumbers.size)
    const snapshots: number[] = []
    let recorded = 0
    for (const [index, letter] of letters.entries()) {
      if (!isCall(letter)) {
        snapshots.push(unknown)
        continue
      }
      const value = await world.load(keysOf(letter))
      if (value.transaction !== null) recorded |= 1 << index
      snapshots.push(this.#reply({ value }, `snapshot ${JSON.stringify(value)}`))
    }
    const number = this.stores.length
    this.#storeNumbers.set(text, number)
    this.stores.push({
      text,
      deeds,
      balance,
      balanceNumber,
      recorded,
      snapshots,
      next: new Map(),
      moved: [...world.moved.values()],
      world,
    })
    return number
  }

  async #placeOf(letterNumber: number, replies: readonly number[]): Promise<number> {
    const letter = letters[letterNumber] as Letter
    if (!isCall(letter)) throw new Error(`${letter.name} asks nobody`)
    const told = replies.map(reply => this.replies[reply] as Reply)
    const waits = await lead(letter, told, this.#options)
    if (waits.at === 'the end') return this.#end(letterNumber, waits.ending)
    if (waits.at === 'load') {
      return this.#newPlace({ letter: letterNumber, at: 'load', replies })
    }
    const { request: _, ...kept } = waits.changes
    const deed = this.#deed({ changes: waits.changes }, JSON.stringify(kept))
    const takes = waits.changes.balance?.delta.startsWith('-') ?? false
    return this.#newPlace({ letter: letterNumber, at: 'commit', deed, takes, replies })
  }

  #end(letter: number, ending: Ending): number {
    const key = `${letter} ${ending.text} ${ending.fault}`
    const known = this.#endNumbers.get(key)
    if (known !== undefined) return known
    const endingNumber = numberOf(this.#endingNumbers, ending.text, this.endings.length)
    this.endings[endingNumber] = ending
    const place = this.#newPlace({ letter, at: 'the end', ending, endingNumber })
    this.#endNumbers.set(key, place)
    return place
  }

  #newPlace(of: Partial<Place> & Pick<Place, 'letter' | 'at'>): number {
    return (
      this.places.push({
        deed: unknown,
        takes: false,
        ending: null,
        endingNumber: unknown,
        replies: [],
        next: new Map(),
        ...of,
      }) - 1
    )
  }

  #deed(deed: Deed, key: string): number {
    const number = numberOf(this.#deedNumbers, key, this.deeds.length)
    if (number === this.deeds.length) this.deeds.push(deed)
    return number
  }

  #reply(reply: Reply, key: string): number {
    const number = numberOf(this.#replyNumbers, key, this.replies.length)
    if (number === this.replies.length) this.replies.push(reply)
    return number
  }
}

async function perform(world: World, deed: Deed): Promise<Reply> {
  if ('changes' in deed) return { value: await world.commit(deed.changes) }
  return { moved: world.move(deed.move.step, deed.move.amount) }
}

function numberOf<K>(numbers: Map<K, number>, key: K, next: number): number {
  const known = numbers.get(key)
  if (known !== undefined) return known
  numbers.set(key, next)
  return next
}
