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
  return { server, stop, lines, closed, port, send, begin }
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

  test('when close fails after a signal, then that is logged, and the exit code is 1', async () => {
    const { lines } = await stage({ close: () => Promise.reject(new Error('no pool')) })
    const { exitCode } = process
    try {
      kill()
      await expect.poll(() => lines).toHaveLength(2)
      expect([lines[1], process.exitCode]).toEqual(['The stop failed: no pool', 1])
    } finally {
      process.exitCode = exitCode
    }
  })
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
