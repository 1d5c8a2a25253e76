/** Calls by the platform, for the tests of the HTTP handler. */

import {
  createHttpHandler,
  type HttpOptions,
  type HttpRequest,
  type HttpResponse,
} from '../../src/http/index.js'
import type { WalletStore } from '../../src/store.js'
import { createMemoryStore } from '../../src/stores/memory.js'

export const bet = {
  transactionId: 't-1',
  betId: 'b-1',
  playerId: 'anna',
  sessionId: 's-1',
  amount: 30,
  currency: 'EUR',
  betType: 'SINGLE',
  transactionDate: '2026-11-21T18:00:00Z',
}

/** A valid placebet, with the changes of the test. */
export function placeBetRequest(request: Partial<HttpRequest> = {}): HttpRequest {
  return {
    method: 'POST',
    path: '/placebet',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(bet),
    ...request,
  }
}

export function anna() {
  return createMemoryStore([{ playerId: 'anna', currency: 'EUR', balance: '100.00' }])
}

/** A handler that by default authenticates every call, collects the errors passed to onError, and logs nothing. */
export function wallet(options: Partial<HttpOptions> = {}, store: WalletStore = anna()) {
  const errors: unknown[] = []
  const handle = createHttpHandler(store, {
    authenticate: () => true,
    onError: error => void errors.push(error),
    onAuthenticationFailed() {},
    ...options,
  })
  return { handle, errors }
}

/** Status and errorCode of an error response. Throws if the response is anything else. */
export function errorOf({ status, body, headers }: HttpResponse): [number, string] {
  const { errorCode, description, ...rest } = JSON.parse(body) as Record<string, unknown>
  const valid =
    typeof errorCode === 'string' &&
    typeof description === 'string' &&
    description !== '' &&
    Object.keys(rest).length === 0 &&
    headers['content-type'] === 'application/json; charset=utf-8'
  if (!valid) throw new Error(`not an error response: ${body}`)
  return [status, errorCode]
}

/** A body in chunks that records whether it was read. */
export function recordingStream(...chunks: Uint8Array[]) {
  const seen = { started: false, pulled: 0, closed: false }
  const body: AsyncIterable<Uint8Array> = {
    [Symbol.asyncIterator]() {
      seen.started = true
      return {
        async next() {
          const value = chunks[seen.pulled]
          seen.pulled += 1
          return value === undefined ? { done: true, value: undefined } : { done: false, value }
        },
        async return() {
          seen.closed = true
          return { done: true, value: undefined }
        },
      }
    },
  }
  return { body, seen }
}
