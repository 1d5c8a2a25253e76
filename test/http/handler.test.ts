/** @vitest-environment-options {"process":"handler"} */
import { Readable } from 'node:stream'
import { describe, expect, test, vi } from 'vitest'
import { WalletError, WalletRefusal } from '../../src/errors.js'
import { handlePlaceBet, recordSettlement } from '../../src/handlers.js'
import {
  createHttpHandler,
  defaultStatusCodes,
  type HttpOptions,
  type HttpRequest,
  JsonNumber,
} from '../../src/http/index.js'
import { errorCodes } from '../../src/outcomes.js'
import type { WalletStore } from '../../src/store.js'
import { createMemoryStore } from '../../src/stores/memory.js'
import { anna, bet, errorOf, placeBetRequest, recordingStream, wallet } from './calls.js'

const bytes = (text: string) => new TextEncoder().encode(text)

/** As the DOM types of TypeScript before 6 know a stream, and some runtimes have it. */
const withReaderOnly = (stream: ReadableStream<Uint8Array>) => ({ getReader: () => stream.getReader() })

describe('given the paths of the interface', () => {
  test.each<[basePath: string, path: string, status: number]>([
    ['', '/placebet', 200],
    ['', '/placebet?a=/b', 200],
    ['', '/placebet/', 404],
    ['', '//placebet', 404],
    ['', '/PLACEBET', 404],
    ['', 'placebet', 404],
    ['', '', 404],
    ['', '/', 404],
    ['', '?/placebet', 404],
    ['', '/place%62et', 404],
    ['', '/settlement', 404],
    ['', '/constructor', 404],
    ['', '/__proto__', 404],
    ['/wallet', '/wallet/placebet', 200],
    ['/wallet/', '/wallet/placebet?x', 200],
    ['/wallet', '/placebet', 404],
    ['/wallet', '/walletplacebet', 404],
    ['/api/v1/wallet', '/api/v1/wallet/placebet', 200],
    ['/api/v1/wallet', '/api/v2/wallet/placebet', 404],
    ['/', '/placebet', 200],
  ])(
    'when the base path is %j and a call has the path %j, then the status is %i',
    async (basePath, path, status) => {
      const response = await wallet({ basePath }).handle(placeBetRequest({ path }))
      expect(response.status).toBe(status)
      if (status === 404) expect(errorOf(response)).toEqual([404, 'NOT_FOUND'])
    },
  )

  test.each(['wallet', '/wallet?', '/wallet#', '//', '/a//b', ' /wallet'])(
    'when the base path is %j, then the option is rejected',
    basePath => {
      expect(() => wallet({ basePath })).toThrow(/basePath/)
    },
  )

  test.each(['GET', 'PUT', 'DELETE', 'OPTIONS', 'HEAD', 'post', ''])(
    'when the method is %j, then 405',
    async method => {
      const response = await wallet().handle(placeBetRequest({ method }))
      expect(errorOf(response)).toEqual([405, 'METHOD_NOT_ALLOWED'])
      expect(response.headers.allow).toBe('POST')
    },
  )
})

describe('given the media type', () => {
  test.each<[HttpRequest['headers'], number]>([
    [{ 'content-type': 'application/json' }, 200],
    [{ 'Content-Type': 'application/json' }, 200],
    [{ 'content-type': ['application/json'] }, 200],
    [{ 'content-type': ' APPLICATION/json ;Charset="utf-8"' }, 200],
    [{ 'content-type': 'application/json; charset=UTF8; version=1' }, 200],
    [{ 'content-type': 'application/json', 'content-encoding': 'Identity' }, 200],
    [{}, 415],
    [{ 'content-type': undefined }, 415],
    [{ 'content-type': '' }, 415],
    [{ 'content-type': ['application/json', 'text/plain'] }, 415],
    [{ 'content-type': 'text/plain' }, 415],
    [{ 'content-type': 'text/plain; application/json' }, 415],
    [{ 'content-type': 'application/json-patch+json' }, 415],
    [{ 'content-type': 'application/json, text/plain' }, 415],
    [{ 'content-type': 'application/json; charset=utf-16' }, 415],
    [{ 'content-type': 'application/json; charset' }, 415],
    [{ 'content-type': 'application/json', 'content-encoding': 'gzip' }, 415],
    [{ 'content-type': 'application/json', 'content-encoding': 'identity, gzip' }, 415],
  ])('when the headers are %j, then the status is %i', async (headers, status) => {
    const response = await wallet().handle(placeBetRequest({ headers }))
    expect(response.status).toBe(status)
    if (status === 415) expect(errorOf(response)).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE'])
  })

  test('when the call is not authenticated, then the Content-Type is not even looked at', async () => {
    const read = vi.fn(() => 'application/json')
    const headers = Object.defineProperty({}, 'content-type', { get: read, enumerable: true })
    const { handle } = wallet({ authenticate: () => false })
    expect(errorOf(await handle(placeBetRequest({ headers })))).toEqual([401, 'AUTHENTICATION_FAILED'])
    expect(read).not.toHaveBeenCalled()
  })

  test.each([
    ['10 parameters', `application/json${';a=b'.repeat(9)}; charset=utf-8`, 200],
    ['11 parameters', `application/json${';a=b'.repeat(10)}; charset=utf-8`, 415],
    ['15,000 parameters', `application/json${';'.repeat(15_000)}`, 415],
    ['another type with 15,000 parameters', `text/plain${';'.repeat(15_000)}`, 415],
    ['a parameter with 15,000 values', `application/json; a${'='.repeat(15_000)}`, 200],
  ])('when it has %s, then no text is split into thousands of parts', async (_, type, status) => {
    const { handle } = wallet()
    const request = placeBetRequest({ headers: { 'content-type': type } })
    const split = vi.spyOn(String.prototype, 'split')
    const response = await handle(request)
    const parts = split.mock.results.map(({ value }) => (value as string[]).length)
    split.mockRestore()
    expect(response.status).toBe(status)
    expect(parts.length).toBeGreaterThan(0)
    expect(Math.max(...parts)).toBeLessThan(100)
  })

  test('when the body is parsed already, then its Content-Encoding no longer matters', async () => {
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' }
    const { status } = await wallet().handle(placeBetRequest({ headers, body: { parsed: bet } }))
    expect(status).toBe(200)
  })
})

