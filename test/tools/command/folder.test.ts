/** The look-ups and the reconciliation on the folder of `npm start`: while it runs, and when it has ended. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectGoodPage } from '../html/page-rules.js'
import { runCommand } from './running.js'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'bet-wallet-folder-'))
const data = join(folder, 'wallet-data')
const report = join(folder, 'platform.csv')
const page = join(folder, 'page.html')
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }))

const environment = { BET_WALLET_PASSWORD: 'demo-secret', BET_WALLET_DATABASE_URL: '' }
const run = (words: string) => runCommand(words.split(' '), { environment })

const wallet = spawn(process.execPath, ['--import', 'tsx', 'examples/express/server.ts'], {
  cwd: root,
  env: { ...process.env, PORT: '0', DATABASE_URL: '', DATA_FOLDER: data },
  stdio: ['ignore', 'pipe', 'inherit'],
})
afterAll(() => wallet.kill('SIGKILL'))
let printed = ''
let url = ''

beforeAll(async () => {
  wallet.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text
  })
  while (!printed.includes('Ctrl+C')) await once(wallet.stdout, 'data')
  url = /listens on (\S+)/.exec(printed)?.[1] ?? ''
  const body =
    '{"transactionId":"place-1","betId":"bet-1","playerId":"anna","sessionId":"s","amount":30,' +
    '"currency":"EUR","betType":"SINGLE","transactionDate":"2026-11-21T18:00:00Z"}'
  const authorization = `Basic ${btoa('platform:demo-secret')}`
  const headers = { 'content-type': 'application/json', authorization }
  expect((await fetch(`${url}/placebet`, { method: 'POST', headers, body })).status).toBe(200)
}, 180_000)

/** The range of the run, as the simulation has printed it. */
let reconcileWords = ''
const compareWith = (file: string) => run(`${reconcileWords.replace(report, file)} --folder ${data}`)

const lookups = [
  ['bet bet-1', 'Taken once, for 30.00 EUR; not settled.'],
  ['transaction place-1', 'place-1'],
  ['player anna', 'anna'],
  ['owed', 'Nothing is owed to the platform.'],
] as const

