/** The programs of drivers.md for MySQL pass the kit on a real MariaDB or MySQL: with the real library, and rows of their own. */
import { createMysqlStore, type MysqlClient, type MysqlStore, type MysqlStoreOptions } from 'bet-wallet/mysql'
import { checkWalletStore, type StoreHarness } from 'bet-wallet/testing'
import mariadb from 'mariadb'
import mariadbCallbacks from 'mariadb/callback.js'
// @ts-expect-error The driver mysql has no types of its own.
import { createPoolCluster as createOldCluster, createPool as createOldPool } from 'mysql'
import type { RowDataPacket } from 'mysql2/promise'
import { DataSource } from 'typeorm'
import { afterAll, describe, expect, test } from 'vitest'
import type { MariadbDatabase } from '../../mariadb/database.js'
import { freshMariadb } from '../../mariadb/fresh-database.js'
import { noServer, processList } from '../../mysql/engine.js'
import { type Accounts, mysqlHarness, type Opened } from '../../stores/mysql/harness.js'
import { until } from '../../until.js'
import { blockOf, type Opener, openerOf, page, withoutEntities } from './blocks.js'
import { failuresOf, withLedger } from './with-ledger.js'

const drivers: [name: string, end: string][] = [
  ['mysql2', 'await pool.end()'],
  ['Drizzle on MySQL', ''],
  ['Kysely on MySQL', 'await db.destroy()'],
  ['Knex on MySQL', 'await knex.destroy()'],
  ['TypeORM on MySQL', 'await dataSource.destroy()'],
  ['Sequelize on MySQL', 'await sequelize.close()'],
  ['MikroORM on MySQL', 'await orm.close()'],
]

/** The players' table of the page. */
const accounts: Accounts = {
  name: 'decimal',
  ddl: `CREATE TABLE SCHEMA.accounts (account_no varchar(255) PRIMARY KEY, currency varchar(16) NOT NULL,
    balance decimal(20,4) NOT NULL) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci`,
  players: schema => ({
    ...{ table: `${schema}.accounts`, id: 'account_no', idCollation: 'utf8mb4_general_ci' },
    ...{ currency: 'currency', balance: 'balance' },
  }),
  columnOf: amount => amount,
  add: 'UPDATE SCHEMA.accounts SET balance = balance + CAST(? AS decimal(20,4)) WHERE account_no = ?',
  limits: { digits: 20, scale: 4 },
  playerIds: 'plain',
}

/** Of the randomised cases. The store's own tests run more of them: here the query builder is what differs. */
const runs = 3

const databases: MariadbDatabase[] = []
afterAll(() => Promise.all(databases.map(({ drop }) => drop())))

