/** AU-95x, AU-960: a player with one account per currency (D28). */
import { add, type Decimal, fromUnits, subtract, zero } from '../../numbers/decimal.js'
import type { Answer } from '../answer.js'
import { casesOf } from '../audit-case.js'
import { type CaseContext, eachRound } from '../case-context.js'
import type { Bet } from '../wallet-calls.js'

/** The player's accounts, with the expected balances. */
class Accounts {
  readonly #expected = new Map<string, Decimal>()
  /** The one of the option `currency` last: if its balance is right, all are. */
  readonly all: readonly string[]

  constructor(readonly context: CaseContext) {
    const { accounts, currency } = context.settings
    this.all = [...accounts.filter(code => code !== currency), currency]
  }

  async read(): Promise<this> {
    for (const currency of this.all)
      this.#expected.set(currency, await this.context.expect.currentBalance(undefined, currency))
    return this
  }

  /** A bet that is not placed yet: of 100 to 300 smallest units, or of so many more than the funds. */
  bet(currency: string, count = this.context.random.between(100, 300), above: Decimal = zero): Bet {
    return this.context.wallet.bet(add(above, this.units(currency, count)), undefined, currency)
  }

  units(currency: string, count: number): Decimal {
    return fromUnits(count, this.context.settings.minorUnitsOf(currency))
  }

  expected(currency: string): Decimal {
    return this.#expected.get(currency) as Decimal
  }

  /** The expected balance changes by this much. */
  change(currency: string, by: Decimal): void {
    this.#expected.set(currency, add(this.expected(currency), by))
  }

  /** Expects a success with the balance of this account, after a change of it. */
  answered(answer: Answer, currency: string, by: Decimal = zero): void {
    this.change(currency, by)
    this.context.expect.success(answer, this.expected(currency), currency)
  }

  async placed(currency: string): Promise<Bet> {
    const bet = this.bet(currency)
    this.answered(await this.context.wallet.place(bet), currency, subtract(zero, bet.amount))
    return bet
  }

  /** Expects the balance of every account. */
  async hold(when: string): Promise<void> {
    for (const currency of this.all)
      await this.context.expect.balance(this.expected(currency), when, currency)
  }
}

/** Each account in turn, with the currency of another one. */
const inEach =
  (run: (accounts: Accounts, currency: string, other: string) => Promise<unknown>) =>
  async (context: CaseContext): Promise<void> => {
    const accounts = await new Accounts(context).read()
    for (const [index, currency] of accounts.all.entries()) {
      await run(accounts, currency, accounts.all.at(index - 1) as string)
      await accounts.hold(`after the calls for ${currency}`)
    }
  }

const needs = ['accounts'] as const

