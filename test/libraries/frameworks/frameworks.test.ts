import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { basicAuth, createFetchHandler, createNodeListener } from 'bet-wallet/http'
import { createMemoryStore } from 'bet-wallet/memory'
import { expect, test } from 'vitest'
import { testServer } from '../../examples/exchange-tests.js'
import { options, store } from './apps/wallet.js'
import { setups } from './setups.js'

for (const setup of setups) testServer(setup)

test('given the wallet of the page, when a bet is rolled back, then it answers', async () => {
  const headers = { authorization: `Basic ${btoa('platform:secret')}`, 'content-type': 'application/json' }
  const ids = { transactionId: 'r-1', betId: 'b-1', playerId: 'anna', type: 'TECHNICAL_ERROR' }
  const body = JSON.stringify({ ...ids, transactionDate: '2026-11-21T18:00:00Z' })
  const request = new Request('http://wallet/rollbackbet', { method: 'POST', headers, body })
  expect((await createFetchHandler(store, options)(request)).status).toBe(200)
})

test('given a store per tenant, when a call names the host of another one, then its credentials and players do not apply', async () => {
  const { byHost } = await import('./apps/tenants.js')
  const tenant = (password: string) =>
    createNodeListener(createMemoryStore([]), { authenticate: basicAuth({ username: 'platform', password }) })
  const server = createServer(byHost({ 'a.example': tenant('a'), 'b.example': tenant('b') }))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const statusOf = (host: string, password: string) =>
    new Promise<number | undefined>((resolve, reject) => {
      const headers = { host, authorization: `Basic ${btoa(`platform:${password}`)}` }
      const sent = request({ port, host: '127.0.0.1', path: '/rollbackbet', method: 'POST', headers })
      sent.on('response', response => resolve(response.resume().statusCode)).on('error', reject)
      sent.end('{}')
    })
  try {
    expect(await statusOf('a.example', 'a')).toBe(415) // it passed the credentials
    expect(await statusOf(`B.example:${port}`, 'b')).toBe(415)
    expect(await statusOf('b.example', 'a')).toBe(401)
    expect(await statusOf('c.example', 'a')).toBe(404)
  } finally {
    server.close()
  }
})
