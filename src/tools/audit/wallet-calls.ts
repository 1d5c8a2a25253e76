/** The calls to the wallet during one case, as the platform sends them: until the outcome is known. */
import type { SettlementRequest } from '../../requests.js'
import type { SettlementType } from '../../store.js'
import { add, type Decimal, fromUnits, textOf, zero } from '../numbers/decimal.js'
import type { Random } from '../numbers/random.js'
import { type Json, raw, write } from '../wire/json.js'
import { type Answer, answerOf } from './answer.js'
import type { AuditRun } from './audit-run.js'
import { Skipped } from './case-outcomes.js'
import type { Call } from './client.js'
import { senderOf } from './foreign-answers.js'
import { isAgreed } from './options.js'
import type { AuditExchange } from './report.js'
import { outageOf, Retries } from './retries.js'
import { settleBet } from './settlement-call.js'

/** A bet of the platform, placed or not. */
export interface Bet {
  transactionId: string
  betId: string
  playerId: string
  amount: Decimal
  currency: string
}

/** What names a bet in the calls about it. */
export type BetIds = Pick<Bet, 'betId' | 'playerId'>

/**
 * Changes to a call: fields to replace or remove (`undefined`), and how it is sent.
 *
 * A call is sent again until its outcome is known: a status below 500, or a 5xx with an error code agreed for
 * a refusal. A call that the platform would not send like this (other fields, headers or credentials) is
 * tried a few times only, and a 5xx that stays does not count as an outage.
 */
export type Change = {
  fields?: Record<string, Json | undefined>
  label?: string
  /** How often the call is sent at most. 1: the case judges the first answer, or that there is none. */
  attempts?: number
  /** The wallet may answer with a 5xx that stays: there is nothing to reverse yet (D19). */
  mayFail?: boolean
} & Pick<Call, 'isReading' | 'delivery' | 'credentials' | 'headers' | 'timeoutMs'>

/** What reverses a settlement. */
export const reversalOf = { BET_PAID: 'UNSCORED', VOIDED: 'UNVOIDED' } as const

export type UnsettlementType = 'UNSCORED' | 'UNVOIDED'

interface OpenBet extends BetIds {
  /** Of its settlements. */
  types: Set<string>
}

/** The bets that a case may have placed, which are rolled back at its end. */
class OpenBets {
  readonly #bets = new Map<string, OpenBet>()
  hasSettled = false

  /** Registers a bet that a call of the case may have placed. */
  track({ betId, playerId }: BetIds): OpenBet {
    const bet = this.#bets.get(betId) ?? { betId, playerId, types: new Set() }
    this.#bets.set(betId, bet)
    return bet
  }

  settled(bet: Bet, type: SettlementType): void {
    this.hasSettled = true
    this.track(bet).types.add(type)
  }

  /** The case has rolled the bet back itself, and knows it by the answer. */
  forget({ betId }: Pick<Bet, 'betId'>): void {
    this.#bets.delete(betId)
  }

  /** Those without settlements first: what they return may be needed to reverse the others. */
  inOrderOfCleanUp(): OpenBet[] {
    return [...this.#bets.values()].sort(
      (one, other) => Number(one.types.size > 0) - Number(other.types.size > 0),
    )
  }
}

export class WalletCalls {
  readonly #run: AuditRun
  readonly #random: Random
  readonly exchanges: AuditExchange[] = []
  readonly openBets = new OpenBets()
  readonly #dates = new Map<string, string>()
  /** The bets that `bet` has returned, which a placebet may replace by another one. */
  readonly #made = new WeakSet<object>()
  /** By betId: the number of calls of the case about the bet. */
  readonly #mentions = new Map<string, number>()
  readonly #retries: Retries
  readonly #caseId: string
  /** Of a race, for the labels; 0: it is none. */
  round = 0

  constructor(run: AuditRun, caseId: string, random: Random) {
    this.#run = run
    this.#caseId = caseId
    this.#random = random
    this.#retries = new Retries(run.settings, caseId, run.outages)
  }

  /** A new id, unique across runs. */
  id(): string {
    return this.#run.ids.next()
  }

