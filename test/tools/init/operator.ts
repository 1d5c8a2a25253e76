/** An operator who runs `bet-wallet init`, and what it has written: migration, server, kit, audit. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect } from 'vitest'
import { auditWallet } from '../../../src/tools/audit/index.js'
import { root } from '../../docs/pages.js'
import { freePort } from '../../postgres/server.js'
import { runCommand } from '../command/running.js'
import type { Kind, Pam } from './pams.js'

/** Inside the repository, whose packages the programs find; bet-wallet and the driver are installed. */
const folderOf = (engine: Kind, { name }: Pam) =>
  join(root, 'test/.tmp/init', engine, name.replace(/\W+/g, '-'))

export function prepareFolder(engine: Kind, pam: Pam): string {
  const folder = folderOf(engine, pam)
  rmSync(folder, { recursive: true, force: true })
  const link = (name: string, target: string) => {
    mkdirSync(dirname(join(folder, 'node_modules', name)), { recursive: true })
    symlinkSync(target, join(folder, 'node_modules', name), 'junction')
  }
  // Not the repository itself, in which this folder is: what walks through it would not end.
  link('bet-wallet/dist', join(root, 'dist'))
  cpSync(join(root, 'package.json'), join(folder, 'node_modules/bet-wallet/package.json'))
  const driver = engine === 'postgres' ? 'pg' : 'mysql2'
  link(driver, join(root, 'node_modules', driver))
  const manifest = { private: true, ...(pam.isCommonJs ? {} : { type: 'module' }) }
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest))
  return folder
}

const password = 'test-password'

/** Runs a program of the folder, and resolves to what it printed. */
export async function runProgram(folder: string, file: string, url: string): Promise<string> {
  const child = start(folder, file, url)
  let printed = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => {
      printed += text
    })
  const [code] = await once(child, 'close')
  expect(code, printed).toBe(0)
  return printed
}

