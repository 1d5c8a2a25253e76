/**
 * The results of the same requests in every sequential order, from the independent model, which has no
 * commits, no guards and no faults.
 */
import { type HistoryStep, Model, type ModelAnswer } from '../../../src/testing/model.js'
import { toCents } from '../../../src/testing/platform.js'
import { type Call, isCall, type Letter, letters, playerId } from './alphabet.js'
import { euros } from './money.js'
import type { ObservedStore } from './observed-store.js'
import type { Start } from './starts.js'

/**
 * The possible effects of a request.
 * - `answered`: done, and its answer is known.
 * - `answered-or-refused-by-store`: the store refused it once; the refusal may be recorded, or a retry
 *   decides as usual.
 * - `not-done`: guaranteed.
 * - `unknown`: done at some time, or never.
 * - `recovered`: done at some time, or never; then the follow-up read replays what is recorded.
 */
export type Effect = 'answered' | 'answered-or-refused-by-store' | 'not-done' | 'unknown' | 'recovered'

/**
 * Per result (answers and final state), for each order that gives it: bit `i * 3 + j` is set if slot i ended
 * before slot j began.
 */
export type Results = ReadonlyMap<string, readonly number[]>

interface Moment {
  model: Model
  next: Map<number, { moment: number; text: string }>
  bets: string | null
}

export class Oracle {
  readonly #policy = { clawbacks: true, debitMax: 1_000_000_00n, defaultCurrency: 'JPY' }
  readonly #moments: Moment[] = []

  constructor({ opening, yen, before }: Start) {
    const players = [
      { playerId, currency: 'EUR', balance: opening, known: true },
      ...(yen === undefined ? [] : [{ playerId, currency: 'JPY', balance: yen, known: true }]),
    ]
    const model = new Model(players, this.#policy)
    for (const letter of before) model.perform(stepOf(letter))
    this.#moments.push({ model, next: new Map(), bets: null })
  }

  /** Every result that these effects permit, in every order. */
  results(word: readonly number[], effects: readonly Effect[], faultTexts: readonly string[]): Results {
    const results = new Map<string, number[]>()
    const answers = [...faultTexts]
    const first = word.map(() => Number.POSITIVE_INFINITY)
    const last = word.map(() => Number.NEGATIVE_INFINITY)
    // Events of a slot. `x`: done and answered; `r`: refused by the store and answered; `h`: done without an
    // answer; `l`: answered from the record.
    const ways: Record<Effect, readonly string[]> = {
      answered: ['x'],
      'answered-or-refused-by-store': ['x', 'r'],
      'not-done': [''],
      unknown: ['', 'h'],
      recovered: ['l', 'hl'],
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
        // A read writes nothing: the transaction must be recorded already.
        if (events[0] === 'l' && !isReplay(text)) continue
        const isAnswered = events[0] !== 'h'
        const [oldFirst, oldLast, oldAnswer] = [first[slot], last[slot], answers[slot]]
        if (first[slot] === Number.POSITIVE_INFINITY) first[slot] = time
        if (isAnswered) [last[slot], answers[slot]] = [time, text]
        go(after, todo.with(slot, events.slice(1)), time + 1)
        first[slot] = oldFirst as number
        last[slot] = oldLast as number
        answers[slot] = oldAnswer as string
      }
      if (over) add(moment)
    }
    const choose = (slot: number, chosen: readonly string[]) => {
      const effect = effects[slot]
      if (effect === undefined) go(0, chosen, 0)
      else for (const way of ways[effect]) choose(slot + 1, [...chosen, way])
    }
    choose(0, [])
    return results
  }

