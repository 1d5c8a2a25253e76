/** The example PAM on MariaDB: it passes the whole kit, its books add up after every case, and its rule holds. */
import { randomBytes } from 'node:crypto'
import { handlePlaceBet, handleRollbackBet, handleUnsettlement } from 'bet-wallet'
import { createMysqlStore, type MysqlStore, migrateMysql } from 'bet-wallet/mysql'
import { type StoreHarness, walletStoreCases } from 'bet-wallet/testing'
import mysql, { type Pool, type RowDataPacket } from 'mysql2/promise'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  block,
  createPam,
  deposit,
  openAccount,
  type PamSettlement,
  settle,
} from '../../examples/existing-pam-mysql/pam.js'
import { createPamWallet, options } from '../../examples/existing-pam-mysql/wallet.js'
import { sharedMariadb } from '../mariadb/fresh-database.js'
import { isMysql, noServer, processList, withoutOnMysql } from '../mysql/engine.js'
import { holdPlayer } from '../stores/mysql/hold-commit.js'
import { closedGate, type Gate, passGate } from './held-commit.js'

/** How the conflicts are counted. */
const counted = withoutOnMysql('MEMORY table in a trigger, with GTIDs')

const reason = noServer === null ? '' : ` (skipped: ${noServer})`

/** "50.25" in whole cents. */
const centsOf = (amount: string): bigint => {
  const [, sign = '', whole = '', fraction = ''] = /^(-?)(\d+)(?:\.(\d{1,2}))?0*$/.exec(amount) ?? []
  if (whole === '') throw new Error(`${amount} is not an amount of whole cents`)
  return BigInt(`${sign}${whole}${fraction.padEnd(2, '0')}`)
}

