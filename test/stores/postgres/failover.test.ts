/**
 * Which server answers: a standby, an old primary after a failover, or a primary whose standby is gone. On a
 * primary and a synchronous standby of their own.
 */
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  handlePlaceBet,
  handleRollbackBet,
  handleUnsettlement,
  recordSettlement,
} from '../../../src/handlers.js'
import {
  createPostgresRelay,
  createPostgresStore,
  migratePostgres,
  type PostgresStore,
  type PostgresStoreOptions,
} from '../../../src/stores/postgres/index.js'
import { placeBet, rollbackBet, settlement, unsettlement } from '../../fixtures.js'
import { type Cluster, startCluster } from '../../postgres/cluster.js'
import { noServerOfOurOwn, withClient } from '../../postgres/server.js'
import { until } from '../../until.js'
import { endOf } from './wallet.js'

let cluster: Cluster
const pools: pg.Pool[] = []
let schemas = 0
let schema = ''

beforeAll(async () => {
  if (noServerOfOurOwn === null) cluster = await startCluster({ synchronous: true })
})
beforeEach(({ skip }) => skip(noServerOfOurOwn !== null, noServerOfOurOwn ?? ''))
beforeEach(async () => {
  schemas += 1
  schema = `wallet_${schemas}`
  await withClient(cluster.primary.url, async client => {
    await migratePostgres(client, { schema })
    await client.query(`INSERT INTO ${schema}.players SELECT unnest('{alice,bob}'::text[]), 'EUR', 100`)
  })
})
afterEach(async () => {
  if (noServerOfOurOwn !== null) return
  await cluster.rebuildStandby()
  cluster.address.moveTo(cluster.primary.port, { cut: true })
  await Promise.all(pools.splice(0).map(pool => pool.end()))
})
afterAll(() => cluster?.stop())

/** No commit that waits for a standby is answered sooner. How long it takes does not change the outcome. */
const timeoutMs = 5_000

function poolAt(connectionString: string, config: pg.PoolConfig = {}): pg.Pool {
  const pool = new pg.Pool({ connectionString, max: 8, application_name: 'bet-wallet', ...config })
  pool.on('error', () => {}) // idle connections that a failover ends
  pools.push(pool)
  return pool
}

const storeAt = (url: string, options: PostgresStoreOptions = {}): PostgresStore =>
  createPostgresStore(poolAt(url), { schema, timeoutMs, ...options })

/** On the server that is the primary now, beside the address. */
const onPrimary = (text: string) =>
  withClient(
    cluster.primary.url,
    async client => (await client.query(text.replaceAll('SCHEMA', schema))).rows,
  )
const recorded = async () =>
  (
    await onPrimary(
      `SELECT concat_ws(' ', operation, transaction_id, delta, error_code) AS it FROM SCHEMA.transactions ORDER BY 1`,
    )
  ).map(({ it }) => it)
const balance = async (playerId: string) =>
  (await onPrimary(`SELECT balance::text FROM SCHEMA.players WHERE player_id = '${playerId}'`))[0]?.balance

/** The backend whose COMMIT waits for the standby. */
async function waitingForStandby(): Promise<number> {
  for (;;) {
    const pid = await findWaiting('bet-wallet')
    if (pid !== undefined) return pid
  }
}
async function findWaiting(name: string): Promise<number | undefined> {
  const [row] = await onPrimary(
    `SELECT pid FROM pg_stat_activity WHERE application_name = '${name}' AND wait_event = 'SyncRep'`,
  )
  return row === undefined ? undefined : Number(row.pid)
}

/** A fault that the platform retries, or rolls back: not one word about the bet. */
const fault = expect.objectContaining({ name: 'WalletError' })
const success = expect.objectContaining({ ok: true })

/** The bets that a server with an older state must not judge: bet-1 is open, bet-2 has a live credit. */
async function prepareBets(store: PostgresStore): Promise<void> {
  const settled = { playerId: 'bob', betId: 'bet-2' }
  expect(await handlePlaceBet(store, placeBet())).toEqual(success)
  expect(await handlePlaceBet(store, placeBet({ ...settled, transactionId: 'place-2' }))).toEqual(success)
  expect(await recordSettlement(store, settlement({ ...settled, transactionId: 'settle-2' }))).toEqual(
    success,
  )
  await onPrimary("INSERT INTO SCHEMA.players VALUES ('dave', 'EUR', 100), ('erin', 'EUR', 100)")
}

