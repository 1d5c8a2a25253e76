/** The totals of a day, as a platform asks for them over HTTP. */
import { describe, expect, test } from 'vitest'
import { createHttpHandler } from '../../src/http/index.js'
import { dailyTotals } from '../../src/lookups/index.js'
import type { RecordedTransaction } from '../../src/lookups/records.js'
import { createMemoryStore } from '../../src/stores/memory.js'
import { lookupsOf, record } from '../tools/reconcile/world.js'

const records: RecordedTransaction[] = [
  record('placebet', 't-1', 'b-1', '10.5'),
  record('placebet', 't-2', 'b-2', '1234567890123456.78'),
  record('placebet', 't-3', 'b-3', '1500', { currency: 'JPY' }),
  {
    ...record('placebet', 't-4', 'b-4', '5'),
    delta: '0',
    refusal: { errorCode: 'INSUFFICIENT_FUNDS', description: 'x' },
  },
  record('rollbackbet', 'r-1', 'b-1', '10.5'),
  record('placebet', 'day before', 'b', '1', { recordedAt: '2026-11-20T23:59:59.999Z' }),
  record('placebet', 'day after', 'b', '1', { recordedAt: '2026-11-22T00:00:00.000Z' }),
]

function askedWith(lookups = lookupsOf(records), authenticated = true) {
  const handle = createHttpHandler(createMemoryStore([]), {
    authenticate: () => authenticated,
    basePath: '/wallet',
    routes: { '/daily-totals': dailyTotals(lookups) },
    onError: () => undefined,
  })
  return (body: unknown) =>
    handle({
      ...{ method: 'POST', path: '/wallet/daily-totals', headers: { 'content-type': 'application/json' } },
      body: JSON.stringify(body),
    })
}

describe('daily totals', () => {
  test('are counts and exact sums per operation and currency, with the currency of the bet', async () => {
    expect(await askedWith()({ date: '2026-11-21' })).toEqual({
      status: 200,
      headers: { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' },
      body: `{"date":"2026-11-21","totals":[${[
        '{"operation":"placebet","currency":"EUR","count":2,"amount":1234567890123467.28,"refused":1}',
        '{"operation":"placebet","currency":"JPY","count":1,"amount":1500,"refused":0}',
        '{"operation":"rollbackbet","currency":"EUR","count":1,"amount":10.50,"refused":0}',
      ].join(',')}]}`,
    })
  })

  test('of a day without transactions are empty', async () => {
    expect((await askedWith()({ date: '2026-11-19' })).body).toBe('{"date":"2026-11-19","totals":[]}')
  })

  const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10)
  const today = new Date().toISOString().slice(0, 10)
  test.each([[undefined], ['21.11.2026'], ['2026-02-30'], [20261121], [today], [tomorrow]])(
    'are refused for the date %j',
    async date => {
      const { status, body } = await askedWith()({ date })
      expect([status, JSON.parse(body)]).toEqual([
        400,
        { errorCode: 'INVALID_REQUEST', description: expect.stringMatching(/^date: /) },
      ])
    },
  )

  test('need the authentication of the other calls', async () => {
    expect((await askedWith(lookupsOf(records), false)({ date: '2026-11-21' })).status).toBe(401)
  })

  test('of one day are read once for calls at the same time, and again later', async () => {
    let readings = 0
    let open = () => {}
    const gate = new Promise<void>(resolve => {
      open = resolve
    })
    const counting = {
      ...lookupsOf(records),
      async *transactions(range: { from: string; to: string }) {
        readings += 1
        await gate
        yield* lookupsOf(records).transactions(range)
      },
    }
    const ask = askedWith(counting)
    const answers = [ask({ date: '2026-11-21' }), ask({ date: '2026-11-21' })]
    open()
    const [one, other] = await Promise.all(answers)
    expect(one).toEqual(other)
    expect(readings).toBe(1)
    await ask({ date: '2026-11-21' })
    expect(readings).toBe(2)
  })

  test('are a fault if the database fails, and the next call reads again', async () => {
    let fails = true
    const failing = {
      ...lookupsOf(records),
      async *transactions(range: { from: string; to: string }) {
        if (fails) throw new Error('connection lost')
        yield* lookupsOf(records).transactions(range)
      },
    }
    const ask = askedWith(failing)
    expect((await ask({ date: '2026-11-21' })).status).toBe(500)
    fails = false
    expect((await ask({ date: '2026-11-21' })).status).toBe(200)
  })
})
