/** Statements whose client has gone: their sessions end within the limits of the library, or stay few. */
import {
  createPostgresLookups,
  createPostgresRelay,
  createPostgresStore,
  importBets,
  migratePostgres,
  type PostgresClient,
  type PostgresStore,
  type PostgresStoreOptions,
} from 'bet-wallet/postgres'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { handlePlaceBet } from '../../../src/handlers.js'
import { placeBet } from '../../fixtures.js'
import { type Cluster, startCluster } from '../../postgres/cluster.js'
import { noServerOfOurOwn, withClient } from '../../postgres/server.js'
import { until, untilReady } from '../../until.js'
import { databaseOfFile, endOf, longTimeouts, placing } from './wallet.js'

const hooks: [name: string, options: PostgresStoreOptions][] = [
  ['one statement', {}],
  ['withinTransaction', { async withinTransaction() {} }],
]

describe.skipIf(noServerOfOurOwn !== null)('given a synchronous standby that is gone', () => {
  const connectionsMax = 20
  let cluster: Cluster
  const pools: pg.Pool[] = []
  beforeAll(async () => {
    cluster = await startCluster({
      synchronous: true,
      settings: { max_connections: String(connectionsMax), superuser_reserved_connections: '3' },
    })
    await onPrimary("CREATE ROLE wallet LOGIN PASSWORD 'secret'")
  })
  beforeEach(async () => {
    await withClient(cluster.primary.url, client => migratePostgres(client))
    await onPrimary(
      `INSERT INTO bet_wallet.players SELECT 'p' || n, 'EUR', 1000 FROM generate_series(1, 100) n;
        GRANT ALL ON SCHEMA bet_wallet TO wallet; GRANT ALL ON ALL TABLES IN SCHEMA bet_wallet TO wallet;
        GRANT ALL ON ALL SEQUENCES IN SCHEMA bet_wallet TO wallet`,
    )
  })
  afterEach(async () => {
    cluster.link.release()
    await Promise.all(pools.splice(0).map(pool => pool.end()))
    await onPrimary('DROP SCHEMA bet_wallet CASCADE')
  })
  afterAll(() => cluster?.stop())

  const onPrimary = (text: string) =>
    withClient(cluster.primary.url, async client => (await client.query(text)).rows)
  const waiting = async () =>
    (await onPrimary("SELECT FROM pg_stat_activity WHERE usename = 'wallet' AND wait_event = 'SyncRep'"))
      .length

  /** As of one process. */
  function storeOf(options: PostgresStoreOptions) {
    const url = new URL(cluster.primary.url)
    url.username = 'wallet'
    url.password = 'secret'
    const pool = new pg.Pool({ connectionString: url.href, max: 4 })
    pool.on('error', () => {})
    pools.push(pool)
    return createPostgresStore(pool, { connectionsMax: 1, timeoutMs: 2_500, ...options })
  }

  const isHanging = (error: Error) => /A commit hangs in SyncRep/.test(`${error.message} ${error.cause}`)

  /** Each of another player: none waits for the lock of another. */
  const bet = (store: PostgresStore, n: number, amount: string) =>
    endOf(
      handlePlaceBet(
        store,
        placeBet({ playerId: `p${n}`, transactionId: `place-${n}`, betId: `bet-${n}`, amount }),
      ),
    )

  it.each(hooks)(
    'when commits by %s hang, then few are sent, and they go on when it is back',
    async (_, options) => {
      const stores = [storeOf(options), storeOf(options)]
      for (const store of stores) await untilReady(store)
      cluster.link.hold()
      let bets = 0
      const round = () =>
        Promise.all(
          stores.flatMap(store => {
            bets += 1
            const n = bets
            return [
              bet(store, n, '1'),
              // A refusal is answered by a confirmed load.
              bet(store, n + 50, '5000'),
            ]
          }),
        )
      const answers: unknown[] = []
      for (let n = 0; n < 8; n += 1) answers.push(...(await round()))

      // Per process a slot for commits and one for confirmed loads: each expired once, or twice where
      // the first had not yet waited for long.
      const hanging = await waiting()
      expect(hanging).toBeGreaterThan(0)
      expect(hanging).toBeLessThanOrEqual(stores.length * 2 * 2)
      for (const answer of answers)
        expect(answer).toMatchObject({
          name: 'WalletError',
          code: expect.stringMatching(/^(UNAVAILABLE|COMMIT_UNKNOWN)$/),
        })
      for (const store of stores) {
        bets += 1
        const n = bets
        await until(async () => isHanging((await bet(store, n, '1')) as Error))
        await until(async () => isHanging((await endOf(store.ping())) as Error))
      }
      expect(await waiting()).toBeLessThanOrEqual(stores.length * 2 * 2)

      cluster.link.release()
      for (const store of stores) {
        bets += 1
        const n = bets
        await until(async () => 'ok' in (await bet(store, n, '1')))
      }
      await until(async () => (await waiting()) === 0)
    },
  )
})

