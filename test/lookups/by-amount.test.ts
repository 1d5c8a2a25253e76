/** The statement of docs/records.md finds transactions by amount and time, on each database. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { handlePlaceBet, handleRollbackBet, handleUnsettlement, recordSettlement } from '../../src/index.js'
import { codeBlocksOf, readPage } from '../docs/pages.js'
import { type Opened, testedDatabases } from './databases.js'

const [statement = ''] = codeBlocksOf(readPage('docs/records.md'))
  .filter(({ language }) => language === 'sql')
  .map(({ code }) => code)

describe.each(testedDatabases)('on $name', ({ name, skipped, open }) => {
  describe.skipIf(skipped !== null)(skipped === null ? name : `${name} (skipped: ${skipped})`, () => {
    let wallet: Opened
    beforeAll(async () => {
      wallet = await open()
      const { store } = wallet
      const bet = { playerId: 'anna', betId: 'b-1', currency: 'EUR', transactionDate: '2026-11-22T10:00:00Z' }
      const stake = { ...bet, sessionId: 's', odds: '2', betType: 'SINGLE', amount: '30' }
      await handlePlaceBet(store, { ...stake, transactionId: 't-1' })
      await handlePlaceBet(store, { ...stake, transactionId: 't-refused' })
      await handlePlaceBet(store, { ...stake, betId: 'b-2', amount: '30.01', transactionId: 't-2' })
      await handleRollbackBet(store, { ...bet, transactionId: 'r-1', type: 'TECHNICAL_ERROR' })
      await recordSettlement(store, {
        ...{ ...bet, betId: 'b-2', transactionId: 's-1', type: 'BET_PAID', amount: '75' },
      })
      await handleUnsettlement(store, { ...bet, betId: 'b-2', transactionId: 'u-1', type: 'UNSCORED' })
    })
    afterAll(() => wallet?.close())

    const found = async (amount: string, hours = [-1, 1]) => {
      const times = hours.map(hour => new Date(Date.now() + hour * 3_600_000).toISOString().slice(0, 19))
      const zone = name === 'MariaDB' ? '' : 'Z'
      const rows = await wallet.rows(
        statement
          .replace('bet_wallet.transactions', 'TRANSACTIONS')
          .replace('12.50', amount)
          .replace(/'[^']+Z'/g, () => `'${times.shift()}${zone}'`),
      )
      return (rows as { transaction_id: string }[]).map(row => row.transaction_id)
    }

    it('in both directions, refused ones too, by value', async () => {
      expect(await found('30.00')).toEqual(['t-1', 't-refused', 'r-1'])
      expect(await found('75')).toEqual(['s-1', 'u-1'])
      expect(await found('30.02')).toEqual([])
    })

    it('of that time only', async () => {
      expect(await found('30.00', [-3, -1])).toEqual([])
      expect(await found('30.00', [1, 3])).toEqual([])
    })
  })
})
