/** A list of servers that are no cluster: only one of them may be writable. */
import mysql, { type Pool } from 'mysql2/promise'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { connectionsFrom } from '../../../src/stores/mysql/client.js'
import { createMysqlStore, type MysqlStore, migrateMysql } from '../../../src/stores/mysql/index.js'
import type { MariadbServer } from '../../mariadb/server.js'
import { noServer, startServer } from '../../mysql/engine.js'
import { placeBet } from './wallet.js'

const reason = noServer === null ? '' : ` (skipped: ${noServer})`

describe.skipIf(noServer !== null)(`two servers${reason}`, () => {
  let servers: MariadbServer[] = []
  let admins: Pool[] = []
  const pools: Pool[] = []
  /** How often the store has borrowed a connection to each server. */
  let borrowed = [0, 0]
  /** The next connection to this server is refused. */
  let refuses: number | null = null
  let bets = 0

  const setReadOnly = async (index: number, isReadOnly: boolean) =>
    void (await admins[index]?.query(`SET GLOBAL read_only = ${isReadOnly ? 'ON' : 'OFF'}`))
  const setWritable = async (...writable: boolean[]) => {
    for (const index of admins.keys()) await setReadOnly(index, !writable[index])
  }
  beforeAll(async () => {
    servers = await Promise.all([startServer(), startServer()])
    admins = servers.map(({ config }) => mysql.createPool({ connectTimeout: 120_000, ...config }))
    for (const admin of admins) {
      await migrateMysql(admin)
      await admin.query("INSERT INTO bet_wallet.wallet_players VALUES ('alice', 'EUR', 1000)")
    }
  })
  beforeEach(() => setWritable(true, false))
  afterEach(async () => {
    await Promise.all(pools.splice(0).map(pool => pool.end()))
  })
  afterAll(async () => {
    await Promise.all(admins.map(admin => admin.end()))
    await Promise.all(servers.map(server => server.stop()))
  })

  const storeOver = (...order: number[]): MysqlStore =>
    createMysqlStore(poolsOf(...order), { timeoutMs: 240_000 })
  function poolsOf(...order: number[]) {
    return order.map(index => {
      const pool = mysql.createPool({ connectTimeout: 120_000, ...servers[index]?.config })
      pools.push(pool)
      return {
        getConnection(callback: Parameters<typeof pool.pool.getConnection>[0]) {
          borrowed = borrowed.map((count, each) => count + Number(each === index))
          if (refuses !== index) return pool.pool.getConnection(callback)
          refuses = null
          const error = Object.assign(new Error('injected'), { code: 'ECONNREFUSED', errno: -111 })
          callback(error as NodeJS.ErrnoException, undefined as never)
        },
      }
    })
  }
  /** @returns the server that has recorded the next placebet */
  async function recordedOn(store: MysqlStore): Promise<number | string> {
    bets += 1
    const { status } = await store.commit(placeBet(bets, 'alice', '1'))
    if (status !== 'committed') return status
    const found = await Promise.all(
      admins.map(async (admin, index) => {
        const [rows] = await admin.query(
          'SELECT 1 FROM bet_wallet.wallet_transactions WHERE transaction_id = ?',
          [`t-${bets}`],
        )
        return (rows as unknown[]).length > 0 ? [index] : []
      }),
    )
    return found.flat().join(' and ')
  }
  /** Resolves when the store has asked a server a few times more. */
  const isAsked = async (store: MysqlStore, index: number) => {
    const before = borrowed[index] as number
    await expect
      .poll(
        async () => {
          bets += 1
          await store.commit(placeBet(bets, 'alice', '0.01'))
          return borrowed[index] as number
        },
        { interval: 100 },
      )
      .toBeGreaterThan(before + 2)
  }

  test('one of which is read-only: accepted', async () => {
    await storeOver(0, 1).ready()
    await storeOver(1, 0).ready()
  })

  test('the same one twice, as by two proxies: accepted', () => storeOver(0, 0).ready())

  test('that are writable both: refused', async () => {
    await setWritable(true, true)
    for (const order of [
      [0, 1],
      [1, 0],
    ])
      await expect(storeOver(...order).ready()).rejects.toMatchObject({
        code: 'SERVERS_APART',
        message: expect.stringMatching(/^Servers 1 and 2 of the list are both writable.* one cluster/),
      })
  })

  test('a former primary that comes back writable is not asked, until one of the two is read-only', async () => {
    const store = storeOver(0, 1)
    await store.ready()
    expect(await recordedOn(store)).toBe('0')
    await setWritable(false, true)
    // They do not replicate.
    store.acceptLoss()
    expect(await recordedOn(store)).toBe('1')
    await setWritable(true, true)
    await isAsked(store, 0)
    expect(await recordedOn(store)).toBe('1')
    // The other one is gone: what it has recorded is not here. A connection may not have noticed it yet.
    await servers[1]?.kill()
    const lost = (error: Error) => error.message
    expect(['unavailable', 'The answer to the commit was lost']).toContain(
      await recordedOn(store).catch(lost),
    )
    await servers[1]?.start()
    await setWritable(true, false)
    store.acceptLoss()
    await expect.poll(() => recordedOn(store), { interval: 100 }).toBe('0')
  })

  test('nor when its successor fails for a moment', async () => {
    const store = storeOver(0, 1)
    await store.ready()
    await setWritable(false, true)
    expect(await recordedOn(store)).toBe('1')
    // No probe has compared the two before.
    await setWritable(true, true)
    refuses = 1
    expect(['1', 'unavailable']).toContain(await recordedOn(store))
    refuses = 1
    expect(['1', 'unavailable']).toContain(await recordedOn(store))
    await setWritable(false, true)
    await expect.poll(() => recordedOn(store), { interval: 100 }).toBe('1')
  })

  test('nor by the database transactions of a relay or an import, which check nothing at start', async () => {
    const connections = connectionsFrom(poolsOf(0, 1), { timeoutMs: 240_000, lockTimeoutMs: 1_000 })
    const portOf = async () =>
      Number((await connections.transaction(database => database.rows('SELECT @@port')))[0]?.[0])
    const ports = servers.map(({ config }) => config.port)
    expect(await portOf()).toBe(ports[0])
    await servers[0]?.kill()
    await setReadOnly(1, false)
    await expect.poll(() => portOf().catch(() => 0), { interval: 100 }).toBe(ports[1])
    await servers[0]?.start()
    await setReadOnly(0, false)
    const before = borrowed[0] as number
    while ((borrowed[0] as number) < before + 3) expect(await portOf()).toBe(ports[1])
    expect(await portOf()).toBe(ports[1])
  })
})
