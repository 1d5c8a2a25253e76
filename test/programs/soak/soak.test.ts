/** A short soak, and four faulty wallets that it must detect. `npm run soak` is the long one. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { noServerOfOurOwn, type PostgresServer, startPostgres } from '../../postgres/server.js'
import { killing } from './kills.js'
import { type Phase, type PhaseOptions, type PhaseReport, runPhase } from './run.js'
import { tableOf } from './table.js'

describe('given the soak', () => {
  let server: PostgresServer
  beforeAll(async () => {
    // With its default durability, since it is killed.
    if (noServerOfOurOwn === null) server = await startPostgres()
  })
  beforeEach(({ skip }) => skip(noServerOfOurOwn !== null, noServerOfOurOwn ?? ''))
  afterAll(() => server?.stop())

  const crash: Phase = { name: 'crash', accounts: 'numeric', cutOver: null, kills: 4 }
  const cutOver: Phase = { name: 'cut-over', accounts: 'cents', cutOver: 'import', kills: 0 }
  const simulated: Phase = { name: 'simulated sportsbook', accounts: 'own', cutOver: null, kills: 2 }

  function soak(phase: Phase, options: Partial<PhaseOptions> = {}): Promise<PhaseReport> {
    return runPhase(killing(server), phase, {
      ...{ seed: 1, callers: 16, answersPerKill: 50, log: () => {} },
      ...options,
    })
  }

  it('when a wallet and PostgreSQL are killed, then it reports no differences', async () => {
    const report = await soak(crash)
    expect(report.differences).toEqual([])
    expect((report.kills.wallet ?? 0) + (report.kills.postgres ?? 0)).toBe(4)
    expect(report.inFlightAtKills).toBeGreaterThan(0)
    expect(report.retriedAtEnd).toBeGreaterThan(0)
    expect(tableOf([report])).toMatch(/^differences +0 +0$/m)
  })

  it('when a legacy integration is cut over with bets in flight, then it reports no differences', async () => {
    const report = await soak(cutOver)
    expect(report.differences).toEqual([])
    expect(report.inFlightAtKills).toBeGreaterThan(0)
    expect(report.books?.imported).toBeGreaterThan(0)
  })

  it('when its bets are imported on the day before and again, then it reports no differences', async () => {
    const report = await soak({ ...cutOver, accounts: 'text', cutOver: 'twice' })
    expect(report.differences).toEqual([])
    expect(report.books?.imported).toBeGreaterThan(0)
  })

  it('when the wallet of a simulated sportsbook and PostgreSQL are killed, then it reports no differences', async () => {
    const report = await soak(simulated)
    expect(report.differences).toEqual([])
    expect(report.kills).toEqual({ wallet: 1, postgres: 1 })
    expect(report.traffic.unanswered).toBeGreaterThan(0)
    expect(report.books?.settled).toBeGreaterThan(0)
    expect(report.retriedAtEnd).toBeGreaterThan(0)
    expect(tableOf([report])).toMatch(/^differences +0 +0$/m)
  })

  it('when a rollback records no tombstone, then the simulated sportsbook detects it', async () => {
    const { differences } = await soak(
      { ...simulated, kills: 0 },
      // Many answers, so that at least one bet arrives after its rollback.
      { fault: 'no-tombstone', answersPerKill: 400 },
    )
    expect(differences.join('\n')).toMatch(/^reported by the simulator: \{"kind":"late[ -]bet",/m)
  })

  it('when a rollback records no tombstone, then the books show it', async () => {
    // Many answers, so that at least one bet with enough funds arrives after its rollback.
    const { differences } = await soak({ ...crash, kills: 0 }, { fault: 'no-tombstone', answersPerKill: 400 })
    expect(differences.join('\n')).toMatch(
      /^bet-\d+: its rollback was answered with success, but the net change is -\d+ cents$/m,
    )
  })

  it('when the balance changes in another commit than its record, then the books show it', async () => {
    const { differences } = await soak({ ...crash, kills: 0 }, { fault: 'two-commits' })
    expect(differences.join('\n')).toMatch(/^a commit changed a balance by another amount than it recorded/m)
  })

  it('when a cut-over does not import the transactions, then the books show it', async () => {
    const { differences } = await soak(cutOver, { mistake: 'bets-only' })
    expect(differences.join('\n')).toMatch(/^a call of the legacy integration is missing or different/m)
  })
})
