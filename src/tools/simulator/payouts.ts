/** Odds, and the settlement of a bet by the results of its matches. Amounts are units of the books. */
import type { SettlementType } from '../../store.js'
import { type Account, largestAmount } from './books.js'
import { type Match, resultOf, type Selection } from './matches.js'

export interface Leg {
  readonly match: Match
  readonly selection: Selection
  /** In hundredths. */
  readonly odds: number
}

/**
 * Conditions that keep players in the game for hours. `insured`: if the bet loses, the bookmaker buys most of
 * the stake back. `boosted`, for a player with hardly any funds: the whole stake back if it loses, and a
 * bonus if it wins.
 */
export type Offer = 'none' | 'insured' | 'boosted'

export interface Payout {
  type: SettlementType
  /** By the results, before debts are netted off. */
  gross: bigint
}

/** A cash-out pays at most this percentage of the stake. */
export const cashOutPercentMax = 130
const buyBackPercent = { insured: 90, boosted: 100 }

/** In hundredths to the power of the number of legs. */
export function oddsOf(legs: readonly Pick<Leg, 'odds'>[]): bigint {
  return legs.reduce((product, leg) => product * BigInt(leg.odds), 1n)
}

/**
 * `units` times odds, rounded half up to multiples of `step` units.
 *
 * @param odds in hundredths to the power of `legs`: 2.50 is 250 with one leg, 2.50 × 1.20 is 30000 with two
 */
export function timesOdds(units: bigint, odds: bigint, legs: number, step: bigint): bigint {
  const scale = 100n ** BigInt(legs) * step
  return ((units * odds * 2n + scale) / (scale * 2n)) * step
}

/** The settlement of a bet whose matches have ended: legs of abandoned matches do not count. */
export function payoutOf(stake: bigint, legs: readonly Leg[], offer: Offer, account: Account): Payout {
  const counted = legs.filter(({ match }) => match.state !== 'abandoned')
  if (counted.length === 0) return { type: 'VOIDED', gross: stake }
  if (counted.every(({ match, selection }) => selection === resultOf(match))) {
    const bonus = offer === 'boosted' ? bonusOf(account) : 0n
    return {
      type: 'BET_PAID',
      gross: timesOdds(stake, oddsOf(counted), counted.length, account.step) + bonus,
    }
  }
  return offer === 'none' ? { type: 'BET_PAID', gross: 0n } : cashOut(stake, buyBackPercent[offer], account)
}

export function cashOut(stake: bigint, percent: number, { step }: Account): Payout {
  return { type: 'CASHOUT', gross: timesOdds(stake, BigInt(percent), 1, step) }
}

/** The bonus of a boosted bet: a quarter of the opening balance, within the limit of an amount. */
function bonusOf(account: Account): bigint {
  const { opening, step } = account
  return least((opening / step / 4n) * step, halfOfLargest(account))
}

/** The largest stake of which no payout, with its bonus, is larger than an amount may be (D22). */
export function largestStake(legs: readonly Pick<Leg, 'odds'>[], account: Account): bigint {
  const scale = 100n ** BigInt(legs.length)
  const largestFactor = [oddsOf(legs), (BigInt(cashOutPercentMax) * scale) / 100n].reduce((a, b) =>
    a > b ? a : b,
  )
  const stake = (halfOfLargest(account) * scale) / largestFactor
  return stake - (stake % account.step)
}

function halfOfLargest(account: Account): bigint {
  return (largestAmount(account) / account.step / 2n) * account.step
}

const least = (a: bigint, b: bigint) => (a < b ? a : b)
