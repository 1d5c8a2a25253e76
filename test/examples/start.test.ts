/** `npm start`, `npx tsx examples/match-day/demo.ts` and the servers of the examples, as processes. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { exposureWarning } from '../../examples/listen-address.js'
import { isMysql, noServer, startServer } from '../mysql/engine.js'
import { freshDatabase } from '../postgres/fresh-database.js'
import { until as holds } from '../until.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const hasCurl = await promisify(execFile)('curl', ['--version']).then(
  () => true,
  () => false,
)

const mysqlName = isMysql ? 'MySQL' : 'MariaDB'

const started: ChildProcess[] = []
afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL')
})

const folders = mkdtempSync(join(tmpdir(), 'bet-wallet-examples-'))
afterAll(() => rmSync(folders, { recursive: true, force: true, maxRetries: 10 }))
/** PGlite takes seconds to create a database, and longer on a busy machine. */
const creationMsMax = 180_000
/** A data folder of the express example, created once. */
const template = join(folders, 'template', 'bet_wallet_express')
const emptyFolder = () => mkdtempSync(join(folders, 'data-'))

/** A data folder with an empty database for the example. Copied, since creating one takes seconds. */
function freshFolder(name: string): string {
  const folder = emptyFolder()
  cpSync(template, join(folder, name), { recursive: true })
  return folder
}

/** Runs an example as the scripts do, with `bet-wallet` from `src`. */
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

/** Waits until the text is printed. Throws if the process ends before. */
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

/** The words of a printed command, as a shell splits them: only single quotes occur. */
function wordsOf(line: string): string[] {
  return [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? '')
}

