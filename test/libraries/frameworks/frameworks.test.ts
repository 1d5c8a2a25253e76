import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Module } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { basicAuth, createFetchHandler, createNodeListener } from 'bet-wallet/http'
import { createMemoryStore } from 'bet-wallet/memory'
import { migratePostgres } from 'bet-wallet/postgres'
import { DataSource } from 'typeorm'
import { expect, onTestFinished, test, vi } from 'vitest'
import { testServer } from '../../examples/exchange-tests.js'
import { freshDatabase } from '../../postgres/fresh-database.js'
import { options, players, store } from './apps/wallet.js'
import { setups } from './setups.js'

for (const setup of setups) testServer(setup)

const headers = { authorization: `Basic ${btoa('platform:secret')}`, 'content-type': 'application/json' }
const ids = { transactionId: 'r-1', betId: 'b-1', playerId: 'anna', type: 'TECHNICAL_ERROR' }
const body = JSON.stringify({ ...ids, transactionDate: '2026-11-21T18:00:00Z' })

test('given the wallet of the page, when a bet is rolled back, then it answers', async () => {
  const request = new Request('http://wallet/rollbackbet', { method: 'POST', headers, body })
  expect((await createFetchHandler(store, options)(request)).status).toBe(200)
})

test('given a DataSource of the host, when its store is injected, then it serves', async () => {
  vi.doUnmock('./apps/wallet.js')
  vi.resetModules()
  const { walletStore, WalletService } = await import('./apps/nestjs-injected.js')
  const { url, pool, drop } = await freshDatabase()
  onTestFinished(drop)
  await pool.query(`CREATE SCHEMA pam; CREATE TABLE pam.accounts (account_no text PRIMARY KEY, currency text, balance numeric);
    INSERT INTO pam.accounts VALUES ('anna', 'EUR', 100)`)
  await migratePostgres(pool, { players })
  const source = await new DataSource({ type: 'postgres', url }).initialize()
  onTestFinished(() => source.destroy())
  class HostModule {}
  Module({ providers: [{ provide: DataSource, useValue: source }, walletStore, WalletService] })(HostModule)
  const app = await NestFactory.createApplicationContext(HostModule, { logger: false, abortOnError: false })
  const server = createServer(app.get(WalletService).listener())
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const answer = await fetch(`http://127.0.0.1:${port}/rollbackbet`, { method: 'POST', headers, body })
  expect([answer.status, await answer.json()]).toEqual([200, expect.objectContaining({ balance: 100 })])
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
