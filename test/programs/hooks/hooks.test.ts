/** Every hook of the library, with every kind of value, in a process of its own: none ends it. */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { hooks } from './play.js'
import { thrownValues } from './values.js'

const run = promisify(execFile)
const program = fileURLToPath(new URL('play.ts', import.meta.url))

const faults = [500, 500]
const answered: Record<string, unknown[]> = {
  onOutcome: [200, 200],
  subscribe: [200, 200],
  onAuthenticationFailed: [401, 401],
  'health.check': [503, 503],
  'metrics of a relay': [200, 200],
  'stop.log': ['answered', true, 'answered', true],
  'stop.drain': ['answered', true, 'answered', true],
  'stop.close': ['answered', true, 'answered', true],
}

test.concurrent.each(hooks)(
  'given the hook %s, when it fails with any value, then the process goes on',
  async hook => {
    const { stdout } = await run(process.execPath, ['--import', 'tsx', program, hook])
    const seen = JSON.stringify(answered[hook] ?? faults)
    expect(stdout.trim().split('\n')).toEqual(Object.keys(thrownValues).map(kind => `${kind}: ${seen}`))
  },
)
