/** The channel `bet-wallet:http`: every HTTP call, also one that reaches no handler. */
import { describe, expect, test } from 'vitest'
import type { HttpOptions, HttpRequest } from '../../src/http/index.js'
import { recordEvents } from '../channel-events.js'
import { anna, bet, placeBetRequest, wallet } from './calls.js'

const settled = ['start', 'end', 'asyncStart', 'asyncEnd']

async function messageOf(request: Partial<HttpRequest>, options: Partial<HttpOptions> = {}) {
  const { names, messages } = recordEvents('bet-wallet:http')
  const requests = recordEvents('bet-wallet:request')
  const { handle, errors } = wallet(options)
  const response = await handle(placeBetRequest(request))
  const [message] = messages()
  expect(messages()).toHaveLength(1)
  expect(message).toMatchObject({ status: response.status, durationMs: expect.any(Number) })
  return { message, names: names(), handled: requests.messages().length, response, errors }
}

describe('given a call that reaches no handler', () => {
  test.each<[string, Partial<HttpRequest>, Partial<HttpOptions>, object]>([
    ['an unknown path', { path: '/admin?a=1' }, {}, { path: '/admin', route: null, status: 404 }],
    ['GET', { method: 'GET' }, {}, { method: 'GET', route: '/placebet', status: 405 }],
    ['wrong credentials', {}, { authenticate: () => false }, { status: 401 }],
    ['a form', { headers: { 'content-type': 'text/plain' } }, {}, { status: 415 }],
    ['a large body', {}, { bodyBytesMax: 10 }, { status: 413 }],
    ['malformed JSON', { body: '{"betId":' }, {}, { status: 400, errorCode: 'INVALID_REQUEST' }],
  ])('when it has %s, then the message says why', async (name, request, options, expected) => {
    const { message, names, handled, response } = await messageOf(request, options)
    const { errorCode, description } = JSON.parse(response.body) as Record<string, string>
    const rejection = name === 'malformed JSON' ? 'INVALID_BODY' : errorCode
    expect(message).toMatchObject({ ...expected, rejection, errorCode, description, error: null })
    expect(names).toEqual(settled)
    expect(handled).toBe(0)
  })
})

describe('given a call that reaches a handler', () => {
  test('when it succeeds, then the message has its route and status', async () => {
    const { message, names, handled } = await messageOf({ path: '/placebet?a=1' })
    expect(message).toMatchObject({
      ...{ method: 'POST', path: '/placebet', route: '/placebet', status: 200 },
      ...{ rejection: null, errorCode: null, description: null, error: null },
    })
    expect([names, handled]).toEqual([settled, 1])
  })

  test('when it is refused, then the message has the error code of the answer', async () => {
    const body = JSON.stringify({ ...bet, amount: 1000 })
    const { message } = await messageOf({ body })
    expect(message).toMatchObject({ status: 402, rejection: null, errorCode: 'INSUFFICIENT_FUNDS' })
  })

  test('when it ends in a fault, then there is an error event, and onError receives the same error', async () => {
    const { message, names, errors } = await messageOf({}, { deadlineMs: 0 })
    expect(names).toEqual(['start', 'end', 'error', 'asyncStart', 'asyncEnd'])
    expect(message).toMatchObject({ status: 503, errorCode: 'UNAVAILABLE', error: errors[0] })
  })

  test('when authenticate throws, then it is a fault, not a rejection', async () => {
    const cause = new Error('the directory is down')
    const { message } = await messageOf({}, { authenticate: () => Promise.reject(cause) })
    expect(message).toMatchObject({ status: 500, rejection: null, error: cause })
  })
})

test.each([undefined, null, {}, { method: 1, path: {}, headers: {}, body: '' }])(
  'when an adapter passes %j as the request, then the handler answers and never rejects',
  async request => {
    const { messages } = recordEvents('bet-wallet:http')
    const { status } = await wallet({}, anna()).handle(request as never)
    expect(messages()).toEqual([expect.objectContaining({ status, method: '', path: '' })])
  },
)
