/** Every hook of the library in a process of its own, with every kind of value: none ends it. */
import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { build } from 'tsup'
import ts from 'typescript'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { hooks } from './play.js'
import { thrownValues } from './values.js'

const run = promisify(execFile)
const folder = mkdtempSync(join(tmpdir(), 'bet-wallet-hooks-'))
afterAll(() => rmSync(folder, { recursive: true }))

// Compiled once: many processes start.
beforeAll(() =>
  build({
    ...{ config: false, silent: true, clean: false, format: 'esm', platform: 'node', outDir: folder },
    ...{ entry: [fileURLToPath(new URL('play.ts', import.meta.url))], noExternal: [/./], splitting: false },
    outExtension: () => ({ js: '.mjs' }),
    // A library that is bundled requires modules of Node.js.
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url)",
    },
  }),
)

const rejected = ['rejected', 'rejected']
const answered: Record<string, unknown[]> = {
  onOutcome: [200, 200],
  subscribe: [200, 200],
  onAuthenticationFailed: [401, 401],
  'health.check': [503, 503],
  'metrics of a relay': [200, 200],
  'relay.deliver': ['failed'],
  'relay.onError': ['failed'],
  'audit.restart': ['ended', 200], // its cases are skipped, with the reason
  'simulator.settle': ['ended', 200], // settlements are not judged, and the report says so
  'stop.log': ['answered', true],
  'stop.drain': ['answered', true],
  'stop.close': ['answered', true],
  'batches.perform': ['rejected', 'duplicate'],
  'batches.onShed of a full queue': ['performed', 'rejected'],
  'answerEach.missing': ['answered', 'rejected'],
  'batches.onDuplicateKey': ['performed', 'rejected'],
}
/** Progress is reported for each 100,000 rows: one kind is enough. */
const kindsOf = (hook: string) => (hook === 'reconcile.onProgress' ? ['an error'] : Object.keys(thrownValues))
const expectedOf = (hook: string) =>
  answered[hook] ??
  (/^(?:audit|simulator|reconcile)/.test(hook)
    ? ['rejected', 200]
    : /^(?:batches|answerEach|bisect)/.test(hook)
      ? rejected
      : [500, 500])

/**
 * Played elsewhere: on each engine, test/stores/…/within-transaction.test.ts; the kit, whose process is a test; the page
 * of a demo, test/tools/try.
 */
const elsewhere = ['withinTransaction', 'print', 'deposit']

/** The functions among the options of src. */
function functionsOf(path: string): string[] {
  const source = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest)
  return source.statements
    .filter(ts.isInterfaceDeclaration)
    .filter(each =>
      /^export interface (?:\w+Options|WalletTarget|BatchSettings)\b/.test(each.getText(source)),
    )
    .flatMap(({ members }) => [...members])
    .filter(
      member =>
        ts.isMethodSignature(member) ||
        (ts.isPropertySignature(member) && member.type?.getText(source).includes('=>')),
    )
    .map(member => member.name?.getText(source) ?? '')
}

test('every function among the options is played', () => {
  const src = fileURLToPath(new URL('../../../src/', import.meta.url))
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter(path => path.endsWith('.ts'))
  const found = new Set(files.flatMap(path => functionsOf(join(src, path))))
  const played = hooks.map(hook => hook.split(' ')[0]?.split('.').at(-1))
  expect(found.size).toBeGreaterThan(20)
  expect([...found].filter(name => !played.includes(name) && !elsewhere.includes(name))).toEqual([])
})

test.concurrent.each(hooks)(
  'given the hook %s, when it fails with any value, then the process goes on',
  async hook => {
    const answers = expectedOf(hook)
    const { stdout, end } = await run(process.execPath, [
      join(folder, 'play.mjs'),
      hook,
      ...kindsOf(hook),
    ]).then(
      ({ stdout }) => ({ stdout, end: 'none' }),
      ({ stdout, code, stderr }) => ({ stdout, end: `ended with ${code}: ${stderr}` }),
    )
    const seen = stdout
      .split('\n')
      .filter(Boolean)
      .map((line: string) => JSON.parse(line))
    const expected = kindsOf(hook).map(kind => ({ kind, thrown: answers, rejected: answers }))
    expect([...seen, end]).toEqual([...expected, 'none'])
  },
)
