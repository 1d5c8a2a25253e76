/**
 * Failovers of a primary and its synchronous standby, under load: what happens to databases in production,
 * and what administrators do then. Each ends with a primary at the address and a standby that
 * replicates.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Cluster } from '../../postgres/cluster.js'
import { withClient } from '../../postgres/server.js'
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

/** The address leads to the standby, which lags, before or without its promotion. */
const standbyAnswers =
  (end: 'promoted' | 'back'): Failover =>
  async (cluster, random) => {
    const replay = (what: 'pause' | 'resume') =>
      withClient(cluster.standby.url, client => client.query(`SELECT pg_wal_replay_${what}()`))
    await replay('pause')
    await pause(random, 200, 800)
    cluster.address.moveTo(cluster.standby.port, { cut: random.percent(50) })
    await pause(random, 300, 1_200)
    if (end === 'promoted') {
      await cluster.primary.kill()
      await failOver(cluster, random)
    } else {
      await replay('resume')
      cluster.address.moveTo(cluster.primary.port, { cut: true })
    }
  }

const waiting = "FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND application_name"

/** Ends the waits of the wallet and the PAM for the standby. @returns how many were the wallet's */
async function endWaits(cluster: Cluster, by: 'terminate' | 'cancel'): Promise<number> {
  return await withClient(cluster.primary.url, async client => {
    const { rows } = await client.query<{ name: string }>(
      `SELECT application_name AS name, pg_${by}_backend(pid) ${waiting} IN ('bet-wallet', 'pam')`,
    )
    return rows.filter(({ name }) => name === 'bet-wallet').length
  })
}

/** The standby is silent, and the waits of the commits are cancelled or terminated. */
const waits =
  (by: 'terminate' | 'cancel', end: 'killed' | 'back'): Failover =>
  async (cluster, random) => {
    cluster.link.hold()
    const rounds = random.int(2, 4)
    for (let ended = 0; ended < rounds; ) {
      if ((await endWaits(cluster, by)) > 0) ended += 1
      await pause(random, 50, 250)
    }
    await pause(random, 0, 500)
    if (end === 'back') {
      cluster.link.release()
      return
    }
    // What was committed meanwhile is lost, so it must not have been answered.
    await cluster.primary.kill()
    cluster.link.refuse()
    await failOver(cluster, random)
  }

/** The standby is gone, and a restart does not help: the commits that hung are visible afterwards. */
const restarted =
  (end: 'killed' | 'back'): Failover =>
  async (cluster, random) => {
    cluster.link.refuse()
    await withClient(cluster.primary.url, async client => {
      while (((await client.query(`SELECT ${waiting} = 'bet-wallet'`)).rowCount ?? 0) === 0) await sleep(20)
    })
    await cluster.primary.shutDown()
    await cluster.primary.start()
    await pause(random, 300, 1_500)
    if (end === 'back') {
      cluster.link.moveTo(cluster.primary.port, { cut: true })
      return
    }
    await cluster.primary.kill()
    await failOver(cluster, random)
  }

const failovers = {
  'primary killed': killed,
  'split brain': splitBrain,
  'waits terminated, primary killed': waits('terminate', 'killed'),
  'a standby answers, and is promoted': standbyAnswers('promoted'),
  'primary frozen, and back': frozen,
  'waits cancelled, primary killed': waits('cancel', 'killed'),
  'restart, primary killed': restarted('killed'),
  'a standby answers, and back': standbyAnswers('back'),
  'waits terminated, standby back': waits('terminate', 'back'),
  'restart, standby back': restarted('back'),
} satisfies Record<string, Failover>

export type FailoverKind = keyof typeof failovers

/** Every kind once, in this order, and then in random orders. */
export function failingOver(
  cluster: Cluster,
  kinds: readonly FailoverKind[] = Object.keys(failovers) as FailoverKind[],
): Subject {
  return {
    url: cluster.url,
    limits,
    async disturb({ random, answered, answersPerKill, kills, killsMax, progress, log }) {
      let round: FailoverKind[] = []
      for (let count = 1; count <= killsMax; count += 1) {
        if (round.length === 0) round = count === 1 ? [...kinds].reverse() : shuffled(kinds, random)
        const kind = round.pop() as FailoverKind
        await answered(random.int(1, 2 * answersPerKill))
        kills[kind] = (kills[kind] ?? 0) + 1
        log(`failover ${count} of ${killsMax}: ${kind}, ${progress()}`)
        await failovers[kind](cluster, random)
      }
    },
  }
}

export function shuffled<T>(list: readonly T[], random: Random): T[] {
  const rest = [...list]
  return list.map(() => rest.splice(random.int(0, rest.length - 1), 1)[0] as T)
}
