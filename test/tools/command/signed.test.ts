/** The commands sign each call by HMAC, with the secret of the environment: `signature` accepts it. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createNodeListener, signature } from '../../../src/http/index.js'
import { createMemoryStore } from '../../../src/stores/memory.js'
import { runCommand } from './running.js'

let server: Server
let url = ''
beforeAll(async () => {
  const store = createMemoryStore([{ playerId: 'anna', currency: 'EUR', balance: '100.00' }])
  server = createServer(
    createNodeListener(store, {
      authenticate: signature({
        ...{ header: 'x-signature', algorithm: 'hmac-sha512', secrets: ['signing-secret'] },
        ...{ encoding: 'base64', prefix: 'v1=', timestamp: { header: 'x-time' } },
        signed: '{method}{path}{timestamp}.{body}',
      }),
      onAuthenticationFailed: () => {},
    }),
  )
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => server.close())

const audit = (options: readonly string[], secret: string | null) =>
  runCommand(['audit', url, '--player', 'anna', '--currency', 'EUR', '--only', 'AU-101', ...options], {
    environment: secret === null ? {} : { BET_WALLET_SECRET: secret },
  })
const form = ['--sign-header', 'X-Signature', '--sign-algorithm', 'hmac-sha512', '--sign-encoding', 'base64']
const signs = [...form, '--sign-prefix', 'v1=', '--sign-timestamp', 'X-Time']
const text = ['--sign-text', '{method}{path}{timestamp}.{body}']

test('with the options of the page', async () => {
  const { code, out, error } = await audit([...signs, ...text], 'signing-secret')
  expect([code, error]).toEqual([0, expect.not.stringContaining('Cannot')])
  expect(out + error).not.toContain('signing-secret')
})

test.each([
  ['another secret', [...signs, ...text], 'another-secret'],
  ['the default text, which has no method and path', signs, 'signing-secret'],
])('not with %s', async (_, options, secret) => {
  const { code, error } = await audit(options, secret)
  expect([code, error]).toEqual([2, expect.stringContaining('the credentials are missing or wrong')])
})

test.each([
  [['--sign-prefix', 'v1='], '--sign-prefix needs --sign-header'],
  [['--sign-header', 'x-signature'], '--sign-header needs the secret in BET_WALLET_SECRET'],
])('given %j, then exit code 2 and the problem', async (options, problem) => {
  const { code, error } = await audit(options, null)
  expect([code, error]).toEqual([2, expect.stringContaining(problem)])
})
