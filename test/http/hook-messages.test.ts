/** What `authorizeRequest` and `authorizeBet` know of the call: over HTTP, and without it. */
import { afterEach, expect, test, vi } from 'vitest'
import { handlePlaceBet, type PlaceBetCall, type WalletOptions } from '../../src/index.js'
import { createMemoryStore } from '../../src/stores/memory.js'

import { alice, placeBet } from '../fixtures.js'
import { anna, placeBetRequest, wallet } from './calls.js'

afterEach(() => {
  vi.restoreAllMocks()
})

/** Both hooks record their call; the first one empties its headers. */
function recording(): { calls: PlaceBetCall[]; options: WalletOptions } {
  const calls: PlaceBetCall[] = []
  const record = (call: PlaceBetCall) => {
    calls.push({ ...call, headers: { ...call.headers } })
    for (const name of Object.keys(call.headers)) Reflect.deleteProperty(call.headers, name)
  }
  return {
    calls,
    options: {
      authorizeRequest: (_request, call) => record(call),
      authorizeBet: (_request, _player, call) => record(call),
    },
  }
}

test('given a call over HTTP, then both hooks have its method, path, headers and address', async () => {
  const { calls, options } = recording()
  const request = placeBetRequest({ originalPath: '/wallet/placebet?brand=2', address: '192.0.2.7' })
  const headers = { ...request.headers, 'x-brand': 'north' }
  const { status } = await wallet({ ...options }).handle({ ...request, headers })
  expect(status).toBe(200)
  const expected = { method: 'POST', path: '/wallet/placebet?brand=2', headers, address: '192.0.2.7' }
  expect(calls).toEqual([1, 2].map(() => ({ ...expected, remainingMs: Number.POSITIVE_INFINITY })))
})

test('given an adapter without originalPath and address, then the path is its own and the address null', async () => {
  const { calls, options } = recording()
  await wallet({ ...options }).handle(placeBetRequest())
  expect(calls[0]).toMatchObject({ path: '/placebet', address: null })
})

test('given deadlineMs, then remainingMs is the rest of it, in whole milliseconds and never below 0', async () => {
  let now = 1_000
  vi.spyOn(performance, 'now').mockImplementation(() => now)
  const seen: number[] = []
  const options: WalletOptions = {
    deadlineMs: 500,
    authorizeRequest(_request, call) {
      seen.push(call.remainingMs)
      now += 120.5
    },
    authorizeBet(_request, _player, call) {
      seen.push(call.remainingMs)
      now += 900
    },
  }
  const first = handlePlaceBet(createMemoryStore([alice]), placeBet(), options)
  await expect(first).rejects.toMatchObject({ code: 'DEADLINE_PASSED' })
  expect(seen).toEqual([500, 379])

  const late: WalletOptions = {
    deadlineMs: 500,
    authorizeRequest: () => {
      now += 501
    },
    authorizeBet: (_request, _player, call) => void seen.push(call.remainingMs),
  }
  await handlePlaceBet(createMemoryStore([alice]), placeBet(), late).catch(() => {})
  expect(seen).toEqual([500, 379, 0])
})

test('given a handler that is called without a message, then the hooks know none', async () => {
  const { calls, options } = recording()
  await handlePlaceBet(createMemoryStore([alice]), placeBet(), options)
  const none = { method: null, path: null, headers: {}, address: null, remainingMs: Number.POSITIVE_INFINITY }
  expect(calls).toEqual([none, none])
})

test('given a path of your own, then its function has the message, and can pass it to the hooks', async () => {
  const { calls, options } = recording()
  const store = anna()
  const own = wallet({
    routes: { '/v2/bet': (body, message) => handlePlaceBet(store, body, options, message) },
  })
  await own.handle(placeBetRequest({ path: '/v2/bet', address: '192.0.2.7' }))
  expect(calls[0]).toMatchObject({ path: '/v2/bet', address: '192.0.2.7' })
})
