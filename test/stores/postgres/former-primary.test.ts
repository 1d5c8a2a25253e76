/**
 * A former primary behind the wallet's address that was not fenced: it accepts writes, and lacks what the new
 * primary has answered. On a primary and an asynchronous standby of their own.
 */
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { handlePlaceBet, handleRollbackBet } from '../../../src/handlers.js'
import {
  createPostgresStore,
  migratePostgres,
  type PostgresStore,
  type PostgresStoreOptions,
} from '../../../src/stores/postgres/index.js'
import { placeBet, rollbackBet } from '../../fixtures.js'
import { type Cluster, startCluster } from '../../postgres/cluster.js'
import { noServerOfOurOwn, type PostgresServer, startPostgres, withClient } from '../../postgres/server.js'
import { until } from '../../until.js'
import { endOf, longTimeouts, placing } from './wallet.js'

let cluster: Cluster
const pools: pg.Pool[] = []
let schemas = 0
let schema = ''

beforeAll(async () => {
  if (noServerOfOurOwn === null) cluster = await startCluster({ synchronous: false })
})
beforeEach(({ skip }) => skip(noServerOfOurOwn !== null, noServerOfOurOwn ?? ''))
beforeEach(async () => {
  schemas += 1
  schema = `wallet_${schemas}`
  await prepare(cluster.primary)
  await cluster.caughtUp()
})
afterEach(async () => {
  if (noServerOfOurOwn !== null) return
  await cluster.rebuildStandby()
  cluster.address.moveTo(cluster.primary.port, { cut: true })
  await Promise.all(pools.splice(0).map(pool => pool.end()))
})
afterAll(() => cluster?.stop())

const prepare = (server: PostgresServer) =>
  withClient(server.url, async client => {
    await migratePostgres(client, { schema })
    await client.query(`INSERT INTO ${schema}.players SELECT unnest('{anna,ben}'::text[]), 'EUR', 1000`)
  })

function storeAt(url: string, options: PostgresStoreOptions = {}, config: pg.PoolConfig = {}): PostgresStore {
  const pool = new pg.Pool({ connectionString: url, max: 8, application_name: schema, ...config })
  // Connections that a move of the address cuts.
  pool.on('error', () => {})
  pool.on('connect', client => client.on('error', () => {}))
  pools.push(pool)
  return createPostgresStore(pool, { schema, ...longTimeouts, ...options })
}

/** Leads the address to these servers, each connection to the next; the connections so far are gone. */
async function leadTo(...servers: readonly PostgresServer[]): Promise<void> {
  cluster.address.alternate(servers.map(({ port }) => port))
  await until(() => pools.every(pool => pool.totalCount === 0))
}

const on = async (server: PostgresServer, text: string) =>
  await withClient(server.url, async client => (await client.query(text.replaceAll('SCHEMA', schema))).rows)
const recordedOn = async (server: PostgresServer) =>
  (
    await on(
      server,
      `SELECT concat_ws(' ', operation, transaction_id, delta, error_code) AS it FROM SCHEMA.transactions ORDER BY 1`,
    )
  ).map(({ it }) => it)

const play = {
  stake: (store: PostgresStore, n: number, amount: string, playerId = 'anna') =>
    endOf(
      handlePlaceBet(store, placeBet({ playerId, transactionId: `place-${n}`, betId: `bet-${n}`, amount })),
    ),
  rollback: (store: PostgresStore, n: number, playerId: string) =>
    endOf(
      handleRollbackBet(store, rollbackBet({ playerId, transactionId: `rollback-${n}`, betId: `bet-${n}` })),
    ),
}

const unavailable = expect.objectContaining({ name: 'WalletError', code: 'UNAVAILABLE' })
const success = (balance: string) => expect.objectContaining({ ok: true, balance: `${balance}.00` })
/** The cause of the error, and its causes. */
function causesOf(error: unknown): string[] {
  const { message, cause } = (error ?? {}) as { message?: string; cause?: unknown }
  return message === undefined ? [] : [message, ...causesOf(cause)]
}
const former = /this server is a former primary: its timeline is \d+, and \d+ has answered/

/** Promotes the standby, and moves the address to it; the old primary goes on. Bets are answered by the new. */
async function failOver(store: PostgresStore): Promise<{ old: PostgresServer; current: PostgresServer }> {
  await cluster.promote()
  const { primary: current, standby: old } = cluster
  await leadTo(current)
  expect(await play.stake(store, 1, '800', 'anna')).toEqual(success('200'))
  expect(await play.stake(store, 2, '700', 'ben')).toEqual(success('300'))
  return { old, current }
}

const hooks: [name: string, options: PostgresStoreOptions][] = [
  ['one statement', {}],
  ['withinTransaction', { async withinTransaction() {} }],
]

