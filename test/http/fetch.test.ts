/** The fetch handler without a server. Over sockets: test/libraries/frameworks. */
import { describe, expect, test } from 'vitest'
import { createFetchHandler, type HttpOptions } from '../../src/http/index.js'
import { anna, bet } from './calls.js'

const url = 'http://wallet.example/base/placebet'

function wallet(options: Partial<HttpOptions> = {}) {
  const errors: unknown[] = []
  const handle = createFetchHandler(anna(), {
    ...{ authenticate: () => true, basePath: '/base', onError: error => void errors.push(error) },
    ...options,
  })
  return { handle, errors }
}

function post(body: string | ReadableStream | null, headers: Record<string, string> = {}, to = url): Request {
  return new Request(to, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
    ...(body instanceof ReadableStream && { duplex: 'half' }),
  } as RequestInit)
}

/** A body of chunks, each made when it is asked for. */
function stream(chunks: readonly string[]) {
  const seen = { pulled: 0, cancelled: false }
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const chunk = chunks[seen.pulled]
        if (chunk === undefined) return controller.close()
        seen.pulled += 1
        controller.enqueue(new TextEncoder().encode(chunk))
      },
      cancel() {
        seen.cancelled = true
      },
    },
    { highWaterMark: 0 },
  )
  return { body, seen }
}

async function answerOf(response: Response): Promise<[number, unknown]> {
  return [response.status, ((await response.json()) as { errorCode?: string }).errorCode]
}

describe('given a Request', () => {
  test('when it is a bet, then the answer is a Response, and the amount keeps every digit', async () => {
    const { handle } = wallet()
    const text = JSON.stringify(bet).replace('30', '30.00000000000000000000')
    const response = await handle(post(text, {}, `${url}?trace=1`))
    expect(response).toBeInstanceOf(Response)
    expect(response.status).toBe(200)
    expect(Object.fromEntries(response.headers)).toEqual({
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
    })
    expect(await response.text()).toBe('{"balance":70.00,"currency":"EUR","walletTransactionId":"W1"}')
  })

  test('when the body comes in pieces, then they are joined', async () => {
    const { body } = stream([...JSON.stringify(bet)])
    expect((await wallet().handle(post(body))).status).toBe(200)
  })

  test.each([
    ['http://wallet.example', 404],
    ['http://wallet.example/', 404],
    ['http://wallet.example/placebet', 404],
    ['http://placebet/', 404],
    ['http://wallet.example/other?/base/placebet', 404],
    ['http://wallet.example/other/../base/placebet', 200],
    ['http://wallet.example:8080/base/placebet', 200],
    ['https://[::1]/base/placebet?a#b', 200],
  ])('when the URL is %s, then the status is %i', async (to, status) => {
    expect((await wallet().handle(post(JSON.stringify(bet), {}, to))).status).toBe(status)
  })

  test.each(['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS'])('when the method is %s, then 405', async method => {
    const response = await wallet().handle(new Request(url, { method }))
    expect(await answerOf(response)).toEqual([405, 'METHOD_NOT_ALLOWED'])
    expect(response.headers.get('allow')).toBe('POST')
  })

  test('when it has no body, then it is malformed', async () => {
    expect(await answerOf(await wallet().handle(post(null)))).toEqual([400, 'INVALID_REQUEST'])
  })

  test('when it is compressed, then 415', async () => {
    const response = await wallet().handle(post(JSON.stringify(bet), { 'content-encoding': 'gzip' }))
    expect(await answerOf(response)).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE'])
  })

  test('when it is not authenticated, then the body is not even looked at', async () => {
    const { handle } = wallet({ authenticate: () => false })
    const request = post(JSON.stringify(bet))
    for (const name of ['body', 'bodyUsed'] as const) {
      Object.defineProperty(request, name, {
        get() {
          throw new Error(`${name} was read`)
        },
      })
    }
    expect(await answerOf(await handle(request))).toEqual([401, 'AUTHENTICATION_FAILED'])
  })
})

describe('given a Request with a large or a broken body', () => {
  test('when it exceeds the limit, then 413 is answered at once, and the rest is read and dropped', async () => {
    let release: () => void = () => {}
    const held = new Promise<void>(resolve => {
      release = resolve
    })
    let end: () => void = () => {}
    const ended = new Promise<void>(resolve => {
      end = resolve
    })
    let pulled = 0
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        pulled += 1
        controller.enqueue(new Uint8Array(60))
        if (pulled === 2) await held
        if (pulled < 5) return
        controller.close()
        end()
      },
    })
    const response = await wallet({ bodyBytesMax: 100 }).handle(post(body))
    expect(await answerOf(response)).toEqual([413, 'PAYLOAD_TOO_LARGE'])
    release()
    await ended
  })

  test('when its Content-Length exceeds the limit, then it is not read', async () => {
    const { body, seen } = stream(['{}'])
    const response = await wallet().handle(post(body, { 'content-length': '65537' }))
    expect(await answerOf(response)).toEqual([413, 'PAYLOAD_TOO_LARGE'])
    expect(seen).toEqual({ pulled: 0, cancelled: false })
  })

  test.each([1, 200])(
    'when the caller closes the connection, then nothing is written',
    async bodyBytesMax => {
      let pulled = 0
      const body = new ReadableStream<Uint8Array>({
        pull(controller) {
          pulled += 1
          if (pulled === 1) controller.enqueue(new TextEncoder().encode(JSON.stringify(bet).slice(0, -1)))
          else controller.error(new Error('closed'))
        },
      })
      const { handle, errors } = wallet({ bodyBytesMax })
      expect((await handle(post(body))).status).toBe(bodyBytesMax === 1 ? 413 : 400)
      expect(errors).toEqual([])
    },
  )

  test('when the application has read it, then it is a fault, and the operator is told why', async () => {
    const { handle, errors } = wallet()
    const request = post(JSON.stringify(bet))
    await request.json()
    expect(await answerOf(await handle(request))).toEqual([500, 'INTERNAL_ERROR'])
    expect(errors).toEqual([
      expect.objectContaining({ message: expect.stringMatching(/read before the wallet/) }),
    ])
  })
})
