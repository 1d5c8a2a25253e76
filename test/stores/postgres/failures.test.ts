/**
 * Failures between this process and a real PostgreSQL: how requests are answered, and that the books balance.
 */
import pg from 'pg'
import { afterAll, describe, expect, it } from 'vitest'
import { handlePlaceBet, handleRollbackBet } from '../../../src/handlers.js'
import { createHttpHandler } from '../../../src/http/index.js'
import type { OutcomeEvent } from '../../../src/index.js'
import type { PlaceBetRequest } from '../../../src/requests.js'
import { classifyError } from '../../../src/stores/postgres/errors.js'
import { createPostgresStore } from '../../../src/stores/postgres/index.js'
import { faultOf, placeBet, rollbackBet } from '../../fixtures.js'
import { freshDatabase } from '../../postgres/fresh-database.js'
import { createDatabase, noServerOfOurOwn, startPostgres } from '../../postgres/server.js'
import { until } from '../../until.js'
import { openProxy, type TcpProxy } from './proxy.js'
import {
  databaseOfFile,
  endOf,
  expectBooksToBalance,
  idle,
  longTimeouts,
  outOfTime,
  placing,
  settling,
  type Wallet,
  type WalletSetup,
} from './wallet.js'

/** With a hook that needs the player, a placebet is loaded before it is committed. */
const loadFirst = { authorizeBet() {} }

const { admin, url, opened, open: wallet } = await databaseOfFile({ pool: { max: 20 } })

async function proxyTo(serverUrl: string): Promise<TcpProxy> {
  const proxy = await openProxy(serverUrl)
  opened.push(proxy)
  return proxy
}

const committed = (balance: string) => ({
  status: 'committed',
  balance,
  walletTransactionId: expect.stringMatching(/^[0-9]+$/),
})
/** Ends the statement of a connection, by 57014. */
const cancel = (pid: number) => admin.query('SELECT pg_cancel_backend($1)', [pid])
const unknown = expect.objectContaining({ name: 'StoreError', code: 'COMMIT_UNKNOWN' })
const keys = { operation: 'placebet', transactionId: 'place-1', playerId: 'alice', betId: 'bet-1' } as const

/** Collects the events of `onOutcome`. */
function listener() {
  const events: OutcomeEvent[] = []
  return { events, options: { onOutcome: (event: OutcomeEvent) => void events.push(event) } }
}

describe('40001, a serialization failure', () => {
  describe.each(['repeatable read', 'serializable'])('in %s', isolation => {
    const setup = {
      options: longTimeouts,
      pool: { options: `-c default_transaction_isolation=${isolation.replace(' ', '\\ ')}` },
    }

    /**
     * Another session changes the balance of alice while our commit has its snapshot, and waits for the table.
     */
    async function overtaken(work: (wallet: Wallet) => Promise<unknown>): Promise<[Wallet, unknown]> {
      const made = await wallet(setup)
      expect((await made.pool.query('SHOW transaction_isolation')).rows).toEqual([
        { transaction_isolation: isolation },
      ])
      const deposit = await made.otherSession()
      await deposit.query('BEGIN')
      // It does not block reads.
      await deposit.query(`LOCK TABLE ${made.schema}.players IN EXCLUSIVE MODE`)
      await deposit.query(`UPDATE ${made.schema}.players SET balance = balance + 1 WHERE player_id = 'alice'`)
      const result = work(made)
      await until(async () => (await made.waiting()).length === 1)
      await deposit.query('COMMIT')
      return [made, await result]
    }

    it('is a conflict, and nothing is written', async () => {
      const [made, result] = await overtaken(({ store }) => store.commit(placing()))
      expect(result).toMatchObject({ status: 'conflict' })
      expect(await made.recorded()).toEqual([])
      expect(await made.balanceOf('alice')).toBe('101')
    })

    it('is retried by the handler, and succeeds', async () => {
      const { events, options } = listener()
      const [made, outcome] = await overtaken(({ store }) =>
        handlePlaceBet(store, placeBet(), { ...options, ...loadFirst }),
      )
      expect(outcome).toMatchObject({ ok: true, replayed: false, balance: '71.00' })
      expect(events).toMatchObject([{ attempts: 2 }])
      expect(await made.recorded()).toEqual(['placebet place-1 -30'])
      expect(await made.balanceOf('alice')).toBe('71')
    })
  })
})

