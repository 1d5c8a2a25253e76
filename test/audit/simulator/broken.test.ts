/** The proof that the reconciliation can fail: every broken wallet is found, by player and bet. */
import { describe, expect, test } from 'vitest'
import { brokenWallets } from './broken.js'
import { players, simulate } from './wallet.js'

describe('a wallet that', () => {
  test.each(brokenWallets)('$name', async ({ found, break: breakIt, options }) => {
    const spoilt = new Set<string>()
    const { report } = await simulate(
      breakIt(betId => spoilt.add(betId)),
      {
        chaos: 0.7,
        bets: 250,
        // A wallet that has lost a settlement never finds it again: it need not be asked for a minute.
        giveUpAfterMs: 20,
        ...options,
      },
    )

    expect(spoilt.size).toBeGreaterThan(0)
    expect(report.passed).toBe(false)
    expect(report.differences.map(({ kind }) => kind)).toEqual(
      expect.arrayContaining([expect.stringMatching(found.join('|'))]),
    )
    // It names the player and the bet: the one at which it showed, or one of those since the balance was last right.
    const named = report.differences.filter(
      ({ kind, betId, recentTransactions }) =>
        found.includes(kind) &&
        [betId, ...recentTransactions].some(name => [...spoilt].some(bet => name.includes(bet))),
    )
    if (spoilt.has('of ann')) expect(report.differences.map(({ playerId }) => playerId)).toContain('ann')
    else expect(named.length).toBeGreaterThan(0)
    for (const { playerId, betId } of report.differences) {
      expect(players.map(player => player.playerId)).toContain(playerId)
      expect(betId).toMatch(/^run-[bn]/)
    }
  })
})
