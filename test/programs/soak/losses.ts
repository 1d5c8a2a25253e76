/** Failovers to an asynchronous standby that lags: answered commits are lost, as the settings allow. */
import type { Cluster } from '../../postgres/cluster.js'
import { type PostgresServer, withClient } from '../../postgres/server.js'
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
    async disturb({ database, random, answered, answersPerKill, callers, kills, killsMax, progress, log }) {
      const recorded = () => transactionsOf(cluster.primary, database)
      for (let count = 1; count <= killsMax; count += 1) {
        await answered(random.int(answersPerKill, 2 * answersPerKill))
        cluster.link.hold()
        // A caller has fewer than 8 calls without an answer: one of these is answered, whatever the schedule.
        const enough = (await recorded()) + 8 * callers
        while ((await recorded()) < enough) await answered(random.int(1, answersPerKill))
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

async function transactionsOf(server: PostgresServer, database: string): Promise<number> {
  return await withClient(urlOf(server, database), async client => {
    const { rows } = await client.query<{ count: number }>(
      'SELECT count(*)::int AS count FROM bet_wallet.transactions',
    )
    return rows[0]?.count ?? 0
  })
}

/** Nothing leads to it any more. */
async function stateOfOldPrimary({ standby: oldPrimary }: Cluster, database: string): Promise<ServerState> {
  await oldPrimary.start()
  return await withClient(urlOf(oldPrimary, database), readState)
}

function urlOf(server: PostgresServer, database: string): string {
  const url = new URL(server.url)
  url.pathname = `/${database}`
  return url.href
}