/** All of them succeed on a server that knows the bets of `prepareBets`. */
const calls = {
  'a settlement of an open bet': (store: PostgresStore) => recordSettlement(store, settlement()),
  'an unsettlement of a live credit': (store: PostgresStore) =>
    handleUnsettlement(store, unsettlement({ playerId: 'bob', betId: 'bet-2' })),
  'a placebet of a new player': (store: PostgresStore) =>
    handlePlaceBet(store, placeBet({ playerId: 'dave', transactionId: 'place-3', betId: 'bet-3' })),
  'a rollback of a new player': (store: PostgresStore) =>
    handleRollbackBet(store, rollbackBet({ playerId: 'erin', transactionId: 'rollback-4', betId: 'bet-4' })),
}
const outcomesOf = async (store: PostgresStore) =>
  Object.fromEntries(
    await Promise.all(Object.entries(calls).map(async ([name, call]) => [name, await endOf(call(store))])),
  )
const each = (expected: unknown) => Object.fromEntries(Object.keys(calls).map(name => [name, expected]))

describe('given a standby with an older state', () => {
  const onStandby = (text: string) => withClient(cluster.standby.url, client => client.query(text))

  it('when the address leads to it before its promotion, then it refuses nothing', async () => {
    const store = storeAt(cluster.url)
    await store.ready()
    await cluster.caughtUp()
    await onStandby('SELECT pg_wal_replay_pause()')
    await until(async () => {
      const { rows } = await onStandby('SELECT pg_get_wal_replay_pause_state() AS state')
      return rows[0]?.state === 'paused'
    })
    await prepareBets(storeAt(cluster.primary.url))

    cluster.address.moveTo(cluster.standby.port, { cut: true })
    // Unknown where a commit begins on a connection that was cut: a placebet and a settlement begin with one.
    expect(await outcomesOf(store)).toEqual(each(fault))

    await cluster.primary.kill()
    await cluster.promote()
    await cluster.rebuildStandby()
    expect(await outcomesOf(store)).toEqual(each(success))
    expect(await recorded()).toEqual([
      'placebet place-1 -30',
      'placebet place-2 -30',
      'placebet place-3 -30',
      'rollbackbet rollback-4 0',
      'settlement settle-1 60',
      'settlement settle-2 60',
      'unsettlement unsettle-1 -60',
    ])
  })
})

describe('given an old primary that runs on after a failover', () => {
  it('when the address still leads to it, then it refuses nothing', async () => {
    const store = storeAt(cluster.url)
    await store.ready()
    await cluster.promote()
    // The new primary has no standby yet.
    await cluster.setSynchronous(false)
    await prepareBets(storeAt(cluster.primary.url))

    expect(await outcomesOf(store)).toEqual(each(fault))

    cluster.address.moveTo(cluster.primary.port, { cut: true })
    expect(await outcomesOf(store)).toEqual(each(success))
    expect(await balance('alice')).toBe('130')
  })
})

