/**
 * How fast the sportsbook is beside the wallet that it loads: `npx tsx
 * test/audit/simulator/throughput.ts`. No test: it measures, and exits 1 below a ratio of 1.
 *
 * The wallet is the example for node:http on the memory store, in a process of its own. Both processes count their
 * own CPU time, user and system, so that it does not matter how many cores there are and what else they do.
 * Numerator: requests per CPU second of the sportsbook. Denominator: requests per CPU second of the wallet.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { recordSettlement } from 'bet-wallet'
import { basicAuth, createHttpHandler } from 'bet-wallet/http'
import { createMemoryStore } from 'bet-wallet/memory'
import { walletRoutes } from '../../../examples/node-http/wallet.js'
import { numberedPlayers, simulateSportsbook } from '../../../src/audit/simulator/index.js'

const credentials = { username: 'platform', password: 'bench-secret' }
const players = numberedPlayers(100, 'sim-')
const ratioLeast = 1

if (process.argv[2] === 'wallet') serve()
else await measure()

function serve(): void {
  const store = createMemoryStore(
    players.map(playerId => ({ playerId, currency: 'EUR', balance: '1000.00' })),
  )
  const handle = createHttpHandler(store, {
    authenticate: basicAuth(credentials),
    operations: { '/settlement': body => recordSettlement(store, body) },
  })
  const server = createServer(walletRoutes(handle))
  server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }))
  process.on('message', () => process.send?.(process.cpuUsage()))
  process.on('disconnect', () => process.exit())
}

async function measure(): Promise<void> {
  const child = fork(fileURLToPath(import.meta.url), ['wallet'], { execArgv: process.execArgv })
  const [{ port }] = (await once(child, 'message')) as [{ port: number }]
  const walletCpu = async () => {
    child.send('cpu')
    const [{ user, system }] = (await once(child, 'message')) as [NodeJS.CpuUsage]
    return user + system
  }
  const ownCpu = () => {
    const { user, system } = process.cpuUsage()
    return user + system
  }

  const ratios: number[] = []
  for (const [round, chaos] of [0, 0, 0.3, 0, 0.3, 0, 0.3].entries()) {
    const [own, wallet] = [ownCpu(), await walletCpu()]
    const report = await simulateSportsbook({
      baseUrl: `http://127.0.0.1:${port}`,
      credentials,
      players,
      chaos,
      bets: 20_000,
      concurrency: 32,
      seed: round,
    })
    const [ownSpent, walletSpent] = [ownCpu() - own, (await walletCpu()) - wallet]
    if (!report.reconciled) throw new Error('the run does not reconcile')
    const perSecond = (spent: number) => Math.round((report.requests * 1e6) / spent)
    const ratio = walletSpent / ownSpent
    if (round > 0) ratios.push(ratio)
    console.log(
      `${round === 0 ? 'warm-up: ' : ''}chaos ${chaos}: ${report.requests} requests, ${Math.round(report.requestsPerSecond)}/s; ` +
        `per CPU second: sportsbook ${perSecond(ownSpent)}, wallet ${perSecond(walletSpent)}; ratio ${ratio.toFixed(2)}`,
    )
  }
  child.disconnect()
  const median = ratios.sort((a, b) => a - b)[ratios.length >> 1] as number
  console.log(`ratio, median of ${ratios.length}: ${median.toFixed(2)}, at least ${ratioLeast}`)
  if (median < ratioLeast) process.exitCode = 1
}
