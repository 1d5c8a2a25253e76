/** The choice of a player and of a stake. */
import type { Random } from '../numbers/random.js'
import type { Account } from './books.js'
import { type Leg, largestStake, type Offer } from './payouts.js'

export interface Stake {
  stake: bigint
  offer: Offer
}

/** The share of the funds of which two bets at once cannot both be covered. */
const mostOf = { least: 0.6, most: 0.95 }

const chanceOf = { beyondFunds: 0.02, allIn: 0.06, allInOfGamblers: 0.5 }

/** Some players bet more often than others; players without funds bet rarely. */
export function drawPlayer(accounts: readonly Account[], random: Random): Account {
  for (let tries = 3; ; tries -= 1) {
    const account = accounts[Math.floor(random.next() ** 2 * accounts.length)] as Account
    if (account.low > 0n || tries === 0) return account
  }
}

/**
 * Draws a stake in whole minor units: mostly small, sometimes nearly all funds, now and then more than the
 * funds.
 *
 * @param isGambler stakes all funds often, so that clawbacks find none
 */
export function drawStake(account: Account, isGambler: boolean, random: Random): Stake {
  const { step, low, opening } = account
  const funds = low > 0n ? low : 0n
  const share = (part: number) => ((funds / step) * BigInt(Math.round(part * 10_000))) / 10_000n
  const roll = random.next()
  const part = random.next()
  const minors = (count: bigint) => (count > 0n ? count : 1n) * step
  if (roll < chanceOf.beyondFunds) return { stake: minors(share(1 + part / 2) + 1n), offer: 'none' }
  if (funds * 10n < opening) return { stake: minors(share(0.02 + 0.2 * part)), offer: 'boosted' }
  const allIn = isDeepInDebt(account) ? 0 : isGambler ? chanceOf.allInOfGamblers : chanceOf.allIn
  if (roll < chanceOf.beyondFunds + allIn && funds <= 10n * opening) {
    return { stake: minors(share(0.6 + 0.35 * part)), offer: funds < opening ? 'insured' : 'none' }
  }
  return { stake: minors(share(0.002 + 0.03 * part)), offer: 'none' }
}

/**
 * Whether the player owes so much that winnings would be withheld for long: no more clawbacks are made that
 * find no funds.
 */
export function isDeepInDebt({ debt, opening }: Account): boolean {
  return debt * 4n > opening
}

/** More than half of the funds. */
export function mostOfFunds({ low, step }: Account, random: Random): Stake {
  const share = BigInt(Math.round((mostOf.least + (mostOf.most - mostOf.least) * random.next()) * 10_000))
  const minors = low > 0n ? ((low / step) * share) / 10_000n : 0n
  return { stake: (minors > 0n ? minors : 1n) * step, offer: 'insured' }
}

/** The least funds that the player can have; `null` if there are none. */
export function allFunds({ low, step }: Account): Stake | null {
  return low < step ? null : { stake: low - (low % step), offer: 'insured' }
}

/**
 * Reduces a stake of which a payout could be larger than the interface allows (D22). Such a player gets no
 * offer, so that the balance does not grow from run to run.
 */
export function limitStake(drawn: Stake, legs: readonly Pick<Leg, 'odds'>[], account: Account): Stake {
  const most = largestStake(legs, account)
  return drawn.stake <= most ? drawn : { stake: most, offer: 'none' }
}
