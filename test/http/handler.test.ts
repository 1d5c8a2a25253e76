import { Readable } from 'node:stream'
import { describe, expect, test, vi } from 'vitest'
import { WalletError, WalletRefusal } from '../../src/errors.js'
import { recordSettlement } from '../../src/handlers.js'
import {
  createHttpHandler,
  defaultStatusCodes,
  type HttpOptions,
  type HttpRequest,
} from '../../src/http/index.js'
import { errorCodes } from '../../src/outcomes.js'
import type { WalletStore } from '../../src/store.js'
import { createMemoryStore } from '../../src/stores/memory.js'
import { anna, bet, errorOf, placeBetRequest, recordingStream, wallet } from './calls.js'

const bytes = (text: string) => new TextEncoder().encode(text)

describe('paths', () => {
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
  ])('base path %j, path %j: %i', async (basePath, path, status) => {
    const response = await wallet({ basePath }).handle(placeBetRequest({ path }))
    expect(response.status).toBe(status)
    if (status === 404) expect(errorOf(response)).toEqual([404, 'NOT_FOUND'])
  })

  test.each(['wallet', '/wallet?', '/wallet#', '//', '/a//b', ' /wallet'])('no base path: %j', basePath => {
    expect(() => wallet({ basePath })).toThrow(/basePath/)
  })

  test.each(['GET', 'PUT', 'DELETE', 'OPTIONS', 'HEAD', 'post', ''])('method %j: 405', async method => {
    const response = await wallet().handle(placeBetRequest({ method }))
    expect(errorOf(response)).toEqual([405, 'METHOD_NOT_ALLOWED'])
    expect(response.headers.allow).toBe('POST')
  })
})

describe('the media type', () => {
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
  ])('%j: %i', async (headers, status) => {
    const response = await wallet().handle(placeBetRequest({ headers }))
    expect(response.status).toBe(status)
    if (status === 415) expect(errorOf(response)).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE'])
  })

  test('what a parser has read it has also unpacked', async () => {
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' }
    const { status } = await wallet().handle(placeBetRequest({ headers, body: { parsed: bet } }))
    expect(status).toBe(200)
  })
})

