/**
 * Plays one hook of the library in this process: with each kind of value it throws, and then rejects. Prints
 * a line per kind; an uncaught exception or rejection ends the process before the last.
 * `node --import tsx play.ts <hook>`
 */
import { EventEmitter, once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createNodeListener, type HttpOptions } from '../../../src/http/index.js'
import { recordSettlement, type WalletOptions } from '../../../src/index.js'
import { collectMetrics, createHealth, stopGracefully, subscribe } from '../../../src/operations/index.js'
import type { WalletStore } from '../../../src/store.js'
import { createMemoryStore } from '../../../src/stores/memory.js'
import { thrownValues } from './values.js'

const [hook = ''] = process.argv.slice(2)
let fail = (): unknown => new Error()

/** Throws at its first call, rejects at the next, and so on. */
let calls = 0
const failing = (): never => {
  calls += 1
  if (calls % 2 === 1) throw fail()
  return Promise.reject(fail()) as never
}

/** Both ways of failing are played, and then what they left behind: unhandled rejections come a turn later. */
const turns = () => new Promise(resolve => setTimeout(resolve, 5))

const memory = createMemoryStore([{ playerId: 'anna', currency: 'EUR', balance: '100.00' }])

async function serve(store: WalletStore, options: Partial<HttpOptions>) {
  const listener = createNodeListener(store, {
    authenticate: () => true,
    routes: { '/settlement': body => recordSettlement(store, body) },
    ...options,
  })
  const server = createServer(listener)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

let bets = 0
async function placebet(url: string): Promise<number> {
  bets += 1
  const ids = { transactionId: `t${bets}`, betId: `b${bets}`, playerId: 'anna', sessionId: 's' }
  const body = {
    ...ids,
    amount: 1,
    currency: 'EUR',
    betType: 'SINGLE',
    transactionDate: '2026-11-26T10:00:00Z',
  }
  const response = await fetch(`${url}/placebet`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  await response.text()
  return response.status
}

/** Two calls: one whose hook throws, one whose hook rejects. Each is answered. */
async function callTwice(store: WalletStore, options: Partial<HttpOptions> & Partial<WalletOptions>) {
  const { server, url } = await serve(store, options)
  const statuses = [await placebet(url), await placebet(url)]
  await turns()
  server.close()
  return statuses
}

async function probeTwice(path: string, options: Parameters<typeof createHealth>[0]) {
  const server = createServer(createHealth(options).listener)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`
  const statuses = [(await fetch(url)).status, (await fetch(url)).status]
  await turns()
  server.close()
  return statuses
}

/** A stop with one call in flight: the call is answered, and `close` is called, whatever the hook does. */
async function stopTwice(options: Parameters<typeof stopGracefully>[1]) {
  const results: unknown[] = []
  for (let time = 0; time < 2; time += 1) {
    const arrived = new EventEmitter()
    const server = createServer((_, response) => arrived.emit('call', response))
    let closed = false
    const stop = stopGracefully(server, {
      ...{ signals: ['TEST'], idleMs: 1, log() {}, close: () => (closed = true) },
      ...options,
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const answer = fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/placebet`)
    const [response] = await once(arrived, 'call')
    if (options?.close) process.emit('TEST' as never, 'TEST' as never)
    const stopped = options?.close ? null : stop()
    await turns()
    response.end('answered')
    results.push(await (await answer).text())
    await stopped
    if (server.listening) await once(server, 'close')
    results.push(closed || options?.close !== undefined)
  }
  await turns()
  process.exitCode = 0 // `close` failed: 1
  return results
}

const conflicting: WalletStore = { ...memory, commit: async () => ({ status: 'conflict' }) }

/** Each returns what was answered: statuses, or what was seen of the stop. */
const plays: Record<string, () => Promise<unknown[]>> = {
  authenticate: () => callTwice(memory, { authenticate: failing }),
  authorizeRequest: () => callTwice(memory, { authorizeRequest: failing }),
  authorizeBet: () => callTwice(memory, { authorizeBet: failing }),
  minorUnits: () => callTwice(memory, { minorUnits: failing }),
  parseTransactionDate: () => callTwice(memory, { parseTransactionDate: failing }),
  backOff: () => callTwice(conflicting, { backOff: failing }),
  onOutcome: () => callTwice(memory, { onOutcome: failing }),
  onError: () => callTwice(memory, { authorizeBet: failing, onError: failing }),
  onAuthenticationFailed: () =>
    callTwice(memory, { authenticate: () => false, onAuthenticationFailed: failing }),
  'store.load': () => callTwice({ ...memory, load: failing }, { authorizeBet() {} }),
  'store.commit': () => callTwice({ ...memory, commit: failing }, {}),
  subscribe: () => {
    for (const name of ['bet-wallet:request', 'bet-wallet:http', 'bet-wallet:commit'] as const)
      subscribe(name, failing)
    return callTwice(memory, {})
  },
  'health.check': () => probeTwice('/readyz', { check: failing }),
  'health.metrics': () =>
    probeTwice('/metrics', {
      check: async () => {},
      metrics: { contentType: 'text/plain', metrics: failing },
    }),
  'metrics of a relay': async () => {
    const { Registry, ...client } = await import('prom-client')
    const registry = new Registry()
    collectMetrics(client as never, { relay: { stats: failing }, registry })
    return probeTwice('/metrics', { check: async () => {}, metrics: registry })
  },
  'stop.log': () => stopTwice({ log: failing }),
  'stop.drain': () => stopTwice({ health: { drain: failing } }),
  'stop.close': () => stopTwice({ close: failing }),
}

export const hooks = Object.keys(plays)

const play = plays[hook]
if (play !== undefined) {
  for (const [kind, value] of Object.entries(thrownValues)) {
    fail = value
    console.log(`${kind}: ${JSON.stringify(await play())}`)
  }
}
