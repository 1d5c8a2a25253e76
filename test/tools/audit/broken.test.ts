/** Proof that the audit can fail: wallets with one defect each, and the cases that must find it. */
import { type AuditOptions, auditCases, auditWallet } from 'bet-wallet/audit'
import { describe, expect, it } from 'vitest'
import { brokenAccounts } from '../wallets/accounts.js'
import { type Fault, type FrontName, fronts, startBrokenFront } from '../wallets/fronts.js'
import { type FaultName, faults, startPlainWallet } from '../wallets/independent/plain.js'
import { found, foundInFront } from './found.js'

/** Defects that appear only with certain currencies. */
const currencies: Partial<Record<FaultName, { currency: string; balance: string }>> = {
  'yen-with-decimals': { currency: 'JPY', balance: '10000' },
  'dinar-with-two-decimals': { currency: 'KWD', balance: '100.000' },
}

const idOf = (number: number) => `AU-${number}`

/** Cases that need earlier cases: AU-981 counts their faults, AU-991 compares the balances that they have left. */
const withCompany: Record<number, readonly number[]> = { 981: [104, 112, 981], 991: [104, 112, 991] }

/** Expects that an audit of these cases fails all of them, and that its first finding is the first of them. */
async function expectFound(
  wallet: { url: string; credentials: { username: string; password: string } },
  numbers: readonly number[],
  options: Partial<AuditOptions> = {},
): Promise<void> {
  const { results, findings } = await auditWallet({
    baseUrl: wallet.url,
    credentials: wallet.credentials,
    playerId: 'player-1',
    otherPlayerId: 'player-2',
    currency: 'EUR',
    settle: { url: '/settlement' },
    timeoutMs: 60_000,
    pauseMs: 1,
    restart: () => {},
    only: numbers.flatMap(number => withCompany[number] ?? [number]).map(idOf),
    ...options,
  })
  const failed = results.filter(({ verdict }) => verdict === 'failed').map(({ id }) => id)
  expect(failed).toEqual(expect.arrayContaining(numbers.map(idOf)))
  expect(findings[0]?.id).toBe(idOf(numbers[0] as number))
}

describe('a wallet with one defect fails the cases that look for it, and the first finding names it', () => {
  const broken = (Object.keys(faults) as FaultName[]).filter(fault => found[fault].length > 0)

  it.each(broken)('%s', async fault => {
    const { currency, balance } = currencies[fault] ?? { currency: 'EUR', balance: '100.00' }
    const players = ['player-1', 'player-2'].map(playerId => ({ playerId, currency, balance }))
    const wallet = await startPlainWallet({ fault, players })
    try {
      await expectFound(wallet, found[fault], { currency })
    } finally {
      await wallet.close()
    }
  })

  const behind = (Object.keys(fronts) as FrontName[]).filter(name => foundInFront[name].length > 0)

  it.each(behind)('%s', async name => {
    const wallet = await startBrokenFront(name)
    try {
      // The only one whose case waits for the limit.
      const limit = name === 'one-call-at-a-time' ? { timeoutMs: 1_000 } : {}
      await expectFound(wallet, foundInFront[name], { ...(fronts[name] as Fault).audit, ...limit })
    } finally {
      await wallet.close()
    }
  })

  it('a wallet that stops answering has not passed, whichever case ended it', async () => {
    const wallet = await startBrokenFront('dies-of-size')
    try {
      const report = await auditWallet({
        baseUrl: wallet.url,
        credentials: wallet.credentials,
        playerId: 'player-1',
        currency: 'EUR',
        ...{ timeoutMs: 60_000, attempts: 3 },
        only: ['AU-802', 'AU-803'],
      })
      expect(report.results.map(({ verdict }) => verdict)).toEqual(['failed', 'skipped'])
      expect(report.passed).toBe(false)
    } finally {
      await wallet.close()
    }
  })

  it('every MUST and every SHOULD fails for some defect', () => {
    const ofAccounts = Object.values(brokenAccounts).map(wallet => wallet.found)
    const seen = new Set(
      [...Object.values(found), ...Object.values(foundInFront), ...ofAccounts].flat().map(idOf),
    )
    const unseen = (level: string) =>
      auditCases.filter(item => item.level === level && !seen.has(item.id)).map(({ id }) => id)
    expect(unseen('MUST')).toEqual([])
    expect(unseen('SHOULD')).toEqual([])
    expect(broken.length + Object.keys(fronts).length).toBeGreaterThanOrEqual(30)
  })
})
