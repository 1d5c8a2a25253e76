/** `npm start`, `npm run demo` and the servers of the examples, from outside. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { freshDatabase } from '../postgres/fresh-database.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const hasCurl = await promisify(execFile)('curl', ['--version']).then(
  () => true,
  () => false,
)

const started: ChildProcess[] = []
afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL')
})

const folders = mkdtempSync(join(tmpdir(), 'bet-wallet-examples-'))
afterAll(() => rmSync(folders, { recursive: true, force: true, maxRetries: 10 }))
/** PGlite takes seconds to make a database, and many of them where the machine is busy. */
const makingMsMax = 180_000
/** A folder of the express example, made once. */
const made = join(folders, 'made', 'bet_wallet_express')
const emptyFolder = () => mkdtempSync(join(folders, 'data-'))

/** A data folder with an empty database for the example: to make one takes seconds, to copy it does not. */
function freshFolder(name: string): string {
  const folder = emptyFolder()
  cpSync(made, join(folder, name), { recursive: true })
  return folder
}

/** Runs an example as the scripts do: `bet-wallet` is `src`. */
function run(example: string, environment: Record<string, string> = {}) {
  const child = spawn(process.execPath, ['--import', 'tsx', `examples/${example}`], {
    cwd: root,
    env: { ...process.env, DATABASE_URL: '', DATA_FOLDER: join(folders, 'unused'), ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  started.push(child)
  const printed = { out: '', error: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed.out += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    printed.error += text
  })
  const closed = once(child, 'close').then(
    ([code, signal]) => ({ code, signal }) as { code: number | null; signal: string | null },
  )
  return { child, printed, closed }
}

/** Waits until the text is printed. Fails if the process ends before. */
async function until({ child, printed, closed }: ReturnType<typeof run>, text: RegExp): Promise<string> {
  const over = closed.then(() => 'over')
  while (!text.test(printed.out)) {
    if (
      (await Promise.race([once(child.stdout as NonNullable<ChildProcess['stdout']>, 'data'), over])) ===
      'over'
    ) {
      throw new Error(`ended without ${text}: ${printed.out}\n${printed.error}`)
    }
  }
  return printed.out
}

/** What a shell makes of a printed line: only single quotes, since nothing else is in them. */
function parsedByHand(line: string): string[] {
  return [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? '')
}

async function paste(line: string): Promise<{ status: number; body: string }> {
  if (hasCurl) {
    const environment = { ...process.env, NO_PROXY: '*', no_proxy: '*' }
    const { stdout } = await promisify(execFile)('sh', ['-c', line], { env: environment })
    const [head = '', body = ''] = stdout.split('\r\n\r\n')
    return { status: Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1]), body: body.trimEnd() }
  }
  const words = parsedByHand(line)
  const after = (option: string) => words[words.indexOf(option) + 1] ?? ''
  const response = await fetch(words.at(-1) ?? '', {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Basic ${btoa(after('-u'))}` },
    body: after('-d'),
  })
  return { status: response.status, body: await response.text() }
}

/** Pastes what it prints, in its order, and sees that it is answered as the lines above say. */
async function pasteAll(server: ReturnType<typeof run>) {
  const printed = (await until(server, /To begin afresh: .*\n/)).split('\n')
  const lines = printed.filter(line => line.startsWith('curl '))
  const titles = printed.filter(line => line.startsWith('# '))
  expect(titles).toHaveLength(lines.length)
  const answers: { status: number; body: string }[] = []
  for (const line of lines) answers.push(await paste(line))
  return { printed, lines, titles, answers }
}

function expectAsSaid({ titles, answers }: Awaited<ReturnType<typeof pasteAll>>): void {
  for (const [index, { status, body }] of answers.entries()) {
    const [, saidStatus, saidCode = '', saidBalance] =
      /: (\d{3})(?: ([A-Z_]+))?(?:, balance ([\d.]+)$|, since|$)/.exec(titles[index] ?? '') ?? []
    expect(status).toBe(Number(saidStatus))
    if (status === 200) expect(body).toContain(`"balance":${saidBalance},`)
    else expect(body).toContain(`"errorCode":"${saidCode}"`)
  }
}

beforeAll(async () => {
  const making = run('express/server.ts', { PORT: '0', DATA_FOLDER: join(folders, 'made') })
  await until(making, /To begin afresh/)
  making.child.kill('SIGTERM')
  await making.closed
}, makingMsMax)

test('the scripts run what is tested here', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>
  }
  expect(scripts.start).toBe('tsx examples/express/server.ts')
  expect(scripts.demo).toBe('tsx examples/match-day/demo.ts')
})

describe('npm start', () => {
  const fresh = [
    { status: 200, body: '{"balance":70.00,"currency":"EUR","walletTransactionId":"1"}' },
    { status: 200, body: '{"balance":125.50,"currency":"EUR","walletTransactionId":"2"}' },
    { status: 200, body: '{"balance":70.00,"currency":"EUR","walletTransactionId":"3"}' },
    { status: 200, body: '{"balance":100.00,"currency":"EUR","walletTransactionId":"4"}' },
    {
      status: 402,
      body: '{"errorCode":"INSUFFICIENT_FUNDS","description":"amount: insufficient funds"}',
    },
    { status: 200, body: '{"balance":3800,"currency":"JPY","walletTransactionId":"6"}' },
  ]
  /** Each decided as before, with the balance as it is by then. */
  const again = fresh.map(({ status, body }) => ({
    status,
    body: body.replace(/"balance":[\d.]+,"currency":"EUR"/, '"balance":100.00,"currency":"EUR"'),
  }))

  const places = [
    {
      name: 'in a folder',
      async open() {
        const folder = freshFolder('bet_wallet_express')
        return {
          environment: { DATA_FOLDER: folder },
          where: `the folder ${join(folder, 'bet_wallet_express')}`,
        }
      },
    },
    {
      name: 'on a server',
      async open() {
        const { url, drop } = await freshDatabase()
        drops.push(drop)
        return {
          environment: { DATABASE_URL: url },
          where: 'bet_wallet_express on the server that DATABASE_URL names',
        }
      },
    },
  ]
  const drops: (() => Promise<void>)[] = []
  afterEach(async () => {
    for (const drop of drops.splice(0)) await drop()
  })

  test.each(places)(
    '$name: answers as it says; started again after kill -9, nothing is lost',
    async place => {
      const { environment, where } = await place.open()
      const server = run('express/server.ts', { PORT: '0', HOST: '', ...environment })
      const first = await pasteAll(server)
      const [listens] = first.printed
      expect(listens).toMatch(
        /^The wallet listens on http:\/\/127\.0\.0\.1:[1-9]\d*\/wallet and keeps its data in /,
      )
      expect(listens?.endsWith(`${where}.`), listens).toBe(true)
      expect(first.printed).toContain('  anna has 100.00 EUR')
      expect(first.printed).toContain('  kenji has 5000 JPY')
      expect(first.answers).toEqual(fresh)
      expectAsSaid(first)

      // Again: nothing moves. And not without the credentials.
      const [line = ''] = first.lines
      expect(await paste(line)).toEqual(again[0])
      expect((await paste(line.replace('demo-secret', 'wrong'))).status).toBe(401)

      server.child.kill('SIGKILL')
      await server.closed
      const second = await pasteAll(run('express/server.ts', { PORT: '0', ...environment }))
      expect(second.printed).toContain('  anna has 100.00 EUR')
      expect(second.printed).toContain('  kenji has 3800 JPY')
      expect(second.answers).toEqual(again)
    },
  )

  test.each(['SIGINT', 'SIGTERM'] as const)('ends by %s, with what is under way answered', async signal => {
    const DATA_FOLDER = freshFolder('bet_wallet_express')
    const server = run('express/server.ts', { PORT: '0', DATA_FOLDER })
    const [url = ''] = /http:\S+/.exec(await until(server, /Ctrl\+C/)) ?? []
    // A connection kept alive does not hold it.
    expect((await fetch(`${url}/placebet`)).status).toBe(405)
    server.child.kill(signal)
    expect(await server.closed).toEqual({ code: 0, signal: null })
    expect(server.printed.error).toBe('')
    const folder = join(DATA_FOLDER, 'bet_wallet_express')
    expect(readdirSync(join(folder, 'processes'))).toEqual([])
    expect(existsSync(join(folder, 'pglite', 'postmaster.pid'))).toBe(false)
  })

  test('a second process on the same folder is refused, and the first goes on', async () => {
    const DATA_FOLDER = freshFolder('bet_wallet_express')
    const folder = join(DATA_FOLDER, 'bet_wallet_express')
    const first = run('express/server.ts', { PORT: '0', DATA_FOLDER })
    await until(first, /To begin afresh/)
    const second = run('express/server.ts', { PORT: '0', DATA_FOLDER })
    expect((await second.closed).code).toBe(1)
    expect(second.printed.error).toContain(
      `${folder} is in use by process ${first.child.pid}: stop it, or name another folder in DATA_FOLDER.`,
    )
    expect(readdirSync(join(folder, 'processes'))).toEqual([String(first.child.pid)])
    expect((await pasteAll(first)).answers).toEqual(fresh)
  })

  test(
    'a start that was killed while it made the database is made up for',
    async () => {
      const DATA_FOLDER = emptyFolder()
      const killed = run('express/server.ts', { PORT: '0', DATA_FOLDER })
      await until(killed, /Making a database/)
      const data = join(DATA_FOLDER, 'bet_wallet_express', 'pglite')
      while (!existsSync(join(data, 'PG_VERSION'))) await new Promise(resolve => setImmediate(resolve))
      killed.child.kill('SIGKILL')
      await killed.closed
      expect((await pasteAll(run('express/server.ts', { PORT: '0', DATA_FOLDER }))).answers).toEqual(fresh)
    },
    makingMsMax,
  )

  test('says that no server answers at DATABASE_URL, and keeps its password', async () => {
    const server = run('express/server.ts', {
      PORT: '0',
      DATABASE_URL: 'postgres://anna:hidden@127.0.0.1:1/x',
    })
    expect((await server.closed).code).toBe(1)
    expect(server.printed.error).toMatch(/^The server that DATABASE_URL names cannot be used: .*ECONNREFUSED/)
    expect(server.printed.error).not.toContain('hidden')
  })

  test.each(['abc', '-1', '65536', '3000.5', ' ', '1e3'])('says what is wrong with PORT=%j', async port => {
    const server = run('express/server.ts', { PORT: port })
    expect((await server.closed).code).toBe(1)
    expect(server.printed.error).toBe(
      `PORT must be a whole number from 0 to 65535, and is ${JSON.stringify(port)}\n`,
    )
    expect(server.printed.out).toBe('')
  })

  test('says that a port is in use', async () => {
    const other = createServer()
    other.listen(0, '127.0.0.1')
    await once(other, 'listening')
    const { port } = other.address() as AddressInfo
    const server = run('express/server.ts', { PORT: `${port}`, DATA_FOLDER: join(folders, 'made') })
    expect((await server.closed).code).toBe(1)
    expect(server.printed.error).toBe(`Port ${port} is in use. Another one: PORT=3001 npm start\n`)
    other.close()
  })

  test('says that there is no such host', async () => {
    const server = run('express/server.ts', {
      PORT: '0',
      HOST: '203.0.113.1',
      DATA_FOLDER: join(folders, 'made'),
    })
    expect((await server.closed).code).toBe(1)
    expect(server.printed.error).toMatch(/^Cannot listen on 203\.0\.113\.1, port 0: .*\n$/)
  })
})

describe.each(['koa/server.ts', 'node-http/server.ts'])('%s', example => {
  test('serves, and ends by SIGTERM', async () => {
    // On the build: this tsconfig has no paths to `src`.
    expect(existsSync(`${root}/dist/index.js`), 'run `npm test`, which builds first').toBe(true)
    const server = run(example, { PORT: '0', TSX_TSCONFIG_PATH: 'examples/tsconfig.json' })
    const [, port] = /port: (\d+)/.exec(await until(server, /port: \d+/)) ?? []
    const response = await fetch(`http://127.0.0.1:${port}/wallet/placebet`)
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST'])
    await response.arrayBuffer()
    server.child.kill('SIGTERM')
    expect(await server.closed).toEqual({ code: 0, signal: null })
  })
})