describe('40P01, a deadlock', () => {
  /** Our commit has locked alice and waits for another session, which waits for alice. Ours is the victim. */
  async function deadlocked(work: (wallet: Wallet) => Promise<unknown>): Promise<[Wallet, unknown]> {
    const made = await wallet({
      options: longTimeouts,
      // The session that detects the deadlock is the victim: the other one checks for it after an hour.
      pool: { options: '-c deadlock_timeout=1ms' },
    })
    const stop = await made.stopCommitsOf('alice')
    // Once: a retry that came before the other session wakes up would wait for it, and it for the retry.
    await admin.query(`CREATE SEQUENCE ${made.schema}.asked;
    CREATE FUNCTION ${made.schema}.ask() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF nextval('${made.schema}.asked') = 1 THEN
        PERFORM pg_advisory_xact_lock(hashtext('${made.schema}'), 8);
      END IF;
      RETURN NULL;
    END $$`)
    // Triggers fire in the order of their names.
    await admin.query(`CREATE TRIGGER stopped_then_ask AFTER INSERT ON ${made.schema}.transactions FOR EACH ROW
      EXECUTE FUNCTION ${made.schema}.ask()`)
    const other = await made.otherSession()
    await other.query("SET deadlock_timeout = '1h'")
    await other.query('BEGIN')
    await other.query('SELECT pg_advisory_xact_lock(hashtext($1), 8)', [made.schema])
    const result = work(made)
    await stop.reached()
    const otherPid = Number((await other.query('SELECT pg_backend_pid() AS pid')).rows[0].pid)
    const deposit = other.query(
      `UPDATE ${made.schema}.players SET balance = balance + 1 WHERE player_id = 'alice'`,
    )
    await until(async () => {
      const { rowCount } = await admin.query(
        "SELECT FROM pg_stat_activity WHERE pid = $1 AND wait_event_type = 'Lock'",
        [otherPid],
      )
      return rowCount === 1
    })
    await stop.release()
    await deposit
    await other.query('COMMIT')
    return [made, await result]
  }

  it('is a conflict, and nothing is written', async () => {
    const [made, result] = await deadlocked(({ store }) => store.commit(placing()))
    expect(result).toMatchObject({ status: 'conflict' })
    expect(await made.recorded()).toEqual([])
    expect(await made.balanceOf('alice')).toBe('101')
  })

  it('is retried by the handler, and succeeds', async () => {
    const { events, options } = listener()
    const [made, outcome] = await deadlocked(({ store }) =>
      handlePlaceBet(store, placeBet(), { ...options, ...loadFirst }),
    )
    expect(outcome).toMatchObject({ ok: true, replayed: false, balance: '71.00' })
    expect(events[0]?.attempts).toBe(2)
    expect(await made.recorded()).toEqual(['placebet place-1 -30'])
  })
})

describe('a transaction block that other code left open on a connection', () => {
  const blocks: [name: string, statements: string[], awaited: boolean][] = [
    ['BEGIN', ['BEGIN'], true],
    ['BEGIN, and a row', ['BEGIN', "INSERT INTO SCHEMA.players VALUES ('mallory', 'EUR', 1)"], true],
    ['25P02: BEGIN, and a statement that failed', ['BEGIN', 'SELECT 1/0'], true],
    ['an old snapshot', ['BEGIN ISOLATION LEVEL REPEATABLE READ', 'SELECT 1'], true],
    ['BEGIN without await', ['BEGIN'], false],
  ]

  async function leaveOpen(wallet: Wallet, statements: string[], awaited: boolean): Promise<void> {
    const connection = await wallet.pool.connect()
    for (const text of statements) {
      const done = endOf(connection.query(text.replaceAll('SCHEMA', wallet.schema)))
      if (awaited) await done
    }
    connection.release()
  }

  describe.each(blocks)('%s', (_, statements, awaited) => {
    it('is not used for a commit: an answered commit is durable, and the open block is rolled back', async () => {
      const made = await wallet({ pool: { max: 1 } })
      await leaveOpen(made, statements, awaited)
      const result = await endOf(made.store.commit(placing()))
      if (awaited) expect(result).toEqual(committed('70'))
      // Detected after the statement: it must not be answered as committed.
      else expect(result).toEqual(unknown)
      expect(await made.recorded()).toEqual(awaited ? ['placebet place-1 -30'] : [])
      expect(await made.rows("SELECT FROM SCHEMA.players WHERE player_id = 'mallory'")).toEqual([])
      expect(await endOf(made.store.commit(placing({ n: 2 })))).toEqual(committed(awaited ? '40' : '70'))
      await expectBooksToBalance(made)
      await idle(made.pool)
    })

    it('is not used for a load', async () => {
      const made = await wallet({ pool: { max: 1 } })
      await leaveOpen(made, statements, awaited)
      await made.rows("UPDATE SCHEMA.players SET balance = 7 WHERE player_id = 'alice'")
      const found = await made.store.load(keys)
      expect(found.accounts[0]).toEqual({ playerId: 'alice', currency: 'EUR', balance: '7' })
      await idle(made.pool)
    })
  })

  it('on every connection of the pool: they are closed, and new ones are used', async () => {
    const made = await wallet({ pool: { max: 4 } })
    const connections = await Promise.all(Array.from({ length: 4 }, () => made.pool.connect()))
    for (const connection of connections) await connection.query('BEGIN')
    for (const connection of connections) connection.release()
    expect(await handlePlaceBet(made.store, placeBet())).toMatchObject({ ok: true, balance: '70.00' })
    expect(await made.recorded()).toEqual(['placebet place-1 -30'])
  })
})

