/** Ids are the same on every way, whatever the character set of the client that ran the migration. */
// cspell:ignore жанна ελένη
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import mysql, { type Pool, type PoolOptions, type RowDataPacket } from 'mysql2/promise'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { handlePlaceBet, handleRollbackBet, recordSettlement, type WalletStore } from '../../../src/index.js'
import {
  createMysqlLookups,
  createMysqlStore,
  importBets,
  migrateMysql,
  mysqlMigrationSql,
} from '../../../src/stores/mysql/index.js'
import { placeBet, rollbackBet, settlement } from '../../fixtures.js'
import { sharedMariadb } from '../../mariadb/fresh-database.js'
import type { MariadbConfig } from '../../mariadb/server.js'
import { clientProgram, isMysql, noServer } from '../../mysql/engine.js'
import { bet } from './wallet.js'

const reason = noServer === null ? '' : ` (skipped: ${noServer})`

const players = ['жанна', 'anna🎲', 'ελένη', '李', 'anna']

describe.skipIf(noServer !== null)(`character sets${reason}`, () => {
  let admin: Pool
  let config: MariadbConfig
  let schemas = 0
  const pools: Pool[] = []
  const poolWith = (options: PoolOptions = {}) => {
    const pool = mysql.createPool({ ...config, ...options })
    pools.push(pool)
    return pool
  }
  const newSchema = async () => {
    schemas += 1
    const schema = `character_sets_${process.pid}_${schemas}`
    // Of the variables and columns of the procedures, where they state none.
    await admin.query(`CREATE DATABASE ${schema} CHARACTER SET latin1`)
    return schema
  }
  beforeAll(async () => {
    config = (await sharedMariadb()).config
    admin = poolWith()
  })
  afterAll(async () => {
    for (let number = 1; number <= schemas; number += 1)
      await admin.query(`DROP DATABASE IF EXISTS character_sets_${process.pid}_${number}`)
    await Promise.all(pools.map(pool => pool.end()))
  })

  /** By the client of the server, without its configuration files. */
  async function byClient(schema: string, text: string, locale: string): Promise<void> {
    const { host, port, user, password } = config
    const arguments_ = ['--no-defaults', `-h${host}`, `-P${port}`, `-u${user}`, `-p${password}`, schema]
    const running = promisify(execFile)(clientProgram(), arguments_, {
      env: { ...process.env, LC_ALL: locale },
    })
    running.child.stdin?.end(text)
    await running
  }

  /** The same store, and the answer to its next commit is lost. */
  function losingAnswers(store: WalletStore): WalletStore {
    let loses = true
    return {
      ...store,
      async commit(changes) {
        const result = await store.commit(changes)
        if (!loses) return result
        loses = false
        throw new Error('the answer was lost')
      },
    }
  }

  /** Every call that reads an id by the procedures. */
  async function playsInAll(schema: string): Promise<void> {
    const pool = poolWith()
    const store = createMysqlStore(pool, { schema })
    for (const playerId of players) {
      await admin.query(`INSERT INTO ${schema}.wallet_players VALUES (?, 'EUR', 100)`, [playerId])
      const ids = (name: string) => ({ playerId, betId: `${playerId}-${name}` })
      const placing = { ...placeBet(), ...ids('a'), transactionId: `p-${playerId}`, amount: '30' }
      const settling = { ...settlement(), ...ids('a'), transactionId: `s-${playerId}`, amount: '5' }
      expect(await handlePlaceBet(store, placing)).toMatchObject({ ok: true, replayed: false })
      expect(await handlePlaceBet(store, placing), playerId).toMatchObject({ ok: true, replayed: true })
      expect(await recordSettlement(store, settling)).toMatchObject({ ok: true })
      expect(await recordSettlement(store, settling)).toMatchObject({ ok: true, replayed: true })

      const lost = { ...placeBet(), ...ids('b'), transactionId: `l-${playerId}`, amount: '30' }
      await handlePlaceBet(losingAnswers(store), lost).catch(() => {})
      expect(await handlePlaceBet(store, lost)).toMatchObject({ ok: true, replayed: true })

      for (const number of [1, 2]) {
        const rolling = { ...rollbackBet(), ...ids('b'), transactionId: `r-${playerId}-${number}` }
        expect(await handleRollbackBet(store, rolling)).toMatchObject({ ok: true })
      }
      const [[player]] = await admin.query<RowDataPacket[][]>(
        `SELECT balance + 0 = 75 AS isRight FROM ${schema}.wallet_players WHERE player_id = ?`,
        [playerId],
      )
      expect(player).toEqual({ isRight: 1 })
      const found = await createMysqlLookups(pool, { schema, allowScan: true }).bet(`${playerId}-b`)
      expect(found?.bet?.playerId).toBe(playerId)
    }
  }

  test.each(['C', 'C.UTF-8'])('the SQL of the migration by the client, in the locale %s', async locale => {
    const schema = await newSchema()
    await byClient(schema, mysqlMigrationSql({ schema }), locale)
    await createMysqlStore(poolWith(), { schema }).ready()
    await playsInAll(schema)
  })

  const withoutNames = (text: string) => text.replace(/^SET NAMES.*$/m, '')

  // MySQL's client takes utf8mb4 from the other one.
  test.each(isMysql ? ['C'] : ['C', 'C.UTF-8'])(
    'procedures of a session in the locale %s: right, but ready reports them, and the migration replaces them',
    async locale => {
      const schema = await newSchema()
      await byClient(schema, withoutNames(mysqlMigrationSql({ schema })), locale)
      const store = createMysqlStore(poolWith(), { schema })
      await expect(store.ready()).rejects.toMatchObject({
        code: 'SCHEMA_VERSION',
        message: expect.stringMatching(/was created by a session in (latin1|utf8mb3) .*, not utf8mb4/),
      })
      await migrateMysql(poolWith(), { schema })
      await store.ready()
      await playsInAll(schema)
    },
  )

  // Each of them changes what the same text of a procedure does.
  test.each(['PAD_CHAR_TO_FULL_LENGTH', 'HIGH_NOT_PRECEDENCE', 'NO_UNSIGNED_SUBTRACTION'])(
    'procedures of a session with the sql_mode %s: ready reports them, and the migration replaces them',
    async mode => {
      const schema = await newSchema()
      const text = mysqlMigrationSql({ schema }).replace(/SET SESSION sql_mode = '/, `$&${mode},`)
      await byClient(schema, text, 'C.UTF-8')
      const store = createMysqlStore(poolWith(), { schema })
      await expect(store.ready()).rejects.toMatchObject({
        code: 'SCHEMA_VERSION',
        message: expect.stringContaining('was changed'),
      })
      await migrateMysql(poolWith(), { schema })
      await store.ready()
    },
  )

  test('the session has its own character set again after the SQL of the migration', async () => {
    const schema = await newSchema()
    const check = `SET SESSION sql_mode = 'ANSI';
      SET NAMES latin1 COLLATE latin1_bin;
      ${mysqlMigrationSql({ schema })}
      CREATE TABLE ${schema}.after AS SELECT UPPER(VARIABLE_NAME) AS name, VARIABLE_VALUE AS value
        FROM ${isMysql ? 'performance_schema.session_variables' : 'information_schema.SESSION_VARIABLES'}
        WHERE VARIABLE_NAME IN ('character_set_client', 'character_set_results', 'collation_connection', 'sql_mode');`
    await byClient(schema, check, 'C')
    const [rows] = await admin.query({
      sql: `SELECT * FROM ${schema}.after ORDER BY name`,
      rowsAsArray: true,
    })
    expect(rows).toEqual([
      ['CHARACTER_SET_CLIENT', 'latin1'],
      ['CHARACTER_SET_RESULTS', 'latin1'],
      ['COLLATION_CONNECTION', 'latin1_bin'],
      ['SQL_MODE', expect.stringContaining('ANSI')],
    ])
  })

  describe.each(['utf8', 'latin1'])('a pool in %s is refused', charset => {
    const refused = { code: 'UNSUPPORTED_CLIENT', message: expect.stringContaining('must be utf8mb4') }

    test('by the migration', async () => {
      const schema = await newSchema()
      await expect(migrateMysql(poolWith({ charset }), { schema })).rejects.toMatchObject(refused)
    })

    test('by the store, lookups and imports', async () => {
      const schema = await newSchema()
      await migrateMysql(admin, { schema })
      const pool = poolWith({ charset })
      await expect(createMysqlStore(pool, { schema }).ready()).rejects.toMatchObject(refused)
      await expect(createMysqlLookups(pool, { schema }).bet('b-1')).rejects.toMatchObject(refused)
      await expect(importBets(pool, { schema }, [bet({ playerId: 'жанна' })])).rejects.toThrow(
        /must be utf8mb4/,
      )
    })
  })
})
