/**
 * What a hook does against its contract, on each engine: the call is answered with what is true, and the message
 * names what the hook did.
 */
import { handlePlaceBet } from 'bet-wallet'
import { createMysqlStore } from 'bet-wallet/mysql'
import { createPostgresStore } from 'bet-wallet/postgres'
import mysql from 'mysql2/promise'
import pg from 'pg'
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import type { WalletStore } from '../../src/store.js'
import type { StoreError } from '../../src/stores/database/errors.js'
import type { WithinTransaction } from '../../src/stores/database/within-transaction.js'
import { mysqlGrants } from '../../src/tools/command/mysql.js'
import { postgresGrants } from '../../src/tools/command/postgres.js'
import { placeBet as placement } from '../fixtures.js'
import { sharedMariadb } from '../mariadb/fresh-database.js'
import { isMysql, noServer, processList } from '../mysql/engine.js'
import { freshDatabase } from '../postgres/fresh-database.js'
import { until } from '../until.js'
import { openWallet as openMysqlWallet } from './mysql/wallet.js'
import { endOf, longTimeouts, openWallet, outOfTime } from './postgres/wallet.js'

/** A store with a hook. SCHEMA stands for its schema, which has a table `ledger`. */
interface Books {
  store: WalletStore & { ready(): Promise<void> }
  schema: string
  /** A statement of the host's own code, over another connection. */
  host(text: string, values?: unknown[]): Promise<unknown[][]>
  /** Runs statements in a session of their own, which stays open until the test has ended. */
  session(...statements: string[]): Promise<void>
  /** Whether a statement of this schema waits for a row now. */
  isWaiting(): Promise<boolean>
  /** The players' table. */
  players: string
  /** The same store for a new user who has the rights that `bet-wallet grants` prints. */
  asUser(): Promise<{ user: string; store: Books['store'] }>
}

/** @param hook gets the name of the ledger */
type Open = (hook: (ledger: string) => WithinTransaction, options?: object) => Promise<Books>

const ledger = 'reference varchar(64), player_id varchar(255), amount decimal(38,18)'

