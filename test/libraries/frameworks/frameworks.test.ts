import { createFetchHandler } from 'bet-wallet/http'
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
