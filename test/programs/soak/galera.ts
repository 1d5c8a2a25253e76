/** Faults of a Galera cluster under load: nodes that die, and nodes that only seem to live. Each ends with three. */
import { setTimeout as sleep } from 'node:timers/promises'
import { type GaleraCluster, type GaleraNode, suspectMs } from '../../mariadb/cluster.js'
import { withConnection } from '../../mariadb/server.js'
import { shuffled } from './failovers.js'
import type { Random } from './random.js'
import type { Scene } from './run.js'

type Fault = (node: GaleraNode, cluster: GaleraCluster, random: Random) => Promise<void>

const setDirtyReads = (node: GaleraNode, value: 'ON' | 'OFF') =>
  withConnection(node.config, connection => connection.query(`SET GLOBAL wsrep_dirty_reads = ${value}`))

const faults: Record<string, Fault> = {
  async 'node killed'(node, cluster, random) {
    await node.kill()
    // Sometimes back before the others have expelled it.
    if (random.percent(60)) await cluster.consistsOf(cluster.except(node))
    await node.start()
  },
  async 'node cut off, and back'(node, _, random) {
    await node.cutOff()
    await node.hasLeft()
    await sleep(random.int(0, 3_000))
    await node.reconnect()
  },
  async 'node stopped, and back'(node, cluster, random) {
    node.pause()
    await cluster.consistsOf(cluster.except(node))
    await sleep(random.int(0, 2_000))
    node.resume()
  },
  async 'node applying late'(node, _, random) {
    const release = await node.holdApplying()
    await sleep(random.int(500, 3_000))
    await release()
  },
  async 'node cut off, answering old data'(node, _, random) {
    await setDirtyReads(node, 'ON')
    await node.cutOff()
    await node.hasLeft()
    await sleep(random.int(1_000, 3_000))
    await node.reconnect()
    await setDirtyReads(node, 'OFF')
  },
  /** Everything stands still: it is not expelled. */
  async 'node stopped for a moment'(node, _, random) {
    node.pause()
    await sleep(random.int(100, suspectMs / 2))
    node.resume()
  },
  async 'node shut down'(node) {
    await node.shutDown()
    await node.start()
  },
}

/** Every kind once, in this order, and then in random orders; the nodes in turns. */
export async function disturbGalera(
  cluster: GaleraCluster,
  { random, answered, answersPerKill, kills, killsMax, progress, log }: Omit<Scene, 'database' | 'wallets'>,
): Promise<void> {
  const kinds = Object.keys(faults)
  let round: string[] = []
  let victims: GaleraNode[] = []
  for (let count = 1; count <= killsMax; count += 1) {
    if (round.length === 0) round = count === 1 ? [...kinds].reverse() : shuffled(kinds, random)
    if (victims.length === 0) victims = shuffled(cluster.nodes, random)
    const name = round.pop() as string
    const node = victims.pop() as GaleraNode
    await answered(random.int(1, 2 * answersPerKill))
    await cluster.consistsOf()
    kills[name] = (kills[name] ?? 0) + 1
    log(`fault ${count} of ${killsMax}: ${name} (node ${cluster.nodes.indexOf(node) + 1}), ${progress()}`)
    await (faults[name] as Fault)(node, cluster, random)
    await cluster.consistsOf()
  }
}
