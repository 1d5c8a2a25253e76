/**
 * The store on a real Galera cluster of three nodes: the whole kit, where each further connection of a case leads to
 * another node; and nodes that die, or only seem to live.
 */
import mysql, { type Pool } from 'mysql2/promise'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { isRetryable, WalletError } from '../../../src/errors.js'
import { handlePlaceBet } from '../../../src/handlers.js'
import type { WalletChanges } from '../../../src/store.js'
import {
  createMysqlStore,
  type MysqlStore,
  type MysqlStoreOptions,
  migrateMysql,
} from '../../../src/stores/mysql/index.js'
import { bet, live, placeBet } from '../../fixtures.js'
import { type GaleraCluster, type GaleraNode, startGalera } from '../../mariadb/cluster.js'
import { noGalera } from '../../mariadb/installation.js'
import { startMariadb, withConnection } from '../../mariadb/server.js'
import { relaysOn } from '../../outbox/nodes.js'
import { overtakeOnMysql } from '../../outbox/overtaken.js'
import { until } from '../../until.js'
import { judge } from '../kit-on-stores.js'
import { mysqlHarness, ownTable } from './harness.js'
import { placeBet as placementOf, settle } from './wallet.js'

/** Top-level: the kit's cases are made before the tests begin. */
const cluster: GaleraCluster | null = noGalera === null ? await startGalera() : null
const pools: Pool[] = []
afterAll(async () => {
  await Promise.all(pools.map(pool => pool.end().catch(() => {})))
  await cluster?.stop()
})

const reason = noGalera === null ? '' : ` (skipped: ${noGalera})`

describe.skipIf(cluster === null)(`the kit on a cluster, reopened on another node${reason}`, () => {
  if (cluster === null) return
  const admins = cluster.nodes.map(({ config }) => mysql.createPool({ ...config, connectionLimit: 20 }))
  pools.push(...admins)
  const nodeOf = (number: number) => number % cluster.nodes.length
  const harness = mysqlHarness({
    pool: admins[0] as Pool,
    adminOf: number => admins[nodeOf(number)] as Pool,
    configOf: number => (cluster.nodes[nodeOf(number)] as GaleraNode).config,
    accounts: ownTable,
  })
  judge(harness, 5)
})

/** For three nodes; each has a third of it. Long enough for the others to expel a node. */
const timeoutMs = 15_000
const patience = { timeout: 55_000 }

