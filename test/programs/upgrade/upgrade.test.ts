/**
 * An upgrade to the next release and back, as an operator does it: packed releases, each with its own processes and its own
 * command, one database with money in it, and the random run all the time.
 */
import { type ChildProcess, execFile, fork } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { simulateSportsbook } from 'bet-wallet/audit'
import { afterAll, describe, expect, it } from 'vitest'
import { createProject, type Project } from '../../package/project.js'
import { openWalletFront } from '../soak/wallet-front.js'
import { engines, schema, type UpgradedDatabase } from './databases.js'
import { buildNextRelease, nextReason } from './next-release.js'

const credentials = { username: 'platform', password: 'upgrade-secret' }
const playerIds = Array.from({ length: 12 }, (_, index) => `upgrade-${index + 1}`)

const nextSource = buildNextRelease()
const drivers = ['fast-check', 'pg', 'mysql2']
const [old, next] = [createProject(drivers), createProject(drivers, nextSource.folder)]
for (const { folder } of [old, next])
  copyFileSync(fileURLToPath(new URL('process.mjs', import.meta.url)), join(folder, 'process.mjs'))
afterAll(() => {
  for (const { remove } of [old, next, nextSource]) remove()
})

/** The command of a release. */
async function command({ folder, installed }: Project, url: string, ...args: string[]): Promise<string> {
  const bin = join(installed, 'src/tools/command/bin.cjs')
  const env = {
    ...process.env,
    DATABASE_URL: url,
    BET_WALLET_SCHEMA: schema,
    NO_COLOR: '1',
    NODE_OPTIONS: '',
  }
  const { stdout } = await promisify(execFile)(process.execPath, [bin, ...args], { cwd: folder, env })
  return stdout
}

interface WalletProcess {
  url: string
  stop(): Promise<void>
}

async function start({ folder }: Project, engine: string, url: string): Promise<WalletProcess> {
  const child: ChildProcess = fork(join(folder, 'process.mjs'), {
    cwd: folder,
    execArgv: [],
    env: {
      ...process.env,
      NODE_OPTIONS: '',
      BET_WALLET_UPGRADE: JSON.stringify({ engine, url, schema, credentials }),
    },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const ended = once(child, 'exit')
  const early = ended.then(([code]) => {
    throw new Error(`the process has ended: ${code}`)
  })
  early.catch(() => {})
  const [port] = await Promise.race([once(child, 'message'), early])
  return {
    url: `http://127.0.0.1:${port}`,
    async stop() {
      child.send('stop')
      await ended
    },
  }
}

describe.each(engines)('an upgrade on $engine', ({ engine, skipped, open }) => {
  it.skipIf(skipped !== null)(
    `keeps every cent, there and back${skipped === null ? '' : ` (skipped: ${skipped})`}`,
    { timeout: 900_000 },
    async () => {
      const database = await open()
      try {
        await upgrade(engine, database)
      } finally {
        await database.close()
      }
    },
  )
})

async function upgrade(engine: string, database: UpgradedDatabase): Promise<void> {
  const { url } = database
  await command(old, url, 'migrate', '--own-players')
  await database.openAccounts(playerIds)
  await expect(start(next, engine, url)).rejects.toThrow(/has ended/)

  const processes = [await start(old, engine, url), await start(old, engine, url)]
  const add = async (release: Project) => {
    processes.push(await start(release, engine, url))
  }
  /** The front sends it nothing more; what it has is answered. */
  const remove = async () => await (processes.shift() as WalletProcess).stop()
  const differing: string[] = []
  const front = await openWalletFront(processes, difference => differing.push(difference))
  const steps: [name: string, step: () => Promise<unknown>][] = [
    ['the next release migrates', () => command(next, url, 'migrate')],
    ['a process of the next release is added', () => add(next)],
    ['both old ones are removed', () => remove().then(remove)],
    ['back: an old one is added', () => add(old)],
    [
      'the old release migrates again, and the new process is removed',
      () => command(old, url, 'migrate').then(remove),
    ],
    ['the old one is alone', async () => {}],
  ]
  try {
    for (const [index, [name, step]] of steps.entries()) await underLoad(name, index, front.url, step)
  } finally {
    await front.close()
    await Promise.all(processes.map(process => process.stop()))
  }
  expect(differing).toEqual([])
  await expectBooks(database)
}

/** A random run, and meanwhile, after its first bets, a step. */
async function underLoad(name: string, seed: number, baseUrl: string, step: () => Promise<unknown>) {
  let done: Promise<unknown> | null = null
  const report = await simulateSportsbook({
    ...{ baseUrl, credentials, players: playerIds, bets: 200, seed, runId: `upgrade-${seed}` },
    progressEveryMs: 20,
    onProgress({ bets }) {
      if (bets >= 20) done ??= step()
      done?.catch(() => {})
    },
  })
  expect(done, name).not.toBeNull()
  await done
  expect({ name, passed: report.passed, differences: report.differences }).toEqual({
    ...{ name, passed: true, differences: [] },
  })
}

async function expectBooks(database: UpgradedDatabase): Promise<void> {
  const { rows, url } = database
  const wrong =
    await rows(`SELECT p.player_id FROM {players} p JOIN {transactions} t ON t.player_id = p.player_id
    GROUP BY p.player_id, p.balance HAVING p.balance <> 1000 + SUM(t.delta)`)
  expect(wrong).toEqual([])
  const decided = await rows<{ reason: string; decided_by: string | null }>(
    `SELECT DISTINCT reason, decided_by FROM {transactions} WHERE reason IN ('ACCEPTED', '${nextReason}') ORDER BY reason`,
  )
  expect(decided).toEqual([
    { reason: 'ACCEPTED', decided_by: null },
    { reason: nextReason, decided_by: 'next' },
  ])
  expect(await database.creditRoutines()).toEqual(['credit_bet_v1', 'credit_bet_v2'])

  // The old release reads what the next one has recorded.
  const [{ bet_id: betId = '' } = {}] = await rows<{ bet_id: string }>(
    `SELECT bet_id FROM {transactions} WHERE reason = '${nextReason}' AND operation = 'placebet' LIMIT 1`,
  )
  expect(await command(old, url, 'bet', betId, '--scan')).toContain(
    'A newer version of the wallet accepted it',
  )
  expect(await command(next, url, 'bet', betId, '--scan')).toContain('was debited')
}
