/** A transaction that a role cannot see is not gone: the relay refuses to start, and never gives such an event up. */
import mysql from 'mysql2/promise'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { handlePlaceBet } from '../../src/index.js'
import type { OutboxTable } from '../../src/stores/database/outbox.js'
import { createMysqlStore, migrateMysql } from '../../src/stores/mysql/index.js'
import { mysqlOutbox } from '../../src/stores/mysql/relay.js'
import { createPostgresStore, migratePostgres } from '../../src/stores/postgres/index.js'
import { postgresOutbox } from '../../src/stores/postgres/relay.js'
import { placeBet } from '../fixtures.js'
import { freshMariadb } from '../mariadb/fresh-database.js'
import { noServer } from '../mysql/engine.js'
import { freshDatabase } from '../postgres/fresh-database.js'
import { relayOf } from './databases.js'

const startOf = (outbox: OutboxTable) => {
  const relay = relayOf(outbox, { async deliver() {} })
  return relay.start().then(
    () => relay.stop(),
    (error: Error & { code: string }) => ({ code: error.code, message: error.message }),
  )
}
const refusedAs = (code: string, table: string) => ({ code, message: expect.stringContaining(table) })

describe('on PostgreSQL', () => {
  const role = `relay_without_sight_${process.pid}`
  let database: Awaited<ReturnType<typeof freshDatabase>>
  let own: pg.Pool
  beforeAll(async () => {
    database = await freshDatabase()
    const { pool, url } = database
    await migratePostgres(pool, { outbox: true })
    await pool.query("INSERT INTO bet_wallet.players VALUES ('alice', 'EUR', 100)")
    await pool.query(`CREATE ROLE ${role};
      GRANT USAGE ON SCHEMA bet_wallet TO ${role};
      GRANT SELECT, UPDATE, DELETE ON ALL TABLES IN SCHEMA bet_wallet TO ${role}`)
    own = new pg.Pool({ connectionString: url, options: `-c role=${role}` })
  })
  afterAll(async () => {
    await own.end()
    await database.pool.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`)
    await database.drop()
  })

  it.each(['transactions', 'bets', 'outbox'])(
    'given row-level security of %s that applies to its role, then the relay does not start',
    async name => {
      const outbox = postgresOutbox(own, undefined)
      await database.pool.query(`ALTER TABLE bet_wallet.${name} ENABLE ROW LEVEL SECURITY`)
      expect(await startOf(outbox)).toEqual(refusedAs('ROW_SECURITY', name))
      // The owner sees every row.
      expect(await startOf(postgresOutbox(database.pool, undefined))).toBeUndefined()
      await database.pool.query(`ALTER TABLE bet_wallet.${name} DISABLE ROW LEVEL SECURITY`)
      expect(await startOf(outbox)).toBeUndefined()
    },
  )

  it('given a view in place of the transactions, then the relay does not start', async () => {
    const outbox = postgresOutbox(own, undefined)
    await database.pool.query(`ALTER TABLE bet_wallet.transactions RENAME TO all_transactions;
      CREATE VIEW bet_wallet.transactions AS SELECT * FROM bet_wallet.all_transactions WHERE false;
      GRANT SELECT ON bet_wallet.transactions TO ${role}`)
    expect(await startOf(outbox)).toEqual(refusedAs('SCHEMA_VERSION', 'transactions'))
    await database.pool.query(
      'DROP VIEW bet_wallet.transactions; ALTER TABLE bet_wallet.all_transactions RENAME TO transactions',
    )
    expect(await startOf(outbox)).toBeUndefined()
  })

  it('given row-level security that comes later, then a claim fails, and no event is a dead letter', async () => {
    const store = createPostgresStore(database.pool, { outbox: true, allowNotDurable: true })
    expect(await handlePlaceBet(store, placeBet())).toMatchObject({ ok: true })
    const outbox = postgresOutbox(own, undefined)
    await outbox.check()
    await database.pool.query('ALTER TABLE bet_wallet.transactions ENABLE ROW LEVEL SECURITY')
    await expect(outbox.claim(10, 1)).rejects.toMatchObject({ code: 'ROW_SECURITY' })
    await database.pool.query('ALTER TABLE bet_wallet.transactions DISABLE ROW LEVEL SECURITY')
    expect(await outbox.stats()).toMatchObject({ queued: 1, dead: 0 })
    await database.pool.query('UPDATE bet_wallet.outbox SET due_at = now()')
    expect((await outbox.claim(10, 1)).claimed).toHaveLength(1)
  })
})

describe.skipIf(noServer !== null)(
  `on MySQL and MariaDB${noServer === null ? '' : ` (skipped: ${noServer})`}`,
  () => {
    let database: Awaited<ReturnType<typeof freshMariadb>>
    /** One connection, which other code has used too. */
    let shared: mysql.Pool
    let outbox: OutboxTable
    beforeAll(async () => {
      database = await freshMariadb()
      const { config, pool } = database
      await migrateMysql(pool, { schema: config.database, outbox: true })
      await pool.query("INSERT INTO wallet_players VALUES ('alice', 'EUR', 100)")
      shared = mysql.createPool({ ...config, connectionLimit: 1 })
      outbox = mysqlOutbox(shared, config.database)
    })
    afterAll(async () => {
      await shared?.end()
      await database?.drop()
    })

    it('given a view in place of the transactions, then the relay does not start', async () => {
      expect(await startOf(outbox)).toBeUndefined()
      await database.pool.query('RENAME TABLE wallet_transactions TO all_transactions')
      await database.pool.query(
        'CREATE VIEW wallet_transactions AS SELECT * FROM all_transactions WHERE id < 0',
      )
      expect(await startOf(outbox)).toEqual(refusedAs('SCHEMA_VERSION', 'wallet_transactions'))
      await database.pool.query('DROP VIEW wallet_transactions')
      await database.pool.query('RENAME TABLE all_transactions TO wallet_transactions')
      expect(await startOf(outbox)).toBeUndefined()
    })

    it('given a temporary table of other code on its connection, then a claim fails, and no event is a dead letter', async () => {
      const store = createMysqlStore(database.pool, {
        ...{ schema: database.config.database, outbox: true, allowNotDurable: true },
      })
      expect(await handlePlaceBet(store, placeBet())).toMatchObject({ ok: true })
      await shared.query('CREATE TEMPORARY TABLE wallet_transactions (id bigint unsigned PRIMARY KEY)')
      await expect(outbox.claim(10, 60_000)).rejects.toMatchObject(
        refusedAs('SCHEMA_VERSION', 'wallet_transactions'),
      )
      expect(await outbox.stats()).toMatchObject({ queued: 1, dead: 0 })
      // The connection was closed after the error.
      expect((await outbox.claim(10, 60_000)).claimed).toHaveLength(1)
    })
  },
)
