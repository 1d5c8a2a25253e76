/**
 * The operator's triggers, functions and hooks run in the store's sessions and may change their settings. No later statement
 * runs with what they have changed, and no answer does.
 */
// cspell:ignore жанна
import { handlePlaceBet, recordSettlement, type WalletOutcome } from 'bet-wallet'
import mysql, { type Pool } from 'mysql2/promise'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { placeBet, settlement } from '../../fixtures.js'
import { sharedMariadb } from '../../mariadb/fresh-database.js'
import { isMysql, noServer, startServer } from '../../mysql/engine.js'
import { keysOf, openWallet, placeBet as placing, type Wallet, type WalletSetup } from './wallet.js'

const reason = noServer === null ? '' : ` (skipped: ${noServer})`

const isolation = isMysql ? 'transaction_isolation' : 'tx_isolation'

const settings = [
  'NAMES latin1',
  'character_set_results = latin1',
  'character_set_client = latin1',
  'TIMESTAMP = 1000000000',
  "sql_mode = ''",
  "time_zone = '+05:00'",
  `SESSION ${isolation} = 'READ-UNCOMMITTED'`,
  'completion_type = 2',
  'sql_select_limit = 1',
]

/** What a statement began with, beside what the server says of itself. */
const seen = `CONCAT_WS(' ', @@character_set_client, @@character_set_results, @@sql_mode, @@time_zone, @@${isolation},
  @@completion_type, @@sql_select_limit, NOW() > '2020-01-01')`

