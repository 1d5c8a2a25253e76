/** One PostgreSQL and the wallet processes, killed with SIGKILL: what the default soak does. */
import type { PostgresServer } from '../../postgres/server.js'
import type { Subject } from './run.js'
import type { ServerProcess } from './server-process.js'

/** Kills a wallet, the database, both, and so on. The number of answers sets the time of each kill. */
export function killing(server: PostgresServer): Subject {
  return {
    url: server.url,
    async disturb({ random, wallets, answered, answersPerKill, kills, killsMax, progress, log }) {
      kills.wallet = 0
      kills.postgres = 0
      const count = () => (kills.wallet ?? 0) + (kills.postgres ?? 0)
      const turns = random.percent(50) ? ['wallet', 'postgres', 'both'] : ['postgres', 'wallet', 'both']
      for (let turn = 0; count() < killsMax; turn += 1) {
        // Sometimes at once, when the servers have just restarted.
        await answered(random.percent(15) ? random.int(0, 3) : random.int(1, 2 * answersPerKill))
        const last = killsMax - count() === 1
        const both = turns[turn % 3] === 'both' && !last
        const victims = both
          ? ['wallet', 'postgres']
          : [turns[turn % 3] === 'both' ? 'postgres' : turns[turn % 3]]
        const before = progress()
        const work: Promise<void>[] = []
        if (victims.includes('postgres')) {
          kills.postgres += 1
          work.push(server.kill().then(() => server.start()))
        }
        if (victims.includes('wallet')) {
          kills.wallet += 1
          const wallet = random.pick(wallets as [ServerProcess, ...ServerProcess[]])
          work.push(wallet.kill().then(() => wallet.start()))
        }
        log(`kill ${count()} of ${killsMax}: ${victims.join(' and ')}, ${before}`)
        await Promise.all(work)
      }
    },
  }
}
