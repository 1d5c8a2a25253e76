/** Random runs with players who have one account per currency (D28). */
import { describe, expect, it } from 'vitest'
import { formatSimulationReport } from '../../../src/tools/random/printed.js'
import { accountsOf, brokenAccounts, withHome } from '../wallets/accounts.js'
import { type Breakage, players as others, simulate, skippingClock } from '../wallets/library.js'

const accounts = ['EUR', 'JPY']
const known = ['dora', 'emil', 'fay'].flatMap(accountsOf)

const run = (breakage: Breakage, options: Parameters<typeof simulate>[1]) =>
  simulate(breakage, { accounts, bets: 600, ...options }, known, withHome)

describe('a correct wallet with two accounts', () => {
  it.each([
    { seed: 1, concurrency: 1, chaos: 0.5 },
    { seed: 2, concurrency: 16, chaos: 0.5 },
    { seed: 3, concurrency: 16, chaos: 0.8 },
  ])('agrees with the books of each account, to the cent: %j', async options => {
    const { report, memory } = await run({}, { ...options, timeline: true })
    expect(report.differences).toEqual([])
    expect(report.passed).toBe(true)
    const books = report.books.players
    expect(books.map(({ playerId, currency }) => `${playerId} ${currency}`)).toEqual(
      known.map(({ playerId, currency }) => `${playerId} ${currency}`),
    )
    for (const { playerId, currency, expected, actual, accepted } of books) {
      expect(actual).toBe(expected)
      expect(Number(actual)).toBe(Number(memory.account(playerId, currency)?.balance))
      for (const operation of ['placebet', 'settlement', 'unsettlement', 'rollbackbet'] as const)
        expect([playerId, currency, operation, accepted[operation] > 0]).toEqual([
          playerId,
          currency,
          operation,
          true,
        ])
    }
    expect(report.counts.invalidBetsRefused).toBeGreaterThan(0)
    expect(formatSimulationReport(report)).toContain('the books of 3 players with 6 accounts')
    const balances = Object.assign({}, ...(report.timeline?.parts ?? []).map(part => part.balances))
    expect(Object.keys(balances).sort()).toEqual(
      books.map(({ playerId, currency }) => `${playerId} ${currency}`),
    )
  })
})

it('a wrong currency is never that of another account', async () => {
  const both = [{ playerId: 'dora', currency: 'EUR', balance: '900.00' }]
  const dora = [...both, { playerId: 'dora', currency: 'USD', balance: '800.00' }]
  const { report } = await simulate({}, { accounts: ['USD', 'EUR'], bets: 600, chaos: 0 }, dora)
  expect(report.differences).toEqual([])
  expect(report.counts.invalidBetsRefused).toBeGreaterThan(0)
})

describe('a wallet with one defect', () => {
  // What is refused from the first call on, ends the run before its first bet.
  const atStart: Record<string, string> = {
    'ignores the currency': 'the wallet answers balances in JPY, not in EUR',
    'records INVALID_CURRENCY for a player with funds': 'the wallet answers balances in JPY, not in EUR',
  }

  it.each(Object.entries(brokenAccounts))('%s', async (name, { breakage }) => {
    const running = run(breakage(), { chaos: 0.5, concurrency: 8, giveUpAfterMs: 20, clock: skippingClock() })
    if (name in atStart) {
      await expect(running).rejects.toThrow(atStart[name])
      return
    }
    const { report } = await running
    expect(report.differencesCount).toBeGreaterThan(0)
    expect(formatSimulationReport(report)).toMatch(/(dora|emil|fay) (EUR|JPY)/)
  })
})

describe('the option accounts', () => {
  it('is one of players whose currencies and balances are not given', async () => {
    const players = [{ playerId: 'dora', currency: 'EUR' }]
    await expect(run({}, { players })).rejects.toThrow('players: beside accounts, no currency and no balance')
  })

  it('names an account that is not there', async () => {
    const running = simulate({}, { accounts }, others.slice(0, 1))
    await expect(running).rejects.toThrow('ann: the wallet answers balances in EUR, not in JPY')
  })
})
