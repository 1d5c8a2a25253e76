/**
 * `npm run test:libraries -- runtimes`: the packed package in Bun and Deno. Each must print what Node prints (program.mjs).
 * Exit code 1 if one of them does not.
 */
import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createProject } from '../../package/project.js'

const here = fileURLToPath(new URL('.', import.meta.url))

/** The program itself, of this platform's package: install scripts, which would link it, may be switched off. */
function binaryOf(scope: string, path: string): string {
  const folder = join(here, '../node_modules', scope)
  const found = readdirSync(folder)
    .map(name => join(folder, name, path))
    .filter(file => existsSync(file))
  // Of two builds, the one for processors without AVX2 runs everywhere.
  const binary = found.find(file => file.includes('baseline')) ?? found[0]
  if (binary === undefined) throw new Error(`${scope} has no program for ${process.platform} ${process.arch}`)
  return binary
}

const windows = process.platform === 'win32' ? '.exe' : ''
const runtimes: Record<string, string[]> = {
  Node: [process.execPath],
  Bun: [binaryOf('@oven', `bin/bun${windows}`), 'run'],
  Deno: [
    binaryOf('@deno', `deno${windows}`),
    'run',
    '--allow-all',
    '--no-prompt',
    '--node-modules-dir=manual',
  ],
}

const { folder, remove } = createProject(['fast-check'])
copyFileSync(join(here, 'program.mjs'), join(folder, 'program.mjs'))

let failed = 0
let expected = ''
try {
  for (const [name, [command = '', ...args]] of Object.entries(runtimes)) {
    const version = spawnSync(command, ['--version'], { encoding: 'utf8' }).stdout.split('\n')[0]
    const { status, stdout, stderr } = spawnSync(command, [...args, 'program.mjs'], {
      cwd: folder,
      encoding: 'utf8',
      env: { ...process.env, NODE_OPTIONS: '', NO_COLOR: '1' },
    })
    const passed = status === 0 && (expected === '' ? plausible(stdout) : stdout === expected)
    if (!passed) failed += 1
    console.log(`${passed ? 'passed' : 'FAILED'}  ${name} ${version}`)
    if (!passed) console.log(`exit code ${status}\n${stdout}\n${stderr}`)
    if (expected === '') expected = stdout
  }
} finally {
  remove()
}
console.log(expected)
process.exitCode = failed > 0 ? 1 : 0

/** Node is the measure for the others: so its own results are looked at. */
function plausible(text: string): boolean {
  const { core, own, node, kit } = JSON.parse(text)
  const statuses = [...own, ...node].map(([status]: [number]) => status)
  const [first, second] = core
  return (
    first.balance === '1234567890123426.78' &&
    !first.replayed &&
    second.replayed &&
    statuses.join() === '200,200,401,400,413,200,200,401,400,413' &&
    kit.passed &&
    kit.cases > 60
  )
}
