/** The stop of real servers, whose calls are answered by the test. */
import { EventEmitter, once } from 'node:events'
import type { ServerResponse } from 'node:http'
import {
  Agent,
  createServer,
  type IncomingMessage,
  type RequestListener,
  request,
  type Server,
} from 'node:http'
import { createServer as createSecureServer } from 'node:http2'
import { createServer as createTlsServer, Agent as TlsAgent, request as tlsRequest } from 'node:https'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { createHealth, type StopOptions, stopGracefully } from 'bet-wallet/operations'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { cert, key } from '../tools/audit/certificate.js'

const ends: (() => unknown)[] = []
afterEach(() => {
  for (const end of ends.splice(0)) end()
  vi.useRealTimers()
})

/** In place of SIGTERM, which the test runner receives too. */
const signal = 'TEST_SIGNAL'
const kill = () => process.emit(signal as never, signal as never)

const plain = (listener: RequestListener): Server => createServer(listener)

const tls = (listener: RequestListener) => createTlsServer({ key, cert }, listener) as unknown as Server

async function stage(options: StopOptions = {}, serve = plain) {
  const calls: ServerResponse[] = []
  const arrived = new EventEmitter()
  const server = serve((_request, response) => {
    calls.push(response)
    arrived.emit('call')
  })
  // None of these limits ends a connection here.
  Object.assign(server, { keepAliveTimeout: 600_000, headersTimeout: 600_000, requestTimeout: 600_000 })
  const lines: string[] = []
  let close = () => {}
  const closed = new Promise<void>(resolve => (close = resolve))
  const stop = stopGracefully(server, {
    ...{ log: line => void lines.push(line), signals: [signal], close, idleMs: 1 },
    ...options,
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const settings = { port, host: '127.0.0.1', method: 'POST' }
  const agents = [
    new Agent({ keepAlive: true }),
    new TlsAgent({ keepAlive: true, rejectUnauthorized: false }),
  ]
  ends.push(() => {
    for (const agent of agents) agent.destroy()
    server.closeAllConnections()
    server.close()
    process.removeAllListeners(signal)
  })
  /** Status and header Connection of the answer, or the code of the error. */
  const send = (path: string) =>
    new Promise<unknown>(resolve => {
      const answered = (response: IncomingMessage) =>
        response.resume().once('end', () => resolve(`${response.statusCode} ${response.headers.connection}`))
      const sent =
        serve === tls
          ? tlsRequest({ ...settings, agent: agents[1], path }, answered)
          : request({ ...settings, agent: agents[0], path }, answered)
      sent.once('error', (error: NodeJS.ErrnoException) => resolve(error.code))
      sent.end()
    })
  /** Sends a call, and returns when it has arrived. */
  const begin = async (path: string) => {
    const arrival = once(arrived, 'call')
    const answer = send(path)
    await arrival
    return { answer, response: calls.at(-1) as ServerResponse }
  }
  return { server, stop, lines, closed, port, calls, send, begin }
}

describe.each([
  ['HTTP', plain],
  ['HTTPS', tls],
])('given a server of %s', (name, serve) => {
  test('when connections are idle, or have sent nothing or half a call, then it ends at once', async () => {
    const { lines, closed, port, begin, server } = await stage({}, serve)
    const first = await begin('/wallet/placebet')
    first.response.end()
    expect(await first.answer).toBe('200 keep-alive')
    for (const text of ['', 'POST /wallet/placebet HTTP/1.1\r\nHost: w']) {
      const socket = connect(port, '127.0.0.1')
      socket.on('error', () => {})
      const [peer] = (await once(server, 'connection')) as [Socket]
      if (name === 'HTTPS') continue // a handshake that has not begun
      socket.write(text)
      await expect.poll(() => peer.bytesRead).toBe(text.length)
    }
    kill()
    await closed
    expect(lines).toEqual([`${signal}: no new calls. None is in flight.`])
  })

  test('when calls are in flight, then it says which, and ends with the last answer', async () => {
    const { lines, closed, begin, send } = await stage({}, serve)
    const calls: Awaited<ReturnType<typeof begin>>[] = []
    for (const path of ['/wallet/placebet', '/wallet/placebet', '/wallet/rollbackbet'])
      calls.push(await begin(path))
    kill()
    expect(lines).toEqual([
      `${signal}: no new calls. Waiting for 3 in flight: POST /wallet/placebet (2), POST /wallet/rollbackbet.`,
    ])
    expect(await send('/wallet/late')).toBe('ECONNREFUSED')
    for (const { response, answer } of calls) {
      response.end()
      expect(await answer).toBe('200 close')
    }
    await closed
    expect(lines.slice(1)).toEqual(['All calls are answered.'])
  })

  test('when an answer has begun before the signal, then its connection is closed after it', async () => {
    const { closed, begin } = await stage({}, serve)
    const { answer, response } = await begin('/wallet/placebet')
    response.writeHead(200, { 'content-length': 2 }).write('1')
    kill()
    response.end('2')
    expect(await answer).toBe('200 keep-alive')
    await closed
  })

  test('when a call is not answered in time, then it is named, and cut off', async () => {
    const { lines, closed, begin } = await stage({ graceMs: 1 }, serve)
    const { answer } = await begin('/wallet/placebet')
    kill()
    expect(await answer).toBe('ECONNRESET')
    await closed
    expect(lines.slice(1)).toEqual([
      'Not answered after 0.001 s: POST /wallet/placebet. The platform retries, or rolls back.',
    ])
  })
})

async function plainServer() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  ends.push(() => server.close())
  return { port: (server.address() as AddressInfo).port }
}

/** Writes raw bytes on one connection. @returns all that the server has sent when it is closed */
function rawConnection(port: number) {
  const socket = connect(port, '127.0.0.1')
  let received = ''
  socket.on('data', data => (received += data))
  socket.on('error', () => {})
  return {
    send: (text: string) => void socket.write(text),
    destroy: () => void socket.destroy(),
    received: new Promise<string>(resolve => socket.once('close', () => resolve(received))),
  }
}

const head = (path: string) => `POST ${path} HTTP/1.1\r\nHost: w\r\nContent-Length: 0\r\n\r\n`
const statusLines = (received: string) =>
  received.toLowerCase().match(/^(?:http\/1\.1 \d+|connection: [a-z-]+)/gm)

describe('given calls that share a connection', () => {
  /** Sends two calls at once, and returns when both have arrived. */
  async function pipelined(options?: StopOptions) {
    const staged = await stage(options)
    const connection = rawConnection(staged.port)
    connection.send(head('/wallet/placebet') + head('/wallet/rollbackbet'))
    await expect.poll(() => staged.calls.length).toBe(2)
    return { ...staged, connection }
  }

  test('when the stop begins, then each is answered, and only the last closes the connection', async () => {
    const { stop, calls, lines, connection } = await pipelined()
    const stopped = stop()
    expect(lines[0]).toContain('Waiting for 2 in flight')
    for (const response of calls) response.end()
    expect(statusLines(await connection.received)).toEqual([
      ...['http/1.1 200', 'connection: keep-alive'],
      ...['http/1.1 200', 'connection: close'],
    ])
    await stopped
    expect(lines.slice(1)).toEqual(['All calls are answered.'])
  })

  test('when the later one is answered first, then that is the same', async () => {
    const { stop, calls, connection } = await pipelined()
    const stopped = stop()
    for (const response of calls.toReversed()) response.end()
    expect(statusLines(await connection.received)).toHaveLength(4)
    await stopped
  })

  test('when one more comes during the stop, then it is answered, and closes the connection', async () => {
    const { stop, calls, connection } = await pipelined()
    const stopped = stop()
    connection.send(head('/wallet/unsettlement'))
    await expect.poll(() => calls.length).toBe(3)
    for (const response of calls) response.end()
    expect(statusLines(await connection.received)).toEqual([
      ...['http/1.1 200', 'connection: keep-alive', 'http/1.1 200', 'connection: keep-alive'],
      ...['http/1.1 200', 'connection: close'],
    ])
    await stopped
  })

  test('when the connection breaks, then none of them is waited for', async () => {
    const { stop, lines, connection } = await pipelined()
    const stopped = stop()
    connection.destroy()
    await stopped
    expect(lines.slice(1)).toEqual(['All calls are answered.'])
  })

  test('when many calls use it one after the other, then no listener is left on it', async () => {
    const { server, begin, stop } = await stage()
    const connected = once(server, 'connection') as Promise<[Socket]>
    for (let call = 0; call < 20; call += 1) {
      const { response, answer } = await begin('/wallet/placebet')
      response.end()
      await answer
    }
    const [socket] = await connected
    expect(socket.listenerCount('close')).toBeLessThan(10)
    await stop()
  })
})

describe('given broken bytes behind a call', () => {
  test('when the call is not answered yet, then the connection is closed without an answer', async () => {
    const { port, calls } = await stage()
    const connection = rawConnection(port)
    connection.send(head('/wallet/placebet'))
    await expect.poll(() => calls.length).toBe(1)
    connection.send('}\r\n\r\n')
    expect(await connection.received).toBe('')
  })

  test('when no call is open, then Node.js answers 400, as without the stop', async () => {
    const { port, calls } = await stage()
    const connection = rawConnection(port)
    connection.send(head('/wallet/placebet'))
    await expect.poll(() => calls.length).toBe(1)
    calls[0]?.end()
    connection.send('}\r\n\r\n')
    expect(statusLines(await connection.received)?.filter(line => line.startsWith('http'))).toEqual([
      'http/1.1 200',
      'http/1.1 400',
    ])
  })

  test.each([
    ['no request', 'broken\r\n\r\n'],
    ['headers that are too large', `POST / HTTP/1.1\r\nA: ${'a'.repeat(20_000)}\r\n\r\n`],
  ])('when the connection sends %s, then the answer is that of Node.js', async (_, text) => {
    const answers = await Promise.all(
      [await stage(), await plainServer()].map(({ port }) => {
        const connection = rawConnection(port)
        connection.send(text)
        return connection.received
      }),
    )
    expect(answers[0]).toBe(answers[1])
    expect(answers[0]).toMatch(/^HTTP\/1\.1 4/)
  })

  test('when the server has a listener of its own, then it decides', async () => {
    const { port, server } = await stage()
    server.on('clientError', (_error, socket) => socket.end('HTTP/1.1 499 Own\r\n\r\n'))
    const connection = rawConnection(port)
    connection.send('broken\r\n\r\n')
    expect(await connection.received).toBe('HTTP/1.1 499 Own\r\n\r\n')
  })
})

describe('given a stop', () => {
  test('when it begins, then the process is not ready before the last call is answered', async () => {
    const health = createHealth({ check: async () => {} })
    const { stop, begin } = await stage({ health })
    const { response } = await begin('/wallet/placebet')
    expect((await health.ready()).status).toBe(200)
    const stopped = stop()
    expect((await health.ready()).status).toBe(503)
    response.end()
    await stopped
  })

  test('when it has a delay, then calls are accepted until it has passed', async () => {
    const { stop, begin, send } = await stage({ delayMs: 60_000 })
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const stopped = stop()
    const { answer, response } = await begin('/wallet/placebet')
    response.end()
    expect(await answer).toBe('200 close')
    vi.advanceTimersByTime(60_000)
    await stopped
    expect(await send('/wallet/late')).toBe('ECONNREFUSED')
  })

  test('when a call comes on an idle connection, then it is answered, and the connection closed', async () => {
    const { stop, begin, lines } = await stage({ idleMs: 60_000 })
    const first = await begin('/wallet/placebet')
    first.response.end()
    expect(await first.answer).toBe('200 keep-alive')
    const stopped = stop()
    const second = await begin('/wallet/placebet')
    second.response.end()
    expect(await second.answer).toBe('200 close')
    await stopped // before idleMs: no connection is left
    expect(lines).toEqual(['Stop: no new calls. None is in flight.'])
  })

  test('when it is called again, or a signal comes, then it is the same stop', async () => {
    const close = vi.fn()
    const { stop, lines } = await stage({ close })
    kill()
    expect(process.listenerCount(signal)).toBe(0) // the second signal ends the process
    const stopped = stop()
    expect(stop()).toBe(stopped)
    await stopped
    expect(close).toHaveBeenCalledTimes(1)
    expect(lines).toHaveLength(1)
  })

  test('when the server is closed by other code, or never listened, then it ends', async () => {
    const { server, stop } = await stage()
    server.close()
    await stop()
    await stopGracefully(createServer(), { signals: [], log() {} })()
  })

  test.each<[string, () => unknown, string]>([
    [
      'throws',
      () => {
        throw new Error('no pool')
      },
      'no pool',
    ],
    ['rejects', () => Promise.reject(new Error('no pool')), 'no pool'],
    ['hangs', () => new Promise(() => {}), 'close did not end within 0.001 s'],
  ])('when close %s, then it rejects', async (_, close, message) => {
    const { stop } = await stage({ close, closeMs: 1 })
    await expect(stop()).rejects.toThrow(message)
  })

  test('when close fails after a signal, then that is logged in one line, and the exit code is 1', async () => {
    const { lines } = await stage({ close: () => Promise.reject(new Error('no pool\n\u009b2J')) })
    const { exitCode } = process
    try {
      kill()
      await expect.poll(() => lines).toHaveLength(2)
      expect([lines[1], process.exitCode]).toEqual(['The stop failed: no pool\\n\\u009b2J', 1])
    } finally {
      process.exitCode = exitCode
    }
  })
})

test('given calls with a query or odd characters, when they are listed, then neither is in the log', async () => {
  const { stop, begin, lines } = await stage({ graceMs: 1 })
  await begin('/wallet/placebet?token=secret')
  await stop()
  expect(lines.join()).toContain('POST /wallet/placebet.')
  expect(lines.join()).not.toContain('secret')
})

test.each<[object, string]>([
  [{ close: 'pool' }, 'close must be a function'],
  [{ health: {} }, 'health.drain must be a function'],
  [{ delayMs: -1 }, 'delayMs must be a whole number from 0 to 86400000'],
  [{ idleMs: 0.5 }, 'idleMs must be a whole number from 0 to 86400000'],
  [{ graceMs: '20' }, 'graceMs must be a whole number from 1 to 86400000'],
  [{ closeMs: 0 }, 'closeMs must be a whole number from 1 to 86400000'],
  [{ signals: 'SIGTERM' }, 'signals must be a list of names'],
  [{ log: true }, 'log must be a function'],
  [{ grace: 1 }, 'unknown option "grace"'],
])('given the options %o, then it throws', (options, problem) => {
  expect(() => stopGracefully(createServer(), options as never)).toThrow(
    expect.objectContaining({ code: 'INVALID_OPTIONS', message: `Invalid options: ${problem}` }),
  )
})

test.each([[null], [{}], [createSecureServer()]])('given no server of HTTP/1.1, then it throws', server => {
  expect(() => stopGracefully(server as never)).toThrow(
    'Invalid options: server must be a server of node:http or node:https',
  )
})
