/** Faults of a group of MySQL under load: nodes that die, or only seem to live. Each ends with three. */
import { setTimeout as sleep } from 'node:timers/promises'
import mysql from 'mysql2/promise'
import type { GroupNode, MysqlGroup } from '../../mysql/group.js'
import { shuffled } from './failovers.js'
import type { Random } from './random.js'
import type { Scene } from './run.js'

/** @param node the primary, or another one */
type Fault = (node: GroupNode, group: MysqlGroup, random: Random, database: string) => Promise<void>

const killed: Fault = async (node, group, random) => {
  await node.kill()
  // Sometimes back before the others have expelled it.
  if (random.percent(60)) await group.consistsOf(group.except(node))
  await node.boot()
  // Until it joins, it is writable and alone.
  await sleep(random.int(0, 2_000))
}

const stopped: Fault = async (node, group, random) => {
  node.pause()
  await group.consistsOf(group.except(node))
  await sleep(random.int(0, 2_000))
  // It takes itself for a member still.
  node.resume()
}

const cutOff: Fault = async (node, group, random) => {
  await node.cutOff()
  await group.consistsOf(group.except(node))
  await sleep(random.int(0, 3_000))
  await node.reconnect()
}

const faults: Record<string, readonly [of: 'primary' | 'secondary', fault: Fault]> = {
  'primary killed': ['primary', killed],
  'primary cut off: a minority': ['primary', cutOff],
  'primary stopped, and back': ['primary', stopped],
  'primary replaced by set_as_primary': [
    'secondary',
    (node, group, random) => group.setPrimary(node, random.percent(50) ? undefined : random.int(1, 5)),
  ],
  'secondary killed, back by clone': [
    'secondary',
    async (node, group) => {
      await node.kill()
      await group.consistsOf(group.except(node))
      await node.boot()
      await node.join('clone')
    },
  ],
  'primary killed, the others behind': [
    'primary',
    async (node, group, random, database) => {
      const others = group.except(node)
      const holders = await Promise.all(
        others.map(other => mysql.createConnection({ ...other.config, database })),
      )
      for (const holder of holders) await holder.query('LOCK TABLES wallet_transactions READ')
      await sleep(random.int(200, 1_500))
      await node.kill()
      await sleep(random.int(4_000, 9_000))
      for (const holder of holders) holder.destroy()
      await group.consistsOf(others)
      await node.boot()
    },
  ],
  'primary cut off, and leaves after its timeout': [
    'primary',
    async (node, group, random, database) => {
      const set = (seconds: number) =>
        node.run(`SET GLOBAL group_replication_unreachable_majority_timeout = ${seconds}`)
      await set(random.int(1, 3))
      await cutOff(node, group, random, database)
      await set(0)
    },
  ],
  'secondary killed': ['secondary', killed],
  'secondary stopped, and back': ['secondary', stopped],
  'secondary cut off': ['secondary', cutOff],
  'all cut off: no majority': [
    'primary',
    async (_, group, random) => {
      for (const node of group.nodes) await node.cutOff()
      await sleep(random.int(1_000, 8_000))
      for (const node of group.nodes) await node.reconnect()
    },
  ],
  'primary shut down': [
    'primary',
    async node => {
      await node.shutDown()
      await node.boot()
    },
  ],
}

/** Every kind once, in this order, and then in random orders. */
export async function disturbGroup(
  group: MysqlGroup,
  { database, random, answered, answersPerKill, kills, killsMax, progress, log }: Omit<Scene, 'wallets'>,
): Promise<void> {
  const kinds = Object.keys(faults)
  let round: string[] = []
  for (let count = 1; count <= killsMax; count += 1) {
    if (round.length === 0) round = count === 1 ? [...kinds].reverse() : shuffled(kinds, random)
    const name = round.pop() as string
    const [of, fault] = faults[name] as (typeof faults)[string]
    await answered(random.int(1, 2 * answersPerKill))
    await group.whole()
    const primary = await group.primary()
    const node = of === 'primary' ? primary : random.pick(group.except(primary) as [GroupNode, GroupNode])
    kills[name] = (kills[name] ?? 0) + 1
    log(`fault ${count} of ${killsMax}: ${name} (node ${group.nodes.indexOf(node) + 1}), ${progress()}`)
    await fault(node, group, random, database)
    await group.whole()
  }
}
