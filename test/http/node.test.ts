/** The listener with requests and responses that misbehave. In real servers: test/examples/servers.test.ts. */
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { afterEach, describe, expect, test } from 'vitest'
import {
  createNodeListener,
  type HttpOptions,
  type NodeRequest,
  type NodeResponse,
} from '../../src/http/index.js'
import { anna, bet } from './calls.js'

const text = JSON.stringify(bet)

function wallet(options: Partial<HttpOptions> = {}) {
  const errors: unknown[] = []
  const addresses: unknown[] = []
  const listener = createNodeListener(anna(), {
    authenticate(request) {
      addresses.push(request.address)
      return true
    },
    onError: error => void errors.push(error),
    ...options,
  })
  return { listener, errors, addresses }
}

/** A request of which a parser has read the body, unless `readableDidRead` says otherwise. */
function requestOf(fields: object): NodeRequest {
  return {
    ...{ method: 'POST', url: '/placebet', socket: { remoteAddress: '10.1.2.3' } },
    headers: { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(text)) },
    readableDidRead: true,
    [Symbol.asyncIterator]() {
      throw new Error('the body was read before')
    },
    ...fields,
  }
}

function responseOf(fields: Partial<NodeResponse> = {}) {
  const sent: { status?: number; headers?: object; body?: string; destroyed?: boolean } = {}
  const response: NodeResponse = {
    ...{ headersSent: false, destroyed: false },
    writeHead: (status, headers) => Object.assign(sent, { status, headers }),
    end: body => Object.assign(sent, { body }),
    destroy: () => Object.assign(sent, { destroyed: true }),
    ...fields,
  }
  return { response, sent }
}

describe('given a request whose body a parser has read', () => {
  const exact = text.replace('30', '30.00000000000000000000')
  test.each<[string, object]>([
    ['bytes in rawBody', { body: { of: 'no use' }, rawBody: Buffer.from(exact) }],
    ['text in rawBody', { body: { of: 'no use' }, rawBody: exact }],
    ['bytes in body', { body: Buffer.from(exact) }],
    ['text in body', { body: exact }],
  ])('when it has kept %s, then these are read, exactly', async (_, kept) => {
    const { listener, errors, addresses } = wallet()
    const { response, sent } = responseOf()
    await listener(requestOf(kept), response)
    expect(sent).toEqual({
      status: 200,
      headers: {
        'content-type': 'application/json; charset=utf-8',
        'cache-control': 'no-store',
        'content-length': 61,
      },
      body: '{"balance":70.00,"currency":"EUR","walletTransactionId":"W1"}',
    })
    expect(addresses).toEqual(['10.1.2.3'])
    expect(errors).toEqual([])
  })

  test('when it has kept the parsed body only, then numbers of more than 15 digits are refused', async () => {
    const { listener } = wallet()
    const { response, sent } = responseOf()
    await listener(requestOf({ body: { ...bet, amount: 0.1 + 0.2 } }), response)
    expect(sent.body).toContain('at most 15 digits')
  })

  test('when the bytes that it has kept exceed the limit, then 413', async () => {
    const { listener } = wallet({ bodyBytesMax: text.length - 1 })
    const { response, sent } = responseOf()
    const headers = { 'content-type': 'application/json', 'transfer-encoding': 'chunked' }
    await listener(requestOf({ headers, body: bet, rawBody: Buffer.from(text) }), response)
    expect(sent.status).toBe(413)
  })

  test('when rawBody is set but the body is unread, then it is read from the stream', async () => {
    const { listener } = wallet()
    const { response, sent } = responseOf()
    const stream = Object.assign(Readable.from([Buffer.from(text)]), {
      ...{ method: 'POST', url: '/placebet', socket: {}, rawBody: 'stale' },
      headers: { 'content-type': 'application/json' },
    })
    await listener(stream as unknown as NodeRequest, response)
    expect(sent.status).toBe(200)
  })

  test.each([
    ['Content-Length', { 'content-length': '2' }],
    ['chunks', { 'transfer-encoding': 'chunked' }],
  ])('when it has kept nothing (%s), then it is a fault, and the operator is told why', async (_, lines) => {
    const { listener, errors } = wallet()
    const { response, sent } = responseOf()
    await listener(requestOf({ headers: { 'content-type': 'application/json', ...lines } }), response)
    expect(sent.status).toBe(500)
    expect(errors).toEqual([
      expect.objectContaining({ message: expect.stringMatching(/read before the wallet.*request\.body/) }),
    ])
  })

  test('when it has kept nothing of no body, then the caller is told', async () => {
    const { listener } = wallet()
    const { response, sent } = responseOf()
    await listener(requestOf({ headers: { 'content-type': 'application/json' } }), response)
    expect(sent.status).toBe(400)
  })

  test('when it has kept nothing, and the caller is unknown, then 401', async () => {
    const { listener, errors } = wallet({ authenticate: () => false })
    const { response, sent } = responseOf()
    await listener(requestOf({}), response)
    expect(sent.status).toBe(401)
    expect(errors).toEqual([])
  })
})

