/** Proves that a simulation passes wallets that move money correctly, and answer differently. */
import { describe, expect, test } from 'vitest'
import { correctWallets } from '../wallets/correct.js'
import { simulate } from '../wallets/library.js'

describe('a wallet passes that', () => {
  test.each(correctWallets)('$name', async ({ breakage }) => {
    const { report } = await simulate(breakage(), { chaos: 0.5, bets: 250, concurrency: 16 })
    expect(report.differences).toEqual([])
    expect(report.passed).toBe(true)
  })
})
