/** What `authorizeRequest` and `authorizeBet` know of the call: over HTTP, and without it. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import express from 'express'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { createFetchHandler, createNodeListener, type HttpOptions } from '../../src/http/index.js'
import { handlePlaceBet, type PlaceBetCall, type WalletOptions, WalletRefusal } from '../../src/index.js'
import { createMemoryStore } from '../../src/stores/memory.js'

import { alice, placeBet } from '../fixtures.js'
import { anna, bet, placeBetRequest, wallet } from './calls.js'

type Listener = (request: IncomingMessage, response: ServerResponse) => unknown

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

/** How the wallet is served. Each listens on a port of its own, and is called by fetch. */
const servers: {
  name: string
  path: string
  address: string | null
  serve(options: HttpOptions): Listener
}[] = [
  {
    ...{ name: 'node:http', path: '/wallet/placebet?brand=2', address: '127.0.0.1' },
    serve: options => createNodeListener(anna(), { ...options, basePath: '/wallet' }),
  },
  {
    ...{ name: 'Express', path: '/wallet/placebet?brand=2', address: '127.0.0.1' },
    serve: options => express().use('/wallet', createNodeListener(anna(), options)) as Listener,
  },
  {
    // A Request does not say who sent it.
    ...{ name: 'the fetch handler', path: '/wallet/placebet?brand=2', address: null },
    serve(options) {
      const handle = createFetchHandler(anna(), { ...options, basePath: '/wallet' })
      return async (request, response) => {
        const { method = '', url = '', headers } = request
        const body = Readable.toWeb(request) as ReadableStream
        const init = { method, headers: headers as Record<string, string>, body, duplex: 'half' }
        const answer = await handle(new Request(`http://${headers.host}${url}`, init as RequestInit))
        response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text())
      }
    },
  },
]

describe.each(servers)('given $name over HTTP', ({ path, address, serve }) => {
  async function withServer(
    options: WalletOptions,
    work: (send: (fields?: object) => Promise<[status: number, body: unknown]>) => Promise<void>,
  ): Promise<void> {
    const server = createServer(serve({ ...options, authenticate: () => true, onError() {} }))
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const { port } = server.address() as AddressInfo
    try {
      await work(async fields => {
        const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'X-Brand': 'north', connection: 'close' },
          body: JSON.stringify({ ...bet, ...fields }),
        })
        return [answer.status, await answer.json()]
      })
    } finally {
      await new Promise(resolve => server.close(resolve))
    }
  }

  test('then both hooks have method, path, headers, address and the time left', async () => {
    const { calls, options } = recording()
    await withServer({ ...options, deadlineMs: 60_000 }, async send => {
      expect(await send()).toMatchObject([200, { balance: 70 }])
    })
    expect(calls).toHaveLength(2)
    for (const { headers, remainingMs, ...call } of calls) {
      expect(call).toEqual({ method: 'POST', path, address })
      expect(headers).toMatchObject({ 'x-brand': 'north', 'content-type': 'application/json' })
      expect(remainingMs).toBeGreaterThan(0)
      expect(remainingMs).toBeLessThanOrEqual(60_000)
    }
  })

  describe.each(['authorizeRequest', 'authorizeBet'] as const)('when %s is async', hook => {
    const later = () => new Promise(setImmediate)

    test('and refuses, then the refusal is final: a retry gets it again', async () => {
      let refuses = true
      const options: WalletOptions = {
        [hook]: async () => {
          await later()
          if (refuses) throw new WalletRefusal('INVALID_SESSION_TOKEN', 'The session has ended')
        },
      }
      await withServer(options, async send => {
        const refused = await send()
        expect(refused).toMatchObject([400, { errorCode: 'INVALID_SESSION_TOKEN' }])
        refuses = false
        expect(await send()).toEqual(refused)
        expect(await send({ transactionId: 't-2' })).toMatchObject([200, {}])
      })
    })

    test('and throws anything else, then the answer is 500, and nothing is recorded', async () => {
      let fails = true
      const options: WalletOptions = {
        [hook]: async () => {
          await later()
          if (fails) throw new Error('The session service is down')
        },
      }
      await withServer(options, async send => {
        expect(await send()).toMatchObject([500, { errorCode: 'INTERNAL_ERROR' }])
        fails = false
        expect(await send()).toMatchObject([200, {}])
      })
    })

    test('and takes longer than the time left, then the answer is 503, and nothing is recorded', async () => {
      let isSlow = true
      const now = performance.now.bind(performance)
      let elapsed = 0
      vi.spyOn(performance, 'now').mockImplementation(() => now() + elapsed)
      const options: WalletOptions = {
        deadlineMs: 60_000,
        [hook]: async (...args: unknown[]) => {
          await later()
          const { remainingMs } = args.at(-1) as PlaceBetCall
          if (isSlow) elapsed += remainingMs + 1
        },
      }
      await withServer(options, async send => {
        expect(await send()).toMatchObject([503, { errorCode: 'UNAVAILABLE' }])
        isSlow = false
        expect(await send()).toMatchObject([200, {}])
      })
    })
  })
})
