/**
 * `npm run soak`: load over HTTP on wallet processes and their database while faults are injected, and then the
 * check of every answer and every cent. Prints the counts; exit code 1 with a trace of each difference.
 *
 * - `--engine default`: one PostgreSQL. It and two wallet processes are killed repeatedly; then two cut-overs
 *   from a legacy integration with bets in flight; then the same kills under the simulated sportsbook of
 *   bet-wallet/audit, on the library's own players' table.
 * - `--engine failover`: a primary and a synchronous standby, and then an asynchronous one: failovers.ts
 * - `--engine patroni`: three nodes with Debian's packages, where they are installed: patroni.ts
 * - `--engine galera`: three nodes of MariaDB, where it is installed: the simulated sportsbook through two wallet
 *   processes while nodes are killed, stopped and cut off, and then the books of each node: galera.ts
 * - `--engine group`: the same on a group of MySQL, where it is unpacked: group.ts
 *
 * `npm run soak -- --engine failover --faults 60 --seed 7 --callers 32`
 */
import { parseArgs } from 'node:util'
import { type Mistake, mistakes } from './cut-over.js'
import { engines } from './engines.js'
import { type Fault, faults } from './faults.js'
import type { PhaseReport } from './run.js'
import type { ServerProcess } from './server-process.js'
import { tableOf } from './table.js'

const { values } = parseArgs({
  options: {
    engine: { type: 'string', default: 'default' },
    /** `--kills`: the same, as the faults of the default engine are called. */
    faults: { type: 'string' },
    kills: { type: 'string' },
    seed: { type: 'string', default: `${Date.now() % 1_000_000}` },
    callers: { type: 'string', default: '32' },
    answers: { type: 'string', default: '150' },
    only: { type: 'string' },
    broken: { type: 'string' },
  },
})
if (!(values.engine in engines)) fail(`--engine must be one of ${Object.keys(engines).join(', ')}`)
const engineName = values.engine as keyof typeof engines
const engine = engines[engineName]
const faultsMax = whole(
  'faults',
  values.faults ?? values.kills ?? `${engine.faults.usual}`,
  engine.faults.least,
)
const seed = whole('seed', values.seed, 0)
const callers = whole('callers', values.callers, 1)
const answersPerKill = whole('answers', values.answers, 1)
const { only, broken } = values
const fault = broken !== undefined && broken in faults ? (broken as Fault) : null
const mistake = broken !== undefined && broken in mistakes ? (broken as Mistake) : null
if (broken !== undefined && fault === null && mistake === null) {
  fail(`--broken must be one of ${[...Object.keys(faults), ...Object.keys(mistakes)].join(', ')}`)
}
const unavailable = engine.unavailable()
if (unavailable !== null) {
  console.log(`SKIPPED: ${unavailable}`)
  process.exit(engineName === 'default' ? 2 : 0)
}
const allPhases = engine.phasesOf(faultsMax)
const phases = allPhases.filter(({ name }) => only === undefined || name.includes(only))
if (phases.length === 0) fail(`--only must be part of one of ${allPhases.map(({ name }) => name).join(', ')}`)

const processes = new Set<ServerProcess>()
console.log(`seed ${seed}, ${callers} callers, ${phases.reduce((sum, phase) => sum + phase.kills, 0)} faults`)
const servers = await engine.open()
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, async () => {
    await Promise.allSettled([...processes].map(child => child.end()))
    await servers.close()
    process.exit(130)
  })
}
const reports: PhaseReport[] = []
const started = performance.now()
try {
  console.log(servers.description)
  for (const [index, phase] of phases.entries()) {
    const log = (line: string) => console.log(`  ${phase.name}: ${line}`)
    reports.push(
      await servers.run(phase, {
        ...{ seed: seed + index, callers, answersPerKill, fault, mistake, log },
        onProcess: child => processes.add(child),
      }),
    )
  }
} finally {
  await servers.close()
}

console.log(`\n${tableOf(reports)}`)
console.log(
  `\n${Math.round((performance.now() - started) / 1000)} s; to repeat: --engine ${engineName} --faults ${faultsMax} --seed ${seed}`,
)
for (const { name, lost } of reports) {
  if (lost === null) continue
  console.log(`\n${name}: answered, and lost with an old primary; the reconciliation lists all of it:`)
  const all = [...lost.answers, ...lost.movements]
  console.log(`  ${all.slice(0, 10).join('\n  ')}${all.length > 10 ? `\n  and ${all.length - 10} more` : ''}`)
}
const differences = reports.flatMap(({ name, differences }) =>
  differences.map(difference => `${name}: ${difference}`),
)
if (differences.length === 0) {
  const refusals = engineName === 'default' ? '' : ', every refusal was true'
  console.log(
    `\nPASSED: every answered success is recorded once${refusals}, and every balance and bet is correct.`,
  )
} else {
  console.log(
    `\nFAILED: the books do not balance. The first ${Math.min(10, differences.length)} differences:\n`,
  )
  for (const difference of differences.slice(0, 10)) console.log(`${difference}\n`)
  process.exitCode = 1
}

function whole(name: string, text: string, least: number): number {
  const number = Number(text)
  if (!Number.isSafeInteger(number) || number < least)
    fail(`--${name} must be a whole number of at least ${least}`)
  return number
}

function fail(why: string): never {
  console.error(why)
  process.exit(2)
}
