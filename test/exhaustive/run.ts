/**
 * `npm run test:exhaustive`: all of it, on two cores. Prints how much there was; exits 1 with the shortest story of
 * what is broken.
 */
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { letters } from './alphabet.js'
import type { Comparison, Lap } from './lap.js'
import { starts } from './starts.js'
import { attemptsThatSuffice } from './universe.js'
import type { Task } from './worker.js'

const processes = 2

/** Each process takes the next task when it is done with one. */
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
      worker.on('exit', () => (doing >= tasks.length ? resolve() : reject(new Error('a worker gave up'))))
      go()
    })
  await Promise.all(Array.from({ length: processes }, work))
  return results
}

const number = (value: number) => value.toLocaleString('en')
const everyStart = starts.map((_, index) => index)
let seconds = performance.now()
const lap = () => {
  const before = seconds
  seconds = performance.now()
  return `${((seconds - before) / 1000).toFixed(1)} s`
}

function report(title: string, laps: readonly Lap[]): boolean {
  console.log(`\n${title} (${lap()})`)
  for (const size of [1, 2, 3]) {
    const totals = laps.flatMap(({ totals }) =>
      totals.filter(([of]) => of === size).map(([, found]) => found),
    )
    const sum = (of: 'configurations' | 'schedules' | 'states' | 'ends') =>
      number(totals.reduce((total, found) => total + found[of], 0))
    console.log(
      `  ${size} at once: ${sum('configurations')} configurations, ${sum('schedules')} schedules, ` +
        `${sum('states')} states, ${sum('ends')} of them ends`,
    )
  }
  // Of every invariant that is broken the shortest story; the shortest of all comes last, where it is seen.
  const shortest = new Map<string, { text: string; steps: number }>()
  for (const [name, story] of laps.flatMap(({ broken }) => broken)) {
    if (story.steps < (shortest.get(name)?.steps ?? Number.POSITIVE_INFINITY)) shortest.set(name, story)
  }
  for (const { text } of [...shortest.values()].sort((a, b) => b.steps - a.steps)) console.log(`\n${text}`)
  return shortest.size === 0
}

async function main(): Promise<boolean> {
  console.log(`${starts.length} starts, ${letters.length} letters, at most one fault in a schedule`)
  const explore = (attemptsMax: number): Task[] =>
    everyStart.map(start => ({ start, explore: { attemptsMax } }))

  const all = (await inParallel(explore(attemptsThatSuffice))) as Lap[]
  if (!report('Every schedule', all)) return false
  const hasty = (await inParallel(explore(1))) as Lap[]
  if (!report('Every schedule, where the first conflict is the end of a request', hasty)) return false

  const compared = (await inParallel(
    everyStart.map(start => ({ start, compare: { size: 2 } })),
  )) as Comparison[]
  const differences = compared.flatMap(one => one.differences)
  const played = compared.reduce((sum, { schedules }) => sum + schedules, 0)
  console.log(`\nPlayed live, one by one and from the beginning (${lap()})`)
  console.log(`  2 at once: ${number(played)} schedules, with the same ends as explored`)
  for (const difference of differences.slice(0, 10)) console.log(`  DIFFERENT: ${difference}`)
  return differences.length === 0
}

main().then(
  sound => {
    console.log(`\n${sound ? 'Nothing is broken' : 'BROKEN'} (${(performance.now() / 1000).toFixed(1)} s)`)
    process.exitCode = sound ? 0 : 1
  },
  error => {
    console.error(error)
    process.exitCode = 1
  },
)
