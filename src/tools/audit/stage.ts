/** The tools of a case: the platform's calls, and the expectations about their answers. */
import type { SettlementRequest } from '../../requests.js'
import type { SettlementType } from '../../store.js'
import { add, type Decimal, fromUnits, subtract, textOf, wholeUnits, zero } from '../platform/decimal.js'
import { type Json, raw, write } from '../platform/json.js'
import type { Random } from '../platform/random.js'
import { type Answer, answerOf, describeAnswer, withoutRefusal, withoutSuccess } from './answer.js'
import type { Client } from './client.js'
import { type AuditSettings, anyAgreed } from './options.js'
import type { AuditExchange, FailureKind } from './report.js'
import type { Call, Delivery } from './request.js'
import { type OutageLog, outageOf, Retries } from './retries.js'
import { settleBet } from './settlement-call.js'

export { type Answer, describeAnswer } from './answer.js'

/** What kind of failure it is. */
export interface Found {
  kind: FailureKind
  /** Of a wrong balance: the balance that was due, and the actual one minus that. */
  balance?: { due: Decimal; difference: Decimal }
}

/** A case has failed. */
export class CaseFailed extends Error {
  /** A step that only prepares the case has failed. */
  isPreparation = false

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

/** The balance before a case, and after it has rolled back its bets. */
export interface CaseBalances {
  id: string
  before: Decimal
  after: Decimal
  /** A credit may remain. */
  hasSettled: boolean
}

/** How the balance is read, decided before the first case. */
export interface BalanceReading {
  by: 'rollback' | 'bet and rollback'
  /** Why it is not the rollback of an unknown bet; otherwise `null`. */
  reason: string | null
  /** The last rollback by which a balance was read with a bet and its rollback. */
  last: Record<string, Json> | null
}

/**
 * Changes to a call: fields to replace or remove (`undefined`), and how it is sent.
 *
 * A call is sent again until its outcome is known: a status below 500, or a 5xx with an error code agreed for a
 * refusal. A call that the platform would not send like this (other fields, headers or credentials) is tried a
 * few times only, and a 5xx that stays does not count as an outage.
 */
export type Change = {
  fields?: Record<string, Json | undefined>
  label?: string
  /** How often the call is sent at most. 1: the case judges the first answer, or that there is none. */
  attempts?: number
  /** The wallet may answer with a 5xx that stays: there is nothing to reverse yet (D19). */
  mayFail?: boolean
} & Pick<Call, 'isReading' | 'delivery' | 'credentials' | 'headers' | 'timeoutMs'>

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
  /** The bets that `bet` has returned, which a placebet may replace by another one. */
  private readonly made = new WeakSet<object>()
  /** By betId: the number of calls of the case about the bet. */
  private readonly mentions = new Map<string, number>()
  private readonly retries: Retries

  constructor(
    /** Of the cases before this one. */
    readonly balances: readonly CaseBalances[],
    readonly settings: AuditSettings,
    private readonly client: Client,
    readonly random: Random,
    private readonly ids: { next(): string },
    private readonly reading: BalanceReading,
    caseId: string,
    readonly outages: OutageLog,
  ) {
    this.retries = new Retries(settings, caseId, outages)
  }

