import { describe, expect, test } from 'vitest'
import type { SimulationProgress } from '../../../src/tools/random/index.js'
import { formatSimulationProgress } from '../../../src/tools/random/printed.js'

const progress: SimulationProgress = {
  phase: 'betting',
  elapsedMs: 2_000,
  durationMs: null,
  bets: 250,
  betsMax: 1_000,
  requests: 12_345,
  requestsPerSecond: 4_321.4,
  latencyMs: { p50: 1, p90: 2, p99: 3.21, max: 4 },
  failedCalls: 0,
  differencesCount: 0,
  walletUnreachable: false,
}

describe('progress', () => {
  test('is one line', () => {
    expect(formatSimulationProgress(progress)).toBe(
      ' 25 %  betting  250 bets  12,345 requests  4,321/s  p99 3.2 ms  0 differences',
    )
  })

  test('shows the share of bets or of time, whichever is further, and that the wallet does not answer', () => {
    const timed = {
      ...progress,
      durationMs: 4_000,
      walletUnreachable: true,
      failedCalls: 9,
      differencesCount: 1,
    }
    const line = formatSimulationProgress(timed)
    expect(line).toMatch(/^ 50 %/)
    expect(line).toMatch(/THE WALLET DOES NOT ANSWER {2}1 difference {2}/)
    expect(line).toMatch(/9 failed calls$/)
    expect(formatSimulationProgress({ ...timed, phase: 'reconciling' })).toMatch(/^100 %/)
    expect(formatSimulationProgress({ ...timed, phase: 'opening' })).toMatch(/^ {2}0 %/)
  })

  test.each([
    { bets: 0, betsMax: 0 },
    { elapsedMs: 0, durationMs: 0 },
  ])('of no bets is complete: %j', none => {
    expect(formatSimulationProgress({ ...progress, ...none })).toMatch(/^100 %/)
  })
})
