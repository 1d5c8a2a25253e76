/**
 * The metrics of the outbox: asked for by the relay, and never in the way of the others.
 *
 * @vitest-environment-options {"process":"metrics"}
 */
import { collectMetrics } from 'bet-wallet/operations'
import * as client from 'prom-client'
import { expect, onTestFinished, test, vi } from 'vitest'
import { WalletError } from '../../src/errors.js'

type Stats = NonNullable<NonNullable<Parameters<typeof collectMetrics>[1]>['relay']>['stats']

/** Reads what Prometheus does: the lines of the outbox, and how many there are in all. */
function scraperOf(stats: Stats) {
  const registry = new client.Registry()
  collectMetrics(client, { relay: { stats }, registry })
  return async () => {
    const lines = (await registry.metrics()).split('\n').filter(line => !line.startsWith('#'))
    return { outbox: lines.filter(line => line.includes('outbox')), all: lines.length }
  }
}

test('given an outbox, then one question of the relay answers all its metrics', async () => {
  const stats = vi.fn(async () => ({ queued: 7, oldestMs: 1_500, dead: 2 }))
  const scrape = scraperOf(stats)
  expect((await scrape()).outbox).toEqual([
    'bet_wallet_outbox_events{state="queued"} 7',
    'bet_wallet_outbox_events{state="dead"} 2',
    'bet_wallet_outbox_oldest_seconds 1.5',
  ])
  expect(stats).toHaveBeenCalledTimes(1)
  stats.mockResolvedValue({ queued: 0, oldestMs: null as never, dead: 0 })
  expect((await scrape()).outbox).toContain('bet_wallet_outbox_oldest_seconds 0')
})

test.each<[string, Stats]>([
  ['fails', () => Promise.reject(new Error('ECONNREFUSED'))],
  ['hangs', () => new Promise(() => {})],
])(
  'given a database that %s, then the metrics of the outbox are absent, and the others are there',
  async (_, stats) => {
    const scrape = scraperOf(stats)
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const scraping = scrape()
    await vi.advanceTimersByTimeAsync(2_000)
    const { outbox, all } = await scraping
    expect(outbox).toEqual([])
    expect(all).toBeGreaterThan(20)
  },
)

test('given a relay without stats, then it is named', () => {
  expect(() => collectMetrics(client, { relay: {} as never, registry: new client.Registry() })).toThrow(
    WalletError,
  )
})

test('given a store that no server can answer, then its metric names the transaction, while that lasts', async () => {
  const stats: { missingTransaction: string | null } = { missingTransaction: null }
  const registry = new client.Registry()
  collectMetrics(client, { store: { stats }, registry })
  const lines = async () =>
    (await registry.metrics()).split('\n').filter(line => line.startsWith('bet_wallet_missing_transaction'))
  expect(await lines()).toEqual([])
  stats.missingTransaction = 'placebet t-1'
  expect(await lines()).toEqual(['bet_wallet_missing_transaction{transaction="placebet t-1"} 1'])
  stats.missingTransaction = null
  expect(await lines()).toEqual([])
})