describe('given the order of the checks', () => {
  test('when everything is invalid and is corrected step by step, then each check answers in turn', async () => {
    // Path, method, authentication, media type, size, body, rules.
    const called = vi.fn(() => false)
    let authenticated = false
    const { handle } = wallet({ authenticate: () => called() || authenticated, bodyBytesMax: 300 })
    const headers: HttpRequest['headers'] = { 'content-length': '301' }
    const request: HttpRequest = { method: 'GET', path: '/nowhere', headers, body: 'x'.repeat(301) }
    const answers: unknown[] = []
    for (const correct of [
      () => {},
      () => Object.assign(request, { path: '/placebet' }),
      () => Object.assign(request, { method: 'POST' }),
      () => {
        authenticated = true
      },
      () => Object.assign(headers, { 'content-type': 'application/json' }),
      () => Object.assign(headers, { 'content-length': '299' }),
      () => Object.assign(request, { body: '{' }),
      () => Object.assign(request, { body: '{}' }),
      () => Object.assign(request, { body: JSON.stringify({ ...bet, amount: 1000 }) }),
      () => Object.assign(request, { body: JSON.stringify({ ...bet, transactionId: 't-2', betId: 'b-2' }) }),
    ]) {
      correct()
      const response = await handle(request)
      answers.push(response.status === 200 ? 200 : errorOf(response))
    }
    expect(answers).toEqual([
      [404, 'NOT_FOUND'],
      [405, 'METHOD_NOT_ALLOWED'],
      [401, 'AUTHENTICATION_FAILED'],
      [415, 'UNSUPPORTED_MEDIA_TYPE'],
      [413, 'PAYLOAD_TOO_LARGE'],
      [413, 'PAYLOAD_TOO_LARGE'],
      [400, 'INVALID_REQUEST'],
      [400, 'INVALID_REQUEST'],
      [402, 'INSUFFICIENT_FUNDS'],
      200,
    ])
    // A call with a wrong path or method is never authenticated.
    expect(called).toHaveBeenCalledTimes(8)
  })

  test.each<[string, Partial<HttpRequest>, Partial<HttpOptions>, number]>([
    ['path', { path: '/' }, {}, 404],
    ['method', { method: 'PUT' }, {}, 405],
    ['media type', { headers: {} }, {}, 415],
    ['authentication', {}, { authenticate: () => false }, 401],
    ['authentication that throws', {}, { authenticate: () => Promise.reject(new Error('no')) }, 500],
    ['size', { headers: { 'content-type': 'application/json', 'content-length': '65537' } }, {}, 413],
  ])(
    'when the check of the %s ends the call, then the stream is not read',
    async (_, request, options, status) => {
      const { body, seen } = recordingStream(bytes('{}'))
      const response = await wallet(options).handle(placeBetRequest({ ...request, body }))
      expect(response.status).toBe(status)
      expect(seen).toEqual({ started: false, pulled: 0, closed: false })
    },
  )

  test('when authenticate is pending, then the stream is not read', async () => {
    let decide: (authenticated: boolean) => void = () => {}
    const authenticate = () => new Promise<boolean>(resolve => (decide = resolve))
    const { body, seen } = recordingStream(bytes(JSON.stringify(bet)))
    const answered = wallet({ authenticate }).handle(placeBetRequest({ body }))
    await new Promise(resolve => setImmediate(resolve))
    expect(seen.started).toBe(false)
    decide(true)
    expect((await answered).status).toBe(200)
    expect(seen.pulled).toBe(2)
  })

  test('when a call is rejected before the rules, then the store is not called', async () => {
    const store: WalletStore = { contractVersion: 2, load: vi.fn(), commit: vi.fn() }
    for (const [request, options] of [
      [{ path: '/' }, {}],
      [{}, { authenticate: () => false }],
      [{ body: '{' }, {}],
      [{ body: '{}' }, {}],
    ] as const) {
      await wallet(options, store).handle(placeBetRequest(request))
    }
    expect(store.load).not.toHaveBeenCalled()
    expect(store.commit).not.toHaveBeenCalled()
  })
})

