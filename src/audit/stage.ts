/** What a case plays on: the calls of the platform, and the judgements of what comes back. */
import type { SettlementRequest } from '../requests.js'
import type { SettlementType } from '../store.js'
import type { Call, Client, Reply } from './client.js'
import {
  add,
  compare,
  type Decimal,
  fromUnits,
  parseDecimal,
  subtract,
  textOf,
  wholeUnits,
  zero,
} from './decimal.js'
import { type Json, numberText, type ReadJson, raw, readObject, write } from './json.js'
import type { AuditSettings } from './options.js'
import type { Random } from './random.js'
import type { AuditExchange } from './report.js'
import { settleBet } from './settlement-call.js'

/** A promise that is not kept. */
export class Failed extends Error {
  constructor(
    readonly expected: string,
    readonly found: string,
    readonly exchange: number | null,
  ) {
    super(`expected ${expected}, found ${found}`)
  }
}

/** It could not be asked. */
export class Skipped extends Error {}

/** A bet as the platform knows it, placed or not. */
export interface Bet {
  transactionId: string
  betId: string
  playerId: string
  amount: Decimal
}

export interface Answer {
  /** Index into the exchanges of the case. */
  index: number
  exchange: AuditExchange
  status: number | null
  headers: Reply['headers']
  text: string
  /** The fields of the JSON object that came, or `null`. */
  fields: Map<string, ReadJson> | null
  /** The balance of a 2xx, whatever else is wrong with it; else `null`. */
  balance: Decimal | null
  /** 2xx with the record of spec 2; else `null`. */
  success: { balance: Decimal; currency: string; walletTransactionId: string | null } | null
  /** The code of a 4xx or 5xx; `null` where there is none. */
  errorCode: string | null
}

/** What a case has left behind, after it gave back what it took. */
export interface Books {
  id: string
  before: Decimal
  after: Decimal
  /** It settled bets: what was credited for good stays. */
  settled: boolean
}

/** Fields to change or leave out (`undefined`), and how to send. */
export type Change = {
  fields?: Record<string, Json | undefined>
  label?: string
} & Pick<Call, 'line' | 'credentials' | 'headers' | 'timeoutMs'>

export type UnsettlementType = 'UNSCORED' | 'UNVOIDED'

export class Stage {
  readonly exchanges: AuditExchange[] = []
  /** The balance when the case began. */
  opening: Decimal = zero
  /** Every bet that a placebet was sent for, with what was settled on it. */
  private readonly sent = new Map<string, { playerId: string; types: Set<SettlementType> }>()
  settled = false
  private readonly dates = new Map<string, string>()

  constructor(
    /** What the cases before this one have left. */
    readonly books: readonly Books[],
    readonly settings: AuditSettings,
    private readonly client: Client,
    readonly random: Random,
    private readonly ids: { next(): string },
    private readonly readBy: { way: 'rollback' | 'bet and rollback' },
  ) {}

  // Amounts

  /** So many of the currency's smallest units. */
  units(count: number | bigint): Decimal {
    return fromUnits(count, this.settings.minorUnits)
  }

  /** How many whole smallest units are in it. */
  wholeUnits(value: Decimal): bigint {
    return wholeUnits(value, this.settings.minorUnits)
  }

  /** As it is shown: `30.00 EUR`. */
  money(value: Decimal): string {
    return `${textOf(value, this.settings.minorUnits)} ${this.settings.currency}`
  }

  /** Not the player's, and with as many decimals: its amounts are wrong in nothing but the currency. */
  foreignCurrency(): string {
    const { currency, minorUnits } = this.settings
    const pairs = { 2: ['USD', 'EUR'], 3: ['BHD', 'KWD'], 8: ['ETH', 'BTC'] } as const
    const [one, two] = pairs[minorUnits <= 2 ? 2 : minorUnits === 3 ? 3 : 8]
    return currency === one ? two : one
  }

  // Calls

  /** An id that was never used. */
  id(): string {
    return this.ids.next()
  }

