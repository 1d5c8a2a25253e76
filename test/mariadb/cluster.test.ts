/** What the tests and the soak of a Galera cluster rely on. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type GaleraCluster, type GaleraNode, startGalera } from './cluster.js'
import { noGalera } from './installation.js'
import { withConnection } from './server.js'

const query = (node: GaleraNode, ...statements: readonly string[]) =>
  withConnection(node.config, async connection => {
    let rows: unknown
    for (const statement of statements) [rows] = await connection.query(statement)
    return rows
  })

const paid = 'SELECT amount FROM shop.paid ORDER BY amount'

describe('given a Galera cluster of three nodes', () => {
  let cluster: GaleraCluster
  let amounts: number[] = []
  beforeAll(async () => {
    if (noGalera !== null) return
    cluster = await startGalera()
    await query(
      cluster.nodes[0],
      'CREATE DATABASE shop',
      'CREATE TABLE shop.paid (amount integer PRIMARY KEY)',
    )
  })
  beforeEach(({ skip }) => skip(noGalera !== null, noGalera ?? ''))
  afterEach(async () => {
    await cluster?.consistsOf()
    for (const node of cluster?.nodes ?? [])
      expect(await query(node, 'SET wsrep_sync_wait = 1', paid)).toEqual(amounts.map(amount => ({ amount })))
  })
  afterAll(() => cluster?.stop())

  async function pay(node: GaleraNode): Promise<void> {
    const amount = amounts.length + 1
    await query(node, `INSERT INTO shop.paid VALUES (${amount})`)
    amounts = [...amounts, amount]
  }

  it('each has what another has committed, and refuses a wrong password', async () => {
    for (const node of cluster.nodes) await pay(node)
    for (const { config } of cluster.nodes)
      await expect(withConnection({ ...config, password: '' }, async () => {})).rejects.toMatchObject({
        errno: 1045,
      })
    expect(new Set(cluster.nodes.map(({ config }) => config.host)).size).toBe(3)
  })

  it('when a node is killed, the others go on, and it returns with what it has missed', async () => {
    // It has created the cluster, and must not create another one.
    const victim = cluster.nodes[0]
    const others = cluster.except(victim)
    await victim.kill()
    for (const node of others) await pay(node)
    await cluster.consistsOf(others)
    const logged = victim.log().length
    await victim.start()
    // By its position after the crash, not by a copy of all data.
    expect(victim.log().slice(logged)).toMatch(/IST received/)
  })

  it('when a node is shut down, it returns', async () => {
    await cluster.nodes[2].shutDown()
    await pay(cluster.nodes[0])
    await cluster.nodes[2].start()
  })

  it('when a node is stopped, the others expel it, and it returns with what it has missed', async () => {
    const victim = cluster.nodes[0]
    const others = cluster.except(victim)
    victim.pause()
    await cluster.consistsOf(others)
    for (const node of others) await pay(node)
    victim.resume()
  })

  it('when a node is cut off, it refuses statements, and returns with what it has missed', async () => {
    const victim = cluster.nodes[2]
    const others = cluster.except(victim)
    await victim.cutOff()
    await victim.hasLeft()
    expect(await victim.isSynced()).toBe(false)
    await expect(query(victim, paid)).rejects.toMatchObject({ errno: 1047 })
    await cluster.consistsOf(others)
    for (const node of others) await pay(node)
    // Only by request it answers with what it has: old data.
    expect(await query(victim, 'SET wsrep_dirty_reads = ON', paid)).toEqual(
      amounts.slice(0, -2).map(amount => ({ amount })),
    )
    await victim.reconnect()
    expect(await victim.isSynced()).toBe(true)
  })

  it('when a node does not apply, its data are old, and a load that asks for the newest waits', async () => {
    const [first, second] = cluster.nodes
    const release = await second.holdApplying()
    const before = await query(second, paid)
    await pay(first)
    expect(await query(second, paid)).toEqual(before)
    let answered = false
    const newest = query(second, 'SET wsrep_sync_wait = 1', paid).finally(() => {
      answered = true
    })
    expect(await query(second, paid)).toEqual(before)
    expect(answered).toBe(false)
    await release()
    expect(await newest).toEqual(amounts.map(amount => ({ amount })))
  })
})
