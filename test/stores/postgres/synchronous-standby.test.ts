/**
 * COMMIT waits for a synchronous standby, and the wait is cancelled: the commit is done on the primary only, and a
 * failover would lose it. It must not be answered as committed.
 */
import { EventEmitter } from 'node:events'
import {
  createPostgresStore,
  importBets,
  migratePostgres,
  type PostgresClient,
  type PostgresStoreOptions,
} from 'bet-wallet/postgres'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type Connections, connectionsFrom } from '../../../src/stores/postgres/client.js'
import {
  createDatabase,
  type Database,
  noServerOfOurOwn,
  type PostgresServer,
  startPostgres,
} from '../../postgres/server.js'
import { endOf, idle, longTimeouts, openWallet, placing, type Wallet, type WalletSetup } from './wallet.js'

const unknown = expect.objectContaining({ name: 'StoreError', code: 'COMMIT_UNKNOWN' })
const committed = expect.objectContaining({ status: 'committed' })
/** The settings of the sessions whose commits wait. */
const waiting = '-c synchronous_commit=on'

const hooks: [name: string, options: PostgresStoreOptions][] = [
  ['one statement', {}],
  ['BEGIN and COMMIT, with a hook', { async withinTransaction() {} }],
]

describe.skipIf(noServerOfOurOwn !== null)('with a synchronous standby that does not answer', () => {
  let server: PostgresServer
  let database: Database
  let admin: pg.Pool
  let url: string
  const opened: { close(): Promise<unknown> }[] = []

  beforeAll(async () => {
    // No such standby exists. Only sessions that ask for it wait.
    const settings = { synchronous_standby_names: 'absent', synchronous_commit: 'local' }
    server = await startPostgres({ settings })
    database = await createDatabase(server)
    admin = database.pool
    url = database.url
  })
  afterEach(async () => {
    for (const each of opened.splice(0).reverse()) await each.close()
  })
  afterAll(async () => {
    await database?.drop()
    await server?.stop()
  })

  async function wallet(setup: Partial<WalletSetup> = {}): Promise<Wallet> {
    const made = await openWallet({ admin, url, ...setup, pool: { options: waiting, ...setup.pool } })
    opened.push(made)
    return made
  }

  /** The process ids of the sessions whose COMMIT waits for the standby. */
  async function waitingFor(standby: { schema: string }, count = 1): Promise<number[]> {
    for (;;) {
      const { rows } = await admin.query(
        "SELECT pid FROM pg_stat_activity WHERE application_name = $1 AND wait_event = 'SyncRep'",
        [standby.schema],
      )
      if (rows.length >= count) return rows.map(({ pid }) => Number(pid))
    }
  }
  async function waitsInEmptyCommit({ schema }: { schema: string }): Promise<boolean> {
    const { rowCount } = await admin.query(
      `SELECT FROM pg_stat_activity
      WHERE application_name = $1 AND wait_event = 'SyncRep' AND query LIKE 'SELECT pg_logical_emit_message%'`,
      [schema],
    )
    return rowCount === 1
  }
  const cancel = (pid: number | undefined) => admin.query('SELECT pg_cancel_backend($1)', [pid])

  /** A single connection of pg under the schema's name. */
  async function connect({ schema }: Wallet): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: url, options: waiting, application_name: schema })
    client.on('error', () => {})
    await client.connect()
    opened.push({ close: () => client.end() })
    return client
  }

  describe.each(hooks)('%s', (_, options) => {
    it('pg_cancel_backend: the outcome is unknown, and the connection is closed', async () => {
      const made = await wallet({ options: { ...longTimeouts, ...options }, pool: { max: 1 } })
      const result = endOf(made.store.commit(placing()))
      const [pid] = await waitingFor(made)
      await cancel(pid)
      expect(await result).toEqual(unknown)
      // The primary has it, the standby has not.
      expect(await made.recorded()).toEqual(['placebet place-1 -30'])
      await idle(made.pool)
      expect(made.pool.totalCount).toBe(0)
    })

    it('pg_cancel_backend: the outcome is unknown for every request of the batch', async () => {
      const made = await wallet({ options: { ...longTimeouts, ...options } })
      const results = ['alice', 'bob', 'carol'].map((playerId, n) =>
        endOf(made.store.commit(placing({ playerId, n }))),
      )
      const [pid] = await waitingFor(made)
      await cancel(pid)
      expect(await Promise.all(results)).toEqual([unknown, unknown, unknown])
      expect(await made.recorded()).toHaveLength(3)
    })

    it('pg_terminate_backend: the outcome is unknown', async () => {
      const made = await wallet({ options: { ...longTimeouts, ...options } })
      const result = endOf(made.store.commit(placing()))
      const [pid] = await waitingFor(made)
      await admin.query('SELECT pg_terminate_backend($1)', [pid])
      expect(await result).toEqual(unknown)
      expect(await made.recorded()).toEqual(['placebet place-1 -30'])
    })

    it('on a connection that the pool had before the store was created', async () => {
      const { schema } = await wallet()
      const pool = new pg.Pool({ connectionString: url, options: waiting, application_name: schema, max: 1 })
      pool.on('error', () => {})
      opened.push({ close: () => pool.end() })
      await pool.query('SELECT 1')
      const store = createPostgresStore(pool, { schema, ...longTimeouts, ...options })
      await store.ready()
      const result = endOf(store.commit(placing()))
      const [pid] = await waitingFor({ schema })
      await cancel(pid)
      expect(await result).toEqual(unknown)
    })

    it('a wait of other code that was cancelled on the same connection does not matter', async () => {
      const made = await wallet({
        options: { ...longTimeouts, ...options, allowNotDurable: true },
        pool: { max: 1 },
      })
      const other = made.pool.query('CREATE TABLE other ()')
      const [pid] = await waitingFor(made)
      await cancel(pid)
      await other
      await admin.query('DROP TABLE other')
      const connection = await made.pool.connect()
      await connection.query('SET synchronous_commit = local')
      connection.release()
      expect(await made.store.commit(placing())).toEqual(committed)
      // It was the same connection.
      expect((await made.pool.query('SELECT pg_backend_pid() AS pid')).rows).toEqual([{ pid }])
    })
  })

  it('a single connection of pg: the outcome is unknown', async () => {
    const made = await wallet()
    const store = createPostgresStore(await connect(made), { schema: made.schema, ...longTimeouts })
    const result = endOf(store.commit(placing()))
    const [pid] = await waitingFor(made)
    await cancel(pid)
    expect(await result).toEqual(unknown)
  })

  it.each(hooks)('a wrapper with onNotice, %s: the outcome is unknown', async (_, options) => {
    const made = await wallet()
    const client = await connect(made)
    const wrapper: PostgresClient = {
      query: (text, values) => client.query(text, values),
      async transaction(work) {
        await client.query('BEGIN')
        const result = await work({ query: (text, values) => client.query(text, values) })
        await client.query('COMMIT')
        return result
      },
      onNotice: listener => client.on('notice', listener),
    }
    const store = createPostgresStore(wrapper, { schema: made.schema, ...longTimeouts, ...options })
    const result = endOf(store.commit(placing()))
    const [pid] = await waitingFor(made)
    await cancel(pid)
    expect(await result).toEqual(unknown)
  })

  const old = { betId: 'old-1', playerId: 'alice', currency: 'EUR', stake: '5', status: 'PLACED' } as const

  it.each<[string, (wallet: Wallet) => Promise<unknown>]>([
    [
      'importBets',
      ({ pool, schema }) => importBets(pool, { schema }, [{ ...old, credits: {}, revision: 1 }]),
    ],
    ['migratePostgres', ({ pool, schema }) => migratePostgres(pool, { schema: `${schema}_2` })],
  ])(
    '%s: after a wait that was cancelled, it waits for a commit that the standby confirms; cancelled too, it fails',
    async (_, run) => {
      const made = await wallet({ pool: { max: 1 } })
      let ended = false
      const end = endOf(run(made)).finally(() => {
        ended = true
      })
      const [first] = await waitingFor(made)
      await cancel(first)
      // On the same connection: the next statement waits as well.
      while (!(await waitsInEmptyCommit(made))) expect(ended).toBe(false)
      await cancel(first)
      expect(await end).toEqual(unknown)
    },
  )

  describe('a statement that only proves that a commit is durable', () => {
    async function proof(work: (pid: number | undefined) => Promise<unknown>): Promise<unknown> {
      const made = await wallet()
      const connections: Connections = connectionsFrom(made.pool, {
        timeoutMs: longTimeouts.timeoutMs,
        transactions: false,
        durable: true,
      })
      const text = "SELECT pg_logical_emit_message(true, 'bet-wallet', '')::text"
      const result = endOf(connections.statement(text, []))
      const [pid] = await waitingFor(made)
      await work(pid)
      return await result
    }

    it('pg_cancel_backend: it proves nothing', async () => {
      expect(await proof(cancel)).toMatchObject({ name: 'QueryFailed', sent: true, cause: unknown })
    })

    it('pg_terminate_backend: it proves nothing', async () => {
      const end = await proof(pid => admin.query('SELECT pg_terminate_backend($1)', [pid]))
      expect(end).toMatchObject({ name: 'QueryFailed', sent: true })
    })
  })

  const silence = "set_config('client_min_messages', 'error', true)"
  it.each<[string, PostgresStoreOptions, (wallet: Wallet) => Promise<unknown>]>([
    ...hooks.map(([name, options]): [string, PostgresStoreOptions, (wallet: Wallet) => Promise<unknown>] => [
      `other code has set on the connection: ${name}`,
      options,
      ({ pool }) => pool.query('SET client_min_messages = error'),
    ]),
    [
      'a trigger sets',
      {},
      ({ rows }) =>
        rows(`CREATE FUNCTION SCHEMA.silence() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN PERFORM ${silence}; RETURN NULL; END $$;
          CREATE TRIGGER silence AFTER INSERT ON SCHEMA.bets FOR EACH ROW EXECUTE FUNCTION SCHEMA.silence()`),
    ],
    [
      'a hook sets',
      { withinTransaction: async query => void (await query(`SELECT ${silence}`)) },
      async () => {},
    ],
  ])('client_min_messages hides no cancelled wait: %s', async (_, options, change) => {
    const made = await wallet({ options: { ...longTimeouts, ...options }, pool: { max: 1 } })
    await change(made)
    const result = endOf(made.store.commit(placing()))
    const [pid] = await waitingFor(made)
    await cancel(pid)
    expect(await result).toEqual(unknown)
  })

  it('client_min_messages that hides the warning: NOT_DURABLE at start, with the setting to change', async () => {
    const { schema } = await wallet()
    const pool = new pg.Pool({ connectionString: url, options: '-c client_min_messages=error', max: 1 })
    opened.push({ close: () => pool.end() })
    const error = await endOf(createPostgresStore(pool, { schema }).ready())
    expect(error).toMatchObject({ code: 'NOT_DURABLE' })
    expect((error as Error).message).toMatch(
      /client_min_messages is error: .* SET client_min_messages = warning/,
    )
  })
})