  /** A bet that is not placed yet, of 1.00 to 3.00 or as told. */
  bet(amount: Decimal = this.units(this.random.between(100, 300)), playerId = this.settings.playerId): Bet {
    const id = this.id()
    return { transactionId: `${id}-p`, betId: `${id}-b`, playerId, amount }
  }

  /** One date per transaction: a repeated call is the same, byte for byte, where a case does not say otherwise. */
  date(transactionId: string): string {
    const date = this.dates.get(transactionId) ?? this.settings.formatDate(new Date())
    this.dates.set(transactionId, date)
    return date
  }

  /** The fields of a placebet. */
  placement(bet: Bet): Record<string, Json> {
    return {
      transactionId: bet.transactionId,
      betId: bet.betId,
      playerId: bet.playerId,
      sessionId: 'audit-session',
      amount: raw(textOf(bet.amount)),
      currency: this.settings.currency,
      odds: raw('1.85'),
      betType: 'SINGLE',
      transactionDate: this.date(bet.transactionId),
    }
  }

  /** The fields of a rollback or an unsettlement. */
  reversal(bet: Pick<Bet, 'betId' | 'playerId'>, type: string, transactionId: string): Record<string, Json> {
    return {
      transactionId,
      betId: bet.betId,
      playerId: bet.playerId,
      type,
      transactionDate: this.date(transactionId),
    }
  }

  place(bet: Bet, change: Change = {}): Promise<Answer> {
    this.expectBet(bet)
    return this.send('/placebet', this.placement(bet), {
      label: `placebet ${short(bet.betId)} of ${textOf(bet.amount)}`,
      ...change,
    })
  }

  rollback(bet: Pick<Bet, 'betId' | 'playerId'>, transactionId = this.id(), change: Change = {}) {
    return this.send('/rollbackbet', this.reversal(bet, 'TECHNICAL_ERROR', transactionId), {
      label: `rollbackbet ${short(bet.betId)}`,
      ...change,
    })
  }

  unsettle(bet: Bet, type: UnsettlementType, transactionId = this.id(), change: Change = {}) {
    return this.send('/unsettlement', this.reversal(bet, type, transactionId), {
      label: `unsettlement ${type} ${short(bet.betId)}`,
      ...change,
    })
  }

  /** Settles, or leaves the case unjudged: how it is done is the operator's. */
  async settle(bet: Bet, type: SettlementType, amount: Decimal, transactionId = this.id()): Promise<void> {
    const flaw = await this.trySettle(bet, type, amount, transactionId)
    if (flaw !== null) throw new Skipped(`a bet could not be settled: ${flaw}`)
  }

  /** Why it could not be settled, or `null`. */
  async trySettle(
    bet: Bet,
    type: SettlementType,
    amount: Decimal,
    transactionId = this.id(),
  ): Promise<string | null> {
    this.settled = true
    this.expectBet(bet).types.add(type)
    const settlement: SettlementRequest = {
      transactionId,
      betId: bet.betId,
      playerId: bet.playerId,
      type,
      amount: textOf(amount),
      currency: this.settings.currency,
      transactionDate: this.date(transactionId),
    }
    const label = `settlement ${type} ${short(bet.betId)} of ${textOf(amount)}`
    return await settleBet(this.settings, this.client, settlement, label, exchange =>
      this.exchanges.push(exchange),
    )
  }

  /** Any call of the interface, with fields changed. */
  send(path: string, fields: Record<string, Json>, change: Change = {}): Promise<Answer> {
    const { fields: changed = {}, label = path.slice(1), ...rest } = change
    return this.call({ label, path, body: write({ ...fields, ...changed }), ...rest })
  }

  /** Any call at all. */
  async call(call: Call): Promise<Answer> {
    const { exchange, reply } = this.client.send(call)
    const index = this.exchanges.push(exchange) - 1
    return answerOf(await reply, index)
  }