async function runCommand(line: string): Promise<{ status: number; body: string }> {
  if (hasCurl) {
    const environment = { ...process.env, NO_PROXY: '*', no_proxy: '*' }
    const { stdout } = await promisify(execFile)('sh', ['-c', line], { env: environment })
    const [head = '', body = ''] = stdout.split('\r\n\r\n')
    return { status: Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1]), body: body.trimEnd() }
  }
  const words = wordsOf(line)
  const after = (option: string) => words[words.indexOf(option) + 1] ?? ''
  const response = await fetch(words.at(-1) ?? '', {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Basic ${btoa(after('-u'))}` },
    body: after('-d'),
  })
  return { status: response.status, body: await response.text() }
}

/** Runs every printed command in order. Returns the output and the answers. */
async function runAll(server: ReturnType<typeof run>) {
  const printed = (await until(server, /Ctrl\+C.*\n/)).split('\n')
  const lines = printed.filter(line => line.startsWith('curl '))
  const titles = printed.filter(line => line.startsWith('# '))
  expect(titles).toHaveLength(lines.length)
  const answers: { status: number; body: string }[] = []
  for (const line of lines) answers.push(await runCommand(line))
  return { printed, lines, titles, answers }
}

function expectAnnounced({ titles, answers }: Awaited<ReturnType<typeof runAll>>): void {
  for (const [index, { status, body }] of answers.entries()) {
    const [, expectedStatus, expectedCode = '', expectedBalance] =
      /: (\d{3})(?: ([A-Z_]+))?(?:, balance ([\d.]+)$|, since|$)/.exec(titles[index] ?? '') ?? []
    expect(status).toBe(Number(expectedStatus))
    if (status === 200) expect(body).toContain(`"balance":${expectedBalance},`)
    else expect(body).toContain(`"errorCode":"${expectedCode}"`)
  }
}

/** The lines with which the lookups find the records, as they are printed. */
async function expectRecords(printed: readonly string[], DATABASE_URL: string): Promise<void> {
  const begin = printed.findIndex(line => line.startsWith('Its records'))
  const script = printed.slice(begin + 1, begin + 3).join('\n')
  const own = script.replace('npx bet-wallet', `"${process.execPath}" src/tools/command/bin.cjs`)
  const env = { ...process.env, BET_WALLET_DATABASE_URL: '', DATABASE_URL }
  const { stdout } = await promisify(execFile)('sh', ['-c', own], { cwd: root, env })
  expect(stdout).toMatch(/^KNOWN: balance 100\.00 EUR; /m)
}

beforeAll(async () => {
  const creating = run('express/server.ts', { PORT: '0', DATA_FOLDER: join(folders, 'template') })
  await until(creating, /Ctrl\+C/)
  creating.child.kill('SIGTERM')
  await creating.closed
}, creationMsMax)

test('given package.json, then npm start runs the example that is tested here', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>
  }
  expect(scripts.start).toBe('tsx examples/express/server.ts')
})

describe('given npm start', () => {
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
  /** The same decisions, with the current balance. */
  const replayed = fresh.map(({ status, body }) => ({
    status,
    body: body.replace(/"balance":[\d.]+,"currency":"EUR"/, '"balance":100.00,"currency":"EUR"'),
  }))

  const reference = /"walletTransactionId":"(\d+)"/
  const idOf = (answer: { body: string } | undefined) => reference.exec(answer?.body ?? '')?.[1]
  const withoutIds = (answers: typeof fresh) =>
    answers.map(({ status, body }) => ({
      status,
      body: body.replace(reference, '"walletTransactionId":"…"'),
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
    // A server of its own: the schema has a fixed name.
    ...(noServer === null ? [{ name: `on ${mysqlName}`, open: openMariadb }] : []),
  ]
  if (noServer !== null) test.skip(`when it runs on ${mysqlName} (skipped: ${noServer})`)

  async function openMariadb() {
    const server = await startServer()
    drops.push(() => server.stop())
    const { host, port, user, password } = server.config
    return {
      environment: { DATABASE_URL: `mysql://${user}:${password}@${host}:${port}/` },
      where: 'bet_wallet_express on the server that DATABASE_URL names',
    }
  }
  const drops: (() => Promise<void>)[] = []
  afterEach(async () => {
    for (const drop of drops.splice(0)) await drop()
  })

  test.each(places)(
    'when it runs $name, then the calls are answered as announced, and no data is lost by kill -9',
    async place => {
      const { environment, where } = await place.open()
      const server = run('express/server.ts', { PORT: '0', HOST: '', ...environment })
      const first = await runAll(server)
      const [listens] = first.printed
      expect(listens).toMatch(
        /^The wallet listens on http:\/\/127\.0\.0\.1:[1-9]\d*\/wallet and keeps its data in /,
      )
      expect(listens?.endsWith(`${where}.`), listens).toBe(true)
      expect(first.printed).toContain('  anna has 100.00 EUR')
      expect(first.printed).toContain('  kenji has 5000 JPY')
      expect(withoutIds(first.answers)).toEqual(withoutIds(fresh))
      // PostgreSQL counts its references. The references of MySQL are made in the process.
      if (place.name !== `on ${mysqlName}`) expect(first.answers).toEqual(fresh)
      expectAnnounced(first)
      const { DATABASE_URL = '' } = environment as { DATABASE_URL?: string }
      if (DATABASE_URL !== '') await expectRecords(first.printed, DATABASE_URL)

      // A retry changes nothing, and wrong credentials are rejected.
      const [line = ''] = first.lines
      const again = await runCommand(line)
      expect(withoutIds([again])).toEqual(withoutIds(replayed.slice(0, 1)))
      expect(idOf(again)).toBe(idOf(first.answers[0]))
      expect((await runCommand(line.replace('demo-secret', 'wrong'))).status).toBe(401)

      server.child.kill('SIGKILL')
      await server.closed
      // No line per call: the last one is still that of the start.
      expect(server.printed.out).toMatch(/Ctrl\+C stops the wallet; [^\n]*\n$/)
      const second = await runAll(run('express/server.ts', { PORT: '0', ...environment }))
      expect(second.printed).toContain('  anna has 100.00 EUR')
      expect(second.printed).toContain('  kenji has 3800 JPY')
      expect(withoutIds(second.answers)).toEqual(withoutIds(replayed))
      expect(second.answers.map(idOf)).toEqual(first.answers.map(idOf))
    },
  )

  test('when a button of its page is pressed, then the call reaches the wallet, and the page has the bet', async () => {
    const server = run('express/server.ts', { PORT: '0', DATA_FOLDER: freshFolder('bet_wallet_express') })
    const [, origin] = /A page to try it: (\S+)\//.exec(await until(server, /Ctrl\+C.*\n/)) ?? []
    const form = new URLSearchParams({ playerId: 'anna', stake: '12.50' })
    const answer = await fetch(`${origin}/try/lose-the-answer`, { method: 'POST', body: form })
    const page = await answer.text()
    expect(page).toContain('Authorization: Basic ')
    expect(page).toContain('Taken once, for 12.50 EUR; rolled back, the stake was returned.')
    expect(page).toContain('<h3>anna: 100.00 EUR</h3>')
    const deposited = new URLSearchParams({ playerId: 'anna', amount: '250.5' })
    const later = await fetch(`${origin}/try/deposit`, { method: 'POST', body: deposited })
    expect(await later.text()).toContain('<h3>anna: 350.50 EUR</h3>')
    server.child.kill('SIGTERM')
    expect(await server.closed).toEqual({ code: 0, signal: null })
  })

  test('when it listens for other machines, then it serves no page', async () => {
    const DATA_FOLDER = freshFolder('bet_wallet_express')
    const server = run('express/server.ts', { PORT: '0', HOST: '0.0.0.0', DATA_FOLDER })
    const printed = await until(server, /Ctrl\+C.*\n/)
    expect(printed).not.toContain('A page to try it')
    const port = /http:\/\/0\.0\.0\.0:(\d+)/.exec(printed)?.[1]
    expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(404)
    server.child.kill('SIGTERM')
    await server.closed
  })

  test('when it runs with INTERNAL_PORT, then it answers probes, exports metrics, and with LOG_CALLS prints each call in one line', async () => {
    const DATA_FOLDER = freshFolder('bet_wallet_express')
    const environment = { PORT: '0', INTERNAL_PORT: '0', LOG_CALLS: '1', DATA_FOLDER }
    const server = run('express/server.ts', environment)
    const { lines, printed } = await runAll(server)
    const [, internal = ''] = /^Health and metrics: (http:\S+)\/livez,/m.exec(printed.join('\n')) ?? []
    await runCommand((lines[0] ?? '').replace('demo-secret', 'wrong'))
    const log = (await until(server, /AUTHENTICATION_FAILED/))
      .split('\n')
      .filter(line => /^\d{4}-.*Z /.test(line))
    const ids = (n: string) => `{"transactionId":"${n}-1","betId":"bet-1","playerId":"anna"}`
    expect(log.map(line => line.replace(/^\S+ | [\d.]+ ms$/g, ''))).toEqual([
      `placebet ${ids('place')} ACCEPTED, balance 70.00 EUR`,
      `settlement ${ids('settle')} ACCEPTED, balance 125.50 EUR`,
      `unsettlement ${ids('unsettle')} ACCEPTED, balance 70.00 EUR`,
      `rollbackbet ${ids('rollback')} ACCEPTED, balance 100.00 EUR`,
      'placebet {"transactionId":"place-2","betId":"bet-2","playerId":"anna"} INSUFFICIENT_FUNDS (INSUFFICIENT_FUNDS)',
      'placebet {"transactionId":"place-3","betId":"bet-3","playerId":"kenji"} ACCEPTED, balance 3800 JPY',
      '"POST /placebet" 401 AUTHENTICATION_FAILED (Authentication failed)',
    ])
    const get = async (path: string) => {
      const response = await fetch(internal + path)
      return { status: response.status, text: await response.text() }
    }
    expect(await get('/livez')).toMatchObject({ status: 200 })
    expect(await get('/readyz')).toMatchObject({
      status: 200,
      text: expect.stringMatching(/^ready; durability: alone: .+\n$/),
    })
    expect((await get('/metrics')).text).toContain(
      'bet_wallet_requests_total{operation="settlement",reason="ACCEPTED"} 1',
    )
    server.child.kill('SIGTERM')
    expect(await server.closed).toEqual({ code: 0, signal: null })
    expect(server.printed.out).toMatch(
      /SIGTERM: no new calls\. None is in flight\.\nClosing the database\.\n$/,
    )
  })

  test.each(['SIGINT', 'SIGTERM'] as const)(
    'when it receives %s, then it closes the database and exits with 0',
    async signal => {
      const DATA_FOLDER = freshFolder('bet_wallet_express')
      const server = run('express/server.ts', { PORT: '0', DATA_FOLDER })
      const [url = ''] = /http:\S+/.exec(await until(server, /Ctrl\+C/)) ?? []
      // A kept-alive connection does not delay the exit.
      expect((await fetch(`${url}/placebet`)).status).toBe(405)
      server.child.kill(signal)
      expect(await server.closed).toEqual({ code: 0, signal: null })
      expect(server.printed.error).toBe('')
      const folder = join(DATA_FOLDER, 'bet_wallet_express')
      expect(readdirSync(join(folder, 'processes'))).toEqual([])
      expect(existsSync(join(folder, 'pglite', 'postmaster.pid'))).toBe(false)
    },
  )

  test('when a second process uses the same folder, then it is refused, and the first continues', async () => {
    const DATA_FOLDER = freshFolder('bet_wallet_express')
    const folder = join(DATA_FOLDER, 'bet_wallet_express')
    const first = run('express/server.ts', { PORT: '0', DATA_FOLDER })
    await until(first, /Ctrl\+C/)
    const second = run('express/server.ts', { PORT: '0', DATA_FOLDER })
    expect((await second.closed).code).toBe(1)
    expect(second.printed.error).toContain(
      `${folder} is in use by process ${first.child.pid}: stop it, or use another folder.`,
    )
    expect(readdirSync(join(folder, 'processes'))).toEqual([
      `${first.child.pid}@${encodeURIComponent(hostname())}`,
    ])
    expect((await runAll(first)).answers).toEqual(fresh)
  })

  test(
    'when it was killed while it created the database, then the next start creates it again',
    async () => {
      const DATA_FOLDER = emptyFolder()
      const killed = run('express/server.ts', { PORT: '0', DATA_FOLDER })
      await until(killed, /Creating a database/)
      const data = join(DATA_FOLDER, 'bet_wallet_express', 'pglite')
      await holds(() => existsSync(join(data, 'PG_VERSION')))
      killed.child.kill('SIGKILL')
      await killed.closed
      expect((await runAll(run('express/server.ts', { PORT: '0', DATA_FOLDER }))).answers).toEqual(fresh)
    },
    creationMsMax,
  )

  test.each([
    ['127.0.0.1', null],
    ['127.1.2.3', null],
    ['::1', null],
    ['::ffff:127.0.0.1', null],
    ['0.0.0.0', /listens on 0\.0\.0\.0, and its password is public: demo-secret/],
    ['::', /listens on ::, and/],
    ['1.127.0.0', /listens on 1\.127\.0\.0, and/],
  ])('when it listens on %s, then it warns if others can reach it', (address, warning) => {
    if (warning === null) expect(exposureWarning(address)).toBeNull()
    else expect(exposureWarning(address)).toMatch(warning)
  })

  /** Servers that listen on a loopback address, and believe that it is another one. */
  const exposed = `--import data:text/javascript,${encodeURIComponent(`
    import { Server } from 'node:net'
    const { address } = Server.prototype
    Server.prototype.address = function () { return { ...address.call(this), address: '0.0.0.0' } }`)}`

  test.each([
    ['express/server.ts', 'bet_wallet_express'],
    ['existing-pam/server.ts', 'existing_pam'],
  ])('when others can reach it, then %s warns before it prints its calls', async (example, name) => {
    const server = run(example, { PORT: '0', DATA_FOLDER: freshFolder(name), NODE_OPTIONS: exposed })
    await until(server, /Ctrl\+C/)
    expect(server.printed.error).toBe(`${exposureWarning('0.0.0.0')}\n\n`)
  })

  test.each(['abc', '-1', '65536', '3000.5', ' ', '1e3'])(
    'when PORT is %j, then the error names the valid range',
    async port => {
      const server = run('express/server.ts', { PORT: port })
      expect((await server.closed).code).toBe(1)
      expect(server.printed.error).toBe(
        `PORT must be a whole number from 0 to 65535, but is ${JSON.stringify(port)}\n`,
      )
      expect(server.printed.out).toBe('')
    },
  )

  test.each(['PORT', 'INTERNAL_PORT'])(
    'when %s is in use, then the error says so, and no database was made',
    async name => {
      const other = createServer()
      other.listen(0, '127.0.0.1')
      await once(other, 'listening')
      const { port } = other.address() as AddressInfo
      const DATA_FOLDER = emptyFolder()
      const server = run('express/server.ts', { PORT: '0', [name]: `${port}`, DATA_FOLDER })
      expect((await server.closed).code).toBe(1)
      const another = name === 'PORT' ? 3001 : 9464
      expect(server.printed).toEqual({
        ...{ out: '', error: `Port ${port} is in use. Choose another: ${name}=${another} npm start\n` },
      })
      expect(readdirSync(DATA_FOLDER)).toEqual([])
      other.close()
    },
  )

  test('when the host does not exist, then the error says so', async () => {
    const server = run('express/server.ts', {
      PORT: '0',
      HOST: '203.0.113.1',
      DATA_FOLDER: join(folders, 'template'),
    })
    expect((await server.closed).code).toBe(1)
    expect(server.printed.error).toMatch(/^Cannot listen on 203\.0\.113\.1, port 0: .*\n$/)
  })
})

