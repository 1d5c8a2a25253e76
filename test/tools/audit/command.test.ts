/** The built command as a separate process. */
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type AuditReport, auditCases } from 'bet-wallet/audit'
import { afterAll, afterEach, describe, expect, it, test } from 'vitest'
import { isOfAccounts } from '../wallets/accounts.js'
import { type FaultName, startPlainWallet } from '../wallets/independent/plain.js'
import { cert } from './certificate.js'
import { startTlsFront } from './tls-front.js'

const command = fileURLToPath(new URL('../../../dist/command.cjs', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'bet-wallet-'))
afterAll(() => rmSync(folder, { recursive: true }))

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

async function plain(fault?: FaultName, balance = '100.00') {
  const players = ['player-1', 'player-2'].map(playerId => ({ playerId, currency: 'EUR', balance }))
  const wallet = await startPlainWallet({ players, ...(fault === undefined ? {} : { fault }) })
  closing.push(() => wallet.close())
  return wallet
}

/** A slow proxy in front of a wallet that reports the first bet. */
function server(onBet: () => void) {
  let isReported = false
  const front = createServer(async (req, res) => {
    const chunks: Buffer[] = []
    for await (const chunk of req as AsyncIterable<Buffer>) chunks.push(chunk)
    if (req.url === '/placebet' && !isReported) {
      isReported = true
      onBet()
    }
    await sleep(300)
    const passed = await fetch(`${target}${req.url}`, {
      method: 'POST',
      headers: {
        authorization: req.headers.authorization ?? '',
        'content-type': req.headers['content-type'] ?? '',
      },
      body: Buffer.concat(chunks),
    })
    res.writeHead(passed.status, { 'content-type': 'application/json' }).end(await passed.text())
  })
  let target = ''
  return {
    async listen(url: string): Promise<string> {
      target = url.replace(/\/$/, '')
      await new Promise<void>(resolve => front.listen(0, '127.0.0.1', resolve))
      closing.push(async () => {
        front.closeAllConnections()
        await new Promise(resolve => front.close(resolve))
      })
      return `http://127.0.0.1:${(front.address() as AddressInfo).port}`
    },
  }
}

/** The address of a TLS proxy in front of a wallet. */
async function secured(url: string): Promise<string> {
  const front = await startTlsFront(url)
  closing.unshift(() => front.close())
  return front.url
}

const authorityFile = join(folder, 'authority.pem')
writeFileSync(authorityFile, cert)
const authority = { NODE_EXTRA_CA_CERTS: authorityFile }

/** Runs the command until it ends. */
function run(words: readonly string[], environment: Record<string, string> = {}) {
  const { BET_WALLET_PASSWORD: _, NODE_OPTIONS: __, ...rest } = process.env
  const child = spawn(process.execPath, [command, ...words], {
    cwd: folder,
    env: { ...rest, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const printed = { out: '', error: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed.out += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    printed.error += text
  })
  return new Promise<{ code: number | null; out: string; error: string }>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', code => resolve({ code, ...printed }))
  })
}

const usual = (url: string) => [
  'audit',
  url,
  '--player',
  'player-1',
  '--currency',
  'EUR',
  '--user',
  'platform',
]
const password = { BET_WALLET_PASSWORD: 'correct horse' }

/** Printed first if the wallet is slow: on a busy machine any is. */
const estimate = /^About \d+ minutes, at \d+ ms per answer\. --only and --time-budget make it shorter\.\n/

test('the package is built', () => {
  expect(existsSync(command), 'run `npm test`, which builds first').toBe(true)
})

/** Without those that need several accounts. */
const casesOfOne = auditCases.filter(({ id }) => !isOfAccounts(id))

