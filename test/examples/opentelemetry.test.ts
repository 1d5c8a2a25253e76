/**
 * examples/opentelemetry: spans and metrics by the real SDK.
 *
 * @vitest-environment-options {"process":"opentelemetry"}
 */
import { type Attributes, context, metrics, SpanStatusCode, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  type MetricData,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base'
import { collectMetrics } from 'bet-wallet/operations'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { traceWallet } from '../../examples/opentelemetry/telemetry.js'
import { metrics as metricList } from '../../src/operations/metrics.js'
import { freshDatabase } from '../postgres/fresh-database.js'
import { ids, openWallet } from './telemetry-calls.js'

let spans: ReadableSpan[] = []
let exported: MetricData[] = []
const closing: (() => Promise<unknown>)[] = []

beforeAll(async () => {
  const spanExporter = new InMemorySpanExporter()
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spanExporter)] })
  trace.setGlobalTracerProvider(provider)
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  const metricExporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
  // Exported by forceFlush alone.
  const reader = new PeriodicExportingMetricReader({
    exporter: metricExporter,
    exportIntervalMillis: 3_600_000,
  })
  const meterProvider = new MeterProvider({ readers: [reader] })
  metrics.setGlobalMeterProvider(meterProvider)
  const { pool, drop } = await freshDatabase()
  closing.push(() => meterProvider.shutdown(), drop)

  const { store, relay, callAll, statuses } = await openWallet(pool)
  traceWallet()
  collectMetrics(metrics.getMeter('bet-wallet'), { store, relay })
  const server = trace.getTracer('a test').startSpan('POST /wallet')
  await context.with(trace.setSpan(context.active(), server), async () => {
    expect(await callAll()).toEqual(statuses)
  })
  server.end()
  spans = spanExporter.getFinishedSpans()
  // Without those of the outbox, if its query takes too long.
  do {
    metricExporter.reset()
    await reader.forceFlush()
    exported = metricExporter
      .getMetrics()
      .flatMap(({ scopeMetrics }) => scopeMetrics.flatMap(({ metrics }) => metrics))
  } while (!exported.some(({ descriptor }) => descriptor.name === 'bet_wallet.outbox.events'))
})
afterAll(async () => {
  for (const close of closing) await close()
})

const parentOf = ({ parentSpanContext }: ReadableSpan) =>
  spans.find(span => span.spanContext().spanId === parentSpanContext?.spanId)
const partsOf = (whole: ReadableSpan | undefined) => spans.filter(span => parentOf(span) === whole)

function spanOf(transaction: string, reason: string): ReadableSpan {
  const found = spans.filter(
    ({ attributes }) =>
      attributes['bet_wallet.transaction_id'] === transaction && attributes['bet_wallet.reason'] === reason,
  )
  expect(found).toHaveLength(1)
  return found[0] as ReadableSpan
}

describe('spans', () => {
  test('a placebet is one span with its decision and its commit, in the trace of its HTTP call', () => {
    const span = spanOf('transaction-1', 'ACCEPTED')
    expect(span.name).toBe('wallet placebet')
    expect(parentOf(span)?.name).toBe('POST /wallet')
    expect(span.attributes).toMatchObject({ 'bet_wallet.bet_id': 'bet-1', 'bet_wallet.attempts': 1 })
    expect(partsOf(span).map(({ name }) => name)).toEqual(['wallet decide', 'wallet commit'])
    expect(partsOf(span)[1]?.attributes).toEqual({ 'bet_wallet.commit.status': 'committed' })
  })

  test('a retry shows the conflict, which returns what is recorded, and the replay', () => {
    const parts = partsOf(spanOf('transaction-1', 'REPLAYED'))
    expect(parts.map(({ name, attributes }) => [name, ...Object.values(attributes)])).toEqual([
      ['wallet decide', true, 'ACCEPTED'],
      ['wallet commit', 'conflict'],
      ['wallet decide', false, 'REPLAYED'],
    ])
  })

  test('a fault has the status ERROR, its code as error.type, and the exception', () => {
    const span = spanOf('transaction-12', 'FAULT')
    expect(span.status.code).toBe(SpanStatusCode.ERROR)
    expect(span.attributes['error.type']).toBe('COMMIT_UNKNOWN')
    expect(span.events.map(({ name }) => name)).toEqual(['exception'])
    const commit = partsOf(span).find(({ name }) => name === 'wallet commit')
    expect(commit?.attributes).toEqual({ 'bet_wallet.commit.status': 'unknown', 'error.type': 'ECONNRESET' })
  })

  test('a refusal is no error', () => {
    expect(spanOf('transaction-2', 'INSUFFICIENT_FUNDS').status.code).toBe(SpanStatusCode.UNSET)
  })

  test('a batch is a trace of its own', () => {
    const batches = spans.filter(({ name }) => name.startsWith('wallet batch '))
    expect(new Set(batches.map(({ name }) => name))).toEqual(
      new Set(['load', 'load-confirmed', 'commit', 'lock-wait'].map(kind => `wallet batch ${kind}`)),
    )
    for (const span of batches) expect(span.parentSpanContext).toBeUndefined()
  })

  test('every span has ended, and none names the player', () => {
    expect(spans.length).toBeGreaterThan(30)
    for (const { ended, attributes } of spans) {
      expect(ended).toBe(true)
      expect(JSON.stringify(attributes)).not.toContain('anna-player')
    }
  })
})