describe.skipIf(noServer !== null)(`the example PAM on MariaDB${reason}`, async () => {
  if (noServer !== null) return
  const { config } = await sharedMariadb()
  /** Of the PAM. Its schema has a fixed name: this is the only test file that uses it. */
  const pool = mysql.createPool({ ...config, connectionLimit: 10 })
  beforeAll(async () => {
    await createPam(pool)
    await migrateMysql(pool, options)
  })
  afterAll(async () => {
    await pool.query('DROP DATABASE pam')
    await pool.end()
  })

  /** Every balance is the sum of its ledger rows, and of the deltas of the wallet and the PAM's own bookings. */
  async function expectBalancedBooks(): Promise<void> {
    const [rows] = await pool.query(`
      SELECT CONCAT('balance of ', account_no) AS problem FROM pam.accounts account
      WHERE balance_cents <> (
        SELECT COALESCE(SUM(cents), 0) FROM pam.ledger entry WHERE entry.account_no = account.account_no
      )
      UNION ALL
      SELECT CONCAT('reference ', t.id) FROM pam.wallet_transactions t
      LEFT JOIN pam.ledger entry ON entry.reference = CAST(t.id AS char) COLLATE utf8mb4_general_ci AND entry.cents = t.delta * 100
      WHERE t.delta <> 0 AND entry.entry_id IS NULL`)
    expect(rows).toEqual([])
  }

  async function empty(): Promise<void> {
    // Not DELETE: an INSERT of an id that was deleted and not purged yet locks the gap beside it until its COMMIT.
    for (const table of ['accounts', 'ledger', 'settlements', 'wallet_bets', 'wallet_transactions'])
      await pool.query(`TRUNCATE pam.${table}`)
  }

  interface Opened {
    store: MysqlStore
    pools: Pool[]
    connections: Set<number>
    /** Holds the next commit once. */
    gate: Gate | null
  }

  /** A wallet process: a pool of its own. */
  function connect(opened: Omit<Opened, 'store'>): MysqlStore {
    const own = mysql.createPool({ ...config, connectionLimit: 8 })
    own.pool.on('connection', connection => opened.connections.add(connection.threadId))
    opened.pools.push(own)
    return createMysqlStore(own, {
      ...options,
      async withinTransaction(query, pending) {
        await options.withinTransaction?.(query, pending)
        await passGate(opened)
      },
    })
  }

  async function terminate({ connections }: Opened): Promise<void> {
    const live = async () => {
      const [rows] = await pool.query<RowDataPacket[]>(
        `SELECT ID AS id FROM ${processList} WHERE ID IN (?)`,
        [[0, ...connections]],
      )
      return rows.map(({ id }) => Number(id))
    }
    for (let ids = await live(); ids.length > 0; ids = await live())
      // It may have ended meanwhile.
      for (const id of ids) await pool.query(`KILL ${id}`).catch(() => {})
    connections.clear()
  }

  const harness: StoreHarness<Opened> = {
    limits: { digits: 18, scale: 2 },
    playerIds: 'plain',

    async open(players) {
      await empty()
      for (const { playerId, currency, balance } of players)
        await openAccount(pool, playerId, currency, centsOf(balance))
      const opened = { pools: [], connections: new Set<number>(), gate: null }
      return Object.assign(opened, { store: connect(opened) })
    },

    async close(opened) {
      await terminate(opened)
      await Promise.all(opened.pools.map(own => own.end().catch(() => {})))
      await expectBalancedBooks()
    },

    reopen: connect,

    async crash(opened) {
      await terminate(opened)
      return connect(opened)
    },

    depositExternally: (_, playerId, amount) => deposit(pool, playerId, centsOf(amount)),

    settleExternally: (_, { playerId, betId, type, amount }) =>
      settle(pool, {
        settlementId: randomBytes(8).toString('hex'),
        accountNo: playerId,
        betId,
        kind: type,
        cents: centsOf(amount),
      }),

    holdCommit(opened) {
      const { gate, held } = closedGate()
      opened.gate = gate
      return held
    },

    holdPlayer: (_, playerId) => holdPlayer(pool, 'pam.accounts WHERE account_no = ?', playerId),

    closePlayer: (_, playerId) => block(pool, playerId),

    async changeCurrency(_, playerId, currency) {
      await pool.query('UPDATE pam.accounts SET currency = ? WHERE account_no = ?', [currency, playerId])
    },

    refuseBets: (_, playerId) => block(pool, playerId),

    accountPerCurrency: null,

    // The rows of withinTransaction: not those of pam.ts.
    async ownRows(_, playerId) {
      const [[row]] = await pool.query<RowDataPacket[]>(
        `SELECT COUNT(*) AS count, CAST(COALESCE(SUM(cents), 0) / 100 AS char) AS sum FROM pam.ledger
          WHERE account_no = ? AND reason NOT IN ('deposit', 'withdrawal')
            AND reference NOT IN (SELECT settlement_id FROM pam.settlements)`,
        [playerId],
      )
      return { count: Number(row?.count), sum: String(row?.sum) }
    },

    // Nothing expires, and there is one server.
    advanceClock: null,
    stopReplication: null,
  }

  describe('the kit', () => {
    for (const { id, name, skip, run } of walletStoreCases(harness, { runs: 10 })) {
      // Skipped with its reason: only cases that need a clock, several accounts, a replica (test/stores/mysql/replica.test.ts has one), or
      // several partitions. Any other case must run.
      if (skip !== null && /advanceClock|stopReplication|accountPerCurrency|has no partitions/.test(skip))
        test.skip(`${id} ${name}: ${skip}`, run)
      else test(`${id} ${name}`, run)
    }
  })

  describe('given anna with 100 EUR', () => {
    const bet = (number: number) => ({
      transactionId: `t-${number}`,
      betId: `b-${number}`,
      playerId: 'anna',
      sessionId: 's-1',
      amount: 30,
      currency: 'EUR',
      odds: 1.85,
      betType: 'SINGLE',
      transactionDate: '2026-11-22T10:00:00Z',
    })
    const reversal = (number: number, transactionId: string) => ({
      transactionId,
      betId: `b-${number}`,
      playerId: 'anna',
      transactionDate: '2026-11-22T10:00:00Z',
    })
    const settlement: PamSettlement = {
      ...{ settlementId: 'st-1', accountNo: 'anna', betId: 'b-1' },
      ...{ kind: 'BET_PAID', cents: 55_50n },
    }

    async function withAnna(work: (store: MysqlStore) => Promise<void>): Promise<void> {
      await empty()
      await openAccount(pool, 'anna', 'EUR', 100_00n)
      const own = mysql.createPool({ ...config })
      try {
        await work(createPamWallet(own))
        await expectBalancedBooks()
      } finally {
        await own.end()
      }
    }

    test('when the PAM settles a bet, then an unsettlement debits exactly what was paid', () =>
      withAnna(async store => {
        expect(await handlePlaceBet(store, bet(1))).toMatchObject({ ok: true, balance: '70.00' })
        await settle(pool, settlement)
        await settle(pool, settlement) // once per settlementId
        const rolledBack = await handleRollbackBet(store, { ...reversal(1, 'r-1'), type: 'TECHNICAL_ERROR' })
        expect(rolledBack).toMatchObject({ ok: false, errorCode: 'INVALID_BET' })
        const unsettled = await handleUnsettlement(store, { ...reversal(1, 'u-1'), type: 'UNSCORED' })
        expect(unsettled).toMatchObject({ ok: true, balance: '70.00' })
      }))

    // As a server reports them: a deadlock, a lock wait, and a row that was changed since it was read.
    test.skipIf(isMysql).each([1213, 1205, 1020])(
      `when a settlement meets the conflict %i, then it is booked once${counted}`,
      errno =>
        withAnna(async store => {
          await handlePlaceBet(store, bet(1))
          // Not transactional: it counts attempts that are rolled back.
          await pool.query('CREATE TABLE pam.attempts (number integer) ENGINE = MEMORY')
          await pool.query('INSERT INTO pam.attempts VALUES (0)')
          await pool.query(`CREATE TRIGGER pam.conflict BEFORE INSERT ON pam.ledger FOR EACH ROW
          BEGIN
            UPDATE pam.attempts SET number = number + 1;
            IF (SELECT number FROM pam.attempts) < 3 THEN
              SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = ${errno};
            END IF;
          END`)
          try {
            await settle(pool, settlement)
            const [attempts] = await pool.query('SELECT number FROM pam.attempts')
            expect(attempts).toEqual([{ number: 3 }])
          } finally {
            await pool.query('DROP TRIGGER pam.conflict')
            await pool.query('DROP TABLE pam.attempts')
          }
          const [entries] = await pool.query("SELECT cents FROM pam.ledger WHERE reason = 'settlement'")
          expect(entries).toEqual([{ cents: 5550 }])
        }),
    )

    test('when the account is blocked, then a bet is refused, and its retry too, after it is open again', () =>
      withAnna(async store => {
        await block(pool, 'anna')
        const refused = { ok: false, errorCode: 'ACCOUNT_BLOCKED' }
        expect(await handlePlaceBet(store, bet(1))).toMatchObject(refused)
        expect(await handlePlaceBet(store, { ...bet(3), amount: 0 })).toMatchObject(refused)
        await pool.query(`UPDATE pam.accounts SET status = 'open'`)
        expect(await handlePlaceBet(store, bet(1))).toMatchObject({ ...refused, replayed: true })
        expect(await handlePlaceBet(store, bet(2))).toMatchObject({ ok: true, balance: '70.00' })
      }))

    test('when the id differs in case, then the player is unknown', () =>
      withAnna(async store => {
        const outcome = await handlePlaceBet(store, { ...bet(1), playerId: 'ANNA' })
        expect(outcome).toMatchObject({ ok: false, errorCode: 'INVALID_PLAYER' })
      }))
  })
})
