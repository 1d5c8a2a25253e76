/**
 * `npm run test:libraries`: the package with the libraries, compilers and runtimes of its users. They are
 * installed in this folder. With names, only those suites: `npm run test:libraries -- drivers stacks`.
 */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const vitest = (suite: string) => ['vitest', 'run', '--config', `test/libraries/${suite}/vitest.config.ts`]
const program = (suite: string) => ['tsx', `test/libraries/${suite}/run.ts`]

/** The commands of each suite. */
const suites: Record<string, readonly (readonly string[])[]> = {
  clone: [vitest('clone')],
  drivers: [vitest('drivers')],
  frameworks: [['tsc', '-p', 'test/libraries/frameworks', '--noEmit'], vitest('frameworks')],
  openapi: [program('openapi')],
  runtimes: [program('runtimes')],
  stacks: [vitest('stacks')],
  types: [program('types')],
}

const root = fileURLToPath(new URL('../..', import.meta.url))

function passes(command: readonly string[]): boolean {
  const [program = '', ...args] = command
  return (
    spawnSync(program, args, { cwd: root, stdio: 'inherit', shell: process.platform === 'win32' }).status ===
    0
  )
}

const install = ['npm', '--prefix', 'test/libraries', 'ci', '--no-audit', '--no-fund', '--ignore-scripts']

const names = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(suites)
const unknown = names.filter(name => suites[name] === undefined)
if (unknown.length > 0) {
  throw new Error(`there is no suite ${unknown.join(', ')}: use ${Object.keys(suites).join(', ')}`)
}
// `clone` installs what it needs itself.
const ready = names.every(name => name === 'clone') || passes(install)
const failed = names.filter(name => {
  console.log(`\n== ${name}`)
  return !(ready && (suites[name] as (typeof suites)[string]).every(passes))
})
console.log(failed.length === 0 ? `\nAll passed: ${names.join(', ')}` : `\nFAILED: ${failed.join(', ')}`)
process.exitCode = failed.length === 0 ? 0 : 1
