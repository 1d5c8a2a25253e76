/** What a case is given: calls to the wallet, expectations about its answers, and steps that prepare it. */
import { type Decimal, fromUnits, textOf, wholeUnits, zero } from '../numbers/decimal.js'
import { createRandom, type Random } from '../numbers/random.js'
import { raw } from '../wire/json.js'
import type { AuditRun } from './audit-run.js'
import { Expectations } from './expectations.js'
import type { AuditSettings } from './options.js'
import { Preparations } from './preparations.js'
import { WalletCalls } from './wallet-calls.js'

export class CaseContext {
  readonly settings: AuditSettings
  readonly random: Random
  readonly wallet: WalletCalls
  readonly expect: Expectations
  readonly prepare: Preparations
  /** The balance when the case began. */
  opening: Decimal = zero

  constructor(
    readonly run: AuditRun,
    caseId: string,
  ) {
    this.settings = run.settings
    this.random = createRandom(run.settings.seed, caseId)
    this.wallet = new WalletCalls(run, caseId, this.random)
    this.expect = new Expectations(run, this.wallet, this.money)
    this.prepare = new Preparations(this)
  }

  /** An amount in smallest units of the currency. */
  readonly units = (count: number | bigint): Decimal => fromUnits(count, this.settings.minorUnits)

  /** An amount that is drawn, in smallest units. */
  readonly between = (least: number, most: number): Decimal => this.units(this.random.between(least, most))

  /** The number of whole smallest units in an amount. */
  readonly wholeUnits = (value: Decimal): bigint => wholeUnits(value, this.settings.minorUnits)

  /** For the report: `30.00 EUR`. */
  readonly money = (value: Decimal, currency = this.settings.currency): string =>
    `${textOf(value, this.settings.minorUnitsOf(currency))} ${currency}`

  /**
   * A currency in which the player has no account, with as many decimals as the player's, so that nothing
   * else is wrong with an amount.
   */
  readonly foreignCurrency = (): string => {
    const { accounts, minorUnits } = this.settings
    const known = [...accounts, this.run.reading.home?.currency]
    const others = {
      2: ['USD', 'EUR', 'GBP', 'SEK', 'CHF', 'PLN'],
      3: ['BHD', 'KWD', 'OMR', 'JOD', 'TND', 'IQD'],
      8: ['ETH', 'BTC', 'LTC', 'SOL', 'XRP', 'TRX'],
    }[minorUnits <= 2 ? 2 : minorUnits === 3 ? 3 : 8]
    return others.find(currency => !known.includes(currency)) as string
  }

  /** What makes a placebet one in that currency: a wallet assumes no more than 8 decimals of it. */
  readonly foreignFields = () => ({
    currency: this.foreignCurrency(),
    ...(this.settings.minorUnits > 8 && { amount: raw('1') }),
  })

  /** Starts many calls in this order, without waiting for answers in between. */
  readonly concurrently = <T>(
    call: (index: number) => Promise<T>,
    count = this.settings.concurrency,
  ): Promise<T[]> => Promise.all(Array.from({ length: count }, (_, index) => call(index)))

  /** A transactionDate of this long ago. */
  readonly dateOf = (msAgo: number): string => this.settings.formatDate(new Date(Date.now() - msAgo))

  readonly wait = (ms: number): Promise<void> => new Promise(resolve => setTimeout(resolve, ms))
}

/** Of a race: one run that passes proves little. */
export const eachRound =
  (race: (context: CaseContext, round: number) => Promise<void>, timesRounds = 1) =>
  async (context: CaseContext): Promise<void> => {
    for (let round = 1; round <= timesRounds * context.settings.raceRounds; round += 1) {
      context.wallet.round = round
      await race(context, round)
    }
  }

/** Starts two calls at the same moment, in every second round in the other order. */
export async function together<T, U>(
  round: number,
  one: () => Promise<T>,
  other: () => Promise<U>,
): Promise<[T, U]> {
  if (round % 2 === 1) return await Promise.all([one(), other()])
  const [second, first] = await Promise.all([other(), one()])
  return [first, second]
}
