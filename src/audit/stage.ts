/** The tools of a case: the platform's calls, and the expectations about their answers. */
import type { SettlementRequest } from '../requests.js'
import type { SettlementType } from '../store.js'
import { readingLabel } from './balance-changes.js'
import type { Client, Reply } from './client.js'
import { add, type Decimal, fromUnits, parseDecimal, subtract, textOf, wholeUnits, zero } from './decimal.js'
import { type Json, numberText, type ReadJson, raw, readObject, write } from './json.js'
import type { AuditSettings } from './options.js'
import type { Random } from './random.js'
import type { AuditExchange, FailureKind } from './report.js'
import type { Call } from './request.js'
import { settleBet } from './settlement-call.js'

/** What kind of failure it is. */
export interface Found {
  kind: FailureKind
  /** Of a wrong balance: the balance that was due, and the actual one minus that. */
  balance?: { due: Decimal; difference: Decimal }
}

/** A case has failed. */
export class CaseFailed extends Error {
  constructor(
    readonly expected: string,
    readonly actual: string,
    /** Index into the exchanges of the case. */
    readonly exchangeIndex: number | null,
    readonly found: Found,
  ) {
    super(`expected ${expected}, actual ${actual}`)
  }
}

/** A case cannot be judged. */
export class Skipped extends Error {}

/** A bet of the platform, placed or not. */
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
  /** The fields of the JSON object in the body; `null` if it is none. */
  fields: Map<string, ReadJson> | null
  /** The balance of a 2xx, even if other fields are invalid; otherwise `null`. */
  balance: Decimal | null
  /** The record of spec 2 of a 2xx; otherwise `null`. */
  success: { balance: Decimal; currency: string; walletTransactionId: string | null } | null
  /** Of a 4xx or 5xx; otherwise `null`. */
  errorCode: string | null
}

/** The balance before a case, and after it has rolled back its bets. */
export interface CaseBalances {
  id: string
  before: Decimal
  after: Decimal
  /** A credit may remain. */
  hasSettled: boolean
}

/** How the balance is read. */
export interface BalanceReading {
  by: 'rollback' | 'bet and rollback'
}

/** Changes to a call: fields to replace or remove (`undefined`), and how it is sent. */
export type Change = {
  fields?: Record<string, Json | undefined>
  label?: string
} & Pick<Call, 'delivery' | 'credentials' | 'headers' | 'timeoutMs'>

export type UnsettlementType = 'UNSCORED' | 'UNVOIDED'

export class Stage {
  readonly exchanges: AuditExchange[] = []
  /** The balance when the case began. */
  opening: Decimal = zero
  /** By betId: every bet for which a placebet may have been accepted, with its settlements. */
  private readonly sent = new Map<string, { playerId: string; types: Set<SettlementType> }>()
  hasSettled = false
  /** Index of the last exchange after which the balance was as expected; -1 for none. */
  rightUntil = -1
  private readonly dates = new Map<string, string>()

  constructor(
    /** Of the cases before this one. */
    readonly balances: readonly CaseBalances[],
    readonly settings: AuditSettings,
    private readonly client: Client,
    readonly random: Random,
    private readonly ids: { next(): string },
    private readonly reading: BalanceReading,
  ) {}

  // Amounts

  /** An amount in smallest units of the currency. */
  units(count: number | bigint): Decimal {
    return fromUnits(count, this.settings.minorUnits)
  }

  /** The number of whole smallest units in an amount. */
  wholeUnits(value: Decimal): bigint {
    return wholeUnits(value, this.settings.minorUnits)
  }

  /** For the report: `30.00 EUR`. */
  money(value: Decimal): string {
    return `${textOf(value, this.settings.minorUnits)} ${this.settings.currency}`
  }

  /** Another currency with as many decimals as the player's, so that nothing else is wrong with an amount. */
  foreignCurrency(): string {
    const { currency, minorUnits } = this.settings
    const pairs = { 2: ['USD', 'EUR'], 3: ['BHD', 'KWD'], 8: ['ETH', 'BTC'] } as const
    const [one, two] = pairs[minorUnits <= 2 ? 2 : minorUnits === 3 ? 3 : 8]
    return currency === one ? two : one
  }

  // Calls

  /** A new id, unique across runs. */
  id(): string {
    return this.ids.next()
  }

  /** A new bet, not yet placed, of 100 to 300 smallest units by default. */
  bet(amount: Decimal = this.units(this.random.between(100, 300)), playerId = this.settings.playerId): Bet {
    const id = this.id()
    return { transactionId: `${id}-p`, betId: `${id}-b`, playerId, amount }
  }

