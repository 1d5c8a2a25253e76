/**
 * `npm run test:exhaustive`: the whole search, in two processes. Prints the number of schedules and states.
 * Exits with 1 and the shortest trace of every violated invariant.
 */
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { letters } from './alphabet.js'
import { starts } from './starts.js'
import type { Comparison, Exploration, ExploreOptions } from './tasks.js'
import type { Task } from './worker.js'

const processes = 2

/** Each process takes the next task when it has finished one. */
async function inParallel(tasks: readonly Task[]): Promise<unknown[]> {
  const results: unknown[] = []
  let next = 0
  const work = () =>
    new Promise<void>((resolve, reject) => {
      const worker = fork(fileURLToPath(new URL('./worker.ts', import.meta.url)))
      let doing = -1
      const go = () => {
        doing = next
        next += 1
        const task = tasks[doing]
        if (task === undefined) worker.disconnect()
        else worker.send(task)
      }
      worker.on('message', (message: { result: unknown } | { failed: string }) => {
        if ('failed' in message) {
          worker.disconnect()
          reject(new Error(message.failed))
          return
        }
        results[doing] = message.result
        go()
      })
      worker.on('error', reject)
      worker.on('exit', () =>
        doing >= tasks.length ? resolve() : reject(new Error('a worker exited early')),
      )
      go()
    })
  await Promise.all(Array.from({ length: processes }, work))
  return results
}

const number = (value: number) => value.toLocaleString('en')
const everyStart = starts.map((_, index) => index)
let lastLap = performance.now()
const elapsed = () => {
  const before = lastLap
  lastLap = performance.now()
  return `${((lastLap - before) / 1000).toFixed(1)} s`
}

function report(title: string, explorations: readonly Exploration[]): boolean {
  console.log(`\n${title} (${elapsed()})`)
  for (const size of [1, 2, 3]) {
    const totals = explorations.flatMap(({ totals }) =>
      totals.filter(([of]) => of === size).map(([, found]) => found),
    )
    const sum = (of: 'configurations' | 'schedules' | 'states' | 'ends') =>
      number(totals.reduce((total, found) => total + found[of], 0))
    console.log(
      `  ${size} concurrent: ${sum('configurations')} configurations, ${sum('schedules')} schedules, ` +
        `${sum('states')} states, ${sum('ends')} of them final`,
    )
  }
  // The shortest trace of every violated invariant. The shortest of all comes last, at the end of the output.
  const shortest = new Map<string, { text: string; steps: number }>()
  for (const [name, trace] of explorations.flatMap(({ violated }) => violated)) {
    if (trace.steps < (shortest.get(name)?.steps ?? Number.POSITIVE_INFINITY)) shortest.set(name, trace)
  }
  for (const { text } of [...shortest.values()].sort((a, b) => b.steps - a.steps)) console.log(`\n${text}`)
  return shortest.size === 0
}

async function main(): Promise<boolean> {
  console.log(`${starts.length} starts, ${letters.length} letters, at most one fault in a schedule`)
  const sizes = [0, 1, 2, 3]
  const searches: [title: string, of: ExploreOptions][] = [
    ['Every schedule', { sizes }],
    ['Every schedule with placebets and settlements that load first', { sizes, placebets: 'load-first' }],
    ['Every schedule, with a single attempt per request', { sizes, attemptsMax: 1 }],
  ]
  for (const [title, explore] of searches) {
    const found = (await inParallel(everyStart.map(start => ({ start, explore })))) as Exploration[]
    if (!report(title, found)) return false
  }

  const compared = (await inParallel(
    everyStart.map(start => ({ start, compare: { size: 2 } })),
  )) as Comparison[]
  const differences = compared.flatMap(one => one.differences)
  const executed = compared.reduce((sum, { schedules }) => sum + schedules, 0)
  console.log(`\nExecuted directly, every schedule from its beginning (${elapsed()})`)
  console.log(`  2 concurrent: ${number(executed)} schedules, compared with the exploration`)
  for (const difference of differences.slice(0, 10)) console.log(`  DIFFERENT: ${difference}`)
  return differences.length === 0
}

main().then(
  passed => {
    console.log(`\n${passed ? 'PASSED' : 'FAILED'} (${(performance.now() / 1000).toFixed(1)} s)`)
    process.exitCode = passed ? 0 : 1
  },
  error => {
    console.error(error)
    process.exitCode = 1
  },
)