describe('given a lock that stays', async () => {
  const { open, url, opened } = await databaseOfFile()
  const keys = { operation: 'placebet', playerId: 'alice', betId: 'bet-1', transactionId: 'place-1' } as const

  it.each(['load', 'loadConfirmed'] as const)(
    'when a %s has timed out, then its session ends',
    async load => {
      const made = await open()
      const store = createPostgresStore(made.pool, { schema: made.schema, timeoutMs: 500 })
      await untilReady(store)
      const holder = await made.otherSession()
      await holder.query(`BEGIN; LOCK TABLE ${made.schema}.players`)
      expect(await endOf(store[load](keys))).toMatchObject({ code: 'UNAVAILABLE' })
      await until(async () => (await made.waiting()).length === 0)
      await holder.query('COMMIT')
      await expect.poll(() => endOf(store[load](keys))).toMatchObject({ accounts: [{ balance: '100' }] })
    },
  )

  const limits = `SELECT current_setting('lock_timeout') AS lock, current_setting('statement_timeout') AS statement,
    current_setting('idle_in_transaction_session_timeout') AS idle`

  it('in the database transaction of a hook, statements and pauses have the limit of the store', async () => {
    const seen: unknown[] = []
    const made = await open({
      options: {
        ...longTimeouts,
        async withinTransaction(query) {
          seen.push(...(await query(limits)).rows)
        },
      },
      pool: { max: 1 },
    })
    expect(await made.store.commit(placing())).toMatchObject({ status: 'committed' })
    expect(seen).toEqual([{ lock: '2min', statement: '2min', idle: '2min' }])
    expect((await made.pool.query(limits)).rows).toEqual([{ lock: '0', statement: '0', idle: '0' }])
  })

  it('when a hook never ends, over a client that closes no connection, then its session ends', async () => {
    const made = await open()
    const pool = new pg.Pool({ connectionString: url, application_name: made.schema })
    pool.on('error', () => {})
    pool.on('connect', client => client.on('error', () => {}))
    opened.push({ close: () => pool.end() })
    const client: PostgresClient = {
      query: (text, values) => pool.query(text, values),
      async transaction(work) {
        const connection = await pool.connect()
        await connection.query('BEGIN')
        const lost = new Promise<never>((_, reject) => connection.on('error', reject))
        try {
          return await Promise.race([work({ query: (text, values) => connection.query(text, values) }), lost])
        } finally {
          connection.release(true)
        }
      },
    }
    const store = createPostgresStore(client, {
      schema: made.schema,
      timeoutMs: 500,
      withinTransaction: () => new Promise(() => {}),
    })
    expect(await endOf(store.commit(placing()))).toMatchObject({ status: 'unavailable' })
    await until(async () => {
      const states = await made.rows(
        "SELECT FROM pg_stat_activity WHERE application_name = $1 AND state = 'idle in transaction'",
        [made.schema],
      )
      return states.length === 0
    })
    expect(await made.store.commit(placing())).toMatchObject({ status: 'committed' })
  })

  /** A client that notes the limit that each of its statements has. */
  function noting(pool: pg.Pool, seen: Map<string, string>): PostgresClient {
    const queryOn = (connection: Pick<pg.Pool, 'query'>) => async (text: string, values?: unknown[]) => {
      const { rows } = await connection.query(limits)
      seen.set(text.trim().split('\n')[0] ?? '', rows[0].lock)
      return await connection.query(text, values)
    }
    return {
      query: queryOn(pool),
      async transaction(work) {
        const connection = await pool.connect()
        await connection.query('BEGIN')
        try {
          const result = await work({ query: queryOn(connection) })
          await connection.query('COMMIT')
          return result
        } finally {
          connection.release(true)
        }
      },
    }
  }
  /** Statements that read or write tables. */
  const tablesOnly = (seen: Map<string, string>) =>
    Object.fromEntries([...seen].filter(([text]) => !/^(?:SET|SAVEPOINT|RELEASE)/.test(text)))

  it('lookups wait for a lock as long as their client waits', async () => {
    const made = await open()
    const seen = new Map<string, string>()
    const lookups = createPostgresLookups(noting(made.pool, seen), { schema: made.schema })
    await lookups.transaction('place-1')
    expect(new Set(Object.values(tablesOnly(seen)))).toEqual(new Set(['2min']))
  })

  it('the relay waits for a lock as long as its client waits', async () => {
    const made = await open({ options: { outbox: true } })
    await made.store.commit(placing())
    await made.store.commit(placing({ n: 2 }))
    const seen = new Map<string, string>()
    const relay = createPostgresRelay(noting(made.pool, seen), {
      schema: made.schema,
      async deliver({ transactionId }) {
        if (transactionId === 'place-2') throw new Error('not now')
      },
      onError() {},
    })
    await relay.start()
    await until(async () => (await relay.stats()).queued === 1)
    await relay.retryDeadLetters()
    await relay.stop()
    expect(new Set(Object.values(tablesOnly(seen)))).toEqual(new Set(['30s']))
    expect(seen.size).toBeGreaterThan(5)
  })

  it('an import waits for a lock for two minutes at most', async () => {
    const made = await open()
    const seen = new Map<string, string>()
    const bet = { betId: 'old-1', playerId: 'alice', currency: 'EUR', stake: '5', status: 'PLACED' } as const
    await importBets(noting(made.pool, seen), { schema: made.schema }, [{ ...bet, credits: {}, revision: 1 }])
    expect(seen.get('WITH imported AS (')).toBe('2min')
  })
})
