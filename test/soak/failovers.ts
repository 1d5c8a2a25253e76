/**
 * Failovers of a primary and its synchronous standby, under load: what happens to databases that somebody
 * operates, and what administrators do then. Each ends with a primary at the address and a standby that
 * replicates.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Cluster } from '../postgres/cluster.js'
import { withClient } from '../postgres/server.js'
import type { Random } from './random.js'
import type { Subject } from './run.js'

/** Hanging connections are normal here. */
export const limits = { connectMs: 2_000, timeoutMs: 3_000 }

type Failover = (cluster: Cluster, random: Random) => Promise<void>

const pause = (random: Random, least: number, most: number) => sleep(random.int(least, most))

/** The standby becomes the primary of the address. The old primary is ended, if it still runs. */
async function failOver(cluster: Cluster, random: Random, cut = true): Promise<void> {
  await cluster.promote()
  cluster.address.moveTo(cluster.primary.port, { cut })
  // Two ways to run two servers: writes wait for the next standby, or do without one meanwhile.
  if (random.percent(50)) await cluster.setSynchronous(false)
  await pause(random, 0, 500)
  await cluster.rebuildStandby()
}

const killed: Failover = async (cluster, random) => {
  await cluster.primary.kill()
  await pause(random, 0, 300)
  await failOver(cluster, random)
}

/** Both believe to be the primary, and the address leads to the one and to the other. */
const splitBrain: Failover = async (cluster, random) => {
  await cluster.promote()
  const { primary, standby: oldPrimary } = cluster
  if (random.percent(50)) await cluster.setSynchronous(false)
  const turns = random.int(3, 6)
  for (let turn = 0; turn < turns; turn += 1) {
    const { port } = turn % 2 === 0 ? primary : oldPrimary
    cluster.address.moveTo(port, { cut: random.percent(50) })
    await pause(random, 150, 700)
  }
  // Connections that were kept still lead to the old primary.
  cluster.address.moveTo(primary.port, { cut: false })
  await pause(random, 300, 1_000)
  await cluster.rebuildStandby()
  cluster.address.moveTo(primary.port, { cut: true })
}

/** A frozen machine that wakes up as the old primary, with its connections. */
const frozen: Failover = async (cluster, random) => {
  const oldPrimary = cluster.primary
  await oldPrimary.pause()
  await pause(random, 300, 1_000)
  await cluster.promote()
  cluster.address.moveTo(cluster.primary.port, { cut: random.percent(30) })
  if (random.percent(50)) await cluster.setSynchronous(false)
  await pause(random, 300, 1_000)
  oldPrimary.resume()
  await pause(random, 500, 1_500)
  await cluster.rebuildStandby()
  cluster.address.moveTo(cluster.primary.port, { cut: true })
}

/** The address leads to the standby before, or without, its promotion. */
const standbyAnswers: Failover = async (cluster, random) => {
  const replay = (what: 'pause' | 'resume') =>
    withClient(cluster.standby.url, client => client.query(`SELECT pg_wal_replay_${what}()`))
  await replay('pause')
  await pause(random, 200, 800)
  cluster.address.moveTo(cluster.standby.port, { cut: random.percent(50) })
  await pause(random, 300, 1_200)
  if (random.percent(50)) {
    await cluster.primary.kill()
    await failOver(cluster, random)
  } else {
    await replay('resume')
    cluster.address.moveTo(cluster.primary.port, { cut: true })
  }
}

/** Ends the waits for the standby that the wallet has now. @returns how many */
async function endWaits(cluster: Cluster, by: 'terminate' | 'cancel'): Promise<number> {
  return await withClient(cluster.primary.url, async client => {
    const { rowCount } = await client.query(
      `SELECT pg_${by}_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND application_name <> ''`,
    )
    return rowCount ?? 0
  })
}

/** The standby is silent, and somebody "frees" the commits that hang. */
const waits =
  (by: 'terminate' | 'cancel'): Failover =>
  async (cluster, random) => {
    cluster.link.hold()
    const rounds = random.int(1, 4)
    for (let ended = 0; ended < rounds; ) {
      if ((await endWaits(cluster, by)) > 0) ended += 1
      await pause(random, 50, 250)
    }
    await pause(random, 0, 500)
    if (random.percent(40)) {
      cluster.link.release()
      return
    }
    // What was committed meanwhile is lost, so it must not have been answered.
    await cluster.primary.kill()
    cluster.link.refuse()
    await failOver(cluster, random)
  }

/** The standby is gone, and a restart does not help: the commits that hung are visible afterwards. */
const restarted: Failover = async (cluster, random) => {
  cluster.link.refuse()
  const waiting = async () =>
    await withClient(cluster.primary.url, async client => {
      const { rowCount } = await client.query("SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
      return rowCount ?? 0
    })
  while ((await waiting()) === 0) await sleep(20)
  await cluster.primary.shutDown()
  await cluster.primary.start()
  await pause(random, 300, 1_500)
  if (random.percent(40)) {
    cluster.link.moveTo(cluster.primary.port, { cut: true })
    return
  }
  await cluster.primary.kill()
  await failOver(cluster, random)
}

const failovers: Record<string, Failover> = {
  'primary killed': killed,
  'split brain': splitBrain,
  'primary frozen, and back': frozen,
  'a standby answers': standbyAnswers,
  'waits terminated': waits('terminate'),
  'waits cancelled': waits('cancel'),
  'restart without standby': restarted,
}

/** Every kind once, in random order, and again. */
export function failingOver(cluster: Cluster): Subject {
  return {
    url: cluster.url,
    limits,
    async disturb({ random, answered, answersPerKill, kills, killsMax, progress, log }) {
      const names = Object.keys(failovers)
      let round: string[] = []
      for (let count = 1; count <= killsMax; count += 1) {
        if (round.length === 0) round = shuffled(names, random)
        const name = round.pop() as string
        await answered(random.int(1, 2 * answersPerKill))
        kills[name] = (kills[name] ?? 0) + 1
        log(`failover ${count} of ${killsMax}: ${name}, ${progress()}`)
        await (failovers[name] as Failover)(cluster, random)
      }
    },
  }
}

export function shuffled<T>(list: readonly T[], random: Random): T[] {
  const rest = [...list]
  return list.map(() => rest.splice(random.int(0, rest.length - 1), 1)[0] as T)
}
