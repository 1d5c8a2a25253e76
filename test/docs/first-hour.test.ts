/**
 * docs/first-hour.md, played: its blocks in their order, in an empty folder, on the packed tarball and a real server:
 * PostgreSQL, and MariaDB or MySQL. Only addresses are replaced, and what `npm install` would download. The tarball
 * stands for the block that packs it in the clone.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import mysql from 'mysql2/promise'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }
import { isMysql, noServer, startServer } from '../mysql/engine.js'
import { bin, createProject } from '../package/project.js'
import { freshDatabase } from '../postgres/fresh-database.js'
import { excerptLike, withoutNumbers } from './commands.js'
import { type CodeBlock, codeBlocksOf, readPage } from './pages.js'

const pageBlocks = codeBlocksOf(readPage('docs/first-hour.md')).filter(
  ({ code }) => !/in the clone/.test(code),
)
const { folder: outer, tarball, remove } = createProject()
afterAll(remove)

/** The reader's database. */
interface Database {
  url: string
  /** The rows of a query, or of the last of several statements. */
  rows(text: string): Promise<object[]>
  drop(): Promise<void>
}

interface Reader {
  name: string
  /** Why there is no server; `null`: there is. */
  skipped: string | null
  open(): Promise<Database>
  /** The page's address of it. */
  address: string
  /** Blocks for the other servers. */
  others: RegExp
}

const readers: Reader[] = [
  {
    ...{ name: 'PostgreSQL', address: 'postgres://casino:secret@127.0.0.1:5432/casino' },
    skipped: isMysql ? 'this run is of MySQL' : null,
    others: /mysql|utf8mb4/i,
    async open() {
      const { url, pool, drop } = await freshDatabase()
      return { url, drop, rows: async text => (await pool.query(text)).rows }
    },
  },
  {
    ...{ name: isMysql ? 'MySQL' : 'MariaDB', address: 'mysql://casino:secret@127.0.0.1:3306/pam' },
    skipped: noServer,
    others: /postgres|CREATE SCHEMA pam;|migrate .*--id account_no --currency|: PlayersTable/i,
    // A server of its own: the schemas have fixed names.
    async open() {
      const { config, stop } = await startServer()
      const pool = mysql.createPool({ ...config, multipleStatements: true })
      return {
        url: `mysql://${config.user}:${config.password}@${config.host}:${config.port}/pam`,
        rows: async text => (await pool.query(text))[0] as object[],
        async drop() {
          await pool.end()
          await stop()
        },
      }
    },
  },
]

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  probe.close()
  await once(probe, 'close')
  return port
}

/** The same installation without a registry: the tarball, and links to what the repository has installed. */
function offline(code: string): string {
  const place = (name: string) => (/\/bet-wallet-.*\.tgz$/.test(name) ? tarball : bin(name))
  return code.replaceAll(/^npm install (--save-dev )?(.*)$/gm, (_, dev = '', names: string) => {
    const wanted = names.split(' ').concat(dev === '' ? Object.keys(manifest.dependencies) : [])
    const sources = wanted.map(name => `"file:${place(name)}"`).join(' ')
    return `npm install ${dev}--offline --ignore-scripts --no-audit --no-fund ${sources}`
  })
}

/** Where the blocks run. */
interface Terminal {
  /** Empty at first, as the reader's. */
  folder: string
  /** Replaces what differs from the page. */
  addressed(code: string): string
  /** The exports of the blocks so far. */
  exported: string[]
}

function shell({ folder, addressed, exported }: Terminal, code: string) {
  const script = [...exported, addressed(offline(code))].join('\n')
  exported.push(
    ...addressed(code)
      .split('\n')
      .filter(line => line.startsWith('export ')),
  )
  // Without what npm and the test runner have set for this process.
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^npm_|^NODE_OPTIONS$|^VITEST/i.test(name),
  )
  const environment = Object.fromEntries(inherited)
  return [
    ['-e', '-c', script],
    {
      cwd: folder,
      env: {
        ...environment,
        NO_COLOR: '1',
        npm_config_userconfig: join(outer, 'none'),
        npm_config_update_notifier: 'false',
      },
    },
  ] as const
}

