/** The tests of a running wallet, whatever its framework: the exchanges, a caller that disconnects, large bodies. */
import { Agent, request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  basic,
  type Exchange,
  type Expected,
  exchanges,
  expectedBehind,
  isFromParser,
  usualHeaders,
} from './exchanges.js'
import { nextCall, type RunningWallet, type Setup, start } from './running.js'

/** Every server must give the same answers. */
export function testServer(setup: Setup): void {
  describe(`given ${setup.name}`, () => testRunning(setup, () => start(setup)))
}

export function testRunning(
  { front, answersItself = {} }: Pick<Setup, 'front' | 'answersItself'>,
  run: () => Promise<RunningWallet>,
): void {
  // One connection for all exchanges: an unread rest of one would break the next.
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const references = new Map<string, string>()
  let wallet: RunningWallet
  beforeAll(async () => {
    wallet = await run()
  })
  afterAll(async () => {
    agent.destroy()
    await wallet.stop()
  })

  test.each(exchanges)('when the request is $name, then the answer is the expected one', async exchange => {
    const { name, request } = exchange
    const before = wallet.inside?.store.transactions().length
    const own = answersItself[name]
    const expectedHere = own === undefined ? expectedBehind(front, exchange) : { status: own }
    const answer = await send(wallet.port, agent, request)
    check(answer, expectedHere, references)
    // A parser may leave the rest of a body unread, which blocks the next call on this connection.
    if (isFromParser(expectedHere)) agent.destroy()
    if (wallet.inside === null || before === undefined) return
    const written = wallet.inside.store.transactions().length - before
    expect(written).toBeLessThanOrEqual(1)
    if ([401, 404, 405, 409, 413, 415, 503].includes(answer.status)) expect(written).toBe(0)
  })

  test('when all of them are answered, then none was a fault', () => {
    expect(wallet.inside?.errors ?? []).toEqual([])
  })

  test('when a call is authenticated, then its path is the one that was sent, and its address that of the socket', async context => {
    if (wallet.inside === null) return context.skip('the wallet runs in another process')
    const [call] = exchanges
    const path = '/wallet/placebet?key=%2F1'
    const headers = { 'x-forwarded-for': '203.0.113.7', 'x-real-ip': '203.0.113.7' }
    await send(wallet.port, agent, { ...(call as Exchange).request, path, headers, body: '{}' })
    const seen = wallet.inside.seen.at(-1)
    expect(seen?.originalPath ?? seen?.path).toBe(path)
    // A `Request` has no address.
    expect([undefined, '127.0.0.1']).toContain(seen?.address)
  })

  test('when a caller disconnects in the middle of the body, then nothing is written', async context => {
    if (wallet.inside === null) return context.skip('the wallet runs in another process')
    const { store, errors, server } = wallet.inside
    const before = { transactions: store.transactions(), anna: store.account('anna') }
    const [call] = exchanges
    const body = String(call?.request.body).replaceAll('-1"', '-disconnected"')
    const socket = connect(wallet.port, '127.0.0.1')
    const connected = new Promise<Socket>(resolve => server.once('connection', resolve))
    // A parser in front reads the body first, so the wallet is never called.
    const begun =
      front === 'none'
        ? nextCall()
        : new Promise<null>(resolve => server.once('request', () => resolve(null)))
    socket.write(
      `POST /wallet/placebet HTTP/1.1\r\nHost: wallet\r\n${headerLines({})}` +
        // A complete call, but an incomplete body.
        `Content-Length: ${body.length + 1}\r\n\r\n${body}`,
    )
    const inFlight = await begun
    const other = await connected
    const closed = new Promise(resolve => other.once('close', resolve))
    socket.destroy()
    await closed
    if (inFlight !== null) expect((await inFlight.answered).status).toBe(400)

    expect(store.transactions()).toEqual(before.transactions)
    expect(store.account('anna')).toEqual(before.anna)
    expect(errors).toEqual([])
    const { status } = await send(wallet.port, agent, { ...(call as Exchange).request, body: '{}' })
    expect(status).toBe(400)
  })

  // Behind a parser, the parser reads the body: before authentication, and perhaps not to its end.
  if (front !== 'none') return

  test('when a caller writes a too large body before it reads, then it receives the 413, and the connection stays usable', async () => {
    // Larger than the buffers of a connection: it can be written only if the server reads it.
    const body = Buffer.alloc(8 << 20, ' ')
    const socket = connect(wallet.port, '127.0.0.1')
    socket.pause()
    const head = `POST /wallet/placebet HTTP/1.1\r\nHost: wallet\r\n${headerLines({})}Transfer-Encoding: chunked\r\n\r\n`
    socket.write(head)
    await new Promise<void>((resolve, reject) => {
      socket.once('error', reject)
      socket.write(`${body.length.toString(16)}\r\n`)
      socket.write(body)
      socket.write('\r\n0\r\n\r\n', () => resolve())
    })
    expect(await received(socket)).toMatch(/^HTTP\/1\.1 413 /)
    socket.write(`GET /wallet/placebet HTTP/1.1\r\nHost: wallet\r\nConnection: close\r\n\r\n`)
    expect(await received(socket)).toMatch(/^HTTP\/1\.1 405 /)
    socket.destroy()
  })

  test.each([
    { name: 'Content-Length', lines: 'Content-Length: 200\r\n' },
    { name: 'chunks', lines: 'Transfer-Encoding: chunked\r\n' },
    { name: 'Expect', lines: 'Content-Length: 200\r\nExpect: 100-continue\r\n' },
    { name: 'a too large Content-Length', lines: 'Content-Length: 99999999\r\n' },
  ])(
    'when a call with wrong credentials has not sent its body yet ($name), then it receives 401',
    async ({ lines }) => {
      const socket = connect(wallet.port, '127.0.0.1')
      const authorization = basic('platform:wrong')
      socket.write(
        `POST /wallet/placebet HTTP/1.1\r\nHost: wallet\r\n${headerLines({ authorization })}${lines}\r\n`,
      )
      expect((await received(socket)).replace(/^HTTP\/1\.1 100 Continue\r\n\r\n/, '')).toMatch(
        /^HTTP\/1\.1 401 /,
      )
      socket.destroy()
    },
  )
}

