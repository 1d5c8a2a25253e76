import { Agent, request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { basic, type Exchange, type Expected, exchanges, usualHeaders } from './exchanges.js'
import { setups, start } from './servers.js'

describe.each(setups)('$name', setup => {
  const { front } = setup
  // One connection for all of them: what one exchange leaves on the line hurts the next.
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const references = new Map<string, string>()
  let wallet: Awaited<ReturnType<typeof start>>
  beforeAll(async () => {
    wallet = await start(setup)
  })
  afterAll(async () => {
    agent.destroy()
    await wallet.stop()
  })

  test.each(exchanges)('$name', async ({ request, expected, behind }) => {
    const before = wallet.store.transactions().length
    const here = front === 'none' ? expected : (behind[front] ?? expected)
    const answer = await send(wallet.port, agent, request)
    check(answer, here, references)
    // What a parser has not read it may leave on the line, where it stops the next call. Not the wallet's to mend.
    if (isOfTheParser(here)) agent.destroy()
    const written = wallet.store.transactions().length - before
    expect(written).toBeLessThanOrEqual(1)
    if ([401, 404, 405, 409, 413, 415, 503].includes(answer.status)) expect(written).toBe(0)
  })

  test('no call was a fault', () => {
    expect(wallet.errors).toEqual([])
  })

  test('a caller who hangs up in the middle of the body leaves nothing behind', async () => {
    const before = { transactions: wallet.store.transactions(), anna: wallet.store.player('anna') }
    const [call] = exchanges
    const body = String(call?.request.body).replaceAll('-1"', '-hung-up"')
    const socket = connect(wallet.port, '127.0.0.1')
    const connected = new Promise<Socket>(resolve => wallet.server.once('connection', resolve))
    // A parser in front takes the body first, so that the wallet is never called.
    const begun =
      front === 'none'
        ? wallet.nextCall()
        : new Promise<null>(resolve => wallet.server.once('request', () => resolve(null)))
    socket.write(
      `POST /wallet/placebet HTTP/1.1\r\nHost: wallet\r\n${headerLines({})}` +
        // A whole call, but not the whole body.
        `Content-Length: ${body.length + 1}\r\n\r\n${body}`,
    )
    const underWay = await begun
    const other = await connected
    const closed = new Promise(resolve => other.once('close', resolve))
    socket.destroy()
    await closed
    if (underWay !== null) expect((await underWay.answered).status).toBe(400)

    expect(wallet.store.transactions()).toEqual(before.transactions)
    expect(wallet.store.player('anna')).toEqual(before.anna)
    expect(wallet.errors).toEqual([])
    const { status } = await send(wallet.port, agent, { ...(call as Exchange).request, body: '{}' })
    expect(status).toBe(400)
  })

  // Behind a parser it is the parser that reads: before anybody is asked, and leaving the rest on the line or not.
  if (front !== 'none') return

  test('a caller who writes all before it reads hears the 413, and can go on', async () => {
    // Larger than what the buffers of a connection hold: it can only be written if it is taken off the line.
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
    expect(await heard(socket)).toMatch(/^HTTP\/1\.1 413 /)
    socket.write(`GET /wallet/placebet HTTP/1.1\r\nHost: wallet\r\nConnection: close\r\n\r\n`)
    expect(await heard(socket)).toMatch(/^HTTP\/1\.1 405 /)
    socket.destroy()
  })

  test.each([
    { name: 'Content-Length', lines: 'Content-Length: 200\r\n' },
    { name: 'chunks', lines: 'Transfer-Encoding: chunked\r\n' },
    { name: 'Expect', lines: 'Content-Length: 200\r\nExpect: 100-continue\r\n' },
    { name: 'too much', lines: 'Content-Length: 99999999\r\n' },
  ])('a stranger is told so before the body has come ($name)', async ({ lines }) => {
    const socket = connect(wallet.port, '127.0.0.1')
    const authorization = basic('platform:wrong')
    socket.write(
      `POST /wallet/placebet HTTP/1.1\r\nHost: wallet\r\n${headerLines({ authorization })}${lines}\r\n`,
    )
    expect((await heard(socket)).replace(/^HTTP\/1\.1 100 Continue\r\n\r\n/, '')).toMatch(/^HTTP\/1\.1 401 /)
    socket.destroy()
  })
})

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

function isOfTheParser({ body, error }: Expected): boolean {
  return body === undefined && error === undefined
}

function check(answer: Answer, expected: Expected, references: Map<string, string>): void {
  const { status, body, error, headers = {} } = expected
  const statuses = typeof status === 'number' ? [status] : status
  expect(statuses, answer.body).toContain(answer.status)
  if (isOfTheParser(expected)) return

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
    if (!references.has(name)) expect(known, `${name} is a new one`).not.toContain(reference)
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

/** What comes next on the line, up to the end of a JSON body or of what a framework says. */
function heard(socket: Socket): Promise<string> {
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
    socket.once('close', () => reject(new Error(`the line was cut after ${JSON.stringify(text)}`)))
  })
}
