import { describe, expect, test } from 'vitest'
import { ClosedBets } from '../../../src/tools/simulator/closed-bets.js'
import { seeded } from './objects.js'

describe('closed bets', () => {
  test('are all kept up to the limit', () => {
    const bets = new ClosedBets<number>(20, seeded())
    expect(bets.isEmpty).toBe(true)
    for (let bet = 0; bet < 10; bet += 1) bets.add(bet)
    expect(bets.isEmpty).toBe(false)
    expect(bets.all().sort((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
  })

  test('beyond the limit are the latest, and a sample of all', () => {
    // Given room for 100 bets
    const bets = new ClosedBets<number>(100, seeded())
    // When 10,000 are closed
    for (let bet = 0; bet < 10_000; bet += 1) bets.add(bet)
    // Then the latest 50 are kept, and about 50 that are spread over the run
    const all = bets.all()
    expect(all.length).toBeLessThanOrEqual(100)
    for (let bet = 9_950; bet < 10_000; bet += 1) expect(all).toContain(bet)
    const older = all.filter(bet => bet < 9_950)
    expect(older.length).toBeGreaterThan(45)
    const mean = older.reduce((sum, bet) => sum + bet, 0) / older.length
    expect(Math.abs(mean - 5_000)).toBeLessThan(1_500)
  })

  test('are drawn from the sample', () => {
    const bets = new ClosedBets<number>(10, seeded())
    for (let bet = 0; bet < 1_000; bet += 1) bets.add(bet)
    const drawn = new Set(Array.from({ length: 200 }, () => bets.draw()))
    expect(drawn.size).toBe(5)
  })

  test('are not kept with a limit of 0', () => {
    const bets = new ClosedBets<number>(0, seeded())
    bets.add(1)
    expect([bets.isEmpty, bets.all()]).toEqual([true, []])
  })
})
