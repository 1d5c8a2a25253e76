/** The programs of drivers.md pass the kit on a real server: with the real library, and rows of their own. */

import { join } from 'node:path'
import {
  createPostgresStore,
  fromKnex,
  type PostgresStore,
  type PostgresStoreOptions,
} from 'bet-wallet/postgres'
import { checkWalletStore, type StoreHarness } from 'bet-wallet/testing'
import { afterAll, describe, expect, test } from 'vitest'
import { describeError } from '../../../src/stores/postgres/driver-errors.js'
import { root } from '../../docs/pages.js'
import { freshDatabase } from '../../postgres/fresh-database.js'
import type { Database } from '../../postgres/server.js'
import { type Accounts, type Opened, postgresHarness } from '../../stores/postgres/harness.js'
import { openProxy } from '../../stores/postgres/proxy.js'
import { longTimeouts, outOfTime, placing } from '../../stores/postgres/wallet.js'
import { until } from '../../until.js'
import { blockOf, type Opener, openerOf, page, withoutEntities } from './blocks.js'
import { failuresOf, withLedger } from './with-ledger.js'

/** As the page says in its table. */
const overPostgresJs = blockOf(page, 'Drizzle')
  .replace('createPostgresStore }', 'createPostgresStore, fromPostgresJs }')
  .replace('drizzle-orm/node-postgres', 'drizzle-orm/postgres-js')
  .replace('createPostgresStore(db.$client,', 'createPostgresStore(fromPostgresJs(db.$client),')

/** And what closes the connections that the block has opened. */
const drivers: [name: string, code: string, end: string][] = [
  ['postgres.js', blockOf(page, 'postgres.js'), 'await sql.end({ timeout: 1 })'],
  ['Drizzle over pg', blockOf(page, 'Drizzle'), 'await db.$client.end()'],
  ['Drizzle over postgres.js', overPostgresJs, 'await db.$client.end({ timeout: 1 })'],
  ['Kysely', blockOf(page, 'Kysely'), 'await db.destroy()'],
  ['Knex', blockOf(page, 'Knex'), 'await knex.destroy()'],
  ['TypeORM', blockOf(page, 'TypeORM'), 'await dataSource.destroy()'],
  ['Slonik', blockOf(page, 'Slonik'), 'await pool.end()'],
  ['Sequelize', blockOf(page, 'Sequelize'), 'await sequelize.close(); await pool.end()'],
  ['MikroORM', withoutEntities(blockOf(page, 'MikroORM')), 'await orm.close(); await pool.end()'],
  [
    'Prisma',
    blockOf(page, 'Prisma'),
    'await prisma.$queryRaw`SELECT 1`; await prisma.$disconnect(); await pool.end()',
  ],
]

/** The players' table of the page, with other names of its columns. */
const accounts: Accounts = {
  name: 'numeric',
  ddl: `CREATE TABLE SCHEMA.accounts (account_no text PRIMARY KEY, currency text NOT NULL, balance numeric(20,4) NOT NULL)`,
  players: schema => ({
    ...{ table: `${schema}.accounts`, id: 'account_no', currency: 'currency', balance: 'balance' },
  }),
  columnOf: amount => amount,
  add: 'UPDATE SCHEMA.accounts SET balance = balance + ? WHERE account_no = ?',
  limits: { digits: 20, scale: 4 },
}

/** Of the randomised cases. The store's own tests run more of them: here the driver is what differs. */
const runs = 3

const databases: Database[] = []
afterAll(() => Promise.all(databases.map(({ drop }) => drop())))

interface Driver {
  database: Database
  harness: StoreHarness<Opened>
}

const driversByName = new Map<string, Promise<Driver>>()

/** The same for all tests of a driver. */
function driverOf(name: string, code: string, end: string): Promise<Driver> {
  const made = driversByName.get(name) ?? openDriver(name, code, end)
  driversByName.set(name, made)
  return made
}

async function openDriver(name: string, code: string, end: string): Promise<Driver> {
  const open: Opener<PostgresStore, PostgresStoreOptions> = await openerOf(page, name, code, end)
  const database = await freshDatabase()
  databases.push(database)
  const { pool, url } = database
  await pool.query('CREATE TABLE ledger (reference text, player_id text, amount numeric)')
  const harness = postgresHarness({
    ...{ pool, url, accounts },
    openStore: (at, options) => open({ url: at, options }),
  })
  const transactionsOf = ({ schema }: Opened) =>
    `SELECT wallet_transaction_id, player_id, delta FROM ${schema}.transactions`
  return {
    database,
    harness: withLedger(harness, {
      async differences(opened) {
        const transactions = opened.map(transactionsOf).join(' UNION ALL ')
        const { rows } = await pool.query(
          `((${transactions}) EXCEPT ALL TABLE ledger) UNION ALL (TABLE ledger EXCEPT ALL (${transactions}))`,
        )
        return rows
      },
      clear: () => pool.query('TRUNCATE ledger'),
    }),
  }
}

