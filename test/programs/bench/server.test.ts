/** The servers of the benchmarks: both must give the same answers, else their costs cannot be compared. */
import { simulateSportsbook } from 'bet-wallet/audit'
import { describe, expect, it } from 'vitest'
import { credentials, player } from './load.js'
import { startServer } from './server-process.js'

async function simulated(kind: 'memory' | 'bare', chaos: number) {
  const server = await startServer({ kind, players: [player] })
  try {
    const before = await server.usage()
    const report = await simulateSportsbook({
      baseUrl: server.baseUrl,
      credentials,
      players: [player],
      settle: 'unsupported',
      bets: 200,
      rememberedBetsMax: 0,
      concurrency: 4,
      chaos,
      seed: 1,
    })
    const after = await server.usage()
    expect(after.cpuUs).toBeGreaterThan(before.cpuUs)
    expect(after.rssBytes).toBeGreaterThan(1e6)
    return report
  } finally {
    await server.stop()
  }
}

describe('given a network without faults', () => {
  it.each(['memory', 'bare'] as const)(
    'when the sportsbook bets on the %s server, then its balances agree to the cent',
    async kind => {
      const { differences, counts } = await simulated(kind, 0)
      // The bare server knows no rules: it takes a bet in any currency.
      const others = kind === 'bare' ? differences.filter(each => each.kind !== 'currency') : differences
      expect(others).toEqual([])
      expect(counts.betsAccepted).toBeGreaterThan(90)
    },
  )
})

describe('given an unreliable network', () => {
  it('when the sportsbook bets, then the balances of the wallet agree, and those of the bare server do not', async () => {
    expect((await simulated('memory', 1)).passed).toBe(true)
    expect((await simulated('bare', 1)).passed).toBe(false)
  })
})

describe('given a server that has ended', () => {
  it('when its usage is requested, then the call rejects at once', async () => {
    const { usage, stop } = await startServer({ kind: 'bare', players: [] })
    await stop()
    await expect(usage()).rejects.toThrow('The server (bare) has ended: 0')
  })
})
