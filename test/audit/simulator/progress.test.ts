import { describe, expect, test } from 'vitest'
import { formatProgress, formatReport, type SimulationProgress } from '../../../src/audit/simulator/index.js'
import { brokenWallets } from './broken.js'
import { simulate } from './wallet.js'

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
  test('is one line, with a bar where one can be drawn', () => {
    expect(formatProgress(progress, { bar: true, columns: 200 })).toBe(
      '[██████░░░░░░░░░░░░░░░░░░]   25 %  betting  250 bets  12,345 requests  4,321/s  p99 3.2 ms  0 differences  77 replays  8 rollbacks',
    )
    expect(formatProgress(progress, { bar: false })).toMatch(/^ 25 % {2}betting {2}250 bets/)
    expect(formatProgress(progress, { bar: true, columns: 60 })).toHaveLength(60)
  })

  test('goes by whichever end is nearer, and says when the wallet is away', () => {
    const timed = {
      ...progress,
      durationMs: 4_000,
      walletUnreachable: true,
      failedCalls: 9,
      differencesCount: 1,
    }
    const line = formatProgress(timed, { bar: false, columns: 300 })
    expect(line).toMatch(/^ 50 %/)
    expect(line).toMatch(/THE WALLET DOES NOT ANSWER {2}1 difference {2}/)
    expect(line).toMatch(/9 failed calls$/)
    expect(formatProgress({ ...timed, phase: 'reconciling' }, { bar: false })).toMatch(/^100 %/)
    expect(formatProgress({ ...timed, phase: 'opening' }, { bar: false })).toMatch(/^ {2}0 %/)
  })
})

describe('the report', () => {
  test('says that the books agree, and what was done', async () => {
    const { report } = await simulate({}, { seed: 2, concurrency: 4 })
    const text = formatReport(report)
    expect(text.split('\n').at(-1)).toBe(
      'Reconciled: the books of 4 players and the wallet agree to the cent.',
    )
    expect(text).toMatch(/^bets +300 \([0-9]+ multiples\): /m)
    expect(text).toMatch(/^seed +2, ids begin with run$/m)
    expect(text).toMatch(/^faults injected +request lost [0-9]+, answer lost [0-9]+, late /m)
    expect(text).toMatch(/^placebet +200: [0-9,]+/m)
    expect(text).not.toMatch(/undefined|NaN|null/)
  })

  test('begins with the differences: player, bet, cents, and what may be the cause', async () => {
    const wallet = brokenWallets.find(({ name }) => name.startsWith('accepts a bet that comes after'))
    const { report } = await simulate(wallet?.break(() => {}) ?? {}, { seed: 2, chaos: 1, differencesMax: 2 })
    const lines = formatReport(report).split('\n')
    expect(lines[0]).toBe(`${report.differencesCount} DIFFERENCES`)
    expect(lines[2]).toMatch(/^ {2}1\. late bet: player [a-z]+, bet run-b[0-9]+, -[0-9.]+ (EUR|JPY|KWD)$/)
    expect(lines[3]).toBe(
      '     expected  a refusal: its rollback was answered with success before it was sent (D11)',
    )
    expect(lines[4]).toBe('     found     200')
    expect(lines[5]).toMatch(/^ {5}at {8}placebet run-p[0-9]+, step [0-9]+$/)
    expect(lines).toContain(`     and ${report.differencesCount - 2} more`)
    expect(lines.at(-1)).toBe(`NOT RECONCILED: ${report.differencesCount} differences.`)
  })
})