  /** One date per transaction: a retry is identical byte for byte, unless a case changes it. */
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
    this.track(bet)
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

  /** Settles the bet. Skips the case if that is not possible: settlements are not part of the interface. */
  async settle(bet: Bet, type: SettlementType, amount: Decimal, transactionId = this.id()): Promise<void> {
    const problem = await this.trySettle(bet, type, amount, transactionId)
    if (problem !== null) throw new Skipped(`a bet could not be settled: ${problem}`)
  }

  /** @returns `null` if the bet is settled, otherwise the reason why it is not */
  async trySettle(
    bet: Bet,
    type: SettlementType,
    amount: Decimal,
    transactionId = this.id(),
  ): Promise<string | null> {
    this.hasSettled = true
    this.track(bet).types.add(type)
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

  /** Sends a call of the interface, with changes. */
  send(path: string, fields: Record<string, Json>, change: Change = {}): Promise<Answer> {
    const { fields: changed = {}, label = path.slice(1), ...rest } = change
    return this.call({ label, path, body: write({ ...fields, ...changed }), ...rest })
  }

  /** Sends any call. */
  async call(call: Call): Promise<Answer> {
    const { exchange, reply } = this.client.send(call)
    const index = this.exchanges.push(exchange) - 1
    return answerOf(await reply, index)
  }

  /** Registers a bet that a call of the case may have placed, so that it is rolled back at the end. */
  track(bet: Pick<Bet, 'betId' | 'playerId'>): { types: Set<SettlementType> } {
    const known = this.sent.get(bet.betId)
    if (known !== undefined) return known
    const expected = { playerId: bet.playerId, types: new Set<SettlementType>() }
    this.sent.set(bet.betId, expected)
    return expected
  }

  /** Starts many calls in this order, without waiting for answers in between. */
  concurrently<T>(count: number, call: (index: number) => Promise<T>): Promise<T[]> {
    return Promise.all(Array.from({ length: count }, (_, index) => call(index)))
  }

  wait(ms: number): Promise<void> {
    return new Promise(resolve => setTimeout(resolve, ms))
  }

  /** The current balance, by a call that changes nothing: the rollback of an unknown bet (spec 4.3). */
  async balance(playerId = this.settings.playerId): Promise<Decimal> {
    const answer = await this.readBalance(playerId)
    if (answer.balance !== null) return answer.balance
    return this.fail('an answer with the balance', describeAnswer(answer), answer, withoutSuccess(answer))
  }

  /** The player's currency, according to the wallet. */
  async currencyOf(playerId: string): Promise<string> {
    const answer = await this.readBalance(playerId)
    const currency = answer.fields?.get('currency')
    return typeof currency === 'string'
      ? currency
      : this.fail('an answer with the currency', describeAnswer(answer), answer, withoutSuccess(answer))
  }

  async readBalance(playerId = this.settings.playerId): Promise<Answer> {
    const bet = this.bet(this.units(1), playerId)
    if (this.reading.by === 'rollback') {
      return await this.rollback(bet, undefined, { label: `${readingLabel} (rollback of an unknown bet)` })
    }
    const placed = await this.place(bet, { label: `${readingLabel} (smallest bet)` })
    if (placed.balance === null) return placed
    return await this.rollback(bet, undefined, { label: `${readingLabel} (rollback of that bet)` })
  }

  // Expectations

  fail(
    expected: string,
    actual: string,
    answer: Answer | null = null,
    found: Found = { kind: 'other' },
  ): never {
    throw new CaseFailed(expected, actual, answer?.index ?? null, found)
  }

  /** Expects a 2xx with the record of spec 2, the player's currency, and this balance if it is given. */
  expectSuccess(answer: Answer, balance?: Decimal): void {
    const expected = balance === undefined ? 'success' : `success with balance ${this.money(balance)}`
    if (answer.success === null) this.fail(expected, describeAnswer(answer), answer, withoutSuccess(answer))
    if (answer.success.currency !== this.settings.currency)
      this.fail(`the currency ${this.settings.currency}`, JSON.stringify(answer.success.currency), answer)
    if (balance === undefined) return
    const difference = subtract(answer.success.balance, balance)
    if (difference.units !== 0n) {
      const actual = `success with balance ${this.money(answer.success.balance)}`
      this.fail(expected, actual, answer, { kind: 'balance', balance: { due: balance, difference } })
    }
    this.rightUntil = Math.max(this.rightUntil, answer.index)
  }

  /** Expects a 4xx or 5xx, with the agreed error code if one is given. */
  expectRefusal(answer: Answer, code?: string): void {
    const codes = code === undefined ? ['*'] : this.codesOf(code)
    const isRefusal = answer.status !== null && answer.status >= 400 && answer.status <= 599
    if (isRefusal && (codes.includes('*') || codes.some(agreed => agreed === answer.errorCode))) return
    this.fail(
      codes.includes('*') ? 'a refusal (4xx or 5xx)' : `a refusal ${codes.join(' or ')}`,
      describeAnswer(answer),
      answer,
      withoutRefusal(answer),
    )
  }

  /** Expects a 4xx. */
  expectFinalRefusal(answer: Answer): void {
    if (answer.status !== null && answer.status >= 400 && answer.status <= 499) return
    this.fail('a refusal (4xx)', describeAnswer(answer), answer, withoutRefusal(answer))
  }

  /** Expects the agreed error code and status. */
  expectAgreedRefusal(answer: Answer, code: string): void {
    this.expectRefusal(answer, code)
    const statuses = this.settings.statusCodes.get(code) ?? []
    if (!statuses.includes(answer.status ?? 0))
      this.fail(
        `status ${statuses.join(' or ')} for ${code}`,
        describeAnswer(answer),
        answer,
        withoutRefusal(answer),
      )
  }

  /** Whether the refusal says that the transaction or the bet already exists. */
  isDuplicateRefusal(answer: Answer): boolean {
    const codes = ['TRANSACTION_CONFLICT', 'INVALID_BET'].flatMap(code => this.codesOf(code))
    return answer.status === 409 || codes.some(code => code === answer.errorCode)
  }

  private codesOf(code: string): readonly string[] {
    return this.settings.errorCodes.get(code) ?? [code]
  }

  /** Expects this balance. `when`, for the report: `after the refusal`. */
  async expectBalance(balance: Decimal, when: string): Promise<void> {
    const answer = await this.readBalance()
    const expected = `balance ${this.money(balance)} ${when}`
    const actual = answer.balance
    if (actual === null) this.fail(expected, describeAnswer(answer), answer, withoutSuccess(answer))
    const difference = subtract(actual, balance)
    if (difference.units === 0n) {
      this.rightUntil = answer.index
      return
    }
    const which = difference.units < 0n ? 'too little' : 'too much'
    const size = difference.units < 0n ? subtract(zero, difference) : difference
    const found = { kind: 'balance', balance: { due: balance, difference } } as const
    this.fail(expected, `balance ${this.money(actual)}, ${this.money(size)} ${which}`, answer, found)
  }

  /** Places the bet, expects a success, and returns the balance afterwards. */
  async placeSuccessfully(bet: Bet, before: Decimal): Promise<Decimal> {
    const after = subtract(before, bet.amount)
    this.expectSuccess(await this.place(bet), after)
    return after
  }

  /** Places one bet that leaves this balance. */
  async spendDownTo(rest: Decimal, balance: Decimal): Promise<Bet> {
    const bet = this.bet(subtract(balance, rest))
    this.expectSuccess(await this.place(bet), rest)
    return bet
  }

  // Clean-up

  /** Rolls back the bets of the case as far as possible. Refusals are ignored: the case has judged them. */
  async cleanUp(): Promise<void> {
    const label = 'clean-up: '
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

/** An id for the report, without the part that all ids of a run share. */
export function short(id: string): string {
  return id.length <= 40 ? id.replace(/^au-[0-9a-z]+-/, '') : `${id.slice(0, 20)}…`
}

/** Of an answer that should be a success. */
function withoutSuccess({ status }: Answer): Found {
  if (status === null) return { kind: 'no answer' }
  return { kind: status >= 500 ? 'fault' : status >= 400 ? 'refused' : 'form' }
}

/** Of an answer that should be a refusal, or another one. */
function withoutRefusal({ status, balance, errorCode }: Answer): Found {
  if (status === null) return { kind: 'no answer' }
  if (status >= 500) return { kind: 'fault' }
  if (status >= 400) return { kind: errorCode === null ? 'form' : 'other refusal' }
  return { kind: balance === null ? 'form' : 'accepted' }
}

/** The answer in words: `402 INSUFFICIENT_FUNDS`. */
export function describeAnswer(answer: Answer): string {
  const { status, exchange, success, errorCode, text } = answer
  if (status === null) return `no answer: ${exchange.error ?? 'unknown reason'}`
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
  const isSuccess = status !== null && status >= 200 && status <= 299
  const success =
    isSuccess &&
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
    balance: isSuccess ? balance : null,
    success,
    errorCode,
  }
}

/** The sum of the stakes. */
export function sumOf(bets: readonly Bet[]): Decimal {
  return bets.reduce((sum, { amount }) => add(sum, amount), zero)
}
