/**
 * The steps that only prepare a case: bets, rollbacks and settlements that it needs. Their failure is not
 * what the case is about, and the report says so.
 */
import { add, compare, type Decimal, subtract, textOf } from '../numbers/decimal.js'
import { CaseFailed, Skipped } from './case-outcomes.js'
import type { Expectations } from './expectations.js'
import { type Bet, type BetIds, reversalOf, type UnsettlementType, type WalletCalls } from './wallet-calls.js'

/** A settlement that an unsettlement can reverse: a wallet may have other tables and guards for each. */
export type Reversible = keyof typeof reversalOf

/** Of the case that they prepare. */
interface Context {
  readonly wallet: WalletCalls
  readonly expect: Expectations
  readonly opening: Decimal
  units(count: number): Decimal
  between(least: number, most: number): Decimal
  money(value: Decimal): string
}

export class Preparations {
  readonly #context: Context

  constructor(context: Context) {
    this.#context = context
  }

  async step<T>(step: () => Promise<T>): Promise<T> {
    try {
      return await step()
    } catch (error) {
      if (error instanceof CaseFailed) error.isPreparation = true
      throw error
    }
  }

  /** Places a bet. @returns the balance afterwards */
  placed(bet: Bet, before: Decimal): Promise<Decimal> {
    return this.step(() => this.#context.expect.debit(bet, before))
  }

  /** Places a bet, whatever the balance is. */
  placedAnyhow(bet: Bet): Promise<void> {
    const { expect, wallet } = this.#context
    return this.step(async () => expect.success(await wallet.place(bet)))
  }

  /** Rolls back a bet. @param expected the balance afterwards */
  rolledBack(bet: BetIds, expected: Decimal, transactionId?: string): Promise<void> {
    return this.step(() => this.#context.expect.undone(bet, expected, transactionId))
  }

  /** Rolls back a bet that has not arrived, which changes nothing. @returns the bet */
  async cancelled(bet = this.#context.wallet.bet()): Promise<Bet> {
    await this.rolledBack(bet, this.#context.opening)
    return bet
  }

  /** Places a bet and rolls it back. @returns the bet */
  async cancelledLater(): Promise<Bet> {
    const { bet } = await this.openBet()
    await this.rolledBack(bet, this.#context.opening)
    return bet
  }

  /** Unsettles a bet. @param expected the balance afterwards */
  unsettled(bet: Bet, type: UnsettlementType, expected: Decimal, transactionId?: string): Promise<void> {
    const { expect, wallet } = this.#context
    return this.step(async () => expect.success(await wallet.unsettle(bet, type, transactionId), expected))
  }

  /** Places one bet that leaves this balance. */
  async spendDownTo(rest: Decimal, balance: Decimal): Promise<Bet> {
    const bet = this.#context.wallet.bet(subtract(balance, rest))
    await this.placed(bet, balance)
    return bet
  }

  /** Places a bet of 200 to 300 smallest units. */
  async openBet(before = this.#context.opening): Promise<{ bet: Bet; staked: Decimal }> {
    const bet = this.#context.wallet.bet(this.#context.between(200, 300))
    return { bet, staked: await this.placed(bet, before) }
  }

  /** Settles a bet. @returns the balance afterwards: before, plus the amount */
  settled(
    bet: Bet,
    type: Reversible | 'CASHOUT',
    amount: Decimal,
    before: Decimal,
    transactionId?: string,
  ): Promise<Decimal> {
    const { expect, wallet, money } = this.#context
    return this.step(async () => {
      await wallet.settle(bet, type, amount, transactionId)
      const balance = add(before, amount)
      await expect.balance(balance, `after a settlement ${type} of ${money(amount)}`)
      return balance
    })
  }

  /**
   * Settles a bet, and returns the balance afterwards. What the operator's settlement credits is its own: it
   * may credit the stake for any void. Skips the case if it credits nothing: then one bet has one settlement.
   */
  credited(bet: Bet, type: Reversible, amount: Decimal, before: Decimal): Promise<Decimal> {
    const { expect, wallet } = this.#context
    return this.step(async () => {
      await wallet.settle(bet, type, amount)
      const after = await expect.currentBalance()
      expect.lastGoodExchange = wallet.exchanges.length - 1
      if (compare(after, before) !== 0) return after
      throw new Skipped(`a settlement ${type} of ${textOf(amount)} was accepted, but nothing was credited`)
    })
  }

  /** Places a bet and settles it, as paid (400 to 600 smallest units by default) or as voided (its stake). */
  async settledBet(type: Reversible = 'BET_PAID', amount?: Decimal, before = this.#context.opening) {
    const { wallet, between } = this.#context
    const bet = wallet.bet()
    const paid = amount ?? between(400, 600)
    const payout = type === 'VOIDED' ? bet.amount : paid
    const staked = await this.placed(bet, before)
    return { bet, payout, staked, balance: await this.settled(bet, type, payout, staked) }
  }

  /** Settles a bet and spends most of the credit, so that its clawback exceeds the funds. */
  async spentCredit(type: Reversible = 'BET_PAID') {
    const { bet, balance, payout } = await this.settledBet(type)
    const rest = subtract(payout, this.#context.units(1))
    const spent = await this.spendDownTo(rest, balance)
    return { bet, spent, rest, balance, reversal: reversalOf[type] }
  }

  /** The same, and has the clawback refused for insufficient funds. */
  async uncollectedBet(type: Reversible = 'BET_PAID') {
    const { bet, spent, rest, balance, reversal } = await this.spentCredit(type)
    const { expect, wallet } = this.#context
    const transactionId = wallet.id()
    const refusal = await this.step(() => expect.refused(wallet.unsettle(bet, reversal, transactionId), rest))
    return { bet, spent, balance, transactionId, reversal, refusal }
  }
}