  /** A new bet, not yet placed, of 100 to 300 smallest units by default. */
  bet(
    amount = this.#units(this.#random.between(100, 300)),
    playerId = this.#run.settings.playerId,
    currency = this.#run.settings.currency,
  ): Bet {
    const id = this.id()
    const bet = { transactionId: `${id}-p`, betId: `${id}-b`, playerId, amount, currency }
    this.#made.add(bet)
    return bet
  }

  /** Many bets. @param amountOf of each */
  bets(count: number, amountOf: () => Decimal): Bet[] {
    return Array.from({ length: count }, () => this.bet(amountOf()))
  }

  /** One date per transaction: a retry is identical byte for byte, unless a case changes it. */
  date(transactionId: string): string {
    const date = this.#dates.get(transactionId) ?? this.#run.settings.formatDate(new Date())
    this.#dates.set(transactionId, date)
    return date
  }

  placement(bet: Bet): Record<string, Json> {
    this.#mention(bet.betId)
    return {
      transactionId: bet.transactionId,
      betId: bet.betId,
      playerId: bet.playerId,
      sessionId: 'audit-session',
      amount: raw(textOf(bet.amount)),
      currency: bet.currency,
      odds: raw('1.85'),
      betType: 'SINGLE',
      transactionDate: this.date(bet.transactionId),
    }
  }

  reversal(bet: BetIds, type: string, transactionId: string): Record<string, Json> {
    this.#mention(bet.betId)
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
   * another bet: it gets new ids and is placed again. A bet that other calls of the case name too keeps its
   * ids, and its placebet is sent again as it is.
   */
  async place(bet: Bet, changed: Change | string = {}): Promise<Answer> {
    const change = changeOf(changed)
    for (let attempt = 1; ; attempt += 1) {
      const isReplaceable = () => this.#made.has(bet) && this.#mentions.get(bet.betId) === 1
      this.openBets.track(bet)
      const label = `${this.#retryOf(bet.transactionId)}placebet ${short(bet.betId)} of ${textOf(bet.amount)}`
      const placement = this.placement(bet)
      const send = (once: Change = {}) => this.send('/placebet', placement, { label, ...change, ...once })
      if (!isUsualCall(change) || !isReplaceable() || change.attempts !== undefined) return await send()
      const answer = await send({ attempts: 1 })
      if (this.#outageOf(answer) === null || this.#retries.isGone) return answer
      if (!isReplaceable()) return await send()
      await this.rollback(bet, undefined, {
        label: `rollbackbet ${short(bet.betId)}, whose outcome is unknown`,
      })
      // Another call about the bet may have been sent since: the case judges what became of it.
      if (this.#mentions.get(bet.betId) !== 2 || attempt >= this.#run.settings.attempts) return answer
      const { transactionId, betId } = this.bet(bet.amount, bet.playerId)
      Object.assign(bet, { transactionId, betId })
    }
  }

  /** Places the bet once more, under another transactionId. */
  placeAnew(bet: Bet, label = 'placebet for the same bet under another transactionId'): Promise<Answer> {
    return this.place({ ...bet, transactionId: this.id() }, label)
  }

  rollback(bet: BetIds, transactionId = this.id(), changed: Change | string = {}) {
    const label = `${this.#retryOf(transactionId)}rollbackbet ${short(bet.betId)}`
    const fields = this.reversal(bet, 'TECHNICAL_ERROR', transactionId)
    return this.send('/rollbackbet', fields, { label, ...changeOf(changed) })
  }

  unsettle(bet: BetIds, type: UnsettlementType, transactionId = this.id(), changed: Change | string = {}) {
    const label = `${this.#retryOf(transactionId)}unsettlement ${type} ${short(bet.betId)}`
    const fields = this.reversal(bet, type, transactionId)
    return this.send('/unsettlement', fields, { label, ...changeOf(changed) })
  }

  /** An unsettlement of what may not be reversed (yet): a 5xx that stays is an answer, no outage (D19). */
  async tryUnsettle(
    bet: BetIds,
    type: UnsettlementType,
    label = `unsettlement ${type} ${short(bet.betId)}`,
  ): Promise<Answer> {
    const answer = await this.unsettle(bet, type, undefined, { label, mayFail: true })
    this.#countFault(answer)
    return answer
  }

  /** For the label of a call. */
  #retryOf(transactionId: string): string {
    return this.#dates.has(transactionId) ? 'retry of ' : ''
  }

  #labelOf(label: string, attempt: number): string {
    const round = this.round === 0 ? '' : ` (round ${this.round})`
    return attempt === 1 ? `${label}${round}` : `${label}${round} (attempt ${attempt})`
  }

  #mention(betId: string): void {
    this.#mentions.set(betId, (this.#mentions.get(betId) ?? 0) + 1)
  }

