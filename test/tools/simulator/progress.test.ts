import { describe, expect, test } from 'vitest'
import type { SimulationProgress } from '../../../src/tools/simulator/index.js'
import { formatSimulationProgress, formatSimulationReport } from '../../../src/tools/simulator/progress.js'
import { brokenWallets } from '../wallets/broken.js'
import { simulate } from '../wallets/library.js'

const progress: SimulationProgress = {
  phase: 'betting',
  elapsedMs: 2_000,
  durationMs: null,
  bets: 250,
  betsMax: 1_000,
  requests: 12_345,
  requestsPerSecond: 4_321.4,
  latencyMs: { p50: 1, p90: 2, p99: 3.21, max: 4 },
  replaysAbsorbed: 77,
  betsRolledBack: 8,
  lateBetsRefused: 3,
  clawbacksRefused: 2,
  failedCalls: 0,
  differencesCount: 0,
  pending: 5,
  walletUnreachable: false,
}

describe('progress', () => {
  test('is one line, with a bar for a terminal that can overwrite it', () => {
    expect(formatSimulationProgress(progress, { bar: true, columns: 200 })).toBe(
      '[██████░░░░░░░░░░░░░░░░░░]   25 %  betting  250 bets  12,345 requests  4,321/s  p99 3.2 ms  0 differences  77 replays  8 rollbacks',
    )
    expect(formatSimulationProgress(progress, { bar: false })).toMatch(/^ 25 % {2}betting {2}250 bets/)
    expect(formatSimulationProgress(progress, { bar: true, columns: 60 })).toHaveLength(60)
  })

  test('shows the share of bets or of time, whichever is further, and that the wallet does not answer', () => {
    const timed = {
      ...progress,
      durationMs: 4_000,
      walletUnreachable: true,
      failedCalls: 9,
      differencesCount: 1,
    }
    const line = formatSimulationProgress(timed, { bar: false, columns: 300 })
    expect(line).toMatch(/^ 50 %/)
    expect(line).toMatch(/THE WALLET DOES NOT ANSWER {2}1 difference {2}/)
    expect(line).toMatch(/9 failed calls$/)
    expect(formatSimulationProgress({ ...timed, phase: 'reconciling' }, { bar: false })).toMatch(/^100 %/)
    expect(formatSimulationProgress({ ...timed, phase: 'opening' }, { bar: false })).toMatch(/^ {2}0 %/)
  })
})

describe('the report', () => {
  test('shows the counts, and PASSED when the books agree', async () => {
    const { report } = await simulate({}, { seed: 2, concurrency: 4 })
    const text = formatSimulationReport(report)
    expect(text.split('\n').at(-1)).toBe('PASSED: the books of 4 players and the wallet agree to the cent.')
    const countsIn = (line: RegExp) => (line.exec(text) ?? []).slice(1).map(Number)
    const [accepted = 0, refused = 0, unanswered = 0] = countsIn(
      /^bets +300: (\d+) accepted, (\d+) refused, (\d+) without an answer; \d+ of all are multiples$/m,
    )
    expect(accepted + refused + unanswered).toBe(300)
    const [rolledBack = 0, reversed = 0] = countsIn(
      /^rolled back +(\d+), of which (\d+) were accepted, and their settlement was reversed; the others had no answer$/m,
    )
    expect(rolledBack - reversed).toBe(unanswered)
    expect(text).toMatch(/^settlements +\d+, of which \d+ voids, \d+ cash-outs, and \d+ payouts less /m)
    expect(text).toMatch(/^seed +2, ids begin with run$/m)
    expect(text).toMatch(
      /^faults injected +[0-9]+ lost requests, [0-9]+ lost answers, [0-9]+ late deliveries, /m,
    )
    expect(text).toMatch(/^answers to placebet +200: [0-9,]+/m)
    expect(text).not.toMatch(/undefined|NaN|null/)
  })

  test('begins with the differences: player, bet, amount, and the recent transactions', async () => {
    const wallet = brokenWallets.find(({ name }) => name.startsWith('accepts a bet that arrives after'))
    const { report } = await simulate(wallet?.break(() => {}, Date.now) ?? {}, {
      seed: 2,
      chaos: 1,
      differencesMax: 2,
    })
    const lines = formatSimulationReport(report).split('\n')
    // What differs, and what it costs
    expect(lines[0]).toBe(`FAILED: ${report.differencesCount} differences.`)
    expect(lines[1]).toMatch(
      /^At the end, the balances of [1-4] players? differ: [0-9.]+ (EUR|JPY|KWD) too little/,
    )
    const group = lines.findIndex(line =>
      / × late-bet \(placebet\), a bet was accepted after its rollback: -/.test(line),
    )
    expect(group).toBeGreaterThan(1)
    expect(lines[group + 1]).toMatch(/^ {9}first: player [a-z]+, bet run-b[0-9]+$/)
    expect(report.groups.reduce((sum, { count }) => sum + count, 0)).toBe(report.differencesCount)
    // And the first differences in detail
    const first = lines.findIndex(line => line.startsWith('  1. '))
    expect(first).toBeGreaterThan(group)
    expect(lines[first]).toMatch(/^ {2}1\. late-bet: player [a-z]+, bet run-b[0-9]+, -[0-9.]+ (EUR|JPY|KWD)$/)
    expect(lines[first + 1]).toBe(
      '     expected  a refusal: its rollback was answered with success before it was sent (D11)',
    )
    expect(lines[first + 2]).toBe('     actual    200')
    expect(lines[first + 3]).toMatch(/^ {5}request {3}placebet run-p[0-9]+, step [0-9]+$/)
    expect(lines).toContain(`     and ${report.differencesCount - 2} more (--json)`)
    expect(lines.at(-1)).toBe(`FAILED: ${report.differencesCount} differences.`)
  })
})
