/** What is owed to the platform: the same on every database, in sum and bet by bet. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { handlePlaceBet, handleUnsettlement, recordSettlement } from '../../src/index.js'
import type { OwedBet, RecordedTransaction, WalletLookups } from '../../src/lookups/index.js'
import { findOwed } from '../../src/lookups/owed.js'
import { type Opened, testedDatabases } from './databases.js'

const common = { playerId: 'anna', transactionDate: '2026-11-21T18:00:00.000Z' }
const placeBet = (wallet: Opened, betId: string, amount: string) =>
  handlePlaceBet(wallet.store, {
    ...{ ...common, betId, transactionId: betId, amount, currency: 'EUR' },
    ...{ sessionId: 's', odds: '2', betType: 'SINGLE' },
  })
const settle = (wallet: Opened, transactionId: string, betId: string, amount: string, type = 'BET_PAID') =>
  recordSettlement(wallet.store, { ...common, transactionId, betId, amount, currency: 'EUR', type })
const unsettle = (wallet: Opened, transactionId: string, betId: string, type = 'UNSCORED') =>
  handleUnsettlement(wallet.store, { ...common, transactionId, betId, type })

const idsOf = (found: readonly OwedBet[]) =>
  found.map(({ bet, refused }) => [bet.betId, ...refused.map(({ transactionId }) => transactionId)].join(' '))

describe.each(testedDatabases)('on $name', ({ name, skipped, open }) => {
  describe.skipIf(skipped !== null)(skipped === null ? name : `${name} (skipped: ${skipped})`, () => {
    let wallet: Opened
    beforeAll(async () => {
      wallet = await open()
    })
    afterAll(() => wallet?.close())

    it('nothing, until a clawback is refused', async () => {
      await placeBet(wallet, 'paid', '10')
      await settle(wallet, 's-1', 'paid', '20')
      await placeBet(wallet, 'void', '10')
      await settle(wallet, 's-2', 'void', '10', 'VOIDED')
      await placeBet(wallet, 'collected', '10')
      await settle(wallet, 's-3', 'collected', '30')
      await unsettle(wallet, 'u-3', 'collected')
      expect(await wallet.lookups.owed()).toEqual([])
    })

    it('each bet once, in the order of its last refusal, and as lookups of the bet have it', async () => {
      // Given a balance of 0.
      await placeBet(wallet, 'all', '100')
      await unsettle(wallet, 'u-2', 'void', 'UNVOIDED')
      await unsettle(wallet, 'u-1', 'paid')
      await unsettle(wallet, 'u-1b', 'paid') // There is nothing left to reverse.
      expect(idsOf(await wallet.lookups.owed())).toEqual(['void u-2', 'paid u-1'])
      // When the bet is settled and reversed again, and its second clawback is not collected either.
      await settle(wallet, 's-4', 'void', '3.25', 'VOIDED')
      await placeBet(wallet, 'rest', '3.25')
      await unsettle(wallet, 'u-4', 'void', 'UNVOIDED')
      // And a clawback of it that is collected.
      await settle(wallet, 's-5', 'void', '1', 'VOIDED')
      await unsettle(wallet, 'u-5', 'void', 'UNVOIDED')
      const found = await wallet.lookups.owed()
      expect(idsOf(found)).toEqual(['paid u-1', 'void u-2 u-4'])
      for (const { bet, refused } of found) {
        const history = await wallet.lookups.bet(bet.betId)
        expect(bet).toEqual(history?.bet)
        expect(refused).toEqual(history?.transactions.filter(({ refusal }) => refusal !== null))
      }
      expect(await findOwed(wallet.lookups)).toMatchObject({
        totals: [{ currency: 'EUR', owed: '33.25', bets: 2 }],
        bets: [{ owed: '20' }, { owed: '13.25' }],
      })
    })

    it('also what is owed of imported bets, first', async () => {
      const credits = { BET_PAID: { live: null, reversed: '0', owed: '700' } }
      const ofKenji = {
        playerId: 'kenji',
        currency: 'JPY',
        stake: '100',
        status: 'PLACED',
        revision: 1,
      } as const
      await wallet.importBets([{ ...ofKenji, betId: 'imported', credits }])
      const [first, ...others] = await wallet.lookups.owed()
      expect(first).toMatchObject({ bet: { betId: 'imported', credits }, refused: [] })
      expect(others).toHaveLength(2)
    })

    it('needs the index of a bet', async () => {
      await wallet.run(
        name === 'MariaDB'
          ? 'DROP INDEX wallet_transactions_of_bet ON TRANSACTIONS'
          : 'DROP INDEX SCHEMA.transactions_of_bet',
      )
      await expect(wallet.lookupsWith({}).owed()).rejects.toMatchObject({ code: 'LOOKUP_INDEX_MISSING' })
      expect(await wallet.lookupsWith({ allowScan: true }).owed()).toHaveLength(3)
    })
  })
})

describe('a report', () => {
  const refusedAt = (recordedAt: string) => ({ recordedAt, transactionId: recordedAt }) as RecordedTransaction
  const owed = (betId: string, playerId: string, currency: string, amounts: string[], times: string[]) =>
    ({
      bet: {
        ...{ betId, playerId, currency },
        credits: Object.fromEntries(
          amounts.map((amount, index) => [
            ['BET_PAID', 'VOIDED'][index],
            { live: null, reversed: '9', owed: amount },
          ]),
        ),
      },
      refused: times.map(refusedAt),
    }) as unknown as OwedBet
  const lookups: Pick<WalletLookups, 'owed'> = {
    owed: async () => [
      owed('b-0', 'anna', 'EUR', ['5'], []),
      owed('b-1', 'anna', 'EUR', ['20', '0.5'], ['2026-11-20T10:00:00.000Z', '2026-11-21T00:00:00.000Z']),
      owed('b-2', 'kenji', 'JPY', ['700'], ['2026-11-21T10:00:00.000Z']),
      owed('b-3', 'anna', 'EUR', ['0.1'], ['2026-11-22T00:00:00.000Z']),
    ],
  }
  const day = { from: '2026-11-21', to: '2026-11-22' }

  it.each([
    [{}, ['EUR 25.6', 'JPY 700'], 'b-0 b-1 b-2 b-3', 0],
    [{ playerId: 'anna' }, ['EUR 25.6'], 'b-0 b-1 b-3', 0],
    [{ playerId: 'Anna' }, [], '', 0],
    [day, ['EUR 20.5', 'JPY 700'], 'b-1 b-2', 1],
    [{ to: '2026-11-21T00:00' }, [], '', 1],
    [{ from: '2026-11-22T00:00:00Z', playerId: 'kenji' }, [], '', 0],
    [{ from: '2026-11-22T00:00:00Z' }, ['EUR 0.1'], 'b-3', 1],
  ])(
    'sums by currency, of the bets whose last refusal is in the span: %j',
    async (filter, sums, ids, left) => {
      const { totals, bets, withoutTime } = await findOwed(lookups, filter)
      expect(totals.map(({ currency, owed: sum }) => `${currency} ${sum}`)).toEqual(sums)
      expect(bets.map(({ betId }) => betId).join(' ')).toBe(ids)
      expect(withoutTime).toBe(left)
    },
  )
})