const onPostgres: Open = async (hook, options) => {
  const { pool: admin, url, drop } = await freshDatabase()
  onTestFinished(drop)
  let name = ''
  const settings = {
    ...longTimeouts,
    ...options,
    withinTransaction: ((query, pending) => hook(name)(query, pending)) satisfies WithinTransaction,
  }
  const wallet = await openWallet({
    admin,
    url,
    ddl: `CREATE TABLE SCHEMA.ledger (${ledger})`,
    options: settings,
  })
  onTestFinished(() => wallet.close())
  const { schema, store, rows } = wallet
  name = `${schema}.ledger`
  return {
    ...{ store, schema, host: rows, players: `${schema}.players` },
    async session(...statements) {
      const other = await wallet.otherSession()
      for (const statement of statements) await other.query(statement)
    },
    isWaiting: async () =>
      (
        await rows(
          `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%${schema}%'`,
        )
      ).length > 0,
    async asUser() {
      const role = `user_of_${schema}`
      await admin.query(`CREATE ROLE ${role} LOGIN PASSWORD 'secret'`)
      onTestFinished(async () => void (await admin.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`)))
      for (const statement of postgresGrants({ schema }, 'store', role)) await admin.query(statement)
      const location = new URL(url)
      Object.assign(location, { username: role, password: 'secret' })
      const pool = new pg.Pool({ connectionString: location.href })
      onTestFinished(() => pool.end())
      return { user: role, store: createPostgresStore(pool, { ...settings, schema }) }
    },
  }
}

const onMysql: Open = async (hook, options) => {
  const { config } = await sharedMariadb()
  const admin = mysql.createPool(config)
  onTestFinished(() => admin.end())
  let name = ''
  const settings = {
    ...longTimeouts,
    ...options,
    withinTransaction: ((query, pending) => hook(name)(query, pending)) satisfies WithinTransaction,
  }
  const wallet = await openMysqlWallet({
    ...{ admin, config, options: settings },
    ddl: [`CREATE TABLE SCHEMA.ledger (${ledger}) ENGINE = InnoDB`],
  })
  onTestFinished(() => wallet.close())
  const { schema, store, rows } = wallet
  name = `${schema}.ledger`
  await store.ready()
  return {
    ...{ store, schema, host: rows, players: `${schema}.wallet_players` },
    async session(...statements) {
      const other = await wallet.otherSession()
      for (const statement of statements) await other.query(statement)
    },
    // It runs, and cannot pass. InnoDB's list of lock waits is a cache that is not renewed while it is asked often.
    isWaiting: async () =>
      (await rows(`SELECT 1 FROM ${processList} WHERE INFO LIKE '%SCHEMA.ledger%' AND ID <> CONNECTION_ID()`))
        .length > 0,
    async asUser() {
      const user = schema.slice(-32)
      await admin.query(`CREATE USER ${user} IDENTIFIED BY 'secret'`)
      onTestFinished(async () => void (await admin.query(`DROP USER ${user}`)))
      for (const statement of mysqlGrants({ schema }, 'store', user)) await admin.query(statement)
      const pool = mysql.createPool({ ...config, user, password: 'secret' })
      onTestFinished(() => pool.end())
      return { user, store: createMysqlStore(pool, { ...settings, schema }) }
    },
  }
}

const engine = isMysql ? 'MySQL' : 'MariaDB'
const databases: { on: string; skipped: string | null; open: Open; parameter(n: number): string }[] = [
  { on: 'PostgreSQL', skipped: null, open: onPostgres, parameter: n => `$${n}` },
  {
    on: `${engine}${noServer === null ? '' : ` (skipped: ${noServer})`}`,
    ...{ skipped: noServer, open: onMysql, parameter: () => '?' },
  },
]

/** The messages of an error and its causes. */
function causesOf(error: unknown): StoreError[] {
  return error instanceof Error ? [error as StoreError, ...causesOf(error.cause)] : []
}

const page = 'bet-wallet/docs/postgres.md#your-own-rows-in-the-same-transaction'
const unavailable = { name: 'WalletError', code: 'UNAVAILABLE', retryable: true }
const accepted = { ok: true, replayed: false }

describe.each(databases)('a hook on $on', ({ skipped, open, parameter }) => {
  const warnings = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
  const ours = () => warnings.mock.calls.filter(([text]) => String(text).includes('withinTransaction'))
  afterEach(() => void warnings.mockClear())

  const place = (store: WalletStore, n = 1, playerId = 'alice') =>
    endOf(
      handlePlaceBet(store, placement({ transactionId: `t-${n}`, betId: `b-${n}`, amount: '10', playerId })),
    )
  const insert = (table: string) => `INSERT INTO ${table} VALUES (${[1, 2, 3].map(parameter).join(', ')})`
  /** What a host must do. */
  const right =
    (table: string): WithinTransaction =>
    async (query, pending) => {
      for (const { walletTransactionId, changes } of pending)
        await query(insert(table), [
          ...[walletTransactionId, changes.transaction.playerId, changes.transaction.delta],
        ])
    }

  const it = test.skipIf(skipped !== null)

  it('lacks a right: 503, no changes were made, and its statement is named without values', async () => {
    const { host, schema, asUser } = await open(table => async (query, pending) => {
      for (const { walletTransactionId } of pending)
        await query(`INSERT INTO  ${table}\n VALUES (${parameter(1)}, 'alice', 0)`, [walletTransactionId])
    })
    const { user, store } = await asUser()
    await store.ready()
    const fault = await place(store)
    expect(fault).toMatchObject(unavailable)
    const [, problem, cause] = causesOf(fault)
    expect(problem).toMatchObject({
      ...{ code: 'HOOK_FAILED', page },
      problem:
        `A statement of withinTransaction failed: INSERT INTO ${schema}.ledger VALUES (${parameter(1)}, …; ` +
        'no changes were made',
    })
    expect(cause?.message).toMatch(/denied/)
    await host(`GRANT INSERT ON SCHEMA.ledger TO ${user}`)
    expect(await place(store)).toMatchObject(accepted)
    expect(await host('SELECT player_id FROM SCHEMA.ledger')).toEqual([['alice']])
  })

  it.each([
    ['a statement after its own savepoint', ['SAVEPOINT own', 'SELECT * FROM nowhere.ledger']],
    ['the end of a savepoint that there is not', ['RELEASE SAVEPOINT nowhere']],
    ['a rollback to one that there is not', ['ROLLBACK TO SAVEPOINT nowhere']],
    ['a DO', ['DO nowhere.reward()']],
  ])(
    'is refused %s, which ends no database transaction: 503, no changes were made',
    async (_, statements) => {
      const { store } = await open(() => async query => {
        for (const statement of statements) await query(statement)
      })
      const fault = await place(store)
      expect(fault).toMatchObject(unavailable)
      expect(causesOf(fault)[1]?.problem).toMatch(
        /^A statement of withinTransaction failed: .*; no changes were made$/,
      )
    },
  )

  it('has a statement that fails for one request of a batch: 503, and the others are committed', async () => {
    const { store, host } = await open(table => async (query, pending) => {
      await right(table)(query, pending)
      if (pending.some(({ changes }) => changes.transaction.playerId === 'bob'))
        await query(`SELECT * FROM ${table}_of_bob`)
    })
    const outcomes = await Promise.all(['alice', 'bob', 'carol'].map((player, n) => place(store, n, player)))
    expect(outcomes).toMatchObject([accepted, unavailable, accepted])
    expect(await host('SELECT player_id FROM SCHEMA.ledger ORDER BY 1')).toEqual([['alice'], ['carol']])
  })

  it('throws: 503, and no changes were made', async () => {
    const { store, host } = await open(table => async (query, pending) => {
      await right(table)(query, pending)
      throw new Error('no odds')
    })
    const fault = await place(store)
    expect(fault).toMatchObject(unavailable)
    expect(causesOf(fault).map(each => each.problem ?? each.message)).toEqual([
      'The store is unavailable; no changes were made',
      ...Array(2).fill('withinTransaction threw; no changes were made'),
      'no odds',
    ])
    expect(await host('SELECT player_id FROM SCHEMA.ledger')).toEqual([])
  })

  it('commits by itself and then fails: what it has committed is found, and answered', async () => {
    for (const last of ['SELECT * FROM missing_table', null]) {
      const { store } = await open(() => async query => {
        await query('COMMIT')
        if (last !== null) await query(last)
        throw new Error('too late')
      })
      expect(await place(store)).toMatchObject({ ok: true, replayed: true })
    }
  })

  it('goes on after a failed statement, and throws: certain only where the server undoes all of it', async () => {
    const { store, host } = await open(table => async (query, pending) => {
      await query('SELECT * FROM missing_table').catch(() => {})
      // After a deadlock, MySQL would commit this at once.
      await right(table)(query, pending)
      throw new Error('too late')
    })
    const code = parameter(1) === '?' ? 'COMMIT_UNKNOWN' : 'UNAVAILABLE'
    expect(await place(store)).toMatchObject({ name: 'WalletError', code })
    expect(await host('SELECT player_id FROM SCHEMA.ledger')).toEqual([])
  })

  it('does not await its query: 503, no changes were made, and it is named', async () => {
    const { store, schema, host } = await open(table => async (query, pending) => {
      void right(table)(query, pending)
    })
    const fault = await place(store)
    expect(fault).toMatchObject(unavailable)
    expect(causesOf(fault)[1]).toMatchObject({
      ...{ code: 'HOOK_FAILED', page },
      problem: `withinTransaction did not await its query: ${insert(`${schema}.ledger`)}; no changes were made`,
    })
    expect(await host('SELECT player_id FROM SCHEMA.ledger')).toEqual([])
  })

  it('does not await a query that fails: the process goes on', async () => {
    const rejections: unknown[] = []
    const listener = (reason: unknown) => void rejections.push(reason)
    process.on('unhandledRejection', listener)
    onTestFinished(() => void process.off('unhandledRejection', listener))
    let fails = true
    const { store, host } = await open(table => async (query, pending) => {
      if (fails) void query(`INSERT INTO ${table}_of_nobody VALUES (1)`)
      else await right(table)(query, pending)
    })
    expect(await place(store)).toMatchObject(unavailable)
    fails = false
    expect(await place(store)).toMatchObject(accepted)
    expect(await host('SELECT player_id FROM SCHEMA.ledger')).toEqual([['alice']])
    expect(rejections).toEqual([])
  })

  it('waits over another connection for what the wallet holds: the message asks about it', async () => {
    const books = await open(table => async (_, pending) => {
      for (const { changes } of pending)
        await books.host(
          `INSERT INTO ${table} SELECT 'host', player_id, 0 FROM ${books.players}
            WHERE player_id = '${changes.transaction.playerId}' FOR UPDATE`,
        )
    })
    const fault = await outOfTime(() => place(books.store), books.isWaiting)
    expect(fault).toMatchObject(unavailable)
    expect(causesOf(fault)[1]).toMatchObject({
      ...{ code: 'HOOK_FAILED', page },
      problem:
        'withinTransaction had not returned in time; no changes were made. Does it write over another ' +
        'connection than query? That one waits for rows that the wallet has locked, and what it writes stays',
    })
    // The damage that the message is about.
    const written = () => books.host('SELECT reference FROM SCHEMA.ledger')
    await until(async () => (await written()).length > 0)
    expect(await books.host('SELECT 1 FROM SCHEMA.ledger')).toHaveLength(1)
  })

  it('has a statement that waits for a row: the message names it', async () => {
    const { store, schema, session, isWaiting } = await open(table => async query => {
      await query(`UPDATE ${table} SET amount = 1 WHERE player_id = ${parameter(1)}`, ['counterparty'])
    })
    await session(
      `INSERT INTO ${schema}.ledger VALUES ('x', 'counterparty', 0)`,
      ...['BEGIN', `SELECT * FROM ${schema}.ledger FOR UPDATE`],
    )
    const fault = await outOfTime(() => place(store), isWaiting)
    expect(fault).toMatchObject(unavailable)
    expect(causesOf(fault)[1]?.problem).toContain(
      'withinTransaction had not returned in time, and its statement had not ended: ' +
        `UPDATE ${schema}.ledger SET amount = …; no changes were made`,
    )
  })

  it('never queries: the store warns once', async () => {
    const { store } = await open(() => async () => {})
    for (let n = 1; n <= 4; n += 1) await place(store, n)
    // No money is moved.
    await place(store, 1)
    await handlePlaceBet(store, placement({ transactionId: 'free', betId: 'free', amount: '0' }))
    expect(ours()).toEqual([])
    for (let n = 5; n <= 10; n += 1) await place(store, n)
    expect(ours()).toEqual([
      [
        'withinTransaction has returned 5 times for requests that move money, and never called query. Rows that it ' +
          `writes over another connection stay when the wallet rolls back. See ${page}`,
        'BetWalletWarning',
      ],
    ])
  })

  it('queries for one of many requests: no warning', async () => {
    let calls = 0
    const { store } = await open(table => async (query, pending) => {
      calls += 1
      if (calls === 4) await right(table)(query, pending)
    })
    for (let n = 1; n <= 10; n += 1) expect(await place(store, n)).toMatchObject(accepted)
    expect(ours()).toEqual([])
  })

  it('queries for a request that moves no money only: no warning', async () => {
    const { store } = await open(table => async (query, pending) => {
      if (pending.every(({ changes }) => changes.account.delta === '0')) await right(table)(query, pending)
    })
    await handlePlaceBet(store, placement({ transactionId: 'free', betId: 'free', amount: '0' }))
    for (let n = 1; n <= 10; n += 1) expect(await place(store, n)).toMatchObject(accepted)
    expect(ours()).toEqual([])
  })
})
