/** examples/opentelemetry: spans and metrics by the real SDK. */
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
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { instrumentWallet } from '../../examples/opentelemetry/telemetry.js'
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

  const { store, callAll, statuses } = await openWallet(pool)
  instrumentWallet(store)
  const server = trace.getTracer('a test').startSpan('POST /wallet')
  await context.with(trace.setSpan(context.active(), server), async () => {
    expect(await callAll()).toEqual(statuses)
  })
  server.end()
  spans = spanExporter.getFinishedSpans()
  await reader.forceFlush()
  exported = metricExporter
    .getMetrics()
    .flatMap(({ scopeMetrics }) => scopeMetrics.flatMap(({ metrics }) => metrics))
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

  test('a retry shows the conflict, the confirmed load and the replay', () => {
    const parts = partsOf(spanOf('transaction-1', 'REPLAYED'))
    expect(parts.map(({ name, attributes }) => [name, ...Object.values(attributes)])).toEqual([
      ['wallet decide', true, 'ACCEPTED'],
      ['wallet commit', 'conflict'],
      ['wallet load', true],
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
  test.each([
    ['bet_wallet.request.duration', 's'],
    ['bet_wallet.commit.duration', 's'],
    ['bet_wallet.batch.duration', 's'],
    ['bet_wallet.batch.size', '{request}'],
    ['bet_wallet.lock_wait.duration', 's'],
    ['bet_wallet.http.responses', '{response}'],
    ['bet_wallet.queue.requests', '{request}'],
    ['bet_wallet.queue.shed', '{request}'],
  ])('%s in %s', (name, unit) => {
    expect(pointsOf(name).length).toBeGreaterThan(0)
    expect(exported.find(({ descriptor }) => descriptor.name === name)?.descriptor.unit).toBe(unit)
  })

  test('there are no others, and their names follow the conventions', () => {
    const names = new Set(exported.map(({ descriptor }) => descriptor.name))
    expect(names.size).toBe(8)
    for (const name of names) expect(name).toMatch(/^bet_wallet(?:\.[a-z]+(?:_[a-z]+)*)+$/)
    for (const key of attributesOf(exported).flatMap(Object.keys))
      expect(key).toMatch(/^(?:bet_wallet|http|error)\.[a-z_.]+$/)
  })

  test('a 401 and an unknown method are counted by status code, with bounded attributes', () => {
    const attributes = pointsOf('bet_wallet.http.responses')
    expect(attributes).toContainEqual({
      'http.request.method': 'POST',
      'http.response.status_code': 401,
      'http.route': '/wallet/placebet',
      'error.type': 'AUTHENTICATION_FAILED',
    })
    expect(attributes).toContainEqual(
      expect.objectContaining({ 'http.request.method': '_OTHER', 'http.response.status_code': 405 }),
    )
  })

  test('no attribute has an id, or other text of a caller', () => {
    const values = attributesOf(exported).map(attributes => JSON.stringify(attributes))
    expect(values.length).toBeGreaterThan(30)
    for (const id of ids) expect(values.filter(value => value.includes(id))).toEqual([])
  })
})
