/** The store's calls are prepared statements on a Pool of pg; where a pooler loses their names, plain ones. */
import { handlePlaceBet, handleRollbackBet } from 'bet-wallet'
import { createPostgresStore, migratePostgres } from 'bet-wallet/postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { placeBet, rollbackBet } from '../../fixtures.js'
import { freshDatabase } from '../../postgres/fresh-database.js'

const { pool, drop } = await freshDatabase({ pool: { max: 1 } })
afterAll(drop)
beforeAll(async () => {
  await migratePostgres(pool)
  await pool.query("INSERT INTO bet_wallet.players VALUES ('alice', 'EUR', 100)")
})

const preparedNames = async () =>
  (await pool.query('SELECT name FROM pg_prepared_statements ORDER BY name')).rows.map(({ name }) => name)

let count = 0
const place = (store: ReturnType<typeof createPostgresStore>) => {
  count += 1
  return handlePlaceBet(store, placeBet({ transactionId: `t-${count}`, betId: `b-${count}`, amount: '1' }))
}

test('given a Pool of pg, when calls are made, then each kind is prepared once per connection', async () => {
  const store = createPostgresStore(pool)
  expect(await place(store)).toMatchObject({ ok: true })
  expect(await place(store)).toMatchObject({ ok: true })
  expect(await handleRollbackBet(store, rollbackBet({ betId: 'b-1' }))).toMatchObject({ ok: true })
  const names = await preparedNames()
  expect(names.map(name => /^bet_wallet\.([a-z_]+)_v1_/.exec(name)?.[1])).toEqual(['commit_one', 'load'])
  // Another process, or another store, uses the same names.
  expect(await place(createPostgresStore(pool))).toMatchObject({ ok: true })
  expect(await preparedNames()).toEqual(names)
})

describe('given a pooler that gives each database transaction another connection', () => {
  test('when a name is unknown there, then the call is made without it, once', async () => {
    const store = createPostgresStore(pool)
    expect(await place(store)).toMatchObject({ ok: true })
    const before = (await pool.query('SELECT balance FROM bet_wallet.players')).rows[0]
    await pool.query('DEALLOCATE ALL')
    expect(await place(store)).toMatchObject({ ok: true })
    expect(await place(store)).toMatchObject({ ok: true })
    expect(await preparedNames()).toEqual([])
    const after = (await pool.query('SELECT balance FROM bet_wallet.players')).rows[0]
    expect(Number(before.balance) - Number(after.balance)).toBe(2)
  })

  test('when a name is taken there, then the call is made without it, once', async () => {
    const store = createPostgresStore(pool)
    await store.ready()
    const connection = await pool.connect()
    // pg has forgotten what the server has prepared.
    ;(connection as unknown as { connection: { parsedStatements: object } }).connection.parsedStatements = {}
    connection.release()
    const other = createPostgresStore(pool)
    expect(await place(other)).toMatchObject({ ok: true })
    ;(connection as unknown as { connection: { parsedStatements: object } }).connection.parsedStatements = {}
    expect(await place(store)).toMatchObject({ ok: true, balance: expect.any(String) })
  })
})