describe('57P01, a backend that is terminated during a commit', () => {
  async function terminate(pid: number): Promise<void> {
    await admin.query('SELECT pg_terminate_backend($1)', [pid])
  }

  it('the outcome is unknown for every request of the batch; nothing is recorded', async () => {
    const made = await wallet({ options: longTimeouts })
    const stop = await made.stopCommitsOf('alice')
    const results = Promise.all([
      endOf(made.store.commit(placing())),
      endOf(made.store.commit(placing({ playerId: 'bob', n: 2 }))),
    ])
    await terminate(await stop.reached())
    expect(await results).toEqual([unknown, unknown])
    expect(await made.recorded()).toEqual([])
    await expectBooksToBalance(made)
    await idle(made.pool)
  })

  it('the handler throws a fault that is not retryable, and the retry succeeds once', async () => {
    const made = await wallet({ options: longTimeouts })
    const stop = await made.stopCommitsOf('alice')
    const fault = faultOf(handlePlaceBet(made.store, placeBet()))
    await terminate(await stop.reached())
    expect(await fault).toMatchObject({ code: 'COMMIT_UNKNOWN', retryable: false })
    await stop.release()
    expect(await handlePlaceBet(made.store, placeBet())).toMatchObject({ ok: true, replayed: false })
    expect(await handlePlaceBet(made.store, placeBet())).toMatchObject({ ok: true, replayed: true })
    expect(await made.recorded()).toEqual(['placebet place-1 -30'])
    await expectBooksToBalance(made)
  })

  it('the rollback that the platform sends instead leaves a tombstone, and the late bet debits nothing', async () => {
    const made = await wallet({ options: longTimeouts })
    const stop = await made.stopCommitsOf('alice')
    const fault = faultOf(handlePlaceBet(made.store, placeBet()))
    await terminate(await stop.reached())
    await fault
    await stop.release()
    expect(await handleRollbackBet(made.store, rollbackBet())).toMatchObject({ ok: true, balance: '100.00' })
    expect(await handlePlaceBet(made.store, placeBet())).toMatchObject({
      ok: false,
      errorCode: 'INVALID_BET',
    })
    expect(await made.balanceOf('alice')).toBe('100')
  })
})

describe('a connection that is lost around the commit', () => {
  const hooks = {
    'one statement': { statement: '.commit_', options: {} },
    'BEGIN and COMMIT, with a hook': { statement: 'COMMIT', options: { async withinTransaction() {} } },
  }

  describe.each(Object.entries(hooks))('%s', (_, { statement, options }) => {
    it('the answer is lost: the handler finds the transaction recorded and answers success; one debit', async () => {
      const proxy = await proxyTo(url)
      const made = await wallet({ url: proxy.url, options })
      const { events, options: listening } = listener()
      const lost = proxy.loseAnswer(statement)
      const outcome = await handlePlaceBet(made.store, placeBet(), listening)
      await lost
      expect(outcome).toMatchObject({ ok: true, replayed: true, balance: '70.00' })
      expect(events).toMatchObject([{ commitError: { code: 'COMMIT_UNKNOWN' } }])
      expect(await made.recorded()).toEqual(['placebet place-1 -30'])
      expect(await made.balanceOf('alice')).toBe('70')
      await idle(made.pool)
    })

    it('the request is lost: nothing is recorded, the handler throws a fault, and the retry succeeds', async () => {
      const proxy = await proxyTo(url)
      const made = await wallet({ url: proxy.url, options })
      const lost = proxy.loseRequest(statement)
      const fault = await faultOf(handlePlaceBet(made.store, placeBet()))
      await lost
      expect(fault).toMatchObject({ code: 'COMMIT_UNKNOWN', retryable: false })
      expect(await made.recorded()).toEqual([])
      expect(await handlePlaceBet(made.store, placeBet())).toMatchObject({
        ok: true,
        replayed: false,
        balance: '70.00',
      })
      await idle(made.pool)
    })

    it('every request of a committed batch is answered with success; one debit each', async () => {
      const proxy = await proxyTo(url)
      const players = ['alice', 'bob', 'carol', 'dave']
      const made = await wallet({ url: proxy.url, options, players })
      const bets = players.map((playerId, i) =>
        placeBet({ playerId, transactionId: `place-${i}`, betId: `bet-${i}`, amount: '10' }),
      )
      const lost = proxy.loseAnswer(statement)
      const outcomes = await Promise.all(bets.map(each => handlePlaceBet(made.store, each)))
      await lost
      expect(outcomes).toMatchObject(bets.map(() => ({ ok: true, replayed: true })))
      expect(await made.recorded()).toHaveLength(4)
      await expectBooksToBalance(made)
    })
  })

  it.each(['loseRequest', 'loseAnswer'] as const)('around a load (%s): it is retried', async loss => {
    const proxy = await proxyTo(url)
    const made = await wallet({ url: proxy.url })
    const lost = proxy[loss]('load_v1_')
    expect(await made.store.load(keys)).toMatchObject({ accounts: [{ balance: '100' }] })
    await lost
    await idle(made.pool)
  })

  it('before COMMIT is sent: no changes were made, and the commit is retried', async () => {
    const proxy = await proxyTo(url)
    const made = await wallet({ url: proxy.url, options: { async withinTransaction() {} } })
    const lost = proxy.loseAnswer('.commit_')
    expect(await made.store.commit(placing())).toEqual(committed('70'))
    await lost
    expect(await made.recorded()).toEqual(['placebet place-1 -30'])
    await idle(made.pool)
  })
})