describe.each<[name: string, options: PostgresStoreOptions]>([
  ['one statement', {}],
  ['withinTransaction', { withinTransaction: async () => {} }],
])('given a commit by %s that waits for a standby', (_, options) => {
  /** The platform's retry after the failover is a new bet, once. */
  async function expectTakenAnew(store: PostgresStore): Promise<void> {
    await cluster.promote()
    cluster.address.moveTo(cluster.primary.port, { cut: true })
    expect(await recorded()).toEqual([])
    await cluster.rebuildStandby()
    const first = await handlePlaceBet(store, placeBet())
    expect(first).toMatchObject({ ok: true, replayed: false, balance: '70.00' })
    expect(await handlePlaceBet(store, placeBet())).toEqual({ ...first, replayed: true })
    expect(await recorded()).toEqual(['placebet place-1 -30'])
    expect(await balance('alice')).toBe('70')
  }

  it('when its backend is terminated, then the local commit is not answered as a success', async () => {
    const store = storeAt(cluster.url, options)
    await store.ready()
    cluster.link.hold()
    const answer = endOf(handlePlaceBet(store, placeBet()))
    const pid = await waitingForStandby()
    await onPrimary(`SELECT pg_terminate_backend(${pid}, 10000)`)

    expect(await answer).toMatchObject({ code: 'COMMIT_UNKNOWN' })
    // It is there, and the retry finds it.
    expect(await recorded()).toEqual(['placebet place-1 -30'])
    expect(await endOf(handlePlaceBet(store, placeBet()))).toEqual(fault)

    await cluster.primary.kill()
    cluster.link.refuse()
    cluster.link.release()
    await expectTakenAnew(store)
  })

  it('when the primary restarts, then the local commit is not replayed as a success', async () => {
    const store = storeAt(cluster.url, options)
    await store.ready()
    cluster.link.refuse()
    const answer = endOf(handlePlaceBet(store, placeBet()))
    await waitingForStandby()
    await cluster.primary.shutDown()
    await cluster.primary.start()

    expect(await answer).toEqual(fault)
    expect(await recorded()).toEqual(['placebet place-1 -30'])
    expect(await endOf(handlePlaceBet(store, placeBet()))).toEqual(fault)

    await cluster.primary.kill()
    await expectTakenAnew(store)
  })

  it('when the standby returns, then the retry is a replay of the one bet', async () => {
    const store = storeAt(cluster.url, options)
    await store.ready()
    cluster.link.hold()
    const answer = endOf(handlePlaceBet(store, placeBet()))
    const pid = await waitingForStandby()
    await onPrimary(`SELECT pg_terminate_backend(${pid}, 10000)`)
    expect(await answer).toMatchObject({ code: 'COMMIT_UNKNOWN' })

    cluster.link.release()
    // While a commit still waits, a retry is answered 503, and the platform sends it again.
    let retry: unknown
    await until(async () => {
      retry = await endOf(handlePlaceBet(store, placeBet()))
      return !(retry instanceof Error)
    })
    expect(retry).toMatchObject({ ok: true, replayed: true })
    expect(await recorded()).toEqual(['placebet place-1 -30'])
    expect(await balance('alice')).toBe('70')
  })
})

describe('given an event that only the primary has', () => {
  const local = '-c synchronous_commit=local'
  const silent = '-c client_min_messages=error'

  it.each([
    ['its claim still waits', '', null],
    ['its claim still waits, of a role with synchronous_commit local', local, null],
    ['the wait of its claim was terminated', '', 'pg_terminate_backend'],
    ['the wait of its claim was cancelled', '', 'pg_cancel_backend'],
    ['the wait of its claim was cancelled, of a role without warnings', silent, 'pg_cancel_backend'],
  ])('when at the failover %s, then no relay delivers it', async (_, settings, ending) => {
    const outbox = { schema, outbox: true }
    await withClient(cluster.primary.url, client =>
      migratePostgres(client, outbox, { allowOtherOptions: true }),
    )
    await cluster.caughtUp()
    const store = storeAt(cluster.url, outbox)
    await store.ready()
    cluster.link.hold()
    const answer = endOf(handlePlaceBet(store, placeBet()))
    await onPrimary(`SELECT pg_terminate_backend(${await waitingForStandby()}, 10000)`)
    expect(await answer).toMatchObject({ code: 'COMMIT_UNKNOWN' })
    expect(await onPrimary('SELECT FROM SCHEMA.outbox')).toHaveLength(1)

    const delivered: string[] = []
    const errors: unknown[] = []
    const relay = createPostgresRelay(poolAt(cluster.url, { application_name: 'relay', options: settings }), {
      ...{ schema, pollMs: 20 },
      deliver: async ({ transactionId, walletTransactionId }) =>
        delivered.push(`${transactionId} ${walletTransactionId}`),
      onError: error => errors.push(error),
    })
    await relay.start()
    try {
      let pid: number | undefined
      await until(async () => {
        pid = await findWaiting('relay')
        return pid !== undefined || delivered.length > 0
      })
      expect(delivered).toEqual([])
      if (ending !== null) {
        await onPrimary(`SELECT ${ending}(${pid})`)
        await until(() => delivered.length + errors.length > 0)
      }
      await cluster.primary.kill()
      cluster.link.refuse()
      cluster.link.release()
      await cluster.promote()
      cluster.address.moveTo(cluster.primary.port, { cut: true })
      await cluster.rebuildStandby()
      expect(await recorded()).toEqual([])
      await until(() => errors.length > 0)

      const retry = await handlePlaceBet(store, placeBet())
      if (!retry.ok) throw new Error(retry.description)
      await until(async () => (await relay.stats()).oldestMs === null)
      expect(delivered).toEqual([`place-1 ${retry.walletTransactionId}`])
    } finally {
      await relay.stop()
    }
  })
})