const attributesOf = (metrics: readonly MetricData[]) =>
  metrics.flatMap(({ dataPoints }) =>
    (dataPoints as { attributes: Attributes }[]).map(point => point.attributes),
  )
const pointsOf = (name: string) => attributesOf(exported.filter(({ descriptor }) => descriptor.name === name))

describe('metrics', () => {
  test('are those of the list, each with its unit, its help and its labels', () => {
    // Absent: no server lacks a transaction.
    const expected = metricList.filter(({ name }) => name !== 'bet_wallet.missing_transaction')
    expect(exported.map(({ descriptor: { name, unit, description } }) => [name, unit, description])).toEqual(
      expect.arrayContaining(expected.map(({ name, unit, help }) => [name, unit, help])),
    )
    expect(exported).toHaveLength(expected.length)
    for (const { name, labels } of expected) {
      expect(pointsOf(name).length, name).toBeGreaterThan(0)
      for (const attributes of pointsOf(name)) expect(Object.keys(attributes), name).toEqual(labels)
    }
  })

  test.each<[string, Attributes, number]>([
    ['bet_wallet.requests', { operation: 'placebet', reason: 'ACCEPTED' }, 3],
    ['bet_wallet.faults', { operation: 'placebet', code: 'COMMIT_UNKNOWN' }, 1],
    ['bet_wallet.faults', { operation: 'settlement', code: 'LOAD_FAILED' }, 0],
    [
      'bet_wallet.http.responses',
      { route: '/wallet/placebet', status: '401', code: 'AUTHENTICATION_FAILED' },
      1,
    ],
    ['bet_wallet.http.rejections', { rejection: 'METHOD_NOT_ALLOWED' }, 1],
    ['bet_wallet.queue.requests', { queue: 'commits', state: 'queued' }, 0],
    ['bet_wallet.shed', { queue: 'commits' }, 0],
  ])('%s %o', (name, attributes, value) => {
    const [metric] = exported.filter(({ descriptor }) => descriptor.name === name)
    const points = (metric?.dataPoints ?? []) as { attributes: Attributes; value: unknown }[]
    expect(points).toContainEqual(expect.objectContaining({ attributes, value }))
  })

  test('durations are in seconds, with boundaries of their size', () => {
    const [metric] = exported.filter(({ descriptor }) => descriptor.name === 'bet_wallet.request.duration')
    const value = metric?.dataPoints[0]?.value as { buckets: { boundaries: number[] }; sum: number }
    expect(value.buckets.boundaries).toEqual([
      0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
    ])
    expect(value.sum).toBeLessThan(180)
  })

  test('no attribute has an id, or other text of a caller', () => {
    const values = attributesOf(exported).map(attributes => JSON.stringify(attributes))
    expect(values.length).toBeGreaterThan(30)
    for (const id of ids) expect(values.filter(value => value.includes(id))).toEqual([])
  })
})
