/** Webhooks: signed by Standard Webhooks, and what is a failed attempt. */
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import { type AddressInfo, isIP, Socket } from 'node:net'
import { inspect } from 'node:util'
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest'
import { signedHeaders, webhookSender } from '../../examples/webhooks/sender.js'
import type { RecordedTransaction } from '../../src/lookups/index.js'
import { transaction } from '../fixtures.js'

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const event: RecordedTransaction = {
  ...transaction(),
  ...{
    walletTransactionId: '77',
    recordedAt: '2026-11-21T10:00:01.000Z',
    balanceAfter: '70',
    accountCurrency: null,
  },
}
const delivery = { attempt: 1, signal: new AbortController().signal }

const requests: { headers: IncomingHttpHeaders; body: string }[] = []
let status = 200
const server = createServer(async (request, response) => {
  let body = ''
  for await (const chunk of request) body += chunk
  requests.push({ headers: request.headers, body })
  response.writeHead(status, { location }).end('an answer')
})
let location = '/elsewhere'

/** No test may send beyond this machine, whatever address it is about: nothing is resolved, nothing connected. */
const { connect } = Socket.prototype
const beyond: unknown[] = []
vi.spyOn(Socket.prototype, 'connect').mockImplementation(function (this: Socket, ...args: unknown[]) {
  const { host } = [args[0]].flat()[0] as { host?: string }
  if (host !== undefined && isIP(host) > 0 && /^(?:127\.|::1$)/.test(host))
    return connect.apply(this, args as never)
  beyond.push(host)
  return this.destroy(new Error('beyond loopback'))
} as never)

let url = ''
beforeAll(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/events`
})
afterAll(() => {
  server.close()
  server.closeAllConnections()
})
afterEach(() => {
  expect(beyond.splice(0)).toEqual([])
})

it('given the test vector of the Standard Webhooks libraries, then the signature is the published one', async () => {
  const key = new Uint8Array(Buffer.from(secret.slice('whsec_'.length), 'base64'))
  expect(
    await signedHeaders([key], 'msg_p5jXN8AQM9LWM0D4loKWxJek', 1614265330, '{"test": 2432232314}'),
  ).toEqual({
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  })
})

it('given two secrets, then the request has the event, and a signature of each over its exact body', async () => {
  const other = `whsec_${Buffer.alloc(32, 1).toString('base64')}`
  await webhookSender({ url, secret: [secret, other], headers: { authorization: 'Bearer x' } })(
    event,
    delivery,
  )
  const { headers, body } = requests.at(-1) ?? { headers: {}, body: '' }
  expect(headers).toMatchObject({
    'content-type': 'application/json',
    'webhook-id': '77',
    authorization: 'Bearer x',
  })
  expect(Math.abs(Number(headers['webhook-timestamp']) - Date.now() / 1000)).toBeLessThan(60)
  const signatures = [secret, other].map(each => {
    const key = Buffer.from(each.slice('whsec_'.length), 'base64')
    return `v1,${createHmac('sha256', key).update(`77.${headers['webhook-timestamp']}.${body}`).digest('base64')}`
  })
  expect(headers['webhook-signature']).toBe(signatures.join(' '))
  expect(JSON.parse(body)).toEqual({ type: 'placebet', timestamp: event.recordedAt, data: event })
})

it.each([200, 204])('given the answer %i, then the event is delivered', async answer => {
  status = answer
  await webhookSender({ url, secret })(event, delivery)
})

it.each([301, 302, 400, 410, 429, 500, 503])(
  'given the answer %i, then the attempt has failed, and no redirect is followed',
  async answer => {
    status = answer
    const before = requests.length
    await expect(webhookSender({ url, secret })(event, delivery)).rejects.toThrow(
      `The consumer answered ${answer}`,
    )
    expect(requests.length).toBe(before + 1)
  },
)

it('given a redirect, then its error shows nothing of the address, which may have a token', async () => {
  ;[status, location] = [302, 'https://user:hunter2@127.0.0.1/?token=hunter2']
  const error = await webhookSender({ url, secret })(event, delivery).catch((thrown: unknown) => thrown)
  expect(inspect(error, { depth: 9 })).toMatch(/The consumer answered 302/)
  expect(inspect(error, { depth: 9 })).not.toMatch(/hunter2/)
})

it('given a test that would send beyond loopback, then nothing is sent', async () => {
  await expect(webhookSender({ url: 'http://192.0.2.1/', secret })(event, delivery)).rejects.toThrow()
  await expect(webhookSender({ url: 'http://consumer.invalid/', secret })(event, delivery)).rejects.toThrow()
  expect(beyond.splice(0)).toEqual(['192.0.2.1', 'consumer.invalid'])
})

it('given a signal that is aborted, then the request ends', async () => {
  await expect(
    webhookSender({ url, secret })(event, { attempt: 1, signal: AbortSignal.abort(new Error('late')) }),
  ).rejects.toThrow('late')
})

it.each<[string, object]>([
  ['secret', { secret: 'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' }],
  ['secret', { secret: 'whsec_c2hvcnQ=' }],
  ['secret', { secret: `whsec_${Buffer.alloc(65).toString('base64')}` }],
  ['secret', { secret: [] }],
  ['url', { url: 'ftp://127.0.0.1/' }],
  ['url', { url: 'events' }],
  ['url', { url: 'http://user:hunter2@127.0.0.1/' }],
  ['url', { url: 'http://hunter2@127.0.0.1/' }],
  ['url', { url: 'http://:hunter2@127.0.0.1/' }],
  ['url', { url: 'http://127.0.0.1/hunter2\n' }],
  ['url', { url: 'http://127.0.0.1/\u0000hunter2' }],
  ['url', { url: new URL('http://127.0.0.1/') as never }],
  ['headers', { headers: null as never }],
  ['headers', { headers: new Headers({ authorization: 'hunter2' }) as never }],
  ['headers', { headers: { authorization: 'Bearer hunter2\r\nx: y' } }],
  ['headers', { headers: { authorization: 'Bearer hunter2\u0001' } }],
  ['headers', { headers: { authorization: 'Bearer hunter2 \u{1f3b2}' } }],
  ['headers', { headers: { authorization: ['hunter2'] as never } }],
  ['headers', { headers: { 'authorization: hunter2': '' } }],
  ['headers', { headers: { '': 'hunter2' } }],
  ...[
    ...[
      'Webhook-Id',
      'webhook-timestamp',
      'WEBHOOK-SIGNATURE',
      'Content-Type',
      'content-length',
      'Transfer-Encoding',
    ],
    ...['connection', 'Keep-Alive', 'upgrade', 'expect'],
  ].map(name => ['headers', { headers: { [name]: 'hunter2' } }] as [string, object]),
  ['key', { key: secret }],
])('given an invalid %s, then it is named, and the secret is not shown', (name, invalid) => {
  const options = { url, secret, ...invalid }
  expect(() => webhookSender(options)).toThrow(
    expect.objectContaining({ name: 'TypeError', message: expect.stringContaining(name) }),
  )
  expect(() => webhookSender(options)).not.toThrow(/MfKQ9r8|c2hvcnQ|hunter2/)
})
