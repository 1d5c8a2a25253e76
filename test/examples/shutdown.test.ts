/** examples/shutdown.ts and examples/health.ts in one process each: the ends of a server, and what probes are told. */
import { EventEmitter, once } from 'node:events'
import { Agent, createServer, request as httpRequest, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { startHealthServer } from '../../examples/health.js'
import { type ShutdownOptions, stopGracefully } from '../../examples/shutdown.js'

const ends: (() => void)[] = []
afterEach(() => {
  for (const end of ends.splice(0)) end()
  vi.restoreAllMocks()
})

/** A server whose calls are answered by the test, and the signal that the process would receive. */
async function stage(options: ShutdownOptions = {}) {
  const signals = new EventEmitter()
  const { once: register } = process
  vi.spyOn(process, 'once').mockImplementation(
    (name: string | symbol, listener: (...args: never[]) => void) => {
      if (name !== 'SIGINT' && name !== 'SIGTERM') return register.call(process, name, listener as () => void)
      signals.once(name, listener as () => void)
      return process
    },
  )
  const calls: ServerResponse[] = []
  const arrived = new EventEmitter()
  const server = createServer((_request, response) => {
    calls.push(response)
    arrived.emit('call')
  })
  server.keepAliveTimeout = 600_000
  server.headersTimeout = 600_000
  const lines: string[] = []
  const closed = new Promise<void>(resolve => {
    stopGracefully(server, { log: line => void lines.push(line), ...options, close: () => resolve() })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const agent = new Agent({ keepAlive: true })
  ends.push(() => {
    agent.destroy()
    server.closeAllConnections()
    server.close()
  })
  /** The status of the answer, or the code of the error. */
  const send = (path: string) =>
    new Promise<number | string | undefined>(resolve => {
      const sent = httpRequest({ port, host: '127.0.0.1', agent, path, method: 'POST' }, response => {
        response.resume().once('end', () => resolve(response.statusCode))
      })
      sent.once('error', (error: NodeJS.ErrnoException) => resolve(error.code))
      sent.end()
    })
  const next = () => once(arrived, 'call')
  return { signals, calls, lines, closed, port, send, next, server }
}

describe('given SIGTERM', () => {
  test('when connections are idle, or have sent nothing or half a call, then it ends at once', async () => {
    const { signals, calls, lines, closed, port, send, next, server } = await stage()
    const first = send('/wallet/placebet')
    await next()
    calls[0]?.end()
    expect(await first).toBe(200)
    for (const text of ['', 'POST /wallet/placebet HTTP/1.1\r\nHost: w']) {
      const socket = connect(port, '127.0.0.1')
      socket.on('error', () => {})
      const [peer] = (await once(server, 'connection')) as [Socket]
      socket.write(text)
      await vi.waitFor(() => expect(peer.bytesRead).toBe(text.length))
    }
    signals.emit('SIGTERM', 'SIGTERM')
    await closed
    expect(lines).toEqual(['SIGTERM: no new calls. None is in flight.'])
  })

  test('when calls are in flight, then it says which, and ends with the last answer', async () => {
    const { signals, calls, lines, closed, send, next } = await stage()
    const answers: Promise<unknown>[] = []
    for (const path of ['/wallet/placebet', '/wallet/placebet', '/wallet/rollbackbet']) {
      const arrived = next()
      answers.push(send(path))
      await arrived
    }
    signals.emit('SIGTERM', 'SIGTERM')
    expect(lines).toEqual([
      'SIGTERM: no new calls. Waiting for 3 in flight: POST /wallet/placebet (2), POST /wallet/rollbackbet.',
    ])
    // One has sent its head already: its connection would be kept.
    calls[0]?.end()
    expect(await answers[0]).toBe(200)
    await vi.waitFor(() => expect(lines).toHaveLength(2))
    expect(lines[1]).toBe('Waiting for 2 in flight: POST /wallet/placebet, POST /wallet/rollbackbet.')
    for (const call of calls.slice(1)) call.end()
    expect(await Promise.all(answers)).toEqual([200, 200, 200])
    await closed
    expect(lines.at(-1)).toBe('All calls are answered.')
  })

  test('when an answer has begun before the signal, then its connection is closed after it', async () => {
    const { signals, calls, closed, send, next } = await stage()
    const answer = send('/wallet/placebet')
    await next()
    calls[0]?.writeHead(200, { 'content-length': 2 }).write('1')
    signals.emit('SIGINT', 'SIGINT')
    calls[0]?.end('2')
    expect(await answer).toBe(200)
    await closed
  })

  test('when a call is not answered in time, then it is named, and the process ends', async () => {
    const { signals, lines, closed, send, next } = await stage({ graceMs: 1 })
    const answer = send('/wallet/placebet')
    await next()
    signals.emit('SIGTERM', 'SIGTERM')
    await closed
    expect(await answer).toBe('ECONNRESET')
    expect(lines[1]).toBe(
      'Not answered after 0.001 s: POST /wallet/placebet. The platform retries, or rolls back.',
    )
  })
})

describe('given the health server', () => {
  const open = async (options: Partial<Parameters<typeof startHealthServer>[0]> = {}) => {
    const health = await startHealthServer({ port: 0, host: '127.0.0.1', ...options })
    ends.push(health.close)
    const get = async (path: string) => {
      const response = await fetch(health.url + path)
      return [response.status, (await response.text()).trim()]
    }
    return { health, get }
  }

  test('when the check passes, then the process is alive and ready', async () => {
    const { get } = await open({ check: async () => {}, metrics: async () => 'm 1' })
    expect(await get('/livez')).toEqual([200, 'alive'])
    expect(await get('/readyz')).toEqual([200, 'ready'])
    expect(await get('/metrics')).toEqual([200, 'm 1'])
    expect(await get('/')).toEqual([404, 'not found'])
  })

  test('when the database is down, then it is not ready and says why, but alive', async () => {
    const { get } = await open({ check: () => Promise.reject(new Error('connect ECONNREFUSED')) })
    expect(await get('/readyz')).toEqual([503, 'connect ECONNREFUSED'])
    expect(await get('/livez')).toEqual([200, 'alive'])
    expect(await get('/metrics')).toEqual([404, 'not found'])
  })

  test('when it stops, then it is not ready, whatever the database says, but alive', async () => {
    const { health, get } = await open({ check: async () => {} })
    health.stopping()
    expect(await get('/readyz')).toEqual([503, 'stopping'])
    expect(await get('/livez')).toEqual([200, 'alive'])
  })

  test('when probes come while a check runs, then they share it; the next probe checks anew', async () => {
    const pending: (() => void)[] = []
    const check = vi.fn(() => new Promise<void>(resolve => pending.push(resolve)))
    const { health, get } = await open({ check })
    // Two probes in one packet: both have arrived when the check begins.
    const socket = connect(Number(new URL(health.url).port), '127.0.0.1')
    let answers = ''
    socket.on('data', data => {
      answers += data
    })
    socket.write('GET /readyz HTTP/1.1\r\nHost: w\r\n\r\n'.repeat(2))
    await vi.waitFor(() => expect(pending).toHaveLength(1))
    expect(await get('/livez')).toEqual([200, 'alive'])
    pending[0]?.()
    await vi.waitFor(() => expect(answers.match(/ 200 OK/g)).toHaveLength(2))
    expect(check).toHaveBeenCalledTimes(1)
    const later = get('/readyz')
    await vi.waitFor(() => expect(pending).toHaveLength(2))
    pending[1]?.()
    expect(await later).toEqual([200, 'ready'])
    socket.destroy()
  })
})