describe('bet-wallet audit', () => {
  it('audits a wallet: a table, a result, exit code 0, and reports as files', async () => {
    const { url } = await plain()
    const files = ['--json', 'report.json', '--junit', 'report.xml', '--html', 'report.html']
    const settle = [
      ...['--settle-url', '/settlement', '--other-player', 'player-2'],
      ...['--pause', '1ms', '--restart-command', 'true', '--timeout', '60s'],
    ]
    const { code, out, error } = await run([...usual(url), ...settle, ...files], password)
    expect(code).toBe(0)
    // No terminal: the progress is a line per ten cases.
    const total = casesOfOne.length
    const progress = Array.from(
      { length: Math.ceil(total / 10) },
      (_, index) => `${Math.min(10 * (index + 1), total)} of ${total} cases`,
    )
    const written = ['Written: report.json', 'Written: report.html', 'Written: report.xml']
    expect(error.replace(estimate, '').split('\n')).toEqual([...progress, ...written, ''])
    const lines = out.trimEnd().split('\n')
    expect(lines.filter(line => line.startsWith('  passed'))).toEqual(
      casesOfOne.map(({ id, level, name }) => `  passed  ${id}  ${level.padEnd(6)}  ${name}`),
    )
    expect(lines.at(-1)).toMatch(
      new RegExp(
        `^PASSED: ${casesOfOne.length} passed, 0 failed, 0 skipped \\([\\d,]+ requests in [\\d.]+ s, seed 1\\)$`,
      ),
    )

    const read = (name: string) => readFileSync(join(folder, name), 'utf8')
    const report = JSON.parse(read('report.json')) as AuditReport
    expect(report).toMatchObject({ formatVersion: 1, passed: true, complete: true })
    expect(report.results).toHaveLength(casesOfOne.length)
    expect(read('report.xml')).toContain(`tests="${casesOfOne.length}" failures="0" errors="0" skipped="0"`)
    expect(read('report.html')).toMatch(/^<!doctype html>/i)
    const everything = out + error + read('report.json') + read('report.xml') + read('report.html')
    expect(everything).not.toContain('correct horse')
  })

  it('audits over https with its own certificate authority, and trusts no other', async () => {
    const url = await secured((await plain()).url)
    const settle = [
      ...['--settle-url', '/settlement', '--other-player', 'player-2'],
      ...['--pause', '1ms', '--restart-command', 'true', '--timeout', '60s'],
    ]
    const { code, out, error } = await run([...usual(url), ...settle], { ...password, ...authority })
    expect(code).toBe(0)
    expect(error.replace(estimate, '')).toMatch(/^(\d+ of \d+ cases\n)+$/)
    expect(out).toMatch(new RegExp(`^PASSED: ${casesOfOne.length} passed, 0 failed, 0 skipped`, 'm'))

    const stranger = await run(usual(url), password)
    expect(stranger.code).toBe(2)
    expect(stranger.error).toContain('self-signed certificate')
  })

  it('prints the failure, its impact and a command to reproduce it: exit code 1 for a MUST', async () => {
    const { url } = await plain('no-tombstone')
    const { code, out } = await run([...usual(url), '--only', 'AU-301,AU-302', '--only', 'AU-101'], password)
    expect(code).toBe(1)
    expect(out).toMatch(/^ {2}passed {2}AU-101/m)
    expect(out).toMatch(/^ {2}FAILED {2}AU-301 {2}MUST/m)
    expect(out).toMatch(
      /^ {2}MUST {4}AU-301 {2}placebet after its rollback: balance .* too little instead of balance .*\n {4}The player has \d\.\d\d EUR too little\. The case guards against this: The player loses.*\n {4}case {7}A placebet that arrives after its rollback debits nothing \(spec 4\.1, 4\.3, D11\)\n {4}interface {2}"If it fails or times out, .*"\n {4}expected {3}balance .*\n {4}actual {5}balance .*\n {4}request {4}placebet after its rollback\n {4}answer {5}200 .*\n {4}curl -i -u "\$WALLET_USER:\$WALLET_PASSWORD".*/m,
    )
    expect(out).toMatch(/^FAILED: 1 passed, 2 failed \(1 MUST, 1 SHOULD; 2 findings\), 0 skipped/m)
  })

  it('has exit code 0 for a SHOULD, and prints the skipped cases with the reason', async () => {
    const { url } = await plain('second-placebet-taken-as-retry')
    const { code, out } = await run([...usual(url), '--only', 'AU-101,AU-215,AU-502'], password)
    expect(code).toBe(0)
    expect(out).toMatch(/FAILED +AU-215 {2}SHOULD/)
    expect(out).toContain('Skipped\n  no way to settle was given (--settle-url, --settle-command)  AU-502')
    expect(out).toContain('PASSED, INCOMPLETE: 1 passed, 1 failed (1 SHOULD; 1 finding), 1 skipped')
  })

  it('accepts headers, statuses, error codes, a settle command, and numbers', async () => {
    const { url } = await plain()
    const words = [
      ...['audit', url, '--player', 'player-1', '--currency', 'EUR', '--seed', '9', '--concurrency', '4'],
      ...['--header', `Authorization: Basic ${btoa('platform:correct horse')}`, '--rounds', '1'],
      ...['--status', 'INVALID_BET=409', '--status', 'INVALID_BET=400', '--code', 'INVALID_BET=*'],
      ...['--timeout', '60s', '--time-budget', '10m', '--minor-units', '2'],
      ...['--only', 'AU-203,AU-302,AU-502,AU-701', '--json', 'header.json'],
    ]
    const { code, out } = await run(words)
    expect(out).toContain('3 passed, 0 failed, 1 skipped')
    expect(code).toBe(0)
    const text = readFileSync(join(folder, 'header.json'), 'utf8')
    expect(text).not.toContain(btoa('platform:correct horse'))
    expect(text).toContain('$WALLET_AUTHORIZATION')
    expect((JSON.parse(text) as AuditReport).seed).toBe(9)
  })

  it('lists the cases without sending anything', async () => {
    const { code, out } = await run(['audit', '--list'])
    expect(code).toBe(0)
    expect(out.trimEnd().split('\n')).toHaveLength(auditCases.length)
    expect(out).toContain(
      'AU-301  MUST    A placebet that arrives after its rollback debits nothing (spec 4.1, 4.3, D11)',
    )
  })

  it.each([[['--help']], [['audit', '--help']], [['simulate', '-h']]])('%j prints the usage', async words => {
    const { code, out, error } = await run(words)
    expect({ code, error }).toEqual({ code: 0, error: '' })
    expect(out).toMatch(/^Usage\n {2}bet-wallet /)
    expect(Math.max(...out.split('\n').map(line => line.length))).toBeLessThanOrEqual(100)
  })
})

