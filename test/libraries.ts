/**
 * `npm run test:libraries`: the package with the libraries, compilers and runtimes of its users. Each suite installs its
 * packages in its own folder. With names, only those: `npm run test:libraries -- drivers stacks`.
 */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const vitest = (suite: string) => ['vitest', 'run', '--config', `test/${suite}/vitest.config.ts`]

/** Per suite, the folders with its packages, and its commands. */
const suites: Record<string, { packages: readonly string[]; commands: readonly (readonly string[])[] }> = {
  clone: { packages: [], commands: [vitest('clone')] },
  drivers: { packages: ['drivers'], commands: [vitest('drivers')] },
  frameworks: {
    packages: ['frameworks'],
    commands: [['tsc', '-p', 'test/frameworks', '--noEmit'], vitest('frameworks')],
  },
  openapi: { packages: ['openapi'], commands: [['tsx', 'test/openapi/run.ts']] },
  runtimes: { packages: ['runtimes'], commands: [['tsx', 'test/runtimes/run.ts']] },
  stacks: { packages: ['drivers', 'frameworks'], commands: [vitest('stacks')] },
  types: { packages: ['types'], commands: [['tsx', 'test/types/run.ts']] },
}

const root = fileURLToPath(new URL('..', import.meta.url))

function passes(command: readonly string[]): boolean {
  const [program = '', ...args] = command
  return (
    spawnSync(program, args, { cwd: root, stdio: 'inherit', shell: process.platform === 'win32' }).status ===
    0
  )
}

const install = (folder: string) => [
  ...['npm', '--prefix', `test/${folder}`, 'ci', '--no-audit', '--no-fund', '--ignore-scripts'],
]

const names = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(suites)
const unknown = names.filter(name => suites[name] === undefined)
if (unknown.length > 0) {
  throw new Error(`there is no suite ${unknown.join(', ')}: use ${Object.keys(suites).join(', ')}`)
}
const installed = new Set<string>()
const failed = names.filter(name => {
  const { packages, commands } = suites[name] as (typeof suites)[string]
  console.log(`\n== ${name}`)
  const missing = packages.filter(folder => !installed.has(folder))
  const ready = missing.every(folder => passes(install(folder)))
  for (const folder of missing) installed.add(folder)
  return !ready || !commands.every(passes)
})
console.log(failed.length === 0 ? `\nAll passed: ${names.join(', ')}` : `\nFAILED: ${failed.join(', ')}`)
process.exitCode = failed.length === 0 ? 0 : 1
