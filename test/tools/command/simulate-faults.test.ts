/** `bet-wallet simulate --fault` as a separate process: its options, and what happens when it is stopped. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { until } from '../../until.js'
import { expectGoodPage } from '../report/page-rules.js'
import { credentials, type RunningWallet, startWallet } from '../wallets/library.js'
import { runCommand } from './running.js'

const command = fileURLToPath(new URL('../../../dist/command.cjs', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'bet-wallet-faults-'))
const file = (name: string) => join(folder, name)
const environment = {
  BET_WALLET_PASSWORD: credentials.password,
  BET_WALLET_DATABASE_URL: '',
  DATABASE_URL: '',
}

let wallet: RunningWallet
// Each run has players of its own: a long one bets all that they have.
beforeEach(async () => {
  wallet = await startWallet()
})
afterEach(() => wallet.close())
afterAll(() => rmSync(folder, { recursive: true }))

const host = () => new URL(wallet.baseUrl).host
const words = (...more: readonly string[]) => [
  ...['simulate', wallet.baseUrl, '--staging', host(), '--user', credentials.username],
  ...['--settle-url', '/settlement', '--players', 'ann,cem', '--rate', '200', '--every', '1s', ...more],
]

it.each([
  [['--every', '1s'], /^--fault is missing/],
  [['--staging', 'x'], /^--fault is missing/],
  [['--fault', 'true'], /^--every is missing/],
  [['--fault', 'true', '--every', '0s'], /^--every is missing/],
])('given %j, then what is missing is named', async (options, message) => {
  const ran = await runCommand(['simulate', wallet.baseUrl, '--players', 'ann', ...options], { environment })
  expect([ran.code, ran.error]).toEqual([2, expect.stringMatching(message)])
})

it('given a base URL without http, then it is named, and no empty host', async () => {
  const words = ['simulate', 'localhost:3000/wallet', '--players', 'ann', '--fault', 'true', '--every', '1s']
  const ran = await runCommand(words, { environment })
  expect([ran.code, ran.error]).toEqual([
    2,
    expect.stringMatching(/^Invalid options: <base-url> must be a URL/),
  ])
})

describe('given a wallet without the option --staging, or with another host in it', () => {
  it.each([
    ['nothing', []],
    ['another host', ['--staging', 'wallet.internal']],
  ])('when the option names %s, then nothing is sent and no command runs', async (_, staging) => {
    const before = wallet.memory.transactions().length
    const broken = file('never')
    const ran = await runCommand(
      [
        'simulate',
        wallet.baseUrl,
        ...staging,
        '--players',
        'ann',
        '--fault',
        `touch ${broken}`,
        '--every',
        '1s',
      ],
      { environment },
    )
    expect(ran.code).toBe(2)
    expect(ran.error).toContain(`add --staging ${host()}`)
    expect(existsSync(broken)).toBe(false)
    expect(wallet.memory.transactions()).toHaveLength(before)
  })
})

describe('given a correct wallet', () => {
  it('when each fault was injected once, then the text, the JSON and the HTML say so', async () => {
    const log = file('order')
    const ran = await runCommand(
      words(
        ...['--fault', `echo one >> ${log}`, '--fault', `echo two >> ${log}`],
        ...['--json', file('run.json'), '--html', file('run.html')],
      ),
      { environment },
    )
    expect(ran.error).toContain(`fault 2: echo two >> ${log}`)
    expect(ran).toMatchObject({ code: 0, out: expect.stringMatching(/cent: 2 faults, nothing was lost/) })
    expect(readFileSync(log, 'utf8')).toBe('one\ntwo\n')
    const report = JSON.parse(readFileSync(file('run.json'), 'utf8'))
    expect(report).toMatchObject({
      passed: true,
      chaos: { answerLost: 0 },
      differences: [],
      faults: { stopped: null, notRetried: 0 },
    })
    expectGoodPage(readFileSync(file('run.html'), 'utf8'))
  })

  it('when a fault takes longer than --every, then the ones after it are injected all the same', async () => {
    const log = file('slow')
    const ran = await runCommand(words('--fault', 'sleep 2.5', '--fault', `echo two >> ${log}`), {
      environment,
    })
    expect(ran).toMatchObject({ code: 0, out: expect.stringMatching(/cent: 2 faults, nothing was lost/) })
    expect(readFileSync(log, 'utf8')).toBe('two\n')
  })

  it('when the run ends before a fault, then it has not passed', async () => {
    const ran = await runCommand(words('--duration', '2s', '--fault', 'sleep 5', '--fault', 'false'), {
      environment,
    })
    expect(ran.code).toBe(2)
    expect(ran.out).toContain('FAILED: the run ended before the fault false: it was not injected.')
  })

  it('when the command of a fault fails, then its end is printed, and the exit code is 2', async () => {
    const ran = await runCommand(words('--fault', 'echo no such host >&2; exit 7'), { environment })
    expect(ran.code).toBe(2)
    expect(ran.out).toContain(
      'FAILED: the fault echo no such host >&2; exit 7 failed: the command ended with code 7: no such host',
    )
  })

  it('when a command has the password in its line and prints it, then no output has it', async () => {
    const { password } = credentials
    const reports = ['--json', file('masked.json'), '--html', file('masked.html')]
    const ran = await runCommand(words('--fault', `echo ${password} >&2; false ${password}`, ...reports), {
      environment,
    })
    expect(ran.out).toContain(
      'FAILED: the fault echo *** >&2; false *** failed: the command ended with code 1: ***',
    )
    expect(ran.error).toContain('fault 1: echo *** >&2; false ***')
    const written = [file('masked.json'), file('masked.html')].map(name => readFileSync(name, 'utf8'))
    for (const output of [ran.out, ran.error, ...written]) expect(output).not.toContain(password)
  })
})

const settlements = () =>
  wallet.memory.transactions().filter(({ operation }) => operation === 'settlement').length

/** A run whose standard error can be waited for. */
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

// What a failed test leaves behind ends when the folder is removed.
describe('given a command that has begun', () => {
  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    'when the run gets %s, then it still repairs',
    async signal => {
      const [held, repaired] = [file(`held-${signal}`), file(`repaired-${signal}`)]
      const recipe = `while [ -e ${held} ]; do sleep 0.1; done; touch ${repaired}`
      writeFileSync(held, '')
      const { child, ended, seen } = start(['--fault', recipe])
      await seen(/fault 1: while/)
      await until(() => settlements() > 0)
      child.kill(signal)
      await seen(/Stopping: a fault is repaired/)
      expect(existsSync(repaired)).toBe(false)
      rmSync(held)
      const { code, out } = await ended
      expect(existsSync(repaired)).toBe(true)
      expect([code, out]).toEqual([
        2,
        expect.stringMatching(/^PASSED, STOPPED: .*1 fault, nothing was lost/m),
      ])
    },
  )

  it('when a second signal comes, then the command that has not ended is printed', async () => {
    const held = file('held')
    writeFileSync(held, '')
    const waiting = `while [ -e ${held} ]; do sleep 0.1; done; true`
    const { child, ended, seen } = start(['--fault', `${waiting} ${credentials.password}`])
    await seen(/fault 1: /)
    child.kill('SIGINT')
    await seen(/Ctrl\+C again stops at once/)
    child.kill('SIGINT')
    const { code, error } = await ended
    rmSync(held)
    expect(code).toBe(130)
    expect(error).toContain(`Not ended: ${waiting} ***`)
  })
})
