/** `stats.durability` and `requireDurability` on a primary that waits for its replica, and falls back. */
import mysql, { type Pool } from 'mysql2/promise'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { createMysqlStore, type MysqlStoreOptions, migrateMysql } from '../../../src/stores/mysql/index.js'
import { freshMariadb } from '../../mariadb/fresh-database.js'
import { type Replicated, semiSync, startReplicated } from '../../mariadb/replica.js'
import { isMysql, noServer, processList } from '../../mysql/engine.js'
import { keysOf, placeBet } from './wallet.js'

const reason = noServer === null ? '' : ` (skipped: ${noServer})`
const patience = { interval: 50 }
/** As the servers name them. */
const role = isMysql ? 'source' : 'master'
const acknowledges = `rpl_semi_sync_${isMysql ? 'replica' : 'slave'}_enabled`
const clients = `Rpl_semi_sync_${role}_clients`

beforeEach(() => {
  vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
})

describe.skipIf(noServer !== null)(`a server alone${reason}`, () => {
  test('is alone', async () => {
    const { pool, drop } = await freshMariadb()
    try {
      const setting = isMysql
        ? 'semi-synchronous replication is not installed'
        : 'rpl_semi_sync_master_enabled is OFF'
      const store = createMysqlStore(pool)
      expect(store.stats.durability).toBeNull()
      await store.ping()
      expect(store.stats.durability).toEqual({
        level: 'alone',
        reason: `${setting}, and no replica is visible`,
      })
    } finally {
      await drop()
    }
  })
})