describe.skipIf(noServer !== null)(`settings that the operator’s code changes${reason}`, () => {
  let admin: Pool
  let config: mysql.PoolOptions
  let wallet: Wallet
  beforeAll(async () => {
    config = { ...(await sharedMariadb()).config, connectionLimit: 1 }
    admin = mysql.createPool(config)
    await admin.query('SET GLOBAL log_bin_trust_function_creators = ON')
  })
  afterAll(() => admin.end())

  /** One connection for everything, so that each statement has the session of the one before. */
  async function open(ddl: readonly string[], options: WalletSetup['options'] = {}): Promise<void> {
    wallet = await openWallet({
      admin,
      config,
      ddl: [
        `CREATE TABLE SCHEMA.accounts (id varchar(64) PRIMARY KEY, currency varchar(8) NOT NULL, balance decimal(12,2) NOT NULL)
          ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci`,
        "INSERT INTO SCHEMA.accounts VALUES ('жанна', 'EUR', 100), ('bob', 'EUR', 100)",
        'CREATE TABLE SCHEMA.seen (settings varchar(1000)) ENGINE = InnoDB',
        ...ddl,
      ],
      options: {
        connectionsMax: 1,
        players: {
          ...{ table: 'SCHEMA.accounts', id: 'id', idCollation: 'utf8mb4_general_ci' },
          ...{ currency: 'currency', balance: 'balance' },
        },
        ...options,
      },
    })
    await wallet.store.ready()
    await wallet.run('DELETE FROM SCHEMA.seen')
  }

  const bet = (n: number) =>
    placeBet({
      ...{ playerId: 'жанна', transactionId: `place-${n}🎲`, betId: `bet-${n}🎲` },
      ...{ amount: '10', currency: 'EUR' },
    })
  const paid = (n: number) =>
    settlement({
      ...{ playerId: 'жанна', transactionId: `settle-${n}🎲`, betId: `bet-${n}🎲` },
      ...{ amount: '5', currency: 'EUR' },
    })

  const replayOf = (outcome: WalletOutcome) => ({
    ...{ ok: true, replayed: true, walletTransactionId: outcome.ok && outcome.walletTransactionId },
  })

  /** Each call and its retry, alone and together with another one. */
  async function expectRight(): Promise<void> {
    for (const n of [1, 2]) {
      const first = await handlePlaceBet(wallet.store, bet(n))
      expect(first).toMatchObject({ ok: true, replayed: false })
      expect(await handlePlaceBet(wallet.store, bet(n))).toMatchObject(replayOf(first))
      const credited = await recordSettlement(wallet.store, paid(n))
      expect(credited).toMatchObject({ ok: true, replayed: false })
      expect(await recordSettlement(wallet.store, paid(n))).toMatchObject(replayOf(credited))
    }
    for (const calls of [1, 2])
      expect(await Promise.all([3, 4].map(n => handlePlaceBet(wallet.store, bet(n))))).toMatchObject(
        [1, 2].map(() => ({ ok: true, replayed: calls === 2 })),
      )
    expect(await wallet.balanceOf('жанна')).toBe('70')
    for (const table of ['wallet_transactions', 'wallet_bets'])
      expect(
        await wallet.rows(
          `SELECT COUNT(*) FROM SCHEMA.${table} WHERE recorded_at NOT BETWEEN UTC_TIMESTAMP() - INTERVAL 10 MINUTE AND UTC_TIMESTAMP() + INTERVAL 10 MINUTE`,
        ),
      ).toEqual([[0]])
  }
  /** Every statement has begun with the same settings. */
  async function expectSame(timesMin: number): Promise<void> {
    const rows = await wallet.rows('SELECT settings, COUNT(*) FROM SCHEMA.seen GROUP BY settings')
    expect(rows).toHaveLength(1)
    expect(Number(rows[0]?.[1])).toBeGreaterThanOrEqual(timesMin)
  }

  describe.each(settings)('SET %s', setting => {
    afterEach(() => wallet.close())

    test.each(['accounts', 'wallet_transactions', 'wallet_bets'])('in a trigger of %s', async table => {
      await open([])
      const time = table === 'accounts' ? 'UPDATE' : 'INSERT'
      await wallet.run(`CREATE TRIGGER SCHEMA.changes AFTER ${time} ON SCHEMA.${table} FOR EACH ROW
        BEGIN INSERT INTO SCHEMA.seen VALUES (${seen}); SET ${setting}; END`)
      await expectRight()
      // A batch runs the trigger for each of its rows, and the second one has what the first has changed.
      await wallet.run('DELETE FROM SCHEMA.seen')
      for (const n of [5, 6, 7]) await handlePlaceBet(wallet.store, bet(n))
      await expectSame(3)
    })

    test('in a trigger that then fails', async () => {
      await open([])
      await wallet.run(`CREATE TRIGGER SCHEMA.changes AFTER UPDATE ON SCHEMA.accounts FOR EACH ROW
        IF NEW.id = 'bob' THEN
          SET ${setting};
          SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 1213, MESSAGE_TEXT = 'injected';
        ELSE
          INSERT INTO SCHEMA.seen VALUES (${seen});
        END IF`)
      const ends: unknown[] = []
      for (const n of [5, 6, 7]) {
        await handlePlaceBet(wallet.store, bet(n))
        ends.push((await wallet.store.commit(placing(n, 'bob', '1'))).status)
      }
      expect(ends).toEqual(['conflict', 'conflict', 'conflict'])
      await expectSame(3)
    })

    test('in a function of a view that loads read', async () => {
      await open(
        [
          `CREATE FUNCTION SCHEMA.touched(value varchar(8) CHARACTER SET utf8mb4) RETURNS varchar(8) CHARACTER SET utf8mb4
            MODIFIES SQL DATA
            BEGIN INSERT INTO SCHEMA.seen VALUES (${seen}); SET ${setting}; RETURN value; END`,
          'CREATE VIEW SCHEMA.players AS SELECT id, SCHEMA.touched(currency) AS currency, balance FROM SCHEMA.accounts',
        ],
        {
          players: {
            ...{ table: 'SCHEMA.players', id: 'id', idCollation: 'utf8mb4_general_ci' },
            ...{ currency: 'currency', balance: 'balance' },
          },
        },
      )
      await expectRight()
      await wallet.run('DELETE FROM SCHEMA.seen')
      for (let n = 0; n < 3; n += 1) {
        const [player] = (await wallet.store.load(keysOf(placing(1, 'жанна')))).accounts
        expect(player?.currency).toBe('EUR')
      }
      await expectSame(3)
    })

    test('in what withinTransaction calls', async () => {
      const hook = [`CALL SCHEMA.changes()`, `/* mine */ SET ${setting}`, `SET ${setting}`]
      await open(
        [
          `CREATE PROCEDURE SCHEMA.changes()
            BEGIN INSERT INTO SCHEMA.seen VALUES (${seen}); SET ${setting}; END`,
        ],
        {
          async withinTransaction(query) {
            for (const text of hook) await query(text.replaceAll('SCHEMA', wallet.schema))
          },
        },
      )
      await expectRight()
      await expectSame(5)
    })
  })

  test('without changes, the connection stays, also with a binary log', async () => {
    const server = await startServer({ settings: { log_bin: 'binary-log', sync_binlog: '1' } })
    const own = mysql.createPool(server.config)
    try {
      wallet = await openWallet({ admin: own, config: { ...server.config, connectionLimit: 1 } })
      await wallet.store.ready()
      const number = async () => (await wallet.pool.query('SELECT CONNECTION_ID() AS number'))[0]
      const before = await number()
      await wallet.store.commit(placing(1))
      await Promise.all([2, 3].map(n => wallet.store.commit(placing(n, 'bob'))))
      await wallet.store.load(keysOf(placing(1)))
      await wallet.store.loadConfirmed(keysOf(placing(1)))
      expect(await number()).toEqual(before)
      await wallet.close()
    } finally {
      await own.end()
      await server.stop()
    }
  })
})
