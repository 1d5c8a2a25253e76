/** A primary that waits for its replica, and the replica: who may answer a refusal. */
import mysql, { type Pool } from 'mysql2/promise'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createMysqlStore, type MysqlStoreOptions, migrateMysql } from '../../../src/stores/mysql/index.js'
import { type Replicated, startReplicated } from '../../mariadb/replica.js'
import { isMysql, noServer, processList } from '../../mysql/engine.js'
import { keysOf, placeBet } from './wallet.js'

/** The connections whose COMMIT waits for the replica. */
async function waitingForReplica(admin: Pool): Promise<{ ID: number }[]> {
  const [rows] = await admin.query(`SELECT ID FROM ${processList} WHERE STATE LIKE 'Waiting for semi-sync%'`)
  return rows as { ID: number }[]
}

const reason = noServer === null ? '' : ` (skipped: ${noServer})`

describe.skipIf(noServer !== null)(`a primary and a replica${reason}`, () => {
  let servers: Replicated
  const pools: Pool[] = []
  const poolOn = (server: 'primary' | 'replica') => {
    const pool = mysql.createPool({ ...servers[server].config, connectionLimit: 8, connectTimeout: 120_000 })
    pools.push(pool)
    return pool
  }
  const storeOn = (order: readonly ('primary' | 'replica')[], options: MysqlStoreOptions = {}) =>
    createMysqlStore(order.map(poolOn), { timeoutMs: 120_000, ...options })
  beforeAll(async () => {
    servers = await startReplicated()
    const admin = poolOn('primary')
    // MariaDB's default is 0, which `ready` rejects.
    await admin.query('SET GLOBAL sync_binlog = 1')
    await migrateMysql(admin)
    await admin.query(
      "INSERT INTO bet_wallet.wallet_players VALUES ('alice', 'EUR', 1000), ('bob', 'EUR', 1000)",
    )
    await servers.caughtUp()
  })
  afterEach(async () => {
    await Promise.all(pools.splice(0).map(pool => pool.end().catch(() => {})))
  })
  afterAll(() => servers.stop())

  test('the replica is unavailable: for loads, confirmed loads, commits, ready and ping', async () => {
    const store = storeOn(['replica'])
    await expect(store.ready()).rejects.toMatchObject({ code: 'UNAVAILABLE', message: /read-only/ })
    await expect(store.ping()).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    await expect(store.load(keysOf(placeBet()))).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    expect(await store.commit(placeBet())).toEqual({ status: 'unavailable' })
  })

  test('a server that becomes read-only is unavailable too, and a list of pools moves on', async () => {
    const store = storeOn(['primary'])
    const both = storeOn(['replica', 'primary'])
    await store.ready()
    await both.ready()
    expect(await both.commit(placeBet('both'))).toMatchObject({ status: 'committed' })
    expect((await both.loadConfirmed(keysOf(placeBet('both')))).transaction).not.toBeNull()
    const admin = poolOn('primary')
    await admin.query('SET GLOBAL read_only = ON')
    await expect(store.load(keysOf(placeBet()))).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    await expect(store.loadConfirmed(keysOf(placeBet()))).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    // A placebet is committed without a load. This user may write to a read-only server; the store does not.
    await admin.query('INSERT INTO bet_wallet.wallet_proofs VALUES (1)')
    await admin.query('DELETE FROM bet_wallet.wallet_proofs')
    const alone = placeBet('read-only-1')
    const batch = [placeBet('read-only-2'), placeBet('read-only-3')]
    for (const changes of [[alone], batch])
      for (const result of await Promise.all(changes.map(each => store.commit(each))))
        expect(result).toEqual({ status: 'unavailable' })
    await admin.query('SET GLOBAL read_only = OFF')
    expect((await store.load(keysOf(placeBet()))).accounts[0]?.playerId).toBe('alice')
  })

  test('a confirmed load waits for the replica, as a commit does; a plain load does not', async () => {
    const store = storeOn(['primary'], { timeoutMs: 10_000 })
    await store.ready()
    await store.loadConfirmed(keysOf(placeBet()))
    servers.replica.pause()
    try {
      expect((await store.load(keysOf(placeBet()))).accounts[0]?.playerId).toBe('alice')
      await expect(store.loadConfirmed(keysOf(placeBet()))).rejects.toMatchObject({ code: 'UNAVAILABLE' })
      await expect(store.commit(placeBet('waits'))).rejects.toMatchObject({ code: 'COMMIT_UNKNOWN' })
    } finally {
      servers.replica.resume()
    }
  })

  // The loop decides on what a conflict returns: only the primary may, and other callers need not wait for it.
  test.each([
    ['one conflict', ['alice']],
    ['a batch of conflicts alone', ['alice', 'bob']],
  ])('%s waits for the replica, and holds no lock of a player', async (name, playerIds) => {
    const store = storeOn(['primary'], { timeoutMs: 60_000 })
    await store.ready()
    const admin = poolOn('primary')
    const answered: unknown[] = []
    servers.replica.pause()
    let committed: Promise<unknown> = Promise.resolve()
    try {
      committed = Promise.all(
        playerIds.map(async playerId =>
          answered.push(await store.commit(placeBet(`${name}-${playerId}`, playerId, '2000'))),
        ),
      )
      await expect.poll(() => waitingForReplica(admin)).toHaveLength(1)
      const locks = 'SELECT balance FROM bet_wallet.wallet_players WHERE player_id IN (?) FOR UPDATE NOWAIT'
      await admin.query(locks, [playerIds])
      expect(answered).toEqual([])
    } finally {
      servers.replica.resume()
    }
    await committed
    expect(answered).toMatchObject(
      playerIds.map(playerId => ({
        status: 'conflict',
        snapshot: { accounts: [{ playerId }] },
      })),
    )
    await servers.caughtUp()
  })

  // Why docs/mysql.md says: KILL CONNECTION, never KILL QUERY. On MySQL the wait goes on until the time limit.
  test.each([
    ['CONNECTION', 'unknown'],
    ['QUERY', isMysql ? 'unknown' : 'answered with success'],
  ])('a commit that waits for the replica and is ended by KILL %s is %s', async (kind, outcome) => {
    const pool = poolOn('primary')
    const store = createMysqlStore(pool, { timeoutMs: isMysql && kind === 'QUERY' ? 20_000 : 60_000 })
    await store.ready()
    const admin = poolOn('primary')
    servers.replica.pause()
    try {
      const committed = store.commit(placeBet(`killed-${kind}`)).then(
        ({ status }) => status,
        ({ code }) => code,
      )
      await expect.poll(() => waitingForReplica(admin)).toHaveLength(1)
      for (const { ID } of await waitingForReplica(admin)) await admin.query(`KILL ${kind} ${ID}`)
      expect(await committed).toBe(outcome === 'unknown' ? 'COMMIT_UNKNOWN' : 'committed')
    } finally {
      servers.replica.resume()
    }
    await servers.caughtUp()
  })
})