const players = [{ playerId: 'alice', currency: 'EUR', balance: '100' }]

// Several drivers at once: each mostly waits for the server. One test of a driver after the other.
describe('the kit', () => {
  test.concurrent.each(drivers)('%s passes the kit', { timeout: 600_000 }, async (...driver) => {
    const { harness } = await driverOf(...driver)
    const report = await checkWalletStore(harness, { runs, print: null, timeoutMs: 60_000 })
    expect(failuresOf(report)).toEqual([])
    expect(report).toMatchObject({ passed: true, complete: true })
  })
})

describe('a lost connection', () => {
  test.concurrent.each(drivers)(
    '%s takes the next bet after the server has closed its connections',
    async (...driver) => {
      const { harness, database } = await driverOf(...driver)
      const opened = await harness.open(players)
      const { store, schema } = opened
      await store.ready()
      expect(await store.commit(placing({ n: 1 }))).toMatchObject({ status: 'committed' })
      await database.pool.query(
        'SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE application_name = $1',
        [schema],
      )
      // Some drivers have not read it yet, and send it to a connection that is closed: its outcome is unknown.
      await until(async () => (await store.commit(placing({ n: 2 })).catch(() => null)) !== null)
      const { bet } = await store.load({
        ...{ operation: 'placebet', transactionId: 'place-2', playerId: 'alice', betId: 'bet-2' },
      })
      expect(bet?.stake).toBe('30')
      await harness.close?.(opened)
    },
  )

  // Without withinTransaction a commit is one statement, and these drivers do not tell whether they have sent it.
  const unknown = ['postgres.js', 'Drizzle over postgres.js', 'Slonik']

  test.concurrent.each(drivers)(
    '%s: a bet that meets a database that is down is unavailable, or its outcome is unknown',
    async (...driver) => {
      const [name, code, end] = driver
      const { harness, database } = await driverOf(...driver)
      const withoutHook = code.replace(/ {2}async withinTransaction[\s\S]*?\n {2}},\n/, '')
      const open: Opener<PostgresStore, PostgresStoreOptions> = await openerOf(
        ...([page, `${name} without hook`, withoutHook, end] as const),
      )
      const prepared = await harness.open(players)
      const { schema } = prepared
      const proxy = await openProxy(database.url)
      const { store, end: close } = await open({
        url: proxy.url,
        options: { schema, ...(accounts.players && { players: accounts.players(schema) }) },
      })
      await store.ready()
      await proxy.close()
      // The driver may still send it to a connection that is closed.
      await store
        .load({ operation: 'placebet', transactionId: 't', playerId: 'alice', betId: 'b' })
        .catch(() => {})
      const result = await store.commit(placing()).catch((error: { code?: string }) => error.code)
      expect(result).toEqual(unknown.includes(name) ? 'COMMIT_UNKNOWN' : { status: 'unavailable' })
      // Slonik reports the lost connections once more.
      await close().catch(() => {})
      await harness.close?.(prepared)
    },
  )

  test('Knex closes one that hangs, and does not lend it again', async () => {
    const { database } = await driverOf(...(drivers.find(([name]) => name === 'Knex') ?? ['', '', '']))
    const proxy = await openProxy(database.url)
    const { default: createKnex } = await import(join(root, 'test/libraries/node_modules/knex/knex.mjs'))
    const knex = createKnex({ client: 'pg', connection: proxy.url, pool: { min: 0, max: 1 } })
    const client = fromKnex(knex)
    const store = createPostgresStore(client, longTimeouts)
    await store.ping()
    proxy.goDark()
    const end = await outOfTime(
      () => store.ping(),
      () => knex.client.pool.numUsed() === 1,
    )
    expect(end).toMatchObject({ code: 'UNAVAILABLE', message: expect.stringContaining('No answer within') })
    await store.ping()
    expect(client.totalCount).toBe(1)
    await knex.destroy()
    await proxy.close()
  })
})

describe('an error of the server in the hook', () => {
  test.concurrent.each(drivers)('%s: a fault, and nothing is recorded', async (...driver) => {
    const { harness, database } = await driverOf(...driver)
    const opened = await harness.open(players)
    const { store, schema } = opened
    await database.pool.query('ALTER TABLE ledger ADD CONSTRAINT limited CHECK (amount > -50)')
    const failed = await store.commit(placing({ n: 1, amount: '60' })).then(null, (error: unknown) => error)
    expect(describeError(failed)).toMatch(/"limited" \(SQLSTATE 23514\)/)
    expect(await store.commit(placing({ n: 2, amount: '40' }))).toMatchObject({ status: 'committed' })
    const { rows } = await database.pool.query(`SELECT transaction_id FROM ${schema}.transactions`)
    expect(rows).toEqual([{ transaction_id: 'place-2' }])
    await database.pool.query('ALTER TABLE ledger DROP CONSTRAINT limited')
    await harness.close?.(opened)
  })
})
