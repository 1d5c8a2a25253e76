import { describe, expect, test } from 'vitest'
import type { Account } from '../../../src/tools/simulator/books.js'
import { drawPlayer, drawStake, limitStake } from '../../../src/tools/simulator/stakes.js'
import { fixedRandom, openedAccount, seeded } from './objects.js'

const withFunds = (low: bigint): Account => ({ ...openedAccount('100.00'), low, high: low })

describe('a player', () => {
  test('is drawn, the first ones more often', () => {
    const accounts = [1n, 1n, 1n, 1n].map(withFunds)
    const random = seeded()
    const counts = [0, 0, 0, 0]
    for (let draw = 0; draw < 4_000; draw += 1) {
      const index = accounts.indexOf(drawPlayer(accounts, random))
      counts[index] = (counts[index] ?? 0) + 1
    }
    expect(counts).toEqual([...counts].sort((a, b) => b - a))
    expect(Math.min(...counts)).toBeGreaterThan(200)
  })

  test('without funds is drawn rarely, but drawn', () => {
    const [poor, rich] = [withFunds(0n), withFunds(1n)]
    expect(drawPlayer([poor, rich], fixedRandom(0, 0.99))).toBe(rich)
    expect(drawPlayer([poor, rich], fixedRandom(0))).toBe(poor)
  })
})

describe('a stake', () => {
  test.each([
    ['is mostly small', 100_00n, false, [0.5, 0], { stake: 20n, offer: 'none' }],
    ['is now and then more than the funds', 100_00n, false, [0, 0], { stake: 100_01n, offer: 'none' }],
    ['is sometimes most of the funds', 100_00n, false, [0.05, 1], { stake: 95_00n, offer: 'none' }],
    ['of a gambler is often most of the funds', 100_00n, true, [0.5, 1], { stake: 95_00n, offer: 'none' }],
    ['of most of reduced funds is insured', 50_00n, true, [0.5, 0], { stake: 30_00n, offer: 'insured' }],
    ['of a player with hardly any funds is boosted', 9_00n, true, [0.5, 0], { stake: 18n, offer: 'boosted' }],
    ['of a player who has won much is small', 1000_01n, true, [0.5, 0], { stake: 2_00n, offer: 'none' }],
    ['is never 0', 0n, false, [0.5, 0], { stake: 1n, offer: 'boosted' }],
  ] as const)('%s', (_, funds, isGambler, rolls, expected) => {
    expect(drawStake(withFunds(funds), isGambler, fixedRandom(...rolls))).toEqual(expected)
  })

  test('is a whole number of minor units where the balance has more decimals', () => {
    const account = openedAccount('100.0005')
    const random = seeded()
    for (let draw = 0; draw < 200; draw += 1)
      expect(drawStake(account, true, random).stake % account.step).toBe(0n)
  })

  test('is reduced if a payout could be larger than an amount may be (D22)', () => {
    const account = openedAccount('900000000000000.00')
    const small = { stake: 10_00n, offer: 'insured' } as const
    expect(limitStake(small, [{ odds: 404 }], account)).toEqual(small)
    expect(limitStake({ stake: account.low, offer: 'insured' }, [{ odds: 200 }], account)).toEqual({
      stake: 24_999_999_999_999_999n,
      offer: 'none',
    })
  })
})
