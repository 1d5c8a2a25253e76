/** The exchanges of the tests, and the answers that these do not have. */
import { WalletRefusal } from '../../../src/errors.js'
import { recordSettlement } from '../../../src/handlers.js'
import { basicAuth, createHttpHandler, type HttpOptions, type HttpResponse } from '../../../src/http/index.js'
import type { WalletStore } from '../../../src/store.js'
import { createMemoryStore } from '../../../src/stores/memory.js'
import {
  basePath,
  bodyBytesMax,
  credentials,
  type Exchange,
  exchanges,
  initialPlayers,
  usualHeaders,
} from '../../examples/exchanges.js'

export interface Exchanged {
  name: string
  method: string
  /** As in the document: `"/placebet"`. */
  path: string
  /** The body as JSON; `undefined` if it is none. */
  parsed: { body: unknown } | undefined
  answer: HttpResponse
}

/** Every exchange of test/examples/exchanges.ts in order, then the others. */
export async function replayAll(): Promise<Exchanged[]> {
  const exchanged: Exchanged[] = []
  const call = setUp(createMemoryStore(initialPlayers))
  for (const { name, request } of exchanges) exchanged.push(await call(name, request))
  for (const [operation, fields] of Object.entries(bodies)) {
    const complete: Record<string, unknown> = { ...ids, ...fields }
    for (const name of Object.keys(complete)) {
      for (const value of [undefined, null, '', 'x', -1, true, {}]) {
        const body = JSON.stringify({ ...complete, [name]: value })
        const request = requestOf(operation, body)
        const ask = setUp(createMemoryStore(initialPlayers))
        exchanged.push(await ask(`${operation} with ${name}: ${JSON.stringify(value)}`, request))
      }
    }
    const request = requestOf(operation, JSON.stringify(complete))
    for (const [name, options, faults] of others) {
      const store = { ...createMemoryStore(initialPlayers), ...faults }
      exchanged.push(await setUp(store, options)(`${operation} with ${name}`, request))
    }
  }
  return exchanged
}

const requestOf = (operation: string, body: string): Exchange['request'] => ({
  ...{ method: 'POST', path: `${basePath}/${operation}`, headers: {}, chunked: false },
  body,
})

function setUp(store: WalletStore, options: Partial<HttpOptions> = {}) {
  const handle = createHttpHandler(store, {
    authenticate: basicAuth(credentials),
    onAuthenticationFailed() {},
    onError() {},
    ...{ basePath, bodyBytesMax },
    routes: {
      '/settlement': body => recordSettlement(store, body, { deadlineMs: options.deadlineMs ?? 60_000 }),
    },
    ...options,
  })
  return async (name: string, { method, path, headers, body }: Exchange['request']): Promise<Exchanged> => {
    const sent = Object.entries({ ...usualHeaders, ...headers }).filter(([, value]) => value !== null)
    const answer = await handle({
      ...{ method, path, body },
      headers: Object.fromEntries(sent) as Record<string, string>,
    })
    const route = path.replace(/\?.*$/, '').slice(basePath.length)
    return { name, method, path: route, parsed: parsedOf(body), answer }
  }
}

function parsedOf(body: string | Uint8Array): { body: unknown } | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(body))
    return { body: JSON.parse(text) }
  } catch {
    return undefined
  }
}

const ids = { transactionId: 't-1', betId: 'b-1', playerId: 'anna', transactionDate: '2026-11-21T18:00:00Z' }

const bodies = {
  placebet: { sessionId: 's', amount: '1', currency: 'EUR', odds: null, betType: 'SINGLE' },
  unsettlement: { type: 'UNSCORED' },
  rollbackbet: { type: 'TECHNICAL_ERROR' },
  settlement: { type: 'BET_PAID', amount: 1, currency: 'EUR' },
}

const others: [name: string, Partial<HttpOptions>, Partial<WalletStore>][] = [
  ['a limit of the operator', { authorizeRequest: () => refuse('OWN_LIMIT') }, {}],
  ['a session that has ended', { authorizeRequest: () => refuse('INVALID_SESSION_TOKEN') }, {}],
  ['no time', { deadlineMs: 0 }, {}],
  ['a store that fails', {}, { load: () => fail(), commit: () => fail() }],
]

function refuse(errorCode: string): never {
  throw new WalletRefusal(errorCode, 'refused')
}

const fail = () => Promise.reject(new Error('the database is gone'))
