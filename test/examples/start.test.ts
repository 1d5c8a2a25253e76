/** `npm start` and the servers of the examples, as processes. */
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, describe, expect, test } from 'vitest'
import { exposureWarning } from '../../examples/listen-address.js'
import { isMysql, noServer, startServer } from '../mysql/engine.js'
import { freshDatabase } from '../postgres/fresh-database.js'
import {
  emptyFolder,
  expectAnnounced,
  fresh,
  freshFolder,
  fromSource,
  prepareExamples,
  root,
  run,
  runAll,
  runCommand,
  until,
} from './processes.js'

prepareExamples()

const mysqlName = isMysql ? 'MySQL' : 'MariaDB'

/** The lines with which the lookups find the records, as they are printed. */
async function expectRecords(printed: readonly string[], DATABASE_URL: string): Promise<void> {
  const begin = printed.findIndex(line => line.startsWith('Its records'))
  const script = printed.slice(begin + 1, begin + 3).join('\n')
  const own = script.replace('npx bet-wallet', `"${process.execPath}" src/tools/command/bin.cjs`)
  const env = { ...process.env, BET_WALLET_DATABASE_URL: '', DATABASE_URL }
  const { stdout } = await promisify(execFile)('sh', ['-c', own], { cwd: root, env })
  expect(stdout).toMatch(/^KNOWN: balance 100\.00 EUR; /m)
}

test('given package.json, then npm start runs the example that is tested here', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>
  }
  expect(scripts.start).toBe('tsx examples/express/server.ts')
})

describe('given npm start', () => {
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
          environment: { DATA_FOLDER: folder, ...fromSource },
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

  /** Servers that listen on a loopback address, and believe that it is another one. */
  const exposed = `--import data:text/javascript,${encodeURIComponent(`
    import { Server } from 'node:net'
    const { address } = Server.prototype
    Server.prototype.address = function () { return { ...address.call(this), address: '0.0.0.0' } }`)}`

  test('when others can reach it, then it warns before it prints its calls', async () => {
    const DATA_FOLDER = freshFolder('bet_wallet_express')
    const server = run('express/server.ts', { PORT: '0', DATA_FOLDER, NODE_OPTIONS: exposed })
    await until(server, /Ctrl\+C/)
    expect(server.printed.error).toBe(`${exposureWarning('0.0.0.0')}\n\n`)
  })

  test('when PORT is no number, then the error names the valid range', async () => {
    const server = run('express/server.ts', { PORT: 'abc' })
    expect((await server.closed).code).toBe(1)
    expect(server.printed).toEqual({
      out: '',
      error: 'PORT must be a whole number from 0 to 65535, but is "abc"\n',
    })
  })

  test('when its port is in use, then the error says so, and no database was made', async () => {
    const other = createServer()
    other.listen(0, '127.0.0.1')
    await once(other, 'listening')
    const { port } = other.address() as AddressInfo
    const DATA_FOLDER = emptyFolder()
    const server = run('express/server.ts', { PORT: `${port}`, DATA_FOLDER })
    expect((await server.closed).code).toBe(1)
    expect(server.printed).toEqual({
      ...{ out: '', error: `Port ${port} is in use. Choose another: PORT=3001 npm start\n` },
    })
    expect(readdirSync(DATA_FOLDER)).toEqual([])
    other.close()
  })
})

describe.each(['koa/server.ts', 'node-http/server.ts'])('given examples/%s', example => {
  test('when it is started, then it answers calls, and exits with 0 on SIGTERM', async () => {
    const server = run(example, { PORT: '0', INTERNAL_PORT: '0' })
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

    const urls: [name: string, url: string, error: RegExp][] = [
      [
        'with @ and / in the password',
        'postgres://anna:hid@d/en@127.0.0.1:1/casino',
        /^DATABASE_URL cannot be read as postgres:/,
      ],
      [
        'of no server',
        'postgres://anna:hidden@127.0.0.1:1/casino',
        /^The server .* cannot be used: .*ECONNREFUSED/,
      ],
      [
        'of MySQL, without a server',
        'mysql://anna:hidden@127.0.0.1:1/casino',
        example === 'express/server.ts'
          ? /^The server .* cannot be used: .*ECONNREFUSED/
          : /^DATABASE_URL must be a URL here/,
      ],
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