describe('connections that are lost while idle', () => {
  it('terminated: no request fails', async () => {
    const made = await wallet()
    const connections = await Promise.all(Array.from({ length: 4 }, () => made.pool.connect()))
    for (const connection of connections) connection.release()
    expect(made.pool.idleCount).toBe(4)
    await admin.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1', [
      made.schema,
    ])
    await until(() => made.pool.totalCount === 0)
    expect(await handlePlaceBet(made.store, placeBet())).toMatchObject({ ok: true, balance: '70.00' })
    await idle(made.pool)
  })

  it('silent: every call is answered in time, and the connection is not used again', async () => {
    const proxy = await proxyTo(url)
    const made = await wallet({ url: proxy.url, options: longTimeouts, pool: { max: 1 } })
    const borrowed = () => made.pool.totalCount === 1 && made.pool.idleCount === 0
    proxy.goDark()
    expect(await outOfTime(() => made.store.load(keys), borrowed)).toMatchObject({ code: 'UNAVAILABLE' })
    expect(made.pool.totalCount).toBe(0)
    expect(await made.store.load(keys)).toMatchObject({ accounts: [{ balance: '100' }] })
    expect(made.pool).toMatchObject({ totalCount: 1, idleCount: 1, waitingCount: 0 })

    proxy.goDark()
    expect(await outOfTime(() => made.store.commit(placing()), borrowed)).toEqual(unknown)
    expect(made.pool.totalCount).toBe(0)
    expect(await made.store.commit(placing())).toEqual(committed('70'))
    expect(await made.recorded()).toEqual(['placebet place-1 -30'])
    expect(made.pool).toMatchObject({ totalCount: 1, idleCount: 1, waitingCount: 0 })
  })

  it('silent at the load, through the handler: the fault is retryable', async () => {
    const proxy = await proxyTo(url)
    const made = await wallet({ url: proxy.url, options: longTimeouts, pool: { max: 1 } })
    proxy.goDark()
    const fault = await outOfTime(
      () => handlePlaceBet(made.store, placeBet(), loadFirst),
      () => made.pool.idleCount === 0,
    )
    expect(fault).toMatchObject({ name: 'WalletError', code: 'UNAVAILABLE', retryable: true })
    expect(await handlePlaceBet(made.store, placeBet())).toMatchObject({ ok: true, replayed: false })
    await idle(made.pool)
  })

  it('silent at the commit, through the handler: the fault is not retryable; nothing is recorded', async () => {
    const proxy = await proxyTo(url)
    const made = await wallet({ url: proxy.url, options: longTimeouts, pool: { max: 1 } })
    const authorizeBet = () => proxy.goDark()
    const fault = await outOfTime(
      () => handlePlaceBet(made.store, placeBet(), { authorizeBet }),
      () => made.store.stats.commits.inFlight === 1 && made.pool.idleCount === 0,
    )
    expect(fault).toMatchObject({ name: 'WalletError', code: 'COMMIT_UNKNOWN', retryable: false })
    expect(await made.recorded()).toEqual([])
    expect(await handlePlaceBet(made.store, placeBet())).toMatchObject({ ok: true, replayed: false })
    await idle(made.pool)
  })
})

describe.skipIf(noServerOfOurOwn !== null)('a server of the test', async () => {
  const server = noServerOfOurOwn === null ? await startPostgres() : null
  afterAll(() => server?.stop())

  async function walletThere(setup: Partial<WalletSetup>) {
    if (server === null) throw new Error('no server')
    const database = await createDatabase(server)
    database.pool.on('error', () => {})
    opened.push({ close: () => database.drop() })
    return { server, made: await wallet({ admin: database.pool, url: database.url, ...setup }) }
  }

  it('hangs: calls are answered in time; a commit that lands later is replayed by the retry, one debit', async () => {
    const { server, made } = await walletThere({ options: longTimeouts, pool: { max: 2 } })
    // Two connections, or one call would wait for a handshake and send nothing.
    const connections = await Promise.all([made.pool.connect(), made.pool.connect()])
    for (const connection of connections) connection.release()
    await server.pause()
    const calls = () => Promise.all([endOf(made.store.load(keys)), endOf(made.store.commit(placing()))])
    const ends = await outOfTime(calls, () => made.pool.idleCount === 0)
    server.resume()
    if (ends instanceof Error) throw ends
    const [looked, wrote] = ends
    expect(looked).toMatchObject({ code: 'UNAVAILABLE' })
    expect(wrote).toEqual(unknown)
    // The server received it before the pause, and it cannot be cancelled.
    await until(async () => (await made.recorded()).length > 0)
    expect(await handlePlaceBet(made.store, placeBet())).toMatchObject({
      ok: true,
      replayed: true,
      balance: '70.00',
    })
    expect(await made.recorded()).toEqual(['placebet place-1 -30'])
    await idle(made.pool)
  })

  it('shuts down and restarts: 503 meanwhile, and nothing is lost', async () => {
    const { server, made } = await walletThere({})
    const handler = createHttpHandler(made.store, { authenticate: () => true, onError: () => {} })
    const call = async (n: number) => {
      const body = JSON.stringify(placeBet({ transactionId: `place-${n}`, betId: `bet-${n}`, amount: '10' }))
      return handler({
        method: 'POST',
        path: '/placebet',
        headers: { 'content-type': 'application/json' },
        body,
      })
    }
    expect(await call(1)).toMatchObject({ status: 200 })
    await server.shutDown()
    await until(() => made.pool.totalCount === 0)
    const refused = await call(2)
    expect(refused.status).toBe(503)
    expect(JSON.parse(refused.body)).toMatchObject({ errorCode: 'UNAVAILABLE' })
    expect(await made.store.commit(placing({ n: 3 }))).toEqual({ status: 'unavailable' })
    await server.start()
    expect(await call(2)).toMatchObject({ status: 200 })
    expect(await made.recorded()).toEqual(['placebet place-1 -10', 'placebet place-2 -10'])
    await expectBooksToBalance(made)
    await idle(made.pool)
  })

  it('is killed under load and restarts: every success is recorded, and every retry is answered, one debit each', async () => {
    const { server, made } = await walletThere({ players: Array.from({ length: 20 }, (_, i) => `p${i}`) })
    const bets: PlaceBetRequest[] = []
    const calls: Promise<unknown>[] = []
    let answered = 0
    const call = () => {
      const n = bets.length
      const bet = placeBet({
        playerId: `p${n % 20}`,
        transactionId: `place-${n}`,
        betId: `bet-${n}`,
        amount: '0.01',
      })
      bets.push(bet)
      calls.push(
        endOf(handlePlaceBet(made.store, bet)).finally(() => {
          answered += 1
        }),
      )
    }
    // Thirty-two at a time, before the kill and during it, and one after it.
    let dead = false
    let dying: Promise<void> | null = null
    while (!dead) {
      while (calls.length - answered < 32) call()
      await new Promise(setImmediate)
      if (answered > 50 && dying === null) {
        dying = server.kill().then(() => {
          dead = true
        })
      }
    }
    await dying
    call()
    const outcomes = await Promise.all(calls)
    expect(outcomes.at(-1)).toMatchObject({ code: 'UNAVAILABLE', retryable: true })
    await server.start()
    const recorded = new Set((await made.recorded()).map(line => line.split(' ')[1]))
    bets.forEach(({ transactionId }, i) => {
      const outcome = outcomes[i]
      if (outcome instanceof Error) {
        expect(outcome).toMatchObject({ name: 'WalletError' })
        if ((outcome as { retryable?: boolean }).retryable) expect(recorded).not.toContain(transactionId)
      } else {
        expect(outcome).toMatchObject({ ok: true })
        expect(recorded).toContain(transactionId)
      }
    })
    const retries: unknown[] = []
    // A slow kill makes many: more than the store may queue.
    for (let n = 0; n < bets.length; n += 64)
      retries.push(
        ...(await Promise.all(bets.slice(n, n + 64).map(each => handlePlaceBet(made.store, each)))),
      )
    expect(retries).toMatchObject(
      bets.map(({ transactionId }) => ({ ok: true, replayed: recorded.has(transactionId) })),
    )
    expect(await made.recorded()).toHaveLength(bets.length)
    await expectBooksToBalance(made)
  })
})

