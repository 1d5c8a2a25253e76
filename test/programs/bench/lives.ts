/**
 * The whole life of a bet: placed, settled, sometimes corrected, rolled back, retried and refused, in the shares
 * that the simulated sportsbook has at a chaos of 0.1 (12,000 bets; without its readings of balances).
 */
import {
  handlePlaceBet,
  handleRollbackBet,
  handleUnsettlement,
  recordSettlement,
  type WalletStore,
} from 'bet-wallet'
import type { HandWrittenRequest, Operation } from './by-hand.js'
import { type Contestant, drive, forSeconds, inTurn, ratioOf, type ServerTime } from './measure.js'
import type { BenchOptions } from './options.js'
import type { PartResult } from './report.js'
import { nextId, playersCount } from './requests.js'

const callers = 64

/** A wallet, whoever wrote it: a refusal has an `errorCode`. */
export type Send = (
  operation: Operation,
  request: HandWrittenRequest,
) => Promise<{ errorCode: string } | { balance: string }>

/** Of every 1,000 bets. */
const shares = {
  settled: 469,
  settledInParts: 100,
  corrected: 263,
  unsettledTooEarly: 17,
  spent: 13,
  rolledBack: 28,
  rolledBackTwice: 23,
  placedTooLate: 10,
  neverPlaced: 20,
  otherCurrency: 10,
  withoutFunds: 34,
} as const

type Life = keyof typeof shares
const mix = Object.entries(shares).flatMap(([life, share]) => Array<Life>(share).fill(life as Life))

/** The share of the requests of each operation that are sent again after their answer. */
const retried: Record<Operation, number> = {
  placebet: 0.06,
  settlement: 0.095,
  unsettlement: 0.1,
  rollbackbet: 0.08,
}

/** How many transactions must be recorded, by operation and error code: `placebet INVALID_BET`. */
export type Books = Record<string, number>
const bookName = (operation: Operation, errorCode: string | null) => `${operation} ${errorCode ?? 'ACCEPTED'}`

/** The codes of refusals that are recorded. */
const isRecorded = (operation: Operation, errorCode: string | null) =>
  errorCode === null || operation === 'placebet' || errorCode === 'INSUFFICIENT_FUNDS'

/** Each caller has one for itself: players whose whole balance is staked. The others share the other players. */
const spenders = Array.from({ length: callers }, (_, index) => String(1 + index))
const anyOther = () => String(1 + callers + Math.floor(Math.random() * (playersCount - callers)))

const stake = 2.5
const win = 4.5

/** One bet. Each request is checked: an answer that differs fails the measurement. */
class OneBet {
  readonly #send: Send
  readonly #books: Books
  readonly #ids: BenchOptions['ids']
  readonly #bet: Pick<HandWrittenRequest, 'betId' | 'playerId' | 'transactionDate'>

  constructor(send: Send, books: Books, ids: BenchOptions['ids'], playerId: string) {
    this.#send = send
    this.#books = books
    this.#ids = ids
    this.#bet = { betId: nextId(ids), playerId, transactionDate: '2026-11-21T10:00:00.000Z' }
  }

