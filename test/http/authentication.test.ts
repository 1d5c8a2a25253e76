/**
 * The option authenticate, its second argument, and several checks as one.
 *
 * @vitest-environment-options {"process":"authentication"}
 */
import { Readable } from 'node:stream'
import { describe, expect, test, vi } from 'vitest'
import {
  type Authenticate,
  allOf,
  allowAddresses,
  anyOf,
  basicAuth,
  createHttpHandler,
  type HttpOptions,
  type HttpRequest,
  signature,
} from '../../src/http/index.js'
import { createAuthenticationLog } from '../../src/http/log.js'
import { recordEvents } from '../channel-events.js'
import { anna, bet, errorOf, placeBetRequest, recordingStream, wallet } from './calls.js'

const text = JSON.stringify(bet)

/** The answer, and what the operator is told. */
async function ask(
  authenticate: Authenticate,
  request: Partial<HttpRequest> = {},
  options: Partial<HttpOptions> = {},
) {
  const onAuthenticationFailed = vi.fn()
  const { messages } = recordEvents('bet-wallet:http')
  const { handle, errors } = wallet({ authenticate, onAuthenticationFailed, ...options })
  const response = await handle(placeBetRequest(request))
  const reasons = onAuthenticationFailed.mock.calls.map(([reason]) => reason as string)
  expect(messages()).toEqual([
    expect.objectContaining({ status: response.status, reason: reasons[0] ?? null }),
  ])
  if (response.status === 401) expect(reasons).toHaveLength(1)
  return { status: response.status, response, reasons, errors }
}

const headersOf = (password: string) => ({
  'content-type': 'application/json',
  authorization: `Basic ${btoa(`platform:${password}`)}`,
})

describe('given why a call is rejected', () => {
  test.each<[string, Authenticate, string]>([
    ['a text', () => 'the certificate has no name', 'the certificate has no name'],
    ['a promise of a text', async () => 'expired', 'expired'],
    ['false after call.refuse', (_, call) => call.refuse('expired'), 'expired'],
    ['two reasons', (_, call) => call.refuse('no key') || call.refuse('no password'), 'no key; no password'],
    ['a text after call.refuse', (_, call) => call.refuse('no key') || 'no password', 'no key; no password'],
    ['false', () => false, 'authenticate returned no reason'],
    ['an empty text', () => '', 'authenticate returned no reason'],
    ['the text "true"', () => 'true', 'true'],
  ])(
    'when authenticate returns %s, then 401: the operator is told why, the caller is not',
    async (_, authenticate, reason) => {
      const { response, reasons } = await ask(authenticate)
      expect(errorOf(response)).toEqual([401, 'AUTHENTICATION_FAILED'])
      expect(response.body).toBe(
        '{"errorCode":"AUTHENTICATION_FAILED","description":"Authentication failed"}',
      )
      expect(reasons).toEqual([reason])
    },
  )

  test('when a call is authenticated after all, then no reason is passed on', async () => {
    const { status, reasons } = await ask((_, call) => call.refuse('no key') || true)
    expect([status, reasons]).toEqual([200, []])
  })

  test('when the hook fails, then the answer is the same', async () => {
    vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    const onAuthenticationFailed = () => {
      throw new Error('the log is full')
    }
    const { handle } = wallet({ authenticate: () => false, onAuthenticationFailed })
    expect((await handle(placeBetRequest())).status).toBe(401)
    vi.restoreAllMocks()
  })

  test('when the hook is no function, then INVALID_OPTIONS names it', () => {
    expect(() => wallet({ onAuthenticationFailed: 'log' as never })).toThrow(
      /onAuthenticationFailed must be a function/,
    )
  })

  test.each<[Record<string, string | string[]>, string]>([
    [{}, 'there is no header authorization'],
    [{ authorization: ['Basic a', 'Basic b'] }, 'there are several headers authorization'],
    [{ authorization: 'Bearer x' }, 'authorization is not Basic'],
    [{ authorization: `Basic ${btoa('platform:other')}` }, 'wrong user name or password'],
  ])('when basicAuth rejects %j, then the reason is: %s', async (headers, reason) => {
    const authenticate = basicAuth({ username: 'platform', password: 'secret' })
    expect((await ask(authenticate, { headers })).reasons).toEqual([`basicAuth: ${reason}`])
  })
})