export const accountCases = casesOf({
  'AU-951': {
    needs,
    name: 'A placebet debits the account of its currency and no other, and is answered with its balance',
    source: 'spec 4.1, D28',
    quote: 'stake-debited',
    impact:
      'A stake in one currency is debited from the money of another, or refused to a player who has it.',
    run: inEach((accounts, currency) => accounts.placed(currency)),
  },
  'AU-952': {
    needs,
    name: 'Rollbacks and retries change and answer the account of the bet, whatever was placed since',
    source: 'spec 4.3, D2, D12, D28',
    quote: 'placebet-undone',
    impact: 'The stake of a cancelled bet is credited in another currency than it was debited in.',
    run: inEach(async (accounts, currency, other) => {
      const { wallet } = accounts.context
      const bet = await accounts.placed(currency)
      await accounts.placed(other)
      accounts.answered(await wallet.place(bet), currency)
      const transactionId = wallet.id()
      accounts.answered(await wallet.rollback(bet, transactionId), currency, bet.amount)
      accounts.answered(await wallet.rollback(bet, transactionId), currency)
      accounts.answered(await wallet.rollback(bet), currency)
    }),
  },
  'AU-953': {
    needs,
    name: 'The funds of another account do not cover a stake',
    source: 'spec 4.1, D28',
    quote: 'funds-insufficient',
    impact: 'Amounts of different currencies are added: a stake in EUR is paid for with as many yen.',
    run: inEach(async (accounts, currency) => {
      const { expect, wallet } = accounts.context
      expect.refusal(await wallet.place(accounts.bet(currency, 1, accounts.expected(currency))))
    }),
  },
  'AU-954': {
    needs,
    name: 'A placebet in a currency without account is refused and changes no account, also when it is retried',
    source: 'D6, D23, D28',
    impact: 'A stake in a currency that the player does not have is debited from another one, one to one.',
    async run(context) {
      const accounts = await new Accounts(context).read()
      const bet = { ...context.wallet.bet(), currency: context.foreignCurrency() }
      for (const _ of [1, 2]) context.expect.refusal(await context.wallet.place(bet))
      await accounts.hold(`after placebets in ${bet.currency}`)
    },
  },
  'AU-955': {
    needs,
    name: 'The rollback of an unknown bet succeeds and changes no account; the late placebet in any currency debits none',
    source: 'spec 4.3, D11, D28',
    quote: 'rollback-of-unknown-bet',
    impact: 'The player loses the stake of a cancelled bet, since its tombstone is one of another currency.',
    run: inEach(async (accounts, currency) => {
      const { expect, wallet } = accounts.context
      const bet = accounts.bet(currency)
      const answer = await wallet.rollback(bet)
      const home = accounts.all.find(code => code === answer.success?.currency)
      if (home === undefined) expect.success(answer)
      else accounts.answered(answer, home)
      await wallet.place(bet, `placebet in ${currency} after its rollback`)
    }),
  },
  'AU-956': {
    needs,
    name: 'A known transactionId or betId in the currency of another account changes no account',
    source: 'D4, D10, D28',
    quote: 'one-transaction',
    impact: 'One bet is debited twice: once in each currency.',
    run: inEach(async (accounts, currency, other) => {
      const { transactionId, betId } = await accounts.placed(currency)
      const again = { ...accounts.bet(other), transactionId, betId }
      await accounts.context.wallet.place(again, `the same placebet in ${other}`)
      await accounts.context.wallet.placeAnew(again, `the same bet in ${other}, another transactionId`)
    }),
  },
  'AU-957': {
    needs: ['accounts', 'settle', 'clawbacks'],
    name: 'A settlement credits the account of the bet, and its unsettlement debits it',
    source: 'spec 4.2, D28',
    quote: 'unscored-debits',
    impact: 'A payout is credited in one currency and collected in another.',
    run: inEach(async (accounts, currency) => {
      const { wallet, random } = accounts.context
      const bet = await accounts.placed(currency)
      const payout = accounts.units(currency, random.between(400, 600))
      await wallet.settle(bet, 'BET_PAID', payout)
      accounts.change(currency, payout)
      await accounts.hold(`after a settlement in ${currency}`)
      accounts.answered(await wallet.unsettle(bet, 'UNSCORED'), currency, subtract(zero, payout))
    }),
  },
  'AU-958': {
    needs: ['accounts', 'settle'],
    name: 'A settlement in the currency of another account than that of the bet changes no account',
    source: 'D23, D28',
    impact: 'A payout of 500 yen is credited as 500 EUR.',
    run: inEach(async (accounts, currency, other) => {
      const bet = { ...(await accounts.placed(currency)), currency: other }
      await accounts.context.wallet.trySettle(bet, 'BET_PAID', accounts.units(other, 100))
    }),
  },
  'AU-959': {
    needs: ['accounts', 'settle', 'clawbacks'],
    name: 'The funds of another account do not cover a clawback',
    source: 'spec 4.2 rule 1, D20, D28',
    quote: 'clawback-refused',
    impact: 'What a player owes in one currency is taken from the money of another.',
    async run(context) {
      const accounts = await new Accounts(context).read()
      const { bet, rest, reversal } = await context.prepare.spentCredit()
      accounts.change(bet.currency, subtract(rest, accounts.expected(bet.currency)))
      context.expect.refusal(await context.wallet.unsettle(bet, reversal))
      await accounts.hold('after a refused unsettlement')
    },
  },
  'AU-960': {
    needs,
    name: 'Concurrent placebets and rollbacks in all accounts change each its own account',
    source: 'spec 4.1, 4.3, D28',
    quote: 'rollback-corrects',
    impact: 'Where calls are written together, amounts of different currencies are added to one sum.',
    run: eachRound(async context => {
      const accounts = await new Accounts(context).read()
      const { wallet, concurrently } = context
      const bets = await concurrently(async index => {
        const bet = accounts.bet(accounts.all[index % accounts.all.length] as string, 10 + index)
        context.expect.success(await wallet.place(bet), undefined, bet.currency)
        return bet
      })
      for (const { currency, amount } of bets) accounts.change(currency, subtract(zero, amount))
      await accounts.hold('after concurrent placebets')
      await concurrently(async index => {
        const { currency } = bets[index] as Bet
        context.expect.success(await wallet.rollback(bets[index] as Bet), undefined, currency)
      })
      for (const { currency, amount } of bets) accounts.change(currency, amount)
      await accounts.hold('after concurrent rollbacks')
    }),
  },
})
