/** Failures of whole audits grouped by what they show: which finding comes first. */
import { type AuditExchange, type AuditFinding, type AuditResult, auditWallet } from 'bet-wallet/audit'
import { describe, expect, it } from 'vitest'
import { callThatChanged } from '../../../src/tools/audit/balance-changes.js'
import { findingsOf } from '../../../src/tools/audit/findings.js'
import { impactOf } from '../../../src/tools/audit/impact.js'
import { headlineOf, reportOf } from '../../../src/tools/audit/printout.js'
import { parseDecimal, zero } from '../../../src/tools/numbers/decimal.js'
import { textOf } from '../../../src/tools/report/text.js'
import { type Fault, refusal, startFront } from '../wallets/fronts.js'
import { type FaultName, startPlainWallet } from '../wallets/independent/plain.js'

async function auditOf(fault: FaultName, currency = 'EUR', only?: string[]) {
  const balance = currency === 'KWD' ? '100.000' : '100.00'
  const players = ['player-1', 'player-2'].map(playerId => ({ playerId, currency, balance }))
  const wallet = await startPlainWallet({ fault, players })
  try {
    return await auditWallet({
      ...{ baseUrl: wallet.url, credentials: wallet.credentials, currency },
      ...{ playerId: 'player-1', otherPlayerId: 'player-2', settle: { url: '/settlement' } },
      ...{ timeoutMs: 60_000, raceRounds: 2, ...(only === undefined ? {} : { only }) },
    })
  } finally {
    await wallet.close()
  }
}

const idsOf = ({ id, followers }: AuditFinding) => [id, ...followers.map(follower => follower.id)].sort()

/** By defect: the case of the first finding, its cause, and what failed at which call. */
const expected: [FaultName, string, cause: RegExp | null, headline: RegExp][] = [
  ['no-tombstone', 'AU-301', null, /^placebet after its rollback: .* too little/],
  ['float-arithmetic', 'AU-404', /not exact/, / instead of /],
  ['error-without-code', 'AU-601', /the wallet, or an error handler before it/, / instead of /],
  [
    'retry-answers-old-balance',
    'AU-202',
    /not the current one/,
    /^retry of the first placebet after other bets/,
  ],
]

describe('the findings of a wallet with one defect', () => {
  it.each(expected)('%s: %s', async (fault, id, cause, headline) => {
    const { findings, results } = await auditOf(fault)
    const failed = results.filter(({ verdict }) => verdict === 'failed').map(result => result.id)
    // Nothing is hidden: every failed case is in one finding.
    expect(findings.flatMap(idsOf).sort()).toEqual([...failed].sort())
    expect(findings[0]?.id).toBe(id)
    if (cause === null) expect(findings[0]?.cause).toBeNull()
    else expect(findings[0]?.cause).toMatch(cause)
    const first = results.find(result => result.id === id) as AuditResult
    expect(headlineOf(first)).toMatch(headline)
  })

  it('a case whose preparation fails says so, and neither its cause nor its impact', async () => {
    const report = await auditOf('rollback-pays-nothing', 'EUR', ['AU-241'])
    const text = textOf(reportOf(report))
    expect(report.findings[0]?.cause).toBeNull()
    expect(report.results[0]?.failure).toMatchObject({ isPreparation: true, quote: null })
    expect(text).toMatch(/^ {2}MUST {2}AU-241 {2}rollbackbet .* instead of success/m)
    expect(text).toContain('not reached, a step before it failed: Retries of transactions')
    expect(text).not.toContain('cache')
  })

  it('the bet that a case needs is a preparation: only the cases about a placebet itself judge it', async () => {
    const fault: Fault = {
      says: 'Every placebet is refused',
      call: message => (message.path === '/placebet' ? refusal(400, 'INVALID_REQUEST') : message),
    }
    const wallet = await startFront(fault)
    try {
      const { results } = await auditWallet({
        ...{ baseUrl: wallet.url, credentials: wallet.credentials, currency: 'EUR' },
        ...{ playerId: 'player-1', otherPlayerId: 'player-2', settle: { url: '/settlement' }, raceRounds: 1 },
        only: ['AU-1*', 'AU-2*', 'AU-4*', 'AU-5*', 'AU-6*'],
      })
      const judging = results.filter(({ failure }) => failure !== null && !failure.isPreparation)
      expect(judging.map(({ id }) => id.slice(3)).join(' ')).toBe(
        '101 109 110 416 103 114 116 203 211 216 217 237 403 402 404 408 610 626',
      )
    } finally {
      await wallet.close()
    }
  })

  it('two defects are two findings, with the graver first', async () => {
    const one = await auditOf('no-tombstone', 'EUR', ['AU-3*'])
    const other = await auditOf('rollback-new-id-pays-again', 'EUR', ['AU-206', 'AU-207', 'AU-208'])
    const findings = findingsOf([...one.results, ...other.results], {
      ...{ minorUnits: 2, unitsNeeded: 2_000, refusalCodes: new Set(), foreignAnswers: [] },
    })
    expect(findings.map(({ id }) => id)).toEqual(expect.arrayContaining(['AU-206', 'AU-301']))
  })

  it('a case that fails only because funds are gone says since when', async () => {
    const { findings } = await auditOf('rollback-pays-nothing')
    expect(findings[0]?.followers.find(({ id }) => id === 'AU-201')?.reason).toBe(
      'the balance was already unexplained after AU-103',
    )
    expect(findings[0]?.followers.map(({ id }) => id)).toContain('AU-991')
  })
})