describe('the listeners', () => {
  it('are one per event and connection, however many stores use it, and however often', async () => {
    const pool = new FakePool()
    const stores = Array.from({ length: 20 }, () =>
      connectionsFrom(pool, { timeoutMs: 1_000, transactions: false, durable: true }),
    )
    for (let n = 0; n < 3; n += 1) for (const each of stores) await each.statement('SELECT 1', [])
    expect(pool.listenerCount('connect')).toBe(1)
    expect(pool.connection.listenerCount('notice')).toBe(1)
    expect(pool.connection.listenerCount('error')).toBe(1)
    const client = Object.assign(new EventEmitter(), { query: async () => ({ rows: [] }) })
    for (let n = 0; n < 20; n += 1)
      connectionsFrom(client, { timeoutMs: 1_000, transactions: false, durable: true })
    expect(client.listenerCount('notice')).toBe(1)
  })

  it.each([
    ['a cancelled wait', 'SyncRepWaitForLSN', 'COMMIT_UNKNOWN'],
    ['any other warning', 'exec_stmt_raise', undefined],
  ])('%s, in whatever language: %s', async (_, routine, code) => {
    const pool = new FakePool()
    pool.connection.query = async () => {
      pool.connection.emit('notice', { message: 'Grenze erreicht', routine })
      return { rows: [] }
    }
    const end = await endOf(
      connectionsFrom(pool, { timeoutMs: 1_000, transactions: false, durable: true }).statement(
        'SELECT 1',
        [],
      ),
    )
    expect((end as { cause?: { code?: string } }).cause?.code).toBe(code)
  })
})

/** A pool of one connection, without a server. */
class FakePool extends EventEmitter {
  readonly totalCount = 1
  readonly connection = Object.assign(new EventEmitter(), {
    query: async () => ({ rows: [] as unknown[] }),
    release() {},
  })
  async connect() {
    return this.connection
  }
  query = async () => ({ rows: [] as unknown[] })
}
