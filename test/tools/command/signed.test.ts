/** The commands sign each call by HMAC, with the secret of the environment: `signature` accepts it. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
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

const auditWith = (path: string, secret: string | null) =>
  runCommand(
    [
      ...['audit', url, '--player', 'anna', '--currency', 'EUR', '--only', 'AU-101'],
      ...['--timeout', '60s', '--sign', path],
    ],
    { environment: secret === null ? {} : { BET_WALLET_SECRET: secret } },
  )
const folder = mkdtempSync(join(tmpdir(), 'bet-wallet-signed-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
function file(form: unknown): string {
  const path = join(folder, 'sign.json')
  writeFileSync(path, JSON.stringify(form))
  return path
}
const form = {
  ...{ header: 'X-Signature', algorithm: 'hmac-sha512', encoding: 'base64' },
  ...{ prefix: 'v1=', timestampHeader: 'X-Time' },
}
const signed = { ...form, signed: '{method}{path}{timestamp}.{body}' }

test('with the form of the page', async () => {
  const { code, out, error } = await auditWith(file(signed), 'signing-secret')
  expect([code, error]).toEqual([0, expect.not.stringContaining('Cannot')])
  expect(out + error).not.toContain('signing-secret')
})

test.each([
  ['another secret', signed, 'another-secret'],
  ['the default text, which has no method and path', form, 'signing-secret'],
])('not with %s', async (_, as, secret) => {
  const { code, error } = await auditWith(file(as), secret)
  expect([code, error]).toEqual([2, expect.stringContaining('the credentials (--user) are missing or wrong')])
})

test.each([
  ['a form without a header', () => file({ prefix: 'v1=' }), 'header must be the name of the header'],
  ['a name that is none', () => file({ ...form, secret: 'x' }), 'unknown option "secret"'],
  ['no file', () => join(folder, 'none.json'), '--sign: '],
])('given %s, then exit code 2 and the problem', async (_, path, problem) => {
  const { code, error } = await auditWith(path(), 'signing-secret')
  expect([code, error]).toEqual([2, expect.stringContaining(problem)])
})

test('given no secret, then exit code 2, and the variable is named', async () => {
  const { code, error } = await auditWith(file(form), null)
  expect([code, error]).toEqual([2, expect.stringContaining('--sign needs a secret: BET_WALLET_SECRET')])
})
