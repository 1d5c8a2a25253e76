/**
 * The migration as function and as text; the cut-over: imports; settlements by PAM code.
 */
// cspell:ignore PAIDX
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import mysql, { type Pool } from 'mysql2/promise'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import {
  createMysqlLookups,
  createMysqlStore,
  importBets,
  importTransactions,
  migrateMysql,
  mysqlMigrationSql,
} from '../../../src/stores/mysql/index.js'
import { sharedMariadb } from '../../mariadb/fresh-database.js'
import { clientProgram, exactCollation, isMysql, noServer, withoutOnMysql } from '../../mysql/engine.js'
import { bet, keysOf, openWallet, placeBet, settle, transaction, type Wallet } from './wallet.js'

const reason = noServer === null ? '' : ` (skipped: ${noServer})`

describe.skipIf(noServer !== null)(`on a real server${reason}`, () => {
  let admin: Pool
  let config: Awaited<ReturnType<typeof sharedMariadb>>['config']
  let schemas = 0
  const used: string[] = []
  const wallets: Wallet[] = []
  const newSchema = () => {
    schemas += 1
    const schema = `migrate_${process.pid}_${schemas}`
    used.push(schema)
    return schema
  }
  const open = async (setup: Partial<Parameters<typeof openWallet>[0]> = {}) => {
    const wallet = await openWallet({ admin, config, ...setup })
    wallets.push(wallet)
    return wallet
  }
  beforeAll(async () => {
    config = (await sharedMariadb()).config
    admin = mysql.createPool({ ...config, connectionLimit: 20, connectTimeout: 120_000 })
  })
  afterEach(async () => {
    for (const wallet of wallets.splice(0)) await wallet.close()
  })
  afterAll(async () => {
    for (const schema of used) await admin.query(`DROP DATABASE IF EXISTS ${schema}`)
    await admin.end()
  })

  test('by many processes at once, and again', async () => {
    const schema = newSchema()
    await Promise.all(Array.from({ length: 8 }, () => migrateMysql(admin, { schema })))
    await createMysqlStore(admin, { schema }).ready()
    await admin.query(`INSERT INTO ${schema}.wallet_players VALUES ('anna', 'EUR', 100)`)
    await migrateMysql(admin, { schema })
    const [rows] = await admin.query(`SELECT * FROM ${schema}.wallet_players`)
    expect(rows).toHaveLength(1)
  })

  test('the statement of the page lists the procedures of the options, and not credit_bet_v1, which all share', async () => {
    const schema = newSchema()
    await migrateMysql(admin, { schema })
    const page = readFileSync(new URL('../../../docs/mysql.md', import.meta.url), 'utf8')
    const [, statement = ''] = /`(SHOW PROCEDURE STATUS [^`]*)`/.exec(page) ?? []
    const [rows] = await admin.query<mysql.RowDataPacket[]>(statement.replace('bet_wallet', schema))
    const [all] = await admin.query<mysql.RowDataPacket[]>(`SHOW PROCEDURE STATUS WHERE Db = '${schema}'`)
    const namesOf = (found: mysql.RowDataPacket[]) => found.map(({ Name }) => String(Name))
    expect(namesOf(all).filter(name => !namesOf(rows).includes(name))).toEqual(['credit_bet_v1'])
  })

  test('as text, by the command-line client, twice; whatever the sql_mode of the session', async () => {
    const schema = newSchema()
    await admin.query(`CREATE DATABASE ${schema} CHARACTER SET latin1`)
    const text = mysqlMigrationSql({ schema })
    const run = (sql: string) =>
      promisify(execFile)(
        clientProgram(),
        [
          `-h${config.host}`,
          `-P${config.port}`,
          `-u${config.user}`,
          `-p${config.password}`,
          '--default-character-set=utf8mb4',
          '-e',
          sql,
        ],
        { maxBuffer: 1 << 24 },
      )
    await run(`SET sql_mode = '';\n${text}`)
    await run(`SET sql_mode = 'NO_BACKSLASH_ESCAPES,PIPES_AS_CONCAT';\n${text}`)
    const store = createMysqlStore(admin, { schema })
    await store.ready()
    await admin.query(`INSERT INTO ${schema}.wallet_players VALUES ('anna', 'EUR', 100)`)
    expect(await store.commit(placeBet(1, 'anna'))).toMatchObject({ status: 'committed' })
  })

  test('as text, while the wallet runs: between any two of its statements, calls are answered', async () => {
    const wallet = await open()
    await wallet.store.ready()
    const text = mysqlMigrationSql({ schema: wallet.schema })
    const statements = /DELIMITER \$\$\n(.*)\nDELIMITER ;/s.exec(text)?.[1]?.split(' $$') ?? []
    expect(statements.length).toBeGreaterThan(4)
    for (const [index, statement] of statements.entries()) {
      if (statement.trim() !== '') await admin.query(statement)
      const bets = [0, 1, 2].map(number => placeBet(`${index}-${number}`, 'alice', '1'))
      expect((await wallet.store.loadConfirmed(keysOf(placeBet()))).accounts[0]?.playerId).toBe('alice')
      for (const each of [bets.slice(0, 1), bets.slice(1)])
        for (const result of await Promise.all(each.map(changes => wallet.store.commit(changes))))
          expect(result.status).toBe('committed')
    }
  })

  test('of a release with other bodies: processes of both go on, and each is ready', async () => {
    const schema = newSchema()
    await migrateMysql(admin, { schema })
    await admin.query(`INSERT INTO ${schema}.wallet_players VALUES ('alice', 'EUR', 100)`)
    const store = createMysqlStore(admin, { schema })
    await store.ready()
    vi.resetModules()
    vi.doMock('../../../src/stores/mysql/sql/fragments.js', async importOriginal => ({
      ...(await importOriginal<object>()),
      allRows: 'LIMIT 1000000',
    }))
    const other: typeof import('../../../src/stores/mysql/index.js') = await import(
      '../../../src/stores/mysql/index.js'
    )
    vi.doUnmock('../../../src/stores/mysql/sql/fragments.js')
    const otherStore = other.createMysqlStore(admin, { schema })
    await expect(otherStore.ready()).rejects.toMatchObject({ code: 'SCHEMA_VERSION' })
    await other.migrateMysql(admin, { schema })
    for (const [index, each] of [store, otherStore].entries()) {
      await each.ready()
      expect(await each.commit(placeBet(index, 'alice', '1'))).toMatchObject({ status: 'committed' })
    }
    // The options are the same: also those that the migration has registered.
    await migrateMysql(admin, { schema })
    expect(await createMysqlLookups(admin, { schema, allowScan: true }).bet('b-1')).not.toBeNull()
  })

  test('a procedure that is gone: unavailable; one of a hook: a fault', async () => {
    const gone = await open()
    await gone.store.ready()
    const own = await gone.rows("SHOW PROCEDURE STATUS WHERE Db = 'SCHEMA' AND Name LIKE 'wallet%'")
    for (const [, name] of own) await gone.run(`DROP PROCEDURE SCHEMA.${name}`)
    expect(await gone.store.commit(placeBet(1))).toEqual({ status: 'unavailable' })
    await expect(gone.store.load(keysOf(placeBet(1)))).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    const hooked = await open({
      options: { withinTransaction: async query => void (await query('CALL nowhere.wallet_mine_v1()')) },
    })
    await expect(hooked.store.commit(placeBet(1))).rejects.toMatchObject({ errno: 1305 })
  })

  test.skipIf(isMysql)(
    `keeps what was granted on a procedure that it replaces${withoutOnMysql('CREATE OR REPLACE')}`,
    async () => {
      const schema = newSchema()
      await migrateMysql(admin, { schema })
      await admin.query(`CREATE TABLE ${schema}.accounts LIKE ${schema}.wallet_players`)
      const user = `settler_${schemas}@'127.%'`
      await admin.query(`CREATE USER ${user} IDENTIFIED BY 'x'`)
      try {
        await admin.query(`GRANT EXECUTE ON PROCEDURE ${schema}.credit_bet_v1 TO ${user}`)
        const columns = {
          id: 'player_id',
          idCollation: exactCollation,
          currency: 'currency',
          balance: 'balance',
        }
        const players = { table: `${schema}.accounts`, ...columns }
        await migrateMysql(admin, { schema, players }, { allowOtherOptions: true })
        const [rows] = await admin.query(`SHOW GRANTS FOR ${user}`)
        expect(JSON.stringify(rows)).toContain('credit_bet_v1')
      } finally {
        await admin.query(`DROP USER ${user}`)
      }
    },
  )

  describe('settlements by PAM code', () => {
    test('are recorded on the bet, and a commit on the older revision is a conflict', async () => {
      const wallet = await open()
      await wallet.store.commit(placeBet(1))
      await wallet.run("CALL SCHEMA.credit_bet_v1('b-1', 'BET_PAID', 55.5)")
      await wallet.run("CALL SCHEMA.credit_bet_v1('b-1', 'BET_PAID', 0.5)")
      const { bet: found } = await wallet.store.load(keysOf(placeBet(1)))
      expect(found).toMatchObject({ revision: 3, credits: { BET_PAID: { live: '56.000000000000000000' } } })
      expect(await wallet.store.commit(settle(1))).toMatchObject({ status: 'conflict' })
    })

    test('are undone with the database transaction of the PAM', async () => {
      const wallet = await open()
      await wallet.store.commit(placeBet(1))
      const session = await wallet.otherSession()
      await session.query('BEGIN')
      await session.query(`CALL ${wallet.schema}.credit_bet_v1('b-1', 'VOIDED', 30)`)
      await session.query('ROLLBACK')
      expect((await wallet.store.load(keysOf(placeBet(1)))).bet).toMatchObject({ revision: 1, credits: {} })
    })

    test.skipIf(isMysql)(
      `with innodb_snapshot_isolation, a bet that changed since the PAM’s snapshot is 1020, and nothing is left${withoutOnMysql('innodb_snapshot_isolation')}`,
      async () => {
        const wallet = await open()
        await wallet.store.commit(placeBet(1))
        const session = await wallet.otherSession()
        await session.query("SET SESSION innodb_snapshot_isolation = ON, tx_isolation = 'REPEATABLE-READ'")
        const credit = async () => {
          await session.query(
            `UPDATE ${wallet.schema}.wallet_players SET balance = balance + 5 WHERE player_id = 'bob'`,
          )
          await session.query(`CALL ${wallet.schema}.credit_bet_v1('b-1', 'BET_PAID', 5)`)
          await session.query('COMMIT')
        }
        await session.query('START TRANSACTION WITH CONSISTENT SNAPSHOT')
        await wallet.store.commit(settle(1))
        await expect(credit()).rejects.toMatchObject({ errno: 1020 })
        // The server has rolled back all of it.
        await session.query('COMMIT')
        expect(await wallet.balanceOf('bob')).toBe('100')
        await session.query('START TRANSACTION')
        await credit()
        expect((await wallet.store.load(keysOf(placeBet(1)))).bet).toMatchObject({
          revision: 3,
          credits: { BET_PAID: { live: '65.000000000000000000' } },
        })
        expect(await wallet.balanceOf('bob')).toBe('105')
      },
    )

    test('wait for the player without holding the bet: a commit locks both in this order', async () => {
      const wallet = await open()
      await wallet.store.commit(placeBet(1))
      const [holder, settling] = [await wallet.otherSession(), await wallet.otherSession()]
      await holder.query('BEGIN')
      await holder.query(`SELECT 1 FROM ${wallet.schema}.wallet_players WHERE player_id = 'alice' FOR UPDATE`)
      await settling.query('BEGIN')
      const credited = settling.query(`CALL ${wallet.schema}.credit_bet_v1('b-1', 'BET_PAID', 1)`)
      const waits = () =>
        wallet.rows(
          "SELECT 1 FROM information_schema.INNODB_TRX WHERE trx_state = 'LOCK WAIT' AND trx_mysql_thread_id = ?",
          [settling.threadId],
        )
      // The server repeats what it showed, until 0.1 s have passed without a look.
      await expect.poll(waits, { interval: 300 }).toHaveLength(1)
      await holder.query(`SELECT 1 FROM ${wallet.schema}.wallet_bets WHERE bet_id = 'b-1' FOR UPDATE NOWAIT`)
      await holder.query('COMMIT')
      await credited
    })

    const modes = [
      '',
      'STRICT_ALL_TABLES',
      ...(isMysql ? [] : ['ORACLE']),
      'NO_BACKSLASH_ESCAPES,ANSI_QUOTES',
    ]
    const longId = 'b'.repeat(255)
    const amounts = [
      ...[
        "'55,50'",
        "'1.234,56'",
        "'abc'",
        "''",
        "' '",
        "'NaN'",
        "'0x10'",
        "'12.5abc'",
        "'1e3'",
        "'1e-19'",
        "'-0.01'",
      ],
      ...[
        '1e-22',
        '-1',
        'NULL',
        "'+1'",
        "'.5'",
        "'5.'",
        "'1 000'",
        "'0.0000000000000000001'",
        '123456789012345678901',
      ],
    ]
    const rejected: [string, RegExp][] = [
      ...amounts.map((amount): [string, RegExp] => [
        `'b-1', 'BET_PAID', ${amount}`,
        /amount must be at least 0/,
      ]),
      ["'b-1', 'LOST', 1", /must be BET_PAID, VOIDED or CASHOUT/],
      ["'b-1', 'BET_PAIDX', 1", /must be BET_PAID, VOIDED or CASHOUT/],
      [`'b-1', '${'BET_PAID'.padEnd(40, 'X')}', 1`, /must be BET_PAID, VOIDED or CASHOUT/],
      ["'B-1', 'BET_PAID', 1", /unknown bet B-1/],
      ["'', 'BET_PAID', 1", /unknown bet/],
      ["'b-1🎲', 'BET_PAID', 1", /unknown bet b-1/],
      [`'${longId}12345678', 'BET_PAID', 1`, /at most 255 characters/],
      [`'${longId.padEnd(400, 'b')}', 'BET_PAID', 1`, /at most 255 characters/],
      ["NULL, 'BET_PAID', 1", /at most 255 characters/],
    ]

    // The server converts parameters by the mode of the caller, before the procedure's own holds.
    test.each(modes)('are rejected, and change no bet, in the sql_mode "%s"', async mode => {
      const wallet = await open()
      for (const betId of ['b-1', longId]) {
        const changes = placeBet(betId)
        changes.transaction.betId = betId
        Object.assign(changes.bet ?? {}, { betId })
        changes.transaction.transactionId = betId.slice(0, 10)
        expect(await wallet.store.commit(changes)).toMatchObject({ status: 'committed' })
      }
      const session = await wallet.otherSession()
      await session.query(`SET SESSION sql_mode = '${mode}'`)
      for (const [parameters, message] of rejected)
        await expect(
          session.query(`CALL ${wallet.schema}.credit_bet_v1(${parameters})`).then(() => 'accepted'),
          parameters,
        ).rejects.toThrow(mode.includes('STRICT') ? /bet-wallet: |Data too long/ : message)
      expect(await wallet.rows('SELECT MAX(revision) FROM SCHEMA.wallet_bets')).toEqual([[1]])
    })

    test.each(modes)('are accepted in the sql_mode "%s": decimals, and numbers as decimals', async mode => {
      const wallet = await open()
      await wallet.store.commit(placeBet(1))
      const session = await wallet.otherSession()
      await session.query(`SET SESSION sql_mode = '${mode}'`)
      for (const amount of ["'12.50'", '12.5', "'0'", '0', '7', "'0.000000000000000001000'", "'007.5'"])
        await session.query(`CALL ${wallet.schema}.credit_bet_v1('b-1', 'BET_PAID', ${amount})`)
      await session.execute(`CALL ${wallet.schema}.credit_bet_v1(?, ?, ?)`, ['b-1', 'BET_PAID', 1.25])
      expect((await wallet.store.load(keysOf(placeBet(1)))).bet?.credits.BET_PAID?.live).toBe(
        '40.750000000000000001',
      )
    })

    test('are rejected for a bet that is rolled back', async () => {
      const wallet = await open()
      await wallet.store.commit(placeBet(1))
      await wallet.run("UPDATE SCHEMA.wallet_bets SET status = 'ROLLED_BACK', revision = 2")
      await expect(wallet.run("CALL SCHEMA.credit_bet_v1('b-1', 'BET_PAID', 1)")).rejects.toThrow(
        /wallet_bets_valid/,
      )
    })
  })

  describe('imports', () => {
    const legacyBet = bet({ betId: 'old', credits: { BET_PAID: { live: '5', reversed: '0', owed: '0' } } })

    test('of bets: once, and a bet that has changed since keeps its changes', async () => {
      const wallet = await open()
      const { schema } = wallet
      expect(await importBets(admin, { schema }, [legacyBet, bet({ betId: 'other' })])).toEqual({
        imported: 2,
        alreadyPresent: 0,
      })
      await wallet.run("CALL SCHEMA.credit_bet_v1('old', 'BET_PAID', 1)")
      expect(await importBets(admin, { schema }, [legacyBet, bet({ betId: 'new' })])).toEqual({
        imported: 1,
        alreadyPresent: 1,
      })
      expect((await wallet.store.load({ ...keysOf(placeBet(1)), betId: 'old' })).bet).toMatchObject({
        revision: 2,
        credits: { BET_PAID: { live: '6.000000000000000000' } },
      })
    })

    test('of bets: a second import replaces one that the library has not changed, and no other', async () => {
      const wallet = await open()
      const { schema } = wallet
      const dayBefore = ['same', 'paid', 'credited'].map(betId => bet({ betId }))
      await importBets(admin, { schema }, [...dayBefore, bet({ betId: 'gone', status: 'ROLLED_BACK' })])
      await wallet.run("CALL SCHEMA.credit_bet_v1('credited', 'VOIDED', 5)")
      expect(await wallet.store.commit(placeBet(1))).toMatchObject({ status: 'committed' })

      const changed = { playerId: 'bob', currency: 'JPY', stake: '31', credits: legacyBet.credits }
      const others = ['paid', 'credited', 'gone', 'b-1'].map(betId => bet({ betId, ...changed }))
      const now = [bet({ betId: 'same' }), ...others]
      expect(await importBets(admin, { schema }, now)).toEqual({ imported: 1, alreadyPresent: 4 })
      const rows = await wallet.rows(
        `SELECT CONCAT_WS(' ', bet_id, player_id, currency, 0 + stake, status, bet_paid_live IS NULL, revision) AS bet
          FROM SCHEMA.wallet_bets ORDER BY bet_id`,
      )
      expect(rows.map(([row]) => String(row).replace(/[.]0+ /, ' '))).toEqual([
        'b-1 alice EUR 30 PLACED 1 1',
        'credited alice EUR 30 PLACED 1 2',
        'gone alice EUR 30 ROLLED_BACK 1 1',
        'paid bob JPY 31 PLACED 0 1',
        'same alice EUR 30 PLACED 1 1',
      ])
    })

    test('of transactions: references are kept, numbers, texts and none', async () => {
      const wallet = await open()
      const { schema } = wallet
      const transactions = [
        transaction({ transactionId: 'x-1', walletTransactionId: '17' }),
        transaction({ transactionId: 'x-2', walletTransactionId: 'PAM-18' }),
        transaction({ transactionId: 'x-3', refusal: { errorCode: 'NO', description: 'é 🎲' }, delta: '0' }),
      ]
      expect(await importTransactions(admin, { schema }, transactions)).toEqual({
        imported: 3,
        alreadyPresent: 0,
      })
      expect(await importTransactions(admin, { schema }, transactions)).toEqual({
        imported: 0,
        alreadyPresent: 3,
      })
      const load = async (transactionId: string) =>
        (await wallet.store.load({ ...keysOf(placeBet(1)), transactionId })).transaction
      expect(await load('x-1')).toMatchObject({
        walletTransactionId: '17',
        transactionDate: '2026-11-21T10:00:00.000Z',
      })
      expect(await load('x-2')).toMatchObject({ walletTransactionId: 'PAM-18' })
      expect(await load('x-3')).toMatchObject({
        walletTransactionId: expect.stringMatching(/^\d+$/),
        refusal: { errorCode: 'NO', description: 'é 🎲' },
      })
    })

    test.each([
      ['a number', '17'],
      ['a text', 'PAM-17'],
    ])('a reference that belongs to another transaction is rejected by name: %s', async (_, reference) => {
      const { schema } = await open()
      const first = transaction({ transactionId: 'x-1', walletTransactionId: reference })
      const second = transaction({ transactionId: 'x-2', walletTransactionId: reference })
      await expect(importTransactions(admin, { schema }, [first, second])).rejects.toMatchObject({
        code: 'IMPORT_REJECTED',
        message: expect.stringContaining('transactions, x-2'),
      })
    })

    test.each([
      ['no stake', { stake: undefined as never }],
      ['a stake that is a bigint', { stake: 10n as never }],
      ['no credits', { credits: undefined as never }],
      ['a stake of 24 digits', { stake: '9'.repeat(24) }],
      ['a long id', { betId: 'x'.repeat(256) }],
      ['a negative stake', { stake: '-1' }],
      [
        'a live credit of a bet that is rolled back',
        { status: 'ROLLED_BACK' as const, credits: legacyBet.credits },
      ],
    ])('a bet that the tables cannot hold is rejected by name: %s', async (_, fields) => {
      const { schema } = await open()
      const wrong = bet({ betId: 'wrong', ...fields })
      // Whatever the mode of the session: the empty one fills in 0 and cuts numbers.
      const lax = mysql.createPool({ ...config, connectionLimit: 1 })
      await lax.query("SET SESSION sql_mode = ''")
      const imported = importBets(lax, { schema }, [bet({ betId: 'good' }), wrong]).finally(() => lax.end())
      await expect(imported).rejects.toMatchObject({
        code: 'IMPORT_REJECTED',
        message: expect.stringContaining(`bets, ${wrong.betId}`),
      })
    })
  })
})
