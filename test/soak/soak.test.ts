/** A short soak, and four broken wallets that it must find. `npm run soak` is the long one. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { noServerOfOurOwn, type PostgresServer, startPostgres } from '../postgres/server.js'
import { type Phase, type PhaseOptions, type PhaseReport, runPhase } from './run.js'
import { tableOf } from './table.js'

describe('the soak', () => {
  let server: PostgresServer
  beforeAll(async () => {
    // Durable, as it comes: it is killed.
    if (noServerOfOurOwn === null) server = await startPostgres()
  })
  beforeEach(({ skip }) => skip(noServerOfOurOwn !== null, noServerOfOurOwn ?? ''))
  afterAll(() => server?.stop())

  const crash: Phase = { name: 'crash', accounts: 'numeric', cutOver: null, kills: 4 }
  const cutOver: Phase = { name: 'cut-over', accounts: 'cents', cutOver: 'import', kills: 0 }
  const simulated: Phase = { name: 'simulated sportsbook', accounts: 'own', cutOver: null, kills: 2 }

  function soak(phase: Phase, options: Partial<PhaseOptions> = {}): Promise<PhaseReport> {
    return runPhase(server, phase, {
      ...{ seed: 1, callers: 16, answersPerKill: 50, say: () => {} },
      ...options,
    })
  }

  it('finds nothing when a wallet and PostgreSQL are killed', async () => {
    const report = await soak(crash)
    expect(report.differences).toEqual([])
    expect(report.kills.wallet + report.kills.postgres).toBe(4)
    expect(report.inFlightAtKills).toBeGreaterThan(0)
    expect(report.askedAgain).toBeGreaterThan(0)
    expect(tableOf([report])).toMatch(/^differences +0 +0$/m)
  })

  it('finds nothing when a hand-written integration is taken over with bets in flight', async () => {
    const report = await soak(cutOver)
    expect(report.differences).toEqual([])
    expect(report.inFlightAtKills).toBeGreaterThan(0)
    expect(report.books?.imported).toBeGreaterThan(0)
  })

  it('finds nothing when the wallet of a simulated sportsbook and PostgreSQL are killed', async () => {
    const report = await soak(simulated)
    expect(report.differences).toEqual([])
    expect(report.kills).toEqual({ wallet: 1, postgres: 1 })
    expect(report.traffic.unanswered).toBeGreaterThan(0)
    expect(report.books?.settled).toBeGreaterThan(0)
    expect(report.askedAgain).toBeGreaterThan(0)
    expect(tableOf([report])).toMatch(/^differences +0 +0$/m)
  })

  it('hears of a rollback without a tombstone from the simulated sportsbook', async () => {
    const { differences } = await soak(
      { ...simulated, kills: 0 },
      // Many, so that one bet of them comes after its rollback for certain.
      { fault: 'no-tombstone', answersPerKill: 400 },
    )
    expect(differences.join('\n')).toMatch(/^found by its own judge: \{"what":"late bet",/m)
  })

  it('finds a rollback that leaves no tombstone', async () => {
    const { differences } = await soak({ ...crash, kills: 0 }, { fault: 'no-tombstone' })
    expect(differences.join('\n')).toMatch(
      /^bet-\d+: its rollback was answered with success, and -\d+ cents remain$/m,
    )
  })

  it('finds money that moves in another commit than its record', async () => {
    const { differences } = await soak({ ...crash, kills: 0 }, { fault: 'two-commits' })
    expect(differences.join('\n')).toMatch(/^a commit moved other money than it recorded/m)
  })

  it('finds a cut-over that forgets the transactions', async () => {
    const { differences } = await soak(cutOver, { mistake: 'bets-only' })
    expect(differences.join('\n')).toMatch(/^a call of the earlier integration is no transaction/m)
  })
})