describe.skipIf(noServer !== null)(`a primary and a replica${reason}`, () => {
  let servers: Replicated
  let admin: Pool
  let bets = 0
  const pools: Pool[] = []
  const poolOn = (server: 'primary' | 'replica', more: mysql.PoolOptions = {}) => {
    const pool = mysql.createPool({ ...servers[server].config, connectionLimit: 8, ...more })
    pools.push(pool)
    return pool
  }
  const open = (options: MysqlStoreOptions = {}) => createMysqlStore(poolOn('primary'), options)
  const required: MysqlStoreOptions = { requireDurability: 'synchronous', timeoutMs: 20_000 }
  const nextBet = () => {
    bets += 1
    return placeBet(`durable-${bets}`, 'alice', '1')
  }
  const synchronous = {
    level: 'synchronous',
    reason: `${semiSync.status} is ON, ${clients} is 1`,
  }
  let isPaused = false
  const pause = () => {
    servers.replica.pause()
    isPaused = true
  }
  const resume = () => {
    if (isPaused) servers.replica.resume()
    isPaused = false
  }
  /** The replica connects again, and what a test has set is undone. */
  async function restore(): Promise<void> {
    resume()
    await admin.query(`SET GLOBAL rpl_semi_sync_${role}_timeout = 60000`)
    await admin.query(`SET GLOBAL rpl_semi_sync_${role}_enabled = ON`)
    await admin.query('SET GLOBAL innodb_flush_log_at_trx_commit = 1, GLOBAL sync_binlog = 1')
    const replica = poolOn('replica')
    await replica.query('STOP REPLICA')
    await replica.query(`SET GLOBAL ${acknowledges} = ON`)
    await replica.query('START REPLICA')
    await expect.poll(() => open().ping(), patience).toEqual(synchronous)
  }

  beforeAll(async () => {
    servers = await startReplicated()
    admin = mysql.createPool({ ...servers.primary.config, connectionLimit: 4, connectTimeout: 120_000 })
    await admin.query('SET GLOBAL sync_binlog = 1')
    await migrateMysql(admin)
    await admin.query("INSERT INTO bet_wallet.wallet_players VALUES ('alice', 'EUR', 1000)")
    await servers.caughtUp()
  })
  afterEach(async () => {
    await restore()
    await Promise.all(pools.splice(0).map(pool => pool.end().catch(() => {})))
  })
  afterAll(async () => {
    await admin?.end()
    await servers?.stop()
  })

  test('is synchronous while the replica acknowledges, and not when the server has fallen back', async () => {
    const store = open()
    await store.ready()
    expect(store.stats.durability).toEqual(synchronous)
    await admin.query(`SET GLOBAL rpl_semi_sync_${role}_timeout = 100`)
    pause()
    // Answered after the wait, on this server alone: the error log has it, and no answer does.
    expect(await store.commit(nextBet())).toMatchObject({ status: 'committed' })
    expect(await store.ping()).toEqual({
      level: 'asynchronous',
      reason: `${semiSync.status} is OFF: the server has fallen back`,
    })
    resume()
    await servers.caughtUp()
    await expect.poll(() => store.ping(), patience).toEqual(synchronous)
  })

  test('without its replica it is alone, also before a commit has waited for it in vain', async () => {
    const store = open()
    await poolOn('replica').query('STOP REPLICA')
    // The primary would notice it with the next heartbeat.
    const [threads] = await admin.query(`SELECT ID FROM ${processList} WHERE COMMAND LIKE 'Binlog Dump%'`)
    for (const { ID } of threads as { ID: number }[]) await admin.query(`KILL ${ID}`)
    await expect
      .poll(() => store.ping(), patience)
      .toEqual({ level: 'alone', reason: `${clients} is 0, and no replica is visible` })
  })

  test('with a replica that it does not wait for it is asynchronous', async () => {
    await admin.query(`SET GLOBAL rpl_semi_sync_${role}_enabled = OFF`)
    expect(await open().ping()).toEqual({
      level: 'asynchronous',
      reason: `rpl_semi_sync_${role}_enabled is OFF`,
    })
  })

  test.each(['innodb_flush_log_at_trx_commit', 'sync_binlog'])(
    'is not synchronous with %s = 0: the server itself loses commits in a crash',
    async name => {
      await admin.query(`SET GLOBAL ${name} = 0`)
      expect(await open().ping()).toEqual({ level: 'asynchronous', reason: `${name} is 0` })
    },
  )

  test('a user without rights sees the same of semi-synchronous replication', async () => {
    await admin.query("CREATE USER wallet@'%' IDENTIFIED BY 'secret'")
    const store = createMysqlStore(poolOn('primary', { user: 'wallet', password: 'secret', database: '' }))
    expect(await store.ping()).toEqual(synchronous)
    const replica = poolOn('replica')
    await replica.query('STOP REPLICA')
    await replica.query(`SET GLOBAL ${acknowledges} = OFF`)
    await replica.query('START REPLICA')
    // MySQL shows a replica that acknowledges nothing to users with PROCESS only.
    const noClients = `${clients} is 0`
    await expect
      .poll(() => store.ping(), patience)
      .toEqual(
        isMysql
          ? { level: 'alone', reason: `${noClients}, and no replica is visible` }
          : { level: 'asynchronous', reason: noClients },
      )
    await expect.poll(() => open().ping(), patience).toEqual({ level: 'asynchronous', reason: noClients })
  })

  test('required: decides while it holds; unavailable after the fall-back, with nothing recorded; decides again', async () => {
    const store = open(required)
    await store.ready()
    const first = nextBet()
    expect(await store.commit(first)).toMatchObject({ status: 'committed' })
    await admin.query(`SET GLOBAL rpl_semi_sync_${role}_timeout = 100`)
    pause()
    expect(await open().commit(nextBet())).toMatchObject({ status: 'committed' })
    await expect(store.ping()).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: expect.stringContaining('the server has fallen back'),
    })
    const [alone, ...batch] = Array.from({ length: 4 }, nextBet) as [ReturnType<typeof nextBet>]
    expect(await store.commit(alone)).toEqual({ status: 'unavailable' })
    for (const result of await Promise.all(batch.map(each => store.commit(each))))
      expect(result).toEqual({ status: 'unavailable' })
    await expect(store.loadConfirmed(keysOf(first))).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    // A load decides nothing.
    expect((await store.load(keysOf(alone))).transaction).toBeNull()
    await admin.query(`SET GLOBAL rpl_semi_sync_${role}_timeout = 60000`)
    resume()
    await servers.caughtUp()
    await expect
      .poll(
        () =>
          store.ping().then(
            () => 'ok',
            () => 'not yet',
          ),
        patience,
      )
      .toBe('ok')
    expect(await store.commit(alone)).toMatchObject({ status: 'committed' })
    expect((await store.loadConfirmed(keysOf(first))).transaction).not.toBeNull()
  })

  test('required: a commit that has waited until the server fell back is no success', async () => {
    const store = open(required)
    await store.ready()
    // Longer than a reading counts.
    await admin.query(`SET GLOBAL rpl_semi_sync_${role}_timeout = 1500`)
    pause()
    await expect(store.commit(nextBet())).rejects.toMatchObject({ code: 'COMMIT_UNKNOWN' })
  })
})
