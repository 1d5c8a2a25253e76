/** What answers in place of the wallet, or changes its answers, is named before all else. */
import { type AuditReport, auditWallet } from 'bet-wallet/audit'
import { describe, expect, it } from 'vitest'
import { describeForeign } from '../../../src/tools/audit/foreign-answers.js'
import { reportOf } from '../../../src/tools/audit/printout.js'
import { textOf } from '../../../src/tools/report/text.js'
import { type Fault, refusal, startFront } from '../wallets/fronts.js'
import { middleware, page, unnamed } from '../wallets/middleware.js'

const only = ['AU-10*', 'AU-11*', 'AU-20*', 'AU-408', 'AU-610', 'AU-611', 'AU-627', 'AU-981']

const auditBehind = (name: string) => auditOf(middleware[name] ?? { says: 'nothing is before the wallet' })

async function auditOf(front: Fault, cases: readonly string[] = only): Promise<AuditReport> {
  const wallet = await startFront(front)
  try {
    return await auditWallet({
      ...{ baseUrl: wallet.url, credentials: wallet.credentials, currency: 'EUR', only: cases },
      ...{ playerId: 'player-1', otherPlayerId: 'player-2', raceRounds: 1, attempts: 3, timeoutMs: 60_000 },
      settle: { url: '/settlement' },
    })
  } finally {
    await wallet.close()
  }
}

const started = Object.keys(middleware).filter(name => middleware[name]?.ends !== 'refused')

describe('what stands before the wallet', () => {
  it.each(started)('%s is named first, with the number of its first request', async name => {
    const report = await auditBehind(name)
    const [first] = report.foreignAnswers
    expect(first && describeForeign(first)).toMatch(middleware[name]?.named as RegExp)
    expect(textOf(reportOf(report))).toMatch(/\n\nAnswers that are not the interface's\n {2}Request /)
    const stops = report.results.filter(({ reason }) =>
      reason?.includes('answered without a balance after AU-'),
    )
    if (middleware[name]?.ends === 'stopped') {
      expect(report.passed).toBe(false)
      expect(stops.length).toBeGreaterThan(10)
      expect(report.findings.map(({ cause }) => cause)).toEqual(
        report.findings.map(() => expect.stringContaining(first?.sender ?? '')),
      )
    } else expect(stops).toEqual([])
  })

  it('a wrapper around every answer is named, and the audit does not start', async () => {
    await expect(auditBehind('wrapper-of-all')).rejects.toThrow(
      /^The balance of player-1 cannot be read: .*\. Request 1 was answered by a wrapper, .* "data": 200 /,
    )
  })

  it('a limiter that lets calls through again slows the audit down, and changes no verdict', async () => {
    const report = await auditBehind('limiter-429-short')
    expect(report.results.filter(({ verdict }) => verdict === 'failed')).toEqual([])
    expect(report.passed).toBe(true)
  })

  it('a page with status 500 for every call stops the audit', async () => {
    let calls = 0
    const { results } = await auditOf({
      says: 'From call 41 on, 500 with a page of HTML',
      call: message => {
        calls += 1
        return calls < 41 ? message : page(500)
      },
    })
    const reason = /^a fault without an error code \(500 <.*>\) answered without a balance after AU-\d+$/
    expect(results.filter(each => reason.test(each.reason ?? '')).length).toBeGreaterThan(10)
  })

  it.each(Object.keys(unnamed))('%s answers as the interface does: only its cases fail', async name => {
    const { fails = [], ...front } = unnamed[name] ?? { says: '' }
    const cases = [...only, 'AU-4*', 'AU-60*', 'AU-613', 'AU-704', 'AU-81*']
    const { results, foreignAnswers, findings } = await auditOf(front, cases)
    expect(results.filter(({ verdict }) => verdict === 'failed').map(({ id }) => id)).toEqual(fails)
    expect(foreignAnswers).toEqual([])
    expect(findings.map(({ cause }) => cause)).toEqual(findings.map(() => null))
  })

  it('is nothing, where the wallet answers itself', async () => {
    const report = await auditBehind('')
    expect(report.foreignAnswers).toEqual([])
  })
})

it('counts the others', () => {
  const foreign = { sender: 'a redirect', firstRequest: 1, answer: '301' }
  expect([1, 2, 3].map(requests => describeForeign({ ...foreign, requests }))).toEqual([
    'Request 1 was answered by a redirect: 301.',
    'Request 1 was answered by a redirect: 301. So was 1 other.',
    'Request 1 was answered by a redirect: 301. So were 2 others.',
  ])
})

describe('a wallet that answers every refusal with 500', () => {
  it('fails one MUST, and AU-981 counts each of them', async () => {
    const { results, passed } = await auditBehind('filter-500')
    const failed = results.filter(({ verdict, level }) => verdict === 'failed' && level === 'MUST')
    expect(failed.map(({ id }) => id)).toEqual(['AU-627'])
    expect(passed).toBe(false)
    const faults = results.find(({ id }) => id === 'AU-981')?.failure?.actual
    expect(faults).toMatch(/500 INSUFFICIENT_FUNDS \(\d+\)/)
  })
})

describe('a wallet that answers the refusals of unsettlements with a fault', () => {
  const cases = ['AU-517', 'AU-981']
  const behind = async (status: number, errorCode: string) => {
    const { results } = await auditOf(
      {
        says: 'Each refused unsettlement is answered with one fault',
        answer: (reply, { path }) =>
          path === '/unsettlement' && reply.status >= 400 ? refusal(status, errorCode) : reply,
      },
      cases,
    )
    return results.find(({ id }) => id === 'AU-981')?.failure?.actual
  }

  it.each([
    [500, 'INVALID_BET'],
    [503, 'UNAVAILABLE'],
  ])('AU-981 counts %i %s', async (status, errorCode) => {
    expect(await behind(status, errorCode)).toContain(`${status} ${errorCode} (1)`)
  })

  it('but not the one that is agreed', async () => {
    expect(await behind(503, 'SETTLEMENT_NOT_FOUND')).toBeUndefined()
  })
})
