/**
 * docs/first-hour.md, played: its blocks in their order, in an empty folder, on the packed tarball and a real
 * PostgreSQL. Only addresses are replaced, and what `npm install` would download.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }
import { bin, createProject } from '../package/project.js'
import { freshDatabase } from '../postgres/fresh-database.js'
import { excerptLike, withoutNumbers } from './commands.js'
import { type CodeBlock, codeBlocksOf, readPage } from './pages.js'

const blocks = codeBlocksOf(readPage('docs/first-hour.md'))
const { folder: outer, tarball, remove } = createProject()
/** Empty, as the reader's. */
const folder = join(outer, 'hour')
mkdirSync(folder)
const database = await freshDatabase()
const port = await freePort()

let server: ChildProcess | undefined
afterAll(async () => {
  if (server !== undefined) {
    process.kill(-(server.pid as number), 'SIGKILL')
    await once(server, 'close')
  }
  await database.drop()
  remove()
})

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  probe.close()
  await once(probe, 'close')
  return port
}

const addressed = (code: string) =>
  code
    .replaceAll(/\b3000\b/g, `${port}`)
    .replace('postgres://casino:secret@127.0.0.1:5432/casino', database.url)

/** The same installation without a registry: the tarball, and links to what the repository has installed. */
function offline(code: string): string {
  const place = (name: string) => (name === 'bet-wallet' ? tarball : bin(name))
  return code.replaceAll(/^npm install (--save-dev )?(.*)$/gm, (_, dev = '', names: string) => {
    const wanted = names.split(' ').concat(dev === '' ? Object.keys(manifest.dependencies) : [])
    const sources = wanted.map(name => `"file:${place(name)}"`).join(' ')
    return `npm install ${dev}--offline --ignore-scripts --no-audit --no-fund ${sources}`
  })
}

/** The exports of the blocks so far: the terminal of the reader keeps them. */
const exported: string[] = []

function shell(code: string) {
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
async function serve({ code }: CodeBlock): Promise<void> {
  const [args, options] = shell(code)
  // A group of its own: npx starts processes that would outlive it.
  server = spawn('sh', args, { ...options, detached: true, stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(server, 'close').then(([status]) => {
    throw new Error(`The server ended with ${status}`)
  })
  ended.catch(() => {})
  let printed = ''
  while (!printed.includes('listening')) {
    const next = once(server.stdout as NonNullable<ChildProcess['stdout']>, 'data')
    printed += await Promise.race([next, ended])
  }
}

async function play(block: CodeBlock): Promise<void> {
  const { language, code, output } = block
  if (language === 'sql') await database.pool.query(code)
  else if (language === 'ts') writeFileSync(join(folder, fileOf(block)), addressed(code))
  else if (code.includes('server.ts')) await serve(block)
  else {
    const [args, options] = shell(code)
    const { status, stdout, stderr } = spawnSync('sh', args, { ...options, encoding: 'utf8' })
    expect(status, stderr).toBe(0)
    if (output !== null) expect(withoutNumbers(excerptLike(output, stdout))).toBe(withoutNumbers(output))
  }
}

const fileOf = ({ code }: CodeBlock) => /^\/\/ (\S+\.ts)\n/.exec(code)?.[1] ?? 'unnamed'

/** Lines of code, without the mapping of the players' table. */
const linesOf = ({ code }: CodeBlock) =>
  code
    .replace(/^export const players[\s\S]*?^\}\n/m, '')
    .split('\n')
    .filter(line => /^(?!\s*\/\/)\s*\S/.test(line))

describe('the first hour', () => {
  const steps = blocks.map(block => ({
    name: block.language === 'ts' ? fileOf(block) : (block.code.split('\n')[0] ?? ''),
    block,
  }))

  beforeAll(() => {
    expect(steps.length).toBeGreaterThan(10)
  })

  // In their order: a step stands on those before it.
  test.each(steps)('$name', { timeout: 300_000 }, async ({ block }) => {
    await play(block)
  })

  test('its files compile, strictly', () => {
    const files = blocks.filter(({ language }) => language === 'ts').map(fileOf)
    const options = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2022', '--skipLibCheck']
    const tsc = [bin('typescript/bin/tsc'), ...options, ...files]
    const { status, stdout } = spawnSync(process.execPath, tsc, { cwd: folder, encoding: 'utf8' })
    expect({ status, stdout }).toEqual({ status: 0, stdout: '' })
  })

  test('the whole wallet has at most fifteen lines, beside the mapping and what every service has', () => {
    const had = /^import (?:pg|express) |^console|new pg\.Pool|express\(\)|app\.listen/
    const files = ['store.ts', 'migrate.ts', 'server.ts']
    const own = blocks
      .filter(block => files.includes(fileOf(block)))
      .flatMap(block => linesOf(block))
      .filter(line => !had.test(line))
    expect(own.length, own.join('\n')).toBeLessThanOrEqual(15)
    expect(own.length).toBeGreaterThan(10)
  })

  test('leaves every account with what the books say', async () => {
    const { rows } = await database.pool.query(
      'SELECT account_no, balance_cents FROM pam.accounts ORDER BY 1',
    )
    expect(rows.map(({ account_no }) => account_no)).toEqual(['anna', 'ben'])
    expect(readFileSync(join(folder, 'audit.html'), 'utf8').includes('AU-991')).toBe(true)
  })
})
