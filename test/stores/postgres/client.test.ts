/** How the store uses the client that it is given, without a server. */
import { createPostgresStore } from 'bet-wallet/postgres'
import pg from 'pg'
import { expect, test } from 'vitest'
import { connectionsFrom } from '../../../src/stores/postgres/client.js'

test('stores that share a pool add one listener per event to it, and Node.js warns of no leak', async () => {
  const pool = new pg.Pool()
  const warnings: string[] = []
  const onWarning = ({ name }: Error) => {
    if (name === 'MaxListenersExceededWarning') warnings.push(name)
  }
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

test('a single Client whose answer comes after the limit: the call is not sent again without its name', async () => {
  const sent: unknown[] = []
  let answer: (error: Error) => void = () => {}
  const client = {
    connection: { parsedStatements: {} },
    getTransactionStatus: () => 'I',
    query(statement: string | { name: string }) {
      sent.push(typeof statement === 'string' ? 'text' : 'name')
      return new Promise<{ rows: unknown[] }>((_, reject) => {
        answer = reject
      })
    },
  }
  const connections = connectionsFrom(client as never, { timeoutMs: 20, transactions: false, durable: true })
  const call = { text: 'SELECT 1', name: 'commit' }
  const committed = connections.commit({ function: call, procedure: call }, [], () => {})
  await expect(committed).rejects.toMatchObject({ timedOut: true, sent: true })
  answer(Object.assign(new Error('no such name'), { code: '26000', severity: 'ERROR' }))
  await new Promise(setImmediate)
  expect(sent).toEqual(['name'])
})
