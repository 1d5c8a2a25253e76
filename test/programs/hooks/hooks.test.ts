/** Every hook of the library, with every kind of value, each in a process of its own: none ends it. */
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { build } from 'tsup'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { hooks } from './play.js'
import { thrownValues } from './values.js'

const run = promisify(execFile)
const folder = mkdtempSync(join(tmpdir(), 'bet-wallet-hooks-'))
afterAll(() => rmSync(folder, { recursive: true }))

// Compiled once: hundreds of processes start.
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
  'stop.log': ['answered', true],
  'stop.drain': ['answered', true],
  'stop.close': ['answered', true],
  'batches.perform': ['rejected', 'duplicate'],
  'batches.onShed of a full queue': ['performed', 'rejected'],
  'answerEach.missing': ['answered', 'rejected'],
  'batches.onDuplicateKey': ['performed', 'rejected'],
}
const expectedOf = (hook: string) =>
  answered[hook] ?? (/^(?:batches|answerEach|bisect)/.test(hook) ? rejected : [500, 500])

test.concurrent.each(hooks)(
  'given the hook %s, when it fails with any value, then the process goes on',
  async hook => {
    const answers = expectedOf(hook)
    const seen: Record<string, unknown> = {}
    for (const kind of Object.keys(thrownValues)) {
      const { stdout } = await run(process.execPath, [join(folder, 'play.mjs'), hook, kind]).catch(
        ({ code, stderr }) => ({ stdout: JSON.stringify(`ended with ${code}: ${stderr}`) }),
      )
      seen[kind] = JSON.parse(stdout)
    }
    const each = { thrown: answers, rejected: answers }
    expect(seen).toEqual(Object.fromEntries(Object.keys(thrownValues).map(kind => [kind, each])))
  },
)