describe('25006, a standby', () => {
  it('is unavailable; its connections are closed, so that the next connection may reach the primary', async () => {
    const { url, pool: admin, drop } = await freshDatabase()
    opened.push({ close: drop })
    const made = await wallet({ admin, url })
    const name = new URL(url).pathname.slice(1)
    await admin.query(`ALTER DATABASE ${name} SET default_transaction_read_only = on`)
    await admin.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1', [
      made.schema,
    ])
    await until(() => made.pool.totalCount === 0)
    expect(await faultOf(handlePlaceBet(made.store, placeBet()))).toMatchObject({
      code: 'UNAVAILABLE',
      retryable: true,
    })
    expect(
      await Promise.all([
        made.store.commit(placing()),
        made.store.commit(placing({ playerId: 'bob', n: 2 })),
      ]),
    ).toEqual([{ status: 'unavailable' }, { status: 'unavailable' }])

    const primary = await made.otherSession()
    await primary.query('SET default_transaction_read_only = off')
    await primary.query(`ALTER DATABASE ${name} SET default_transaction_read_only = off`)
    expect(await made.store.commit(placing())).toEqual(committed('70'))
    expect(await made.recorded()).toEqual(['placebet place-1 -30'])
    await idle(made.pool)
  })

  it('at start, on a primary: the setting does not pass, so it is not UNAVAILABLE', async () => {
    const made = await wallet()
    const pool = new pg.Pool({ connectionString: url, options: '-c default_transaction_read_only=on' })
    opened.push({ close: () => pool.end() })
    const store = createPostgresStore(pool, { schema: made.schema })
    const rejected = {
      code: 'DATABASE_REJECTED',
      message: expect.stringContaining('default_transaction_read_only'),
    }
    await expect(store.ready()).rejects.toMatchObject(rejected)
    await expect(store.load(keys)).rejects.toMatchObject(rejected)
    // Nothing was done. The core loads after a conflict, and the load reports the problem.
    expect(await store.commit(placing())).toMatchObject({ status: 'conflict' })
    expect(await made.recorded()).toEqual([])
  })
})

describe('57014, a statement that is cancelled', () => {
  it("by the pool's own statement_timeout: unavailable, and nothing is recorded", async () => {
    const made = await wallet({ options: longTimeouts, pool: { statement_timeout: 5_000 } })
    await made.stopCommitsOf('alice')
    expect(await made.store.commit(placing())).toEqual({ status: 'unavailable' })
    expect(await made.recorded()).toEqual([])
    await idle(made.pool)
  })

  it('of a procedure that commits by itself: unknown, since it may come after its COMMIT', async () => {
    const made = await wallet({ options: longTimeouts, pool: { statement_timeout: 5_000 } })
    // A driver that does not say whether a transaction block is open.
    const client = { query: (text: string, values?: unknown[]) => made.pool.query(text, values) }
    const store = createPostgresStore(client, { ...longTimeouts, schema: made.schema })
    await store.ready()
    await made.stopCommitsOf('alice')
    await expect(store.commit(placing())).rejects.toMatchObject({ code: 'COMMIT_UNKNOWN' })
    expect(await made.recorded()).toEqual([])
    await idle(made.pool)
  })

  it('fails the request that hangs, and not the rest of its batch', async () => {
    const made = await wallet({ options: longTimeouts })
    const stop = await made.stopCommitsOf('alice')
    const results = Promise.all([
      made.store.commit(placing({ playerId: 'bob', n: 2 })),
      made.store.commit(placing()),
      made.store.commit(placing({ playerId: 'carol', n: 3 })),
    ])
    // The whole batch, then alice alone. Cancelled by an administrator: the same code as a timeout.
    await cancel(await stop.reached())
    await until(() => made.store.stats.lockWaits.inFlight > 0)
    await until(async () => (await made.recorded()).length === 2)
    await cancel(await stop.reached())
    expect(await results).toEqual([committed('70'), { status: 'unavailable' }, committed('70')])
    expect(await made.recorded()).toEqual(['placebet place-2 -30', 'placebet place-3 -30'])
    await expectBooksToBalance(made)
    await idle(made.pool)
  })
})