describe('given the default of onAuthenticationFailed', () => {
  const request = placeBetRequest({ address: '203.0.113.9' })

  test('when a call is rejected, then one line says from where and why', async () => {
    const log = vi.spyOn(console, 'error').mockImplementation(() => {})
    const handle = createHttpHandler(anna(), { authenticate: ({ path }) => `${path} has no certificate` })
    await handle(request)
    await handle(request)
    await handle(placeBetRequest({ path: '/rollbackbet' }))
    const lines = log.mock.calls.map(([line]) => line)
    log.mockRestore()
    expect(lines).toEqual([
      'bet-wallet: POST /placebet from 203.0.113.9: 401: /placebet has no certificate',
      'bet-wallet: POST /rollbackbet: 401: /rollbackbet has no certificate',
    ])
  })

  test('when an attacker sends thousands of calls, then they are counted', () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const lines: string[] = []
    const log = createAuthenticationLog(line => void lines.push(line))
    for (let n = 0; n < 5_000; n += 1) {
      log(`allowAddresses: "198.51.100.${n}" is not in the list`, request)
      log(`signed ${n} s ago`, request)
    }
    expect(lines).toHaveLength(2)
    vi.advanceTimersByTime(10_000)
    expect(lines.slice(2)).toEqual([
      'bet-wallet: 4999 more in 10 s, the last: POST /placebet from 203.0.113.9: 401: allowAddresses: "198.51.100.4999" is not in the list',
      'bet-wallet: 4999 more in 10 s, the last: POST /placebet from 203.0.113.9: 401: signed 4999 s ago',
    ])
    for (let n = 0; n < 5_000; n += 1) log(String.fromCodePoint(0x4e00 + n), request)
    expect(lines.length).toBeLessThan(30)
    vi.useRealTimers()
  })

  test('when a caller sends line breaks, then the line stays one line, of limited length', () => {
    const lines: string[] = []
    const log = createAuthenticationLog(line => void lines.push(line))
    const evil = `\nbet-wallet: forged\u2028${'x'.repeat(9_000)}`
    log(evil, { ...request, path: evil, method: evil, address: evil })
    expect(lines[0]).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}]/u)
    expect(lines[0]?.length).toBeLessThan(2_000)
  })

  test('when a caller sends a query or invisible characters, then the log has no query and shows them', () => {
    const lines: string[] = []
    const log = createAuthenticationLog(line => void lines.push(line))
    log('no \u202esignature', { ...request, path: '/placebet?token=secret', address: '192.0.2.1\u200b' })
    expect(lines).toEqual(['bet-wallet: POST /placebet from 192.0.2.1\\u200b: 401: no \\u202esignature'])
  })
})

describe('given call.rawBody', () => {
  test.each<[string, () => HttpRequest['body']]>([
    ['text', () => text],
    ['bytes', () => Buffer.from(text)],
    ['a stream', () => Readable.from([Buffer.from(text.slice(0, 9)), Buffer.from(text.slice(9))])],
    ['an iterable', () => recordingStream(Buffer.from(text)).body],
    ['a parsed body with its bytes', () => ({ parsed: {}, raw: Buffer.from(text) })],
  ])(
    'when the body is %s, then it returns its bytes, also twice, and the handler parses the same',
    async (_, body) => {
      const read: string[] = []
      const authenticate: Authenticate = async (_request, { rawBody }) => {
        for (const bytes of [await rawBody(), await rawBody()]) read.push(Buffer.from(bytes).toString())
        return true
      }
      expect((await ask(authenticate, { body: body() })).status).toBe(200)
      expect(read).toEqual([text, text])
    },
  )

  test('when the body is undefined, then it returns no bytes', async () => {
    const authenticate: Authenticate = async (_, call) => (await call.rawBody()).length === 0
    expect((await ask(authenticate, { body: undefined as never })).status).toBe(400)
  })

  test('when it is not called, then the body is read after authentication only', async () => {
    const { body, seen } = recordingStream(Buffer.from(text))
    let started: boolean | null = null
    await ask(
      () => {
        started = seen.started
        return true
      },
      { body },
    )
    expect([started, seen.started]).toEqual([false, true])
  })

  test.each<[string, Authenticate, number]>([
    ['passes its error on', async (_, call) => (await call.rawBody()).length > 0, 413],
    ['does not wait for it, and refuses', (_, call) => call.rawBody() === null, 401],
    ['does not wait for it, and accepts', (_, call) => call.rawBody() !== null, 413],
    [
      'catches its error, and refuses',
      (_, call) =>
        call.rawBody().then(
          () => true,
          () => 'large',
        ),
      401,
    ],
    [
      'catches its error, and accepts',
      (_, call) =>
        call.rawBody().then(
          () => true,
          () => true,
        ),
      413,
    ],
  ])('when the body is too large and the hook %s, then %s', async (_, authenticate, status) => {
    const unhandled = vi.fn()
    process.on('unhandledRejection', unhandled)
    const body = { body: recordingStream(Buffer.alloc(500)).body }
    const answer = await ask(authenticate, body, { bodyBytesMax: 400 })
    expect([answer.status, answer.errors]).toEqual([status, []])
    await new Promise(resolve => setImmediate(resolve))
    process.off('unhandledRejection', unhandled)
    expect(unhandled).not.toHaveBeenCalled()
  })

  test('when a parser kept no bytes, then 401 with the reason, whatever the hook does after it', async () => {
    const { status, reasons } = await ask(async (_, call) => (await call.rawBody()).length > 0, {
      body: { parsed: bet },
    })
    expect([status, reasons]).toEqual([401, [expect.stringContaining('kept no raw bytes')]])
  })
})