  #perform(from: number, letter: number, refusedByStore: boolean): { moment: number; text: string } {
    const { model, next } = this.#moments[from] as Moment
    const key = letter * 2 + (refusedByStore ? 1 : 0)
    const known = next.get(key)
    if (known !== undefined) return known
    const after = model.copy()
    this.#policy.debitMax = refusedByStore ? 0n : 1_000_000_00n
    const text = textOf(after.perform(stepOf(letters[letter] as Letter)))
    const moment = this.#moments.push({ model: after, next: new Map(), bets: null }) - 1
    const result = { moment, text }
    next.set(key, result)
    return result
  }

  #end(moment: number, word: readonly number[]): string {
    const at = this.#moments[moment] as Moment
    at.bets ??= `balance ${euros(at.model.balance(playerId, 'EUR'))} and ${euros(at.model.balance(playerId, 'JPY'))}; ${betText(at.model, 'b1')}; ${betText(at.model, 'b2')}`
    return at.bets + recordsText(word, letter => this.#record(moment, letter))
  }

  /** The record of a letter, derived from the answer to a retry. */
  #record(moment: number, letter: number): string {
    if (!isCall(letters[letter] as Letter)) return '-'
    const { text } = this.#perform(moment, letter, false)
    if (text === 'no TRANSACTION_CONFLICT') return 'another'
    if (!text.includes(' replayed ')) return 'none'
    return text.startsWith('ok') ? 'ok' : text.slice('no replayed '.length)
  }
}

/** The final state of a real schedule in the oracle's format: its bets, and the record of each letter. */
export function betsOf(observed: ObservedStore): string {
  return `balance ${euros(observed.balance())} and ${euros(observed.balance('JPY'))}; ${storedBetText(observed, 'b1')}; ${storedBetText(observed, 'b2')}`
}

export function recordOf(observed: ObservedStore, letterNumber: number): string {
  const letter = letters[letterNumber] as Letter
  if (!isCall(letter)) return '-'
  const { request } = letter
  const recorded = observed.memory
    .transactions()
    .find(
      ({ operation, transactionId }) =>
        operation === request.operation && transactionId === request.transactionId,
    )
  if (recorded === undefined) return 'none'
  const same =
    recorded.betId === request.betId &&
    recorded.type === ('type' in request ? request.type : null) &&
    (recorded.amount === null ? null : toCents(recorded.amount)) ===
      ('amount' in request ? request.amount : null)
  if (!same) return 'another'
  return recorded.refusal?.errorCode ?? 'ok'
}

function stepOf(letter: Letter): HistoryStep {
  if (!isCall(letter)) return { step: letter.step, playerId, amount: letter.amount }
  return { step: 'call', request: (letter as Call).request, defect: 'none', fault: 'none', format: 'text' }
}

function textOf(answer: ModelAnswer): string {
  if (typeof answer === 'string') return answer
  const replayed = answer.replayed ? ' replayed' : ''
  if (!answer.ok) return `no${replayed} ${answer.errorCode}`
  return `ok${replayed} ${euros(answer.balance)}${answer.currency === 'EUR' ? '' : ` in ${answer.currency}`}`
}

const isReplay = (text: string) => text.includes(' replayed ') || text === 'no TRANSACTION_CONFLICT'

/** The records of all requests, in the order of the word. */
export function recordsText(word: readonly number[], recordOf: (letter: number) => string): string {
  return word.length === 0 ? '' : `; recorded ${word.map(recordOf).join(', ')}`
}

function betText(model: Model, betId: string): string {
  const bet = model.bet(betId)
  if (bet === null) return `no ${betId}`
  return textOfBet(betId, { ...bet, live: [...bet.live] })
}

function storedBetText({ memory }: ObservedStore, betId: string): string {
  const bet = memory.bet(betId)
  if (bet === null) return `no ${betId}`
  const live: [string, bigint][] = []
  let owed = 0n
  for (const [type, credit] of Object.entries(bet.credits)) {
    owed += toCents(credit.owed)
    if (credit.live !== null) live.push([type, toCents(credit.live)])
  }
  const rolledBack = bet.status === 'ROLLED_BACK'
  return textOfBet(betId, { ...bet, stake: toCents(bet.stake), rolledBack, owed, live })
}

function textOfBet(
  betId: string,
  bet: {
    playerId: string
    currency: string
    stake: bigint
    rolledBack: boolean
    owed: bigint
    live: readonly (readonly [string, bigint])[]
  },
): string {
  const live = bet.live.map(([type, cents]) => ` ${type} ${euros(cents)}`).sort()
  const state = bet.rolledBack ? 'rolled back' : 'open'
  return `${betId} of ${bet.playerId} ${state}, stake ${euros(bet.stake)} ${bet.currency}, owed ${euros(bet.owed)}, live${live.join('') || ' none'}`
}