describe('a player whose row another writer has locked', () => {
  async function locked(lockTimeoutMs: number) {
    const made = await wallet({ options: { ...longTimeouts, lockTimeoutMs } })
    const other = await made.otherSession()
    await other.query('BEGIN')
    await other.query(`SELECT FROM ${made.schema}.players WHERE player_id = 'alice' FOR UPDATE`)
    const [bob, alice, carol] = [
      made.store.commit(placing({ playerId: 'bob', n: 2 })),
      made.store.commit(placing()),
      made.store.commit(placing({ playerId: 'carol', n: 3 })),
    ]
    return { made, other, alice, neighbours: Promise.all([bob, carol]) }
  }

  it('does not delay the rest of the batch, and is committed after the other writer', async () => {
    const { made, other, alice, neighbours } = await locked(120_000)
    expect(await neighbours).toEqual([committed('70'), committed('70')])
    expect(await made.recorded()).toEqual(['placebet place-2 -30', 'placebet place-3 -30'])
    // One database transaction for both.
    expect(await made.rows('SELECT DISTINCT xmin::text FROM SCHEMA.transactions')).toHaveLength(1)
    const { lockWaits } = made.store.stats
    expect(lockWaits.queued + lockWaits.inFlight).toBe(1)
    await other.query(`UPDATE ${made.schema}.players SET balance = balance + 5 WHERE player_id = 'alice'`)
    await other.query('COMMIT')
    expect(await alice).toEqual(committed('75'))
    expect(await made.balanceOf('alice')).toBe('75')
  })

  it('is checked against the balance that the other writer left: a stake above it is a conflict', async () => {
    const { made, other, alice, neighbours } = await locked(120_000)
    await neighbours
    await other.query(`UPDATE ${made.schema}.players SET balance = 29.99 WHERE player_id = 'alice'`)
    await other.query('COMMIT')
    expect(await alice).toMatchObject({ status: 'conflict' })
    expect(await made.balanceOf('alice')).toBe('29.99')
  })

  it('is unavailable after lockTimeoutMs, and is not committed later', async () => {
    const { made, other, alice, neighbours } = await locked(100)
    expect(await neighbours).toEqual([committed('70'), committed('70')])
    expect(await alice).toEqual({ status: 'unavailable' })
    await other.query('COMMIT')
    await idle(made.pool)
    expect(await made.recorded()).toEqual(['placebet place-2 -30', 'placebet place-3 -30'])
    expect(await made.store.commit(placing())).toEqual(committed('70'))
  })
})

const rejectedBy = (rule: RegExp) =>
  expect.objectContaining({ code: 'DATABASE_REJECTED', message: expect.stringMatching(rule) })

