/**
 * Traces of the wallet by the API of OpenTelemetry alone: your SDK decides where they go. Spans have the ids
 * of transaction and bet, not the player's. Metrics: `collectMetrics(metrics.getMeter('bet-wallet'))`.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { tracingChannel } from 'node:diagnostics_channel'
import { type Attributes, type Context, context, type Span, SpanStatusCode, trace } from '@opentelemetry/api'
import type { WalletChannels } from 'bet-wallet'
import { subscribe } from 'bet-wallet/operations'

/** By the conventions: what kind of error it was, from a small set. */
function errorType(error: unknown): Attributes {
  if (error === null || error === undefined) return {}
  const { code, name } = error as { code?: unknown; name?: unknown }
  return { 'error.type': String(code ?? name ?? '_OTHER') }
}

/** The span of the request, for those of its parts: the channels bind it to each call. */
const current = new AsyncLocalStorage<Span>()

/** Call it once per process, after your SDK has started: a tracer of an earlier time records nothing. */
export function traceWallet(): void {
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
  subscribe(name, message => {
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