describe.each(['koa/server.ts', 'node-http/server.ts'])('given examples/%s', example => {
  test('when it is started, then it answers calls, and exits with 0 on SIGTERM', async () => {
    // With the build: this tsconfig has no paths to `src`.
    expect(existsSync(`${root}/dist/index.js`), 'run `npm test`, which builds first').toBe(true)
    const server = run(example, {
      ...{ PORT: '0', INTERNAL_PORT: '0', TSX_TSCONFIG_PATH: 'examples/tsconfig.json' },
    })
    const [, port] = /wallet .* port: (\d+)/.exec(await until(server, /wallet .* port: \d+/)) ?? []
    const [, health] = /Health .* port: (\d+)/.exec(await until(server, /Health .* port: \d+/)) ?? []
    expect((await fetch(`http://127.0.0.1:${health}/readyz`)).status).toBe(200)
    const response = await fetch(`http://127.0.0.1:${port}/wallet/placebet`)
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST'])
    await response.arrayBuffer()
    server.child.kill('SIGTERM')
    expect(await server.closed).toEqual({ code: 0, signal: null })
  })
})

describe('given examples/existing-pam', () => {
  test('when it runs on a folder, then the calls are answered as announced, and no data is lost by kill -9', async () => {
    const DATA_FOLDER = freshFolder('existing_pam')
    const server = run('existing-pam/server.ts', { PORT: '0', DATA_FOLDER })
    const first = await runAll(server)
    expect(first.printed).toContain('  A-1001 has 100.00 EUR by 1 bookings')
    expectAnnounced(first)
    server.child.kill('SIGKILL')
    await server.closed
    const second = await runAll(run('existing-pam/server.ts', { PORT: '0', DATA_FOLDER }))
    expect(second.printed).toContain('  A-1001 has 70.00 EUR by 4 bookings')
    expect(second.answers.map(({ status }) => status)).toEqual(first.answers.map(({ status }) => status))
    for (const { status, body } of second.answers)
      if (status === 200) expect(body).toContain('"balance":70.00,')
  })
})

