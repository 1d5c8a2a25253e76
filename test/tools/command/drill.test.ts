/** `bet-wallet drill` as a separate process: its options, its commands, and what it repairs when it is stopped. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { faultsOf } from '../../../src/tools/command/drill.js'
import { openDurability } from '../../../src/tools/command/durability.js'
import { freshDatabase } from '../../postgres/fresh-database.js'
import type { Database } from '../../postgres/server.js'
import { expectGoodPage } from '../html/page-rules.js'
import { credentials, type RunningWallet, startWallet } from '../wallets/library.js'
import { runCommand } from './running.js'

const command = fileURLToPath(new URL('../../../dist/command.cjs', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'bet-wallet-drill-'))
const file = (name: string) => join(folder, name)
const environment = {
  BET_WALLET_PASSWORD: credentials.password,
  BET_WALLET_DATABASE_URL: '',
  DATABASE_URL: '',
}

let wallet: RunningWallet
beforeAll(async () => {
  wallet = await startWallet()
})
afterAll(async () => {
  await wallet.close()
  rmSync(folder, { recursive: true })
})

const words = (...more: readonly string[]) => [
  ...['drill', wallet.baseUrl, '--staging', new URL(wallet.baseUrl).host, '--user', credentials.username],
  ...['--players', 'ann,cem', '--calls', '40', ...more],
]
const fault = (shell: string) => ['--fault', `kill=${shell}`]
const repair = (shell: string) => ['--repair', `kill=${shell}`]

describe('the faults of the options', () => {
  it('are names and commands, and a repair has the name of its fault', () => {
    expect(faultsOf(['kill the primary = ssh db1 A=b kill', 'cut=x'], ['cut=y=z'])).toEqual([
      { name: 'kill the primary', command: 'ssh db1 A=b kill', repair: null },
      { name: 'cut', command: 'x', repair: 'y=z' },
    ])
  })

  it.each([
    [[], [], /--fault is missing/],
    [['kill'], [], /--fault must have the form 'name=command', not "kill"/],
    [['=kill'], [], /must have the form/],
    [['kill='], [], /must have the form/],
    [['kill=x', 'kill=y'], [], /Two faults have the same name/],
    [['kill=x'], ['cut=y'], /--repair "cut": no fault has this name/],
    [['kill=x'], ['kill'], /--repair must have the form/],
  ])('%j with the repairs %j are refused', (faults, repairs, message) => {
    expect(() => faultsOf(faults, repairs)).toThrow(message)
  })
})

describe('given a wallet of which nobody said that it is for staging', () => {
  it.each([
    ['nothing', []],
    ['another host', ['--staging', 'wallet.internal']],
  ])('when the option names %s, then nothing is sent and no command runs', async (_, staging) => {
    const before = wallet.memory.transactions().length
    const broken = file('never')
    const ran = await runCommand(
      ['drill', wallet.baseUrl, ...staging, '--players', 'ann', ...fault(`touch ${broken}`)],
      { environment },
    )
    expect(ran.code).toBe(2)
    expect(ran.error).toContain(`add --staging ${new URL(wallet.baseUrl).host}`)
    expect(existsSync(broken)).toBe(false)
    expect(wallet.memory.transactions()).toHaveLength(before)
  })
})

describe('given a correct wallet', () => {
  it('when it is drilled, then the page, the JSON and the HTML say so', async () => {
    const log = file('order')
    const ran = await runCommand(
      words(
        ...[...fault(`echo fault >> ${log}`), ...repair(`echo repair >> ${log}`), '--rounds', '2'],
        ...['--json', file('drill.json'), '--html', file('drill.html')],
      ),
      { environment },
    )
    expect(ran.error).toContain(`fault 2 of 2, kill: echo fault >> ${log}`)
    expect(ran).toMatchObject({ code: 0, out: expect.stringMatching(/^PASSED: 2 faults, nothing was lost/) })
    expect(readFileSync(log, 'utf8')).toBe('fault\nrepair\n'.repeat(2))
    const report = JSON.parse(readFileSync(file('drill.json'), 'utf8'))
    expect(report).toMatchObject({ passed: true, faults: [{ name: 'kill' }, { name: 'kill' }], lost: [] })
    expectGoodPage(readFileSync(file('drill.html'), 'utf8'))
  })

  it('when the command of a fault fails, then its end is printed, and the exit code is 2', async () => {
    const repaired = file('repaired-after-failure')
    const ran = await runCommand(
      words(...fault('echo no such host >&2; exit 7'), ...repair(`touch ${repaired}`)),
      { environment },
    )
    expect(ran.code).toBe(2)
    expect(ran.out).toContain('kill: the command failed: the command ended with code 7: no such host')
    expect(existsSync(repaired)).toBe(true)
  })
})

/** A drill whose standard error can be waited for. */
function start(more: readonly string[]) {
  const child: ChildProcess = spawn(process.execPath, [command, ...words(...more)], {
    env: { ...process.env, NODE_OPTIONS: '', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const printed = { out: '', error: '' }
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, ...printed }))
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    printed.out += text
  })
  const seen = (pattern: RegExp) =>
    new Promise<void>((resolve, reject) => {
      const look = () => {
        if (pattern.test(printed.error)) resolve()
      }
      child.stderr?.on('data', look)
      ended.then(() => reject(new Error(`ended without ${pattern}: ${printed.error}`)))
      look()
    })
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    printed.error += text
  })
  return { child, ended, seen }
}

describe('given a fault whose repair is due', () => {
  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    'when the drill gets %s while the command of the fault runs, then it is repaired',
    async signal => {
      const repaired = file(`repaired-${signal}`)
      const { child, ended, seen } = start([
        // It never ends by itself.
        ...fault('echo started; tail -f /dev/null'),
        ...repair(`touch ${repaired}`),
      ])
      await seen(/fault 1 of 1/)
      child.kill(signal)
      const { code, out, error } = await ended
      expect(error).toMatch(/Stopping: what is broken is repaired first/)
      expect(existsSync(repaired)).toBe(true)
      expect(code).toBe(2)
      expect(out).toContain('the command of the fault kill failed')
    },
  )

  it('when a second signal comes, then the repair that has not ended is printed', async () => {
    const release = file('release')
    const waiting = `until [ -e ${release} ]; do sleep 0.1; done`
    const { child, ended, seen } = start([...fault('true'), ...repair(waiting)])
    await seen(/repair, kill: /)
    child.kill('SIGINT')
    await seen(/Ctrl\+C again stops at once/)
    child.kill('SIGINT')
    const { code, error } = await ended
    writeFileSync(release, '')
    expect(code).toBe(130)
    expect(error).toContain(`Not repaired, kill: ${waiting}`)
  })
})

describe('given a database', () => {
  let database: Database
  beforeAll(async () => {
    database = await freshDatabase()
  })
  afterAll(() => database.drop())

  it('when it is read, then the reading is that of the store, before any migration too', async () => {
    const durability = openDurability([database.url])
    expect(await durability?.read()).toMatchObject({ level: 'alone' })
    await durability?.close()
  })

  it('when it cannot be reached, then the reading says why, without the password', async () => {
    const durability = openDurability(['postgres://user:top-secret@127.0.0.1:1/none'])
    const reading = await durability?.read()
    await durability?.close()
    expect(reading?.level).toBeNull()
    expect(reading?.reason).toMatch(/ECONNREFUSED/)
    expect(reading?.reason).not.toContain('top-secret')
  })
})