interface Answer {
  status: number
  headers: IncomingHttpHeaders
  body: string
}

/** Sends exactly these bytes. */
function send(
  port: number,
  agent: Agent,
  { method, path, headers, body, chunked }: Exchange['request'],
): Promise<Answer> {
  const sent = Object.fromEntries(
    Object.entries({ ...usualHeaders, ...headers }).filter(([, value]) => value !== null),
  )
  const bytes = Buffer.from(body)
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest({
      ...{ host: '127.0.0.1', port, agent, method, path },
      headers: {
        ...(sent as Record<string, string>),
        ...(chunked ? { 'transfer-encoding': 'chunked' } : { 'content-length': bytes.length }),
      },
    })
    outgoing.on('error', reject)
    outgoing.on('response', response => {
      const chunks: Uint8Array[] = []
      response.on('error', reject)
      response.on('data', (chunk: Uint8Array) => chunks.push(chunk))
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: Buffer.concat(chunks).toString('utf8'),
        }),
      )
    })
    if (chunked) {
      const half = bytes.length >> 1
      outgoing.write(bytes.subarray(0, half))
      outgoing.write(bytes.subarray(half))
      outgoing.end()
    } else outgoing.end(bytes)
  })
}

function check(answer: Answer, expected: Expected, references: Map<string, string>): void {
  const { status, body, error, headers = {} } = expected
  const statuses = typeof status === 'number' ? [status] : status
  expect(statuses, answer.body).toContain(answer.status)
  if (isFromParser(expected)) return

  expect(answer.headers).toMatchObject({
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
    ...headers,
  })
  if (headers['www-authenticate'] === undefined) expect(answer.headers['www-authenticate']).toBeUndefined()
  if (headers.allow === undefined) expect(answer.headers.allow).toBeUndefined()

  if (error !== undefined) {
    const { errorCode, description, ...rest } = JSON.parse(answer.body)
    expect({ errorCode, rest }).toEqual({ errorCode: error.errorCode, rest: {} })
    expect(description).toMatch(
      typeof error.description === 'string' ? exactly(error.description) : error.description,
    )
  }
  if (body !== undefined) {
    const reference = /"walletTransactionId":"([^"]*)"/.exec(answer.body)?.[1] ?? 'none'
    const name = /\{(W:[^}]*)\}/.exec(body)?.[1] ?? ''
    const known = [...references.values()]
    if (!references.has(name)) expect(known, `${name} is a new reference`).not.toContain(reference)
    references.set(name, references.get(name) ?? reference)
    expect(answer.body).toBe(body.replace(`{${name}}`, references.get(name) ?? ''))
  }
}

function exactly(text: string): RegExp {
  return new RegExp(`^${text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`)
}

function headerLines(headers: Record<string, string>): string {
  return Object.entries({ ...usualHeaders, ...headers })
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')
}

/** The next response on the connection, up to the end of its body. */
function received(socket: Socket): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    const read = (chunk: Buffer) => {
      text += chunk
      const [head = '', ...rest] = text.replace(/^HTTP\/1\.1 100 Continue\r\n\r\n/, '').split('\r\n\r\n')
      const length = Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? Number.POSITIVE_INFINITY)
      const complete =
        rest.length > 0 &&
        (Buffer.byteLength(rest.join('\r\n\r\n')) >= length || /\r\n0\r\n$/.test(text.slice(0, -2)))
      if (!complete) return
      socket.off('data', read)
      resolve(text)
    }
    socket.on('data', read).resume()
    socket.once('error', reject)
    socket.once('close', () => reject(new Error(`the connection closed after ${JSON.stringify(text)}`)))
  })
}
