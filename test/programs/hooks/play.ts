/**
 * Plays one hook of the library in this process: it throws each kind of value, then rejects with it. Prints a
 * line per kind with what was answered; an uncaught exception or rejection ends the process.
 * `play.ts <hook> <kind> …`
 */
import { EventEmitter, once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  answerEach,
  type BatchSettings,
  bisect,
  createBatches,
  type RowAnswers,
} from '../../../src/batches/index.js'
import { anyOf, createNodeListener, type HttpOptions } from '../../../src/http/index.js'
import { partitionStore, recordSettlement, type WalletOptions } from '../../../src/index.js'
import { collectMetrics, createHealth, stopGracefully, subscribe } from '../../../src/operations/index.js'
import { optionChecks } from '../../../src/option-checks.js'
import type { WalletStore } from '../../../src/store.js'
import type { OutboxTable } from '../../../src/stores/database/outbox.js'
import { createRelay, type RelayOptions } from '../../../src/stores/database/relay.js'
import { createMemoryStore } from '../../../src/stores/memory.js'
import { type AuditOptions, auditWallet } from '../../../src/tools/audit/index.js'
import { type SimulationOptions, simulateSportsbook } from '../../../src/tools/random/index.js'
import { type ReconcileOptions, reconcile } from '../../../src/tools/reconcile/index.js'
import { thrownValues } from './values.js'

const [hook = '', ...kinds] = process.argv.slice(2)
let kind = ''
let isThrown = true

const failing = (): never => {
  const value = thrownValues[kind]?.()
  if (isThrown) throw value
  return Promise.reject(value) as never
}

/** What a failure leaves behind: unhandled rejections come a turn later. */
const turns = () => new Promise(resolve => setTimeout(resolve, 5))

const newStore = () =>
  createMemoryStore(['anna', 'ben'].map(playerId => ({ playerId, currency: 'EUR', balance: '1000000.00' })))