describe.skipIf(noServer !== null)(
  `given examples/existing-pam-mysql${noServer === null ? '' : ` (skipped: ${noServer})`}`,
  () => {
    test(`when it runs on ${mysqlName}, then the calls are answered as announced`, async () => {
      const server = await startServer()
      try {
        const { host, port, user, password } = server.config
        const DATABASE_URL = `mysql://${user}:${password}@${host}:${port}/`
        const pam = run('existing-pam-mysql/server.ts', { PORT: '0', HOST: '', DATABASE_URL })
        expectAnnounced(await runAll(pam))
        pam.child.kill('SIGTERM')
        expect(await pam.closed).toEqual({ code: 0, signal: null })
      } finally {
        await server.stop()
      }
    })
  },
)

describe.each(['express/server.ts', 'match-day/demo.ts'])(
  'given %s and an address that is wrong',
  example => {
    test('when the data folder cannot be written, then the error names DATA_FOLDER', async () => {
      const DATA_FOLDER = join(emptyFolder(), 'a-file')
      writeFileSync(DATA_FOLDER, '')
      const { closed, printed } = run(example, { PORT: '0', DATA_FOLDER })
      expect((await closed).code).toBe(1)
      expect(printed.out).toBe('')
      expect(printed.error).toMatch(
        /^Cannot write to the folder \S+a-file.\w+ \(ENOTDIR\)\. Name a folder that this user may write to in DATA_FOLDER: DATA_FOLDER=\S+ npm start\n$/,
      )
    })

    const escaped =
      /^DATABASE_URL cannot be read as (?:postgres|mysql):\/\/user:password@host:\d+\/database\. A special character in the user or the password must be escaped: @ as %40, .*\n$/
    type Case = [name: string, url: string, error: RegExp]
    const urlsOfMysql: Case[] = [
      ['of MySQL, with / in the password', 'mysql://anna:hid/den@127.0.0.1:1/casino', escaped],
      ['of MySQL, with @ and /', 'mysql://anna:hid@d/en@127.0.0.1:1/casino', escaped],
      ['of MySQL, with %', 'mysql://anna:hidden%@127.0.0.1:1/casino', escaped],
      [
        'of no MySQL server',
        'mysql://anna:hidden@127.0.0.1:1/casino',
        /^The server .* cannot be used: .*ECONNREFUSED/,
      ],
    ]
    const urlsOfPostgresOnly: Case[] = [
      ['of MySQL', 'mysql://anna:hidden@127.0.0.1:1/casino', /^DATABASE_URL must be a URL here/],
    ]
    const urls: Case[] = [
      [
        'no URL',
        'banana',
        /^DATABASE_URL must be a URL here, such as postgres:\/\/user:password@host:5432\//,
      ],
      ['of another database', 'redis://127.0.0.1/0', /^DATABASE_URL must be a URL here/],
      ['without slashes', 'postgres:anna@127.0.0.1', /^DATABASE_URL must be a URL here/],
      ['with @ and / in the password', 'postgres://anna:hid@d/en@127.0.0.1:1/casino', escaped],
      ['with / in the password', 'postgres://anna:hid/den@127.0.0.1:1/casino', escaped],
      ['with / in a password of digits', 'postgres://anna:12/hidden@127.0.0.1:1/casino', escaped],
      ['with # in the password', 'postgres://anna:hid#den@127.0.0.1:1/casino', escaped],
      ['with ? in a password of digits', 'postgres://anna:12?hidden@127.0.0.1:1/casino', escaped],
      ['with % in the password', 'postgres://anna:hidden%@127.0.0.1:1/casino', escaped],
      [
        'of no server',
        'postgres://anna:hidden@127.0.0.1:1/casino',
        /^The server .* cannot be used: .*ECONNREFUSED/,
      ],
      ...(example === 'express/server.ts' ? urlsOfMysql : urlsOfPostgresOnly),
    ]

    test.each(urls)(
      'when DATABASE_URL is %s, then the error says so without the password',
      async (_, DATABASE_URL, error) => {
        const { closed, printed } = run(example, { PORT: '0', DATABASE_URL })
        expect((await closed).code).toBe(1)
        expect(printed.out).toBe('')
        expect(printed.error).toMatch(error)
        expect(printed.error).not.toMatch(/hid|\n\s+at /)
      },
    )
  },
)

