/** What a case expects of answers and balances: where it is not so, {@link CaseFailed} is thrown. */
import { type Decimal, subtract, times } from '../numbers/decimal.js'
import { headerOf } from '../wire/http-answer.js'
import { type Answer, describeAnswer, quoteOf, withoutRefusal, withoutSuccess } from './answer.js'
import type { AuditRun } from './audit-run.js'
import { signOf } from './balance-changes.js'
import { CaseFailed, type FailureDetails } from './case-outcomes.js'
import { anyAgreed } from './options.js'
import { outageOf } from './retries.js'
import type { Bet, BetIds, Change, WalletCalls } from './wallet-calls.js'

export class Expectations {
  readonly #run: AuditRun
  readonly #wallet: WalletCalls
  readonly #money: (value: Decimal, currency?: string) => string
  /** Index of the last exchange after which the balance was as expected; -1 for none. */
  lastGoodExchange = -1

  constructor(run: AuditRun, wallet: WalletCalls, money: (value: Decimal, currency?: string) => string) {
    this.#run = run
    this.#wallet = wallet
    this.#money = money
  }

  fail(
    expected: string,
    actual: string,
    answer: Answer | null = null,
    details: FailureDetails = { kind: 'other' },
  ): never {
    const { mask } = answer ?? this.#run.client
    throw new CaseFailed(mask(expected), mask(actual), answer?.index ?? null, details)
  }

