/**
 * The log of examples/express, a line per call: nothing that a caller sends controls or forges a line.
 *
 * @vitest-environment-options {"process":"call-log"}
 */
import { handlePlaceBet } from 'bet-wallet'
import { createHttpHandler } from 'bet-wallet/http'
import { createMemoryStore } from 'bet-wallet/memory'
import { expect, test } from 'vitest'
import { logCalls } from '../../examples/express/call-log.js'
import { placeBet } from '../fixtures.js'

const store = createMemoryStore([{ playerId: 'alice', currency: 'EUR', balance: '100.00' }])
const lines: string[] = []
logCalls(line => void lines.push(line))

test('given ids with invisible characters, then the line has them as escapes', async () => {
  await handlePlaceBet(store, placeBet({ betId: 'b-\u202e\u200b', transactionId: 'zoë' }))
  expect(lines.splice(0).join('|')).toMatch(
    /^\S+ placebet \{"transactionId":"zo\\u00eb","betId":"b-\\u202e\\u200b",.* [\d.]+ ms$/,
  )
})

test('given a path with invisible characters, then the line has them as escapes', async () => {
  const handle = createHttpHandler(store, { authenticate: () => true })
  await handle({ method: 'POST', path: '/a\u009b2J\n\u2028', headers: {}, body: '' })
  expect(lines.splice(0).join('|')).toMatch(/^\S+ "POST \/a\\u009b2J\\n\\u2028" 404 NOT_FOUND [ -~]+ ms$/)
})
