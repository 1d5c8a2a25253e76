/** `stats.durability` and `requireDurability` on a primary and a standby of their own. */
// cspell:ignore pgoutput
import { createPostgresStore, migratePostgres, type PostgresStoreOptions } from 'bet-wallet/postgres'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { handlePlaceBet } from '../../../src/handlers.js'
import { placeBet } from '../../fixtures.js'
import { type Cluster, startCluster } from '../../postgres/cluster.js'
import { noServerOfOurOwn, withClient } from '../../postgres/server.js'
import { endOf } from './wallet.js'

let cluster: Cluster
const pools: pg.Pool[] = []
let bets = 0

beforeAll(async () => {
  if (noServerOfOurOwn !== null) return
  // Logical replication is tried too.
  cluster = await startCluster({
    synchronous: true,
    settings: { wal_level: 'logical' },
  })
  await onPrimary("CREATE ROLE wallet LOGIN PASSWORD 'secret'")
  await withClient(cluster.primary.url, client => migratePostgres(client))
  await onPrimary("INSERT INTO bet_wallet.players VALUES ('alice', 'EUR', 1000)")
})
beforeEach(({ skip }) => {
  skip(noServerOfOurOwn !== null, noServerOfOurOwn ?? '')
  vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
})
afterEach(async () => {
  await Promise.all(pools.splice(0).map(pool => pool.end()))
  await comeBack()
})
afterAll(() => cluster?.stop())

const onPrimary = (text: string) =>
  withClient(cluster.primary.url, async client => (await client.query(text)).rows)

function storeAs(user: string, options: PostgresStoreOptions = {}, settings = '') {
  const location = new URL(cluster.url)
  if (user !== 'postgres') {
    location.username = user
    location.password = 'secret'
  }
  const pool = new pg.Pool({ connectionString: location.href, max: 8, options: settings })
  pool.on('error', () => {}) // idle connections that a test ends
  pools.push(pool)
  return createPostgresStore(pool, options)
}

const standbyState = "SELECT sync_state FROM pg_stat_replication WHERE application_name <> 'consumer'"
const standbyIs = (state: string) =>
  expect
    .poll(async () => (await onPrimary(standbyState))[0]?.sync_state ?? 'gone', { interval: 20 })
    .toBe(state)

/** The connection of the standby breaks, and it cannot come back. */
async function cutStandby(): Promise<void> {
  cluster.link.refuse()
  await standbyIs('gone')
}

/** From whatever a test has left. */
async function comeBack(): Promise<void> {
  cluster.link.release()
  cluster.link.moveTo(cluster.primary.port, { cut: true })
  await cluster.setSynchronous(true)
  await standbyIs('sync')
}

const synchronous = {
  level: 'synchronous',
  reason: 'synchronous_standby_names is *, such a standby is streaming, and synchronous_commit is on',
}
const commitsWait = 'synchronous_standby_names is *, and no such standby is streaming: commits wait'

