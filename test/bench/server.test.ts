/** The servers of the benchmarks: what is measured side by side has to give the same answers. */
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
      bets: 100,
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

describe('over a sound line', () => {
  it.each(['memory', 'bare'] as const)('%s is right to the cent', async kind => {
    const { passed, differences, counts } = await simulated(kind, 0)
    expect(differences).toEqual([])
    expect(passed).toBe(true)
    expect(counts.betsAccepted).toBeGreaterThan(90)
  })
})

describe('over a bad line', () => {
  it('the wallet is right, and the least that anybody writes is not', async () => {
    expect((await simulated('memory', 1)).passed).toBe(true)
    expect((await simulated('bare', 1)).passed).toBe(false)
  })
})

describe('a server that has ended', () => {
  it('is not waited for', async () => {
    const { usage, stop } = await startServer({ kind: 'bare', players: [] })
    await stop()
    await expect(usage()).rejects.toThrow('The server (bare) has ended: 0')
  })
})