describe('given the option authenticate', () => {
  test.each([
    false,
    undefined,
    null,
    0,
    1,
    'true',
    {},
    [],
    Promise.resolve(1),
    Promise.resolve({ ok: true }),
  ])('when it returns %j, which is not true, then 401', async answer => {
    const store = anna()
    const authenticate = (() => answer) as unknown as HttpOptions['authenticate']
    const response = await wallet({ authenticate }, store).handle(placeBetRequest())
    expect(errorOf(response)).toEqual([401, 'AUTHENTICATION_FAILED'])
    expect(response.headers['www-authenticate']).toBe('Basic realm="wallet", charset="UTF-8"')
    expect(store.transactions()).toEqual([])
  })

  test.each([true, Promise.resolve(true)])(
    'when it returns %j, then the call is authenticated',
    async answer => {
      expect((await wallet({ authenticate: () => answer }).handle(placeBetRequest())).status).toBe(200)
    },
  )

  test.each<[string, HttpOptions['authenticate']]>([
    [
      'throws',
      () => {
        throw new Error('secret of the key server')
      },
    ],
    ['rejects', () => Promise.reject(new Error('secret of the key server'))],
  ])('when it %s, then 500, and the call is not authenticated', async (_, authenticate) => {
    const store = anna()
    const { handle, errors } = wallet({ authenticate }, store)
    const response = await handle(placeBetRequest())
    expect(errorOf(response)).toEqual([500, 'INTERNAL_ERROR'])
    expect(response.body).not.toContain('secret')
    expect(errors).toEqual([expect.objectContaining({ message: 'secret of the key server' })])
    expect(store.transactions()).toEqual([])
  })

  test('when a call arrives, then it receives the whole request', async () => {
    const authenticate = vi.fn(() => true)
    const request = placeBetRequest()
    await wallet({ authenticate }).handle(request)
    expect(authenticate).toHaveBeenCalledExactlyOnceWith(request, expect.anything())
  })

  test.each([undefined, null, true, 'basic'])(
    'when it is %j, then INVALID_OPTIONS names it',
    authenticate => {
      expect(() => createHttpHandler(anna(), { authenticate } as unknown as HttpOptions)).toThrow(
        expect.objectContaining({
          code: 'INVALID_OPTIONS',
          message: expect.stringContaining('authenticate'),
        }),
      )
    },
  )
})

