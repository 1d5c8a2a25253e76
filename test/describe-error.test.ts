/** `describeError`: what a logger that writes only the message would lose. */
import { expect, test } from 'vitest'
import { describeError, handlePlaceBet } from '../src/index.js'
import { createMemoryStore } from '../src/stores/memory.js'
import { alice, placeBet } from './fixtures.js'

test('a 503 is described by its operation, its ids and every cause', async () => {
  const lost = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:5432'), { code: 'ECONNREFUSED' })
  const memory = createMemoryStore([alice])
  const store = {
    ...memory,
    commit: async () => ({ status: 'unavailable' as const, cause: new Error('No server', { cause: lost }) }),
  }
  const error = await handlePlaceBet(store, placeBet()).catch((thrown: unknown) => thrown)
  const text = describeError(error)
  expect(text).toMatch(/^placebet transactionId="[^"]+" betId="[^"]+" playerId="alice": UNAVAILABLE: /)
  expect(text).toMatch(
    /; cause: Error: No server; cause: ECONNREFUSED: connect ECONNREFUSED 127\.0\.0\.1:5432$/,
  )
})

test('an error without a code is described with its place; anything else by its text', () => {
  expect(describeError(new TypeError('no rows'))).toMatch(
    /^TypeError: no rows \(at .*describe-error\.test\.ts/,
  )
  expect(describeError('thrown text')).toBe('thrown text')
  expect(describeError(null)).toBe('an error without text')
  expect(describeError(new Error('two\nlines'))).toContain('Error: two\\nlines')
})