describe('the order of the checks', () => {
  test('path, method, media type, authentication, size, body, rules', async () => {
    // Everything is wrong; what is found first is put right, and so on.
    const asked = vi.fn(() => false)
    let letIn = false
    const { handle } = wallet({ authenticate: () => asked() || letIn, bodyBytesMax: 300 })
    const headers: HttpRequest['headers'] = { 'content-length': '301' }
    const request: HttpRequest = { method: 'GET', path: '/nowhere', headers, body: 'x'.repeat(301) }
    const answers: unknown[] = []
    for (const putRight of [
      () => {},
      () => Object.assign(request, { path: '/placebet' }),
      () => Object.assign(request, { method: 'POST' }),
      () => Object.assign(headers, { 'content-type': 'application/json' }),
      () => {
        letIn = true
      },
      () => Object.assign(headers, { 'content-length': '299' }),
      () => Object.assign(request, { body: '{' }),
      () => Object.assign(request, { body: '{}' }),
      () => Object.assign(request, { body: JSON.stringify({ ...bet, amount: 1000 }) }),
      () => Object.assign(request, { body: JSON.stringify({ ...bet, transactionId: 't-2', betId: 'b-2' }) }),
    ]) {
      putRight()
      const response = await handle(request)
      answers.push(response.status === 200 ? 200 : errorOf(response))
    }
    expect(answers).toEqual([
      [404, 'NOT_FOUND'],
      [405, 'METHOD_NOT_ALLOWED'],
      [415, 'UNSUPPORTED_MEDIA_TYPE'],
      [401, 'AUTHENTICATION_FAILED'],
      [413, 'PAYLOAD_TOO_LARGE'],
      [413, 'PAYLOAD_TOO_LARGE'],
      [400, 'INVALID_REQUEST'],
      [400, 'INVALID_REQUEST'],
      [402, 'INSUFFICIENT_FUNDS'],
      200,
    ])
    // Whoever is at the wrong place is not asked who he is.
    expect(asked).toHaveBeenCalledTimes(7)
  })

  test.each<[string, Partial<HttpRequest>, Partial<HttpOptions>, number]>([
    ['path', { path: '/' }, {}, 404],
    ['method', { method: 'PUT' }, {}, 405],
    ['media type', { headers: {} }, {}, 415],
    ['authentication', {}, { authenticate: () => false }, 401],
    ['authentication that fails', {}, { authenticate: () => Promise.reject(new Error('no')) }, 500],
    ['size', { headers: { 'content-type': 'application/json', 'content-length': '65537' } }, {}, 413],
  ])('a stream is not touched before: %s', async (_, request, options, status) => {
    const { body, seen } = recordingStream(bytes('{}'))
    const response = await wallet(options).handle(placeBetRequest({ ...request, body }))
    expect(response.status).toBe(status)
    expect(seen).toEqual({ started: false, pulled: 0, left: false })
  })

  test('nor while authenticate has not made up its mind', async () => {
    let decide: (letIn: boolean) => void = () => {}
    const authenticate = () => new Promise<boolean>(resolve => (decide = resolve))
    const { body, seen } = recordingStream(bytes(JSON.stringify(bet)))
    const answered = wallet({ authenticate }).handle(placeBetRequest({ body }))
    await new Promise(resolve => setImmediate(resolve))
    expect(seen.started).toBe(false)
    decide(true)
    expect((await answered).status).toBe(200)
    expect(seen.pulled).toBe(2)
  })

  test('nothing of the store is asked before the body is known to be a call', async () => {
    const store: WalletStore = { contractVersion: 1, load: vi.fn(), commit: vi.fn() }
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

describe('authentication', () => {
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
  ])('only true lets in, not %j', async answer => {
    const store = anna()
    const authenticate = (() => answer) as unknown as HttpOptions['authenticate']
    const response = await wallet({ authenticate }, store).handle(placeBetRequest())
    expect(errorOf(response)).toEqual([401, 'AUTHENTICATION_FAILED'])
    expect(response.headers['www-authenticate']).toBe('Basic realm="wallet", charset="UTF-8"')
    expect(store.transactions()).toEqual([])
  })

  test.each([true, Promise.resolve(true)])('%j does', async answer => {
    expect((await wallet({ authenticate: () => answer }).handle(placeBetRequest())).status).toBe(200)
  })

  test.each<[string, HttpOptions['authenticate']]>([
    [
      'throws',
      () => {
        throw new Error('secret of the key server')
      },
    ],
    ['rejects', () => Promise.reject(new Error('secret of the key server'))],
  ])('one that %s lets nobody in, and is a fault', async (_, authenticate) => {
    const store = anna()
    const { handle, errors } = wallet({ authenticate }, store)
    const response = await handle(placeBetRequest())
    expect(errorOf(response)).toEqual([500, 'INTERNAL_ERROR'])
    expect(response.body).not.toContain('secret')
    expect(errors).toEqual([expect.objectContaining({ message: 'secret of the key server' })])
    expect(store.transactions()).toEqual([])
  })

  test('is told of the whole request', async () => {
    const authenticate = vi.fn(() => true)
    const request = placeBetRequest()
    await wallet({ authenticate }).handle(request)
    expect(authenticate).toHaveBeenCalledExactlyOnceWith(request)
  })

  test.each([undefined, null, true, 'basic'])('is required: %j', authenticate => {
    expect(() => createHttpHandler(anna(), { authenticate } as unknown as HttpOptions)).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTIONS', message: expect.stringContaining('authenticate') }),
    )
  })

  test('the challenge is an option, of printable ASCII', async () => {
    const { handle } = wallet({ authenticate: () => false, challenge: 'Bearer' })
    expect((await handle(placeBetRequest())).headers['www-authenticate']).toBe('Bearer')
    for (const challenge of ['', 'a\r\nset-cookie: b', 'ü', 1 as unknown as string]) {
      expect(() => wallet({ challenge })).toThrow(/challenge/)
    }
  })
})

describe('the body', () => {
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
    ['a web stream', () => new Blob([text]).stream() as unknown as AsyncIterable<Uint8Array>],
    ['any async iterable', () => recordingStream(bytes(text.slice(0, 5)), bytes(text.slice(5))).body],
    ['what was parsed', () => ({ parsed: bet })],
    ['text that a parser left', () => ({ parsed: text })],
    ['bytes that a parser left', () => ({ parsed: Buffer.from(text) })],
  ])('may be %s', async (_, body) => {
    const { status, body: answer } = await wallet().handle(placeBetRequest({ body: body() }))
    expect([status, answer]).toEqual([200, '{"balance":70.00,"currency":"EUR","walletTransactionId":"W1"}'])
  })

  test('a character may be cut by the border of two chunks', async () => {
    const whole = Buffer.from(JSON.stringify({ ...bet, betId: '球😀' }))
    for (let cut = 1; cut < whole.length; cut += 1) {
      const store = anna()
      const body = Readable.from([whole.subarray(0, cut), whole.subarray(cut)])
      expect((await wallet({}, store).handle(placeBetRequest({ body }))).status).toBe(200)
      expect(store.bet('球😀')).not.toBeNull()
    }
  })

  test.each<[string, HttpRequest['body']]>([
    ['nothing', ''],
    ['nothing in a stream', Readable.from([])],
    ['half a JSON', text.slice(0, -1)],
    ['two JSONs', text + text],
    ['a byte order mark in text', `\ufeff${text}`],
    ['a byte order mark in bytes', Buffer.from(`\ufeff${text}`)],
    ['a byte order mark left by a parser', { parsed: `\ufeff${text}` }],
    ['bytes that are no UTF-8', Buffer.from(text.replace('s-1', '\xff'), 'latin1')],
    ['an overlong NUL', Buffer.from(text.replace('s-1', '\xc0\x80'), 'latin1')],
    ['half a surrogate pair in UTF-8', Buffer.from(text.replace('s-1', '\xed\xa0\x80'), 'latin1')],
    ['a character cut short at the end', Buffer.concat([Buffer.from(text), Buffer.from([0xe7, 0x90])])],
    ['UTF-16', Buffer.from(text, 'utf16le')],
    ['an array', `[${text}]`],
    ['null', 'null'],
    ['a number', '1'],
    ['a long number', '12345678901234567'],
    ['a text', '"x"'],
    ['a parsed array', { parsed: [bet] }],
    ['a parsed null', { parsed: null }],
    ['a parsed nothing', { parsed: undefined }],
    ['a parsed number', { parsed: 1 }],
  ])('%s: 400, and nothing is written', async (_, body) => {
    const store = anna()
    const { handle, errors } = wallet({}, store)
    expect(errorOf(await handle(placeBetRequest({ body })))).toEqual([400, 'INVALID_REQUEST'])
    expect(store.transactions()).toEqual([])
    expect(errors).toEqual([])
  })

  test.each<[string, () => AsyncIterable<Uint8Array>]>([
    [
      'a stream of Node',
      () => {
        let reads = 0
        return new Readable({
          read() {
            reads += 1
            // All of it is there, but nobody has said that it is all.
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
  ])('a caller who hangs up has sent no call (%s)', async (_, body) => {
    const store = anna()
    const { handle, errors } = wallet({}, store)
    expect(errorOf(await handle(placeBetRequest({ body: body() })))).toEqual([400, 'INVALID_REQUEST'])
    expect(store.transactions()).toEqual([])
    expect(errors).toEqual([])
  })

  describe('its size', () => {
    const bodyBytesMax = 400
    const padded = (length: number) => text + ' '.repeat(length - text.length)
    const ways: [string, (text: string) => HttpRequest['body']][] = [
      ['text', text => text],
      ['bytes', text => bytes(text)],
      ['a stream', text => Readable.from([Buffer.from(text.slice(0, 50)), Buffer.from(text.slice(50))])],
      ['text that a parser left', text => ({ parsed: text })],
      ['bytes that a parser left', text => ({ parsed: bytes(text) })],
    ]
    test.each(ways)('counts the bytes of %s', async (_, way) => {
      const { handle } = wallet({ bodyBytesMax })
      expect((await handle(placeBetRequest({ body: way(padded(400)) }))).status).toBe(200)
      expect(errorOf(await handle(placeBetRequest({ body: way(padded(401)) })))).toEqual([
        413,
        'PAYLOAD_TOO_LARGE',
      ])
      const notInCharacters = padded(400).replace('  ', '\u00e9 ')
      expect((await handle(placeBetRequest({ body: way(notInCharacters) }))).status).toBe(413)
    })

    test('a stream is left where it is too large, not read to its end', async () => {
      const { body, seen } = recordingStream(...Array.from({ length: 100 }, () => new Uint8Array(100)))
      expect((await wallet({ bodyBytesMax }).handle(placeBetRequest({ body }))).status).toBe(413)
      expect(seen).toEqual({ started: true, pulled: 5, left: true })
    })

    test('a stream of Node is neither destroyed nor stopped: the answer goes over the same line', async () => {
      const body = Readable.from(Array.from({ length: 100 }, () => Buffer.alloc(100)))
      const ended = new Promise(resolve => body.once('end', resolve))
      expect((await wallet({ bodyBytesMax }).handle(placeBetRequest({ body }))).status).toBe(413)
      await ended
      expect(body.readableAborted).toBe(false)
    })

    test('a stream of Node that somebody else has read, or that is gone, is an empty body, and nobody waits for it', async () => {
      const read = Readable.from([Buffer.from('{}')])
      for await (const _ of read); // to its end
      const gone = Readable.from([Buffer.from('{}')]).destroy()
      for (const body of [read, gone]) {
        expect(errorOf(await wallet().handle(placeBetRequest({ body })))).toEqual([400, 'INVALID_REQUEST'])
      }
    })

    test('a stream of Node that breaks, or closes before its end, is no request', async () => {
      for (const error of [new Error('ECONNRESET'), undefined]) {
        const body = new Readable({ read() {} })
        body.push('{"transactionId"')
        const answer = wallet().handle(placeBetRequest({ body }))
        setImmediate(() => body.destroy(error))
        expect(errorOf(await answer)).toEqual([400, 'INVALID_REQUEST'])
      }
    })

    test('a Content-Length that is none does not count', async () => {
      const headers = { 'content-type': 'application/json', 'content-length': 'many' }
      expect((await wallet().handle(placeBetRequest({ headers }))).status).toBe(200)
    })

    test.each([0, -1, 1.5, Number.NaN, '100' as unknown as number])('must not be limited to %j', max => {
      expect(() => wallet({ bodyBytesMax: max })).toThrow(/bodyBytesMax/)
    })

    test('10 MB are read if they are allowed', async () => {
      const large = `${text.slice(0, -1)},"padding":"${'\\"1234567890123456:'.repeat(600_000)}","long":1.00000000000000001}`
      const { status } = await wallet({ bodyBytesMax: 16 << 20 }).handle(
        placeBetRequest({ body: bytes(large) }),
      )
      expect(status).toBe(200)
    })
  })

  test('digits are kept in a raw body, and refused where a parser may have lost them', async () => {
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

describe('routes', () => {
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

  test('have the same paths, authentication, body reader, answers and errors', async () => {
    const store = anna()
    let letIn = true
    const options = { basePath: '/wallet', routes: routes(store), authenticate: () => letIn }
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
    letIn = false
    const { body, seen } = recordingStream()
    expect(errorOf(await handle({ ...request, body }))[0]).toBe(401)
    expect(seen.started).toBe(false)
  })

  test('take the numbers of a raw body with all of their digits', async () => {
    const store = anna()
    const seen: unknown[] = []
    const { handle } = wallet(
      {
        routes: {
          '/own': async body => {
            seen.push(String((body as { amount: unknown }).amount))
            return { ok: false, replayed: false, errorCode: 'MINE', description: 'mine' }
          },
        },
      },
      store,
    )
    expect(
      errorOf(await handle(placeBetRequest({ path: '/own', body: '{"amount":0.12345678901234567}' }))),
    ).toEqual([400, 'MINE'])
    expect(seen).toEqual(['0.12345678901234567'])
  })

  test('what they throw is a fault', async () => {
    const thrown = new Error('select * from secrets')
    const retryable = new WalletError('CONFLICT', 'secret')
    const ofAnotherCopy = Object.assign(new Error('secret'), { name: 'WalletError', code: 'UNAVAILABLE' })
    const timeout = Object.assign(new Error('secret'), { name: 'TimeoutError', retryable: true })
    const { handle, errors } = wallet({
      routes: {
        '/throws': () => {
          throw thrown
        },
        '/rejects': () => Promise.reject(thrown),
        '/text': () => Promise.reject('secret'),
        '/nothing': () => Promise.reject(undefined),
        '/nonsense': (async () => undefined) as never,
        '/unfinished': (async () => ({ ok: false })) as never,
        '/no-decimal': (async () => ({
          ok: true,
          balance: '1e5',
          currency: 'EUR',
          walletTransactionId: null,
        })) as never,
        '/timeout': () => Promise.reject(timeout),
        '/retryable': () => Promise.reject(retryable),
        '/other-copy': () => Promise.reject(ofAnotherCopy),
      },
    })
    const answers: unknown[] = []
    for (const path of [
      '/throws',
      '/rejects',
      '/text',
      '/nothing',
      '/nonsense',
      '/unfinished',
      '/no-decimal',
      '/timeout',
      '/retryable',
      '/other-copy',
    ]) {
      const response = await handle(placeBetRequest({ path }))
      expect(response.body).not.toContain('secret')
      answers.push(errorOf(response).join(' '))
    }
    expect(answers).toEqual([...Array(8).fill('500 INTERNAL_ERROR'), ...Array(2).fill('503 UNAVAILABLE')])
    expect(errors).toEqual([
      thrown,
      thrown,
      'secret',
      undefined,
      expect.any(TypeError),
      expect.any(TypeError),
      expect.any(TypeError),
      timeout,
      retryable,
      ofAnotherCopy,
    ])
  })

  test.each(['/placebet', '/unsettlement', '/rollbackbet'])('must not take the place of %s', path => {
    expect(() => wallet({ routes: { [path]: async () => ({}) as never } })).toThrow(
      /reserved by the wallet interface/,
    )
  })

  test.each(['settlement', '', '/', '/a?b', '/a#b'])('must have a path, not %j', path => {
    expect(() => wallet({ routes: { [path]: async () => ({}) as never } })).toThrow(/must be like/)
  })

  test('must be functions', () => {
    expect(() => wallet({ routes: { '/settlement': 'x' as never } })).toThrow(/must be a function/)
  })
})

describe('statusCodes', () => {
  test('every code of the library has one', () => {
    expect(Object.keys(defaultStatusCodes).sort()).toEqual([...errorCodes].sort())
    for (const code of errorCodes) expect(String(defaultStatusCodes[code])).toMatch(/^[45]\d\d$/)
  })

  test('may be others, also for codes of the operator', async () => {
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
    refusal = new Error('no refusal') as never
    expect(errorOf(await place(4))).toEqual([599, 'INTERNAL_ERROR'])
  })

  test('codes with the names of what every object has are codes like any other', async () => {
    for (const code of ['constructor', 'toString', 'hasOwnProperty']) {
      const authorizeBet = () => {
        throw new WalletRefusal(code, 'odd')
      }
      expect(errorOf(await wallet({ authorizeBet }).handle(placeBetRequest()))).toEqual([400, code])
    }
  })

  test.each([399, 600, 200, 0, -400, 400.5, Number.NaN, '400' as unknown as number])(
    'must not be %j',
    status => {
      expect(() => wallet({ statusCodes: { NOT_FOUND: status } })).toThrow(
        expect.objectContaining({
          code: 'INVALID_OPTIONS',
          message: expect.stringContaining('statusCodes.NOT_FOUND'),
        }),
      )
    },
  )

  test.each([400, 599])('may be %i', async status => {
    expect(
      (await wallet({ statusCodes: { NOT_FOUND: status } }).handle(placeBetRequest({ path: '/' }))).status,
    ).toBe(status)
  })
})

describe('faults', () => {
  const cause = new Error('SELECT balance FROM players WHERE password = hunter2')
  const failing = (part: Partial<WalletStore>): WalletStore => ({ ...anna(), ...part })

  test.each<[string, WalletStore, Partial<HttpOptions>, number, string]>([
    ['load rejects', failing({ load: () => Promise.reject(cause) }), {}, 500, 'LOAD_FAILED'],
    [
      'load throws',
      failing({
        load: () => {
          throw cause
        },
      }),
      {},
      500,
      'LOAD_FAILED',
    ],
    [
      'load is overloaded',
      failing({ load: () => Promise.reject(Object.assign(new Error('hunter2'), { code: 'UNAVAILABLE' })) }),
      {},
      503,
      'UNAVAILABLE',
    ],
    ['commit rejects', failing({ commit: () => Promise.reject(cause) }), {}, 500, 'COMMIT_UNKNOWN'],
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
      'commit answers nonsense',
      failing({ commit: async () => ({ status: 'committed', balance: 70 }) as never }),
      {},
      500,
      'STORE_CONTRACT',
    ],
    ['the time is over', failing({}), { deadlineMs: 0 }, 503, 'DEADLINE_PASSED'],
    ['a hook throws', failing({}), { authorizeBet: () => Promise.reject(cause) }, 500, 'HOOK_FAILED'],
  ])('%s', async (_, store, options, status, code) => {
    const { handle, errors } = wallet(options, store)
    const response = await handle(placeBetRequest())
    expect(errorOf(response)).toEqual([status, status === 503 ? 'UNAVAILABLE' : 'INTERNAL_ERROR'])
    expect(response.body).not.toMatch(/hunter2|SELECT|Error|store|at |anna|t-1/)
    expect(errors).toEqual([expect.objectContaining({ code })])
  })

  test.each([undefined, null, {}, { contractVersion: 1 }, { contractVersion: 2, load() {}, commit() {} }])(
    'there is no handler over a store that is none: %j',
    store => {
      expect(() => createHttpHandler(store as never, { authenticate: () => true })).toThrow(
        expect.objectContaining({ code: 'INVALID_OPTIONS', message: expect.stringContaining('store') }),
      )
    },
  )

  test.each(['INTERNAL_ERROR', 'UNAVAILABLE'])('%s is never answered as a refusal (D9)', code => {
    expect(() => wallet({ statusCodes: { [code]: 400 } })).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTIONS', message: expect.stringContaining('500 to 599') }),
    )
  })

  test('a minorUnits that throws after the money has moved is told, and answered with the digits of ISO 4217', async () => {
    const minorUnits = () => {
      throw new Error('no such currency')
    }
    const { handle, errors } = wallet({ minorUnits })
    const path = '/rollbackbet'
    const body = JSON.stringify({
      ...{ transactionId: 'r-1', betId: 'b-9', playerId: 'anna' },
      ...{ type: 'TECHNICAL_ERROR', transactionDate: '2026-11-21T18:00:00Z' },
    })
    const response = await handle(placeBetRequest({ path, body }))
    expect([response.status, response.body]).toEqual([200, expect.stringMatching(/^{"balance":\d+\.\d\d,/)])
    expect(errors).toEqual([expect.objectContaining({ code: 'HOOK_FAILED' })])
  })

  test('what authenticates is not exchanged after the creation', async () => {
    const options = { authenticate: () => false }
    const handle = createHttpHandler(createMemoryStore(), options)
    options.authenticate = () => true
    expect((await handle(placeBetRequest())).status).toBe(401)
  })

  test.each([undefined, null])('a body of %j is an empty one', async body => {
    const response = await wallet({}).handle(placeBetRequest({ body: body as never }))
    expect(errorOf(response)).toEqual([400, 'INVALID_REQUEST'])
  })

  test('onError is told of the cause and of the request', async () => {
    const onError = vi.fn()
    const request = placeBetRequest()
    await wallet({ onError }, failing({ load: () => Promise.reject(cause) })).handle(request)
    expect(onError).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ cause }), request)
  })

  test('without onError they go to the console', async () => {
    const print = vi.spyOn(console, 'error').mockImplementation(() => {})
    const handle = createHttpHandler(failing({ load: () => Promise.reject(cause) }), {
      authenticate: () => true,
    })
    await handle(placeBetRequest())
    expect(print).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ cause }))
    print.mockRestore()
  })

  test('an onError that throws or rejects changes no answer, and is reported once', async () => {
    const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    for (const onError of [
      () => {
        throw new Error('the log is full')
      },
      () => Promise.reject(new Error('the log is full')) as never,
    ]) {
      const { handle } = wallet({ onError }, failing({ load: () => Promise.reject(cause) }))
      expect(errorOf(await handle(placeBetRequest()))).toEqual([500, 'INTERNAL_ERROR'])
      await new Promise(resolve => setImmediate(resolve))
    }
    expect(warned).toHaveBeenCalledTimes(1)
    warned.mockRestore()
  })

  test('refusals are none: SETTLEMENT_NOT_FOUND is 503, and nobody is alarmed', async () => {
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
    ['nothing', undefined],
    ['a stream of numbers', placeBetRequest({ body: Readable.from([1, 2]) })],
  ])('an adapter that hands over %s: an answer, never a rejection', async (_, request) => {
    const response = await wallet().handle(request as HttpRequest)
    expect(errorOf(response)[0]).toBeGreaterThanOrEqual(400)
  })

  test('descriptions name fields and rules, and echo nothing of what was sent', async () => {
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
