/**
 * Amounts stay within the interface's limits (D22), whatever the opening balances and the decimals of the
 * currency.
 */
import { describe, expect, test } from 'vitest'
import { simulateSportsbook } from '../../../src/tools/random/index.js'
import { credentials, startWallet } from '../wallets/library.js'

const minorUnits = (currency: string) => (currency === 'WEI' ? 18 : undefined)

describe('a run with opening balances near and beyond the largest amount', () => {
  test.each([
    ['the largest amount of euros', 'EUR', '999999999999999.99'],
    ['more yen than one amount can hold', 'JPY', '99999999999999999999'],
    ['a currency of 8 decimals', 'BTC', '999999999999999.99999999'],
    ['a currency of 18 decimals', 'WEI', '999999999999999.999999999999999999'],
    ['a balance with more decimals than its currency', 'EUR', '800000000000000.12345'],
  ])('sends no invalid amount: %s', async (_, currency, balance) => {
    // Given players with such a balance, a poor one among them
    const known = [
      { playerId: 'ann', currency, balance },
      { playerId: 'ben', currency, balance },
      { playerId: 'cem', currency, balance: '3' },
    ]
    const wallet = await startWallet({}, known, { minorUnits })
    try {
      // When a sportsbook plays with them
      const report = await simulateSportsbook({
        baseUrl: wallet.baseUrl,
        credentials,
        players: known.map(({ playerId }) => playerId),
        bets: 500,
        seed: 5,
        chaos: 0.3,
        backOffMsMax: 0,
        minorUnits,
      })
      // Then no call was refused as invalid, and the books agree
      const answers = Object.values(report.answers).flatMap(counts => Object.keys(counts))
      expect(answers.filter(answer => answer.includes('INVALID_REQUEST'))).toEqual([])
      expect(report.differences).toEqual([])
      expect(report.passed).toBe(true)
    } finally {
      await wallet.close()
    }
  })
})
