/** How the store uses the client that it is given, without a server. */
import { createPostgresStore } from 'bet-wallet/postgres'
import pg from 'pg'
import { expect, test } from 'vitest'

test('stores that share a pool add one listener per event to it, and Node.js warns of no leak', async () => {
  const pool = new pg.Pool()
  const warnings: string[] = []
  const onWarning = ({ name }: Error) => warnings.push(name)
  process.on('warning', onWarning)
  for (let n = 0; n < 20; n += 1) createPostgresStore(pool, { schema: `tenant_${n}` })
  // Node.js emits warnings on the next tick.
  await new Promise(setImmediate)
  process.off('warning', onWarning)
  expect(warnings).toEqual([])
  expect(pool.listenerCount('connect')).toBe(1)
  // Without a listener, an idle connection that breaks would end the process.
  expect(pool.listenerCount('error')).toBe(1)
  await pool.end()
})
