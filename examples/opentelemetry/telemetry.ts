/**
 * Traces and metrics of the wallet by the API of OpenTelemetry alone: your SDK decides where they go.
 * Attributes of metrics have no id, and no other text of a caller; spans have the ids of transaction and bet,
 * not the player's.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { tracingChannel } from 'node:diagnostics_channel'
import {
  type Attributes,
  type Context,
  context,
  type Meter,
  metrics,
  type Span,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api'
import type { WalletChannels } from 'bet-wallet'
import type { QueueStats } from 'bet-wallet/batches'
import { onEnd } from '../channels.js'

/** Call it once per process, after your SDK has started: a meter of an earlier time records nothing. */
export function instrumentWallet(store?: { readonly stats: Readonly<Record<string, QueueStats>> }): void {
  observeSpans()
  const meter = metrics.getMeter('bet-wallet')
  observeDurations(meter)
  observeHttp(meter)
  if (store !== undefined) observeQueues(meter, store)
}

/** By the conventions: what kind of error it was, from a small set. */
function errorType(error: unknown): Attributes {
  if (error === null || error === undefined) return {}
  const { code, name } = error as { code?: unknown; name?: unknown }
  return { 'error.type': String(code ?? name ?? '_OTHER') }
}

/** The span of the request, for those of its parts: the channels bind it to each call. */
const current = new AsyncLocalStorage<Span>()

function observeSpans(): void {
  spansOf('bet-wallet:request', {
    nameOf: ({ operation }) => `wallet ${operation}`,
    attributesOf: ({ operation, transactionId, betId, reason, replayed, attempts }) => ({
      'bet_wallet.operation': operation,
      ...(transactionId === null ? {} : { 'bet_wallet.transaction_id': transactionId }),
      ...(betId === null ? {} : { 'bet_wallet.bet_id': betId }),
      'bet_wallet.reason': reason,
      'bet_wallet.replayed': replayed,
      'bet_wallet.attempts': attempts,
    }),
  })
  spansOf('bet-wallet:load', {
    nameOf: () => 'wallet load',
    attributesOf: ({ confirmed }) => ({ 'bet_wallet.load.confirmed': confirmed }),
  })
  spansOf('bet-wallet:decide', {
    nameOf: () => 'wallet decide',
    attributesOf: ({ assumed, reason }) => ({
      'bet_wallet.decide.assumed': assumed,
      ...(reason === null ? {} : { 'bet_wallet.reason': reason }),
    }),
  })
  spansOf('bet-wallet:commit', {
    nameOf: () => 'wallet commit',
    attributesOf: ({ status }) => (status === null ? {} : { 'bet_wallet.commit.status': status }),
  })
  // A batch carries many requests, so it is a trace of its own, not a part of the one that happened to start
  // it.
  spansOf('bet-wallet:batch', {
    nameOf: ({ kind }) => `wallet batch ${kind}`,
    attributesOf: ({ kind, size }) => ({ 'bet_wallet.batch.kind': kind, 'bet_wallet.batch.size': size }),
    root: true,
  })
}

interface SpanShape<Message> {
  nameOf(message: Message): string
  attributesOf(message: Message): Attributes
  root?: boolean
}

function spansOf<Name extends keyof WalletChannels>(
  name: Name,
  { nameOf, attributesOf, root = false }: SpanShape<WalletChannels[Name]>,
): void {
  const tracer = trace.getTracer('bet-wallet')
  const spans = new WeakMap<object, Span>()
  tracingChannel<Span, WalletChannels[Name]>(name).start.bindStore(current, message => {
    const span = tracer.startSpan(nameOf(message), { root }, parentContext())
    spans.set(message, span)
    return span
  })
  onEnd(name, message => {
    const span = spans.get(message)
    if (span === undefined) return
    span.setAttributes({ ...attributesOf(message), ...errorType(message.error) })
    if (message.error !== null) {
      span.recordException(message.error as Error)
      span.setStatus({ code: SpanStatusCode.ERROR })
    }
    span.end()
  })
}

function parentContext(): Context {
  const parent = current.getStore()
  return parent === undefined ? context.active() : trace.setSpan(context.active(), parent)
}

const seconds = (durationMs: number) => durationMs / 1_000
/** The boundaries that the conventions name for HTTP and databases. */
const advice = {
  explicitBucketBoundaries: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
}

function observeDurations(meter: Meter): void {
  const inSeconds = { unit: 's', advice }
  const requests = meter.createHistogram('bet_wallet.request.duration', inSeconds)
  onEnd('bet-wallet:request', ({ operation, reason, error, durationMs }) =>
    requests.record(seconds(durationMs), {
      'bet_wallet.operation': operation,
      'bet_wallet.reason': reason,
      ...errorType(error),
    }),
  )
  const commits = meter.createHistogram('bet_wallet.commit.duration', inSeconds)
  onEnd('bet-wallet:commit', ({ operation, status, durationMs }) =>
    commits.record(seconds(durationMs), {
      'bet_wallet.operation': operation,
      'bet_wallet.commit.status': status ?? '_OTHER',
    }),
  )
  const batches = meter.createHistogram('bet_wallet.batch.duration', inSeconds)
  const sizes = meter.createHistogram('bet_wallet.batch.size', {
    unit: '{request}',
    advice: { explicitBucketBoundaries: [1, 2, 4, 8, 16, 32, 64, 128] },
  })
  onEnd('bet-wallet:batch', ({ kind, size, durationMs }) => {
    batches.record(seconds(durationMs), { 'bet_wallet.batch.kind': kind })
    sizes.record(size, { 'bet_wallet.batch.kind': kind })
  })
  const lockWaits = meter.createHistogram('bet_wallet.lock_wait.duration', inSeconds)
  onEnd('bet-wallet:lock-wait', ({ result, durationMs }) =>
    lockWaits.record(seconds(durationMs), { 'bet_wallet.lock_wait.result': result ?? '_OTHER' }),
  )
}

const knownMethods = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'CONNECT', 'OPTIONS', 'TRACE', 'PATCH']

/** Not `http.server.request.duration`: the instrumentation of your HTTP server records that. */
function observeHttp(meter: Meter): void {
  const responses = meter.createCounter('bet_wallet.http.responses', { unit: '{response}' })
  onEnd('bet-wallet:http', ({ method, route, status, errorCode, rejection }) =>
    responses.add(1, {
      'http.request.method': knownMethods.includes(method) ? method : '_OTHER',
      'http.response.status_code': status ?? 0,
      ...(route === null ? {} : { 'http.route': route }),
      ...(errorCode === null ? {} : { 'error.type': rejection ?? errorCode }),
    }),
  )
}

function observeQueues(meter: Meter, store: { readonly stats: Readonly<Record<string, QueueStats>> }): void {
  const requests = meter.createObservableUpDownCounter('bet_wallet.queue.requests', { unit: '{request}' })
  requests.addCallback(result => {
    for (const [name, { queued, inFlight }] of Object.entries(store.stats)) {
      const attributes = { 'bet_wallet.queue.name': name }
      result.observe(queued, { ...attributes, 'bet_wallet.queue.state': 'queued' })
      result.observe(inFlight, { ...attributes, 'bet_wallet.queue.state': 'in-flight' })
    }
  })
  const shed = meter.createObservableCounter('bet_wallet.queue.shed', { unit: '{request}' })
  shed.addCallback(result => {
    for (const [name, stats] of Object.entries(store.stats))
      result.observe(stats.shed, { 'bet_wallet.queue.name': name })
  })
}
