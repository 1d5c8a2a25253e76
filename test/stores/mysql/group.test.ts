/**
 * The store on a real group of three nodes of MySQL, single primary: the kit, over lists in every order; which
 * node it asks; and that no node answers that has left the group, or does not know yet what the group has
 * committed.
 */
// cspell:ignore autorejoin
import mysql, { type Pool } from 'mysql2/promise'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import {
  createMysqlStore,
  type MysqlStore,
  type MysqlStoreOptions,
  migrateMysql,
} from '../../../src/stores/mysql/index.js'
import { openAddress } from '../../mysql/address.js'
import { type GroupNode, type MysqlGroup, noGroup, startGroup } from '../../mysql/group.js'
import { relaysOn } from '../../outbox/nodes.js'
import { until } from '../../until.js'
import { judge } from '../kit-on-stores.js'
import { mysqlHarness, ownTable } from './harness.js'
import { keysOf, placeBet } from './wallet.js'

/** Top-level: the kit's cases are made before the tests begin. */
const group: MysqlGroup | null = noGroup === null ? await startGroup() : null
const pools: Pool[] = []
afterAll(async () => {
  await Promise.all(pools.map(pool => pool.end().catch(() => {})))
  await group?.stop()
})

const reason = noGroup === null ? '' : ` (skipped: ${noGroup})`
/** For the whole list. A node's share is longer than the others need to expel it. */
const timeoutMs = 24_000
const patience = { interval: 50 }

const poolOf = (node: GroupNode, options: mysql.PoolOptions = {}): Pool => {
  const pool = mysql.createPool({ ...node.config, ...options })
  pools.push(pool)
  return pool
}

describe.skipIf(group === null)(`the kit on a group, over its nodes in every order${reason}`, () => {
  if (group === null) return
  // It has created the group, and is its primary.
  const [first] = group.nodes
  let opened = 0
  const harness = mysqlHarness({
    pool: poolOf(first, { connectionLimit: 20 }),
    configOf: () => first.config,
    accounts: ownTable,
    openStore(_, options) {
      opened += 1
      const connections = new Set<number>()
      const list = [0, 1, 2].map(index => {
        const node = group.nodes[(index + opened) % 3] as GroupNode
        const pool = mysql.createPool({ ...node.config, connectionLimit: 8 })
        if (node === first) pool.pool.on('connection', connection => connections.add(connection.threadId))
        return pool
      })
      return {
        store: createMysqlStore(list, options),
        connections: async () => [...connections],
        end: () => Promise.all(list.map(pool => pool.end().catch(() => {}))),
      }
    },
  })
  judge(harness, 5)
})