describe('the call to paste and the impact', () => {
  const failureOf = async (fault: FaultName, id: string, currency?: string) => {
    const only = id === 'AU-104' ? ['AU-101', id] : [id]
    const { results } = await auditOf(fault, currency, only)
    const { failure, exchanges } = results.find(result => result.id === id) as AuditResult
    return { ...failure, label: exchanges[failure?.exchangeIndex ?? -1]?.label }
  }

  it('are of the late placebet, not of the reading that saw it', async () => {
    expect(await failureOf('no-tombstone', 'AU-301')).toMatchObject({
      kind: 'balance',
      difference: '-1.71',
      label: 'placebet after its rollback',
      impact: expect.stringMatching(
        /^The player has 1\.71 EUR too little\. The case guards against this: The player loses the stake/,
      ),
    })
  })

  it('are of a refused placebet that debits', async () => {
    const failure = await failureOf('refusal-debits', 'AU-102')
    expect(failure).toMatchObject({ kind: 'balance', difference: '-100.01' })
    expect(failure.label).toMatch(/^placebet .* of 100\.01$/)
    expect(failure.impact).toMatch(/^The player has 100\.01 EUR too little\. The case guards against this: /)
  })

  it('are of a rollback that credits nothing', async () => {
    const failure = await failureOf('rollback-pays-nothing', 'AU-104')
    expect(failure.label).toMatch(/^rollbackbet /)
    expect(failure.impact).toMatch(
      /^The player has [\d.]+ EUR too little\. The case guards against this: The player pays for bets/,
    )
  })

  it('are of one of the copies of a race', async () => {
    const failure = await failureOf('race-retry', 'AU-203')
    expect(failure.label).toMatch(/^copy \d+ of one placebet/)
  })

  it('tell a wrong answer from a wrong balance', async () => {
    const failure = await failureOf('retry-answers-old-balance', 'AU-202')
    expect(failure).toMatchObject({ kind: 'stale-balance', difference: null })
    expect(failure.impact).toMatch(/^No money moves: the balance is right\./)
  })

  it('say what was debited by a success where a refusal was expected', async () => {
    const failure = await failureOf('funds-not-checked', 'AU-102')
    expect(failure).toMatchObject({ kind: 'accepted', difference: null })
    expect(failure.impact).toBe(
      'A success where a refusal was expected: 100.01 EUR were debited. The case guards against this: Players bet money that they do not have, and the operator pays the winnings.',
    )
  })
})

describe('the call that changed the balance', () => {
  const call = (
    label: string,
    balance: string | null,
    answeredAtMs = 1,
    path = '/placebet',
    isReading = false,
  ): AuditExchange => ({
    ...(isReading ? { isReading } : {}),
    ...{ label, sentAtMs: 0, answeredAtMs, method: 'POST', path, body: '{}', curl: 'curl' },
    ...{ status: 200, answer: '{}', balance, error: null, omitted: 0 },
  })
  const found = (exchanges: AuditExchange[], difference: string, rightUntil = -1) =>
    exchanges[
      callThatChanged(
        exchanges,
        parseDecimal('100') ?? zero,
        rightUntil,
        exchanges.length - 1,
        parseDecimal(difference) ?? zero,
      )
    ]?.label
  const reading = (balance: string) => call('a reading', balance, 9, '/rollbackbet', true)

  it('is the last one in the wrong direction', () => {
    const exchanges = [call('a', '98'), call('b', '96', 2), call('c', '98', 3), reading('98')]
    expect(found(exchanges, '-2')).toBe('b')
    expect(found(exchanges, '2')).toBe('c')
  })

  it('is the call without a balance before a reading that shows the change', () => {
    expect(found([call('a', '98'), call('refused', null, 2), reading('96')], '-2')).toBe('refused')
  })

  it('is the call that should have changed it, if none did', () => {
    expect(found([call('a', '98'), call('b', '98', 2), reading('98')], '2', 0)).toBe('b')
  })

  it('is none of those after which the balance was right', () => {
    expect(found([call('a', '98'), call('b', '98', 2), reading('98')], '-2', 0)).toBe('b')
  })

  it('is found in the order of the answers, and not the smallest bet of a reading', () => {
    const bet = call('its smallest bet', '95.99', 8, '/placebet', true)
    expect(found([call('late', '96', 7), call('early', '98', 2), bet, reading('96')], '-2')).toBe('late')
  })
})

it('has an impact for every kind of failure', () => {
  const kinds = [
    'stale-balance',
    'accepted',
    'refused',
    'other-refusal',
    'fault',
    'no-answer',
    'form',
  ] as const
  for (const kind of kinds)
    expect(impactOf('Free bets.', kind, undefined, null, String)).toMatch(
      /^[A-Z].{30}.*\. The case guards against this: Free bets\.$/,
    )
  expect(impactOf('Free bets.', 'other', undefined, null, String)).toBe('Free bets.')
  expect(impactOf(null, 'no-answer', undefined, null, String)).toMatch(
    /The case could not judge what it is about\.$/,
  )
})