describe('given the body', () => {
  const text = JSON.stringify(bet)
  test.each<[string, () => HttpRequest['body']]>([
    ['text', () => text],
    ['bytes', () => bytes(text)],
    ['a Buffer', () => Buffer.from(text)],
    ['a stream', () => Readable.from([Buffer.from(text)])],
    [
      'a stream of single bytes',
      () => Readable.from([...Buffer.from(text)].map(byte => Buffer.from([byte]))),
    ],
    [
      'a stream of text',
      () => Readable.from([text.slice(0, 9), text.slice(9)], { objectMode: false, encoding: 'utf8' }),
    ],
    ['a web stream', () => new Blob([text]).stream()],
    ['a web stream that cannot be iterated', () => withReaderOnly(new Blob([text]).stream())],
    ['any async iterable', () => recordingStream(bytes(text.slice(0, 5)), bytes(text.slice(5))).body],
    ['the parsed object', () => ({ parsed: bet })],
    ['unparsed text from a parser', () => ({ parsed: text })],
    ['unparsed bytes from a parser', () => ({ parsed: Buffer.from(text) })],
  ])('when it is %s, then it is accepted', async (_, body) => {
    const { status, body: answer } = await wallet().handle(placeBetRequest({ body: body() }))
    expect([status, answer]).toEqual([200, '{"balance":70.00,"currency":"EUR","walletTransactionId":"W1"}'])
  })

  test('when a chunk ends inside a character, then the character is decoded correctly', async () => {
    const whole = Buffer.from(JSON.stringify({ ...bet, betId: '球😀' }))
    for (let cut = 1; cut < whole.length; cut += 1) {
      const store = anna()
      const body = Readable.from([whole.subarray(0, cut), whole.subarray(cut)])
      expect((await wallet({}, store).handle(placeBetRequest({ body }))).status).toBe(200)
      expect(store.bet('球😀')).not.toBeNull()
    }
  })

  test.each<[string, HttpRequest['body']]>([
    ['empty', ''],
    ['an empty stream', Readable.from([])],
    ['incomplete JSON', text.slice(0, -1)],
    ['two JSON documents', text + text],
    ['a byte order mark in text', `\ufeff${text}`],
    ['a byte order mark in bytes', Buffer.from(`\ufeff${text}`)],
    ['a byte order mark from a parser', { parsed: `\ufeff${text}` }],
    ['bytes that are not UTF-8', Buffer.from(text.replace('s-1', '\xff'), 'latin1')],
    ['an overlong NUL', Buffer.from(text.replace('s-1', '\xc0\x80'), 'latin1')],
    ['half a surrogate pair in UTF-8', Buffer.from(text.replace('s-1', '\xed\xa0\x80'), 'latin1')],
    ['a character cut short at the end', Buffer.concat([Buffer.from(text), Buffer.from([0xe7, 0x90])])],
    ['UTF-16', Buffer.from(text, 'utf16le')],
    ['an array', `[${text}]`],
    ['null', 'null'],
    ['a number', '1'],
    ['a long number', '12345678901234567'],
    ['a string', '"x"'],
    ['a parsed array', { parsed: [bet] }],
    ['a parsed null', { parsed: null }],
    ['a parsed undefined', { parsed: undefined }],
    ['a parsed number', { parsed: 1 }],
  ])('when it is %s, then 400, and nothing is written', async (_, body) => {
    const store = anna()
    const { handle, errors } = wallet({}, store)
    expect(errorOf(await handle(placeBetRequest({ body })))).toEqual([400, 'INVALID_REQUEST'])
    expect(store.transactions()).toEqual([])
    expect(errors).toEqual([])
  })

  test.each<[string, () => AsyncIterable<Uint8Array>]>([
    [
      'a Node.js stream',
      () => {
        let reads = 0
        return new Readable({
          read() {
            reads += 1
            // The text is complete, but the stream has not ended.
            if (reads === 1) this.push(text)
            else this.destroy(new Error('aborted'))
          },
        })
      },
    ],
    [
      'any async iterable',
      async function* () {
        yield bytes(text)
        throw new Error('aborted')
      },
    ],
  ])('when the caller disconnects before the end (%s), then 400, and nothing is written', async (_, body) => {
    const store = anna()
    const { handle, errors } = wallet({}, store)
    expect(errorOf(await handle(placeBetRequest({ body: body() })))).toEqual([400, 'INVALID_REQUEST'])
    expect(store.transactions()).toEqual([])
    expect(errors).toEqual([])
  })

  describe('when its size is limited', () => {
    const bodyBytesMax = 400
    const padded = (length: number) => text + ' '.repeat(length - text.length)
    const ways: [string, (text: string) => HttpRequest['body']][] = [
      ['text', text => text],
      ['bytes', text => bytes(text)],
      ['a stream', text => Readable.from([Buffer.from(text.slice(0, 50)), Buffer.from(text.slice(50))])],
      ['a web stream that cannot be iterated', text => withReaderOnly(new Blob([text]).stream())],
      ['unparsed text from a parser', text => ({ parsed: text })],
      ['unparsed bytes from a parser', text => ({ parsed: bytes(text) })],
    ]
    test.each(ways)('then the bytes of %s are counted, not the characters', async (_, way) => {
      const { handle } = wallet({ bodyBytesMax })
      expect((await handle(placeBetRequest({ body: way(padded(400)) }))).status).toBe(200)
      expect(errorOf(await handle(placeBetRequest({ body: way(padded(401)) })))).toEqual([
        413,
        'PAYLOAD_TOO_LARGE',
      ])
      const tooManyBytes = padded(400).replace('  ', '\u00e9 ')
      expect((await handle(placeBetRequest({ body: way(tooManyBytes) }))).status).toBe(413)
    })

    test('then an iterable is closed at the limit, not read to its end', async () => {
      const { body, seen } = recordingStream(...Array.from({ length: 100 }, () => new Uint8Array(100)))
      expect((await wallet({ bodyBytesMax }).handle(placeBetRequest({ body }))).status).toBe(413)
      expect(seen).toEqual({ started: true, pulled: 5, closed: true })
    })

    test('then a Node.js stream is drained, not destroyed: the answer uses the same connection', async () => {
      const body = Readable.from(Array.from({ length: 100 }, () => Buffer.alloc(100)))
      const ended = new Promise(resolve => body.once('end', resolve))
      expect((await wallet({ bodyBytesMax }).handle(placeBetRequest({ body }))).status).toBe(413)
      await ended
      expect(body.readableAborted).toBe(false)
    })

    test('then a Node.js stream that was read before, or destroyed, is answered at once as an empty body', async () => {
      const consumed = Readable.from([Buffer.from('{}')])
      for await (const _ of consumed); // to its end
      const destroyed = Readable.from([Buffer.from('{}')]).destroy()
      for (const body of [consumed, destroyed]) {
        expect(errorOf(await wallet().handle(placeBetRequest({ body })))).toEqual([400, 'INVALID_REQUEST'])
      }
    })

    test('then a Node.js stream that fails, or closes before its end, is answered with 400', async () => {
      for (const error of [new Error('ECONNRESET'), undefined]) {
        const body = new Readable({ read() {} })
        body.push('{"transactionId"')
        const answer = wallet().handle(placeBetRequest({ body }))
        setImmediate(() => body.destroy(error))
        expect(errorOf(await answer)).toEqual([400, 'INVALID_REQUEST'])
      }
    })

    test('then an invalid Content-Length is ignored', async () => {
      const headers = { 'content-type': 'application/json', 'content-length': 'many' }
      expect((await wallet().handle(placeBetRequest({ headers }))).status).toBe(200)
    })

    test.each([0, -1, 1.5, Number.NaN, '100' as unknown as number])('then %j is rejected as a limit', max => {
      expect(() => wallet({ bodyBytesMax: max })).toThrow(/bodyBytesMax/)
    })

    test('then 10 MB are read if the limit allows them', async () => {
      const large = `${text.slice(0, -1)},"padding":"${'\\"1234567890123456:'.repeat(600_000)}","long":1.00000000000000001}`
      const { status } = await wallet({ bodyBytesMax: 16 << 20 }).handle(
        placeBetRequest({ body: bytes(large) }),
      )
      expect(status).toBe(200)
    })
  })

  test('when an amount has 19 digits, then it is exact in a raw body, and refused as a parsed number', async () => {
    const players = { minorUnits: () => 18 }
    const amount = '1.234567890123456789'
    const body = text.replace('30', amount)
    const store = anna()
    const { handle } = wallet(players, store)
    expect((await handle(placeBetRequest({ body }))).body).toContain('"balance":98.765432109876543211,')
    const { body: refused } = await handle(placeBetRequest({ body: { parsed: JSON.parse(body) } }))
    expect(refused).toContain('at most 15 digits')
    expect((await handle(placeBetRequest({ body: { parsed: { ...bet, amount } } }))).status).toBe(200)
  })
})

