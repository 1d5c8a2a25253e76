/** Reports hold players' data: only their owner reads them, and they are written nowhere else. */
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { writable, writeReport } from '../../../src/tools/command/output.js'
import { runCommand } from './running.js'

const parent = mkdtempSync(join(tmpdir(), 'bet-wallet-files-'))
afterAll(() => rmSync(parent, { recursive: true, force: true }))

const lookups = join(parent, 'lookups.mjs')
writeFileSync(
  lookups,
  `export const lookups = { bet: async () => null, transaction: async () => [], player: async () => null, owed: async () => [],
    transactions: async function* () {} }`,
)
const platform = join(parent, 'platform.csv')
writeFileSync(
  platform,
  `transactionId,betId,playerId,operation,type,amount,currency,transactionDate
t-1,b-1,anna,placebet,,1,EUR,2026-11-22T10:00:00Z\n`,
)
const reconcile = (folder: string, ...words: string[]) =>
  runCommand(
    ['reconcile', platform, '--from', '2026-11-22', '--to', '2026-11-23', '--config', lookups, ...words],
    { cwd: folder },
  )

// A disk that takes a part of the bytes, as one that is nearly full does: the limit of the size of a file.
it('a file that is written in part is an error, and does not stay', () => {
  const folder = mkdtempSync(join(parent, 'part-'))
  const script = `import { writeReport } from ${JSON.stringify(join(import.meta.dirname, '../../../src/tools/command/output.ts'))}
    writeReport('report.json', () => 'x'.repeat(300_000))`
  writeFileSync(join(folder, 'write.ts'), script)
  const tsx = join(import.meta.dirname, '../../../node_modules/tsx/dist/loader.mjs')
  const run = () =>
    execFileSync(
      'sh',
      ['-c', `trap '' XFSZ; ulimit -f 200; exec ${process.execPath} --import ${tsx} write.ts`],
      {
        cwd: folder,
        stdio: 'pipe',
      },
    )
  expect(run).toThrow(/EFBIG/)
  expect(readdirSync(folder)).toEqual(['write.ts'])
})

it('- is standard output, for JSON only', () => {
  expect(() => writable('-')).toThrow('Only --json can be -')
})

const options = { '--json': 'a.json', '--html': 'a.html', '--lines': 'a.jsonl' }

it.each(Object.entries(options))(
  '%s: 0600, in place of a link, with nothing beside it',
  async (option, name) => {
    const folder = join(parent, name)
    mkdirSync(folder)
    const other = join(folder, 'other')
    writeFileSync(other, 'kept')
    chmodSync(other, 0o644)
    for (const link of [name, `${name}.part`]) symlinkSync(other, join(folder, link))
    const { code, error } = await reconcile(folder, option, name)
    expect([code, error]).toEqual([1, `Written: ${name}\n`])
    expect(readFileSync(other, 'utf8')).toBe('kept')
    expect(lstatSync(join(folder, name)).isSymbolicLink()).toBe(false)
    expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600)
    expect(readFileSync(join(folder, name), 'utf8')).toContain('t-1')
    expect(readdirSync(folder).sort()).toEqual([name, `${name}.part`, 'other'].sort())
  },
)

it.each(Object.keys(options))('%s: what is no file is refused before the run', async option => {
  const pipe = join(parent, `pipe${option}`)
  execFileSync('mkfifo', [pipe]) // cspell:disable-line
  const { code, error } = await reconcile(parent, option, pipe)
  expect(code).toBe(2)
  expect(error).toMatch(/pipe--\w+ cannot be written: it is not a file\n/)
  expect(statSync(pipe).isFIFO()).toBe(true)
})

it.each(Object.keys(options))('%s: an empty name is refused before the run', async option => {
  const folder = mkdtempSync(join(parent, 'empty-'))
  const { code, error } = await reconcile(folder, option, '')
  expect(code).toBe(2)
  expect(error).toMatch(/empty|is missing/)
  expect(readdirSync(folder)).toEqual([])
})

it.each(['a.json', 'a.xml', 'a.html'])('%s: invisible characters are written as escapes', name => {
  const file = join(mkdtempSync(join(parent, 'odd-')), name)
  writeReport(file, () => 'id \u202e\u200b\u0085, and a line break\n')
  expect(readFileSync(file, 'utf8')).toBe('id \\u202e\\u200b\\u0085, and a line break\n')
})
