/**
 * `npm run test:mutation`: StrykerJS over the rules, the loop, the decimals, the parsers and the checks. Prints
 * the score per file, and fails below the minimum or at a survivor that is not in `survivors.ts`. Arguments go
 * to Stryker: `-- --mutate src/money.ts --concurrency 1`.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { judge, percentOf, percentOfKillable, type Report, type Score } from './score.js'
import { survivors } from './survivors.js'

const percentMin = 98

const root = fileURLToPath(new URL('../../..', import.meta.url))
const reportFile = `${root}/test/.tmp/mutation.json`

rmSync(reportFile, { force: true })
const stryker = fileURLToPath(new URL('node_modules/@stryker-mutator/core/bin/stryker.js', import.meta.url))
const { status, error } = spawnSync(
  process.execPath,
  [stryker, 'run', 'test/programs/mutation/stryker.config.json', ...process.argv.slice(2)],
  { cwd: root, stdio: 'inherit' },
)
if (error !== undefined) throw error
if (status !== 0) throw new Error(`Stryker ended with status ${status}`)

const report: Report = JSON.parse(readFileSync(reportFile, 'utf8'))
const { scores, total, problems, notes } = judge(report, survivors, percentMin)

const rows = [...scores].map(([file, score]) => rowOf(file, score))
const header = [
  'file',
  'mutants',
  'killed',
  'timeout',
  'survived',
  'not covered',
  'excused',
  '% of all',
  '% of killable',
]
const table = [header, ...rows, rowOf('all', total)]
const widths = header.map((_, column) => Math.max(...table.map(row => (row[column] ?? '').length)))
for (const row of table) {
  console.log(
    row
      .map((cell, column) =>
        column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join('  '),
  )
}
console.log(
  '\nKillable: all but the excused, which test/programs/mutation/survivors.ts names as equivalent or unreachable.',
)
for (const note of notes) console.log(`note: ${note}`)
for (const problem of problems) console.log(`FAILED: ${problem}`)
if (problems.length === 0) console.log(`Passed: at least ${percentMin} %, and every survivor is in the list.`)
process.exitCode = problems.length === 0 ? 0 : 1

function rowOf(name: string, score: Score): string[] {
  const { mutants, killed, timedOut, survived, notCovered, excused } = score
  const counts = [mutants, killed, timedOut, survived, notCovered, excused].map(String)
  return [name, ...counts, percentOf(score).toFixed(2), percentOfKillable(score).toFixed(2)]
}