describe('stats.durability', () => {
  it('is null before ready, and then follows every ping: with the standby, without it, with it again', async () => {
    const store = storeAs('postgres')
    expect(store.stats.durability).toBeNull()
    await store.ready()
    expect(store.stats.durability).toEqual(synchronous)
    await cutStandby()
    expect(store.stats.durability).toEqual(synchronous)
    expect(await store.ping()).toEqual({ level: 'alone', reason: commitsWait })
    expect(store.stats.durability).toEqual({ level: 'alone', reason: commitsWait })
    await comeBack()
    expect(await store.ping()).toEqual(synchronous)
  })

  const names = async (value: string) => {
    await onPrimary(`ALTER SYSTEM SET synchronous_standby_names = '${value}'`)
    await onPrimary('SELECT pg_reload_conf()')
    const setting = "SELECT current_setting('synchronous_standby_names') AS names"
    await expect.poll(async () => (await onPrimary(setting))[0]?.names, { interval: 20 }).toBe(value)
  }

  it.each([
    ['FIRST 2 (walreceiver, absent)', 'sync', false],
    ['first 2(absent, walreceiver)', 'sync', false],
    ['2 (walreceiver, absent)', 'sync', false],
    ['ANY 2 (absent, walreceiver)', 'quorum', false],
    ['FIRST 1 (walreceiver, absent)', 'sync', true],
    ['1 (walreceiver, absent)', 'sync', true],
    ['ANY 1 (absent, walreceiver)', 'quorum', true],
    ['absent, walreceiver', 'sync', true],
    // The name of a standby, and no number of them.
    ['2, walreceiver', 'sync', true],
  ])('with one standby and %s it says whether commits wait', async (value, state, isEnough) => {
    const store = storeAs('postgres')
    await names(value)
    await standbyIs(state)
    expect(await store.ping()).toEqual(
      isEnough
        ? { ...synchronous, reason: synchronous.reason.replace('*', value) }
        : {
            level: 'asynchronous',
            reason: `synchronous_standby_names is ${value}, and 1 of 2 such standbys stream: commits wait`,
          },
    )
    // What the server does.
    const commit = onPrimary("SELECT pg_logical_emit_message(true, 'test', '')")
    if (!isEnough) {
      const waiting = "SELECT count(*)::integer FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
      await expect.poll(async () => (await onPrimary(waiting))[0].count).toBe(1)
      await names('*')
    }
    await commit
  })

  it('is asynchronous where COMMIT waits for no standby, and alone without one', async () => {
    const store = storeAs('postgres')
    await cluster.setSynchronous(false)
    await standbyIs('async')
    expect(await store.ping()).toEqual({
      level: 'asynchronous',
      reason: 'synchronous_standby_names is empty',
    })
    await cutStandby()
    expect(await store.ping()).toEqual({
      level: 'alone',
      reason: 'synchronous_standby_names is empty, and no standby is connected',
    })
  })

  it.each(['local', 'off'])('is asynchronous for sessions whose synchronous_commit is %s', async value => {
    const store = storeAs('postgres', {}, `-c synchronous_commit=${value}`)
    expect(await store.ping()).toEqual({ level: 'asynchronous', reason: `synchronous_commit is ${value}` })
  })

  it('of a role without pg_read_all_stats is not synchronous: it cannot see that; one GRANT, and it is', async () => {
    const store = storeAs('wallet')
    const grant = 'GRANT pg_read_all_stats TO wallet'
    expect(await store.ping()).toEqual({
      level: 'asynchronous',
      reason: `synchronous_standby_names is *, and this role cannot see whether such a standby is streaming: ${grant}`,
    })
    await onPrimary(grant)
    expect(await store.ping()).toEqual(synchronous)
    await onPrimary('REVOKE pg_read_all_stats FROM wallet')
    await cutStandby()
    // That there is none, every role sees.
    expect(await store.ping()).toEqual({ level: 'alone', reason: commitsWait })
  })

  it('needs no SELECT on pg_stat_replication, which some revoke', async () => {
    await onPrimary('REVOKE SELECT ON pg_stat_replication, pg_replication_slots FROM PUBLIC')
    try {
      expect((await storeAs('wallet').ping()).level).toBe('asynchronous')
    } finally {
      await onPrimary('GRANT SELECT ON pg_stat_replication, pg_replication_slots TO PUBLIC')
    }
  })

  it('is not synchronous where the consumer of a logical slot can confirm commits: it is no standby', async () => {
    const store = storeAs('postgres')
    const { href } = new URL('/consumer', cluster.primary.url)
    await onPrimary('CREATE DATABASE consumer')
    await onPrimary("SELECT pg_create_logical_replication_slot('consumer', 'pgoutput')")
    await onPrimary('CREATE PUBLICATION everything')
    const inOther = (text: string) => withClient(href, client => client.query(text))
    await inOther(`CREATE SUBSCRIPTION consumer CONNECTION '${cluster.primary.url}' PUBLICATION everything
      WITH (create_slot = false, slot_name = consumer)`)
    try {
      const stateOfConsumer = async () =>
        (await onPrimary("SELECT sync_state FROM pg_stat_replication WHERE application_name = 'consumer'"))[0]
          ?.sync_state
      await expect.poll(stateOfConsumer).toBe('potential')
      expect(await store.ping()).toEqual(synchronous)
      cluster.link.refuse()
      await expect.poll(stateOfConsumer).toBe('sync')
      expect(await store.ping()).toEqual({
        level: 'asynchronous',
        reason: 'synchronous_standby_names is *, and the consumer of a logical slot can confirm commits',
      })
    } finally {
      await comeBack()
      await inOther('DROP SUBSCRIPTION consumer')
      await onPrimary('DROP PUBLICATION everything')
      await onPrimary('DROP DATABASE consumer')
    }
  })
})

