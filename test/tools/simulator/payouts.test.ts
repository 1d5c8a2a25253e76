import { describe, expect, test } from 'vitest'
import { isValidAmount, largestAmount } from '../../../src/tools/simulator/books.js'
import type { Match, Selection } from '../../../src/tools/simulator/matches.js'
import {
  cashOut,
  cashOutPercentMax,
  type Leg,
  largestStake,
  oddsOf,
  payoutOf,
  timesOdds,
} from '../../../src/tools/simulator/payouts.js'
import { openedAccount } from './objects.js'

const finished = (home: number, away: number): Match => ({
  goals: { home, away },
  state: 'finished',
  version: 1,
  final: true,
})
const abandoned: Match = { ...finished(0, 0), state: 'abandoned' }
const leg = (match: Match, selection: Selection, odds: number): Leg => ({ match, selection, odds })

describe('a payout', () => {
  const account = openedAccount('100.00')
  test.each([
    ['pays a winner its odds', [leg(finished(1, 0), 'home', 185)], 'none', 'BET_PAID', 1850n],
    ['pays a loser nothing', [leg(finished(0, 1), 'home', 185)], 'none', 'BET_PAID', 0n],
    ['voids a bet on an abandoned match', [leg(abandoned, 'home', 185)], 'none', 'VOIDED', 1000n],
    [
      'multiplies the odds of all legs',
      [leg(finished(1, 0), 'home', 110), leg(finished(0, 0), 'draw', 115)],
      'none',
      'BET_PAID',
      1265n,
    ],
    [
      'ignores the leg of an abandoned match',
      [leg(finished(1, 0), 'home', 110), leg(abandoned, 'draw', 900)],
      'none',
      'BET_PAID',
      1100n,
    ],
    [
      'needs every leg to win',
      [leg(finished(1, 0), 'home', 110), leg(finished(0, 0), 'home', 115)],
      'none',
      'BET_PAID',
      0n,
    ],
    ['buys an insured loser back', [leg(finished(0, 1), 'home', 185)], 'insured', 'CASHOUT', 900n],
    ['buys a boosted loser back', [leg(finished(0, 1), 'home', 185)], 'boosted', 'CASHOUT', 1000n],
    ['adds a quarter of the opening', [leg(finished(1, 0), 'home', 185)], 'boosted', 'BET_PAID', 4350n],
  ] as const)('%s', (_, legs, offer, type, gross) => {
    expect(payoutOf(1000n, legs, offer, account)).toEqual({ type, gross })
  })
})

describe('the largest stake', () => {
  test.each([
    ['EUR', 2, '999999999999999.99'],
    ['JPY', 0, '99999999999999999999999'],
    ['BTC', 8, '1'],
    ['WEI', 18, '123456789012345.000000000000000001'],
    ['EUR', 2, '5000.12345'],
  ])('keeps every payout in %s with %i decimals and an opening of %s within the limit', (...given) => {
    // Given a player, whatever the balance, and odds up to the largest multiple
    const [currency, minorUnits, opening] = given
    const account = openedAccount(opening, currency, minorUnits)
    for (const odds of [[101], [185], [404], [101, 101], [404, 404, 404]]) {
      const legs = odds.map(each => leg(finished(1, 0), 'home', each))
      // When the largest stake is placed
      const stake = largestStake(legs, account)
      // Then the stake, a win with its bonus, a void and a cash-out are valid amounts
      expect(isValidAmount(stake, account)).toBe(true)
      expect(isValidAmount(payoutOf(stake, legs, 'boosted', account).gross, account)).toBe(true)
      expect(isValidAmount(cashOut(stake, cashOutPercentMax, account).gross, account)).toBe(true)
      // And it is not needlessly small
      const most = timesOdds(stake, oddsOf(legs), legs.length, account.step)
      expect(most * 3n > largestAmount(account)).toBe(true)
    }
  })
})

describe('a valid amount', () => {
  const account = openedAccount('1.2345')
  test.each([
    ['0', 0n, true],
    ['a whole cent', 100n, true],
    ['15 digits before the point', 999_999_999_999_999_9900n, true],
    ['16 digits before the point', 1_000_000_000_000_000_0000n, false],
    ['a part of a cent', 150n, false],
    ['a negative amount', -100n, false],
  ])('%s: %s units, %s', (_, units, isValid) => {
    expect(isValidAmount(units, account)).toBe(isValid)
  })
})