describe('one failing commit in a batch', () => {
  const accounts = `CREATE TABLE SCHEMA.accounts (
      id text PRIMARY KEY, currency text NOT NULL, available numeric(6,2) NOT NULL CHECK (available >= -100),
      CHECK (id <> 'checked' OR available >= 50));
    INSERT INTO SCHEMA.accounts SELECT unnest('{checked,raising,coded,brimming,good-1,good-2,good-3,good-4}'::text[]), 'EUR', 100;
    CREATE FUNCTION SCHEMA.rule() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF NEW.id = 'raising' THEN RAISE EXCEPTION 'a rule of the PAM'; END IF;
      IF NEW.id = 'coded' THEN RAISE EXCEPTION 'another rule' USING ERRCODE = 'ERULE'; END IF;
      RETURN NEW;
    END $$;
    CREATE TRIGGER rule BEFORE UPDATE ON SCHEMA.accounts FOR EACH ROW EXECUTE FUNCTION SCHEMA.rule()`
  const players = { table: 'SCHEMA.accounts', id: 'id', currency: 'currency', balance: 'available' }

  const expectations: [name: string, amounts: { place?: string; settle?: string }, result: unknown][] = [
    ['checked', { place: '60' }, rejectedBy(/"accounts_check" .* players\.reserved/)],
    ['raising', { place: '30' }, rejectedBy(/a rule of the PAM .* players\.reserved/)],
    ['coded', { place: '30' }, expect.objectContaining({ code: 'ERULE' })],
    ['brimming', { settle: '9900' }, expect.objectContaining({ code: 'AMOUNT_NOT_REPRESENTABLE' })],
  ]

  describe.each(expectations)('%s', (bad, amounts, expected) => {
    it.each([0, 2, 4])('fails alone, at position %i; the others are committed once', async place => {
      const made = await wallet({ ddl: accounts, options: { players } })
      const change =
        amounts.place === undefined
          ? { ...settling({ playerId: bad, n: 9, amount: amounts.settle ?? '' }), bet: null }
          : placing({ playerId: bad, n: 9, amount: amounts.place })
      const batch = [1, 2, 3, 4].map(n => placing({ playerId: `good-${n}`, n }))
      batch.splice(place, 0, change)
      const results = await Promise.all(batch.map(each => endOf(made.store.commit(each))))
      expect(results).toEqual(batch.map(each => (each === change ? expected : committed('70.00'))))
      expect(await made.recorded()).toEqual([1, 2, 3, 4].map(n => `placebet place-${n} -30`))
      expect(await made.rows('SELECT id, available::text FROM SCHEMA.accounts ORDER BY id')).toEqual(
        ['brimming', 'checked', 'coded', 'good-1', 'good-2', 'good-3', 'good-4', 'raising'].map(id => [
          id,
          id.startsWith('good') ? '70.00' : '100.00',
        ]),
      )
      await idle(made.pool)
    })
  })

  it('several of them in one large batch', async () => {
    const made = await wallet({ ddl: accounts, options: { players } })
    const bad = expectations.map(([playerId, amounts], i) =>
      amounts.place === undefined
        ? { ...settling({ playerId, n: 100 + i, amount: amounts.settle ?? '' }), bet: null }
        : placing({ playerId, n: 100 + i, amount: amounts.place }),
    )
    const good = Array.from({ length: 60 }, (_, i) =>
      placing({ playerId: `good-${(i % 4) + 1}`, n: i, amount: '1' }),
    )
    const batch = good.flatMap((each, i) => [each, ...(i % 15 === 7 ? [bad[(i - 7) / 15] ?? each] : [])])
    const results = await Promise.all(batch.map(each => endOf(made.store.commit(each))))
    batch.forEach((each, i) => {
      const index = bad.indexOf(each)
      expect(results[i]).toEqual(
        index < 0 ? expect.objectContaining({ status: 'committed' }) : expectations[index]?.[2],
      )
    })
    expect(await made.recorded()).toHaveLength(60)
    expect(
      await made.rows("SELECT DISTINCT available::text FROM SCHEMA.accounts WHERE id LIKE 'good%'"),
    ).toEqual([['85.00']])
  })

  it('a credit that is not representable does not cover a debit of the same player', async () => {
    const made = await wallet({ ddl: accounts, options: { players } })
    // 9,950 exceed the column on top of 100. Then 150 are not covered, and 10 are.
    const results = await Promise.all([
      endOf(made.store.commit({ ...settling({ playerId: 'good-1', n: 1, amount: '9950' }), bet: null })),
      endOf(made.store.commit(placing({ playerId: 'good-1', n: 2, amount: '150' }))),
      endOf(made.store.commit(placing({ playerId: 'good-1', n: 3, amount: '10' }))),
    ])
    expect(results).toEqual([
      expect.objectContaining({ code: 'AMOUNT_NOT_REPRESENTABLE' }),
      expect.objectContaining({ status: 'conflict' }),
      committed('90.00'),
    ])
    expect(await made.recorded()).toEqual(['placebet place-3 -10'])
    expect(await made.balanceOf('good-1')).toBe('90.00')
  })

  it('one transactionId for two players: one is committed, the other conflicts, the rest is committed', async () => {
    const made = await wallet()
    const same = { fields: { transactionId: 'place-same' } }
    const results = await Promise.all([
      made.store.commit(placing({ n: 1, ...same })),
      made.store.commit(placing({ playerId: 'bob', n: 2, ...same })),
      made.store.commit(placing({ playerId: 'carol', n: 3 })),
    ])
    expect(results).toEqual([
      committed('70'),
      expect.objectContaining({ status: 'conflict' }),
      committed('70'),
    ])
    await expectBooksToBalance(made)
  })
})

describe('a client that wraps errors, as Drizzle does', () => {
  it('one request of a batch fails, and is answered as without the wrapper', async () => {
    const ddl = `CREATE TABLE SCHEMA.accounts (
        id text PRIMARY KEY, currency text NOT NULL, available numeric(6,2) NOT NULL CHECK (available >= 50));
      INSERT INTO SCHEMA.accounts SELECT unnest('{alice,bob,carol}'::text[]), 'EUR', 100`
    const players = { table: 'SCHEMA.accounts', id: 'id', currency: 'currency', balance: 'available' }
    const made = await wallet({ ddl, options: { players } })
    const wrapped = (text: string, values?: unknown[]) =>
      made.pool.query(text, values).catch((cause: unknown) => {
        throw new Error(`Failed query: ${text}`, { cause })
      })
    const store = createPostgresStore(
      { query: wrapped },
      { schema: made.schema, players: { ...players, table: `${made.schema}.accounts` } },
    )
    await store.ready()
    const results = await Promise.all(
      [
        placing({ playerId: 'alice', n: 1 }),
        placing({ playerId: 'bob', n: 2, amount: '60' }),
        placing({ playerId: 'carol', n: 3 }),
      ].map(each => endOf(store.commit(each))),
    )
    expect(results).toEqual([
      committed('70.00'),
      rejectedBy(/"accounts_available_check"/),
      committed('70.00'),
    ])
  })
})