/** Starts a server, and resolves when it listens. */
async function serve(terminal: Terminal, { code }: CodeBlock): Promise<ChildProcess> {
  const [args, options] = shell(terminal, code)
  // A group of its own: npx starts processes that would outlive it.
  const server = spawn('sh', args, { ...options, detached: true, stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(server, 'close').then(([status]) => {
    throw new Error(`The server ended with ${status}`)
  })
  ended.catch(() => {})
  let printed = ''
  while (!printed.includes('listening')) {
    const next = once(server.stdout as NonNullable<ChildProcess['stdout']>, 'data')
    printed += await Promise.race([next, ended])
  }
  return server
}

const fileOf = ({ code }: CodeBlock) => /^\/\/ (\S+\.[jt]s)\n/.exec(code)?.[1] ?? 'unnamed'

/** What `init` writes, with what every service has. */
const files = ['store.ts', 'server.ts', 'kit.ts']

/** Lines of code, without the mapping of the players' table and its decimals, and what is there for the kit. */
const linesOf = (code: string) =>
  code
    .replace(/^\/\/ For kit\.ts:[\s\S]*/m, '')
    .replace(/^export const players[\s\S]*?^\}\n/m, '')
    .replace(/^export const minorUnits .*\n/m, '')
    .split('\n')
    .filter(line => /^(?!\s*\/\/)\s*\S/.test(line))

describe.each(readers)('the first hour on $name', ({ name, skipped, open, address, others }) => {
  const blocks = pageBlocks.filter(({ code }) => !others.test(code))
  const steps = blocks.map(block => ({
    name: block.language === 'ts' ? fileOf(block) : (block.code.split('\n')[0] ?? ''),
    block,
  }))
  const folder = join(outer, `hour-${name}`)
  let database: Database
  let terminal: Terminal
  let server: ChildProcess | undefined

  beforeAll(async () => {
    if (skipped !== null) return
    mkdirSync(folder)
    database = await open()
    const port = await freePort()
    const addressed = (code: string) => code.replaceAll(/\b3000\b/g, `${port}`).replace(address, database.url)
    terminal = { folder, addressed, exported: [] }
  })
  afterAll(async () => {
    if (server !== undefined) {
      process.kill(-(server.pid as number), 'SIGKILL')
      await once(server, 'close')
    }
    if (skipped === null) await database.drop()
  })

  const written = (file: string) => readFileSync(join(folder, file), 'utf8')

  async function play(block: CodeBlock): Promise<void> {
    const { language, code, output } = block
    if (language === 'sql') await database.rows(code)
    else if (language === 'ts') expect(written(fileOf(block))).toContain(code.replace(/^\/\/ .*\n/, ''))
    else if (language === 'js') {
      writeFileSync(join(folder, fileOf(block)), code)
      const program = `import('./${fileOf(block)}').then(({ store }) => store.ready()).then(() => process.exit(0))`
      const { status, stderr } = spawnSync(process.execPath, ['-e', program], {
        ...{ cwd: folder, encoding: 'utf8', env: { ...process.env, DATABASE_URL: database.url } },
      })
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    } else if (code.includes('server.ts')) server = await serve(terminal, block)
    else {
      const [args, options] = shell(terminal, code)
      const { status, stdout, stderr } = spawnSync('sh', args, { ...options, encoding: 'utf8' })
      expect(status, stderr).toBe(0)
      if (output !== null) expect(withoutNumbers(excerptLike(output, stdout))).toBe(withoutNumbers(output))
      if (code.includes('bet-wallet init'))
        writeFileSync(join(folder, 'server.ts'), terminal.addressed(written('server.ts')))
    }
  }

  test('the page has all steps for it', () => {
    expect(steps.length).toBeGreaterThan(10)
  })

  const runs = skipped === null ? '' : ` (skipped: ${skipped})`

  // In their order: a step stands on those before it.
  describe.skipIf(skipped !== null)(`its blocks${runs}`, () => {
    test.each(steps)('$name', async ({ block }) => {
      await play(block)
    })

    test('its files compile, strictly', () => {
      const options = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2022', '--skipLibCheck']
      const tsc = [bin('typescript/bin/tsc'), ...options, ...files]
      const { status, stdout } = spawnSync(process.execPath, tsc, { cwd: folder, encoding: 'utf8' })
      expect({ status, stdout }).toEqual({ status: 0, stdout: '' })
    })

    test('leaves every account with what the books say', async () => {
      const rows = await database.rows('SELECT account_no, balance_cents FROM pam.accounts ORDER BY 1')
      expect(rows).toMatchObject([{ account_no: 'anna' }, { account_no: 'ben' }])
      expect(written('audit.html').includes('AU-991')).toBe(true)
    })

    test('the whole wallet has at most fifteen lines, beside the mapping and what every service has', () => {
      const had =
        /^import (?:pg|mysql|\{ createServer \}) |createPool|new pg\.Pool|^ *createServer|^async function main|^main\(\)\.catch|^ {2}console\.error|^ {2}process\.exit/
      const own = ['store.ts', 'server.ts']
        .flatMap(file => linesOf(written(file)))
        .filter(line => !had.test(line))
      expect(own.length, own.join('\n')).toBeLessThanOrEqual(15)
      expect(own.length).toBeGreaterThan(10)
    })
  })
})
