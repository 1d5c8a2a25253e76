/** A short overload of each target: books, and that nothing stays behind. Speed is not tested. */
import { beforeAll, describe, expect, it } from 'vitest'
import { sharedPostgres } from '../../../postgres/fresh-database.js'
import type { ServerAddress } from '../../../postgres/global-setup.js'
import { optionsFrom } from '../options.js'
import { type BenchDatabase, withDatabase } from '../postgres/ground.js'
import { exceededOf, type Limited } from './limits.js'
import { overload } from './overload.js'
import { createPlatform } from './platform.js'
import { inProcess, overHttp, type Target } from './targets.js'

let server: ServerAddress
beforeAll(async () => {
  server = await sharedPostgres()
})

/** Far more than fits into the queue of the store, or less. */
const run = (
  connections: number,
  seconds: number,
  target: (database: BenchDatabase) => Target | Promise<Target>,
) =>
  withDatabase({ server, options: optionsFrom('postgres', [], ['overload']) }, async database => {
    const opened = await target(database)
    try {
      return await overload(
        { ...opened, pool: database.pool },
        { connections, times: 3, seconds, calmSeconds: 0.2, recoverySecondsMax: 0 },
      )
    } finally {
      await opened.stop()
    }
  })

describe('given three times the capacity', () => {
  it('when fewer calls are outstanding than the store can queue, then no bet fails, and the books are exact', async () => {
    const result = await run(500, 0.5, ({ pool }) => inProcess(pool))
    expect(result).toMatchObject({ failed: 0, rollbacksFailed: 0, rollbackP99Ms: null, differences: [] })
    expect(result.turnedAway).toBeGreaterThan(0)
    expect(result.goodput).toBeGreaterThan(0)
  })

  it('when far more are, then bets fail and are rolled back, and the books are exact', async () => {
    const result = await run(4_000, 2, ({ pool }) => inProcess(pool, { queueMax: 600 }))
    expect(result.failed).toBeGreaterThan(0)
    expect(result.rollbackP99Ms).toBeGreaterThan(0)
    expect(result.differences).toEqual([])
  })

  it('when it is sent over HTTP, then the books are exact', async () => {
    const result = await run(100, 0.5, ({ url }) => overHttp(url, 100))
    expect(result).toMatchObject({ failed: 0, differences: [] })
    expect(result.goodput).toBeGreaterThan(0)
  })
})

describe('given the limits of the benchmark', () => {
  const normal: Limited = {
    ...{ goodput: 0.9, recoverySeconds: 1, slowestMs: 500 },
    ...{ failedShare: 0.5, rollbacksFailedShare: 0.1 },
  }
  const late = 'as before within 5 s'

  it.each([
    ['all calls fit', 1_000, normal, []],
    [
      'too few bets are accepted, although all calls fit',
      1_000,
      { ...normal, goodput: 0.1 },
      ['a goodput of at least 0.7'],
    ],
    ['too few bets are accepted, because most are shed', 12_000, { ...normal, goodput: 0.1 }, []],
    ['it recovers late', 1_000, { ...normal, recoverySeconds: 6 }, [late]],
    ['it recovers late after shedding', 12_000, { ...normal, recoverySeconds: 6 }, [late]],
    ['it does not recover', 12_000, { ...normal, recoverySeconds: null }, [late]],
    [
      'more rollbacks are shed than placebets',
      4_000,
      { ...normal, rollbacksFailedShare: 0.6 },
      ['rollbacks shed no more than placebets'],
    ],
    ['an answer comes late', 4_000, { ...normal, slowestMs: 10_001 }, ['every answer within 10 s']],
  ])('when %s, then the exceeded limits are known', (_, connections, result, exceeded) => {
    expect(exceededOf(result, connections)).toEqual(exceeded)
  })
})

describe('given the platform of the benchmark', () => {
  it('when placebets and rollbacks fail, then every rollback is sent until it succeeds', async () => {
    const sent: string[] = []
    const failures = new Map<string, number>()
    const platform = createPlatform(
      async (path, body) => {
        const { betId } = JSON.parse(body) as { betId: string }
        sent.push(`${path} ${betId}`)
        if (path === '/placebet') return 503
        failures.set(betId, (failures.get(betId) ?? 0) + 1)
        return failures.get(betId) === 1 ? 0 : 200
      },
      2,
      1,
    )
    const phase = platform.begin(1_000)
    while (phase.failed < 3) await new Promise(resolve => setTimeout(resolve, 1))
    await platform.end()
    expect(phase.rolledBackMs).toHaveLength(phase.failed)
    expect(platform.rolledBack).toHaveLength(phase.failed)
    expect(platform.accepted.size).toBe(0)
    for (const betId of platform.rolledBack) {
      expect(sent.filter(call => call.endsWith(` ${betId}`))).toEqual([
        `/placebet ${betId}`,
        ...Array(2).fill(`/rollbackbet ${betId}`),
      ])
    }
  })
})
