/**
 * What the same requests would have been answered one after the other, in every order: by the independent model, which
 * knows no commits, no guards and no faults.
 */
import { type HistoryStep, Model, type ModelAnswer } from '../../src/testing/model.js'
import { toCents } from '../../src/testing/platform.js'
import { type Call, isCall, type Letter, letters, playerId } from './alphabet.js'
import { euros } from './money.js'
import type { Start } from './starts.js'
import type { World } from './world.js'

/**
 * What may have become of a request.
 * - `answered`: it was done, and its answer is known.
 * - `answered or refused by the house`: as the PAM refused it once, it may be decided so, or as usual after another look.
 * - `not done`: certainly.
 * - `unknown`: done at some time, or never.
 * - `looked up`: done at some time, or never; and later somebody looked and repeats what is recorded.
 */
export type Fate = 'answered' | 'answered or refused by the house' | 'not done' | 'unknown' | 'looked up'

/** Per result (answers and end): for each order that gives it, which slots were over before which began, a bit `i * 3 + j` each. */
export type Results = ReadonlyMap<string, readonly number[]>

interface Moment {
  model: Model
  next: Map<number, { moment: number; text: string }>
  bets: string | null
}

export class Oracle {
  readonly #house = { clawbacks: true, takenAtOnceMax: 1_000_000_00n }
  readonly #moments: Moment[] = []

  constructor({ opening, before }: Start) {
    const openings = [{ playerId, currency: 'EUR', balance: opening, known: true }]
    const model = new Model(openings, this.#house)
    for (const letter of before) model.perform(stepOf(letter))
    this.#moments.push({ model, next: new Map(), bets: null })
  }

  /** Every result that these fates allow, in every order. */
  results(word: readonly number[], fates: readonly Fate[], faultTexts: readonly string[]): Results {
    const results = new Map<string, number[]>()
    const answers = [...faultTexts]
    const first = word.map(() => Number.POSITIVE_INFINITY)
    const last = word.map(() => Number.NEGATIVE_INFINITY)
    // Per slot what is still to happen: `x`: it is done and heard, `r`: as x, by the rule of the house, `h`: done and not heard, `l`: looked up.
    const ways: Record<Fate, readonly string[]> = {
      answered: ['x'],
      'answered or refused by the house': ['x', 'r'],
      'not done': [''],
      unknown: ['', 'h'],
      'looked up': ['l', 'hl'],
    }
    const add = (moment: number) => {
      let over = 0
      for (let i = 0; i < word.length; i += 1) {
        for (let j = 0; j < word.length; j += 1) {
          if (i !== j && (last[i] as number) < (first[j] as number)) over |= 1 << (i * 3 + j)
        }
      }
      const result = `${answers.join('|')}#${this.#end(moment, word)}`
      const orders = results.get(result)
      if (orders === undefined) results.set(result, [over])
      else if (!orders.includes(over)) orders.push(over)
    }
    const go = (moment: number, todo: readonly string[], time: number) => {
      let over = true
      for (const [slot, events] of todo.entries()) {
        if (events === '') continue
        over = false
        const { moment: after, text } = this.#perform(moment, word[slot] as number, events[0] === 'r')
        // To look writes nothing: what is found must be recorded.
        if (events[0] === 'l' && !isRepeat(text)) continue
        const heard = events[0] !== 'h'
        const [oldFirst, oldLast, oldAnswer] = [first[slot], last[slot], answers[slot]]
        if (first[slot] === Number.POSITIVE_INFINITY) first[slot] = time
        if (heard) [last[slot], answers[slot]] = [time, text]
        go(after, todo.with(slot, events.slice(1)), time + 1)
        first[slot] = oldFirst as number
        last[slot] = oldLast as number
        answers[slot] = oldAnswer as string
      }
      if (over) add(moment)
    }
    const choose = (slot: number, chosen: readonly string[]) => {
      const fate = fates[slot]
      if (fate === undefined) go(0, chosen, 0)
      else for (const way of ways[fate]) choose(slot + 1, [...chosen, way])
    }
    choose(0, [])
    return results
  }

  #perform(from: number, letter: number, refusedByTheHouse: boolean): { moment: number; text: string } {
    const { model, next } = this.#moments[from] as Moment
    const key = letter * 2 + (refusedByTheHouse ? 1 : 0)
    const known = next.get(key)
    if (known !== undefined) return known
    const after = model.copy()
    this.#house.takenAtOnceMax = refusedByTheHouse ? 0n : 1_000_000_00n
    const text = textOf(after.perform(stepOf(letters[letter] as Letter)))
    const moment = this.#moments.push({ model: after, next: new Map(), bets: null }) - 1
    const found = { moment, text }
    next.set(key, found)
    return found
  }

