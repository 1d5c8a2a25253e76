/** Short soaks of failovers, and a wallet that they must detect. `npm run soak -- --engine failover` is long. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Cluster, startCluster } from '../../postgres/cluster.js'
import { noServerOfOurOwn } from '../../postgres/server.js'
import { failingOver } from './failovers.js'
import { losing } from './losses.js'
import { type Phase, type PhaseOptions, type PhaseReport, runPhase, type Subject } from './run.js'
import { tableOf } from './table.js'

beforeEach(({ skip }) => skip(noServerOfOurOwn !== null, noServerOfOurOwn ?? ''))

const callers: Phase = { name: 'callers', accounts: 'numeric', cutOver: null, kills: 2 }

function soak(
  subject: Subject,
  phase: Partial<Phase> = {},
  options: Partial<PhaseOptions> = {},
): Promise<PhaseReport> {
  return runPhase(
    subject,
    { ...callers, ...phase },
    { ...{ seed: 1, callers: 8, answersPerKill: 30, log: () => {} }, ...options },
  )
}

describe('given a primary and a synchronous standby', () => {
  let cluster: Cluster
  beforeAll(async () => {
    if (noServerOfOurOwn === null) cluster = await startCluster({ synchronous: true })
  })
  afterAll(() => cluster?.stop())

  it('when they fail over, then nothing is lost and no refusal is wrong', async () => {
    const kinds = ['split brain', 'waits terminated, primary killed'] as const
    const report = await soak(failingOver(cluster, kinds))
    expect(report.differences).toEqual([])
    expect(report.kills).toEqual(Object.fromEntries(kinds.map(kind => [kind, 1])))
    expect(report.retriedAtEnd).toBeGreaterThan(0)
    expect(tableOf([report])).toMatch(/^split brain +1 +1$/m)
  })

  it('when the store has no loadConfirmed, then the soak detects it', async () => {
    const subject = failingOver(cluster, ['waits terminated, primary killed'])
    // A call may wait for one that is lost.
    const options = { fault: 'unconfirmed', patienceMs: 5_000 } as const
    const { differences } = await soak(subject, { kills: 1 }, options)
    expect(differences.join('\n')).toMatch(/it was answered .*, but is (?:not recorded|recorded as)/)
  })
})

describe('given a primary and an asynchronous standby that lags', () => {
  let cluster: Cluster
  beforeAll(async () => {
    if (noServerOfOurOwn === null) cluster = await startCluster({ synchronous: false })
  })
  afterAll(() => cluster?.stop())

  it('when it is promoted, then the reconciliation finds what was answered and is lost', async () => {
    const report = await soak(losing(cluster), { kills: 1 })
    expect(report.differences).toEqual([])
    expect(report.lost?.answers.length).toBeGreaterThan(0)
    expect(tableOf([report])).toMatch(/^answered, lost, and found to be lost +[1-9]/m)
  })
})
