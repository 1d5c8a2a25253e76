/** The HTTP client: every kind of answer, however it is split into pieces, and every kind of failure. */
import { once } from 'node:events'
import { createServer as createHttpsServer } from 'node:https'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { headerOf, parseAnswer } from '../../../src/tools/wire/http-answer.js'
import { type Delivery, HttpClient } from '../../../src/tools/wire/http-client.js'
import { until } from '../../until.js'
import { cert, key } from '../audit/certificate.js'

const open: { close(): void }[] = []
afterEach(() => {
  for (const one of open.splice(0)) one.close()
})

/** A server that calls back for every connection. */
async function listen(onConnection: (socket: Socket, connections: number) => void): Promise<URL> {
  let connections = 0
  const sockets = new Set<Socket>()
  const server: Server = createServer(socket => {
    connections += 1
    sockets.add(socket)
    socket.on('error', () => {}) // the client's side is tested
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

function clientWith(tls = {}): HttpClient {
  const client = new HttpClient(tls)
  open.push(client)
  return client
}

/** Without the head of the answer. */
async function post(client: HttpClient, url: URL, body = '{}', delivery?: Delivery, timeoutMs = 10_000) {
  const reply = await client.send({ url, headers: {}, body, timeoutMs, ...(delivery && { delivery }) })
  return 'error' in reply ? reply : { status: reply.status, body: reply.body }
}

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

  test.each(whole)('%s is parsed from any pieces', (_, text, expected) => {
    const bytes = Buffer.from(text)
    for (let length = 0; length < bytes.length; length += 1)
      expect(parseAnswer(bytes.subarray(0, length), false)).toBe('incomplete')
    expect(parseAnswer(bytes, false)).toMatchObject({ ...expected, reusable: true })
  })

  test.each([
    ['that closes', 'HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 1\r\n\r\nx'],
    ['of HTTP/1.0', 'HTTP/1.0 200 OK\r\ncontent-length: 1\r\n\r\nx'],
    ['with more behind it', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nxyz'],
  ])('%s is the last one of its connection', (_, text) => {
    expect(parseAnswer(Buffer.from(text), false)).toMatchObject({ status: 200, body: 'x', reusable: false })
  })

  test('without a length ends with its connection', () => {
    const bytes = Buffer.from('HTTP/1.1 200 OK\r\n\r\nab')
    expect(parseAnswer(bytes, false)).toBe('incomplete')
    expect(parseAnswer(bytes, true)).toMatchObject({ status: 200, body: 'ab', reusable: false })
  })

  test.each([
    ['SSH-2.0-x\r\n\r\n', 'the answer is not HTTP/1.1'],
    ['HTTP/1.1 200 OK\r\ntransfer-encoding: gzip\r\n\r\n', 'transfer-encoding gzip is not supported'],
    ['HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n', 'a chunk of the answer has no size'],
  ])('%j is rejected', (text, error) => {
    expect(parseAnswer(Buffer.from(text), false)).toEqual({ error })
  })
})

test('a header is found by its name in any case', () => {
  const head = 'HTTP/1.1 200 OK\r\nX-A: b \r\nretry-after: 7'
  expect([headerOf(head, 'x-a'), headerOf(head, 'Retry-After'), headerOf(head, 'x')]).toEqual([
    'b',
    '7',
    undefined,
  ])
})

describe('the client', () => {
  test('sends an HTTP/1.1 request with all headers', async () => {
    let received = ''
    const url = await listen(socket =>
      socket.on('data', chunk => {
        received += chunk
        socket.write(answer('{}'))
      }),
    )
    const body = '{"playerId":"Zoë"}'
    const headers = { 'X-Key': 'k', authorization: 'Basic eDp5' }
    await clientWith().send({ url, headers, body, timeoutMs: 10_000 })
    expect(received).toBe(
      `POST /placebet HTTP/1.1\r\nhost: ${url.host}\r\n` +
        `X-Key: k\r\nauthorization: Basic eDp5\r\ncontent-length: 19\r\n\r\n${body}`,
    )
  })

  test.each([
    ['x y', 'v', 'headers: "x y" is not a valid header name'],
    ['x', 'a\r\ny: b', 'headers: the value of x is not valid in HTTP'],
  ])('sends nothing with the header %j: %j', async (name, value, error) => {
    const url = new URL('http://127.0.0.1:1/')
    const call = { url, headers: { [name]: value }, body: '', timeoutMs: 1 }
    expect(await clientWith().send(call)).toEqual({ error: expect.stringContaining(error) })
  })

  test('keeps connections alive, and opens as many as there are requests in flight', async () => {
    let seen = 0
    const url = await listen((socket, connections) => {
      seen = connections
      socket.on('data', () => socket.write(answer(`${connections}`)))
    })
    const client = clientWith()
    for (let request = 0; request < 5; request += 1)
      expect(await post(client, url)).toEqual({ status: 200, body: '1' })
    await Promise.all(Array.from({ length: 4 }, () => post(client, url)))
    expect(seen).toBe(4)
  })

  test('continues after every kind of failure, and reports each once', async () => {
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
    const client = clientWith()
    const results = []
    for (let request = 0; request <= failures.length; request += 1) results.push(await post(client, url))
    expect(results).toEqual([
      { error: 'the connection was closed before the answer' },
      { error: 'the connection was closed without an answer (ECONNRESET)' },
      { error: 'the connection was closed before the answer' },
      { error: 'the answer is not HTTP/1.1' },
      { error: 'the answer is larger than 1048576 bytes' },
      { status: 200, body: 'fine' },
    ])
  })

  test('closes a connection that sends an unrequested answer', async () => {
    const url = await listen((socket, connections) => {
      socket.on('data', () => socket.write(connections === 1 ? answer('1') + answer('2') : answer('3')))
    })
    const client = clientWith()
    expect(await post(client, url)).toEqual({ status: 200, body: '1' })
    expect(await post(client, url)).toEqual({ status: 200, body: '3' })
  })

  test('gives up after the timeout', async () => {
    const url = await listen(() => {})
    expect(await post(clientWith(), url, '{}', undefined, 1)).toEqual({ error: 'no answer within 1 ms' })
  })

  test('sends pieces with pauses, and leaves without an answer', async () => {
    const received: string[][] = []
    const ended: Promise<unknown>[] = []
    const url = await listen(socket => {
      const chunks: string[] = []
      received.push(chunks)
      socket.on('data', chunk => chunks.push(String(chunk)))
      ended.push(once(socket, 'close'))
    })
    const client = clientWith()
    const left = { error: 'the caller disconnected' }
    const whole: Delivery = { pieces: request => [request], pauseMs: 0, leave: async () => {} }
    expect(await post(client, url, '{"whole":true}', whole)).toEqual(left)
    const halves: Delivery = {
      ...{ pieces: request => [request.subarray(0, 20), request.subarray(20, -1)], pauseMs: 20 },
      leave: async () => {},
    }
    vi.useFakeTimers({ toFake: ['setTimeout'] })
    const sent = post(client, url, '{"whole":false}', halves)
    await until(() => received[1]?.[0]?.length === 20 && vi.getTimerCount() === 1)
    vi.advanceTimersByTime(20)
    vi.useRealTimers()
    expect(await sent).toEqual(left)
    await expect.poll(() => ended.length).toBe(2)
    await Promise.all(ended)
    expect(received[0]?.join('')).toMatch(/\{"whole":true\}$/)
    expect(received[1]?.join('')).toMatch(/"whole":false$/)
  })

  test('closes the connection of an unusual delivery, whatever the server keeps', async () => {
    const received: string[] = []
    const url = await listen((socket, connections) =>
      socket.on('data', chunk => {
        received.push(String(chunk))
        socket.write(answer(`${connections}`))
      }),
    )
    const client = clientWith()
    const whole: Delivery = { pieces: request => [request], pauseMs: 0, leave: null }
    expect(await post(client, url, '{}', whole)).toEqual({ status: 200, body: '1' })
    expect(await post(client, url)).toEqual({ status: 200, body: '2' })
    expect(received.map(text => /connection: close/.test(text))).toEqual([true, false])
  })

  test('sends no length without a body, and bytes as they are', async () => {
    const received: Buffer[] = []
    const url = await listen(socket =>
      socket.on('data', chunk => {
        received.push(chunk as Buffer)
        socket.write(answer('{}'))
      }),
    )
    const client = clientWith()
    await client.send({ url, method: 'GET', headers: {}, body: null, timeoutMs: 10_000 })
    await client.send({ url, headers: {}, body: Buffer.of(0xff), timeoutMs: 10_000 })
    expect(String(received[0])).toBe(`GET /placebet HTTP/1.1\r\nhost: ${url.host}\r\n\r\n`)
    expect(received[1]?.toString('latin1')).toMatch(/content-length: 1\r\n\r\n\xff$/)
  })

  test('opens a connection after it was disconnected, and still gives up after the timeout', async () => {
    const url = await listen((socket, connections) =>
      socket.on('data', chunk => {
        if (!String(chunk).endsWith('silence')) socket.write(answer(`${connections}`))
      }),
    )
    const client = clientWith()
    expect(await post(client, url)).toEqual({ status: 200, body: '1' })
    client.disconnect()
    expect(await post(client, url)).toEqual({ status: 200, body: '2' })
    expect(await post(client, url, 'silence', undefined, 1)).toEqual({ error: 'no answer within 1 ms' })
  })

  test('reports an unreachable server, and requests in flight when it is closed', async () => {
    const client = clientWith()
    expect(await post(client, new URL('http://127.0.0.1:1/'))).toEqual({
      error: 'the connection was refused (ECONNREFUSED)',
    })
    const url = await listen(() => {})
    const pending = post(client, url)
    client.close()
    expect(await pending).toEqual({ error: 'closed by the caller' })
  })

  test('uses TLS, and trusts the given authorities', async () => {
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
    expect(await post(clientWith({ ca: cert }), url)).toEqual({ status: 200, body: 'safe' })
    // Newer versions of Node say more.
    expect(await post(clientWith(), url)).toEqual({
      error: expect.stringMatching(/^self-signed certificate.*\(DEPTH_ZERO_SELF_SIGNED_CERT\)$/),
    })
  })
})