describe("requireDurability: 'synchronous'", () => {
  const required: PostgresStoreOptions = { requireDurability: 'synchronous', timeoutMs: 120_000 }
  const bet = () => {
    bets += 1
    return placeBet({ transactionId: `place-${bets}`, betId: `bet-${bets}`, amount: '1' })
  }
  const codeOf = async (run: Promise<unknown>) =>
    ((await endOf(run)) as { code?: string } | undefined)?.code ?? 'ok'
  const recorded = async () =>
    Number((await onPrimary('SELECT count(*) FROM bet_wallet.transactions'))[0].count)

  it('decides while it holds; 503 while the standby is gone, with nothing recorded; and decides again', async () => {
    const store = storeAs('postgres', required)
    await store.ready()
    const first = bet()
    expect(await handlePlaceBet(store, first)).toMatchObject({ ok: true })
    await cutStandby()
    await cluster.setSynchronous(false)
    // What Patroni does without the strict mode.
    expect(await codeOf(store.ping())).toBe('UNAVAILABLE')
    const before = await recorded()
    expect(await codeOf(handlePlaceBet(store, bet()))).toBe('UNAVAILABLE')
    // A replay is a decision too: the record may be lost.
    expect(await codeOf(handlePlaceBet(store, first))).toBe('UNAVAILABLE')
    expect(await Promise.all([bet(), bet(), bet()].map(each => codeOf(handlePlaceBet(store, each))))).toEqual(
      Array(3).fill('UNAVAILABLE'),
    )
    expect(await recorded()).toBe(before)
    expect(await codeOf(store.ready())).toBe('ok')
    await comeBack()
    await store.ping()
    expect(await handlePlaceBet(store, first)).toMatchObject({ ok: true, replayed: true })
    expect(await handlePlaceBet(store, bet())).toMatchObject({ ok: true })
  })

  it('notices it by the calls alone, without a ping', async () => {
    const store = storeAs('postgres', required)
    await store.ready()
    await cutStandby()
    await cluster.setSynchronous(false)
    await expect.poll(() => codeOf(handlePlaceBet(store, bet())), { interval: 50 }).toBe('UNAVAILABLE')
    await comeBack()
    await expect.poll(() => codeOf(handlePlaceBet(store, bet())), { interval: 50 }).toBe('ok')
  })

  it('does not answer a commit as a success that waited for a standby until the server fell back', async () => {
    const store = storeAs('postgres', required)
    await store.ready()
    cluster.link.hold()
    const waiting = bet()
    const answer = codeOf(handlePlaceBet(store, waiting))
    const commitsThatWait = async () =>
      Number((await onPrimary("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"))[0].count)
    await expect.poll(commitsThatWait).toBe(1)
    // Longer than a reading counts.
    await onPrimary('SELECT pg_sleep(1.1)')
    await cluster.setSynchronous(false)
    expect(await answer).toBe('COMMIT_UNKNOWN')
    await comeBack()
    await store.ping()
    expect(await handlePlaceBet(store, waiting)).toMatchObject({ ok: true, replayed: true })
  })

  it('is refused at start beside allowNotDurable, or with another value', () => {
    expect(() => storeAs('postgres', { ...required, allowNotDurable: true })).toThrow('exclude each other')
    expect(() => storeAs('postgres', { requireDurability: 'yes' as never })).toThrow(
      'requireDurability must be one of synchronous',
    )
  })

  it('without it, nothing is read beside the calls', async () => {
    const store = storeAs('postgres')
    await store.ready()
    const query = vi.spyOn(pg.Client.prototype, 'query')
    await handlePlaceBet(store, bet())
    const texts = query.mock.calls.map(([first]) => String((first as { text?: string }).text ?? first))
    query.mockRestore()
    expect(texts.length).toBeGreaterThan(0)
    expect(texts.filter(text => text.includes('pg_stat_get_wal_senders'))).toEqual([])
  })
})