describe('given a mount point', () => {
  test.each([
    ['', '/placebet', undefined, 200],
    ['', '/placebet?a', '/wallet/placebet?a', 200],
    ['/wallet', '/placebet', '/wallet/placebet', 200],
    ['/wallet', '/', '/wallet/placebet?a=/b', 200],
    ['/wallet', '/wallet/placebet', '/api/wallet/placebet', 200],
    ['/wallet', '/', '/placebet', 404],
    ['', '/', '/wallet/placebet', 404],
    ['', '', undefined, 404],
  ])(
    'when basePath is %j, url is %j and originalUrl is %j, then %i',
    async (basePath, url, originalUrl, status) => {
      const { listener } = wallet({ basePath })
      const { response, sent } = responseOf()
      await listener(requestOf({ url, originalUrl, body: bet }), response)
      expect(sent.status).toBe(status)
    },
  )
})

describe('given a response that cannot be sent', () => {
  test.each([{ headersSent: true }, { destroyed: true }])('when it is %j, then nothing is', async state => {
    const { listener, errors } = wallet()
    const { response, sent } = responseOf(state)
    await listener(requestOf({ body: bet }), response)
    expect(sent).toEqual({})
    expect(errors).toEqual([])
  })

  test.each(['writeHead', 'end'] as const)(
    'when %s throws, then the connection is closed, and the operator is told',
    async method => {
      const { listener, errors } = wallet()
      const thrown = new Error('changed by a middleware')
      const { response, sent } = responseOf({
        [method]: () => {
          throw thrown
        },
      })
      await listener(requestOf({ body: bet }), response)
      expect(sent.destroyed).toBe(true)
      expect(errors).toEqual([thrown])
    },
  )
})

describe('given a real server', () => {
  const servers: ReturnType<typeof createServer>[] = []
  afterEach(() => {
    for (const server of servers.splice(0)) server.close().closeAllConnections()
  })

  async function listen(listener: (req: IncomingMessage, res: ServerResponse) => void): Promise<number> {
    const server = createServer(listener)
    servers.push(server)
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    return (server.address() as AddressInfo).port
  }

  test('when a call comes, then its address is known', async () => {
    const { listener, addresses } = wallet()
    const port = await listen(listener)
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(`http://127.0.0.1:${port}/placebet`, { method: 'POST', headers, body: text })
    expect(response.status).toBe(200)
    expect(response.headers.get('content-length')).toBe('61')
    expect(addresses).toEqual(['127.0.0.1'])
  })

  test('when the caller closes the connection before the answer, then the listener returns', async () => {
    let decide: (known: boolean) => void = () => {}
    let begin: () => void = () => {}
    const begun = new Promise<void>(resolve => {
      begin = resolve
    })
    const { listener, errors } = wallet({
      authenticate() {
        begin()
        return new Promise(resolve => {
          decide = resolve
        })
      },
    })
    let returned: Promise<void> = Promise.resolve()
    let closed: Promise<void> = Promise.resolve()
    const port = await listen((req, res) => {
      closed = new Promise(resolve => res.once('close', () => resolve()))
      returned = listener(req, res)
    })
    const outgoing = httpRequest({ host: '127.0.0.1', port, method: 'POST', path: '/placebet' })
    outgoing.on('error', () => {})
    outgoing.end(text)
    await begun
    outgoing.destroy()
    await closed
    decide(true)
    await returned
    expect(errors).toEqual([])
  })
})
