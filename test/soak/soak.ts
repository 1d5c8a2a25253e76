/**
 * `npm run soak`: load over HTTP on two wallet processes and one PostgreSQL, while all of them are killed
 * repeatedly; then two cut-overs from a legacy integration with bets in flight; then the same kills under the
 * simulated sportsbook of bet-wallet/audit, on the library's own players' table. Prints the counts; exit code
 * 1 with a trace of each difference.
 *
 * `npm run soak -- --kills 100 --seed 7 --callers 32`
 */
import { parseArgs } from 'node:util'
import { noServerOfOurOwn, startPostgres } from '../postgres/server.js'
import { type Mistake, mistakes } from './cut-over.js'
import { type Fault, faults } from './faults.js'
import { killing } from './kills.js'
import { type PhaseReport, phasesOf, runPhase } from './run.js'
import type { ServerProcess } from './server-process.js'
import { tableOf } from './table.js'

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '20' },
    seed: { type: 'string', default: `${Date.now() % 1_000_000}` },
    callers: { type: 'string', default: '32' },
    answers: { type: 'string', default: '150' },
    only: { type: 'string' },
    broken: { type: 'string' },
  },
})
const kills = count('kills', 4)
const seed = count('seed', 0)
const callers = count('callers', 1)
const answersPerKill = count('answers', 1)
const { only, broken } = values
const fault = broken !== undefined && broken in faults ? (broken as Fault) : null
const mistake = broken !== undefined && broken in mistakes ? (broken as Mistake) : null
if (broken !== undefined && fault === null && mistake === null) {
  fail(`--broken must be one of ${[...Object.keys(faults), ...Object.keys(mistakes)].join(', ')}`)
}
if (noServerOfOurOwn !== null) fail(`${noServerOfOurOwn}: unset it first`)
const phases = phasesOf(kills).filter(({ name }) => only === undefined || name.includes(only))
if (phases.length === 0)
  fail(
    `--only must be part of one of ${phasesOf(kills)
      .map(({ name }) => name)
      .join(', ')}`,
  )

const processes = new Set<ServerProcess>()
console.log(`seed ${seed}, ${callers} callers, ${phases.reduce((sum, phase) => sum + phase.kills, 0)} kills`)
const server = await startPostgres()
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, async () => {
    await Promise.allSettled([...processes].map(child => child.end()))
    await server.stop()
    process.exit(130)
  })
}
const reports: PhaseReport[] = []
const started = performance.now()
try {
  console.log(`PostgreSQL ${server.version}, fsync on`)
  for (const [index, phase] of phases.entries()) {
    const log = (line: string) => console.log(`  ${phase.name}: ${line}`)
    reports.push(
      await runPhase(killing(server), phase, {
        ...{ seed: seed + index, callers, answersPerKill, fault, mistake, log },
        onProcess: child => processes.add(child),
      }),
    )
  }
} finally {
  await server.stop()
}

console.log(`\n${tableOf(reports)}`)
console.log(
  `\n${Math.round((performance.now() - started) / 1000)} s; to repeat: --seed ${seed} --kills ${kills}`,
)
const differences = reports.flatMap(({ name, differences }) =>
  differences.map(difference => `${name}: ${difference}`),
)
if (differences.length === 0) {
  console.log('PASSED: every answered success is recorded once, and every balance and bet is correct.')
} else {
  console.log(
    `\nFAILED: the books do not balance. The first ${Math.min(10, differences.length)} differences:\n`,
  )
  for (const difference of differences.slice(0, 10)) console.log(`${difference}\n`)
  process.exitCode = 1
}

function count(name: 'kills' | 'seed' | 'callers' | 'answers', least: number): number {
  const number = Number(values[name])
  if (!Number.isSafeInteger(number) || number < least)
    fail(`--${name} must be a whole number of at least ${least}`)
  return number
}

function fail(why: string): never {
  console.error(why)
  process.exit(2)
}