  /** The number of calls of the audit so far. */
  get calls(): number {
    return this.client.requests
  }

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
    const bet = { transactionId: `${id}-p`, betId: `${id}-b`, playerId, amount }
    this.made.add(bet)
    return bet
  }

  /** One date per transaction: a retry is identical byte for byte, unless a case changes it. */
  date(transactionId: string): string {
    const date = this.dates.get(transactionId) ?? this.settings.formatDate(new Date())
    this.dates.set(transactionId, date)
    return date
  }

  /** The fields of a placebet. */
  placement(bet: Bet): Record<string, Json> {
    this.mention(bet.betId)
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
    this.mention(bet.betId)
    return {
      transactionId,
      betId: bet.betId,
      playerId: bet.playerId,
      type,
      transactionDate: this.date(transactionId),
    }
  }

  /**
   * Places a bet. If the outcome is unknown, the bet is rolled back, as the platform does, and `bet` becomes
   * another bet: it gets new ids and is placed again. A bet that other calls of the case name too keeps its ids,
   * and its placebet is sent again as it is.
   */
  async place(bet: Bet, change: Change = {}): Promise<Answer> {
    for (let attempt = 1; ; attempt += 1) {
      const isReplaceable = () => this.made.has(bet) && this.mentions.get(bet.betId) === 1
      this.track(bet)
      const placement = this.placement(bet)
      const label = `placebet ${short(bet.betId)} of ${textOf(bet.amount)}`
      const isUsual = isUsualCall(change)
      if (!isUsual || !isReplaceable() || change.attempts !== undefined)
        return await this.send('/placebet', placement, { label, isUsual, ...change })
      const answer = await this.send('/placebet', placement, { label, isUsual, ...change, attempts: 1 })
      const isUnknown = this.outageOf(answer) !== null
      if (!isUnknown || this.retries.isGone) return answer
      if (!isReplaceable()) return await this.send('/placebet', placement, { label, isUsual, ...change })
      await this.rollback(bet, undefined, {
        label: `rollbackbet ${short(bet.betId)}, whose outcome is unknown`,
      })
      // Another call about the bet may have been sent meanwhile: the case judges what became of it.
      if (this.mentions.get(bet.betId) !== 2 || attempt >= this.settings.attempts) return answer
      const { transactionId, betId } = this.bet(bet.amount, bet.playerId)
      Object.assign(bet, { transactionId, betId })
    }
  }

  rollback(bet: Pick<Bet, 'betId' | 'playerId'>, transactionId = this.id(), change: Change = {}) {
    return this.send('/rollbackbet', this.reversal(bet, 'TECHNICAL_ERROR', transactionId), {
      label: `rollbackbet ${short(bet.betId)}`,
      isUsual: isUsualCall(change),
      ...change,
    })
  }

  unsettle(bet: Bet, type: UnsettlementType, transactionId = this.id(), change: Change = {}) {
    return this.send('/unsettlement', this.reversal(bet, type, transactionId), {
      label: `unsettlement ${type} ${short(bet.betId)}`,
      isUsual: isUsualCall(change),
      ...change,
    })
  }

  private mention(betId: string): void {
    this.mentions.set(betId, (this.mentions.get(betId) ?? 0) + 1)
  }

  /** Settles the bet. Skips the case if that is not possible: settlements are not part of the interface. */
  async settle(bet: Bet, type: SettlementType, amount: Decimal, transactionId = this.id()): Promise<void> {
    const problem = await this.settleOnce(bet, type, amount, transactionId, true)
    if (problem !== null) throw new Skipped(`a bet could not be settled: ${problem}`)
  }

  /** @returns `null` if the bet is settled, otherwise the reason why it is not */
  trySettle(
    bet: Bet,
    type: SettlementType,
    amount: Decimal,
    transactionId = this.id(),
  ): Promise<string | null> {
    return this.settleOnce(bet, type, amount, transactionId, false)
  }

  private async settleOnce(
    bet: Bet,
    type: SettlementType,
    amount: Decimal,
    transactionId: string,
    isExpected: boolean,
  ): Promise<string | null> {
    this.hasSettled = true
    this.mention(bet.betId)
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
    const { settle } = this.settings
    const { problem } = await this.retries.untilKnown({
      send: attempt =>
        settleBet(this.settings, this.client, settlement, attemptLabel(label, attempt), exchange =>
          this.exchanges.push(exchange),
        ),
      outageOf: ({ outage }) => outage,
      isUsual: isExpected && typeof settle === 'object' && 'url' in settle,
    })
    return problem
  }

  /** Sends a call of the interface, with changes. `isUsual`: a call that the platform sends. */
  send(
    path: string,
    fields: Record<string, Json>,
    change: Change & { isUsual?: boolean } = {},
  ): Promise<Answer> {
    const { fields: changed = {}, label = path.slice(1), mayFail: _, ...rest } = change
    return this.call({ label, path, body: write({ ...fields, ...changed }), ...rest })
  }

  /** Sends any call. */
  call({
    isUsual = false,
    attempts,
    ...call
  }: Call & { isUsual?: boolean; attempts?: number }): Promise<Answer> {
    return this.retries.untilKnown({
      send: async attempt => {
        const { exchange, reply } = this.client.send({ ...call, label: attemptLabel(call.label, attempt) })
        const index = this.exchanges.push(exchange) - 1
        return answerOf(await reply, index)
      },
      outageOf: answer => this.outageOf(answer),
      isUsual,
      ...(isBroken(call.delivery) ? { attempts: 1 } : attempts === undefined ? {} : { attempts }),
    })
  }

  private outageOf(answer: Answer): string | null {
    return outageOf(answer, this.settings.refusalCodes)
  }

  /** Registers a bet that a call of the case may have placed, so that it is rolled back at the end. */
  track(bet: Pick<Bet, 'betId' | 'playerId'>): { types: Set<SettlementType> } {
    const known = this.sent.get(bet.betId)
    if (known !== undefined) return known
    const expected = { playerId: bet.playerId, types: new Set<SettlementType>() }
    this.sent.set(bet.betId, expected)
    return expected
  }

  /** The case has rolled the bet back itself, and knows it by the answer. */
  forget(bet: Bet): void {
    this.sent.delete(bet.betId)
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
    const reads = (how: string) => ({ label: `read the balance (${how})`, isReading: true }) as const
    if (this.reading.by === 'rollback')
      return await this.rollback(bet, undefined, reads('rollback of an unknown bet'))
    const placed = await this.place(bet, reads('smallest bet'))
    if (placed.balance === null) {
      const { last } = this.reading
      if (last === null || last.playerId !== playerId || this.outageOf(placed) !== null) return placed
      const how = reads('the funds cover no bet: retry of an earlier rollback')
      return await this.send('/rollbackbet', last, { ...how, isUsual: true })
    }
    const rollback = this.reversal(bet, 'TECHNICAL_ERROR', this.id())
    const answer = await this.send('/rollbackbet', rollback, {
      ...reads('rollback of that bet'),
      isUsual: true,
    })
    if (answer.balance !== null) this.reading.last = rollback
    return answer
  }

  // Expectations

  fail(
    expected: string,
    actual: string,
    answer: Answer | null = null,
    found: Found = { kind: 'other' },
  ): never {
    const { mask } = answer ?? this.client
    throw new CaseFailed(mask(expected), mask(actual), answer?.index ?? null, found)
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

  /**
   * Expects a refusal: a 4xx with an error record, under any code (spec 7 leaves codes and statuses open), or a
   * 5xx with a code that is agreed for a refusal.
   */
  expectRefusal(answer: Answer): void {
    const { status, errorCode } = answer
    const isError = status !== null && status >= 400 && status <= 599
    if (isError && errorCode !== null && this.outageOf(answer) === null) return
    this.fail('a refusal (4xx with an error record)', describeAnswer(answer), answer, withoutRefusal(answer))
  }

  /** Expects an error of any kind, 4xx or 5xx: the call is none that the platform sends. */
  expectError(answer: Answer): void {
    const { status } = answer
    if (status === null || status < 400 || status > 599)
      this.fail('an error (4xx or 5xx)', describeAnswer(answer), answer, withoutRefusal(answer))
  }

  /** Expects a 4xx. */
  expectFinalRefusal(answer: Answer): void {
    if (answer.status !== null && answer.status >= 400 && answer.status <= 499) return
    this.fail('a refusal (4xx)', describeAnswer(answer), answer, withoutRefusal(answer))
  }

  /** Expects the agreed error code, with any status from 400 to 599. For the cases about codes only. */
  expectAgreedCode(answer: Answer, code: string): void {
    this.expectError(answer)
    const codes = this.codesOf(code)
    if (!codes.includes(anyAgreed) && !codes.some(agreed => agreed === answer.errorCode))
      this.fail(`a refusal ${codes.join(' or ')}`, describeAnswer(answer), answer, withoutRefusal(answer))
  }

  /** Expects the agreed error code and status. For the cases about codes and statuses only. */
  expectAgreedRefusal(answer: Answer, code: string): void {
    this.expectAgreedCode(answer, code)
    const statuses = this.settings.statusCodes.get(code) ?? []
    if (!statuses.includes(anyAgreed) && !statuses.includes(answer.status ?? 0))
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

  /** Whether a refusal may have any code where this one would be right. */
  allowsAnyCode(code: string): boolean {
    return this.codesOf(code).includes(anyAgreed)
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

  /** Runs a step that only prepares the case: its failure is not what the case is about. */
  async prepare<T>(step: () => Promise<T>): Promise<T> {
    try {
      return await step()
    } catch (error) {
      if (error instanceof CaseFailed) error.isPreparation = true
      throw error
    }
  }

  /** Places a bet and judges the answer. @returns the balance afterwards */
  async expectDebit(bet: Bet, before: Decimal): Promise<Decimal> {
    const after = subtract(before, bet.amount)
    this.expectSuccess(await this.place(bet), after)
    return after
  }

  /** Places a bet that the case needs. @returns the balance afterwards */
  async placeSuccessfully(bet: Bet, before: Decimal): Promise<Decimal> {
    return await this.prepare(() => this.expectDebit(bet, before))
  }

  /** Places a bet that the case needs, whatever the balance is. */
  async placePrepared(bet: Bet): Promise<void> {
    await this.prepare(async () => this.expectSuccess(await this.place(bet)))
  }

  /** Places one bet that leaves this balance. */
  async spendDownTo(rest: Decimal, balance: Decimal): Promise<Bet> {
    const bet = this.bet(subtract(balance, rest))
    await this.prepare(async () => this.expectSuccess(await this.place(bet), rest))
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

function isUsualCall({ fields, headers, credentials, delivery, mayFail = false }: Change): boolean {
  const isChanged = fields !== undefined || headers !== undefined || credentials !== undefined
  return !isChanged && !mayFail && !isBroken(delivery)
}

/** Whether the delivery leaves the caller without an answer. */
function isBroken(delivery: Delivery | undefined): boolean {
  return delivery?.as === 'disconnect' || delivery?.as === 'part' || delivery?.as === 'headers'
}

function attemptLabel(label: string, attempt: number): string {
  return attempt === 1 ? label : `${label} (attempt ${attempt})`
}

/** The sum of the stakes. */
export function sumOf(bets: readonly Bet[]): Decimal {
  return bets.reduce((sum, { amount }) => add(sum, amount), zero)
}
