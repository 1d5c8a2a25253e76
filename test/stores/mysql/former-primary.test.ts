/**
 * Servers that are behind: a replica that is writable by mistake, a former primary behind one address, and
 * promotions, with and without the commits that were answered.
 */
import mysql, { type Pool } from 'mysql2/promise'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { handlePlaceBet, handleRollbackBet } from '../../../src/handlers.js'
import type { WalletOutcome } from '../../../src/outcomes.js'
import { createMysqlStore, type MysqlStore, migrateMysql } from '../../../src/stores/mysql/index.js'
import { placeBet as request, rollbackBet } from '../../fixtures.js'
import { type Replicated, startReplicated } from '../../mariadb/replica.js'
import { type MariadbServer, withConnection } from '../../mariadb/server.js'
import { type Address, openAddress } from '../../mysql/address.js'
import { noServer } from '../../mysql/engine.js'
import { until } from '../../until.js'
import { keysOf, placeBet } from './wallet.js'

const reason = noServer === null ? '' : ` (skipped: ${noServer})`
const patience = { interval: 50 }

describe.skipIf(noServer !== null)(`a server that is behind${reason}`, () => {
  let servers: Replicated
  let primary: MariadbServer
  let replica: MariadbServer
  const pools: Pool[] = []
  const addresses: Address[] = []
  let warnings: string[]
  let isPaused = false
  let schemas = 0
  let schema: string

  beforeAll(async () => {
    servers = await startReplicated()
    ;({ primary, replica } = servers)
  })
  afterAll(() => servers.stop())
  beforeEach(async () => {
    warnings = []
    vi.spyOn(process, 'emitWarning').mockImplementation(warning => void warnings.push(String(warning)))
    // MariaDB's default is 0, which `ready` rejects.
    for (const server of [primary, replica]) await onServer(server, 'SET GLOBAL sync_binlog = 1')
    const admin = poolOf(primary.config)
    schemas += 1
    schema = `behind_${schemas}`
    await admin.query(`CREATE DATABASE ${schema}`)
    await migrateMysql(admin, { schema })
    await admin.query(
      `INSERT INTO ${schema}.wallet_players
        VALUES ('alice', 'EUR', 1000), ('bob', 'EUR', 1000), ('carol', 'EUR', 1000), ('dave', 'EUR', 1000)`,
    )
    await servers.caughtUp()
  })
  afterEach(async () => {
    vi.restoreAllMocks()
    await Promise.all(pools.splice(0).map(pool => pool.end().catch(() => {})))
    await Promise.all(addresses.splice(0).map(address => address.close()))
    if (isPaused) await primary.kill()
    isPaused = false
    if (!primary.isRunning()) await primary.start()
    await onServer(replica, 'STOP REPLICA', 'START REPLICA')
    await servers.setWritable(false)
    await servers.caughtUp()
  })

  /** It is killed after the test: what it was sent meanwhile would be recorded. */
  const pause = () => {
    primary.pause()
    isPaused = true
  }
  const poolOf = ({ host, port }: { host: string; port: number }, options: mysql.PoolOptions = {}) => {
    const pool = mysql.createPool({ ...primary.config, connectTimeout: 120_000, host, port, ...options })
    pools.push(pool)
    return pool
  }
  const addressOf = async (...targets: MariadbServer[]) => {
    const address = await openAddress()
    addresses.push(address)
    address.leadTo(...targets)
    return address
  }
  const onServer = ({ config }: MariadbServer, ...statements: string[]) =>
    withConnection(config, async connection => {
      for (const statement of statements) await connection.query(statement)
    })
  const recordedOn = ({ config }: MariadbServer) =>
    withConnection(config, async connection => {
      const [rows] = await connection.query({
        sql: `SELECT transaction_id FROM ${schema}.wallet_transactions ORDER BY id`,
        rowsAsArray: true,
      })
      return (rows as unknown as string[][]).flat()
    })
  const codeOf = ({ code }: { code: string }) => code
  const answer = (outcome: Promise<WalletOutcome>) =>
    outcome.then(given => (given.ok ? `ok ${Number(given.balance)}` : given.errorCode), codeOf)
  const place = (store: MysqlStore, id: string, amount: string) =>
    answer(handlePlaceBet(store, request({ transactionId: id, betId: `bet-${id}`, amount })))
  const rollback = (store: MysqlStore, id: string) =>
    answer(handleRollbackBet(store, rollbackBet({ transactionId: `rollback-${id}`, betId: `bet-${id}` })))
  const statusOf = (commit: Promise<{ status: string }>) => commit.then(({ status }) => status, codeOf)

  describe('a list of a primary, and a replica that is writable by mistake', () => {
    let toPrimary: Address
    let store: MysqlStore
    const open = async () => {
      toPrimary = await addressOf(primary)
      store = createMysqlStore([poolOf(toPrimary), poolOf(replica.config)], { schema })
      await store.ready()
    }

    /** The answer to the first retry, where that to the call was lost with its connection. */
    const afterReset = async (call: () => Promise<string>) => {
      toPrimary.reset()
      const first = await call()
      return first === 'COMMIT_UNKNOWN' ? await call() : first
    }

    test('and behind: one reset of the connections, and the primary decides', async () => {
      await open()
      await servers.hold()
      expect(await place(store, 'large', '900')).toBe('ok 100')
      expect(await place(store, 'small', '50')).toBe('ok 50')
      await servers.setWritable(true)
      expect(await afterReset(() => place(store, 'new', '400'))).toBe('INSUFFICIENT_FUNDS')
      expect(await afterReset(() => place(store, 'large', '900'))).toBe('ok 50')
      expect(await afterReset(() => rollback(store, 'small'))).toBe('ok 100')
      expect(await recordedOn(replica)).toEqual([])
    })

    test('and behind, while the primary is out of reach: nothing is decided', async () => {
      await open()
      await servers.hold()
      expect(await place(store, 'large', '900')).toBe('ok 100')
      expect(await place(store, 'small', '50')).toBe('ok 50')
      await servers.setWritable(true)
      toPrimary.leadTo()
      toPrimary.reset()
      // The first one was sent when the connections broke.
      expect(['UNAVAILABLE', 'COMMIT_UNKNOWN']).toContain(await place(store, 'first', '1'))
      expect(await place(store, 'new', '400')).toBe('UNAVAILABLE')
      expect(await place(store, 'large', '900')).toBe('UNAVAILABLE')
      expect(await rollback(store, 'small')).toBe('UNAVAILABLE')
      await expect(store.ping()).rejects.toMatchObject({
        code: 'UNAVAILABLE',
        message: expect.stringMatching(/this server is writable and lacks placebet small .*acceptLoss/),
      })
      expect(store.stats.missingTransaction).toBe('placebet small')
      expect(warnings.filter(warning => warning.includes('lacks placebet small'))).not.toEqual([])
      expect(await recordedOn(replica)).toEqual([])
      toPrimary.leadTo(primary)
      // The first one may be recorded here.
      expect(await place(store, 'large', '900')).toMatch(/^ok (49|50)$/)
      expect(store.stats.missingTransaction).toBeNull()
      expect(await rollback(store, 'small')).toMatch(/^ok (99|100)$/)
    })

    test('and not behind: the primary stays, also for a process without commits', async () => {
      await open()
      await servers.setWritable(true)
      for (const id of [1, 2, 3]) {
        expect(await afterReset(() => statusOf(store.commit(placeBet(id, 'alice', '1'))))).toBe('committed')
      }
      await servers.caughtUp()
      expect(await recordedOn(primary)).toEqual(['t-1', 't-2', 't-3'])
    })

    test.each([
      ['not behind', 'two servers of the list are writable'],
      ['behind', 'Server 2 of the list: .* lacks placebet t-1'],
    ])('is reported while it is not asked: %s', async (how, text) => {
      await open()
      if (how === 'behind') await servers.hold()
      expect(await statusOf(store.commit(placeBet()))).toBe('committed')
      if (how !== 'behind') await servers.caughtUp()
      await store.ping()
      expect(warnings.filter(warning => new RegExp(text).test(warning))).toEqual([])
      await servers.setWritable(true)
      const reported = async () => {
        await store.ping()
        return warnings.filter(warning => new RegExp(text).test(warning)).length
      }
      await expect.poll(reported, patience).toBe(1)
      await store.ping()
      expect(await reported()).toBe(1)
    })
  })

  describe('a promotion', () => {
    const storeOver = async (timeoutMs = 120_000, options: mysql.PoolOptions = {}) => {
      const list = [poolOf(primary.config, options), poolOf(replica.config, options)]
      const store = createMysqlStore(list, { schema, timeoutMs })
      await store.ready()
      return store
    }

    test.each(['is killed', 'is silent'])(
      'that lost nothing, when the primary %s: calls are answered again',
      async how => {
        const store = await storeOver(6_000, { connectTimeout: 2_000 })
        for (const id of [1, 2, 3])
          expect(await statusOf(store.commit(placeBet(id, 'alice', '1')))).toBe('committed')
        await servers.caughtUp()
        if (how === 'is killed') await primary.kill()
        else pause()
        await servers.setWritable(true)
        const committed = () => statusOf(store.commit(placeBet('later', 'alice', '1')))
        await expect.poll(committed, patience).toBe('committed')
        expect((await store.loadConfirmed(keysOf(placeBet(3)))).transaction).not.toBeNull()
        expect(await recordedOn(replica)).toEqual(['t-1', 't-2', 't-3', 't-later'])
      },
    )

    test.each(['the server has them', 'the loss is accepted', 'the process is restarted'])(
      'without commits that were answered: nothing is decided until %s',
      async until => {
        const store = await storeOver()
        await servers.hold()
        expect(await place(store, 'lost', '900')).toBe('ok 100')
        await primary.kill()
        await servers.setWritable(true)
        for (let times = 0; times < 3; times += 1) {
          expect(await place(store, 'new', '200')).toBe('UNAVAILABLE')
          expect(store.stats.missingTransaction).toBe('placebet lost')
        }
        await expect(store.ping()).rejects.toMatchObject({
          message: expect.stringContaining('lacks placebet lost'),
        })
        expect(await recordedOn(replica)).toEqual([])
        if (until === 'the server has them') {
          await servers.release()
          await expect.poll(() => recordedOn(replica), patience).toEqual(['lost'])
          expect(await place(store, 'new', '100')).toBe('ok 0')
        } else if (until === 'the loss is accepted') {
          store.acceptLoss()
          expect(store.stats.missingTransaction).toBeNull()
          expect(await place(store, 'new', '200')).toBe('ok 800')
        } else {
          expect(await place(await storeOver(), 'new', '200')).toBe('ok 800')
          return
        }
        await store.ping()
      },
    )
  })

  describe('one address', () => {
    test('that leads to the former primary again: nothing is decided there, until it leads back', async () => {
      const address = await addressOf(primary)
      const store = createMysqlStore(poolOf(address), { schema })
      await store.ready()
      expect(await place(store, 'before', '100')).toBe('ok 900')
      await servers.caughtUp()
      await servers.hold()
      await servers.setWritable(true)
      address.leadTo(replica)
      address.reset()
      await expect.poll(() => place(store, 'large', '800'), patience).toBe('ok 100')
      const before = await recordedOn(primary)
      address.leadTo(primary)
      address.reset()
      await expect.poll(() => place(store, 'new', '300'), patience).toBe('UNAVAILABLE')
      expect(await place(store, 'large', '800')).toBe('UNAVAILABLE')
      expect(await rollback(store, 'large')).toBe('UNAVAILABLE')
      await expect(store.ping()).rejects.toMatchObject({
        message: expect.stringContaining('lacks placebet large'),
      })
      // At each connection another server.
      address.leadTo(primary, replica)
      for (let times = 0; times < 10; times += 1) {
        address.reset()
        expect(['ok 100', 'UNAVAILABLE', 'COMMIT_UNKNOWN', 'LOAD_FAILED']).toContain(
          await place(store, 'large', '800'),
        )
      }
      address.leadTo(replica)
      await expect.poll(() => place(store, 'large', '800'), patience).toBe('ok 100')
      expect(await rollback(store, 'large')).toBe('ok 900')
      expect(await recordedOn(primary)).toEqual(before)
    })

    test('that leads to both under a burst over four connections: what was in flight, then nothing', async () => {
      const address = await addressOf(primary, replica)
      await servers.hold()
      await servers.setWritable(true)
      const players = ['alice', 'bob', 'carol', 'dave']
      let arrived = 0
      const store = createMysqlStore(poolOf(address, { connectionLimit: 4 }), {
        schema,
        connectionsMax: 4,
        batchMax: 1,
        // None is confirmed before all four are under way.
        async withinTransaction() {
          arrived += 1
          await until(() => arrived >= players.length)
        },
      })
      await store.ready()
      await Promise.all(players.map(player => store.load(keysOf(placeBet(player, player)))))
      const burst = players.map(player => statusOf(store.commit(placeBet(player, player, '1'))))
      expect(await Promise.all(burst)).toEqual(players.map(() => 'committed'))
      const recorded = async () => [await recordedOn(primary), await recordedOn(replica)]
      const both = await recorded()
      expect(both.map(ids => ids.length)).toEqual([2, 2])
      for (let times = 0; times < 8; times += 1)
        expect(await statusOf(store.commit(placeBet(times, 'alice', '1')))).toBe('unavailable')
      await expect(store.ping()).rejects.toMatchObject({ code: 'UNAVAILABLE', message: /lacks placebet t-/ })
      expect(await recorded()).toEqual(both)
      store.acceptLoss()
      expect(await statusOf(store.commit(placeBet('accepted', 'alice', '1')))).toBe('committed')
    })

    test('that leads to each node: what is committed on another meanwhile holds up no call', async () => {
      await servers.setWritable(true)
      const pools = [poolOf(primary.config), poolOf(replica.config)] as const
      let [next] = pools as readonly [Pool, ...Pool[]]
      const store = createMysqlStore(
        { getConnection: (callback: never) => next.pool.getConnection(callback) },
        { schema },
      )
      const commitOn = async (pool: Pool, id: string, player: string) => {
        next = pool
        expect(await statusOf(store.commit(placeBet(id, player, '1')))).toBe('committed')
      }
      await commitOn(pools[0], 'first', 'alice')
      await servers.caughtUp()
      let looks = 0
      pools[1].pool.on(
        'connection',
        (connection: { execute(options: { sql: string }, ...rest: unknown[]): void }) => {
          const { execute } = connection
          connection.execute = (options, ...rest) => {
            const run = () => execute.call(connection, options, ...rest)
            if (!/^\s*SELECT 1 FROM \S+wallet_transactions/.test(options.sql) || looks === 3) return run()
            looks += 1
            commitOn(pools[0], `other-${looks}`, 'alice').then(servers.caughtUp).then(run)
            return undefined
          }
        },
      )
      await commitOn(pools[1], 'moved', 'bob')
      expect(looks).toBe(1)
    })

    test('that leads to a server without a commit whose answer was lost: it goes on', async () => {
      const address = await addressOf(primary)
      const store = createMysqlStore(poolOf(address), { schema, timeoutMs: 5_000 })
      await store.ready()
      expect(await statusOf(store.commit(placeBet('answered', 'alice', '1')))).toBe('committed')
      await servers.caughtUp()
      await servers.hold()
      await servers.setWritable(true)
      address.swallow()
      expect(await statusOf(store.commit(placeBet('unknown', 'alice', '1')))).toBe('COMMIT_UNKNOWN')
      await expect.poll(() => recordedOn(primary), patience).toEqual(['t-answered', 't-unknown'])
      address.leadTo(replica)
      address.reset()
      const committed = () => statusOf(store.commit(placeBet('later', 'alice', '1')))
      await expect.poll(committed, patience).toBe('committed')
      expect(await recordedOn(replica)).toEqual(['t-answered', 't-later'])
    })
  })
})
