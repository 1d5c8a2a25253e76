/** What the wallet knows of a bet: what its transactions show together, and what the bet itself holds. */

import type { BetHistory, RecordedTransaction } from '../../lookups/records.js'
import type { SettlementType } from '../../store.js'
import { add, compare, type Decimal, subtract, textOf, zero } from '../numbers/decimal.js'
import { type DecimalText, exactly, isZero, moneyText, signed } from './amounts.js'
import type { ReportRow } from './entry.js'

/** Of unsettlements: the settlement type that each of them reverses. */
const reversed: Record<string, SettlementType> = { UNSCORED: 'BET_PAID', UNVOIDED: 'VOIDED' }

/** Of a bet's transactions in its history: the first ones. */
const storyMax = 10

/** Read once: a bet may have any number of differences. */
export class BetFacts {
  /** Whether a placebet was accepted. */
  isPlaced = false
  /** Ids of those that were accepted. */
  readonly rollbacks = new Set<string>()
  /** Whether the bet was rolled back before it arrived (D11). */
  readonly isTombstone: boolean
  /** The bet in the wallet, a line for each of its transactions, and what it holds now. */
  readonly history: readonly string[]
  readonly #bet: BetHistory['bet']
  readonly #hasAccepted: boolean
  /** Per type, what recorded settlements have credited. */
  readonly #settled = new Map<string, Decimal>()

  constructor({ bet, transactions }: BetHistory) {
    const accepted = transactions.filter(({ refusal }) => refusal === null)
    for (const { operation, transactionId, type, delta } of accepted) {
      if (operation === 'placebet') this.isPlaced = true
      if (operation === 'rollbackbet') this.rollbacks.add(transactionId)
      if (operation === 'settlement' && type !== null)
        this.#settled.set(type, add(this.#settled.get(type) ?? zero, exactly(delta)))
    }
    this.#bet = bet
    this.#hasAccepted = accepted.length > 0
    this.isTombstone = bet?.status === 'ROLLED_BACK' && isZero(bet.stake) && !this.isPlaced
    this.history = this.#historyOf(transactions)
  }

  /** Whether an unsettlement of this type has something to reverse, or may have. */
  mayReverse(type: string | null): boolean {
    if (this.#bet === null) return this.#hasAccepted
    const { status, credits } = this.#bet
    const live = Object.entries(credits).filter(([, credit]) => !isZero(credit.live ?? '0'))
    return status === 'PLACED' && live.some(([each]) => type === null || each === reversed[type])
  }

  /**
   * What the PAM's own code has credited of these settlements, which no transaction records. What the bet
   * holds and no recorded settlement explains is taken off row by row: a row of just this amount first, then
   * those that it covers, then a part of the next one.
   */
  creditedOf(rows: readonly ReportRow[]): Map<ReportRow, DecimalText> {
    const left = this.#unexplained()
    const credited = new Map<ReportRow, DecimalText>()
    const passes: ((amount: Decimal, held: Decimal) => boolean)[] = [
      (amount, held) => compare(amount, held) === 0,
      (amount, held) => compare(amount, held) <= 0,
      (_, held) => compare(held, zero) > 0,
    ]
    for (const fits of passes) {
      for (const row of rows) {
        if (left.size === 0 || credited.has(row) || !this.#isOfBet(row)) continue
        const amount = exactly(row.amount as DecimalText)
        for (const [type, held] of left) {
          if ((row.type !== null && row.type !== type) || !fits(amount, held)) continue
          const isCovered = compare(amount, held) < 0
          credited.set(row, textOf(isCovered ? amount : held))
          if (isCovered) left.set(type, subtract(held, amount))
          else left.delete(type)
          break
        }
      }
    }
    return credited
  }

  #isOfBet({ playerId, currency }: ReportRow): boolean {
    return currency === this.#bet?.currency && (playerId ?? this.#bet?.playerId) === this.#bet?.playerId
  }

  /** Per type, what the bet holds and no recorded settlement has credited; 0 if there is none of the type. */
  #unexplained(): Map<string, Decimal> {
    const found = new Map<string, Decimal>()
    for (const [type, { live, reversed, owed }] of Object.entries(this.#bet?.credits ?? {})) {
      const held = [live ?? '0', reversed, owed].map(exactly).reduce(add)
      const rest = subtract(held, this.#settled.get(type) ?? zero)
      const sign = compare(rest, zero)
      if (sign > 0 || (sign === 0 && !this.#settled.has(type))) found.set(type, rest)
    }
    return found
  }

  #historyOf(transactions: readonly RecordedTransaction[]): string[] {
    if (this.#bet === null && transactions.length === 0)
      return ['No transaction of the wallet names this bet.']
    const more = transactions.length - storyMax
    return [
      ...transactions.slice(0, storyMax).map(lineOf),
      ...(more > 0 ? [`… and ${more} more transactions`] : []),
      ...(this.#bet === null
        ? ['No bet was taken under this id: it holds nothing.']
        : this.#holdings(this.#bet)),
    ]
  }

  #holdings({ status, stake, currency, credits }: NonNullable<BetHistory['bet']>): string[] {
    const money = (amount: DecimalText | null) => (amount === null ? 'none' : moneyText(amount, currency))
    const held = Object.entries(credits).map(
      ([type, { live, reversed, owed }]) =>
        `; ${type}: live ${money(live)}, reversed ${money(reversed)}, uncollected ${money(owed)}`,
    )
    return [
      `Now ${status}, stake ${money(stake)}${held.join('')}`,
      ...[...this.#unexplained()].map(
        ([type, amount]) =>
          `${money(textOf(amount))} of ${type} is in no recorded settlement: your own code credited it, or it was imported.`,
      ),
    ]
  }
}

function lineOf(transaction: RecordedTransaction): string {
  const { recordedAt, operation, type, transactionId, delta, refusal, currency, accountCurrency } =
    transaction
  const named = currency ?? accountCurrency
  const moved = refusal === null ? `${signed(delta, named)} ${named ?? '?'}` : `refused ${refusal.errorCode}`
  return `${recordedAt} ${operation}${type === null ? '' : ` ${type}`} ${transactionId}: ${moved}`
}