  /** Says that a bet may have been placed by a call of the case's own, so that it is given back at the end. */
  expectBet(bet: Pick<Bet, 'betId' | 'playerId'>): { types: Set<SettlementType> } {
    const known = this.sent.get(bet.betId)
    if (known !== undefined) return known
    const expected = { playerId: bet.playerId, types: new Set<SettlementType>() }
    this.sent.set(bet.betId, expected)
    return expected
  }

  /** Many at once, in this order. */
  together<T>(count: number, call: (index: number) => Promise<T>): Promise<T[]> {
    return Promise.all(Array.from({ length: count }, (_, index) => call(index)))
  }

  wait(ms: number): Promise<void> {
    return new Promise(resolve => setTimeout(resolve, ms))
  }

  /** The current balance, by a lawful call that moves nothing: the rollback of a bet that is not known (spec 4.3). */
  async balance(playerId = this.settings.playerId): Promise<Decimal> {
    const answer = await this.readBalance(playerId)
    if (answer.balance !== null) return answer.balance
    throw new Failed('to be told the balance', found(answer), answer.index)
  }

  /** As the wallet says it. */
  async currencyOf(playerId: string): Promise<string> {
    const answer = await this.readBalance(playerId)
    const currency = answer.fields?.get('currency')
    return typeof currency === 'string'
      ? currency
      : this.fail('to be told the currency', found(answer), answer)
  }

  async readBalance(playerId = this.settings.playerId): Promise<Answer> {
    const bet = this.bet(this.units(1), playerId)
    if (this.readBy.way === 'rollback') {
      return await this.rollback(bet, undefined, { label: 'balance? (rollback of a bet that is not known)' })
    }
    const taken = await this.place(bet, { label: 'balance? (the smallest bet, and its rollback)' })
    if (taken.balance === null) return taken
    return await this.rollback(bet)
  }

  // Judgements

  fail(expected: string, foundInstead: string, answer: Answer | null = null): never {
    throw new Failed(expected, foundInstead, answer?.index ?? null)
  }

  /** 2xx, the record of spec 2 in the player's currency, and this balance where one is given. */
  accepted(answer: Answer, balance?: Decimal): void {
    const expected = balance === undefined ? 'success' : `success with balance ${this.money(balance)}`
    if (answer.success === null) this.fail(expected, found(answer), answer)
    if (answer.success.currency !== this.settings.currency)
      this.fail(`the currency ${this.settings.currency}`, JSON.stringify(answer.success.currency), answer)
    if (balance !== undefined && compare(answer.success.balance, balance) !== 0)
      this.fail(expected, `success with balance ${this.money(answer.success.balance)}`, answer)
  }

  /** 4xx or 5xx, with one of the codes that were agreed where a code is given. */
  refused(answer: Answer, code?: string): void {
    const codes = code === undefined ? ['*'] : this.codesOf(code)
    const fine = answer.status !== null && answer.status >= 400 && answer.status <= 599
    if (fine && (codes.includes('*') || codes.some(agreed => agreed === answer.errorCode))) return
    this.fail(
      codes.includes('*') ? 'a refusal (4xx or 5xx)' : `a refusal ${codes.join(' or ')}`,
      found(answer),
      answer,
    )
  }

  /** A refusal that is definite: 4xx. */
  definite(answer: Answer): void {
    if (answer.status !== null && answer.status >= 400 && answer.status <= 499) return
    this.fail('a definite refusal (4xx)', found(answer), answer)
  }

  /** The code and the status that were agreed. */
  refusedAs(answer: Answer, code: string): void {
    this.refused(answer, code)
    const statuses = this.settings.statusCodes.get(code) ?? []
    if (!statuses.includes(answer.status ?? 0))
      this.fail(`status ${statuses.join(' or ')} for ${code}`, found(answer), answer)
  }

  /** Refused as something that is known already. */
  isRepetition(answer: Answer): boolean {
    const codes = ['TRANSACTION_CONFLICT', 'INVALID_BET'].flatMap(code => this.codesOf(code))
    return answer.status === 409 || codes.some(code => code === answer.errorCode)
  }

  private codesOf(code: string): readonly string[] {
    return this.settings.errorCodes.get(code) ?? [code]
  }

