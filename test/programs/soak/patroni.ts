/** Faults of a cluster under Patroni, under load. Each ends with a healthy cluster. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { PatroniCluster } from '../../postgres/patroni.js'
import type { NodeName } from '../../postgres/patroni-config.js'
import { limits, shuffled } from './failovers.js'
import type { Random } from './random.js'
import type { Subject } from './run.js'

type Fault = (cluster: PatroniCluster, leader: NodeName, random: Random) => Promise<void>

const all = ['patroni', 'postgres'] as const

const faults: Record<string, Fault> = {
  async 'leader killed'(cluster, leader, random) {
    cluster.signal(leader, all, 'SIGKILL')
    if (random.percent(70)) await cluster.leaderAfter(leader)
    cluster.startNode(leader)
  },
  async 'leader frozen, and back'(cluster, leader, random) {
    cluster.signal(leader, all, 'SIGSTOP')
    await cluster.leaderAfter(leader)
    await sleep(random.int(0, 5_000))
    cluster.signal(leader, all, 'SIGCONT')
  },
  async 'PostgreSQL of the leader killed'(cluster, leader) {
    cluster.signal(leader, ['postgres'], 'SIGKILL')
    // Patroni notices it in its next loop.
    await sleep(2_000)
  },
  async 'etcd gone'(cluster, _, random) {
    await cluster.killEtcd()
    await sleep(random.int(8_000, 15_000))
    cluster.startEtcd()
    await sleep(1_000)
  },
  async switchover(cluster, leader) {
    await cluster.switchOver()
    await cluster.leaderAfter(leader)
  },
  async 'synchronous standby killed'(cluster, _, random) {
    const standby = await cluster.synchronousStandby()
    if (standby === null) throw new Error('there is no synchronous standby')
    cluster.signal(standby, all, 'SIGKILL')
    await sleep(random.int(1_000, 6_000))
    cluster.startNode(standby)
  },
  async 'Patroni of the leader killed'(cluster, leader) {
    cluster.signal(leader, ['patroni'], 'SIGKILL')
    // PostgreSQL runs on: a split brain until its Patroni is back.
    await cluster.leaderAfter(leader)
    await sleep(2_000)
    cluster.startNode(leader)
  },
}

/** Every kind once, in this order, and then in random orders. */
export function patroniFailing(cluster: PatroniCluster): Subject {
  return {
    url: cluster.url,
    limits,
    async disturb({ random, answered, answersPerKill, kills, killsMax, progress, log }) {
      let round: string[] = []
      for (let count = 1; count <= killsMax; count += 1) {
        const kinds = Object.keys(faults)
        if (round.length === 0) round = count === 1 ? kinds.reverse() : shuffled(kinds, random)
        const name = round.pop() as string
        await answered(random.int(1, 2 * answersPerKill))
        // With synchronous_mode_strict, only a synchronous standby can follow a leader.
        await cluster.healthy()
        const leader = await cluster.leaderAfter(null)
        kills[name] = (kills[name] ?? 0) + 1
        log(`fault ${count} of ${killsMax}: ${name} (leader ${leader}), ${progress()}`)
        await (faults[name] as Fault)(cluster, leader, random)
        await cluster.healthy()
      }
    },
  }
}
