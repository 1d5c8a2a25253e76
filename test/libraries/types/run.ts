/**
 * `npm run test:libraries -- types`: compiles a program that uses every entry point of the packed tarball (user.ts), as its users
 * do: by each version of TypeScript, way to resolve modules, and set of libraries. `skipLibCheck` is off: the types
 * of the package are checked themselves. Exit code 1 if any of them has an error. With an argument, only those whose
 * name has it: `npx tsx test/libraries/types/run.ts "typescript-7 bundler"`.
 */
import { execFile } from 'node:child_process'
import { copyFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createProject } from '../../package/project.js'

const here = fileURLToPath(new URL('.', import.meta.url))
const packages = join(here, '../node_modules')
const compilersOf = (manifest: { devDependencies: Record<string, string> }) =>
  Object.keys(manifest.devDependencies).filter(name => name.startsWith('typescript-'))
const compilers = compilersOf(JSON.parse(readFileSync(join(here, '../package.json'), 'utf8')))

/** By name, the options, and the files: under node16 a file's name says whether it is ESM. */
const resolutions: Record<string, { options: object; files: string[] }> = {
  node10: { options: { module: 'commonjs', moduleResolution: 'node10' }, files: ['user.ts'] },
  node16: { options: { module: 'node16', moduleResolution: 'node16' }, files: ['user.mts', 'user.cts'] },
  bundler: { options: { module: 'esnext', moduleResolution: 'bundler' }, files: ['user.ts'] },
}

const libraries: Record<string, string[]> = {
  'no DOM': ['es2022'],
  DOM: ['es2022', 'dom'],
  'as Next.js': ['dom', 'dom.iterable', 'esnext'],
}

interface Compilation {
  name: string
  compiler: string
  config: string
}

/** TypeScript 6 has deprecated node10, 7 has removed it. */
const majorOf = (compiler: string) => Number(/\d+/.exec(compiler)?.[0])
const knows = (compiler: string, resolution: string) => majorOf(compiler) < 7 || resolution !== 'node10'

function writeConfig(folder: string, compiler: string, resolution: string, library: string): Compilation {
  const { options, files } = resolutions[resolution] as (typeof resolutions)[string]
  const name = `${compiler} ${resolution}, ${library}`
  const config = join(folder, `tsconfig.${name.replaceAll(/\W+/g, '-')}.json`)
  const compilerOptions = {
    ...{ target: 'es2022', strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true },
    ...{ lib: libraries[library], types: ['node'], skipLibCheck: false, noEmit: true, esModuleInterop: true },
    ...(majorOf(compiler) === 6 && resolution === 'node10' ? { ignoreDeprecations: '6.0' } : {}),
    ...options,
  }
  writeFileSync(config, JSON.stringify({ compilerOptions, files }))
  return { name, compiler, config }
}

/** fast-check 4, which `bet-wallet/testing` needs, has no types for node10: its own files do not find their imports. */
const isOfFastCheck = (line: string) => /fast-check\/lib\/\S+: error TS2307: .*'pure-rand\//.test(line)

/** What the compiler reports: `''` without an error. */
function errorsIn(printed: string, { name }: Compilation): string {
  const lines = printed.split('\n')
  const known = name.includes('node10') ? isOfFastCheck : () => false
  // An indented line belongs to the one before.
  const starts = lines.map((line, index) => (/^\s/.test(line) ? -1 : index))
  return lines
    .filter((_, index) => !known(lines[starts.slice(0, index + 1).findLast(start => start >= 0) ?? 0] ?? ''))
    .join('\n')
    .trim()
}

/** What the compiler prints: `''` without an error. */
function compile({ compiler, config }: Compilation): Promise<string> {
  const tsc = join(packages, compiler, 'bin', 'tsc')
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [tsc, '-p', config], { encoding: 'utf8' }, (error, stdout, stderr) => {
      if (error !== null && typeof error.code !== 'number') reject(error)
      else resolve(error === null ? '' : stdout + stderr || `ended with ${error.code}`)
    })
  })
}

/** A project with the packed tarball, the operator's drivers, and the program. */
function createUser() {
  const project = createProject(['fast-check'])
  const modules = join(project.folder, 'node_modules')
  mkdirSync(join(modules, '@types'))
  for (const name of ['mysql2', '@types/node', '@types/pg'])
    symlinkSync(join(packages, name), join(modules, name), 'junction')
  for (const file of ['user.ts', 'user.mts', 'user.cts'])
    copyFileSync(join(here, 'user.ts'), join(project.folder, file))
  return project
}

const started = performance.now()
const { folder, remove } = createUser()
const queue = compilers
  .flatMap(compiler =>
    Object.keys(resolutions)
      .filter(resolution => knows(compiler, resolution))
      .flatMap(resolution =>
        Object.keys(libraries).map(library => writeConfig(folder, compiler, resolution, library)),
      ),
  )
  .filter(({ name }) => name.includes(process.argv[2] ?? ''))
const count = queue.length
let failed = 0

async function work(): Promise<void> {
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    const printed = errorsIn(await compile(next), next)
    if (printed !== '') failed += 1
    console.log(`${printed === '' ? 'passed' : 'FAILED'}  ${next.name}`)
    if (printed !== '') console.log(printed)
  }
}

try {
  await Promise.all(Array.from({ length: availableParallelism() }, work))
} finally {
  remove()
}
const seconds = Math.round((performance.now() - started) / 1000)
console.log(`${count - failed} passed, ${failed} failed, in ${seconds} s`)
process.exitCode = failed > 0 ? 1 : 0
