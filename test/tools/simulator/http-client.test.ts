/** The HTTP client: every kind of answer, however it is split into pieces, and every kind of failure. */
import { once } from 'node:events'
import { createServer as createHttpsServer } from 'node:https'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { parseAnswer } from '../../../src/tools/simulator/http-answer.js'
import { createHttpClient, type HttpClient } from '../../../src/tools/simulator/http-client.js'
import type { HttpResult, SendMode } from '../../../src/tools/simulator/http-connection.js'
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

function clientWith(options: Partial<Parameters<typeof createHttpClient>[0]> = {}): HttpClient {
  const client = createHttpClient({ headersTo: () => ({}), timeoutMs: 10_000, tls: {}, ...options })
  open.push(client)
  return client
}

const post = (client: HttpClient, url: URL, body = '{}', mode: SendMode = 'complete') =>
  new Promise<HttpResult>(resolve => client.post(url, body, null, mode, resolve))

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
    expect(parseAnswer(bytes, false)).toEqual({ ...expected, reusable: true })
  })

  test.each([
    ['that closes', 'HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 1\r\n\r\nx'],
    ['of HTTP/1.0', 'HTTP/1.0 200 OK\r\ncontent-length: 1\r\n\r\nx'],
    ['with more behind it', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nxyz'],
  ])('%s is the last one of its connection', (_, text) => {
    expect(parseAnswer(Buffer.from(text), false)).toEqual({ status: 200, body: 'x', reusable: false })
  })

  test('without a length ends with its connection', () => {
    const bytes = Buffer.from('HTTP/1.1 200 OK\r\n\r\nab')
    expect(parseAnswer(bytes, false)).toBe('incomplete')
    expect(parseAnswer(bytes, true)).toEqual({ status: 200, body: 'ab', reusable: false })
  })

  test.each([
    ['SSH-2.0-x\r\n\r\n', 'the answer is not HTTP/1.1'],
    ['HTTP/1.1 200 OK\r\ntransfer-encoding: gzip\r\n\r\n', 'transfer-encoding gzip is not supported'],
    ['HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n', 'a chunk of the answer has no size'],
  ])('%j is rejected', (text, error) => {
    expect(parseAnswer(Buffer.from(text), false)).toEqual({ error })
  })
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
    const client = clientWith({ headersTo: () => ({ 'X-Key': 'k', authorization: 'Basic eDp5' }) })
    const body = '{"playerId":"Zoë"}'
    await new Promise<HttpResult>(resolve =>
      client.post(url, body, { 'x-signature': 's' }, 'complete', resolve),
    )
    expect(received).toBe(
      `POST /placebet HTTP/1.1\r\nhost: ${url.host}\r\ncontent-type: application/json\r\n` +
        `X-Key: k\r\nauthorization: Basic eDp5\r\nx-signature: s\r\ncontent-length: 19\r\n\r\n${body}`,
    )
  })

  test('sends the headers of the URL', async () => {
    let received = ''
    const url = await listen(socket =>
      socket.on('data', chunk => {
        received += chunk
        socket.write(answer('{}'))
      }),
    )
    const client = clientWith({
      headersTo: ({ origin }) => (origin === url.origin ? { 'X-Key': 'k' } : { Authorization: 'Basic eDp5' }),
    })
    await post(client, url)
    expect(received).toMatch(/X-Key: k/)
    expect(received).not.toMatch(/authorization/i)
    expect(client.headersTo(url)).toEqual({
      host: url.host,
      'content-type': 'application/json',
      'x-key': 'k',
    })
    expect(client.headersTo(new URL('http://wallet.example/a')).authorization).toBe('Basic eDp5')
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
      { error: 'ECONNRESET' },
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
    expect(await post(clientWith({ timeoutMs: 1 }), url)).toEqual({ error: 'timed out' })
  })

  test('cuts a request after its last byte, or within it', async () => {
    const received: string[] = []
    const ended: Promise<unknown>[] = []
    const url = await listen((socket, connections) => {
      received[connections - 1] = ''
      socket.on('data', chunk => {
        received[connections - 1] = `${received[connections - 1]}${chunk}`
      })
      ended.push(once(socket, 'close'))
    })
    const client = clientWith()
    expect(await post(client, url, '{"whole":true}', 'cut-after')).toEqual({ error: 'cut after the request' })
    expect(await post(client, url, '{"whole":false}', 'cut-within')).toEqual({
      error: 'cut within the request',
    })
    await expect.poll(() => ended.length).toBe(2)
    await Promise.all(ended)
    expect(received[0]).toMatch(/\{"whole":true\}$/)
    expect(received[1]).toMatch(/^POST/)
    expect(received[1]).not.toMatch(/\}$/)
  })

  test('reports an unreachable server, and requests in flight when it is closed', async () => {
    const client = clientWith()
    expect(await post(client, new URL('http://127.0.0.1:1/'))).toEqual({ error: 'ECONNREFUSED' })
    const url = await listen(() => {})
    const pending = post(client, url)
    client.close()
    expect(await pending).toEqual({ error: 'closed by the sportsbook' })
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
    expect(await post(clientWith({ tls: { ca: cert } }), url)).toEqual({ status: 200, body: 'safe' })
    expect(await post(clientWith(), url)).toEqual({ error: 'DEPTH_ZERO_SELF_SIGNED_CERT' })
  })
})