  #end(moment: number, word: readonly number[]): string {
    const at = this.#moments[moment] as Moment
    at.bets ??= `balance ${euros(at.model.balance(playerId))}; ${betText(at.model, 'b1')}; ${betText(at.model, 'b2')}`
    return at.bets + recordsText(word, letter => this.#record(moment, letter))
  }

  /** What is recorded for a letter: what it would be answered if it came again. */
  #record(moment: number, letter: number): string {
    if (!isCall(letters[letter] as Letter)) return '-'
    const { text } = this.#perform(moment, letter, false)
    if (text === 'no TRANSACTION_CONFLICT') return 'another'
    if (!text.includes(' replayed ')) return 'none'
    return text.startsWith('ok') ? 'ok' : text.slice('no replayed '.length)
  }
}

/** The end of a real schedule in the words of the oracle: its bets, and what is recorded for each letter. */
export function betsOf(world: World): string {
  return `balance ${euros(world.balance())}; ${storedBetText(world, 'b1')}; ${storedBetText(world, 'b2')}`
}

export function recordOf(world: World, letterNumber: number): string {
  const letter = letters[letterNumber] as Letter
  if (!isCall(letter)) return '-'
  const { request } = letter
  const found = world.memory
    .transactions()
    .find(
      ({ operation, transactionId }) =>
        operation === request.operation && transactionId === request.transactionId,
    )
  if (found === undefined) return 'none'
  const same =
    found.betId === request.betId &&
    found.type === ('type' in request ? request.type : null) &&
    (found.amount === null ? null : toCents(found.amount)) === ('amount' in request ? request.amount : null)
  if (!same) return 'another'
  return found.refusal?.errorCode ?? 'ok'
}

function stepOf(letter: Letter): HistoryStep {
  if (!isCall(letter)) return { step: letter.step, playerId, amount: letter.amount }
  return { step: 'call', request: (letter as Call).request, flaw: 'none', line: 'up', writing: 'text' }
}

function textOf(answer: ModelAnswer): string {
  if (typeof answer === 'string') return answer
  const replayed = answer.replayed ? ' replayed' : ''
  if (!answer.ok) return `no${replayed} ${answer.errorCode}`
  return `ok${replayed} ${euros(answer.balance)}${answer.currency === 'EUR' ? '' : ` in ${answer.currency}`}`
}

const isRepeat = (text: string) => text.includes(' replayed ') || text === 'no TRANSACTION_CONFLICT'

/** What is recorded for each of the requests, as they stand in the word. */
export function recordsText(word: readonly number[], recordOf: (letter: number) => string): string {
  return word.length === 0 ? '' : `; recorded ${word.map(recordOf).join(', ')}`
}

function betText(model: Model, betId: string): string {
  const bet = model.bet(betId)
  if (bet === null) return `no ${betId}`
  return wordsOfBet(betId, { ...bet, live: [...bet.live] })
}

function storedBetText({ memory }: World, betId: string): string {
  const bet = memory.bet(betId)
  if (bet === null) return `no ${betId}`
  const live: [string, bigint][] = []
  let owed = 0n
  for (const [type, credit] of Object.entries(bet.credits)) {
    owed += toCents(credit.owed)
    if (credit.live !== null) live.push([type, toCents(credit.live)])
  }
  const over = bet.status === 'ROLLED_BACK'
  return wordsOfBet(betId, { ...bet, stake: toCents(bet.stake), over, owed, live })
}

function wordsOfBet(
  betId: string,
  bet: {
    playerId: string
    currency: string
    stake: bigint
    over: boolean
    owed: bigint
    live: readonly (readonly [string, bigint])[]
  },
): string {
  const live = bet.live.map(([type, cents]) => ` ${type} ${euros(cents)}`).sort()
  const state = bet.over ? 'rolled back' : 'open'
  return `${betId} of ${bet.playerId} ${state}, stake ${euros(bet.stake)} ${bet.currency}, owed ${euros(bet.owed)}, live${live.join('') || ' nothing'}`
}
