/** A player who must be forgotten: no row names the id, every guard holds, and every sum stays. */
import { afterEach, describe, expect, it } from 'vitest'
import {
  handlePlaceBet,
  handleRollbackBet,
  handleUnsettlement,
  recordSettlement,
  type WalletOutcome,
} from '../../src/index.js'
import { placeBet, rollbackBet, settlement, unsettlement } from '../fixtures.js'
import { type Opened, testedDatabases } from './databases.js'

describe.each(testedDatabases)('a forgotten player on $name', ({ name, skipped, open }) => {
  const title = skipped === null ? name : `${name} (skipped: ${skipped})`

  describe.skipIf(skipped !== null)(title, () => {
    let wallet: Opened
    afterEach(() => wallet?.close())

    const of = (playerId: string, betId: string, transactionId: string) => ({
      playerId,
      betId,
      transactionId,
    })
    const anna = (betId: string, transactionId: string) => of('anna', betId, transactionId)
    /** Without the revision: a new one keeps calls in flight from writing the id back. */
    const stored = async () => [
      ...(await wallet.rows('SELECT * FROM BETS ORDER BY bet_id')).map(row => ({ ...row, revision: null })),
      ...(await wallet.rows('SELECT * FROM TRANSACTIONS ORDER BY operation, transaction_id')),
    ]
    const balances = () => wallet.rows('SELECT * FROM PLAYERS ORDER BY player_id')

    /** Every call of anna's bets: of an open one, a settled one, a cancelled one and one that never came. */
    const calls: (() => Promise<WalletOutcome>)[] = [
      () => handlePlaceBet(wallet.store, placeBet(anna('open', 'p-1'))),
      () => handlePlaceBet(wallet.store, placeBet(anna('settled', 'p-2'))),
      () => recordSettlement(wallet.store, settlement({ ...anna('settled', 's-2'), amount: '40' })),
      () => handlePlaceBet(wallet.store, placeBet({ ...anna('refused', 'p-3'), amount: '5000' })),
      () => handlePlaceBet(wallet.store, placeBet(anna('cancelled', 'p-4'))),
      () => handleRollbackBet(wallet.store, rollbackBet(anna('cancelled', 'r-4'))),
      () => handleRollbackBet(wallet.store, rollbackBet(anna('never', 'r-5'))),
    ]

    it('replaces the id in every row, and changes nothing else', async () => {
      wallet = await open()
      for (const call of calls) await call()
      await handlePlaceBet(
        wallet.store,
        placeBet({ ...of('kenji', 'other', 'p-9'), amount: '10', currency: 'JPY' }),
      )
      const before = await stored()
      const forgotten = await wallet.forgetPlayer('anna')
      expect(forgotten).toEqual({
        pseudonym: expect.stringMatching(/^forgotten-[0-9a-f-]{36}$/),
        ...{ bets: 4, transactions: 7 },
      })
      expect(JSON.stringify(await stored())).not.toContain('anna')
      expect(await stored()).toEqual(
        before.map(row =>
          'player_id' in row && row.player_id === 'anna' ? { ...row, player_id: forgotten.pseudonym } : row,
        ),
      )
      expect((await wallet.lookups.bet('settled'))?.bet).toMatchObject({ playerId: forgotten.pseudonym })
      expect(await wallet.forgetPlayer('anna')).toMatchObject({ bets: 0, transactions: 0 })
    })

    it.each(['the account stays', 'the account is deleted'])(
      'then no call for its bets moves money, late, repeated or new; %s',
      async account => {
        wallet = await open()
        for (const call of calls) await call()
        await wallet.forgetPlayer('anna')
        if (account === 'the account is deleted')
          await wallet.run("DELETE FROM PLAYERS WHERE player_id = 'anna'")
        const before = [await balances(), await stored()]
        const late: typeof calls = [
          ...calls,
          () => handlePlaceBet(wallet.store, placeBet(anna('never', 'p-5'))),
          () => handlePlaceBet(wallet.store, placeBet(anna('settled', 'p-6'))),
          () => handleRollbackBet(wallet.store, rollbackBet(anna('open', 'r-6'))),
          () => handleRollbackBet(wallet.store, rollbackBet(anna('settled', 'r-7'))),
          () => handleUnsettlement(wallet.store, unsettlement(anna('settled', 'u-6'))),
          () => recordSettlement(wallet.store, settlement({ ...anna('open', 's-6'), amount: '40' })),
        ]
        for (const call of late) {
          const outcome = await call()
          expect(outcome).toMatchObject({ ok: false })
        }
        const [balancesThen] = before
        expect(await balances()).toEqual(balancesThen)
      },
    )

    it('of another id: nothing is changed', async () => {
      wallet = await open()
      for (const call of calls) await call()
      const before = [await balances(), await stored()]
      expect(await wallet.forgetPlayer('Anna')).toMatchObject({ bets: 0, transactions: 0 })
      expect([await balances(), await stored()]).toEqual(before)
    })
  })
})
