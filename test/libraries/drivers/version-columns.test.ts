/**
 * ORMs whose optimistic lock compares a version column: a row that was read before a bet is not written back, where the
 * store counts the column up (`players.version`). Without the option the stake is lost.
 */
import { EntitySchema, MikroORM } from '@mikro-orm/core'
import { MySqlDriver } from '@mikro-orm/mysql'
import { PostgreSqlDriver } from '@mikro-orm/postgresql'
import { handlePlaceBet } from 'bet-wallet'
import { createMysqlStore, migrateMysql } from 'bet-wallet/mysql'
import { createPostgresStore, migratePostgres } from 'bet-wallet/postgres'
import { DataTypes, Sequelize } from 'sequelize'
import { afterAll, describe, expect, test } from 'vitest'
import type { WalletStore } from '../../../src/store.js'
import { placeBet } from '../../fixtures.js'
import { freshMariadb } from '../../mariadb/fresh-database.js'
import { noServer } from '../../mysql/engine.js'
import { freshDatabase } from '../../postgres/fresh-database.js'

interface Host {
  dialect: 'postgres' | 'mysql'
  url: string
  /** Makes the players' table with alice, who has 100 EUR. */
  create(): Promise<unknown>
  balance(): Promise<number>
  store(options: { version?: string }): Promise<WalletStore>
}

const columns = { id: 'id', currency: 'currency', balance: 'balance' }
const ddl = [
  'DROP TABLE IF EXISTS wallets',
  'CREATE TABLE wallets (id varchar(64) PRIMARY KEY, currency varchar(3) NOT NULL, balance decimal(18,2) NOT NULL, version integer NOT NULL)',
  "INSERT INTO wallets VALUES ('alice', 'EUR', 100, 1)",
]
const ends: (() => Promise<unknown>)[] = []
afterAll(async () => {
  for (const end of ends) await end()
})
let schemas = 0

async function onPostgres(): Promise<Host> {
  const { pool, url, drop } = await freshDatabase()
  ends.push(drop)
  return {
    ...{ dialect: 'postgres', url },
    create: () => pool.query(ddl.join(';')),
    balance: async () => Number((await pool.query('SELECT balance FROM wallets')).rows[0].balance),
    async store(version) {
      schemas += 1
      const options = { schema: `w${schemas}`, players: { table: 'public.wallets', ...columns, ...version } }
      await migratePostgres(pool, options)
      return createPostgresStore(pool, options)
    },
  }
}

async function onMysql(): Promise<Host> {
  const { pool, config, drop } = await freshMariadb()
  ends.push(drop)
  const { user = 'root', password = '', host, port, database = '' } = config
  const [[row]] = (await pool.query('SELECT @@collation_database AS collation')) as never as [
    [{ collation: string }],
  ]
  return {
    dialect: 'mysql',
    url: `mysql://${user}:${password}@${host}:${port}/${database}`,
    async create() {
      for (const statement of ddl) await pool.query(statement)
    },
    async balance() {
      const [[found]] = (await pool.query('SELECT balance FROM wallets')) as never as [[{ balance: string }]]
      return Number(found.balance)
    },
    async store(version) {
      schemas += 1
      const schema = `${database}_w${schemas}`
      await pool.query(`CREATE DATABASE ${schema}`)
      ends.unshift(() => pool.query(`DROP DATABASE ${schema}`))
      const players = { table: `${database}.wallets`, idCollation: row.collation, ...columns, ...version }
      await migrateMysql(pool, { schema, players })
      return createMysqlStore(pool, { schema, players })
    },
  }
}

/** Reads alice's row, and returns what adds 10 EUR to it and writes it back. */
type ReadBefore = (host: Host) => Promise<() => Promise<unknown>>

const sequelize: ReadBefore = async ({ url }) => {
  const orm = new Sequelize(url, { logging: false })
  ends.unshift(() => orm.close())
  const fields = {
    id: { type: DataTypes.STRING, primaryKey: true },
    ...{ currency: DataTypes.STRING, balance: DataTypes.DECIMAL(18, 2) },
  }
  const Wallet = orm.define('wallet', fields, { version: true, timestamps: false })
  const alice = await Wallet.findByPk('alice')
  return async () => {
    alice?.set('balance', Number(alice.get('balance')) + 10)
    await alice?.save()
  }
}

const mikroOrm: ReadBefore = async ({ dialect, url }) => {
  const Wallet = new EntitySchema<{ id: string; currency: string; balance: string; version: number }>({
    ...{ name: 'Wallet', tableName: 'wallets' },
    properties: {
      id: { type: 'string', primary: true },
      currency: { type: 'string' },
      balance: { type: 'decimal' },
      version: { type: 'integer', version: true },
    },
  })
  const driver = dialect === 'postgres' ? PostgreSqlDriver : MySqlDriver
  const orm = await MikroORM.init({
    driver: driver as typeof PostgreSqlDriver,
    clientUrl: url,
    entities: [Wallet],
  })
  ends.unshift(() => orm.close(true))
  const em = orm.em.fork()
  const alice = await em.findOneOrFail(Wallet, 'alice')
  return async () => {
    alice.balance = String(Number(alice.balance) + 10)
    await em.flush()
  }
}

describe.each([
  ['PostgreSQL', onPostgres, null],
  ['MariaDB or MySQL', onMysql, noServer],
] as const)('on %s', (_, open, reason) => {
  describe.skipIf(reason !== null)(reason ?? 'a row that was read before a bet', () => {
    test.each([
      ['Sequelize', sequelize, /OptimisticLock/],
      ['MikroORM', mikroOrm, /optimistic|OptimisticLock/i],
    ] as const)('of %s', async (_, readBefore, error) => {
      const host = await open()
      for (const version of [undefined, 'version']) {
        await host.create()
        const store = await host.store(version === undefined ? {} : { version })
        const write = await readBefore(host)
        expect(await handlePlaceBet(store, placeBet())).toMatchObject({ ok: true })
        const ended = await write().then(
          () => 'saved',
          (reason: Error) => `${reason.name}: ${reason.message}`,
        )
        // 110: the stake of 30 is lost. With the option the host's code reads again.
        expect([ended, await host.balance()]).toEqual(
          version === undefined ? ['saved', 110] : [expect.stringMatching(error), 70],
        )
      }
    })
  })
})