describe('while the wallet runs', () => {
  test('npm start prints the command, which tells the story of the bet', async () => {
    const [, words = ''] = /npx bet-wallet (bet bet-1 --folder .*)/.exec(printed) ?? []
    const { code, out, error } = await run(words)
    expect([code, error]).toEqual([0, ''])
    expect(out).toContain('Taken once, for 30.00 EUR; not settled.')
  })

  test.each(lookups)('%s', async (words, text) => {
    const { code, out } = await run(`${words} --folder ${data}`)
    expect(code).toBe(0)
    expect(out).toContain(text)
  })

  test('the simulated platform’s report is reconciled: EQUAL', async () => {
    const simulated = await run(
      `simulate ${url} --players anna,kenji --user platform --bets 60 --seed 1 --chaos 0.5 --report ${report} --html ${page}`,
    )
    expectGoodPage(readFileSync(page, 'utf8'))
    expect(readFileSync(page, 'utf8')).not.toContain('demo-secret')
    expect(simulated.out).toContain('PASSED')
    reconcileWords = /^Compare: npx bet-wallet (reconcile .*)$/m.exec(simulated.out)?.[1] ?? ''
    const { code, out } = await compareWith(report)
    expect(out).toMatch(/^EQUAL: /m)
    expect(code).toBe(0)
  }, 120_000)

  test('a difference that is planted in the report is named', async () => {
    const lines = readFileSync(report, 'utf8').split('\n')
    const index = lines.findIndex(line => /^placebet,.*,accepted,/.test(line))
    const [, transactionId = ''] = lines[index]?.split(',') ?? []
    writeFileSync(join(folder, 'planted.csv'), lines.toSpliced(index, 1).join('\n'))
    const { code, out } = await compareWith(join(folder, 'planted.csv'))
    expect(code).toBe(1)
    expect(out).toMatch(/^DIFFERENT: 1 difference/m)
    expect(out).toContain(transactionId)
  })

  test('only who can read the folder may ask the wallet, and may only read', async () => {
    const lock = join(
      data,
      'bet_wallet_express',
      'processes',
      `${wallet.pid}@${encodeURIComponent(hostname())}`,
    )
    const { port, token } = JSON.parse(readFileSync(lock, 'utf8'))
    expect(statSync(lock).mode & 0o077).toBe(0)
    const ask = (authorization: string, text: string) =>
      fetch(`http://127.0.0.1:${port}/`, {
        ...{ method: 'POST', headers: { authorization }, body: JSON.stringify({ text }) },
      })
    expect((await ask(`Bearer ${token.replace(/^./, 'x')}`, 'SELECT 1')).status).toBe(401)
    expect((await ask('', 'SELECT 1')).status).toBe(401)
    const changed = await ask(`Bearer ${token}`, 'UPDATE bet_wallet_express.players SET balance = 0')
    expect(await changed.json()).toMatchObject({ code: '25006' })
    // A statement that ends the database transaction is one of its own: it has no second one behind it.
    expect((await ask(`Bearer ${token}`, 'COMMIT; DELETE FROM bet_wallet_express.players')).status).toBe(400)
    expect((await run(`player anna --folder ${data}`)).out).toMatch(/^Player anna/)
  })

  test.each([
    ['bet bet-1', 'The stake of 30.00 EUR was debited.'],
    ['player anna --limit 1000', '<title>Balance</title>'],
  ])('%s --html', async (words, text) => {
    expect((await run(`${words} --folder ${data} --html ${page}`)).code).toBe(0)
    expectGoodPage(readFileSync(page, 'utf8'))
    expect(readFileSync(page, 'utf8')).toContain(text)
  })

  test('transaction by amount and time', async () => {
    const { code, out } = await run(
      `transaction --amount 30.00 --around ${new Date().toISOString().slice(0, 16)} --player anna --folder ${data}`,
    )
    expect([code, out.includes(' place-1 ')]).toEqual([0, true])
  })

  test('a bet that is unknown: exit code 1', async () => {
    expect((await run(`bet bet-9 --folder ${data}`)).code).toBe(1)
  })
})

describe('when the wallet has ended', () => {
  beforeAll(async () => {
    wallet.kill('SIGTERM')
    if (wallet.exitCode === null) await once(wallet, 'exit')
  })

  test.each(lookups)('%s', async (words, text) => {
    const { code, out } = await run(`${words} --folder ${data}`)
    expect(code).toBe(0)
    expect(out).toContain(text)
  })

  test('two at once are answered', async () => {
    const all = await Promise.all([run(`bet bet-1 --folder ${data}`), run(`bet bet-1 --folder ${data}`)])
    for (const { code, out, error } of all)
      expect([code, error, out.slice(0, 9)]).toEqual([0, '', 'Bet bet-1'])
  })

  test('the report is still EQUAL', async () => {
    expect((await compareWith(report)).out).toMatch(/^EQUAL: /m)
  })

  test.each([
    ['an empty folder', 'bet b --folder EMPTY', 'holds no database'],
    ['several databases', 'bet b --folder SEVERAL', 'holds several databases'],
    ['a database URL too', 'bet b --folder EMPTY --database-url postgres://h/d', '--folder excludes'],
    ['a config file too', 'bet b --folder EMPTY --config x.mjs', '--folder excludes'],
  ])('%s: exit code 2, and the problem', async (_, words, problem) => {
    const [empty, several] = [join(folder, 'empty'), join(folder, 'several')]
    for (const path of [empty, join(several, 'a', 'pglite'), join(several, 'b', 'pglite')])
      mkdirSync(path, { recursive: true })
    const { code, error } = await run(words.replace('EMPTY', empty).replace('SEVERAL', several))
    expect(code).toBe(2)
    expect(error).toContain(problem)
  })
})