describe('a client that is not a pool', () => {
  it.each(['{ query }', 'a single connection'])('%s: the same handlers, the same answers', async kind => {
    const made = await wallet()
    const connection = new pg.Client({ connectionString: url })
    await connection.connect()
    opened.push({ close: () => connection.end() })
    const client =
      kind === '{ query }'
        ? { query: (text: string, values?: unknown[]) => made.pool.query(text, values) }
        : connection
    const store = createPostgresStore(client, { schema: made.schema })
    const outcomes = await Promise.all([
      handlePlaceBet(store, placeBet()),
      handlePlaceBet(store, placeBet()),
      handlePlaceBet(store, placeBet({ transactionId: 'place-2', betId: 'bet-2', amount: '70.01' })),
      handlePlaceBet(store, placeBet({ transactionId: 'place-3', betId: 'bet-3', playerId: 'bob' })),
    ])
    expect(outcomes.map(({ ok }) => ok)).toEqual([true, true, false, true])
    expect(await made.recorded()).toEqual([
      'placebet place-1 -30',
      'placebet place-2 0',
      'placebet place-3 -30',
    ])
    await expectBooksToBalance(made)
  })

  it('a single connection that is lost: unknown, then unavailable', async () => {
    const proxy = await proxyTo(url)
    const made = await wallet()
    const connection = new pg.Client({ connectionString: proxy.url })
    connection.on('error', () => {})
    await connection.connect()
    opened.push({ close: () => connection.end() })
    const store = createPostgresStore(connection, { schema: made.schema })
    await store.ready()
    const lost = proxy.loseAnswer('.commit_')
    expect(await endOf(store.commit(placing()))).toEqual(unknown)
    await lost
    expect(await made.recorded()).toEqual(['placebet place-1 -30'])
    expect(await faultOf(handlePlaceBet(store, placeBet(), loadFirst))).toMatchObject({
      code: 'UNAVAILABLE',
      retryable: true,
    })
  })

  it('a single connection that is silent: calls are answered in time', async () => {
    const proxy = await proxyTo(url)
    const made = await wallet()
    const connection = new pg.Client({ connectionString: proxy.url })
    connection.on('error', () => {})
    await connection.connect()
    opened.push({ close: () => connection.end() })
    const store = createPostgresStore(connection, { ...longTimeouts, schema: made.schema })
    await store.ready()
    proxy.goDark()
    const { loads, commits } = { loads: () => store.stats.loads, commits: () => store.stats.commits }
    expect(
      await outOfTime(
        () => store.load(keys),
        () => loads().inFlight === 1,
      ),
    ).toMatchObject({
      code: 'UNAVAILABLE',
    })
    expect(
      await outOfTime(
        () => store.commit(placing()),
        () => commits().inFlight === 1,
      ),
    ).toEqual(unknown)
  })

  it('a single connection in a transaction block of other code: nothing is answered as committed', async () => {
    const made = await wallet()
    const connection = new pg.Client({ connectionString: url })
    await connection.connect()
    opened.push({ close: () => connection.end() })
    const store = createPostgresStore(connection, { schema: made.schema })
    await store.ready()
    await connection.query('BEGIN')
    expect(await store.commit(placing())).toEqual({ status: 'unavailable' })
    await connection.query('ROLLBACK')
    expect(await made.recorded()).toEqual([])
    expect(await store.commit(placing())).toEqual(committed('70'))
    expect(await made.recorded()).toEqual(['placebet place-1 -30'])
  })
})

describe('a pool that other code has exhausted', () => {
  it('is unavailable in time, and nothing is committed later', async () => {
    const made = await wallet({ options: longTimeouts, pool: { max: 2 } })
    const borrowed = await Promise.all([made.pool.connect(), made.pool.connect()])
    for (let n = 1; n <= 3; n += 1) {
      const waiting = made.pool.waitingCount
      const isStuck = () => made.pool.waitingCount > waiting
      expect(await outOfTime(() => made.store.commit(placing({ n })), isStuck)).toEqual({
        status: 'unavailable',
      })
    }
    const waiting = made.pool.waitingCount
    const looked = await outOfTime(
      () => made.store.load(keys),
      () => made.pool.waitingCount > waiting,
    )
    expect(looked).toMatchObject({ code: 'UNAVAILABLE' })
    for (const connection of borrowed) connection.release()
    await idle(made.pool)
    expect(await made.recorded()).toEqual([])
    expect(await made.store.commit(placing())).toEqual(committed('70'))
    expect(made.pool.totalCount).toBeLessThanOrEqual(2)
  })
})

describe('the class of an error', () => {
  it.each(['EPIPE', 'ECONNRESET', 'ECONNREFUSED', 'ETIMEDOUT'])(
    '%s is an error of the socket, not an SQLSTATE',
    code => {
      const error = Object.assign(new Error(code), { code })
      expect([classifyError(error, true), classifyError(error, false)]).toEqual(['unknown', 'unavailable'])
    },
  )

  it('an SQLSTATE of an operator may look like an error of the socket', () => {
    expect(classifyError(Object.assign(new Error(), { code: 'ERULE', severity: 'ERROR' }), true)).toBe(
      'rejected',
    )
  })

  it('40003: the outcome is unknown', () => {
    expect(classifyError(Object.assign(new Error(), { code: '40003', severity: 'ERROR' }), true)).toBe(
      'unknown',
    )
  })
})
