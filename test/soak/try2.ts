import { startPatroni } from '../postgres/patroni.js'
import { patroniFailing } from './patroni.js'
import { runPhase } from './run.js'

const t0 = Date.now()
const cluster = await startPatroni()
console.log(cluster.versions, (Date.now() - t0) / 1000)
const [seed, kills, accounts] = process.argv.slice(2)
try {
  const report = await runPhase(
    patroniFailing(cluster),
    { name: 'patroni', accounts: (accounts ?? 'numeric') as never, cutOver: null, kills: Number(kills) },
    {
      seed: Number(seed),
      callers: 16,
      answersPerKill: 150,
      fault: (process.env.BROKEN ?? null) as never,
      log: l => console.log(((Date.now() - t0) / 1000).toFixed(1), l),
    },
  )
  console.dir({ ...report, differences: report.differences.length }, { depth: 5 })
  for (const d of report.differences) console.log(`${d}\n`)
} finally {
  await cluster.stop()
}
console.log((Date.now() - t0) / 1000)
process.exit()
