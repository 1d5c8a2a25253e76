/** What probes are told, on a real server. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createHealth, type HealthOptions } from 'bet-wallet/operations'
import { Counter, Registry } from 'prom-client'
import { afterEach, describe, expect, test, vi } from 'vitest'

const ends: (() => void)[] = []
afterEach(() => {
  for (const end of ends.splice(0)) end()
})

async function open(options: HealthOptions) {
  const health = createHealth(options)
  const server = createServer(health.listener)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  ends.push(() => server.close())
  const get = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`)
    return [response.status, (await response.text()).trim(), response.headers.get('connection')]
  }
  return { health, get, port }
}

const down = () => Promise.reject(new Error('connect ECONNREFUSED'))
const up = async () => {}

describe('given a process whose store answers', () => {
  test('when it is probed, then it is alive and ready, and no connection is kept', async () => {
    const registry = new Registry()
    new Counter({ name: 'calls_total', help: 'Calls', registers: [registry] }).inc()
    const { get } = await open({ check: up, metrics: registry })
    expect(await get('/livez')).toEqual([200, 'alive', 'close'])
    expect(await get('/readyz?verbose')).toEqual([200, 'ready', 'close'])
    expect(await get('/metrics')).toEqual([200, expect.stringContaining('calls_total 1'), 'close'])
    expect(await get('/')).toEqual([404, 'not found', 'close'])
  })

  test.each<[string, unknown, string]>([
    [
      'a durability',
      { level: 'asynchronous', reason: 'synchronous_standby_names is empty' },
      'ready; durability: asynchronous: synchronous_standby_names is empty',
    ],
    ['nothing', undefined, 'ready'],
    ['null', null, 'ready'],
    ['something else', { level: 3, reason: 'three' }, 'ready'],
    ['a text', 'PONG', 'ready'],
  ])(
    'when its check resolves to %s, then the answer has it if it is a durability',
    async (_, found, body) => {
      const { get } = await open({ check: async () => found })
      expect(await get('/readyz')).toEqual([200, body, 'close'])
    },
  )

  test('when it stops, then it is not ready, whatever the store says, but alive', async () => {
    const { health, get } = await open({ check: up })
    health.drain()
    expect(await get('/readyz')).toEqual([503, 'stopping', 'close'])
    expect(await get('/livez')).toEqual([200, 'alive', 'close'])
    expect(await get('/metrics')).toEqual([404, 'not found', 'close'])
  })

  test('when the stop begins while a check runs, then that probe is told so', async () => {
    let answer = () => {}
    const health = createHealth({ check: () => new Promise<void>(resolve => (answer = resolve)) })
    const probe = health.ready()
    health.drain()
    answer()
    expect((await probe).status).toBe(503)
  })
})

describe('given a store that does not answer', () => {
  test.each<[string, HealthOptions['check'], string]>([
    ['rejects', down, 'connect ECONNREFUSED'],
    ['rejects without words', () => Promise.reject(new Error('')), 'Error'],
    ['rejects with nothing', () => Promise.reject(null), 'null'],
    [
      'throws',
      () => {
        throw new Error('no pool')
      },
      'no pool',
    ],
    ['hangs', () => new Promise(() => {}), 'the check took more than 0.001 s'],
  ])('when its check %s, then the process is not ready and says why, but alive', async (_, check, body) => {
    const { get } = await open({ check, timeoutMs: 1 })
    expect(await get('/readyz')).toEqual([503, body, 'close'])
    expect(await get('/livez')).toEqual([200, 'alive', 'close'])
  })

  test('when the metrics fail, then their answer is 500', async () => {
    const metrics = { contentType: 'text/plain', metrics: () => Promise.reject(new Error('no store')) }
    const { get } = await open({ check: up, metrics })
    expect(await get('/metrics')).toEqual([500, 'no store', 'close'])
  })

  test('when probes come while a check runs, then they share it; the next probe checks anew', async () => {
    const pending: (() => void)[] = []
    const check = vi.fn(() => new Promise<void>(resolve => pending.push(resolve)))
    const health = createHealth({ check })
    const probes = [health.ready(), health.ready()]
    await expect.poll(() => pending).toHaveLength(1)
    pending[0]?.()
    expect((await Promise.all(probes)).map(({ status }) => status)).toEqual([200, 200])
    expect(check).toHaveBeenCalledTimes(1)
    const later = health.ready()
    await expect.poll(() => pending).toHaveLength(2)
    pending[1]?.()
    expect((await later).status).toBe(200)
  })
})

test.each<[object, string]>([
  [{}, 'check must be a function: () => store.ping()'],
  [{ check: up, timeoutMs: 0 }, 'timeoutMs must be a whole number from 1 to 3600000'],
  [{ check: up, metrics: 'yes' }, 'metrics.metrics must be a function'],
  [{ check: up, metrics: {} }, 'metrics.metrics must be a function'],
  [{ check: up, timeout: 1 }, 'unknown option "timeout"'],
])('given the options %o, then it throws', (options, problem) => {
  expect(() => createHealth(options as never)).toThrow(
    expect.objectContaining({ code: 'INVALID_OPTIONS', message: `Invalid options: ${problem}` }),
  )
})