test('given npm start and a password with @, when it is not escaped, then the server is found', async () => {
  const { url, pool, drop } = await freshDatabase()
  const { host, pathname } = new URL(url)
  const name = `anna_${pathname.slice(1)}`
  try {
    await pool.query(`CREATE ROLE ${name} LOGIN SUPERUSER PASSWORD 'p@ss'`)
    const server = run('express/server.ts', {
      PORT: '0',
      DATABASE_URL: `postgres://${name}:p@ss@${host}${pathname}`,
    })
    await until(server, /Ctrl\+C/)
    server.child.kill('SIGKILL')
    await server.closed
    await pool.query(`REASSIGN OWNED BY ${name} TO CURRENT_USER; DROP ROLE ${name}`)
  } finally {
    await drop()
  }
})

describe('given the demo', () => {
  test('when it runs twice, then both runs print the same, and the books balance', async () => {
    const DATA_FOLDER = freshFolder('bet_wallet_match_day')
    const first = run('match-day/demo.ts', { DATA_FOLDER })
    expect(await first.closed).toEqual({ code: 0, signal: null })
    const demo = run('match-day/demo.ts', { DATA_FOLDER })
    expect(await demo.closed).toEqual({ code: 0, signal: null })
    expect(demo.printed.error).toBe('')
    expect(demo.printed.out).toBe(first.printed.out)
    const lines = demo.printed.out.split('\n')
    for (const line of lines) expect(line.length, line).toBeLessThanOrEqual(110)

    // Call, answer and balance of every row, without the event.
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
      'placebet t-4 | timeout | 70.00 EUR',
      'rollbackbet r-4 | 200 | 70.00 EUR',
      'placebet t-4 | 400 INVALID_BET | 70.00 EUR',
      ' | 70.00 EUR', // restarted
      'placebet t-4 | 400 INVALID_BET | 70.00 EUR',
      'placebet t-5 | 401 AUTHENTICATION_FAILED | 70.00 EUR',
      'settlement s-1 | 200 | 125.50 EUR',
      'unsettlement u-1 | 200 | 70.00 EUR',
      'settlement s-2 | 200 | 70.00 EUR',
      'settlement s-3 | 200 | 12000 JPY',
      'by the PAM | 500 JPY',
      'unsettlement u-2 | 402 INSUFFICIENT_FUNDS | 500 JPY',
      'by the PAM | 20500 JPY',
      'unsettlement u-2 | 402 INSUFFICIENT_FUNDS | 20500 JPY',
      'placebet t-6 | 200 | 45.00 EUR',
      'settlement s-6 | 200 | 70.00 EUR',
      'unsettlement u-6 | 200 | 45.00 EUR',
      'settlement s-7 | 200 | 92.25 EUR',
    ])

    // The printed balance sheets, recalculated in hundredths.
    const [matchDay = '', season = ''] = demo.printed.out.split('\nThe season: ')
    const books = matchDay.slice(matchDay.indexOf('The books')).split('\n\n')
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
    expect(matchDay.trimEnd().split('\n').at(-1)).toBe('The books balance.')
    expect(season).toMatch(/ [1-9]\d* bets arrived after their rollback and debited nothing\n/)
    expect(season).toMatch(/\n {2}0 differences .*\n\nThe season is reconciled to the cent\.\n$/)
  })
})