  /** @returns the balance */
  async #request(
    operation: Operation,
    own: Partial<HandWrittenRequest>,
    expected: string | null,
  ): Promise<number> {
    const request = { transactionId: nextId(this.#ids), ...this.#bet, ...own }
    const answer = await this.#send(operation, request)
    expect(operation, answer, expected)
    if (isRecorded(operation, expected)) {
      const name = bookName(operation, expected)
      this.#books[name] = (this.#books[name] ?? 0) + 1
    }
    if (Math.random() < retried[operation]) expect(operation, await this.#send(operation, request), expected)
    return 'balance' in answer ? Number(answer.balance) : Number.NaN
  }

  place(own: Partial<HandWrittenRequest> = {}, expected: string | null = null) {
    const bet = { sessionId: '7d0f9c1e-5b1a-4f0e-9f53-2f6f0b1d6a11', odds: 1.85, betType: 'SINGLE' }
    return this.#request('placebet', { ...bet, amount: stake, currency: 'EUR', ...own }, expected)
  }

  settle(amount = win) {
    return this.#request('settlement', { type: 'BET_PAID', amount, currency: 'EUR' }, null)
  }

  unsettle(expected: string | null = null, transactionId = nextId(this.#ids)) {
    return this.#request('unsettlement', { type: 'UNSCORED', transactionId }, expected)
  }

  rollBack() {
    return this.#request('rollbackbet', { type: 'TECHNICAL_ERROR' }, null)
  }
}

function expect(operation: Operation, answer: Awaited<ReturnType<Send>>, expected: string | null): void {
  const errorCode = 'errorCode' in answer ? answer.errorCode : null
  if (errorCode !== expected)
    throw new Error(`${operation}: expected ${expected ?? 'success'}, answered ${JSON.stringify(answer)}`)
}

/** What happens to a bet, in its order. */
const lives: Record<Life, (bet: OneBet, another: () => OneBet) => Promise<void>> = {
  async settled(bet) {
    await bet.place()
    await bet.settle(Math.random() < 0.5 ? 0 : win)
  },
  async settledInParts(bet) {
    await bet.place()
    await bet.settle(1)
    await bet.settle(win)
  },
  async corrected(bet) {
    await bet.place()
    await bet.settle()
    await bet.unsettle()
    await bet.settle(0)
  },
  async unsettledTooEarly(bet) {
    await bet.place()
    const transactionId = nextId('rising')
    await bet.unsettle('SETTLEMENT_NOT_FOUND', transactionId)
    await bet.settle()
    await bet.unsettle(null, transactionId)
    await bet.settle()
  },
  async spent(bet, another) {
    await bet.place()
    const balance = await bet.settle()
    const last = another()
    await last.place({ amount: balance })
    await bet.unsettle('INSUFFICIENT_FUNDS')
    await last.rollBack()
  },
  async rolledBack(bet) {
    await bet.place()
    await bet.rollBack()
  },
  async rolledBackTwice(bet) {
    await bet.place()
    await bet.rollBack()
    await bet.rollBack()
  },
  async placedTooLate(bet) {
    await bet.rollBack()
    await bet.place({}, 'INVALID_BET')
  },
  async neverPlaced(bet) {
    await bet.rollBack()
  },
  async otherCurrency(bet) {
    await bet.place({ currency: 'USD' }, 'INVALID_CURRENCY')
  },
  async withoutFunds(bet) {
    await bet.place({ amount: 1e12 }, 'INSUFFICIENT_FUNDS')
  },
}

interface LivesSettings {
  options: BenchOptions
  serverTime: ServerTime | null
  store: WalletStore
  byHand: Send
  prepare(whose: 'library' | 'by hand'): Promise<void>
  /** @throws Error when the tables differ */
  checkBooks(whose: 'library' | 'by hand', books: Books): Promise<void>
  leastTimes: number
}

/** The same mix by the library and by hand, in turn. */
export async function compareLives(settings: LivesSettings): Promise<PartResult> {
  const { options, store, leastTimes, checkBooks } = settings
  const handlers = {
    placebet: handlePlaceBet,
    settlement: recordSettlement,
    unsettlement: handleUnsettlement,
    rollbackbet: handleRollbackBet,
  }
  const books: [Books, Books] = [{}, {}]
  const send: Send = (operation, request) => handlers[operation](store, request)
  const measured = await inTurn(
    [
      living(settings, { name: 'bet-wallet', whose: 'library', send, books: books[0] }),
      living(settings, { name: 'hand-written', whose: 'by hand', send: settings.byHand, books: books[1] }),
    ],
    options,
  )
  await checkBooks('library', books[0])
  await checkBooks('by hand', books[1])
  return {
    title: `The life of a bet, ${callers} callers: placed, settled, corrected, rolled back, retried, refused`,
    measured,
    ratios: [
      {
        name: 'times the bets per second',
        value: ratioOf(measured, s => s.perSecond),
        limit: { least: leastTimes },
      },
      { name: "of the server's time per bet", value: ratioOf(measured, s => s.serverUs) },
    ],
    notes: ['Latency and processor time are those of a whole life, of 2.9 requests.'],
  }
}

export function living<Whose>(
  {
    options: { ids },
    serverTime,
    prepare,
  }: Pick<LivesSettings, 'serverTime'> & {
    options: Pick<BenchOptions, 'ids'>
    prepare(whose: Whose): Promise<void>
  },
  { name, whose, send, books }: { name: string; whose: Whose; send: Send; books: Books },
): Contestant {
  const free = [...spenders]
  return {
    name,
    prepare: () => prepare(whose),
    run: seconds =>
      drive({ callers, goesOn: forSeconds(seconds), serverTime }, async () => {
        const life = mix[Math.floor(Math.random() * mix.length)] as Life
        const spender = life === 'spent' ? (free.shift() ?? '') : null
        const player = spender ?? anyOther()
        const create = () => new OneBet(send, books, ids, player)
        await lives[life](create(), create)
        if (spender !== null) free.push(spender)
      }),
  }
}