describe.skipIf(cluster === null)(`a store over the nodes of a cluster${reason}`, () => {
  const [first, second, third] = cluster?.nodes ?? []
  if (cluster === null || first === undefined || second === undefined || third === undefined) return
  const schema = 'dying_nodes'
  /** How often the store has borrowed a connection to each node. */
  let borrowed = [0, 0, 0]
  let store: MysqlStore
  let bets = 0
  const opened: Pool[] = []

  const storeOver = (...nodes: GaleraNode[]) => storeWith(nodes)
  const storeWithin = (limitMs: number, nodes: readonly GaleraNode[]) =>
    storeWith(nodes, { timeoutMs: limitMs })
  const storeWith = (nodes: readonly GaleraNode[], options: MysqlStoreOptions = {}) =>
    createMysqlStore(
      nodes.map(node => {
        const pool = mysql.createPool(node.config)
        opened.push(pool)
        return {
          getConnection(callback: Parameters<typeof pool.pool.getConnection>[0]) {
            const index = cluster.nodes.indexOf(node)
            borrowed = borrowed.map((count, each) => count + Number(each === index))
            pool.pool.getConnection(callback)
          },
        }
      }),
      { schema, timeoutMs, ...options },
    )

  beforeAll(async () => {
    await withConnection(first.config, async connection => connection.query(`CREATE DATABASE ${schema}`))
    const pool = mysql.createPool(first.config)
    await migrateMysql(pool, { schema })
    await pool.query(
      `INSERT INTO ${schema}.wallet_players (player_id, currency, balance) VALUES ('alice', 'EUR', '1000000'), ('bob', 'EUR', '1000000'), ('carol', 'EUR', '1000000')`,
    )
    await pool.end()
  })
  beforeEach(async () => {
    borrowed = [0, 0, 0]
    store = storeOver(first, second, third)
    await store.ready()
  })
  afterEach(async () => {
    // Of a test that has failed.
    await comeBack()
    await cluster.consistsOf()
    await Promise.all(opened.splice(0).map(pool => pool.end().catch(() => {})))
  })

  const nextBet = () => {
    bets += 1
    return placeBet({ transactionId: `place-${bets}`, betId: `bet-${bets}`, amount: '1' })
  }
  /** @throws what the platform would be answered with 500 or 503 */
  async function accept(request = nextBet(), by = store): Promise<string> {
    const outcome = await handlePlaceBet(by, request)
    if (!outcome.ok) throw new Error(`refused: ${JSON.stringify(outcome)}`)
    return String(outcome.walletTransactionId)
  }
  /** The ids of the transactions that a node has, and the cluster has committed. */
  const recordedOn = async (node: GaleraNode) =>
    withConnection(node.config, async connection => {
      await connection.query('SET wsrep_sync_wait = 1')
      const [rows] = await connection.query({
        sql: `SELECT transaction_id FROM ${schema}.wallet_transactions`,
        rowsAsArray: true,
      })
      return new Set((rows as unknown as [string][]).map(([id]) => id))
    })
  const load = (of: MysqlStore, number: number) =>
    of.load({
      operation: 'placebet',
      transactionId: `place-${number}`,
      playerId: 'alice',
      betId: `bet-${number}`,
    })
  /** Whether a load returns the latest bet. */
  const isLoaded = async (by: MysqlStore) => (await load(by, bets)).transaction !== null
  /** Resolves when the store prefers its first node again. */
  const returnsTo = (index: number) =>
    expect
      .poll(async () => {
        const before = [...borrowed]
        await load(store, 1)
        return borrowed.every((count, each) => each === index || count === before[each])
      }, patience)
      .toBe(true)

  const deaths = {
    killed: { die: () => first.kill(), comeBack: () => first.start() },
    stopped: { die: async () => first.pause(), comeBack: async () => first.resume() },
    'cut off': { die: () => first.cutOff(), comeBack: () => first.reconnect() },
    'cut off, and out of the majority': {
      async die() {
        await first.cutOff()
        await first.hasLeft()
      },
      comeBack: () => first.reconnect(),
    },
  }

  /** Ends the death of a test, once. */
  let comeBack = async () => {}
  const die = async (how: keyof typeof deaths) => {
    comeBack = async () => {
      comeBack = async () => {}
      await deaths[how].comeBack()
    }
    await deaths[how].die()
  }

  it.each(Object.keys(deaths) as (keyof typeof deaths)[])(
    'when the preferred node is %s, loads and bets go on at another node, and it is asked again when it is back',
    async how => {
      await accept()
      await die(how)
      expect(await isLoaded(store)).toBe(true)
      // It has left that node: each of these would wait for a third of the time limit, and the test would end.
      for (let round = 0; round < 20; round += 1) {
        await accept()
        expect(await isLoaded(store)).toBe(true)
      }
      await store.ping()
      await comeBack()
      await returnsTo(0)
      expect(await isLoaded(store)).toBe(true)
    },
  )

  it.each(['killed', 'stopped', 'cut off'] as const)(
    'when the node is %s while bets are placed, every answered one is on the others, none with "no changes"',
    async how => {
      const accepted: string[] = []
      const unavailable: string[] = []
      const unknown: string[] = []
      let ended = false
      const place = async () => {
        while (!ended) {
          const request = nextBet()
          await accept(request).then(
            () => accepted.push(request.transactionId),
            (error: unknown) => (isRetryable(error) ? unavailable : unknown).push(request.transactionId),
          )
        }
      }
      const callers = Array.from({ length: 12 }, place)
      const answered = (count: number) => expect.poll(() => accepted.length, patience).toBeGreaterThan(count)
      await answered(50)
      await die(how)
      await answered(accepted.length + 50)
      ended = true
      await Promise.all(callers)
      for (const node of [second, third]) {
        const recorded = await recordedOn(node)
        expect(accepted.filter(id => !recorded.has(id))).toEqual([])
        expect(unavailable.filter(id => recorded.has(id))).toEqual([])
      }
      await comeBack()
      await cluster.consistsOf()
      expect(await recordedOn(first)).toEqual(await recordedOn(second))
    },
  )

  it('when a cut-off node answers old data, then no load returns them', async () => {
    await accept()
    await withConnection(first.config, connection => connection.query('SET GLOBAL wsrep_dirty_reads = ON'))
    try {
      await die('cut off, and out of the majority')
      const elsewhere = storeOver(second, third)
      await accept(nextBet(), elsewhere)
      // It has connections to that node from before, and a new store has none.
      for (const each of [store, storeOver(first, second, third)]) expect(await isLoaded(each)).toBe(true)
      const onlyFirst = storeOver(first)
      await expect(isLoaded(onlyFirst)).rejects.toThrow()
      await expect(onlyFirst.ping()).rejects.toMatchObject({ code: 'UNAVAILABLE' })
      await comeBack()
    } finally {
      await withConnection(first.config, connection => connection.query('SET GLOBAL wsrep_dirty_reads = OFF'))
    }
  })

  it('is synchronous while it has another node, and alone without: then nothing is decided if that is required', async () => {
    expect(await store.ping()).toEqual({ level: 'synchronous', reason: 'wsrep_cluster_size is 3' })
    const required = storeWith([first], { requireDurability: 'synchronous' })
    expect(await accept(nextBet(), required)).not.toBe('')
    vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    await third.shutDown()
    await second.shutDown()
    const alone = { level: 'alone', reason: 'wsrep_cluster_size is 1' }
    await expect.poll(() => storeOver(first).ping(), patience).toEqual(alone)
    await expect(required.ping()).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    await expect(accept(nextBet(), required)).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    await second.start()
    await third.start()
    await cluster.consistsOf()
    expect(await required.ping()).toMatchObject({ level: 'synchronous' })
    expect(await accept(nextBet(), required)).not.toBe('')
    await withConnection(first.config, connection =>
      connection.query('SET GLOBAL innodb_flush_log_at_trx_commit = 0'),
    )
    const lazy = await storeOver(first).ping()
    await withConnection(first.config, connection =>
      connection.query('SET GLOBAL innodb_flush_log_at_trx_commit = 1'),
    )
    expect(lazy).toEqual({ level: 'asynchronous', reason: 'innodb_flush_log_at_trx_commit is 0' })
  })

  it('with an outbox and a relay on each node, each event is delivered once, those of a bet in order', () =>
    relaysOn(cluster.nodes, first))

  it('with a claim on one node, and the removal of an earlier event on another, then the next event is due', () =>
    overtakeOnMysql([first, second]))

  it('when stores start on several nodes at once, then each is ready', async () => {
    const single = cluster.nodes.map(node => storeOver(node))
    for (let round = 0; round < 20; round += 1) await Promise.all(single.map(each => each.ready()))
  })

  it('when a node gives old data to the sessions of others, then it is refused at start', async () => {
    // The store's own sessions have the variable OFF; those of PAM code take over the global value.
    await withConnection(second.config, connection => connection.query('SET GLOBAL wsrep_dirty_reads = ON'))
    try {
      await expect(storeOver(first, second, third).ready()).rejects.toMatchObject({
        code: 'NOT_DURABLE',
        message: expect.stringMatching(/^Server 2 of the list: .*wsrep_dirty_reads/),
      })
      await storeWith([second], { allowNotDurable: true }).ready()
    } finally {
      await withConnection(second.config, connection =>
        connection.query('SET GLOBAL wsrep_dirty_reads = OFF'),
      )
    }
    await storeOver(first, second, third).ready()
  })

  it('when a list has a server that is no member of the cluster, then it is refused at start', async () => {
    const alone = await startMariadb()
    const pool = mysql.createPool(alone.config)
    try {
      await migrateMysql(pool, { schema })
      const member = mysql.createPool(second.config)
      opened.push(member)
      await expect(createMysqlStore([member, pool], { schema }).ready()).rejects.toMatchObject({
        code: 'SERVERS_APART',
        message: expect.stringMatching(/^Servers 1 and 2 .* not members of one cluster/),
      })
    } finally {
      await pool.end()
      await alone.stop()
    }
  })

  it.each(['0', '2'])(
    'when a node has innodb_flush_log_at_trx_commit = %s, then it is refused at start',
    async flush => {
      const set = (value: string) =>
        withConnection(third.config, connection =>
          connection.query(`SET GLOBAL innodb_flush_log_at_trx_commit = ${value}`),
        )
      await set(flush)
      try {
        await expect(storeOver(first, second, third).ready()).rejects.toMatchObject({
          code: 'NOT_DURABLE',
          message: expect.stringMatching(`^Server 3 of the list: innodb_flush_log_at_trx_commit is ${flush}`),
        })
        await storeWith([third], { allowNotDurable: true }).ready()
      } finally {
        await set('1')
      }
      await storeOver(first, second, third).ready()
    },
  )

  it('when bets come without loads, the store leaves a node without a majority', async () => {
    await accept()
    await die('cut off, and out of the majority')
    let faults = 0
    for (let count = 0; count < 20; count += 1) {
      const commit = store.commit(placementOf(`without-load-${count}`, 'alice', '1'))
      const result = await commit.catch(() => null)
      if (result?.status !== 'committed') faults += 1
    }
    expect(faults).toBeLessThan(5)
    await comeBack()
  })

  it('when a node has left its cluster and is writable, it is not asked, also while no other one is', async () => {
    const set = (value: string) =>
      withConnection(first.config, connection => connection.query(`SET GLOBAL wsrep_on = ${value}`))
    const pool = mysql.createPool(first.config)
    opened.push(pool)
    const ids: number[] = []
    pool.pool.on('connection', ({ threadId }) => ids.push(threadId))
    const single = createMysqlStore(pool, { schema, timeoutMs: 3_000 })
    await single.ready()
    await set('OFF')
    try {
      await withConnection(first.config, async connection => {
        for (const id of ids) await connection.query(`KILL ${id}`)
      })
      await expect(single.ping()).rejects.toMatchObject({ code: 'UNAVAILABLE' })
      await expect(isLoaded(single)).rejects.toMatchObject({ code: 'UNAVAILABLE' })
      const changes = placementOf('left-cluster', 'alice', '1')
      expect(await single.commit(changes)).toEqual({ status: 'unavailable' })
    } finally {
      await set('ON')
    }
    await expect.poll(() => single.ping().catch(() => null), patience).not.toBeNull()
  })

  it('when the majority is lost, every call is a fault; when it is back, so is the wallet', async () => {
    // No other node answers: a short limit is enough.
    store = storeWithin(3_000, cluster.nodes)
    await accept()
    comeBack = async () => {
      comeBack = async () => {}
      for (const node of [second, third]) node.resume()
      await cluster.consistsOf()
    }
    for (const node of [second, third]) node.pause()
    await first.hasLeft()
    await expect(accept()).rejects.toThrow(WalletError)
    await expect(isLoaded(store)).rejects.toThrow()
    await expect(store.ping()).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    await comeBack()
    await expect.poll(() => accept().catch(() => null), patience).not.toBeNull()
    expect(await recordedOn(third)).toEqual(await recordedOn(first))
  })

  it.each(['NO_CHAIN', 'CHAIN', 'RELEASE'])(
    'when a node with completion_type = %s applies late, then a load waits for what the others have committed',
    async completion => {
      const elsewhere = storeOver(second, third)
      await elsewhere.ready()
      const setCompletion = (value: string) =>
        withConnection(first.config, connection =>
          connection.query(`SET GLOBAL completion_type = '${value}'`),
        )
      await setCompletion(completion)
      const release = await first.holdApplying()
      await accept(nextBet(), elsewhere)
      const loaded = isLoaded(storeOver(first))
      // The data there are old.
      const [rows] = await withConnection(first.config, connection =>
        connection.query(`SELECT 1 FROM ${schema}.wallet_bets WHERE bet_id = ?`, [`bet-${bets}`]),
      )
      expect(rows).toEqual([])
      await release()
      expect(await loaded).toBe(true)
      await accept(nextBet(), storeOver(first))
      await setCompletion('NO_CHAIN')
    },
  )

  it('when two stores on two nodes place bets of one player at once, then the balance is right on each', async () => {
    const others = [storeOver(first, second), storeOver(second, third), storeOver(third, first)]
    const before = (await load(store, 1)).accounts[0]?.balance
    const placed = await Promise.all(
      Array.from({ length: 60 }, async (_, index) => {
        const request = nextBet()
        for (;;) {
          try {
            return await accept(request, others[index % 3])
          } catch (error) {
            // Certification turns many away; a platform tries again.
            if (!(error instanceof WalletError)) throw error
          }
        }
      }),
    )
    expect(new Set(placed).size).toBe(60)
    for (const each of others)
      expect(Number((await load(each, 1)).accounts[0]?.balance)).toBe(Number(before) - 60)
  })
  it('when the outcome of a commit is unknown, then it is made again on another node, and recorded once', async () => {
    await accept()
    const settlement = settle(bets, 'alice', '5')
    settlement.bet = bet({ betId: `bet-${bets}`, revision: 2, credits: { BET_PAID: live('5') }, stake: '1' })
    settlement.transaction.betId = `bet-${bets}`
    const before = Number((await load(store, bets)).accounts[0]?.balance)
    // On the first node only: it stops when everything is written.
    const lock = `${schema} hold`
    const { transactionId } = settlement.transaction
    await withConnection(first.config, async holder => {
      await holder.query(`CREATE TRIGGER ${schema}.hold AFTER INSERT ON ${schema}.wallet_transactions FOR EACH ROW
        DO IF(NEW.transaction_id = '${transactionId}' AND IS_USED_LOCK('${lock}') IS NOT NULL, GET_LOCK('${lock}', 600), 0)`)
      await holder.query(`DO GET_LOCK('${lock}', 0)`)
      const commit = store.commit(settlement)
      let ids: number[] = []
      await until(async () => {
        const [rows] = await holder.query({
          sql: "SELECT ID FROM information_schema.PROCESSLIST WHERE STATE = 'User lock'",
          rowsAsArray: true,
        })
        ids = (rows as unknown as [number][]).map(([id]) => id)
        return ids.length > 0
      })
      await holder.query(`KILL ${ids[0]}`)
      expect(await commit).toMatchObject({ status: 'committed' })
      await holder.query(`DROP TRIGGER ${schema}.hold`)
    })
    for (const node of cluster.nodes) expect(await recordedOn(node)).toContain(transactionId)
    expect(Number((await load(store, bets)).accounts[0]?.balance)).toBe(before + 5)
  })

  describe('when the server fails the COMMIT itself', () => {
    const paused = async () => {
      comeBack = async () => {
        comeBack = async () => {}
        for (const node of [second, third]) node.resume()
        await cluster.consistsOf()
      }
      for (const node of [second, third]) node.pause()
    }
    const limitWriteSets = (bytes: number) =>
      withConnection(first.config, connection => connection.query(`SET GLOBAL wsrep_max_ws_size = ${bytes}`))
    const isRecorded = async ({ transaction: { transactionId } }: WalletChanges) =>
      Promise.all(cluster.nodes.map(async node => (await recordedOn(node)).has(transactionId)))
    const reasonOf = (commit: Promise<unknown>) =>
      commit.then(
        () => null,
        reason => reason,
      )

    it('with 1180, as the majority is lost: the outcome is unknown, and a retry is recorded once', async () => {
      let hook = async () => {}
      const single = storeWith([first], { timeoutMs: 60_000, withinTransaction: () => hook() })
      await single.ready()
      const changes = placementOf('majority-lost', 'alice', '1')
      hook = paused // everything is written, COMMIT comes next
      const reason = await reasonOf(single.commit(changes))
      // The store gives every error of COMMIT this number; behind it is the server's own.
      expect(reason).toMatchObject({ code: 'COMMIT_UNKNOWN', cause: { errno: 1180, cause: { errno: 1180 } } })
      await comeBack()
      hook = async () => {}
      await expect.poll(() => single.commit(changes).catch(() => null), patience).not.toBeNull()
      expect(await isRecorded(changes)).toEqual([true, true, true])
    })

    /** Above the limit of their node: the server sees it at COMMIT. */
    it.each([
      ['of one bet', 1],
      ['of a batch', 3],
    ])(
      'by a write set that is too large, %s: the outcome is unknown, and nothing is kept',
      async (_, count) => {
        const single = storeOver(first)
        await single.ready()
        await withConnection(first.config, async connection => {
          await connection.query(`CREATE TABLE IF NOT EXISTS ${schema}.notes (note text)`)
          await connection.query(`CREATE TRIGGER ${schema}.large AFTER INSERT ON ${schema}.wallet_transactions
          FOR EACH ROW INSERT INTO ${schema}.notes VALUES (REPEAT('x', 4096))`)
        })
        const all = Array.from({ length: count }, (_, index) =>
          placementOf(`large-${count}-${index}`, 'alice', '1'),
        )
        const commits = () => all.map(changes => single.commit(changes))
        await limitWriteSets(1_024)
        try {
          for (const reason of await Promise.all(commits().map(reasonOf)))
            expect(reason).toMatchObject({ code: 'COMMIT_UNKNOWN', cause: { errno: 1180 } })
        } finally {
          await limitWriteSets(2_147_483_647)
        }
        await withConnection(first.config, connection => connection.query(`DROP TRIGGER ${schema}.large`))
        await single.commit(placementOf(`small-${count}`, 'alice', '1'))
        for (const changes of all) expect(await isRecorded(changes)).toEqual([false, false, false])
        for (const commit of commits()) expect(await commit).toMatchObject({ status: 'committed' })
        for (const changes of all) expect(await isRecorded(changes)).toEqual([true, true, true])
      },
    )

    /** A pool of the first node. `errors` lists what the server answers with an error: the statement and its number. */
    const observedPool = (beforeCommit: () => Promise<unknown> = async () => {}) => {
      const pool = mysql.createPool(first.config)
      opened.push(pool)
      const errors: [statement: string, errno: number][] = []
      pool.pool.on('connection', connection => {
        for (const method of ['query', 'execute'] as const) {
          const run = connection[method].bind(connection) as (...all: unknown[]) => void
          const observed = (options: { sql: string }, ...others: unknown[]) => {
            const callback = others.pop() as (error: { errno: number } | null, result: unknown) => void
            const send = () => {
              run(options, ...others, (error: { errno: number } | null, result: unknown) => {
                if (error !== null) errors.push([options.sql.replace(/[ (].*/s, ''), error.errno])
                callback(error, result)
              })
            }
            if (options.sql === 'COMMIT') void beforeCommit().then(send)
            else send()
          }
          Object.assign(connection, { [method]: observed })
        }
      })
      return { pool, errors }
    }

    it('with 1213, as another node has changed the player since: a conflict, and a retry is recorded', async () => {
      const elsewhere = storeOver(second)
      const others = [placementOf('changed-since', 'alice', '1')]
      const { pool, errors } = observedPool(async () => {
        const other = others.pop()
        if (other === undefined) return
        // The row is changed here and not committed yet, when the other node commits a change of it.
        expect(await elsewhere.commit(other)).toMatchObject({ status: 'committed' })
        expect(await recordedOn(first)).toContain(other.transaction.transactionId)
      })
      const single = createMysqlStore(pool, { schema, timeoutMs, withinTransaction: async () => {} })
      await single.ready()
      const before = Number((await load(single, 1)).accounts[0]?.balance)
      const changes = placementOf('certified', 'alice', '1')
      expect(await single.commit(changes)).toMatchObject({ status: 'conflict' })
      expect(errors).toEqual([['COMMIT', 1213]])
      expect(await isRecorded(changes)).toEqual([false, false, false])
      expect(await single.commit(changes)).toMatchObject({ status: 'committed' })
      expect(await isRecorded(changes)).toEqual([true, true, true])
      expect(Number((await load(single, 1)).accounts[0]?.balance)).toBe(before - 2)
    })

    /** The items of a batch are committed again, one by one. */
    it.each([
      ['of one bet', 1, 'conflict'],
      ['of a batch', 3, 'committed'],
    ])(
      'with 1213 in the procedure, %s, as another node has changed the player since: reloaded or committed again',
      async (_, count, expected) => {
        const elsewhere = storeOver(second)
        const { pool, errors } = observedPool()
        const single = createMysqlStore(pool, { schema, timeoutMs })
        await Promise.all([elsewhere.ready(), single.ready()])
        const before = Number((await load(single, 1)).accounts[0]?.balance)
        // A batch changes a player at most once.
        const all = ['alice', 'bob', 'carol']
          .slice(0, count)
          .map((player, index) => placementOf(`in-procedure-${count}-${index}`, player, '1'))
        const lock = `${schema} hold`
        const isSeen = (connection: mysql.Connection, condition: string) =>
          until(async () => {
            const [rows] = await connection.query(
              `SELECT 1 FROM information_schema.PROCESSLIST WHERE ${condition} AND ID <> CONNECTION_ID()`,
            )
            return (rows as unknown[]).length > 0
          })
        await withConnection(first.config, async holder => {
          await holder.query(
            `CREATE TABLE IF NOT EXISTS ${schema}.queued (id bigint AUTO_INCREMENT PRIMARY KEY)`,
          )
          await holder.query(`CREATE TRIGGER ${schema}.hold AFTER INSERT ON ${schema}.wallet_transactions FOR EACH ROW
          DO IF(NEW.transaction_id LIKE 't-in-procedure-%' AND IS_USED_LOCK('${lock}') IS NOT NULL, GET_LOCK('${lock}', 600), 0)`)
          await holder.query(`DO GET_LOCK('${lock}', 0)`)
          const commits = all.map(changes => single.commit(changes))
          await isSeen(holder, "STATE = 'User lock'")
          await withConnection(first.config, async blocker => {
            // The node applies in order: what the other one commits behind this row waits for the table.
            await blocker.query(`LOCK TABLES ${schema}.queued WRITE`)
            await withConnection(second.config, connection =>
              connection.query(`INSERT INTO ${schema}.queued VALUES ()`),
            )
            const other = placementOf(`elsewhere-${count}`, 'alice', '1')
            expect(await elsewhere.commit(other)).toMatchObject({ status: 'committed' })
            await holder.query(`DO RELEASE_LOCK('${lock}')`)
            await isSeen(holder, "INFO LIKE 'COMMIT%' AND STATE = 'Waiting for certification'")
            await blocker.query('UNLOCK TABLES')
          })
          for (const commit of commits) expect(await commit).toMatchObject({ status: expected })
          await holder.query(`DROP TRIGGER ${schema}.hold`)
        })
        expect(errors).toEqual([['CALL', 1213]])
        for (const changes of all)
          expect(new Set(await isRecorded(changes))).toEqual(new Set([expected === 'committed']))
        const debits = expected === 'committed' ? 2 : 1
        expect(Number((await load(single, 1)).accounts[0]?.balance)).toBe(before - debits)
      },
    )
  })
})