async function harnessOf(name: string, end: string): Promise<StoreHarness<Opened>> {
  const open: Opener<MysqlStore, MysqlStoreOptions> = await openerOf(
    page,
    name,
    withoutEntities(blockOf(page, name)),
    end,
  )
  const database = await freshMariadb({ pool: { connectionLimit: 20 } })
  databases.push(database)
  const { pool, config } = database
  await pool.query(
    'CREATE TABLE ledger (reference varchar(255), player_id varchar(255), amount decimal(38,18))',
  )
  const connectionsOf = async (user: string): Promise<number[]> => {
    const [rows] = await pool.query<RowDataPacket[]>(`SELECT ID FROM ${processList} WHERE USER = ?`, [user])
    return rows.map(({ ID }) => ID)
  }
  let users = 0
  const harness = mysqlHarness({
    ...{ pool, configOf: () => config, accounts },
    // A user per store: its connections are known by it.
    async openStore(server, options) {
      users += 1
      const user = `u${config.database.slice(-16)}_${users}`
      await pool.query(`CREATE USER ${user} IDENTIFIED BY 'x'`)
      await pool.query(`GRANT ALL ON *.* TO ${user}`)
      const url = `mysql://${user}:x@${server.host}:${server.port}/${config.database}`
      const opened = await open({ url, options })
      return {
        store: opened.store,
        async connections() {
          // A process that has ended opens no more. The queue of a store in this one would, unseen until it has logged in.
          await pool.query(`ALTER USER ${user} ACCOUNT LOCK`)
          const anonymous = await connectionsOf('unauthenticated user')
          await until(async () => {
            const left = await connectionsOf('unauthenticated user')
            return !anonymous.some(id => left.includes(id))
          })
          return connectionsOf(user)
        },
        async end() {
          await opened.end()
          await pool.query(`DROP USER ${user}`)
        },
      }
    },
  })
  const text = (column: string) => `CAST(${column} AS char) COLLATE utf8mb4_bin`
  const transactionsOf = ({ schema }: Opened) =>
    `SELECT ${text('id')}, ${text('player_id')}, CAST(delta AS decimal(38,18)) FROM ${schema}.wallet_transactions`
  const ledger = `SELECT ${text('reference')}, ${text('player_id')}, amount FROM ledger`
  return withLedger(harness, {
    async differences(opened) {
      const transactions = opened.map(transactionsOf).join(' UNION ALL ')
      const [rows] = await pool.query<RowDataPacket[]>(
        `((${transactions}) EXCEPT ALL ${ledger}) UNION ALL (${ledger} EXCEPT ALL (${transactions}))`,
      )
      return rows
    },
    clear: () => pool.query('TRUNCATE ledger'),
  })
}

describe('clients that look like pools are refused at once, by their name', () => {
  const refusalOf = (client: unknown) => {
    try {
      createMysqlStore(client as MysqlClient)
      return null
    } catch (error) {
      return error
    }
  }
  const refused = (name: string) => ({
    code: 'UNSUPPORTED_CLIENT',
    message: expect.stringContaining(`The client is ${name}: pass a pool of mysql2`),
  })
  // Nothing listens on this port: the clients need no server.
  const target = { host: '127.0.0.1', port: 1, user: 'wallet' }

  test('of the driver mysql', () => {
    expect(refusalOf(createOldPool(target))).toMatchObject(refused('a pool of the driver mysql'))
    expect(refusalOf(createOldCluster())).toMatchObject(refused('a PoolCluster'))
  })

  test('of the driver mariadb, with promises and callbacks', async () => {
    for (const client of [mariadb.createPool(target), mariadbCallbacks.createPool(target)]) {
      expect(refusalOf(client)).toMatchObject(refused('a pool of the driver mariadb'))
      await client.end()
    }
    expect(refusalOf(mariadb.createPoolCluster())).toMatchObject(refused('a PoolCluster'))
  })

  test.skipIf(noServer !== null)('of TypeORM', async () => {
    const { config } = await freshMariadb({ pool: { connectionLimit: 2 } }).then(database => {
      databases.push(database)
      return database
    })
    const { host, port, user, password, database } = config
    const credentials = { host, port, username: user, password, database }
    const dataSource = await new DataSource({ type: 'mysql', ...credentials }).initialize()
    expect(refusalOf((dataSource.driver as unknown as { pool: unknown }).pool)).toMatchObject(
      refused("TypeORM's driver.pool, or another pool with stringifyObjects"),
    )
    await dataSource.destroy()
  })
})

const reason = noServer === null ? '' : ` (skipped: ${noServer})`

// Several at once: each mostly waits for the server.
describe.skipIf(noServer !== null)(`the kit${reason}`, () => {
  test.concurrent.each(drivers)('%s passes the kit', { timeout: 600_000 }, async (name, end) => {
    const harness = await harnessOf(name, end)
    const report = await checkWalletStore(harness, { runs, print: null, timeoutMs: 60_000 })
    expect(failuresOf(report)).toEqual([])
    expect(report).toMatchObject({ passed: true, complete: true })
  })
})
