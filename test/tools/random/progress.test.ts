import { expect, test } from 'vitest'
import type { SimulationProgress } from '../../../src/tools/random/index.js'
import { formatSimulationProgress } from '../../../src/tools/random/printed.js'

const progress: SimulationProgress = {
  ...{ phase: 'betting', elapsedMs: 2_000, bets: 250, betsMax: 1_000, requests: 12_345 },
  ...{ requestsPerSecond: 4_321.4, latencyMs: { p50: 1, p90: 2, p99: 3.21, max: 4 } },
  ...{ failedCalls: 0, differencesCount: 0, walletUnreachable: false },
}

test.each([
  [{}, '2.00 s  250 of 1,000 bets  12,345 requests  4,321/s  p99 3.2 ms  0 differences'],
  [{ betsMax: null }, '2.00 s  250 bets  12,345 requests  4,321/s  p99 3.2 ms  0 differences'],
  [
    { walletUnreachable: true, failedCalls: 9, differencesCount: 1 },
    '2.00 s  250 of 1,000 bets  12,345 requests  4,321/s  p99 3.2 ms  THE WALLET DOES NOT ANSWER  1 difference  9 failed calls',
  ],
])('progress is one line: %j', (change, line) => {
  expect(formatSimulationProgress({ ...progress, ...change })).toBe(`betting      ${line}`)
})
