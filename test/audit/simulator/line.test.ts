/** The line by itself: whatever a server answers, however it comes in pieces. */
import { once } from 'node:events'
import { createServer as createHttpsServer } from 'node:https'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import {
  createLine,
  type Line,
  type LineAnswer,
  readAnswer,
  type Sending,
} from '../../../src/audit/simulator/line.js'
import { cert, key } from '../certificate.js'

const open: { close(): void }[] = []
afterEach(() => {
  for (const one of open.splice(0)) one.close()
})

/** A server that is told of every connection, and what it was sent. */
async function listen(onConnection: (socket: Socket, connections: number) => void): Promise<URL> {
  let connections = 0
  const sockets = new Set<Socket>()
  const server: Server = createServer(socket => {
    connections += 1
    sockets.add(socket)
    socket.on('error', () => {}) // what the other side does, is tested there
    onConnection(socket, connections)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  open.push({
    close() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  })
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/placebet`)
}

function lineWith(options: Partial<Parameters<typeof createLine>[0]> = {}): Line {
  const line = createLine({ headers: {}, authorization: null, timeoutMs: 10_000, tls: {}, ...options })
  open.push(line)
  return line
}

const post = (line: Line, url: URL, body = '{}', sending: Sending = 'whole') =>
  new Promise<LineAnswer>(resolve => line.post(url, body, null, sending, resolve))

const answer = (body: string, head = '') =>
  `HTTP/1.1 200 OK\r\nContent-Length: ${Buffer.byteLength(body)}\r\n${head}\r\n${body}`

describe('an answer', () => {
  const whole: [string, string, { status: number; body: string }][] = [
    ['with a length', answer('{"a":1}'), { status: 200, body: '{"a":1}' }],
    ['with characters of many bytes', answer('{"a":"zł€"}'), { status: 200, body: '{"a":"zł€"}' }],
    ['of nothing', 'HTTP/1.1 500 Oh\r\ncontent-length:0\r\n\r\n', { status: 500, body: '' }],
    ['without a reason', 'HTTP/1.1 402 \r\ncontent-length: 1\r\n\r\nx', { status: 402, body: 'x' }],
    ['204', 'HTTP/1.1 204 No Content\r\nDate: x\r\n\r\n', { status: 204, body: '' }],
    [
      'in chunks',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n{"a\r\n4;x=y\r\n":1}\r\n0\r\n\r\n',
      { status: 200, body: '{"a":1}' },
    ],
    [
      'in chunks with trailers',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nA\r\n0123456789\r\n0\r\nEtag: 1\r\n\r\n',
      { status: 200, body: '0123456789' },
    ],
    ['after 100 Continue', `HTTP/1.1 100 Continue\r\n\r\n${answer('x')}`, { status: 200, body: 'x' }],
  ]

  test.each(whole)('%s is read from any pieces', (_, text, expected) => {
    const bytes = Buffer.from(text)
    for (let length = 0; length < bytes.length; length += 1)
      expect(readAnswer(bytes.subarray(0, length), false)).toBe('more')
    expect(readAnswer(bytes, false)).toEqual({ ...expected, reusable: true })
  })

  test.each([
    ['that closes', 'HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 1\r\n\r\nx'],
    ['of HTTP/1.0', 'HTTP/1.0 200 OK\r\ncontent-length: 1\r\n\r\nx'],
    ['with more behind it', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nxyz'],
  ])('%s is the last one of its connection', (_, text) => {
    expect(readAnswer(Buffer.from(text), false)).toEqual({ status: 200, body: 'x', reusable: false })
  })

  test('without a length ends with its connection', () => {
    const bytes = Buffer.from('HTTP/1.1 200 OK\r\n\r\nab')
    expect(readAnswer(bytes, false)).toBe('more')
    expect(readAnswer(bytes, true)).toEqual({ status: 200, body: 'ab', reusable: false })
  })

  test.each([
    ['SSH-2.0-x\r\n\r\n', 'the answer is not HTTP/1.1'],
    ['HTTP/1.1 200 OK\r\ntransfer-encoding: gzip\r\n\r\n', 'transfer-encoding gzip is not known'],
    ['HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n', 'a chunk of the answer has no size'],
  ])('%j is none', (text, broken) => {
    expect(readAnswer(Buffer.from(text), false)).toEqual({ broken })
  })
})

describe('a line', () => {
  test('sends what HTTP/1.1 asks for, with the headers that it is given', async () => {
    let received = ''
    const url = await listen(socket =>
      socket.on('data', chunk => {
        received += chunk
        socket.write(answer('{}'))
      }),
    )
    const authorization = { origin: url.origin, value: 'Basic eDp5' }
    const line = lineWith({ headers: { 'X-Key': 'k' }, authorization })
    const body = '{"playerId":"Zoë"}'
    await new Promise<LineAnswer>(resolve => line.post(url, body, { 'x-signature': 's' }, 'whole', resolve))
    expect(received).toBe(
      `POST /placebet HTTP/1.1\r\nhost: ${url.host}\r\ncontent-type: application/json\r\n` +
        `X-Key: k\r\nauthorization: Basic eDp5\r\nx-signature: s\r\ncontent-length: 19\r\n\r\n${body}`,
    )
  })

  test('authorizes itself to its own origin, and to no other', async () => {
    let received = ''
    const url = await listen(socket =>
      socket.on('data', chunk => {
        received += chunk
        socket.write(answer('{}'))
      }),
    )
    const authorization = { origin: 'http://wallet.example', value: 'Basic eDp5' }
    const line = lineWith({ headers: { 'X-Key': 'k' }, authorization })
    await post(line, url)
    expect(received).toMatch(/X-Key: k/)
    expect(received).not.toMatch(/authorization/i)
    expect(line.headersTo(url)).toEqual({ host: url.host, 'content-type': 'application/json', 'x-key': 'k' })
    expect(line.headersTo(new URL('http://wallet.example/a')).authorization).toBe('Basic eDp5')
  })

  test('keeps connections open, and opens as many as there are calls at once', async () => {
    let seen = 0
    const url = await listen((socket, connections) => {
      seen = connections
      socket.on('data', () => socket.write(answer(`${connections}`)))
    })
    const line = lineWith()
    for (let call = 0; call < 5; call += 1) expect(await post(line, url)).toEqual({ status: 200, body: '1' })
    await Promise.all(Array.from({ length: 4 }, () => post(line, url)))
    expect(seen).toBe(4)
  })

  test('goes on after every kind of failure, each told once', async () => {
    const failures: ((socket: Socket) => void)[] = [
      socket => socket.destroy(),
      socket => socket.resetAndDestroy(),
      socket => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf'),
      socket => socket.write('nonsense\r\n\r\n'),
      socket => socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 9999999\r\n\r\n${'x'.repeat(1_100_000)}`),
    ]
    const url = await listen((socket, connections) => {
      socket.on('data', () => {
        const failure = failures[connections - 1]
        if (failure === undefined) socket.write(answer('fine'))
        else failure(socket)
      })
    })
    const line = lineWith()
    const told = []
    for (let call = 0; call <= failures.length; call += 1) told.push(await post(line, url))
    expect(told).toEqual([
      { broken: 'the connection was closed before the answer' },
      { broken: 'ECONNRESET' },
      { broken: 'the connection was closed before the answer' },
      { broken: 'the answer is not HTTP/1.1' },
      { broken: 'the answer is larger than 1048576 bytes' },
      { status: 200, body: 'fine' },
    ])
  })

  test('takes an answer that nobody asked for as the end of the connection', async () => {
    const url = await listen((socket, connections) => {
      socket.on('data', () => socket.write(connections === 1 ? answer('1') + answer('2') : answer('3')))
    })
    const line = lineWith()
    expect(await post(line, url)).toEqual({ status: 200, body: '1' })
    expect(await post(line, url)).toEqual({ status: 200, body: '3' })
  })

  test('gives up what is not answered in time', async () => {
    const url = await listen(() => {})
    expect(await post(lineWith({ timeoutMs: 1 }), url)).toEqual({ broken: 'timed out' })
  })

  test('cuts a call after all of it, or within it', async () => {
    const received: string[] = []
    const ended: Promise<unknown>[] = []
    const url = await listen((socket, connections) => {
      received[connections - 1] = ''
      socket.on('data', chunk => {
        received[connections - 1] = `${received[connections - 1]}${chunk}`
      })
      ended.push(once(socket, 'close'))
    })
    const line = lineWith()
    expect(await post(line, url, '{"whole":true}', 'cut after')).toEqual({ broken: 'cut after the call' })
    expect(await post(line, url, '{"whole":false}', 'cut within')).toEqual({ broken: 'cut within the call' })
    await expect.poll(() => ended.length).toBe(2)
    await Promise.all(ended)
    expect(received[0]).toMatch(/\{"whole":true\}$/)
    expect(received[1]).toMatch(/^POST/)
    expect(received[1]).not.toMatch(/\}$/)
  })

  test('tells of a server that is not there, and of what is sent while it closes', async () => {
    const line = lineWith()
    expect(await post(line, new URL('http://127.0.0.1:1/'))).toEqual({ broken: 'ECONNREFUSED' })
    const url = await listen(() => {})
    const waiting = post(line, url)
    line.close()
    expect(await waiting).toEqual({ broken: 'closed by the sportsbook' })
  })

  test('speaks TLS, and trusts whom it is told to', async () => {
    const server = createHttpsServer({ key, cert }, (request, response) => {
      request.resume().on('end', () => response.end('safe'))
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    open.push({
      close() {
        server.closeAllConnections()
        server.close()
      },
    })
    const url = new URL(`https://127.0.0.1:${(server.address() as AddressInfo).port}/`)
    expect(await post(lineWith({ tls: { ca: cert } }), url)).toEqual({ status: 200, body: 'safe' })
    expect(await post(lineWith(), url)).toEqual({ broken: 'DEPTH_ZERO_SELF_SIGNED_CERT' })
  })
})
