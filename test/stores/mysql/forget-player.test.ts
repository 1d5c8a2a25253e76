/** A player who is forgotten while calls are in flight: what was loaded before does not bring the id back unnoticed. */
import { beforeEach, expect, test } from 'vitest'
import { forgetOnMysql } from '../forget-player.js'
import { describeOnServer, placeBet, settle, type Wallet } from './wallet.js'

describeOnServer('a forgotten player and calls in flight', server => {
  let wallet: Wallet
  beforeEach(async () => {
    wallet = await server.open()
    await wallet.store.ready()
  })

  const bets = () => wallet.rows('SELECT bet_id, player_id, revision FROM SCHEMA.wallet_bets ORDER BY bet_id')
  const forget = (beforeCommit?: () => Promise<unknown>) =>
    forgetOnMysql(server.admin, { schema: wallet.schema, playerId: 'alice' }, beforeCommit)

  test.each(['alone', 'in a batch'])(
    'a commit that loaded the bet before leaves its pseudonym, %s',
    async how => {
      const numbers = how === 'alone' ? [1] : [1, 2]
      for (const number of numbers) await wallet.store.commit(placeBet(number, 'alice', '10'))
      const { pseudonym } = await forget()
      const results = await Promise.all(
        numbers.map(number => wallet.store.commit(settle(number, 'alice', '20'))),
      )
      expect(results.map(({ status }) => status)).toEqual(numbers.map(() => 'committed'))
      expect(await bets()).toEqual(numbers.map(number => [`b-${number}`, pseudonym, 2]))
    },
  )

  test('rows that are written before it ends keep the id, and the next one replaces them', async () => {
    await wallet.store.commit(placeBet(1))
    expect(await forget(() => wallet.store.commit(placeBet(2)))).toMatchObject({
      bets: 1,
      transactions: 1,
    })
    expect(await forget()).toMatchObject({ bets: 1, transactions: 1 })
    expect(await forget()).toMatchObject({ bets: 0, transactions: 0 })
  })

  test('it locks the rows of this player alone, and waits for no other', async () => {
    await wallet.store.commit(placeBet(1, 'alice', '10'))
    for (const number of [2, 3]) await wallet.store.commit(placeBet(number, 'bob', '10'))
    const other = await wallet.otherSession()
    await other.query('SET TRANSACTION ISOLATION LEVEL READ COMMITTED')
    await other.query('START TRANSACTION')
    for (const table of ['transactions', 'bets'])
      await other.query(`SELECT id FROM ${wallet.schema}.wallet_${table} WHERE bet_id = 'b-3' FOR UPDATE`)
    const forgotten = await forget(async () => {
      expect(await wallet.store.commit(settle(2, 'bob', '20'))).toMatchObject({ status: 'committed' })
    })
    expect(forgotten).toMatchObject({ bets: 1, transactions: 1 })
    await other.query('ROLLBACK')
    expect((await bets()).map(([, playerId]) => playerId)).toEqual([forgotten.pseudonym, 'bob', 'bob'])
  })
})