describe('given anyOf and allOf', () => {
  const yes: Authenticate = () => true
  const no: Authenticate = () => false
  const later: Authenticate = async () => true
  const never: Authenticate = async () => 'no'
  const broken: Authenticate = () => Promise.reject(new Error('the directory is down'))

  test.each<[string, Authenticate, number]>([
    ['anyOf(yes)', anyOf(yes), 200],
    ['anyOf(no)', anyOf(no), 401],
    ['anyOf(no, later)', anyOf(no, later), 200],
    ['anyOf(never, no)', anyOf(never, no), 401],
    ['anyOf(broken, yes)', anyOf(broken, yes), 200],
    ['anyOf(broken, no)', anyOf(broken, no), 500],
    ['allOf(yes)', allOf(yes), 200],
    ['allOf(yes, later)', allOf(yes, later), 200],
    ['allOf(yes, no)', allOf(yes, no), 401],
    ['allOf(no, yes)', allOf(no, yes), 401],
    ['allOf(never, yes)', allOf(never, yes), 401],
    ['allOf(yes, broken)', allOf(yes, broken), 500],
    ['allOf(no, broken)', allOf(no, broken), 401],
    ['allOf(anyOf(no, later), anyOf(never, yes))', allOf(anyOf(no, later), anyOf(never, yes)), 200],
    ['anyOf(allOf(yes, no), allOf(later, never))', anyOf(allOf(yes, no), allOf(later, never)), 401],
    ['anyOf(a check that returns 1)', anyOf((() => 1) as never), 401],
    ['allOf(a check that returns 1)', allOf((() => 1) as never), 401],
  ])('when it is %s, then %i or not', async (_, authenticate, status) => {
    expect((await ask(authenticate)).status).toBe(status)
  })

  test('when no check accepts, then every reason is told', async () => {
    const { reasons } = await ask(
      anyOf(basicAuth({ username: 'a', password: 'b' }), allowAddresses(['203.0.113.5']), never),
    )
    expect(reasons).toEqual([
      'basicAuth: there is no header authorization; allowAddresses: the adapter passed no IP address; no',
    ])
  })

  test('when one check decides, then the others are not called', async () => {
    const other = vi.fn(() => true)
    await ask(anyOf(yes, other))
    await ask(allOf(no, other))
    expect(other).not.toHaveBeenCalled()
  })

  test('when a check cannot read the body, then another can accept the call', async () => {
    const hmac = signature({ header: 'x-signature', algorithm: 'hmac-sha256', secrets: ['x'] })
    const password = basicAuth({ username: 'platform', password: 'secret' })
    const headers = { ...headersOf('secret'), 'x-signature': '0'.repeat(64) }
    const body = { parsed: bet }
    expect((await ask(anyOf(hmac, password), { headers, body })).status).toBe(200)
    const { status, reasons } = await ask(anyOf(hmac, password), {
      headers: { ...headers, authorization: '' },
      body,
    })
    expect([status, reasons[0]]).toEqual([401, expect.stringContaining('kept no raw bytes')])
  })

  test.each([[[]], [[undefined]], [[yes, 'yes']], [[[yes]]]])(
    'when the checks are %j, then a TypeError',
    checks => {
      for (const [name, combine] of Object.entries({ anyOf, allOf })) {
        expect(() => combine(...(checks as Authenticate[]))).toThrow(TypeError)
        expect(() => combine(...(checks as Authenticate[]))).toThrow(
          `${name}: every argument must be a function`,
        )
      }
    },
  )
})

describe('given the checks as plain functions', () => {
  const old = basicAuth({ username: 'platform', password: 'old' })
  const listed = allowAddresses(['203.0.113.0/24'])
  test('when they are combined with && and ||, then a refusal is never an acceptance', async () => {
    const both: Authenticate = (request, call) => old(request, call) && listed(request, call)
    const either: Authenticate = request => old(request) || listed(request)
    const statuses = async (authenticate: Authenticate) => {
      const answers: number[] = []
      for (const password of ['old', 'wrong']) {
        for (const address of ['203.0.113.9', '198.51.100.1']) {
          answers.push((await ask(authenticate, { headers: headersOf(password), address })).status)
        }
      }
      return answers
    }
    expect(await statuses(both)).toEqual([200, 401, 401, 401])
    expect(await statuses(either)).toEqual([200, 200, 200, 401])
  })
})
