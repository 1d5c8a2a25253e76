/** Failovers to an asynchronous standby that lags: answered commits are lost, as the settings allow. */
import type { Cluster } from '../postgres/cluster.js'
import { withClient } from '../postgres/server.js'
import { limits } from './failovers.js'
import { readState, type ServerState } from './reconciliation.js'
import type { Subject } from './run.js'

/** @param cluster replicates asynchronously */
export function losing(cluster: Cluster): Subject {
  const oldStates: ServerState[] = []
  return {
    url: cluster.url,
    limits,
    oldStates,
    async disturb({ database, random, answered, answersPerKill, kills, killsMax, progress, log }) {
      for (let count = 1; count <= killsMax; count += 1) {
        await answered(random.int(answersPerKill, 2 * answersPerKill))
        cluster.link.hold()
        await answered(random.int(1, answersPerKill))
        kills['asynchronous, with lag'] = count
        log(`failover ${count} of ${killsMax}: primary killed while its standby lags, ${progress()}`)
        await cluster.primary.kill()
        cluster.link.refuse()
        cluster.link.release()
        await cluster.promote()
        cluster.address.moveTo(cluster.primary.port, { cut: true })
        oldStates.push(await stateOfOldPrimary(cluster, database))
        await cluster.rebuildStandby()
      }
    },
  }
}

/** Nothing leads to it any more. */
async function stateOfOldPrimary({ standby: oldPrimary }: Cluster, database: string): Promise<ServerState> {
  await oldPrimary.start()
  const url = new URL(oldPrimary.url)
  url.pathname = `/${database}`
  return await withClient(url.href, readState)
}
