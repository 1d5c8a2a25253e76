/** The defaults of MySQL that MariaDB does not have, and settings that operators add: on a real one with all. */
// cspell:ignore álice
import mysql, { type Pool, type PoolOptions } from 'mysql2/promise'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { MariadbServer } from '../../mariadb/server.js'
import { noMysql } from '../../mysql/installation.js'
import { startMysql } from '../../mysql/server.js'
import { keysOf, openWallet, placeBet, settle, type WalletSetup } from './wallet.js'

const reason = noMysql === null ? '' : ` (skipped: ${noMysql})`

const added = {
  gtid_mode: 'ON',
  enforce_gtid_consistency: 'ON',
  sql_require_primary_key: 'ON',
  sql_generate_invisible_primary_key: 'ON',
}

describe.skipIf(noMysql !== null)(`MySQL with its defaults${reason}`, () => {
  let server: MariadbServer
  let admin: Pool
  /** A user whose password the server has not seen yet. */
  let config: PoolOptions
  beforeAll(async () => {
    server = await startMysql({ settings: { log_bin: 'binlog', ...added } })
    admin = mysql.createPool(server.config)
    await admin.query("CREATE USER wallet@'127.%' IDENTIFIED BY 'of the wallet'")
    await admin.query("GRANT ALL ON *.* TO wallet@'127.%'")
    config = { ...server.config, user: 'wallet', password: 'of the wallet' }
  })
  afterAll(async () => {
    await admin.end()
    await server.stop()
  })
  const open = (setup: Partial<WalletSetup> = {}) => openWallet({ admin, config, ...setup })
  const values = async (text: string) =>
    (await admin.query({ sql: text, rowsAsArray: true }))[0] as unknown as unknown[][]

  test.each([
    ['sql_mode', /ONLY_FULL_GROUP_BY.*STRICT_TRANS_TABLES/],
    ['collation_server', /^utf8mb4_0900_ai_ci$/],
    ['transaction_isolation', /^REPEATABLE-READ$/],
    ['innodb_autoinc_lock_mode', /^2$/],
    ['log_bin', /^1$/],
    ['binlog_format', /^ROW$/],
    ...Object.keys(added).map((name): [string, RegExp] => [name, /^(1|ON)$/]),
  ])('this server has %s', async (name, value) => {
    expect(String((await values(`SELECT @@GLOBAL.${name}`))[0]?.[0])).toMatch(value)
  })

  test('a user of caching_sha2_password, at its first connection, commits alone and in batches', async () => {
    expect(await values("SELECT plugin FROM mysql.user WHERE user = 'wallet'")).toEqual([
      ['caching_sha2_password'],
    ])
    const wallet = await open()
    await wallet.store.ready()
    expect(await wallet.store.commit(placeBet(1))).toMatchObject({ status: 'committed', balance: '70' })
    const batch = Array.from({ length: 10 }, (_, index) => placeBet(index + 2, 'bob', '10'))
    for (const result of await Promise.all(batch.map(changes => wallet.store.commit(changes))))
      expect(result).toMatchObject({ status: 'committed' })
    expect(await wallet.balanceOf('bob')).toBe('0')
    await wallet.close()
  })

  test('the library has primary keys of its own, and a table without one gets an invisible one', async () => {
    // As an old PAM may have it: MySQL adds the primary key.
    const accounts = (rows: string, idCollation: string) =>
      open({
        ddl: [
          `CREATE TABLE SCHEMA.accounts (id varchar(64) UNIQUE, currency char(3) NOT NULL,
            balance decimal(18,2) NOT NULL)`,
          `INSERT INTO SCHEMA.accounts (id, currency, balance) VALUES ${rows}`,
        ],
        options: {
          players: {
            ...{ table: 'SCHEMA.accounts', id: 'id', idCollation },
            ...{ currency: 'currency', balance: 'balance' },
          },
        },
      })
    // The default collation takes Alice and alice for one.
    await expect(accounts("('alice', 'EUR', 100), ('Alice', 'EUR', 7)", 'utf8mb4_bin')).rejects.toMatchObject(
      {
        errno: 1062,
      },
    )
    const wallet = await accounts("('alice', 'EUR', 100)", 'utf8mb4_0900_ai_ci')
    await wallet.store.ready()
    expect(await wallet.store.commit(placeBet(1))).toMatchObject({ status: 'committed' })
    expect(await wallet.balanceOf('alice')).toBe('70')
    // And the store does not: of another spelling there is no player.
    for (const playerId of ['Alice', 'ALICE', 'álice'])
      expect((await wallet.store.load(keysOf(placeBet(2, playerId)))).accounts).toEqual([])
    expect(await wallet.rows('SELECT my_row_id FROM SCHEMA.accounts')).toEqual([[1]])
    for (const table of ['wallet_bets', 'wallet_transactions', 'wallet_proofs'])
      await expect(wallet.rows(`SELECT my_row_id FROM SCHEMA.${table}`)).rejects.toMatchObject({
        errno: 1054,
      })
    await wallet.close()
  })

  test('temporary tables inside a database transaction are allowed with GTIDs, and not in the binary log', async () => {
    const wallet = await open({
      ddl: ['CREATE TABLE SCHEMA.notes (id varchar(64) PRIMARY KEY)'],
      options: {
        async withinTransaction(query, pending) {
          for (const { changes } of pending)
            await query(`INSERT INTO ${wallet.schema}.notes VALUES (?)`, [changes.transaction.transactionId])
        },
      },
    })
    await wallet.store.ready()
    const [[file, position] = []] = await values('SHOW BINARY LOG STATUS')
    const batch = Array.from({ length: 10 }, (_, index) => placeBet(`hook-${index}`, 'bob', '10'))
    for (const result of await Promise.all(batch.map(changes => wallet.store.commit(changes))))
      expect(result).toMatchObject({ status: 'committed' })
    expect(await wallet.rows('SELECT COUNT(*) FROM SCHEMA.notes')).toEqual([[10]])
    const events = JSON.stringify(await values(`SHOW BINLOG EVENTS IN '${file}' FROM ${position}`))
    expect(events).toContain('wallet_transactions')
    expect(events).not.toContain('wallet_batch')
    await wallet.close()
  })

  test('sessions of the store are READ COMMITTED, beside PAM code at REPEATABLE READ', async () => {
    const levels = new Set<unknown>()
    const wallet = await open({
      options: {
        async withinTransaction(query) {
          const { rows } = await query('SELECT @@SESSION.transaction_isolation AS level')
          levels.add((rows as { level: string }[])[0]?.level)
        },
      },
    })
    await wallet.store.ready()
    const pam = await wallet.otherSession()
    const { schema } = wallet
    await pam.query('START TRANSACTION WITH CONSISTENT SNAPSHOT')
    expect(await wallet.store.commit(placeBet(1))).toMatchObject({ status: 'committed' })
    await pam.query(`UPDATE ${schema}.wallet_players SET balance = balance + 5 WHERE player_id = 'alice'`)
    await pam.query('COMMIT')
    expect(await wallet.balanceOf('alice')).toBe('75')
    expect(levels).toEqual(new Set(['READ-COMMITTED']))
    await wallet.close()
  })

  test('credits of one bet by many sessions at once keep their order, with interleaved numbers', async () => {
    const wallet = await open()
    await wallet.store.ready()
    await wallet.store.commit(placeBet(1))
    await wallet.store.commit(settle(1))
    const sessions = await Promise.all(Array.from({ length: 5 }, () => wallet.otherSession()))
    await Promise.all(
      sessions.map(session => session.query(`CALL ${wallet.schema}.credit_bet_v1('b-1', 'BET_PAID', 1.00)`)),
    )
    expect(await wallet.rows("SELECT revision FROM SCHEMA.wallet_bets WHERE bet_id = 'b-1'")).toEqual([[7]])
    await wallet.close()
  })

  test('super_read_only: unavailable, and nothing is recorded', async () => {
    const wallet = await open()
    await wallet.store.ready()
    await admin.query('SET GLOBAL super_read_only = ON')
    try {
      await expect(wallet.store.ping()).rejects.toMatchObject({ code: 'UNAVAILABLE' })
      await expect(wallet.store.ready()).rejects.toMatchObject({ code: 'UNAVAILABLE', message: /read-only/ })
      for (const load of [wallet.store.load, wallet.store.loadConfirmed])
        await expect(load(keysOf(placeBet()))).rejects.toMatchObject({ code: 'UNAVAILABLE' })
      for (const number of [1, 2])
        expect(await wallet.store.commit(placeBet(number))).toEqual({ status: 'unavailable' })
      expect(await wallet.recorded()).toEqual([])
    } finally {
      await admin.query('SET GLOBAL super_read_only = OFF')
      await admin.query('SET GLOBAL read_only = OFF')
    }
    expect(await wallet.store.commit(placeBet(1))).toMatchObject({ status: 'committed' })
    await wallet.close()
  })
})
