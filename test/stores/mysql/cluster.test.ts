/** A list of pools: nodes of a Galera cluster that are killed, paused, cut off or behind. */
import mysql, { type Pool } from 'mysql2/promise'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createMysqlStore, type MysqlStoreOptions, migrateMysql } from '../../../src/stores/mysql/index.js'
import { type GaleraCluster, startGalera } from '../../mariadb/cluster.js'
import { noGalera } from '../../mariadb/installation.js'
import { withConnection } from '../../mariadb/server.js'
import { keysOf, placeBet, settle, until } from './wallet.js'

const reason = noGalera === null ? '' : ` (skipped: ${noGalera})`

describe.skipIf(noGalera !== null)(`a cluster${reason}`, () => {
  let cluster: GaleraCluster
  const pools: Pool[] = []
  let schemas = 0
  let schema = ''
  beforeAll(async () => {
    cluster = await startGalera()
  }, 120_000)
  afterEach(async () => {
    await Promise.all(pools.splice(0).map(pool => pool.end().catch(() => {})))
    for (const node of cluster.nodes) if (!node.isRunning()) await node.start()
    await cluster.consistsOf()
  }, 120_000)
  afterAll(() => cluster.stop())

  /** A store whose preferred node is the first of these. */
  const storeOn = (order: readonly number[], options: Omit<MysqlStoreOptions, 'schema'> = {}) => {
    const own = order.map(index => {
      const { config } = cluster.nodes[index as 0]
      return mysql.createPool({ ...config, connectionLimit: 8, connectTimeout: 2_000 })
    })
    pools.push(...own)
    return createMysqlStore(own, { schema, ...options })
  }

  async function openStore(order: readonly number[], options: Omit<MysqlStoreOptions, 'schema'> = {}) {
    schemas += 1
    schema = `cluster_${schemas}`
    const admin = mysql.createPool(cluster.nodes[2].config)
    pools.push(admin)
    await migrateMysql(admin, { schema })
    await admin.query(
      `INSERT INTO ${schema}.wallet_players VALUES ('alice', 'EUR', 100000), ('bob', 'EUR', 100000), ('carol', 'EUR', 100000)`,
    )
    const store = storeOn(order, options)
    await store.ready()
    return store
  }

  const recordedOn = (node: GaleraCluster['nodes'][number]) =>
    withConnection(node.config, async connection => {
      await connection.query('SET SESSION wsrep_sync_wait = 1')
      const [rows] = await connection.query({
        sql: `SELECT transaction_id FROM ${schema}.wallet_transactions`,
        rowsAsArray: true,
      })
      return (rows as unknown as [string][]).map(([id]) => id)
    })

  /** Commits of all players, until `stop`; resolves with the ids of those that were answered as committed. */
  function load(store: ReturnType<typeof storeOn>) {
    const committed: string[] = []
    const failures: unknown[] = []
    let running = true
    let number = 0
    const caller = async (playerId: string) => {
      while (running) {
        number += 1
        const changes = placeBet(number, playerId, '1')
        try {
          const { status } = await store.commit(changes)
          if (status === 'committed') committed.push(changes.transaction.transactionId)
          else failures.push(status)
        } catch (error) {
          failures.push(error)
        }
      }
    }
    const callers = ['alice', 'bob', 'carol', 'alice', 'bob', 'carol'].map(caller)
    return {
      committed,
      failures,
      async stop() {
        running = false
        await Promise.all(callers)
      },
    }
  }

  test.each([
    ['killed', 'kill'],
    ['paused', 'pause'],
  ] as const)(
    'the preferred node is %s under load: the others go on, and what was answered is on both',
    async (_, how) => {
      const store = await openStore([0, 1, 2], { timeoutMs: 15_000 })
      const { committed, failures, stop } = load(store)
      await until(() => committed.length > 20)
      const [first, second, third] = cluster.nodes
      await first[how]()
      const before = committed.length
      await until(() => committed.length > before + 50)
      await stop()
      if (how === 'pause') {
        first.resume()
        await cluster.consistsOf()
      } else {
        await cluster.consistsOf([second, third])
      }
      for (const node of [second, third])
        expect(await recordedOn(node)).toEqual(expect.arrayContaining(committed))
      // The outcome of what was in flight is unknown at most: nothing else was answered.
      for (const failure of failures) {
        if (typeof failure === 'string') expect(['conflict', 'unavailable']).toContain(failure)
        else expect(failure).toMatchObject({ code: 'COMMIT_UNKNOWN' })
      }
      const keys = keysOf(placeBet(committed.at(-1)?.slice(2) ?? '', 'alice'))
      expect((await store.loadConfirmed(keys)).transaction).not.toBeNull()
    },
    120_000,
  )

  test('the preferred node is cut off: loads and commits move, and return when it is back', async () => {
    const store = await openStore([0, 1, 2], { timeoutMs: 15_000 })
    await store.commit(placeBet(1))
    const [first, second] = cluster.nodes
    await first.cutOff()
    const { transaction, player } = await store.load(keysOf(placeBet(1)))
    expect([transaction?.transactionId, player?.balance]).toEqual(['t-1', '99970.000000000000000000'])
    expect(await store.commit(placeBet(2))).toMatchObject({ status: 'committed' })
    await expect(store.ping()).resolves.toBeUndefined()
    await first.hasLeft()
    // A store that has only this node: nothing is answered, old records least of all.
    const alone = storeOn([0], { timeoutMs: 5_000 })
    await expect(alone.load(keysOf(placeBet(1)))).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    await expect(alone.ping()).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    expect(await recordedOn(second)).toEqual(expect.arrayContaining(['t-1', 't-2']))
    await first.reconnect()
    await until(async () => {
      await store.load(keysOf(placeBet(1)))
      return (await connectionsOn(0)) > 0
    })
  }, 120_000)

  /** Of the store to a node: whether it is asked again. */
  const connectionsOn = (index: 0 | 1 | 2) =>
    withConnection(cluster.nodes[index].config, async connection => {
      const [rows] = await connection.query({
        sql: `SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE USER = 'root' AND ID <> CONNECTION_ID()`,
        rowsAsArray: true,
      })
      return Number((rows as unknown as [number][])[0]?.[0])
    })

  test('a node that is behind: a load waits for what the others have committed', async () => {
    const store = await openStore([0, 1, 2])
    const behind = storeOn([1], { timeoutMs: 30_000 })
    await behind.ready()
    const release = await cluster.nodes[1].holdApplying()
    await store.commit(placeBet(1))
    let loaded = false
    const loading = behind.load(keysOf(placeBet(1))).finally(() => {
      loaded = true
    })
    await until(async () => (await recordedOn(cluster.nodes[2])).length === 1)
    expect(loaded).toBe(false)
    await release()
    const snapshot = await loading.catch((error: { code: string }) => error.code)
    if (snapshot !== 'UNAVAILABLE') expect(snapshot).toMatchObject({ transaction: { transactionId: 't-1' } })
  }, 60_000)

  test('commits of one player on two nodes at once: a conflict at most, and every balance is right', async () => {
    const first = await openStore([0])
    const second = storeOn([1])
    await second.ready()
    const results: string[] = []
    let number = 0
    await Promise.all(
      [first, second, first, second].map(async store => {
        for (let n = 0; n < 20; n += 1) {
          number += 1
          const { status } = await store.commit(placeBet(number, 'alice', '1'))
          results.push(status)
        }
      }),
    )
    expect(new Set(results)).toEqual(
      new Set([...new Set(results)].filter(each => ['committed', 'conflict', 'unavailable'].includes(each))),
    )
    const committed = results.filter(each => each === 'committed').length
    for (const store of [first, second]) {
      const { player } = await store.load(keysOf(placeBet(1)))
      expect(Number(player?.balance)).toBe(100_000 - committed)
    }
    expect((await recordedOn(cluster.nodes[2])).length).toBe(committed)
  }, 60_000)

  test('an unknown commit is made again on another node, and is recorded once', async () => {
    const store = await openStore([0, 1, 2], { timeoutMs: 15_000 })
    const admin = mysql.createPool(cluster.nodes[1].config)
    pools.push(admin)
    // On the first node only: it stops when everything is written.
    const lock = `${schema} hold`
    await admin.query(`CREATE TRIGGER ${schema}.hold AFTER INSERT ON ${schema}.wallet_transactions FOR EACH ROW
      DO IF(NEW.transaction_id = 's-1' AND IS_USED_LOCK('${lock}') IS NOT NULL, GET_LOCK('${lock}', 600), 0)`)
    await store.commit(placeBet(1))
    await withConnection(cluster.nodes[0].config, async holder => {
      await holder.query(`DO GET_LOCK('${lock}', 0)`)
      const commit = store.commit(settle(1))
      let ids: number[] = []
      await until(async () => {
        const [rows] = await holder.query({
          sql: `SELECT ID FROM information_schema.PROCESSLIST WHERE STATE = 'User lock'`,
          rowsAsArray: true,
        })
        ids = (rows as unknown as [number][]).map(([id]) => id)
        return ids.length > 0
      })
      await holder.query(`KILL ${ids[0]}`)
      expect(await commit).toMatchObject({ status: 'committed' })
    })
    expect(await recordedOn(cluster.nodes[2])).toEqual(expect.arrayContaining(['t-1', 's-1']))
    expect(Number((await store.load(keysOf(placeBet(1)))).player?.balance)).toBe(100_030)
  }, 60_000)
})