describe.each(hooks)('given a former primary that goes on, and a store that commits by %s', (_, options) => {
  it('when the address leads to it again, then it decides nothing and writes nothing', async () => {
    const store = storeAt(cluster.url, options)
    await store.ready()
    const { old, current } = await failOver(store)

    await leadTo(old)
    // Where 200 are left, a server that lacks the first bet accepts two of these.
    for (const n of [3, 4, 5]) expect(await play.stake(store, n, '500')).toEqual(unavailable)
    const retry = await play.stake(store, 1, '800')
    expect(retry).toEqual(unavailable)
    expect(causesOf(retry).join('\n')).toMatch(former)
    expect(await play.rollback(store, 2, 'ben')).toEqual(unavailable)
    expect(await recordedOn(old)).toEqual([])
    for (const probe of ['ping', 'ready'] as const)
      expect(await endOf<unknown>(store[probe]())).toMatchObject({
        code: 'UNAVAILABLE',
        message: expect.stringMatching(former),
      })

    await leadTo(current)
    expect(await play.stake(store, 1, '800')).toMatchObject({ ok: true, replayed: true, balance: '200.00' })
    expect(await play.rollback(store, 2, 'ben')).toEqual(success('1000'))
    expect(await recordedOn(current)).toEqual([
      'placebet place-1 -800',
      'placebet place-2 -700',
      'rollbackbet rollback-2 700',
    ])
  })

  it('when the address flaps at each connection, then the new primary decides alone', async () => {
    const store = storeAt(cluster.url, options, { max: 1 })
    await store.ready()
    const { old, current } = await failOver(store)
    await leadTo(old, current)

    expect(await play.stake(store, 1, '800')).toMatchObject({ ok: true, replayed: true, balance: '200.00' })
    for (const [n, amount, expected] of [
      [3, '500', expect.objectContaining({ errorCode: 'INSUFFICIENT_FUNDS' })],
      [4, '150', success('50')],
    ] as const) {
      await leadTo(old, current)
      expect(await play.stake(store, n, amount)).toEqual(expected)
    }
    await leadTo(old, current)
    expect(await play.rollback(store, 2, 'ben')).toEqual(success('1000'))
    expect(await recordedOn(old)).toEqual([])
  })

  it('when its connections are still in the pool, then a burst is not divided between both', async () => {
    const store = storeAt(cluster.url, { ...options, connectionsMax: 4, batchMax: 2 }, { max: 16 })
    await store.ready()
    const [pool] = pools.slice(-1)
    // Connections of the old primary, all borrowed: the next one leads to the new primary.
    const borrowed = await Promise.all(Array.from({ length: 8 }, () => pool?.connect()))
    await cluster.promote()
    const { primary: current, standby: old } = cluster
    cluster.address.moveTo(current.port, { cut: false })
    for (const server of [old, current])
      await on(server, `INSERT INTO SCHEMA.players SELECT 'p' || n, 'EUR', 100 FROM generate_series(1, 60) n`)
    await store.ping()
    for (const each of borrowed) each?.release()

    const burst = (from: number) =>
      Promise.all(Array.from({ length: 60 }, (_, n) => play.stake(store, from + n, '10', `p${n + 1}`)))
    const answers = await burst(100)
    const accepted = answers.filter(answer => 'ok' in answer && answer.ok)
    expect(await recordedOn(old)).toEqual([])
    expect(await recordedOn(current)).toHaveLength(accepted.length)
    for (const answer of answers) if (!('ok' in answer)) expect(answer).toEqual(unavailable)
    // The pool has none of the old connections by now.
    for (let n = 0; n < 8; n += 1) await burst(100)
    expect(await burst(100)).toEqual(Array.from({ length: 60 }, () => success('90')))
  })
})

