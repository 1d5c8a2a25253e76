/** Proves that a simulation can fail: every defect is reported, with player and bet. */
import { describe, expect, test } from 'vitest'
import { brokenWallets } from '../wallets/broken.js'
import { players, simulate, skippingClock } from '../wallets/library.js'

describe('a wallet that', () => {
  test.each(brokenWallets.filter(({ kinds }) => kinds.length > 0))(
    '$name',
    async ({ kinds, break: breakIt, options, players: others = [] }) => {
      const affected = new Set<string>()
      const known = [...players, ...others]
      const clock = skippingClock()
      const { report } = await simulate(
        breakIt(betId => affected.add(betId), clock.now),
        {
          chaos: 0.7,
          bets: 250,
          clock,
          // A wallet that has lost a settlement never finds it again: a minute of retries is not needed.
          giveUpAfterMs: 20,
          ...options,
        },
        known,
      )

      expect(affected.size).toBeGreaterThan(0)
      expect(report.passed).toBe(false)
      expect(report.differences.map(({ kind }) => kind)).toEqual(
        expect.arrayContaining([expect.stringMatching(kinds.join('|'))]),
      )
      // A difference names the player and the bet: that of the request, or one of the recent transactions.
      const named = report.differences.filter(
        ({ kind, betId, recentTransactions }) =>
          kinds.includes(kind) &&
          [betId, ...recentTransactions].some(name => [...affected].some(bet => name.includes(bet))),
      )
      if (affected.has('of ann')) expect(report.differences.map(({ playerId }) => playerId)).toContain('ann')
      else expect(named.length).toBeGreaterThan(0)
      for (const { playerId, betId } of report.differences) {
        expect(known.map(player => player.playerId)).toContain(playerId)
        expect(betId).toMatch(/^run-[bn]/)
      }
    },
  )
})
