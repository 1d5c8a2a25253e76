/**
 * Compares the speed of the simulator with that of the wallet under load:
 * `npx tsup --silent && npx tsx test/tools/random/throughput.ts`. Not a test: it measures the built package, and
 * exits 1 below a ratio of 1.
 *
 * The wallet is the example for node:http on the memory store, in its own process. Both processes measure their own
 * CPU time, user and system: the number of cores and other load do not matter. The ratio is the requests per CPU
 * second of the simulator, divided by those of the wallet.
 */
import { numberedPlayers, simulateSportsbook } from 'bet-wallet/audit'
import { credentials, median } from '../../programs/bench/load.js'
import { startServer } from '../../programs/bench/server-process.js'

const players = numberedPlayers(100, 'sim-')
const ratioLeast = 1

const { baseUrl, usage, stop } = await startServer({
  kind: 'memory',
  players: players.map(playerId => ({ playerId, currency: 'EUR', balance: '1000.00' })),
})
const walletCpu = async () => (await usage()).cpuUs
const ownCpu = () => {
  const { user, system } = process.cpuUsage()
  return user + system
}

const ratios: number[] = []
for (const [round, chaos] of [0, 0, 0.3, 0, 0.3, 0, 0.3].entries()) {
  const [own, wallet] = [ownCpu(), await walletCpu()]
  const report = await simulateSportsbook({
    baseUrl,
    credentials,
    players,
    chaos,
    bets: 20_000,
    concurrency: 32,
    seed: round,
  })
  const [ownSpent, walletSpent] = [ownCpu() - own, (await walletCpu()) - wallet]
  if (!report.passed) throw new Error('the simulation has not passed')
  const perSecond = (spent: number) => Math.round((report.requests * 1e6) / spent)
  const ratio = walletSpent / ownSpent
  if (round > 0) ratios.push(ratio)
  console.log(
    `${round === 0 ? 'warm-up: ' : ''}chaos ${chaos}: ${report.requests} requests, ${Math.round(report.requestsPerSecond)}/s; ` +
      `per CPU second: sportsbook ${perSecond(ownSpent)}, wallet ${perSecond(walletSpent)}; ratio ${ratio.toFixed(2)}`,
  )
}
await stop()
const ratio = median(ratios)
console.log(`ratio, median of ${ratios.length}: ${ratio.toFixed(2)}, at least ${ratioLeast}`)
if (ratio < ratioLeast) process.exitCode = 1
