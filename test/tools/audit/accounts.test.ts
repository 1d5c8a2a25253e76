/** Audits of players with one account per currency (D28): correct wallets pass, each defect is found and named. */
import { type AuditOptions, type AuditReport, auditCases, auditWallet } from 'bet-wallet/audit'
import { describe, expect, it } from 'vitest'
import { accountsOf, brokenAccounts, isOfAccounts, withHome } from '../wallets/accounts.js'
import { type Breakage, credentials, startWallet } from '../wallets/library.js'

async function audited(breakage: Breakage, options: Partial<AuditOptions>): Promise<AuditReport> {
  const known = [...accountsOf('dora'), { playerId: 'ben', currency: 'JPY', balance: '9000' }]
  const wallet = await startWallet(breakage, known, withHome)
  try {
    return await auditWallet({
      baseUrl: wallet.baseUrl,
      credentials,
      playerId: 'dora',
      currency: 'EUR',
      otherPlayerId: 'ben',
      settle: { url: '/settlement' },
      timeoutMs: 60_000,
      raceRounds: 2,
      ...options,
    })
  } finally {
    await wallet.close()
  }
}

const accounts = ['EUR', 'JPY']
const ofAccounts = auditCases.map(({ id }) => id).filter(isOfAccounts)
const failuresOf = ({ results }: AuditReport) =>
  results
    .filter(({ verdict }) => verdict === 'failed')
    .map(({ id, failure }) => `${id} expected ${failure?.expected}, actual ${failure?.actual}`)

describe('a correct wallet with two accounts passes all cases', () => {
  // AU-241 is nearly half of all calls.
  const only = auditCases.map(({ id }) => id).filter(id => id !== 'AU-241')

  it.each([
    { currency: 'JPY', seed: 1 },
    { currency: 'EUR', seed: 2 },
    { currency: 'EUR', seed: 3 },
  ])('$currency, seed $seed', async options => {
    const report = await audited({}, { ...options, accounts, only })
    expect(failuresOf(report)).toEqual([])
    expect(report.funds?.after).toBe(report.funds?.before)
    const passed = report.results.filter(({ verdict }) => verdict === 'passed').map(({ id }) => id)
    expect(passed).toEqual(expect.arrayContaining(ofAccounts))
  })

  it('the foreign currency is none of them', async () => {
    const wallet = await startWallet({}, [
      { playerId: 'dora', currency: 'EUR', balance: '100.00' },
      { playerId: 'dora', currency: 'USD', balance: '200.00' },
    ])
    const report = await auditWallet({
      ...{ baseUrl: wallet.baseUrl, credentials, playerId: 'dora', currency: 'EUR' },
      ...{ accounts: ['USD', 'EUR'], only: ['AU-1*', 'AU-23*', 'AU-610', 'AU-95*'] },
    }).finally(() => wallet.close())
    expect(failuresOf(report)).toEqual([])
  })

  it('the account that is not the home account, without the option accounts', async () => {
    // The foreign currency is that of the home account, otherwise.
    const report = await audited({}, { currency: 'EUR', only: only.filter(id => !ofAccounts.includes(id)) })
    expect(failuresOf(report)).toEqual([])
  })
})

describe('a wallet with one defect fails the case that looks for it, and the first finding names it', () => {
  it.each(Object.entries(brokenAccounts))('%s', async (_, { breakage, found }) => {
    const { findings, results } = await audited(breakage(), { accounts, currency: 'JPY', only: ofAccounts })
    const failed = results.filter(({ verdict }) => verdict === 'failed').map(({ id }) => id)
    expect(failed).toEqual(expect.arrayContaining(found.map(number => `AU-${number}`)))
    expect(findings[0]?.id).toBe(`AU-${found[0]}`)
  })
})

it('a failure is blamed on a call for its account, and its amount is in that currency', async () => {
  const { breakage } = brokenAccounts[
    'credits rollbacks to the home account'
  ] as (typeof brokenAccounts)[string]
  const { results } = await audited(breakage(), { accounts, currency: 'JPY', only: ['AU-952'] })
  const { failure, exchanges } = results[0] as (typeof results)[number]
  expect(exchanges[failure?.exchangeIndex ?? -1]?.label).toMatch(/^rollbackbet /)
  expect(failure?.impact).toMatch(/^The player has \d\.\d\d EUR too little\./)
})

describe('the option accounts', () => {
  it('adds its cases; without it, they are no part of the audit', async () => {
    const idsOf = async (options: Partial<AuditOptions>) =>
      (await audited({}, { timeBudgetMs: 1, ...options })).results.map(({ id }) => id)
    const all = auditCases.map(({ id }) => id)
    expect(await idsOf({ accounts })).toEqual(all)
    expect(await idsOf({ currency: 'JPY' })).toEqual(all.filter(id => !ofAccounts.includes(id)))
  })

  it.each([
    [['EUR'], 'accounts must be a list of 2 to 4 different currency codes'],
    [['EUR', 'EUR'], 'accounts must be a list of 2 to 4 different currency codes'],
    [['USD', 'JPY'], 'accounts must contain currency, EUR'],
  ])('%j is refused', async (given, message) => {
    await expect(audited({}, { accounts: given })).rejects.toThrow(message)
  })

  it('needs funds in every account', async () => {
    const wallet = await startWallet({}, [
      { playerId: 'dora', currency: 'EUR', balance: '100.00' },
      { playerId: 'dora', currency: 'JPY', balance: '5' },
    ])
    const options = { baseUrl: wallet.baseUrl, credentials, playerId: 'dora', currency: 'EUR', accounts }
    const failed = expect(auditWallet(options)).rejects
    await failed.toThrow('dora has 5 JPY, and the audit needs at least 2000 JPY: deposit 1995 JPY or more')
    await wallet.close()
  })
})