describe('given an answer of the former primary that arrives after one of the new primary', () => {
  /** Holds what `lock` locks on the server; the returned function releases it. */
  async function holding(server: PostgresServer, lock: string): Promise<() => Promise<unknown>> {
    const session = new pg.Client({ connectionString: server.url })
    session.on('error', () => {}) // the server is killed at the end
    await session.connect()
    await session.query(`BEGIN; ${lock.replaceAll('SCHEMA', schema)}`)
    return () => session.query('COMMIT').then(() => session.end())
  }
  const isWaiting = async (server: PostgresServer) =>
    (
      await on(
        server,
        "SELECT FROM pg_stat_activity WHERE application_name = 'SCHEMA' AND wait_event_type = 'Lock'",
      )
    ).length > 0

  /** The address moves without a cut, and another connection is answered by the new primary. */
  async function promoteMeanwhile(store: PostgresStore): Promise<void> {
    await cluster.promote()
    cluster.address.moveTo(cluster.primary.port, { cut: false })
    await store.ping()
  }

  it.each(hooks)('when it is of a commit by %s, then the outcome is unknown', async (_, options) => {
    await on(
      cluster.primary,
      `CREATE FUNCTION SCHEMA.stop() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN PERFORM pg_advisory_xact_lock_shared(7); RETURN NULL; END $$;
      CREATE TRIGGER stop AFTER INSERT ON SCHEMA.transactions FOR EACH ROW EXECUTE FUNCTION SCHEMA.stop()`,
    )
    await cluster.caughtUp()
    const store = storeAt(cluster.url, options)
    await store.ready()
    const old = cluster.primary
    const release = await holding(old, 'SELECT pg_advisory_xact_lock(7)')
    const answer = endOf(store.commit(placing({ playerId: 'anna' })))
    await until(() => isWaiting(old))
    await promoteMeanwhile(store)
    await release()

    expect(await answer).toMatchObject({ name: 'StoreError', code: 'COMMIT_UNKNOWN' })
    expect(causesOf(await answer).join()).toMatch(former)
    expect(await recordedOn(old)).toEqual(['placebet place-1 -30'])
    expect(await recordedOn(cluster.primary)).toEqual([])
  })

  it.each(['load', 'loadConfirmed'] as const)('when it is of a %s, then it is read again', async load => {
    const store = storeAt(cluster.url)
    await store.ready()
    const old = cluster.primary
    const release = await holding(old, 'LOCK TABLE SCHEMA.players')
    const keys = {
      operation: 'placebet',
      playerId: 'anna',
      betId: 'bet-1',
      transactionId: 'place-1',
    } as const
    const answer = endOf(store[load](keys))
    await until(() => isWaiting(old))
    await promoteMeanwhile(store)
    await on(cluster.primary, "UPDATE SCHEMA.players SET balance = 5 WHERE player_id = 'anna'")
    await release()
    expect(await answer).toMatchObject({ accounts: [{ balance: '5' }] })
  })
})

describe('given a promotion that lost answered commits', () => {
  it.each(hooks)('when the address moves, then calls by %s go on at once', async (_, options) => {
    const store = storeAt(cluster.url, options)
    await store.ready()
    expect(await play.stake(store, 1, '100', 'ben')).toEqual(success('900'))
    await cluster.caughtUp()
    cluster.link.hold()
    expect(await play.stake(store, 2, '800')).toEqual(success('200'))
    await cluster.primary.kill()
    cluster.link.refuse()
    cluster.link.release()
    await cluster.promote()
    await leadTo(cluster.primary)

    expect(await play.stake(store, 3, '500')).toEqual(success('500'))
    expect(await play.stake(store, 1, '100', 'ben')).toMatchObject({ ok: true, replayed: true })
    expect(await recordedOn(cluster.primary)).toEqual(['placebet place-1 -100', 'placebet place-3 -500'])
  })
})

/** The warnings of this process, as they are emitted. */
function warnings(): string[] {
  const seen: string[] = []
  vi.spyOn(process, 'emitWarning').mockImplementation(warning => {
    seen.push(String(warning))
  })
  return seen
}
afterEach(() => vi.restoreAllMocks())

describe('given a server of another database cluster, with a lower timeline', () => {
  it('when the address leads to it, then it answers, with a warning', async () => {
    const store = storeAt(cluster.url)
    await store.ready()
    await failOver(store)
    const other = await startPostgres()
    try {
      await prepare(other)
      await on(other, `ALTER ROLE postgres PASSWORD '${new URL(cluster.url).password}'`)
      const seen = warnings()
      await leadTo(other)
      expect(await play.stake(store, 3, '500')).toEqual(success('500'))
      expect(await play.stake(store, 4, '100')).toEqual(success('400'))
      expect(seen.filter(each => each.startsWith('Another database cluster'))).toEqual([
        expect.stringMatching(/system_identifier is \d+, and was \d+/),
      ])
    } finally {
      cluster.address.moveTo(cluster.primary.port, { cut: true })
      await other.stop()
    }
  })
})

describe('given a server that does not report its timeline', () => {
  it('when a former primary answers, then it decides: ready() has warned that the check is off', async () => {
    await on(cluster.primary, 'REVOKE EXECUTE ON FUNCTION pg_walfile_name(pg_lsn) FROM PUBLIC')
    await on(
      cluster.primary,
      `CREATE ROLE wallet_SCHEMA LOGIN PASSWORD 'wallet'; GRANT ALL ON schema SCHEMA TO wallet_SCHEMA;
        GRANT ALL ON ALL TABLES IN schema SCHEMA TO wallet_SCHEMA;
        GRANT ALL ON ALL SEQUENCES IN schema SCHEMA TO wallet_SCHEMA`,
    )
    await cluster.caughtUp()
    try {
      const url = new URL(cluster.url)
      url.username = `wallet_${schema}`
      url.password = 'wallet'
      const seen = warnings()
      const store = storeAt(url.href)
      await store.ready()
      await store.ping()
      expect(seen.filter(each => each.includes('timeline'))).toEqual([
        expect.stringMatching(/permission denied for function pg_walfile_name/),
      ])
      const { old } = await failOver(store)
      await leadTo(old)
      expect(await play.stake(store, 3, '500')).toEqual(success('500'))
    } finally {
      await on(cluster.primary, 'GRANT EXECUTE ON FUNCTION pg_walfile_name(pg_lsn) TO PUBLIC')
    }
  })
})