  #noSuccess(expected: string, answer: Answer): never {
    this.fail(expected, describeAnswer(answer), answer, withoutSuccess(answer))
  }

  #noRefusal(expected: string, answer: Answer): never {
    this.fail(expected, describeAnswer(answer), answer, withoutRefusal(answer))
  }

  /** Expects a 2xx with the record of spec 2, the account's currency, and its balance if that is given. */
  success(answer: Answer, balance?: Decimal, currency = this.#run.settings.currency): void {
    const { settings, reading } = this.#run
    const { success } = answer
    const { home } = reading
    if (answer.mayBeOfUnknownBet && home !== null && success?.currency === home.currency) {
      this.success({ ...answer, mayBeOfUnknownBet: false }, balance && home.balance, home.currency)
      return
    }
    const money = (value: Decimal) => this.#money(value, currency)
    const expected = balance === undefined ? 'success' : `success with balance ${money(balance)}`
    if (success === null) this.#noSuccess(expected, answer)
    if (success.currency !== currency)
      this.fail(`the currency ${currency}`, JSON.stringify(success.currency), answer)
    if (balance === undefined) return
    const difference = subtract(success.balance, balance)
    if (difference.units !== 0n) {
      const actual = `success with balance ${money(success.balance)}`
      const wrong = { expected: balance, difference, currency }
      this.fail(expected, actual, answer, { kind: 'balance', balance: wrong })
    }
    if (currency === settings.currency) this.lastGoodExchange = Math.max(this.lastGoodExchange, answer.index)
  }

  /**
   * Expects a refusal: a 4xx with an error record, under any code (spec 7 leaves codes and statuses open), or
   * a 5xx with a code that is agreed for a refusal.
   */
  refusal(answer: Answer): void {
    const { status, errorCode } = answer
    const isError = status !== null && status >= 400 && status <= 599
    if (isError && errorCode !== null && outageOf(answer, this.#run.settings.refusalCodes) === null) return
    this.#noRefusal('a refusal (4xx with an error record)', answer)
  }

  /** Expects an error of any kind, 4xx or 5xx: the call is none that the platform sends. */
  error(answer: Answer): void {
    const { status } = answer
    if (status === null || status < 400 || status > 599) this.#noRefusal('an error (4xx or 5xx)', answer)
  }

  /** Expects a 4xx. */
  finalRefusal(answer: Answer): void {
    if (answer.status !== null && answer.status >= 400 && answer.status <= 499) return
    this.#noRefusal('a refusal (4xx)', answer)
  }

  /** Expects exactly errorCode and description, both non-empty strings (spec 7.2). */
  exactError(answer: Answer): void {
    this.error(answer)
    const { fields } = answer
    const form = { kind: 'form' } as const
    if (fields === null)
      this.fail('a JSON object with errorCode and description', describeAnswer(answer), answer, form)
    const names = [...fields.keys()].sort().join(', ') || 'no fields'
    if (names !== 'description, errorCode')
      this.fail('exactly errorCode and description', names, answer, form)
    for (const [name, value] of fields)
      if (typeof value !== 'string' || value.trim() === '')
        this.fail(`${name} as a non-empty string`, quoteOf(answer), answer, form)
  }

  /** Expects the agreed error code, with any status from 400 to 599. For the cases about codes only. */
  agreedCode(answer: Answer, code: string): void {
    this.error(answer)
    const codes = this.#codesOf(code)
    if (!codes.includes(anyAgreed) && !codes.some(agreed => agreed === answer.errorCode))
      this.#noRefusal(`a refusal ${codes.join(' or ')}`, answer)
  }

  /** Expects the agreed error code and status. For the cases about codes and statuses only. */
  agreedRefusal(answer: Answer, code: string): void {
    this.agreedCode(answer, code)
    const statuses = this.#run.settings.statusCodes.get(code) ?? []
    if (!statuses.includes(anyAgreed) && !statuses.includes(answer.status ?? 0))
      this.#noRefusal(`status ${statuses.join(' or ')} for ${code}`, answer)
  }

  /** Expects the Content-Type of JSON. */
  typeOfJson(answer: Answer): void {
    const type = headerOf(answer.head, 'content-type') ?? 'none'
    if (!/^application\/json\b/i.test(type)) this.fail('Content-Type application/json', type, answer)
  }

  sameRefusal(first: Answer, retry: Answer): void {
    if (first.status !== retry.status || first.errorCode !== retry.errorCode)
      this.fail(`the same answer: ${describeAnswer(first)}`, describeAnswer(retry), retry)
  }

  /** Whether the refusal says that the transaction or the bet already exists. */
  isDuplicateRefusal(answer: Answer): boolean {
    const codes = ['TRANSACTION_CONFLICT', 'INVALID_BET'].flatMap(code => this.#codesOf(code))
    return answer.status === 409 || codes.some(code => code === answer.errorCode)
  }

  /** Whether a refusal may have any code where this one would be right. */
  allowsAnyCode(code: string): boolean {
    return this.#codesOf(code).includes(anyAgreed)
  }

  #codesOf(code: string): readonly string[] {
    return this.#run.settings.errorCodes.get(code) ?? [code]
  }

  /** Expects this balance of an account. `when`, for the report: `after the refusal`. */
  async balance(balance: Decimal, when: string, currency = this.#run.settings.currency): Promise<void> {
    const money = (value: Decimal) => this.#money(value, currency)
    const answer = await this.#wallet.readBalance(undefined, currency)
    const expected = `balance ${money(balance)} ${when}`
    const actual = answer.balance
    if (actual === null) this.#noSuccess(expected, answer)
    const isMain = currency === this.#run.settings.currency
    if (!isMain) this.success(answer, undefined, currency)
    const difference = subtract(actual, balance)
    if (difference.units === 0n) {
      if (isMain) this.lastGoodExchange = answer.index
      return
    }
    const sign = signOf(difference)
    const size = money(times(difference, sign))
    const found = `balance ${money(actual)}, ${size} ${sign < 0 ? 'too little' : 'too much'}`
    this.fail(expected, found, answer, {
      kind: 'balance',
      balance: { expected: balance, difference, currency },
    })
  }

  /** Places a bet and judges the answer. @returns the balance afterwards */
  async debit(bet: Bet, before: Decimal, change?: Change | string): Promise<Decimal> {
    const after = subtract(before, bet.amount)
    this.success(await this.#wallet.place(bet, change), after)
    return after
  }

  /** Rolls back a bet and judges the answer. @param balance is expected afterwards, if it is given */
  async undone(bet: BetIds, balance?: Decimal, transactionId?: string): Promise<void> {
    this.success(await this.#wallet.rollback(bet, transactionId), balance)
  }

  /** Expects this balance after a call, however it is answered. @returns its answer */
  async balanceAfter(call: Answer | Promise<Answer>, balance: Decimal): Promise<Answer> {
    const answer = await call
    await this.balance(balance, `after ${answer.exchange.label}`)
    return answer
  }

  /** Expects a success with this balance, which a reading shows too. */
  async executed(call: Promise<Answer>, balance: Decimal): Promise<void> {
    const answer = await call
    this.success(answer, balance)
    await this.balanceAfter(answer, balance)
  }

  /** Expects an error of a call that has changed no balance. */
  async notExecuted(call: Promise<Answer>, balance: Decimal): Promise<void> {
    this.error(await this.balanceAfter(call, balance))
  }

  /** Expects a refusal of a call that has changed no balance. @returns its answer */
  async refused(call: Promise<Answer>, balance: Decimal): Promise<Answer> {
    const answer = await call
    this.refusal(answer)
    return await this.balanceAfter(answer, balance)
  }

  /** The current balance, see `WalletCalls.readBalance`. */
  async currentBalance(playerId = this.#run.settings.playerId, currency?: string): Promise<Decimal> {
    const answer = await this.#wallet.readBalance(playerId, currency)
    if (currency !== undefined) this.success(answer, undefined, currency)
    return answer.balance ?? this.#noSuccess('an answer with the balance', answer)
  }

  /** The player's currency, according to the wallet. */
  async currencyOf(playerId: string): Promise<string> {
    const answer = await this.#wallet.readBalance(playerId)
    const currency = answer.fields?.get('currency')
    return typeof currency === 'string' ? currency : this.#noSuccess('an answer with the currency', answer)
  }
}