function start(folder: string, file: string, url: string, more: NodeJS.ProcessEnv = {}): ChildProcess {
  const inherited = Object.entries(process.env).filter(([name]) => !/^NODE_OPTIONS$|^VITEST/.test(name))
  return spawn(process.execPath, ['--import', 'tsx', file], {
    cwd: folder,
    env: { ...Object.fromEntries(inherited), DATABASE_URL: url, BET_WALLET_PASSWORD: password, ...more },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

/**
 * Writes everything that `init` writes for the PAM, and runs what it prints for the database.
 *
 * @param run a statement of the operator
 * @param role of the store
 * @returns the rights that the store's user needs
 */
export async function runInit(
  folder: string,
  pam: Pam,
  { url, run, role }: { url: string; run(sql: string): Promise<unknown>; role: string },
): Promise<string[]> {
  const command = async (words: readonly string[]) => {
    const { code, out, error } = await runCommand(words, {
      cwd: folder,
      environment: { DATABASE_URL: url },
    })
    expect({ code, error }, out).toEqual({ code: 0, error: '' })
    return out
  }
  const out = await command(['init', ...pam.options])
  const store = readFileSync(join(folder, 'store.ts'), 'utf8').replaceAll(/,\n +/g, ', ')
  for (const pattern of pam.expects) expect(`${store}\n${out}`).toMatch(pattern)
  const steps = (begin: RegExp) =>
    out.split('\n').flatMap(line => (begin.test(line) ? [line.trim().replace(/ {2}# .*$/, '')] : []))
  for (const view of steps(/^ {2}CREATE OR REPLACE VIEW /)) await run(view)
  const [migrate = ''] = steps(/^ {2}npx bet-wallet migrate /)
  // The words of a shell, of which some are in quotes.
  const words = [...migrate.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain = '']) => quoted ?? plain)
  expect(await command(words.slice(2))).toContain('MIGRATED: the schema bet_wallet')
  const printed = await command(['grants', role])
  const more = steps(/^ {2}GRANT /).map(each => each.replace(/ TO (["`])wallet\1;$/, ` TO $1${role}$1;`))
  return [...printed.split('\n').filter(line => line.startsWith('GRANT ')), ...more]
}

/** The files of a folder below it, without packages. */
export function filesIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap(entry => {
    if (entry.name === 'node_modules') return []
    const path = join(folder, entry.name)
    return entry.isDirectory() ? filesIn(path) : [path]
  })
}

export async function passKit(folder: string, url: string, { exclude, options }: Pam): Promise<void> {
  const file = join(folder, 'kit.ts')
  // As the operator's, with fewer random histories.
  writeFileSync(file, readFileSync(file, 'utf8').replace('runs: 20', 'runs: 3'))
  const printed = await runProgram(folder, 'kit.ts', url)
  expect(printed).toMatch(/PASSED, INCOMPLETE: [789]\d passed, 0 failed/)
  // Those of players who may not bet.
  // The kit's copy has the players' table alone: it excludes no player by a table beside.
  const isExcluded = exclude !== undefined && !options.some(option => /^\w+\.\w+=|; ?\w+\.\w+=/.test(option))
  for (const id of isExcluded ? ['WS-56', 'WS-58', 'WS-59'] : []) expect(printed).toContain(`passed  ${id} `)
}

/**
 * @param url of the role that has the printed rights only
 * @param run a statement of the operator
 */
export async function passAudit(
  folder: string,
  url: string,
  { players, exclude, audit }: Pam,
  run?: (sql: string) => Promise<unknown>,
): Promise<void> {
  const { currency = 'EUR' } = { ...audit }
  const file = join(folder, 'server.ts')
  const port = await freePort()
  writeFileSync(file, readFileSync(file, 'utf8').replaceAll('3000', String(port)))
  const server = start(folder, 'server.ts', url, { AUDIT: '1' })
  const ended = once(server, 'close')
  try {
    await listening(server)
    const { passed, results } = await auditWallet({
      ...{ baseUrl: `http://127.0.0.1:${port}/wallet`, playerId: players[0], otherPlayerId: players[1] },
      ...{ currency, credentials: { username: 'platform', password }, seed: 1 },
      settle: { url: '/settlement' },
      raceRounds: 1,
      timeoutMs: 60_000,
      ...audit,
    })
    const failed = results.filter(({ verdict }) => verdict === 'failed').map(({ id }) => id)
    expect({ passed, failed }).toEqual({ passed: true, failed: [] })
    if (exclude === undefined || run === undefined) return
    const call = callsOf(port, players[0], currency)
    expect(await call('placebet', 1)).toMatchObject({ currency })
    await run(exclude)
    expect(await call('placebet', 2)).toMatchObject({ errorCode: 'PLAYER_EXCLUDED' })
    expect(await call('rollbackbet', 1)).toMatchObject({ currency })
  } finally {
    server.kill('SIGKILL')
    await ended
  }
}

const callsOf =
  (port: number, playerId: string, currency: string) => async (operation: string, bet: number) => {
    const body = {
      ...{ transactionId: `own-${operation}-${bet}`, betId: `own-${bet}`, playerId, sessionId: 's-1' },
      ...{ amount: 1, currency, transactionDate: '2026-11-21T18:00:00Z' },
      ...(operation === 'placebet' ? { odds: 1.85, betType: 'SINGLE' } : { type: 'TECHNICAL_ERROR' }),
    }
    const answer = await fetch(`http://127.0.0.1:${port}/wallet/${operation}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Basic ${Buffer.from(`platform:${password}`).toString('base64')}`,
      },
      body: JSON.stringify(body),
    })
    return await answer.json()
  }

async function listening(server: ChildProcess): Promise<void> {
  let printed = ''
  await new Promise<void>((resolve, reject) => {
    for (const stream of [server.stdout, server.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => {
        printed += text
        if (printed.includes('listening')) resolve()
      })
    server.once('close', () => reject(new Error(`The server ended: ${printed}`)))
  })
}