describe('given the option routes', () => {
  const routes = (store = anna()) => ({
    '/settlement': (body: unknown) => recordSettlement(store, body),
  })
  const settlement = {
    transactionId: 's-1',
    betId: 'b-1',
    playerId: 'anna',
    type: 'BET_PAID',
    amount: 0.1,
    currency: 'EUR',
    transactionDate: '2026-11-21T18:00:00Z',
  }

  test('when a route is called, then base path, authentication, body parser, answers and errors are the same', async () => {
    const store = anna()
    let authenticated = true
    const options = { basePath: '/wallet', routes: routes(store), authenticate: () => authenticated }
    const { handle } = wallet(options, store)
    const request = placeBetRequest({ path: '/wallet/settlement', body: JSON.stringify(settlement) })
    expect(errorOf(await handle(request))).toEqual([400, 'INVALID_BET'])
    await handle(placeBetRequest({ path: '/wallet/placebet' }))
    expect(await handle(request)).toEqual({
      status: 200,
      headers: { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' },
      body: '{"balance":70.10,"currency":"EUR","walletTransactionId":"W2"}',
    })
    expect(errorOf(await handle({ ...request, path: '/settlement' }))[0]).toBe(404)
    expect(errorOf(await handle({ ...request, method: 'GET' }))[0]).toBe(405)
    expect(errorOf(await handle({ ...request, headers: {} }))[0]).toBe(415)
    expect(errorOf(await handle({ ...request, body: 'x'.repeat(70_000) }))[0]).toBe(413)
    expect(errorOf(await handle({ ...request, body: '{' }))[0]).toBe(400)
    authenticated = false
    const { body, seen } = recordingStream()
    expect(errorOf(await handle({ ...request, body }))[0]).toBe(401)
    expect(seen.started).toBe(false)
  })

  test('when a raw body has a long number, then the route receives it with all of its digits', async () => {
    const store = anna()
    const seen: unknown[] = []
    const { handle } = wallet(
      {
        routes: {
          '/own': async body => {
            seen.push(String((body as { amount: unknown }).amount))
            return { ok: false, replayed: false, errorCode: 'OWN_CODE', description: 'of the operator' }
          },
        },
      },
      store,
    )
    expect(
      errorOf(await handle(placeBetRequest({ path: '/own', body: '{"amount":0.12345678901234567}' }))),
    ).toEqual([400, 'OWN_CODE'])
    expect(seen).toEqual(['0.12345678901234567'])
  })

  test('when a route answers any JSON of its own, then amounts keep every digit, and the checks are the same', async () => {
    let authenticated = true
    const { handle, errors } = wallet({
      authenticate: () => authenticated,
      routes: {
        '/balance': async body => {
          const { playerId } = body as { playerId: string }
          if (playerId !== 'anna') return { status: 404, json: { errorCode: 'NO_PLAYER' } }
          return { json: { playerId, balance: new JsonNumber('923456789.123456780'), bonus: null } }
        },
        '/echo': async body => ({ json: body }),
      },
    })
    const asked = (path: string, body: string) => handle(placeBetRequest({ path, body }))
    expect(await asked('/balance', '{"playerId":"anna"}')).toEqual({
      status: 200,
      headers: { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' },
      body: '{"playerId":"anna","balance":923456789.123456780,"bonus":null}',
    })
    expect(await asked('/balance', '{"playerId":"ben"}')).toMatchObject({
      status: 404,
      body: '{"errorCode":"NO_PLAYER"}',
    })
    for (const body of ['[12345678901234567.1,{"a":1e2}]', '"text"', 'null', 'false']) {
      expect(await asked('/echo', body)).toMatchObject({ status: 200, body })
    }
    expect(errorOf(await asked('/balance', '{'))).toEqual([400, 'INVALID_REQUEST'])
    authenticated = false
    expect(errorOf(await asked('/balance', '{'))).toEqual([401, 'AUTHENTICATION_FAILED'])
    expect(errors).toEqual([])
  })

  test.each([199, 204, 205, 304, 600, 200.5, '200', null])(
    'when a route answers with the status %j, then it is a fault',
    async status => {
      const { handle, errors } = wallet({
        routes: { '/own': async () => ({ status: status as number, json: {} }) },
      })
      expect(errorOf(await handle(placeBetRequest({ path: '/own' })))).toEqual([500, 'INTERNAL_ERROR'])
      expect(errors).toEqual([expect.objectContaining({ message: expect.stringContaining('status code') })])
    },
  )

  test('when a route throws or returns no outcome, then it is a fault', async () => {
    const thrown = new Error('select * from secrets')
    const retryable = new WalletError('CONFLICT', 'secret')
    const ofSecondCopy = Object.assign(new Error('secret'), { name: 'WalletError', code: 'UNAVAILABLE' })
    const timeout = Object.assign(new Error('secret'), { name: 'TimeoutError', retryable: true })
    const { handle, errors } = wallet({
      routes: {
        '/throws': () => {
          throw thrown
        },
        '/rejects': () => Promise.reject(thrown),
        '/text': () => Promise.reject('secret'),
        '/undefined': () => Promise.reject(undefined),
        '/no-outcome': (async () => undefined) as never,
        '/incomplete': (async () => ({ ok: false })) as never,
        '/invalid-balance': (async () => ({
          ok: true,
          balance: '1e5',
          currency: 'EUR',
          walletTransactionId: null,
        })) as never,
        '/no-json': async () => ({ json: undefined }),
        '/timeout': () => Promise.reject(timeout),
        '/retryable': () => Promise.reject(retryable),
        '/second-copy': () => Promise.reject(ofSecondCopy),
      },
    })
    const answers: unknown[] = []
    for (const path of [
      '/throws',
      '/rejects',
      '/text',
      '/undefined',
      '/no-outcome',
      '/incomplete',
      '/invalid-balance',
      '/no-json',
      '/timeout',
      '/retryable',
      '/second-copy',
    ]) {
      const response = await handle(placeBetRequest({ path }))
      expect(response.body).not.toContain('secret')
      answers.push(errorOf(response).join(' '))
    }
    expect(answers).toEqual([...Array(9).fill('500 INTERNAL_ERROR'), ...Array(2).fill('503 UNAVAILABLE')])
    expect(errors).toEqual([
      thrown,
      thrown,
      'secret',
      undefined,
      expect.any(TypeError),
      expect.any(TypeError),
      expect.any(TypeError),
      expect.any(TypeError),
      timeout,
      retryable,
      ofSecondCopy,
    ])
  })

  test.each(['/placebet', '/unsettlement', '/rollbackbet'])(
    'when it replaces %s, then the option is rejected',
    path => {
      expect(() => wallet({ routes: { [path]: async () => ({}) as never } })).toThrow(
        /reserved by the wallet interface/,
      )
    },
  )

  test.each(['settlement', '', '/', '/a?b', '/a#b'])(
    'when it has the path %j, then the option is rejected',
    path => {
      expect(() => wallet({ routes: { [path]: async () => ({}) as never } })).toThrow(/must be like/)
    },
  )

  test('when a route is not a function, then the option is rejected', () => {
    expect(() => wallet({ routes: { '/settlement': 'x' as never } })).toThrow(/must be a function/)
  })
})

describe('given one options object for the handlers and the HTTP handler', () => {
  test('when createHttpHandler has checked it, then a handler rejects it all the same, by the option', async () => {
    const options = { authenticate: () => true, clawbacks: true }
    createHttpHandler(anna(), options)
    await expect(handlePlaceBet(anna(), bet, options)).rejects.toMatchObject({
      code: 'INVALID_OPTIONS',
      message: 'Invalid options: unknown option "authenticate"',
    })
  })

  test('when no HTTP handler has checked it, then a handler rejects the HTTP options', async () => {
    const options = { basePath: 5 }
    await expect(handlePlaceBet(anna(), bet, options as never)).rejects.toMatchObject({
      code: 'INVALID_OPTIONS',
      message: 'Invalid options: unknown option "basePath"',
    })
  })

  test.each<[string, object]>([
    ['basepath', { basepath: '/wallet' }],
    ['bodyBytesMaximum', { bodyBytesMaximum: 1 }],
  ])('when it has the unknown option %s, then createHttpHandler rejects it by name', (name, extra) => {
    expect(() => wallet(extra as Partial<HttpOptions>)).toThrow(`unknown option "${name}"`)
  })
})

describe('given the option statusCodes', () => {
  test('when it is missing, then every error code of the library has a default', () => {
    expect(Object.keys(defaultStatusCodes).sort()).toEqual([...errorCodes].sort())
    for (const code of errorCodes) expect(String(defaultStatusCodes[code])).toMatch(/^[45]\d\d$/)
  })

  test('when it sets other status codes, then they are used, also for the operator’s own error codes', async () => {
    const statusCodes = { INSUFFICIENT_FUNDS: 422, NOT_FOUND: 410, TOO_RISKY: 451, INTERNAL_ERROR: 599 }
    let refusal = new WalletRefusal('TOO_RISKY', 'too risky')
    const authorizeBet = () => {
      throw refusal
    }
    const { handle } = wallet({ statusCodes, authorizeBet })
    const place = (n: number, amount = 1) =>
      handle(
        placeBetRequest({
          body: JSON.stringify({ ...bet, transactionId: `t-${n}`, betId: `b-${n}`, amount }),
        }),
      )
    expect(errorOf(await place(1, 1000))).toEqual([422, 'INSUFFICIENT_FUNDS'])
    expect(errorOf(await place(2))).toEqual([451, 'TOO_RISKY'])
    refusal = new WalletRefusal('OTHER', 'another')
    expect(errorOf(await place(3))).toEqual([400, 'OTHER'])
    expect(errorOf(await handle(placeBetRequest({ path: '/' })))).toEqual([410, 'NOT_FOUND'])
    refusal = new Error('not a refusal') as never
    expect(errorOf(await place(4))).toEqual([599, 'INTERNAL_ERROR'])
  })

  test('when an error code is the name of an Object.prototype property, then it is an ordinary code', async () => {
    for (const code of ['constructor', 'toString', 'hasOwnProperty']) {
      const authorizeBet = () => {
        throw new WalletRefusal(code, 'odd')
      }
      expect(errorOf(await wallet({ authorizeBet }).handle(placeBetRequest()))).toEqual([400, code])
    }
  })

  test.each([399, 600, 200, 0, -400, 400.5, Number.NaN, '400' as unknown as number])(
    'when it sets %j, then INVALID_OPTIONS names it',
    status => {
      expect(() => wallet({ statusCodes: { NOT_FOUND: status } })).toThrow(
        expect.objectContaining({
          code: 'INVALID_OPTIONS',
          message: expect.stringContaining('statusCodes.NOT_FOUND'),
        }),
      )
    },
  )

  test.each([400, 599])('when it sets %i, then the status is used', async status => {
    expect(
      (await wallet({ statusCodes: { NOT_FOUND: status } }).handle(placeBetRequest({ path: '/' }))).status,
    ).toBe(status)
  })
})

describe('given faults', () => {
  const cause = new Error('SELECT balance FROM players WHERE password = hunter2')
  const failing = (part: Partial<WalletStore>): WalletStore => ({ ...anna(), ...part })
  /** With a hook that needs the player, a placebet is loaded before it is committed. */
  const loadFirst = { authorizeBet() {} }

  test.each<[string, WalletStore, Partial<HttpOptions>, number, string]>([
    ['load rejects', failing({ load: () => Promise.reject(cause) }), loadFirst, 500, 'LOAD_FAILED'],
    [
      'load throws',
      failing({
        load: () => {
          throw cause
        },
      }),
      loadFirst,
      500,
      'LOAD_FAILED',
    ],
    [
      'load is overloaded',
      failing({ load: () => Promise.reject(Object.assign(new Error('hunter2'), { code: 'UNAVAILABLE' })) }),
      loadFirst,
      503,
      'UNAVAILABLE',
    ],
    ['commit rejects', failing({ commit: () => Promise.reject(cause) }), {}, 500, 'COMMIT_UNKNOWN'],
    [
      'the store cannot hold a credit',
      failing({
        commit: () =>
          Promise.reject(Object.assign(new Error('hunter2'), { code: 'AMOUNT_NOT_REPRESENTABLE' })),
      }),
      {},
      500,
      'AMOUNT_NOT_REPRESENTABLE',
    ],
    [
      'commit is unavailable',
      failing({ commit: async () => ({ status: 'unavailable' }) }),
      {},
      503,
      'UNAVAILABLE',
    ],
    [
      'commit only conflicts',
      failing({ commit: async () => ({ status: 'conflict' }) }),
      { attemptsMax: 2 },
      503,
      'CONFLICT',
    ],
    [
      'commit returns an invalid result',
      failing({ commit: async () => ({ status: 'committed', balance: 70 }) as never }),
      {},
      500,
      'STORE_CONTRACT',
    ],
    ['the deadline has passed', failing({}), { deadlineMs: 0 }, 503, 'DEADLINE_PASSED'],
    ['a hook throws', failing({}), { authorizeBet: () => Promise.reject(cause) }, 500, 'HOOK_FAILED'],
  ])(
    'when %s, then the answer reveals no cause, and onError receives it',
    async (_, store, options, status, code) => {
      const { handle, errors } = wallet(options, store)
      const response = await handle(placeBetRequest())
      expect(errorOf(response)).toEqual([status, status === 503 ? 'UNAVAILABLE' : 'INTERNAL_ERROR'])
      expect(response.body).not.toMatch(/hunter2|SELECT|Error|store|at |anna|t-1/)
      expect(errors).toEqual([expect.objectContaining({ code })])
    },
  )

  test.each([undefined, null, {}, { contractVersion: 2 }, { contractVersion: 3, load() {}, commit() {} }])(
    'when the store is %j, then creating the handler throws INVALID_OPTIONS',
    store => {
      expect(() => createHttpHandler(store as never, { authenticate: () => true })).toThrow(
        expect.objectContaining({ code: 'INVALID_OPTIONS', message: expect.stringContaining('store') }),
      )
    },
  )

  test.each(['INTERNAL_ERROR', 'UNAVAILABLE'])(
    'when statusCodes sets 400 for %s, then it is rejected: a fault is never answered as a refusal (D9)',
    code => {
      expect(() => wallet({ statusCodes: { [code]: 400 } })).toThrow(
        expect.objectContaining({ code: 'INVALID_OPTIONS', message: expect.stringContaining('500 to 599') }),
      )
    },
  )

  test('when minorUnits throws after the commit, then a warning says so, and the answer has the decimals of ISO 4217', async () => {
    const minorUnits = () => {
      throw new Error('no such currency')
    }
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    const { handle } = wallet({ minorUnits })
    const path = '/rollbackbet'
    const body = JSON.stringify({
      ...{ transactionId: 'r-1', betId: 'b-9', playerId: 'anna' },
      ...{ type: 'TECHNICAL_ERROR', transactionDate: '2026-11-21T18:00:00Z' },
    })
    const response = await handle(placeBetRequest({ path, body }))
    expect([response.status, response.body]).toEqual([200, expect.stringMatching(/^{"balance":\d+\.\d\d,/)])
    expect(warn.mock.calls).toEqual([[expect.stringContaining('minorUnits threw'), 'BetWalletWarning']])
    warn.mockRestore()
  })

  test('when authenticate is replaced after the creation, then the change has no effect', async () => {
    const options = { authenticate: () => false }
    const handle = createHttpHandler(createMemoryStore(), options)
    options.authenticate = () => true
    expect((await handle(placeBetRequest())).status).toBe(401)
  })

  test.each([undefined, null])('when the body is %j, then it is an empty body', async body => {
    const response = await wallet({}).handle(placeBetRequest({ body: body as never }))
    expect(errorOf(response)).toEqual([400, 'INVALID_REQUEST'])
  })

  test('when a fault occurs, then onError receives the cause and the request', async () => {
    const onError = vi.fn()
    const request = placeBetRequest()
    await wallet({ ...loadFirst, onError }, failing({ load: () => Promise.reject(cause) })).handle(request)
    expect(onError).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ cause }), request)
  })

  test('when onError throws or rejects, then the answer is unchanged, and the error is reported once', async () => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    for (const onError of [
      () => {
        throw new Error('the log is full')
      },
      () => Promise.reject(new Error('the log is full')) as never,
    ]) {
      const { handle } = wallet({ ...loadFirst, onError }, failing({ load: () => Promise.reject(cause) }))
      expect(errorOf(await handle(placeBetRequest()))).toEqual([500, 'INTERNAL_ERROR'])
      await new Promise(resolve => setImmediate(resolve))
    }
    expect(warn).toHaveBeenCalledTimes(1)
    warn.mockRestore()
  })

  test('when SETTLEMENT_NOT_FOUND is answered with 503, then it is a refusal: onError is not called', async () => {
    const { handle, errors } = wallet()
    await handle(placeBetRequest())
    const { transactionId, betId, playerId, transactionDate } = bet
    const body = JSON.stringify({ transactionId, betId, playerId, transactionDate, type: 'UNSCORED' })
    expect(errorOf(await handle(placeBetRequest({ path: '/unsettlement', body })))).toEqual([
      503,
      'SETTLEMENT_NOT_FOUND',
    ])
    expect(errors).toEqual([])
  })

  test.each<[string, unknown]>([
    ['no body', { ...placeBetRequest(), body: undefined }],
    ['a body of null', { ...placeBetRequest(), body: null }],
    ['a body that is a number', { ...placeBetRequest(), body: 1 }],
    ['no headers', { method: 'POST', path: '/placebet', body: '' }],
    ['no path', { method: 'POST', headers: {}, body: '' }],
    ['a header that is a number', placeBetRequest({ headers: { 'content-type': 1 as never } })],
    ['no request', undefined],
    ['a stream of numbers', placeBetRequest({ body: Readable.from([1, 2]) })],
  ])('when an adapter passes %s, then the handler answers and never rejects', async (_, request) => {
    const response = await wallet().handle(request as HttpRequest)
    expect(errorOf(response)[0]).toBeGreaterThanOrEqual(400)
  })

  test('when values are rejected, then descriptions name fields and rules, and echo no value', async () => {
    const secret = 'xyzzy'
    const store = anna()
    const { handle } = wallet({}, store)
    await handle(placeBetRequest())
    for (const field of Object.keys(bet)) {
      for (const value of [
        `${secret}\u0000`,
        { [secret]: secret },
        [secret],
        `-${secret}`,
        secret.repeat(200),
      ]) {
        const response = await handle(
          placeBetRequest({
            body: JSON.stringify({ ...bet, betId: secret, transactionId: secret, [field]: value }),
          }),
        )
        if (response.status === 200) continue
        errorOf(response)
        expect(response.body).not.toContain(secret)
      }
    }
  })
})