describe.skipIf(group === null)(`a store over the nodes of a group${reason}`, () => {
  if (group === null) return
  const schema = 'group_store'
  const opened: Pool[] = []
  let primary: GroupNode
  let others: GroupNode[]
  let bets = 0
  /** Of a test, also of one that has failed. */
  const cleanups: (() => Promise<unknown>)[] = []

  const storeOver = (nodes: readonly GroupNode[], options: MysqlStoreOptions = {}): MysqlStore =>
    createMysqlStore(
      nodes.map(node => {
        const pool = mysql.createPool({ ...node.config, connectTimeout: 2_000 })
        opened.push(pool)
        return pool
      }),
      { schema, timeoutMs, ...options },
    )
  const nextBet = (player = 'alice') => {
    bets += 1
    return placeBet(`group-${bets}`, player, '1')
  }
  /** What a node has now, also if it is behind. */
  const recordedOn = async (node: GroupNode) => {
    const rows = await node.run(
      "SET SESSION group_replication_consistency = 'EVENTUAL'",
      `SELECT transaction_id AS id FROM ${schema}.wallet_transactions`,
    )
    return new Set(rows.map(({ id }) => id as string))
  }
  /** All that a store is asked, each with its answer or the code of its fault. */
  const answersOf = async (store: MysqlStore) => {
    const codeOf = (error: { code: string }) => error.code
    return {
      ready: await store.ready().then(() => 'ok', codeOf),
      ping: await store.ping().then(() => 'ok', codeOf),
      load: await store
        .load(keysOf(placeBet()))
        .then(({ accounts: [player] }) => player?.playerId ?? null, codeOf),
      confirmed: await store
        .loadConfirmed(keysOf(placeBet()))
        .then(({ accounts: [player] }) => player?.playerId ?? null, codeOf),
      commit: await store.commit(nextBet()).then(({ status }) => status, codeOf),
    }
  }
  const nothing = {
    ...{ ready: 'UNAVAILABLE', ping: 'UNAVAILABLE', load: 'UNAVAILABLE', confirmed: 'UNAVAILABLE' },
    commit: 'unavailable',
  }
  const all = { ready: 'ok', ping: 'ok', load: 'alice', confirmed: 'alice', commit: 'committed' }

  beforeAll(async () => {
    const [first] = group.nodes
    await migrateMysql(poolOf(first), { schema })
    await first.run(
      `INSERT INTO ${schema}.wallet_players VALUES ('alice', 'EUR', 1000000), ('bob', 'EUR', 1000000), ('carol', 'EUR', 1000000)`,
    )
  })
  beforeEach(async () => {
    await group.whole()
    primary = await group.primary()
    others = group.except(primary)
    await until(
      async () => (await recordedOn(others[0] as GroupNode)).size === (await recordedOn(primary)).size,
    )
  })
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0)) await cleanup()
    await Promise.all(opened.splice(0).map(pool => pool.end().catch(() => {})))
  })

  it('is ready, and answers, in every order of the list; a secondary alone is unavailable', async () => {
    const [second, third] = others as [GroupNode, GroupNode]
    for (const list of [
      [primary, second, third],
      [second, primary],
      [third, second, primary],
    ])
      expect(await answersOf(storeOver(list))).toEqual(all)
    for (const list of [[second], [second, third]]) expect(await answersOf(storeOver(list))).toEqual(nothing)
  })

  it('is synchronous while it has another member, and alone without: then nothing is decided if that is required', async () => {
    vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    const store = storeOver([primary])
    const required = storeOver([primary], { requireDurability: 'synchronous' })
    const members = (n: number) => `${n} of ${n} members of the group are ONLINE`
    expect(await store.ping()).toEqual({ level: 'synchronous', reason: members(3) })
    expect(await answersOf(required)).toEqual(all)
    for (const node of others) await node.run('STOP GROUP_REPLICATION')
    await expect.poll(() => store.ping(), patience).toEqual({ level: 'alone', reason: members(1) })
    expect(await answersOf(store)).toEqual(all)
    await expect.poll(() => required.commit(nextBet()), patience).toEqual({ status: 'unavailable' })
    expect(await answersOf(required)).toEqual({ ...nothing, ready: 'ok', load: 'alice' })
  })

  it('commits in batches, although MEMORY is a disabled engine', async () => {
    const store = storeOver([primary])
    await store.ready()
    const commits = Array.from({ length: 20 }, () => store.commit(nextBet()))
    for (const commit of commits) expect(await commit).toMatchObject({ status: 'committed' })
  })

  it('with an outbox and several relays, each event is delivered once, those of a bet in order', () =>
    relaysOn(group.nodes, primary))

  const set = async (node: GroupNode, name: string, value: string, before: string) => {
    cleanups.push(() => node.run(`SET GLOBAL ${name} = ${before}`))
    await node.run(`SET GLOBAL ${name} = ${value}`)
  }
  const cutOff = async (node: GroupNode) => {
    cleanups.push(node.reconnect)
    await node.cutOff()
  }
  /** They receive what the group commits, and apply nothing of it until the returned function is called. */
  const holdApplying = async (nodes: readonly GroupNode[]) => {
    const holders = await Promise.all(
      nodes.map(async ({ config }) => {
        const holder = await mysql.createConnection(config)
        await holder.query(`LOCK TABLES ${schema}.queued READ`)
        return holder
      }),
    )
    await primary.run(`INSERT INTO ${schema}.queued VALUES ()`)
    return async () => {
      for (const holder of holders.splice(0)) holder.destroy()
    }
  }

  it('asks no node that has stopped to be a member, and is writable', async () => {
    const store = storeOver([primary])
    await store.ready()
    const before = await recordedOn(primary)
    const writable = ['SET GLOBAL super_read_only = OFF', 'SET GLOBAL read_only = OFF']
    await primary.run('STOP GROUP_REPLICATION', ...writable)
    // With its connections from before, and with new ones.
    expect(await answersOf(store)).toEqual(nothing)
    expect(await answersOf(storeOver([primary]))).toEqual(nothing)
    expect(await recordedOn(primary)).toEqual(before)
    await group.consistsOf(others)
    expect(await answersOf(storeOver([primary, ...others]))).toEqual(all)
  })

  it('asks no node that has lost the plugin and is writable, also while the others are out of reach', async () => {
    const address = await openAddress()
    address.leadTo(primary)
    const [node] = others as [GroupNode]
    const listOf = () =>
      [primary, ...others].map(({ config: { socketPath, ...config } }, index) => {
        const { host, port } = address
        const way = index === 0 || socketPath === undefined ? { host, port } : { socketPath }
        const pool = mysql.createPool({ ...config, ...way })
        opened.push(pool)
        return pool
      })
    // One that has committed, and one that has not.
    const stores = [
      createMysqlStore(listOf(), { schema, timeoutMs }),
      createMysqlStore(listOf(), { schema, timeoutMs }),
    ]
    for (const store of stores) await store.ready()
    expect(await stores[0]?.commit(nextBet())).toMatchObject({ status: 'committed' })
    await group.settled()
    const before = await recordedOn(node)
    cleanups.push(async () => {
      await address.close()
      await node.kill()
      await node.boot()
    })
    await node.run(
      'STOP GROUP_REPLICATION',
      'SET GLOBAL super_read_only = OFF',
      // It must be able to join again.
      'SET SESSION sql_log_bin = 0',
      'UNINSTALL PLUGIN group_replication',
      'SET GLOBAL read_only = OFF',
    )
    address.leadTo()
    address.reset()
    // What is sent as the connections break is unknown.
    for (const store of stores) await expect(store.ping()).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    for (const store of stores)
      for (let times = 0; times < 3; times += 1) expect(await answersOf(store)).toEqual(nothing)
    const rows = await node.run(`SELECT transaction_id AS id FROM ${schema}.wallet_transactions`)
    expect(new Set(rows.map(({ id }) => id as string))).toEqual(before)
    address.leadTo(primary)
    for (const store of stores) await expect.poll(() => answersOf(store), patience).toEqual(all)
  })

  it('asks no node that was started again, and is no member yet', async () => {
    const [node] = others as [GroupNode]
    await node.kill()
    await node.boot()
    expect(await node.run('SELECT @@read_only AS value')).toEqual([{ value: 0 }])
    expect(await answersOf(storeOver([node]))).toEqual(nothing)
    expect(await answersOf(storeOver([node, ...group.except(node)]))).toEqual(all)
  })

  it('asks no node that has left the group by an error, and is in offline mode', async () => {
    for (const user of ['wallet', 'wallet_without']) {
      const name = `'${user}'@'%'`
      await primary.run(
        `CREATE USER ${name} IDENTIFIED BY 'x'`,
        `GRANT ALL ON ${schema}.* TO ${name}`,
        ...(user === 'wallet'
          ? [`GRANT SELECT ON performance_schema.replication_group_members TO ${name}`]
          : []),
      )
      cleanups.push(async () => (await group.primary()).run(`DROP USER ${name}`))
    }
    const storeOf = (user: string, nodes: readonly GroupNode[]) => {
      const list = nodes.map(node => mysql.createPool({ ...node.config, user, password: 'x' }))
      opened.push(...list)
      return createMysqlStore(list, { schema, timeoutMs })
    }
    await expect(storeOf('wallet_without', [primary]).ready()).rejects.toMatchObject({
      code: 'INSUFFICIENT_PRIVILEGE',
      message: expect.stringContaining('GRANT SELECT ON performance_schema.replication_group_members'),
    })
    const store = storeOf('wallet', [primary])
    const everywhere = storeOf('wallet', [primary, ...others])
    await everywhere.ready()
    await store.ready()
    await set(primary, 'group_replication_unreachable_majority_timeout', '1', '0')
    await set(primary, 'group_replication_autorejoin_tries', '0', '3')
    await set(primary, 'group_replication_exit_state_action', 'OFFLINE_MODE', 'OFFLINE_MODE')
    await cutOff(primary)
    await expect.poll(() => primary.run('SELECT @@offline_mode AS value'), patience).toEqual([{ value: 1 }])
    expect((await primary.state())?.state).toBe('ERROR')
    expect(await answersOf(store)).toEqual(nothing)
    expect(await answersOf(storeOf('wallet', [primary]))).toEqual(nothing)
    await group.consistsOf(others)
    expect(await answersOf(everywhere)).toEqual(all)
  })

  it('asks no primary that does not reach a majority, although it takes itself for the primary', async () => {
    const store = storeOver([primary])
    const everywhere = storeOver([primary, ...others])
    await store.ready()
    await everywhere.ready()
    await cutOff(primary)
    await group.consistsOf(others)
    const accepted = nextBet()
    await expect
      .poll(
        () =>
          everywhere.commit(accepted).then(
            ({ status }) => status,
            () => null,
          ),
        patience,
      )
      .toBe('committed')
    await expect
      .poll(
        async () => (await primary.members()).filter(({ state }) => state === 'UNREACHABLE').length,
        patience,
      )
      .toBe(2)
    expect(await primary.state()).toMatchObject({ state: 'ONLINE', role: 'PRIMARY' })
    expect(await primary.run('SELECT @@read_only AS value')).toEqual([{ value: 0 }])
    expect(await answersOf(store)).toEqual(nothing)
    expect((await everywhere.loadConfirmed(keysOf(accepted))).transaction).not.toBeNull()
  })

  it('reports a commit as unknown that waits while its node leaves the group, not as a conflict', async () => {
    const errors: number[] = []
    const pool = mysql.createPool(primary.config)
    opened.push(pool)
    pool.pool.on('connection', connection => {
      const execute = connection.execute.bind(connection) as (...all: unknown[]) => unknown
      const observed = (
        options: unknown,
        values: unknown,
        callback: (error: { errno: number } | null) => void,
      ) =>
        execute(options, values, (error: { errno: number } | null, ...others: []) => {
          if (error) errors.push(error.errno)
          callback(error, ...others)
        })
      Object.assign(connection, { execute: observed })
    })
    const store = createMysqlStore([pool], { schema, timeoutMs: 120_000 })
    await store.ready()
    await set(primary, 'group_replication_unreachable_majority_timeout', '1', '0')
    await cutOff(primary)
    // Of one player, the second would be sent when the first has failed.
    const commits = ['alice', 'bob', 'carol'].map(player => store.commit(nextBet(player)))
    const codes = commits.map(commit =>
      commit.then(
        ({ status }) => status,
        ({ code }) => code,
      ),
    )
    expect(new Set(await Promise.all(codes))).toEqual(new Set(['COMMIT_UNKNOWN']))
    // What the server answers is the number of a conflict; the procedures give it their own.
    expect(new Set(errors)).toEqual(new Set([1180]))
  })

  const waitingForBacklog = async () => {
    const rows = await Promise.all(
      others.map(node =>
        node.run(
          "SELECT ID FROM performance_schema.processlist WHERE STATE LIKE 'Executing hook on transaction begin%'",
        ),
      ),
    )
    return rows.flat().length
  }

  /** With a limit that a busy machine may miss. */
  const untilReady = (store: MysqlStore) =>
    until(() =>
      store.ready().then(
        () => true,
        () => false,
      ),
    )

  it.each(['killed', 'replaced'])(
    'when the primary is %s, the next one answers nothing before it has applied what was committed',
    async how => {
      await primary.run(`CREATE TABLE IF NOT EXISTS ${schema}.queued (id bigint AUTO_INCREMENT PRIMARY KEY)`)
      await until(async () => {
        const counts = await Promise.all(
          others.map(node => node.run(`SHOW TABLES FROM ${schema} LIKE 'queued'`)),
        )
        return counts.every(rows => rows.length === 1)
      })
      const [next] = others as [GroupNode]
      const store = storeOver([primary, ...others], { timeoutMs: 3_000 })
      await untilReady(store)
      // Behind one address, and it has committed nothing that the next primary must have.
      const address = await openAddress()
      cleanups.push(address.close)
      address.leadTo(primary)
      const { socketPath: _, ...config } = primary.config
      const pool = mysql.createPool({ ...config, host: address.host, port: address.port })
      opened.push(pool)
      const quiet = createMysqlStore(pool, { schema, timeoutMs: 1_000 })
      await untilReady(quiet)
      const release = await holdApplying(others)
      cleanups.push(release)
      const last = nextBet()
      expect(await store.commit(last)).toMatchObject({ status: 'committed' })
      const replaced = how === 'replaced' ? group.setPrimary(next) : primary.kill()
      if (how === 'killed') cleanups.push(() => primary.boot())
      // It is elected, and behind.
      await expect
        .poll(
          async () => (await Promise.all(others.map(node => node.state()))).map(state => state?.role),
          patience,
        )
        .toContain('PRIMARY')
      for (const node of others) expect(await recordedOn(node)).not.toContain(last.transaction.transactionId)
      const answers: unknown[] = []
      const ask = async () => {
        const found = await store.loadConfirmed(keysOf(last)).then(
          ({ transaction }) => transaction,
          () => 'unavailable',
        )
        answers.push(found)
        answers.push(
          await store.commit(last).then(
            ({ status }) => status,
            () => 'unavailable',
          ),
        )
        return found
      }
      for (let times = 0; times < 3; times += 1) await ask()
      for (const node of others) {
        address.leadTo(node)
        address.reset()
        for (let times = 0; times < 2; times += 1)
          await expect(quiet.load(keysOf(last))).rejects.toMatchObject({ code: 'UNAVAILABLE' })
      }
      expect(new Set(answers)).toEqual(new Set(['unavailable']))
      // Their clients have gone: the new primary does not keep what waits for the backlog.
      await expect.poll(waitingForBacklog, patience).toBe(0)
      await release()
      await expect.poll(ask, patience).toMatchObject({ transactionId: last.transaction.transactionId })
      expect(answers).not.toContain(null)
      expect(answers).not.toContain('committed')
      await replaced
    },
  )

  it('holds the calls of a session until a new primary has applied everything, as the manual asks for', async () => {
    const levels: unknown[] = []
    const storeReading = () =>
      storeOver([primary], {
        async withinTransaction(query) {
          const { rows } = await query('SELECT @@SESSION.group_replication_consistency AS level')
          levels.push((rows as { level: string }[])[0]?.level)
        },
      })
    for (const level of ['EVENTUAL', 'AFTER']) {
      await set(primary, 'group_replication_consistency', `'${level}'`, 'DEFAULT')
      expect(await storeReading().commit(nextBet())).toMatchObject({ status: 'committed' })
    }
    expect(levels).toEqual(['BEFORE_ON_PRIMARY_FAILOVER', 'AFTER'])
  })

  it('follows the primary when an administrator replaces it, under load', async () => {
    const store = storeOver(group.nodes)
    await store.ready()
    const accepted: string[] = []
    const unavailable: string[] = []
    let ended = false
    const place = async () => {
      while (!ended) {
        const changes = nextBet()
        const { transactionId } = changes.transaction
        const status = await store.commit(changes).then(
          result => result.status,
          () => 'unknown',
        )
        if (status === 'committed') accepted.push(transactionId)
        if (status === 'unavailable' || status === 'conflict') unavailable.push(transactionId)
      }
    }
    const callers = Array.from({ length: 8 }, place)
    const answered = (count: number) => expect.poll(() => accepted.length, patience).toBeGreaterThan(count)
    await answered(20)
    for (const limitSeconds of [undefined, 5]) {
      const [next] = group.except(await group.primary()) as [GroupNode]
      await group.setPrimary(next, limitSeconds)
      await answered(accepted.length + 20)
    }
    ended = true
    await Promise.all(callers)
    const recorded = await recordedOn(await group.primary())
    expect(accepted.filter(id => !recorded.has(id))).toEqual([])
    expect(unavailable.filter(id => recorded.has(id))).toEqual([])
  })

  it('refuses multi-primary mode, at start and while it runs', async () => {
    const store = storeOver([primary, ...others])
    await store.ready()
    cleanups.push(() => primary.run('SELECT group_replication_switch_to_single_primary_mode()'))
    await primary.run('SELECT group_replication_switch_to_multi_primary_mode()')
    await expect(storeOver([primary, ...others]).ready()).rejects.toMatchObject({
      code: 'DATABASE_REJECTED',
      message: expect.stringContaining('multi-primary mode'),
    })
    expect(await answersOf(store)).toEqual({ ...nothing, ready: 'DATABASE_REJECTED' })
  })

  it('refuses a secondary that would lose answered commits as a primary', async () => {
    const [second] = others as [GroupNode]
    await set(second, 'sync_binlog', '0', '1')
    await expect(storeOver([primary, second]).ready()).rejects.toMatchObject({
      code: 'NOT_DURABLE',
      message: expect.stringMatching(/^Server 2 of the list: sync_binlog is 0/),
    })
  })

  // The last one: the node that was a group by itself has a transaction of its own, and cannot join again.
  it('refuses two groups of one name, and does not leave the one for the other', async () => {
    const store = storeOver([primary, ...others])
    await store.ready()
    await primary.kill()
    await group.consistsOf(others)
    const accepted = nextBet()
    await expect
      .poll(
        () =>
          store.commit(accepted).then(
            ({ status }) => status,
            () => null,
          ),
        patience,
      )
      .toBe('committed')
    await primary.boot()
    // As with bootstrap_group = ON in its configuration file.
    await primary.run(
      'SET GLOBAL group_replication_bootstrap_group = ON',
      'START GROUP_REPLICATION',
      'SET GLOBAL group_replication_bootstrap_group = OFF',
    )
    cleanups.push(() => primary.run('STOP GROUP_REPLICATION'))
    await expect
      .poll(async () => (await primary.run('SELECT @@read_only AS value'))[0]?.value, patience)
      .toBe(0)
    expect(await primary.state()).toMatchObject({ state: 'ONLINE', role: 'PRIMARY' })
    await expect(storeOver([primary, ...others]).ready()).rejects.toMatchObject({
      code: 'SERVERS_APART',
      message: expect.stringMatching(/^Servers 1 and [23] of the list are both writable/),
    })
    for (let times = 0; times < 30; times += 1) {
      const { transaction } = await store.loadConfirmed(keysOf(accepted))
      expect(transaction?.transactionId).toBe(accepted.transaction.transactionId)
      await new Promise(resolve => setTimeout(resolve, 100))
    }
  })
})