describe('examples/existing-pam', () => {
  test('runs on a folder, answers as it says, and goes on after kill -9', async () => {
    const DATA_FOLDER = freshFolder('existing_pam')
    const server = run('existing-pam/server.ts', { PORT: '0', DATA_FOLDER })
    const first = await pasteAll(server)
    expect(first.printed).toContain('  A-1001 has 100.00 EUR by 1 bookings')
    expectAsSaid(first)
    server.child.kill('SIGKILL')
    await server.closed
    const second = await pasteAll(run('existing-pam/server.ts', { PORT: '0', DATA_FOLDER }))
    expect(second.printed).toContain('  A-1001 has 70.00 EUR by 4 bookings')
    expect(second.answers.map(({ status }) => status)).toEqual(first.answers.map(({ status }) => status))
    for (const { status, body } of second.answers)
      if (status === 200) expect(body).toContain('"balance":70.00,')
  })
})

describe('npm run demo', () => {
  test('plays the match day twice alike, and its books balance', async () => {
    const DATA_FOLDER = freshFolder('bet_wallet_match_day')
    const first = run('match-day/demo.ts', { DATA_FOLDER })
    expect(await first.closed).toEqual({ code: 0, signal: null })
    const demo = run('match-day/demo.ts', { DATA_FOLDER })
    expect(await demo.closed).toEqual({ code: 0, signal: null })
    expect(demo.printed.error).toBe('')
    expect(demo.printed.out).toBe(first.printed.out)
    const lines = demo.printed.out.split('\n')
    for (const line of lines) expect(line.length, line).toBeLessThanOrEqual(110)

    // Call, answer and balance of every row, without the words.
    const rows = lines
      .filter(line => /^ ?\d+ {2}/.test(line))
      .map(line =>
        line
          .slice(55)
          .split(/\s{2,}/)
          .join(' | '),
      )
    expect(rows).toEqual([
      'placebet t-1 | 200 | 70.00 EUR',
      'placebet t-1 | 200 | 70.00 EUR',
      'placebet t-2 | 200 | 3000 JPY',
      'placebet t-3 | 402 INSUFFICIENT_FUNDS | 3000 JPY',
      'placebet t-4 | none in time | 70.00 EUR',
      'rollbackbet r-4 | 200 | 70.00 EUR',
      'placebet t-4 | 400 INVALID_BET | 70.00 EUR',
      ' | 70.00 EUR', // stopped and started again
      'placebet t-4 | 400 INVALID_BET | 70.00 EUR',
      'placebet t-5 | 401 AUTHENTICATION_FAILED | 70.00 EUR',
      'settlement s-1 | 200 | 125.50 EUR',
      'unsettlement u-1 | 200 | 70.00 EUR',
      'settlement s-2 | 200 | 70.00 EUR',
      'settlement s-3 | 200 | 12000 JPY',
      "the PAM's own | 500 JPY",
      'unsettlement u-2 | 402 INSUFFICIENT_FUNDS | 500 JPY',
      "the PAM's own | 20500 JPY",
      'unsettlement u-2 | 402 INSUFFICIENT_FUNDS | 20500 JPY',
      'placebet t-6 | 200 | 45.00 EUR',
      'settlement s-6 | 200 | 70.00 EUR',
      'unsettlement u-6 | 200 | 45.00 EUR',
      'settlement s-7 | 200 | 92.25 EUR',
    ])

    // The proof, read from what is printed: 100.00 and so on, in hundredths.
    const [story = '', season = ''] = demo.printed.out.split('\nThe rest of the season')
    const books = story.slice(story.indexOf('The books')).split('\n\n')
    expect(books).toHaveLength(4) // the heading, two players, the verdict
    for (const [book, closing] of [
      [books[1], 9225],
      [books[2], 20500],
    ] as const) {
      const amounts = (book ?? '').split('\n').flatMap(line => {
        const [, label = '', amount = ''] = /^ {2}(\S.*?) {2,}(-?[\d.]+)(?: |$)/.exec(line) ?? []
        return label === '' ? [] : [[label, Number(amount.replace('.', ''))] as const]
      })
      const summed = amounts.findIndex(([label]) => label === 'sum')
      expect(amounts.slice(0, summed).reduce((total, [, amount]) => total + amount, 0)).toBe(closing)
      expect(amounts[summed + 1]).toEqual(['closing balance', closing])
      expect(book).toMatch(/closing balance .* equal$/m)
    }
    expect(books[2]).toMatch(/owed to the platform +9000/)
    expect(story.trimEnd().split('\n').at(-1)).toBe('The books balance.')
    expect(season).toMatch(/ [1-9]\d* bets came after their rollback and took nothing\n/)
    expect(season).toMatch(/\n {2}0 differences .*\n\nReconciled to the cent\.\n$/)
  })
})