const memory = newStore()

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
async function placebet(url: string, path = '/placebet'): Promise<number> {
  bets += 1
  const ids = { transactionId: `t${bets}`, betId: `b${bets}`, playerId: 'ben', sessionId: 's' }
  const body = {
    ...ids,
    amount: 1,
    currency: 'EUR',
    betType: 'SINGLE',
    transactionDate: '2026-11-26T10:00:00Z',
  }
  const response = await fetch(url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  await response.text()
  return response.status
}

/** Each of two calls is answered: what one leaves behind does not stop the next. */
async function callTwice(
  store: WalletStore,
  options: Partial<HttpOptions> & Partial<WalletOptions>,
  path?: string,
) {
  const { server, url } = await serve(store, options)
  const statuses = [await placebet(url, path), await placebet(url, path)]
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
async function stopOnce(options: Parameters<typeof stopGracefully>[1]) {
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
  const text = await (await answer).text()
  await stopped
  if (server.listening) await once(server, 'close')
  await turns()
  process.exitCode = 0 // `close` failed: 1
  return [text, closed || options?.close !== undefined]
}

/** Two items of one batch, and what became of each: nothing waits for an answer that never comes. */
async function submitTwice(settings: Partial<BatchSettings<string, string>>) {
  const batches = createBatches<string, string>({
    ...{ slotsMax: 1, batchMax: 8, queueMax: 8, queuedMsMax: 600_000 },
    sheddable: () => false,
    uniqueKeysOf: () => ['one key'],
    perform: async entries => {
      for (const entry of entries) entry.resolve('performed')
    },
    onShed: entry => entry.resolve('shed'),
    onDuplicateKey: entry => entry.resolve('duplicate'),
    ...settings,
  })
  const results = await Promise.allSettled([batches.submit('first'), batches.submit('second')])
  await turns()
  return results.map(result => (result.status === 'fulfilled' ? result.value : 'rejected'))
}

/** As a store of its own answers its rows. */
const answeringBy = (changed: Partial<RowAnswers<string, string, number>>, rows = [0]) =>
  submitTwice({
    uniqueKeysOf: () => [],
    perform: async entries =>
      answerEach(entries, rows, {
        indexOf: row => row,
        answer: entry => entry.resolve('answered'),
        missing: () => new Error('no row'),
        ...changed,
      }),
  })

const invalid = optionChecks(message => {
  throw new Error(message)
})

/** A relay over one event, until its delivery has ended. Returns what was recorded of it. */
async function relayOnce(options: Pick<RelayOptions, 'deliver' | 'onError'>) {
  const ends = new EventEmitter()
  const lease = { betId: 'b1', eventNumber: '1', attempts: 1, failures: 0 }
  const claims = [{ claimed: [{ ...lease, event: {} as never }], unreadable: [], more: false }]
  const table: OutboxTable = {
    async check() {},
    claim: async () => claims.pop() ?? { claimed: [], unreadable: [], more: false },
    async remove(delivered) {
      if (delivered.length > 0) ends.emit('recorded', 'delivered')
      return []
    },
    async postpone(failed) {
      if (failed.length > 0) ends.emit('recorded', 'failed')
      return []
    },
    stats: async () => ({ queued: 0, oldestMs: null, dead: 0 }),
    retryDeadLetters: async () => 0,
  }
  const relay = createRelay(invalid, { pollMs: 1, ...options }, () => table)
  const recorded = once(ends, 'recorded')
  await relay.start()
  const [end] = await recorded
  await turns()
  await relay.stop()
  return [end]
}

/** What became of a run of a tool against a wallet, and whether the wallet answers the next call. */
async function runTool(run: (baseUrl: string) => Promise<unknown>) {
  // A run stakes all that anna has.
  const { server, url } = await serve(newStore(), {})
  const ended = await run(url).then(
    () => 'ended',
    () => 'rejected',
  )
  await turns()
  const status = await placebet(url)
  server.close()
  return [ended, status]
}

const settle = { url: '/settlement' }

const auditing = (options: Partial<AuditOptions>) =>
  runTool(baseUrl =>
    auditWallet({
      ...{ baseUrl, playerId: 'anna', currency: 'EUR', only: ['AU-101'], settle, attempts: 1 },
      ...options,
    }),
  )

const simulating = (options: Partial<SimulationOptions>) =>
  runTool(baseUrl =>
    simulateSportsbook({
      ...{ baseUrl, players: ['anna'], bets: 60, chaos: 0, settle, seed: 1 },
      ...{ progressEveryMs: 1, giveUpAfterMs: 50, backOffMsMax: 0 },
      ...options,
    }),
  )

/** One row that the wallet does not have, and refusals that the report does not have. */
const reconciling = (options: Partial<ReconcileOptions>, refusals = 1) =>
  runTool(() =>
    reconcile({
      report: (async function* () {
        yield 'operation,transactionId,betId,playerId,amount,currency,status,transactionDate\n'
        yield 'placebet,t0,b0,anna,1,EUR,accepted,2026-11-26T10:00:00Z\n'
      })(),
      lookups: {
        async *transactions() {
          for (let n = 0; n < refusals; n += 1)
            yield {
              ...{ operation: 'placebet', type: 'SINGLE', delta: '0', refusal: { errorCode: 'INVALID_BET' } },
              ...{ transactionId: `refused-${n}`, betId: 'b1', playerId: 'anna', currency: 'EUR' },
              recordedAt: '2026-11-26T10:00:00.000Z',
            }
        },
      } as never,
      ...{ from: '2026-11-26', to: '2026-11-27' },
      ...options,
    }),
  )

const conflicting: WalletStore = { ...memory, commit: async () => ({ status: 'conflict' }) }

/** Each returns what was answered: statuses, or what was seen of the stop. */
const plays: Record<string, () => Promise<unknown[]>> = {
  authenticate: () => callTwice(memory, { authenticate: failing }),
  anyOf: () => callTwice(memory, { authenticate: anyOf(failing, failing) }),
  routes: () => callTwice(memory, { routes: { '/own': failing } }, '/own'),
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
  'store.loadConfirmed': () => callTwice({ ...conflicting, loadConfirmed: failing }, {}),
  partitionStore: () => callTwice(partitionStore(failing), {}),
  'batches.sheddable': () => submitTwice({ sheddable: failing }),
  'batches.bulk': () => submitTwice({ bulk: failing }),
  'batches.partitionKeyOf': () => submitTwice({ partitionKeyOf: failing }),
  'batches.uniqueKeysOf': () => submitTwice({ uniqueKeysOf: failing }),
  'batches.perform': () => submitTwice({ perform: failing }),
  'batches.onShed': () => submitTwice({ queuedMsMax: 0, onShed: failing }),
  'batches.onShed of a full queue': () =>
    submitTwice({ queueMax: 1, sheddable: () => true, onShed: failing }),
  'batches.onDuplicateKey': () => submitTwice({ onDuplicateKey: failing }),
  'answerEach.indexOf': () => answeringBy({ indexOf: failing }),
  'answerEach.answer': () => answeringBy({ answer: failing }),
  'answerEach.missing': () => answeringBy({ missing: failing }),
  bisect: () => submitTwice({ uniqueKeysOf: () => [], perform: entries => bisect(entries, failing) }),
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
  'relay.deliver': () => relayOnce({ deliver: failing }),
  'relay.onError': () =>
    relayOnce({ deliver: async () => Promise.reject(new Error('no')), onError: failing }),
  'audit.onStart': () => auditing({ onStart: failing }),
  'audit.onResult': () => auditing({ onResult: failing }),
  'audit.formatDate': () => auditing({ formatDate: failing }),
  'audit.minorUnits': () => auditing({ minorUnits: failing }),
  'audit.sign': () => auditing({ sign: failing }),
  'audit.settle': () => auditing({ settle: failing, only: ['AU-501'] }),
  'audit.restart': () => auditing({ restart: failing, only: ['AU-941'] }),
  'simulator.onProgress': () => simulating({ onProgress: failing }),
  'simulator.onDifference': () => simulating({ onDifference: failing, settle() {} }),
  'simulator.onBetClosed': () => simulating({ onBetClosed: failing }),
  'simulator.onTransaction': () => simulating({ onTransaction: failing }),
  'simulator.minorUnits': () => simulating({ minorUnits: failing }),
  'simulator.sign': () => simulating({ sign: failing }),
  'simulator.settle': () => simulating({ settle: failing }),
  'reconcile.onDifference': () => reconciling({ onDifference: failing }),
  'reconcile.onProgress': () => reconciling({ onProgress: failing }, 100_000),
  'reconcile.sentenceOf': () => reconciling({ sentenceOf: failing }),
  'stop.log': () => stopOnce({ log: failing }),
  'stop.drain': () => stopOnce({ health: { drain: failing } }),
  'stop.close': () => stopOnce({ close: failing }),
}

export const hooks = Object.keys(plays)

for (kind of kinds) {
  isThrown = true
  const thrown = await plays[hook]?.()
  isThrown = false
  console.log(JSON.stringify({ kind, thrown, rejected: await plays[hook]?.() }))
}
