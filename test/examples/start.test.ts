/** `npm start` and `npm run demo`, from outside, with the package as it was built. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterEach, describe, expect, test } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
const hasCurl = await promisify(execFile)('curl', ['--version']).then(
  () => true,
  () => false,
)

const started: ChildProcess[] = []
afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL')
})

/** Runs an example: `bet-wallet` is what `dist` holds, since this tsconfig has no paths to `src`. */
function run(example: string, environment: Record<string, string> = {}) {
  const child = spawn(process.execPath, ['--import', 'tsx', `examples/${example}`], {
    cwd: root,
    env: { ...process.env, TSX_TSCONFIG_PATH: 'examples/tsconfig.json', ...environment },
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

test('the package is built', () => {
  expect(existsSync(`${root}/dist/index.js`), 'run `npm test`, which builds first').toBe(true)
})

describe('npm start', () => {
  test('prints lines to paste, and answers them as it says', async () => {
    const server = run('express/server.ts', { PORT: '0', HOST: '' })
    const printed = await until(server, /Ctrl\+C/)
    expect(printed).toMatch(/listens on http:\/\/127\.0\.0\.1:[1-9]\d*\/wallet\n/)

    const lines = printed.split('\n').filter(line => line.startsWith('curl '))
    const titles = printed.split('\n').filter(line => line.startsWith('# '))
    expect(titles).toHaveLength(lines.length)
    const answers: { status: number; body: string }[] = []
    for (const line of lines) answers.push(await paste(line))
    expect(answers).toEqual([
      { status: 200, body: '{"balance":70.00,"currency":"EUR","walletTransactionId":"W1"}' },
      { status: 200, body: '{"balance":125.50,"currency":"EUR","walletTransactionId":"W2"}' },
      { status: 200, body: '{"balance":70.00,"currency":"EUR","walletTransactionId":"W3"}' },
      { status: 200, body: '{"balance":100.00,"currency":"EUR","walletTransactionId":"W4"}' },
      {
        status: 402,
        body: '{"errorCode":"INSUFFICIENT_FUNDS","description":"amount: the funds do not cover it"}',
      },
      { status: 200, body: '{"balance":3800,"currency":"JPY","walletTransactionId":"W6"}' },
    ])
    for (const [index, { status, body }] of answers.entries()) {
      const [, saidStatus, saidBalance] =
        /: (\d{3})(?: [A-Z_]+)?(?:, balance ([\d.]+))?$/.exec(titles[index] ?? '') ?? []
      expect(status).toBe(Number(saidStatus))
      if (status === 200) expect(body).toContain(`"balance":${saidBalance},`)
    }

    // Again: nothing moves.
    const [first = ''] = lines
    expect(await paste(first)).toEqual({
      status: 200,
      body: '{"balance":100.00,"currency":"EUR","walletTransactionId":"W1"}',
    })

    // And not without the credentials.
    expect((await paste(first.replace('demo-secret', 'wrong'))).status).toBe(401)
  })

  test.each(['SIGINT', 'SIGTERM'] as const)('ends by %s, with what is under way answered', async signal => {
    const server = run('express/server.ts', { PORT: '0' })
    const [url = ''] = /http:\S+/.exec(await until(server, /Ctrl\+C/)) ?? []
    // A connection kept alive does not hold it.
    expect((await fetch(`${url}/placebet`)).status).toBe(405)
    server.child.kill(signal)
    expect(await server.closed).toEqual({ code: 0, signal: null })
    expect(server.printed.error).toBe('')
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
    const server = run('express/server.ts', { PORT: `${port}` })
    expect((await server.closed).code).toBe(1)
    expect(server.printed.error).toBe(`Port ${port} is in use. Another one: PORT=3001 npm start\n`)
    other.close()
  })

  test('says that there is no such host', async () => {
    const server = run('express/server.ts', { PORT: '0', HOST: '203.0.113.1' })
    expect((await server.closed).code).toBe(1)
    expect(server.printed.error).toMatch(/^Cannot listen on 203\.0\.113\.1, port 0: .*\n$/)
  })
})

describe.each(['koa/server.ts', 'node-http/server.ts'])('%s', example => {
  test('serves, and ends by SIGTERM', async () => {
    const server = run(example, { PORT: '0' })
    const [, port] = /port: (\d+)/.exec(await until(server, /port: \d+/)) ?? []
    const response = await fetch(`http://127.0.0.1:${port}/wallet/placebet`)
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST'])
    await response.arrayBuffer()
    server.child.kill('SIGTERM')
    expect(await server.closed).toEqual({ code: 0, signal: null })
  })
})

describe('npm run demo', () => {
  test('plays the match day, and its books balance', async () => {
    const demo = run('match-day/demo.ts')
    expect(await demo.closed).toEqual({ code: 0, signal: null })
    expect(demo.printed.error).toBe('')
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
    const books = demo.printed.out.slice(demo.printed.out.indexOf('The books')).split('\n\n')
    expect(books).toHaveLength(4)
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
    expect(lines.filter(line => line !== '').at(-1)).toBe('The books balance.')
  })
})