describe('exit code 2, with a message that says what to do', () => {
  async function messageOf(words: readonly string[], environment: Record<string, string> = password) {
    const { code, out, error } = await run(words, environment)
    expect({ code, out }).toEqual({ code: 2, out: '' })
    return error
  }

  it('no answer', async () => {
    const free = createServer()
    await new Promise<void>(resolve => free.listen(0, '127.0.0.1', resolve))
    const { port } = free.address() as AddressInfo
    await new Promise(resolve => free.close(resolve))
    expect(await messageOf(usual(`http://127.0.0.1:${port}`))).toMatch(
      /^Cannot start: No answer from .*refused.*Is the wallet running/,
    )
  })

  it('the base URL of something else', async () => {
    const { url } = await plain()
    expect(await messageOf(usual(`${url}/wallet`))).toMatch(/^Cannot start: .*404.*Is the base URL right\?/)
  })

  it('wrong credentials', async () => {
    const { url } = await plain()
    const message = await messageOf(usual(url), { BET_WALLET_PASSWORD: 'wrong' })
    expect(message).toMatch(
      /^Cannot start: .*401: the credentials \(--user\) are missing or wrong\. If the wallet checks signatures, they need --sign\n$/,
    )
  })

  it('an unknown player', async () => {
    const { url } = await plain()
    const words = ['audit', url, '--player', 'ghost', '--currency', 'EUR', '--user', 'platform']
    expect(await messageOf(words)).toMatch(/does not know the player ghost/)
  })

  it('insufficient funds', async () => {
    const { url } = await plain(undefined, '5.00')
    expect(await messageOf(usual(url))).toMatch(
      /has 5\.00 EUR, and the audit needs at least 20\.00 EUR: deposit 15\.00 EUR/,
    )
  })

  it.each<[string[], RegExp]>([
    [['frobnicate'], /^Unknown command "frobnicate".*\n\nSee bet-wallet --help\.\n$/],
    [['audit'], /<base-url> is missing: bet-wallet audit <base-url>/],
    [['audit', 'http://a', 'http://b'], /Only one <base-url> is allowed; unexpected: http:\/\/b/],
    [['audit', 'http://a', '--frob'], /^Unknown option '--frob'\n\nSee bet-wallet audit --help\.\n$/],
    [
      ['audit', 'http://a', '--player', 'p', '--currency', 'EUR', '--header', 'secret'],
      /--header must have the form/,
    ],
    [
      ['audit', 'http://a', '--player', 'p', '--currency', 'EUR', '--status', 'x'],
      /--status must have the form/,
    ],
    [
      ['audit', 'http://a', '--player', 'p', '--currency', 'EUR', '--only', 'AU-9999'],
      /there is no case "AU-9999"/,
    ],
    [['audit', 'http://a', '--json', 'no/such/folder/r.json'], /no\/such\/folder\/r\.json cannot be written/],
    [['audit', 'http://a', '--html', '.'], /\. cannot be written: it is a directory/],
    [
      ['audit', 'http://a', '--player', 'p', '--currency', 'EUR', '--json', 'r.json', '--junit', './r.json'],
      /--(?:json|junit) and --(?:json|junit) name the same file: \S+r\.json/,
    ],
    [
      ['simulate', 'http://a', '--players', '2', '--json', 'r.json', '--report', 'r.json'],
      /--(?:json|report) and --(?:json|report) name the same file: \S+r\.json/,
    ],
    [['simulate', 'http://a', '--players', '2', '--chaos', '7'], /--chaos must be/],
    [['simulate', 'http://a', '--players', '0'], /--players must be a list of at least one/],
    [['simulate', 'http://a', '--players', 'none.json'], /--players: none\.json cannot be read: ENOENT/],
    [['simulate', 'ftp://a', '--players', '2'], /<base-url> must be a URL of http or https/],
    [
      ['simulate', 'http://a', '--players', '2', '--settle-command', 'true', '--settle-url', '/s'],
      /--settle-url and --settle-command exclude each other/,
    ],
  ])('%j', async (words, message) => {
    expect(await messageOf(words, {})).toMatch(message)
  })

  it('a settlement that never works', async () => {
    const { url } = await plain()
    const words = [...usual(url), '--only', 'AU-101,AU-502', '--settle-url', '/nowhere']
    expect(await messageOf(words)).toMatch(
      /^Cannot judge: The wallet has accepted a bet, but it cannot be settled: POST \S+\/nowhere failed \(404/,
    )
  })

  it('no case that could be judged', async () => {
    const { url } = await plain()
    const { code, out } = await run([...usual(url), '--only', 'AU-502'], password)
    expect(code).toBe(2)
    expect(out).toContain('PASSED, INCOMPLETE: 0 passed, 0 failed, 1 skipped')
  })

  it('an audit that is stopped by Ctrl+C, after the current case has rolled back its bets', async () => {
    const { url, credentials } = await plain()
    const { username, password: secret } = credentials
    const stopping = server(() => child.kill('SIGINT'))
    const base = await stopping.listen(url)
    const child = spawn(process.execPath, [command, ...usual(base)], {
      env: { ...process.env, BET_WALLET_PASSWORD: secret },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let [out, error] = ['', '']
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      error += text
    })
    const code = await new Promise(resolve => child.on('close', resolve))
    expect(code).toBe(2)
    expect(error).toMatch(estimate)
    expect(out).toContain('  the audit was stopped  AU-')
    const answer = await fetch(`${url}/rollbackbet`, {
      method: 'POST',
      headers: {
        authorization: `Basic ${btoa(`${username}:${secret}`)}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({
        ...{ transactionId: 'probe', betId: 'probe', playerId: 'player-1', type: 'TECHNICAL_ERROR' },
        transactionDate: '2026-11-21T18:00:00Z',
      }),
    })
    expect(await answer.json()).toMatchObject({ balance: 100 })
  })

  it('a user without a password', async () => {
    const words = ['audit', 'http://a', '--player', 'p', '--currency', 'EUR', '--user', 'u']
    expect(await messageOf(words, {})).toMatch(/--user needs a secret: BET_WALLET_PASSWORD/)
  })
})

describe('bet-wallet simulate', () => {
  it('simulates a sportsbook and reconciles: exit code 0', async () => {
    const { url } = await plain()
    const words = ['simulate', url, '--players', 'player-1,player-2', '--user', 'platform', '--bets', '40']
    words.push('--settle-url', '/settlement')
    const { code, out, error } = await run([...words, '--seed', '3', '--json', 'simulation.json'], password)
    expect(code).toBe(0)
    // Without a terminal, the progress is printed in lines, at least one per phase.
    const lines = error.trimEnd().split('\n')
    expect(lines.at(-1)).toBe('Written: simulation.json')
    for (const phase of ['opening', 'betting', 'draining', 'reconciling']) {
      const pattern = new RegExp(`^${phase} +[0-9.]+ m?s  \\d+ of 40 bets  \\d+ requests?`)
      expect(lines.some(line => pattern.test(line))).toBe(true)
    }
    expect(error).not.toContain('\u001b')
    expect(out).toContain('PASSED: the books of 2 players and the wallet agree to the cent.')
    const report = JSON.parse(readFileSync(join(folder, 'simulation.json'), 'utf8')) as {
      passed: boolean
    }
    expect(report.passed).toBe(true)
  })

  it('simulates over https', async () => {
    const url = await secured((await plain()).url)
    const words = ['simulate', url, '--players', 'player-1,player-2', '--user', 'platform', '--bets', '40']
    const { code, out } = await run(words, { ...password, ...authority })
    expect({ code, out }).toMatchObject({ code: 0, out: expect.stringContaining('agree to the cent') })
  })

  it('reads the players from a file, with their expected balances', async () => {
    const { url } = await plain()
    const players = (list: unknown) => {
      writeFileSync(join(folder, 'players.json'), typeof list === 'string' ? list : JSON.stringify(list))
      return run(
        ['simulate', url, '--players', 'players.json', '--user', 'platform', '--bets', '20', '--chaos', '0'],
        password,
      )
    }
    const { code, out } = await players([
      'player-2',
      { playerId: 'player-1', currency: 'EUR', balance: '100.00', sessionId: 's' },
    ])
    expect(code).toBe(0)
    expect(out).toContain('PASSED: the books of 2 players')

    for (const [list, message] of [
      ['{', /^--players: players\.json cannot be read: .*JSON/],
      [{}, /--players must be a list of at least one/],
      [['player-1', { currency: 'EUR' }], /players\[1\]\.playerId must be non-empty text/],
      [[{ playerId: 'player-1', balance: 100 }], /players\[0\]\.balance must be decimal text/],
      [[{ playerId: 'player-1', name: 'Ann' }], /unknown option "players\[0\].name"/],
      [[{ playerId: 'player-1', balance: '1.00' }], /^Cannot start: player-1: .*1\.00/m],
    ] as const) {
      const wrong = await players(list)
      expect(wrong).toMatchObject({ code: 2, out: '', error: expect.stringMatching(message) })
      expect(wrong.error).not.toMatch(/\n +at /)
    }
  })

  it('settles at the given URL, or not at all', async () => {
    const wordsOf = (url: string) => [
      'simulate',
      url,
      '--players',
      'player-1',
      '--user',
      'platform',
      '--bets',
      '60',
      '--seed',
      '1',
    ]
    const elsewhere = await run([...wordsOf((await plain()).url), '--settle-url', '/nowhere'], password)
    expect(elsewhere.code).toBe(2)
    expect(elsewhere.out).toMatch(/^FAILED: no settlement succeeded: see .*--settle-url/m)
    expect(elsewhere.out).toMatch(/^ +Actual +404 /m)
    const without = await run(wordsOf((await plain()).url), password)
    expect(without.code).toBe(0)
    expect(without.out).toMatch(/^ *Answers to settlement +never/m)
  })

  it('has exit code 2 if nothing was judged', async () => {
    const { url } = await plain()
    const words = ['simulate', url, '--players', 'player-1', '--user', 'platform', '--bets', '0']
    const { code, out, error } = await run(words, password)
    expect([code, out]).toEqual([
      2,
      expect.stringMatching(/^FAILED: nothing was judged: no bet was accepted\.$/m),
    ])
    expect(error).not.toContain('NaN')
  })

  it('has exit code 1 if the books differ', async () => {
    const { url } = await plain('rollback-pays-nothing')
    const words = ['simulate', url, '--players', 'player-1,player-2', '--user', 'platform', '--bets', '60']
    const { code, out } = await run([...words, '--seed', '3', '--chaos', '1'], password)
    expect(code).toBe(1)
    expect(out).toContain('FAILED: ')
  })
})
