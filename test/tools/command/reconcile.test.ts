/** The command reconcile: the built command as a separate process, with the lookups of a config file. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, test } from 'vitest'
import { createWorld, csvOf, type World } from '../reconcile/world.js'

const command = fileURLToPath(new URL('../../../dist/command.cjs', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'bet-wallet-reconcile-test-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('is built', () => {
  expect(existsSync(command), 'run `npm test`, which builds first').toBe(true)
})

/** Writes the world to files, and runs the command on them. */
function run({ rows, records }: World, ...words: string[]) {
  writeFileSync(join(folder, 'platform.csv'), csvOf(rows))
  writeFileSync(
    join(folder, 'config.mjs'),
    `const records = ${JSON.stringify(records)}
export const lookups = {
  async *transactions({ from, to }) { yield* records.filter(({ recordedAt }) => recordedAt >= from && recordedAt < to) },
  transaction: async id => records.filter(({ transactionId }) => transactionId === id),
  bet: async () => null,
  player: async () => null,
  owed: async () => [],
}`,
  )
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [command, 'reconcile', 'platform.csv', '--config', 'config.mjs', ...words],
    { cwd: folder, encoding: 'utf8', env: { ...process.env, NODE_OPTIONS: '', TMPDIR: folder } },
  )
  return { status, stdout, stderr }
}

const range = ['--from', '2026-11-21', '--to', '2026-11-22']
const differing = (): World => {
  const world = createWorld(1)
  return {
    ...world,
    records: world.records.filter(({ transactionId }) => transactionId !== 'placebet-EUR-0'),
  }
}

describe('bet-wallet reconcile', () => {
  test('exits with 0 and says so if there are no differences', () => {
    const { status, stdout, stderr } = run(createWorld(1), ...range, '--lines', 'equal.jsonl')
    expect([status, stderr]).toEqual([0, 'Written: equal.jsonl\n'])
    expect(stdout).toMatch(/^EQUAL: No differences/m)
    expect(readFileSync(join(folder, 'equal.jsonl'), 'utf8')).toBe('')
  })

  test('exits with 1, and writes table, JSON, lines and page', () => {
    const files = ['--json', 'r.json', '--lines', 'r.jsonl', '--html', 'r.html']
    const { status, stdout, stderr } = run(differing(), ...range, ...files)
    expect([status, stderr.split('\n')]).toEqual([
      1,
      ['Written: r.jsonl', 'Written: r.json', 'Written: r.html', ''],
    ])
    expect(stdout).toMatch(/^DIFFERENT: 1 difference;/m)
    const read = (name: string) => readFileSync(join(folder, name), 'utf8')
    expect(JSON.parse(read('r.json'))).toMatchObject({
      verdict: 'different',
      kinds: [{ kind: 'never-arrived' }],
    })
    expect(JSON.parse(read('r.jsonl'))).toMatchObject({ kind: 'never-arrived' })
    expect(read('r.html')).toContain('<h1>Different</h1>')
  })

  test('exits with 2 where the report as a whole is not that of the wallet', () => {
    const files = ['--json', 'wrong.json', '--lines', 'wrong.jsonl']
    const { status, stdout, stderr } = run({ ...createWorld(1), rows: [] }, ...range, ...files)
    expect([status, stderr]).toEqual([2, 'Written: wrong.json\n'])
    // No difference was looked for: a complete list without any would say that there is none.
    expect(readdirSync(folder).filter(name => name.startsWith('wrong.jsonl'))).toEqual([])
    expect(stdout).toMatch(/^WRONG REPORT: The report has no row within the range\. The wallet has 27 trans/m)
    const result = JSON.parse(readFileSync(join(folder, 'wrong.json'), 'utf8'))
    expect(result).toMatchObject({
      verdict: 'wrong-report',
      wrongReport: { kind: 'no-rows' },
      differences: [],
    })
  })

  test('takes the names of columns from a file', () => {
    const world = createWorld(1)
    writeFileSync(join(folder, 'mapping.json'), JSON.stringify({ columns: { betId: 'bet' } }))
    const rows = world.rows.map(({ betId, ...row }) => ({ ...row, bet: betId }))
    const csv = csvOf(rows as never, Object.keys(rows[0] ?? {}) as never)
    writeFileSync(join(folder, 'other.csv'), csv)
    run(world, ...range)
    const { status, stdout } = spawnSync(
      process.execPath,
      [command, 'reconcile', 'other.csv', '--config', 'config.mjs', '--mapping', 'mapping.json', ...range],
      { cwd: folder, encoding: 'utf8', env: { ...process.env, NODE_OPTIONS: '' } },
    )
    expect([status, stdout]).toEqual([0, expect.stringMatching(/^EQUAL/m)])
  })

  test.each<[string, World, string[], RegExp]>([
    ['no range', createWorld(1), [], /--from is missing; there is no default/],
    [
      'a wrong range',
      createWorld(1),
      ['--from', 'today', '--to', '2026-11-22'],
      /from must be a date or time in UTC/,
    ],
    [
      'a mapping that is missing',
      createWorld(1),
      [...range, '--mapping', 'none.json'],
      /none.json cannot be read/,
    ],
    ['an option that is gone', createWorld(1), [...range, '--known', 'd.csv'], /--known/],
    [
      'nothing to compare',
      createWorld(1),
      ['--from', '2025-01-01', '--to', '2025-01-02', '--lines', 'bad.jsonl'],
      /^$/,
    ],
    [
      'a row that cannot be read',
      {
        ...differing(),
        rows: createWorld(1).rows.map((row, index) => (index === 9 ? { ...row, amount: 'x' } : row)),
      },
      [...range, '--lines', 'bad.jsonl'],
      /Cannot compare: The platform's report, line 11, column "amount": "x" is no decimal/,
    ],
  ])('exits with 2 and says why: %s', (_, world, words, problem) => {
    const { status, stdout, stderr } = run(world, ...words)
    expect(status).toBe(2)
    expect(stderr.trim()).toMatch(problem)
    if (problem.source !== '^$') expect(stdout).toBe('')
    else expect(stdout).toMatch(/^NOTHING COMPARED/m)
    // Nothing is left behind, and nothing looks like a result.
    const left = readdirSync(folder).filter(name => /part$|^bad|^bet-wallet/.test(name))
    expect(left).toEqual([])
  })
})