  /** Settles the bet. Skips the case if that is not possible: settlements are not part of the interface. */
  async settle(bet: Bet, type: SettlementType, amount: Decimal, transactionId = this.id()): Promise<void> {
    const problem = await this.trySettle(bet, type, amount, transactionId, true)
    const { settled } = this.#run
    settled.set(type, problem === null || settled.get(type) === true)
    if (problem !== null) throw new Skipped(`a bet could not be settled: ${problem}`)
  }

  /** @returns `null` if the bet is settled, otherwise the reason why it is not */
  async trySettle(
    bet: Bet,
    type: SettlementType,
    amount: Decimal,
    transactionId = this.id(),
    isExpected = false,
  ): Promise<string | null> {
    this.#mention(bet.betId)
    this.openBets.settled(bet, type)
    const label = `${this.#retryOf(transactionId)}settlement ${type} ${short(bet.betId)} of ${textOf(amount)}`
    const { settings, client } = this.#run
    const settlement: SettlementRequest = {
      transactionId,
      betId: bet.betId,
      playerId: bet.playerId,
      type,
      amount: textOf(amount),
      currency: bet.currency,
      transactionDate: this.date(transactionId),
    }
    const { problem } = await this.#retries.untilKnown({
      send: attempt =>
        settleBet(settings, client, settlement, this.#labelOf(label, attempt), exchange =>
          this.exchanges.push(exchange),
        ),
      outageOf: ({ outage }) => outage,
      isUsual: isExpected && typeof settings.settle === 'object' && 'url' in settings.settle,
    })
    return problem
  }

  /** Sends a call of the interface, with changes. */
  async send(path: string, fields: Record<string, Json>, change: Change): Promise<Answer> {
    const { fields: changed = {}, label = path.slice(1), mayFail: _, ...rest } = change
    const content = { ...fields, ...changed }
    const { acceptedBets } = this.#run
    const mayBeOfUnknownBet = path === '/rollbackbet' && !acceptedBets.has(String(content.betId))
    const answer = await this.call({
      label,
      path,
      body: write(content),
      isUsual: isUsualCall(change),
      ...rest,
    })
    if (path === '/placebet' && answer.success !== null) acceptedBets.add(String(content.betId))
    return { ...answer, mayBeOfUnknownBet }
  }

  /** @param sent `isUsual`: a call that the platform sends */
  call(sent: Call & { isUsual?: boolean; attempts?: number }): Promise<Answer> {
    const { isUsual = false, attempts, ...call } = sent
    return this.#retries.untilKnown({
      send: attempt => this.#sendOnce({ ...call, label: this.#labelOf(call.label, attempt) }, isUsual),
      outageOf: answer => this.#outageOf(answer),
      isUsual,
      ...(isBroken(call.delivery) ? { attempts: 1 } : attempts === undefined ? {} : { attempts }),
    })
  }

  /** Sends a call, and again as long as a rate limiter refuses it. */
  async #sendOnce(call: Call, isUsual: boolean): Promise<Answer> {
    const { client, foreignAnswers, rateLimit } = this.#run
    for (;;) {
      const { exchange, reply } = client.send(call)
      const request = client.requests
      const index = this.exchanges.push(exchange) - 1
      const answer = answerOf(await reply, index)
      const sender = senderOf(answer)
      if (sender !== null) exchange.sender = sender
      if (isUsual || answer.status === 429) foreignAnswers.add(answer, request, this.#caseId)
      // The retries count the faults whose outcome is unknown.
      if (isUsual && this.#outageOf(answer) === null) this.#countFault(answer)
      if (!(await rateLimit.waitAfter(answer))) return answer
    }
  }

  /** For AU-981: a fault that was not agreed for what it says. */
  #countFault({ status, errorCode }: Answer): void {
    const { settings, outages } = this.#run
    if (status === null || status < 500 || isAgreed(settings, status, errorCode ?? '')) return
    if (outages.excused.has(this.#caseId)) return
    outages.all.push({ caseId: this.#caseId, what: `${status} ${errorCode ?? ''}`.trimEnd() })
  }

  #outageOf(answer: Answer): string | null {
    return outageOf(answer, this.#run.settings.refusalCodes)
  }

  /** By what changes no balance: a rollback of an unknown bet (spec 4.3), or the smallest bet and its own. */
  async readBalance(
    playerId = this.#run.settings.playerId,
    currency = this.#run.settings.currency,
  ): Promise<Answer> {
    const { settings, reading } = this.#run
    if (playerId === settings.playerId && currency !== (reading.home?.currency ?? settings.currency))
      return await this.#readAccount(currency)
    const bet = this.bet(this.#units(1), playerId)
    const reads = (how: string) => ({ label: `read the balance (${how})`, isReading: true }) as const
    if (this.#run.reading.by === 'rollback')
      return await this.rollback(bet, undefined, reads('rollback of an unknown bet'))
    const placed = await this.place(bet, reads('smallest bet'))
    if (placed.balance === null) {
      const { last } = this.#run.reading
      if (last === null || last.playerId !== playerId || this.#outageOf(placed) !== null) return placed
      const how = reads('the funds cover no bet: retry of an earlier rollback')
      return await this.send('/rollbackbet', last, how)
    }
    const rollback = this.reversal(bet, 'TECHNICAL_ERROR', this.id())
    const answer = await this.send('/rollbackbet', rollback, reads('rollback of that bet'))
    if (answer.balance !== null) this.#run.reading.last = rollback
    return answer
  }

  /** Of an account that no rollback of an unknown bet reads (D28): by that of a rolled back one (D12). */
  async #readAccount(currency: string): Promise<Answer> {
    const { settings, reading } = this.#run
    const known = reading.bets.get(currency)
    const reads = (how: string) =>
      ({ label: `read the balance in ${currency} (${how})`, isReading: true }) as const
    if (known !== undefined)
      return await this.rollback(known, undefined, reads('rollback of a bet that is rolled back'))
    const smallest = fromUnits(1, settings.minorUnitsOf(currency))
    const bet = this.bet(smallest, settings.playerId, currency)
    const placed = await this.place(bet, reads('smallest bet'))
    if (placed.balance === null) return placed
    const answer = await this.rollback(bet, undefined, reads('rollback of that bet'))
    if (answer.balance !== null) reading.bets.set(currency, bet)
    return answer
  }

  /** Rolls back the bets of the case as far as possible. Refusals are ignored: the case has judged them. */
  async cleanUp(): Promise<void> {
    for (const bet of this.openBets.inOrderOfCleanUp()) {
      for (const [settled, type] of Object.entries(reversalOf)) {
        if (!bet.types.has(settled)) continue
        await this.tryUnsettle(bet, type, `clean-up: unsettlement ${type} ${short(bet.betId)}`)
      }
      await this.rollback(bet, undefined, { label: `clean-up: rollbackbet ${short(bet.betId)}` })
    }
  }

  #units(count: number): Decimal {
    return fromUnits(count, this.#run.settings.minorUnits)
  }
}

/** A text is the label alone. */
const changeOf = (change: Change | string): Change =>
  typeof change === 'string' ? { label: change } : change

/** An id for the report, without the part that all ids of a run share. */
export function short(id: string): string {
  return id.length <= 40 ? id.replace(/^au-[0-9a-z]+-/, '') : `${id.slice(0, 20)}…`
}

function isUsualCall({ fields, headers, credentials, delivery, mayFail = false }: Change): boolean {
  const isChanged = fields !== undefined || headers !== undefined || credentials !== undefined
  return !isChanged && !mayFail && !isBroken(delivery)
}

/** Whether the caller does not wait for the answer. */
const isBroken = (delivery: Call['delivery']) => typeof delivery?.leave === 'function'

export function sumOf(bets: readonly Bet[]): Decimal {
  return bets.reduce((sum, { amount }) => add(sum, amount), zero)
}