  /** The balance is this one. `why` says after what. */
  async holds(balance: Decimal, why: string): Promise<void> {
    const answer = await this.readBalance()
    const expected = `balance ${this.money(balance)} ${why}`
    const actual = answer.balance
    if (actual === null) this.fail(expected, found(answer), answer)
    if (compare(actual, balance) === 0) return
    const difference = subtract(actual, balance)
    const which = difference.units < 0n ? 'too little' : 'too much'
    const size = difference.units < 0n ? subtract(zero, difference) : difference
    this.fail(expected, `balance ${this.money(actual)}, ${this.money(size)} ${which}`, answer)
  }

  /** Places it and expects that it is taken; gives the balance afterwards. */
  async placed(bet: Bet, before: Decimal): Promise<Decimal> {
    const after = subtract(before, bet.amount)
    this.accepted(await this.place(bet), after)
    return after
  }

  /** Stakes all but so much; gives the bet. */
  async spendDownTo(rest: Decimal, balance: Decimal): Promise<Bet> {
    const bet = this.bet(subtract(balance, rest))
    this.accepted(await this.place(bet), rest)
    return bet
  }

  // Afterwards

  /** Gives back what the case took, as far as the interface allows. What is refused here was judged by the case. */
  async giveBack(): Promise<void> {
    const label = 'afterwards: '
    const bets = [...this.sent].map(([betId, rest]) => ({ betId, ...rest }))
    for (const bet of bets.filter(({ types }) => types.size === 0)) {
      await this.rollback(bet, undefined, { label: `${label}rollbackbet ${short(bet.betId)}` })
    }
    for (const bet of bets.filter(({ types }) => types.size > 0)) {
      for (const [settled, type] of [
        ['BET_PAID', 'UNSCORED'],
        ['VOIDED', 'UNVOIDED'],
      ] as const) {
        if (!bet.types.has(settled)) continue
        await this.send('/unsettlement', this.reversal(bet, type, this.id()), {
          label: `${label}unsettlement ${type} ${short(bet.betId)}`,
        })
      }
      await this.rollback(bet, undefined, { label: `${label}rollbackbet ${short(bet.betId)}` })
    }
  }
}

/** The end of an id: what comes before it is the same in the whole run. */
export function short(id: string): string {
  return id.length <= 40 ? id.replace(/^au-[0-9a-z]+-/, '') : `${id.slice(0, 20)}…`
}

/** What came back, in words. */
export function found(answer: Answer): string {
  const { status, exchange, success, errorCode, text } = answer
  if (status === null) return `no answer: ${exchange.error ?? 'nothing came'}`
  if (success !== null) return `${status} with balance ${textOf(success.balance)} ${success.currency}`
  if (errorCode !== null) return `${status} ${errorCode}`
  const shown = text.length <= 200 ? text : `${text.slice(0, 200)}…`
  return `${status} ${shown === '' ? 'with an empty body' : shown}`
}

function answerOf({ exchange, status, headers, text }: Reply, index: number): Answer {
  const fields = status === null ? null : readObject(text)
  const balanceText = numberText(fields?.get('balance'))
  const balance = balanceText === null ? null : parseDecimal(balanceText.text)
  if (balance !== null) exchange.balance = balanceText?.text ?? null
  const currency = fields?.get('currency')
  const reference = fields?.get('walletTransactionId') ?? null
  const good = status !== null && status >= 200 && status <= 299
  const success =
    good &&
    balance !== null &&
    typeof currency === 'string' &&
    (reference === null || typeof reference === 'string')
      ? { balance, currency, walletTransactionId: reference }
      : null
  const code = fields?.get('errorCode')
  const errorCode = status !== null && status >= 400 && typeof code === 'string' ? code : null
  return {
    index,
    exchange,
    status,
    headers,
    text,
    fields,
    balance: good ? balance : null,
    success,
    errorCode,
  }
}

/** The sum of stakes. */
export function sumOf(bets: readonly Bet[]): Decimal {
  return bets.reduce((sum, { amount }) => add(sum, amount), zero)
}
