/** The verification kit under the runners that operators use: the same ten lines, from the packed tarball. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { walletStoreCases } from '../../src/testing/index.js'
import { bin, createProject } from './project.js'

const { folder, remove } = createProject(['fast-check', 'vitest'])
afterAll(remove)

const cases = walletStoreCases({ open: () => ({ store: {} as never }) })
const judged = cases.filter(({ skip }) => skip === null).length
const skipped = cases.length - judged

/** The ten lines, with how this runner's `test` is named. `FORGETS` makes the store forget its floor. */
const tenLines = (test: string, imports: (names: string, from: string) => string) => `
${imports('{ createMemoryStore }', 'bet-wallet/memory')}
${imports('{ walletStoreCases }', 'bet-wallet/testing')}
${test}

function openMyStore(players) {
  const store = createMemoryStore(players)
  if (!process.env.FORGETS) return { store }
  return { store: { ...store, commit: c => store.commit({ ...c, account: { ...c.account, floor: null } }) } }
}

for (const { title, skip, run } of walletStoreCases({ open: openMyStore }, { runs: 20 })) {
  (skip ? test.skip : test)(title, run)
}
`
const esm = (names: string, from: string) => `import ${names} from '${from}'`
const cjs = (names: string, from: string) => `const ${names} = require('${from}')`

const script = `
import { createMemoryStore } from 'bet-wallet/memory'
import { checkWalletStore } from 'bet-wallet/testing'
function openMyStore(players) {
  const store = createMemoryStore(players)
  if (!process.env.FORGETS) return { store }
  return { store: { ...store, commit: c => store.commit({ ...c, account: { ...c.account, floor: null } }) } }
}
const report = await checkWalletStore({ open: openMyStore }, { runs: 20 })
process.exitCode = report.passed ? 0 : 1
`

/** Per runner: the file, its text, how it is called, and how it counts. */
const runners: Record<
  string,
  { file: string; text: string; args: string[]; passed: string; skipped: string; again: string }
> = {
  vitest: {
    file: 'vitest/store.test.mjs',
    text: tenLines(esm('{ test }', 'vitest'), esm),
    args: [
      bin('vitest/vitest.mjs'),
      'run',
      '--root',
      'vitest',
      '--testTimeout=60000',
      '--no-color',
      '--reporter=verbose',
    ],
    passed: `${judged} passed`,
    skipped: `${skipped} skipped`,
    again: "here:     npx vitest run -t 'WS-30 '",
  },
  'node:test': {
    file: 'store.node.mjs',
    text: tenLines(esm('{ test }', 'node:test'), esm),
    args: ['--test', '--test-reporter=tap', 'store.node.mjs'],
    passed: `# pass ${judged}`,
    skipped: `# skipped ${skipped}`,
    again: "here:     node --test --test-name-pattern='WS-30 '",
  },
  'jest, in CommonJS': {
    file: 'jest/store.test.js',
    text: tenLines('', cjs),
    args: [
      bin('jest/bin/jest.js'),
      '--config={"rootDir":"jest"}',
      '--testTimeout=60000',
      '--no-watchman',
      '--verbose',
      '--no-cache',
    ],
    passed: `${judged} passed`,
    skipped: `${skipped} skipped`,
    again: "here:     npx jest -t 'WS-30 '",
  },
  mocha: {
    file: 'store.mocha.mjs',
    text: tenLines('const test = globalThis.it', esm),
    args: [bin('mocha/bin/mocha.js'), '--timeout=60000', 'store.mocha.mjs'],
    passed: `${judged} passing`,
    skipped: `${skipped} pending`,
    again: "here:     npx mocha -g 'WS-30 '",
  },
  'a plain script': {
    file: 'store.script.mjs',
    text: script,
    args: ['store.script.mjs'],
    passed: `PASSED, INCOMPLETE: ${judged} passed, 0 failed`,
    skipped: `${skipped} skipped`,
    again: "rerun:    checkWalletStore(harness, { only: ['WS-30']",
  },
}

describe.each(Object.entries(runners))(
  'the kit under %s',
  (_, { file, text, args, passed, skipped, again }) => {
    const path = join(folder, file)
    const runs = (env: Record<string, string>) => {
      const { NODE_OPTIONS: _options, VITEST: _vitest, NODE_TEST_CONTEXT: _context, ...outer } = process.env
      const { status, stdout, stderr } = spawnSync(process.execPath, args, {
        cwd: folder,
        encoding: 'utf8',
        env: { ...outer, ...env, NO_COLOR: '1', FORCE_COLOR: '0' },
      })
      return { status, printed: stdout + stderr }
    }

    it('passes a valid store, and reports what it skipped', () => {
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, text)
      const { status, printed } = runs({})
      expect(printed).toContain(passed)
      expect(printed).toContain(skipped)
      expect(printed).toContain('the harness has no reopen')
      expect(status).toBe(0)
    })

    it('fails for a faulty store, and reports how it loses money', () => {
      const { status, printed } = runs({ FORGETS: 'yes' })
      expect(status).not.toBe(0)
      expect(printed).toContain('WS-30')
      expect(printed).toContain('expected: conflict, because the balance would fall below its floor')
      expect(printed).toContain("rerun:    checkWalletStore(harness, { only: ['WS-30'], seed: 1, runs: 20 })")
      expect(printed).toContain(again)
    })
  },
)
