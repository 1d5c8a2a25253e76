/** `forgetPlayer` while calls of that player are in flight: what was loaded before does not bring the id back unnoticed. */
import mysql from 'mysql2/promise'
import { beforeEach, expect, test } from 'vitest'
import { forgetPlayer } from '../../../src/stores/mysql/index.js'
import { describeOnServer, placeBet, settle, type Wallet } from './wallet.js'

describeOnServer('forgetPlayer and calls in flight', server => {
  let wallet: Wallet
  beforeEach(async () => {
    wallet = await server.open()
    await wallet.store.ready()
  })

  const bets = () => wallet.rows('SELECT bet_id, player_id, revision FROM SCHEMA.wallet_bets ORDER BY bet_id')

  test.each(['alone', 'in a batch'])(
    'a commit that loaded the bet before leaves its pseudonym, %s',
    async how => {
      const numbers = how === 'alone' ? [1] : [1, 2]
      for (const number of numbers) await wallet.store.commit(placeBet(number, 'alice', '10'))
      const { pseudonym } = await forgetPlayer(server.admin, { schema: wallet.schema }, 'alice')
      const results = await Promise.all(
        numbers.map(number => wallet.store.commit(settle(number, 'alice', '20'))),
      )
      expect(results.map(({ status }) => status)).toEqual(numbers.map(() => 'committed'))
      expect(await bets()).toEqual(numbers.map(number => [`b-${number}`, pseudonym, 2]))
    },
  )

  test('rows that are written before it ends are counted, and the next one replaces them', async () => {
    await wallet.store.commit(placeBet(1))
    const own = mysql.createPool(server.config)
    const late = {
      getConnection(callback: (error: unknown, connection: unknown) => void) {
        own.pool.getConnection((error, connection) => {
          const query = connection?.query.bind(connection)
          const intercepted = (options: { sql: string }, done: (...results: unknown[]) => void) =>
            query?.(options, (...results: unknown[]) => {
              if (options.sql !== 'COMMIT') return done(...results)
              void wallet.store.commit(placeBet(2)).then(() => done(...results))
            })
          callback(error, connection && Object.assign(connection, { query: intercepted }))
        })
      },
    }
    const { schema } = wallet
    expect(await forgetPlayer(late, { schema }, 'alice')).toMatchObject({
      bets: 1,
      transactions: 1,
      remaining: 2,
    })
    await own.end()
    expect(await forgetPlayer(server.admin, { schema }, 'alice')).toMatchObject({
      bets: 1,
      transactions: 1,
      remaining: 0,
    })
  })
})
