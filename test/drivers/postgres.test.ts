/** The blocks of docs/drivers.md pass the kit on a real server: with the real library, and rows of their own. */
import type { PostgresStore, PostgresStoreOptions } from 'bet-wallet/postgres'
import type { StoreHarness } from 'bet-wallet/testing'
import { afterAll, describe, expect, test } from 'vitest'
import { freshDatabase } from '../postgres/fresh-database.js'
import { judge } from '../stores/kit-on-stores.js'
import { type Accounts, type Opened, postgresHarness } from '../stores/postgres/harness.js'
import { placing, until } from '../stores/postgres/wallet.js'
import { blockOf, type Opener, openerOf } from './blocks.js'

const page = 'docs/drivers.md'

/** As the page says in its table. */
const overPostgresJs = blockOf(page, 'Drizzle')
  .replace('createPostgresStore }', 'createPostgresStore, fromPostgresJs }')
  .replace('drizzle-orm/node-postgres', 'drizzle-orm/postgres-js')
  .replace('createPostgresStore(db.$client,', 'createPostgresStore(fromPostgresJs(db.$client),')

const drivers: [name: string, code: string, end: string][] = [
  ['postgres.js', blockOf(page, 'postgres.js'), 'await sql.end()'],
  ['Drizzle over pg', blockOf(page, 'Drizzle'), 'await db.$client.end()'],
  ['Drizzle over postgres.js', overPostgresJs, 'await db.$client.end()'],
  ['Kysely', blockOf(page, 'Kysely'), 'await db.destroy()'],
  ['Knex', blockOf(page, 'Knex'), 'await knex.destroy()'],
  ['TypeORM', blockOf(page, 'TypeORM'), 'await dataSource.destroy()'],
  ['Slonik', blockOf(page, 'Slonik'), 'await pool.end()'],
  ['Prisma', blockOf(page, 'Prisma'), 'await prisma.$disconnect(); await pool.end()'],
]

/** The players' table of the page, with other names of its columns. */
const accounts: Accounts = {
  name: 'numeric',
  ddl: `CREATE TABLE SCHEMA.accounts (account_no text PRIMARY KEY, currency text NOT NULL, balance numeric(20,4) NOT NULL)`,
  players: schema => ({
    ...{ table: `${schema}.accounts`, id: 'account_no', currency: 'currency', balance: 'balance' },
  }),
  columnOf: amount => amount,
  add: 'UPDATE SCHEMA.accounts SET balance = balance + $2 WHERE account_no = $1',
  limits: { digits: 20, scale: 4 },
}

/** Of the randomised cases. The store's own tests run more of them: here the driver is what differs. */
const runs = 3

describe.each(drivers)('%s', async (name, code, end) => {
  const { pool, url, drop } = await freshDatabase()
  afterAll(drop)
  await pool.query('CREATE TABLE ledger (reference text, player_id text, amount numeric)')
  const open: Opener<PostgresStore, PostgresStoreOptions> = await openerOf(page, name, code, end)
  const harness = postgresHarness({
    ...{ pool, url, accounts },
    openStore: (at, options) => open({ url: at, options }),
  })

  describe('the kit', () => judge(withLedger(harness), runs))

  /** Every recorded transaction has its row of the ledger, and no other has one. */
  function withLedger(inner: StoreHarness<Opened>): StoreHarness<Opened> {
    return {
      ...inner,
      async close(opened) {
        const transactions = `SELECT wallet_transaction_id, player_id, delta FROM ${opened.schema}.transactions`
        const { rows } = await pool.query(`(${transactions} EXCEPT ALL TABLE ledger)
          UNION ALL (TABLE ledger EXCEPT ALL ${transactions})`)
        await pool.query('TRUNCATE ledger')
        await inner.close?.(opened)
        expect(rows).toEqual([])
      },
    }
  }

  test('idle connections that the server closes: the next bet is taken', async () => {
    const opened = await harness.open([{ playerId: 'alice', currency: 'EUR', balance: '100' }])
    const connections = `FROM pg_stat_activity WHERE application_name = '${opened.schema}'`
    await opened.store.ready()
    expect(await opened.store.commit(placing({ n: 1 }))).toMatchObject({ status: 'committed' })
    await pool.query(`SELECT pg_terminate_backend(pid, 10000) ${connections}`)
    // The driver may not have read it yet: then the outcome is unknown, or nothing was done.
    const first = await opened.store.commit(placing({ n: 2 })).catch((error: { code?: string }) => error.code)
    expect(['COMMIT_UNKNOWN', expect.objectContaining({ status: expect.any(String) })]).toContainEqual(first)
    await until(async () => {
      const result = await opened.store.commit(placing({ n: 3 })).catch(() => null)
      return result?.status === 'committed' || result?.status === 'conflict'
    })
    expect((await opened.store.load({ ...keys, transactionId: 'place-3', betId: 'bet-3' })).bet).not.toBeNull()
    await harness.close?.(opened)
    await pool.query('TRUNCATE ledger')
  })

  test('an error of the server in the hook is a fault, and nothing is recorded', async () => {
    const opened = await harness.open([{ playerId: 'alice', currency: 'EUR', balance: '100' }])
    await pool.query('ALTER TABLE ledger ADD CONSTRAINT limited CHECK (amount > -50)')
    await expect(opened.store.commit(placing({ n: 1, amount: '60' }))).rejects.toThrow()
    expect(await opened.store.commit(placing({ n: 2, amount: '40' }))).toMatchObject({ status: 'committed' })
    const { rows } = await pool.query(`SELECT transaction_id FROM ${opened.schema}.transactions`)
    expect(rows).toEqual([{ transaction_id: 'place-2' }])
    await pool.query('ALTER TABLE ledger DROP CONSTRAINT limited')
    await harness.close?.(opened)
    await pool.query('TRUNCATE ledger')
  })
})

const keys = { operation: 'placebet', playerId: 'alice' } as const
