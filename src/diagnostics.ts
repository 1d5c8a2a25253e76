/**
 * The tracing channels of `node:diagnostics_channel` that this library publishes on: for metrics, traces and
 * the agents of monitoring tools. Without a subscriber nothing is built and nothing is measured.
 */
import { type TracingChannel, tracingChannel } from 'node:diagnostics_channel'
import type { FaultyCall, WalletError } from './errors.js'
import { notify } from './hooks.js'
import type { OutcomeReason, WalletOutcome } from './outcomes.js'
import type { CommitResult, WalletKeys } from './store.js'

/**
 * The tracing channels and their messages: `tracingChannel('bet-wallet:request').subscribe({ … })`.
 *
 * Each message is one object for all of its events, in this order: `start`, `end`, then, after the promise is
 * settled, `error` if it failed, `asyncStart` and `asyncEnd`. `bet-wallet:decide` is synchronous: `start`,
 * `error`, `end`. A message is complete at its last event. It belongs to the subscribers: changing it changes
 * no answer. An error that a subscriber throws is an uncaught exception of the process, as Node.js defines
 * it.
 */
export interface WalletChannels {
  /** One call of a handler. */
  'bet-wallet:request': OutcomeEvent
  /** One `load` or `loadConfirmed` of the store. */
  'bet-wallet:load': LoadMessage
  /** One decision of the rules. */
  'bet-wallet:decide': DecideMessage
  /** One `commit` of the store. */
  'bet-wallet:commit': CommitMessage
  /** One batch of a queue, from a free slot to its last answer. */
  'bet-wallet:batch': BatchMessage
  /** One commit that waits for the row lock of its player. */
  'bet-wallet:lock-wait': LockWaitMessage
  /** One HTTP call, also one that reaches no handler. */
  'bet-wallet:http': HttpMessage
}

/**
 * The argument of `onOutcome`, and the message of the channel `bet-wallet:request`: one per handled call,
 * faults included.
 */
export interface OutcomeEvent extends FaultyCall {
  /** `null`: a fault; see `error`. */
  outcome: WalletOutcome | null
  reason: OutcomeReason
  /** The thrown fault, with its cause; `null` if there is an outcome. */
  error: WalletError | null
  /** The error that `commit` threw, even if the follow-up read found an answer; `null` if it threw none. */
  commitError: unknown
  /** The store's refusal with the PAM's own code, even if the platform is answered with another code. */
  storeRefusal: { errorCode: string; description: string } | null
  replayed: boolean
  /** Attempts to load, decide and commit: 1 without a race, 0 for an invalid request. */
  attempts: number
  durationMs: number
}

export interface DiagnosticMessage {
  /** From `start` to the end, in milliseconds; 0 until then. */
  durationMs: number
  /** What was thrown; `null` if nothing was. */
  error: unknown
}

export interface LoadMessage extends DiagnosticMessage, WalletKeys {
  /** Whether it was `loadConfirmed`: a refusal, a replay, or a commit of unknown outcome. */
  confirmed: boolean
}

export interface DecideMessage extends DiagnosticMessage, WalletKeys {
  /** Whether it was decided without a load: a placebet, as if it is new and funds suffice. */
  assumed: boolean
  /** `null` until it is decided. */
  reason: OutcomeReason | null
}

export interface CommitMessage extends DiagnosticMessage, WalletKeys {
  /** `unknown`: `commit` threw, see `error`. `null` until it is over. */
  status: CommitResult['status'] | 'unknown' | null
}

export interface BatchMessage extends DiagnosticMessage {
  /**
   * Of a store over a database: `load`, `load-confirmed`, `commit`; `commit-isolated`, one commit after a
   * batch that timed out; `lock-wait`, commits that are tried again. Of a store of your own: its setting
   * `kind`.
   */
  kind: string
  /** The number of requests. */
  size: number
  /** How long the first of them was queued, in milliseconds. */
  queuedMs: number
}

export interface LockWaitMessage extends DiagnosticMessage {
  playerId: string
  /** How often the commit was tried while it waited. */
  attempts: number
  /** `gave-up`: after `lockTimeoutMs`, answered 503. `null` until it is over. */
  result: 'ended' | 'gave-up' | null
}

export const httpRejections = [
  'NOT_FOUND',
  'METHOD_NOT_ALLOWED',
  'AUTHENTICATION_FAILED',
  'UNSUPPORTED_MEDIA_TYPE',
  'PAYLOAD_TOO_LARGE',
  /** Not JSON in UTF-8, or incomplete: `description` says which. Answered as INVALID_REQUEST. */
  'INVALID_BODY',
] as const

/** Why an HTTP call reached no handler. */
export type HttpRejection = (typeof httpRejections)[number]

export interface HttpMessage extends DiagnosticMessage {
  /** As the caller sent it. */
  method: string
  /**
   * As the caller sent it, without the query, and below the mount point of a framework: anything at all, so
   * never an attribute of a metric.
   */
  path: string
  /** The path of the route, `"/wallet/placebet"`; `null` if there is none. */
  route: string | null
  /** Why it reached no handler; `null` if it did. */
  rejection: HttpRejection | null
  /** Why the authentication failed, for the operator: the caller is not told. `null` for every other call. */
  reason: string | null
  /** The status code of the answer; `null` until then. */
  status: number | null
  /** Of the answer; `null` for a success. */
  errorCode: string | null
  description: string | null
}

const channel = <Name extends keyof WalletChannels>(
  name: Name,
): TracingChannel<unknown, WalletChannels[Name]> => tracingChannel(name)

export const channels = {
  request: channel('bet-wallet:request'),
  load: channel('bet-wallet:load'),
  decide: channel('bet-wallet:decide'),
  commit: channel('bet-wallet:commit'),
  batch: channel('bet-wallet:batch'),
  lockWait: channel('bet-wallet:lock-wait'),
  http: channel('bet-wallet:http'),
}

/**
 * Calls the listener with each complete message of a channel: after each request, commit, HTTP call, …
 *
 * @param listener its errors are ignored; the first one is reported as a warning
 * @returns ends the subscription
 */
export function subscribe<Name extends keyof WalletChannels>(
  name: Name,
  listener: (message: WalletChannels[Name]) => void,
): () => void {
  // `decide` is synchronous: its last event is `end`.
  const last = tracingChannel(name)[name === 'bet-wallet:decide' ? 'end' : 'asyncEnd']
  const receive = (message: unknown) =>
    notify(`A listener of ${name}`, () => listener(message as WalletChannels[Name]))
  last.subscribe(receive)
  return () => {
    last.unsubscribe(receive)
  }
}

/** Whether there is a subscriber. `TracingChannel.hasSubscribers` is missing before Node.js 20.13. */
export function isTraced<Message extends object>(traced: TracingChannel<unknown, Message>): boolean {
  return (
    traced.start.hasSubscribers ||
    traced.end.hasSubscribers ||
    traced.asyncStart.hasSubscribers ||
    traced.asyncEnd.hasSubscribers ||
    traced.error.hasSubscribers
  )
}

/** Runs a promise with the events of a channel. Call it only if the channel `isTraced`. */
export async function trace<Message extends DiagnosticMessage, Result>(
  traced: TracingChannel<unknown, Message>,
  message: Message,
  run: () => Promise<Result>,
): Promise<Result> {
  const started = performance.now()
  let result: Result | undefined
  // Node.js adds what the promise returns to the message: not the result, which subscribers might change.
  await traced.tracePromise(async () => {
    try {
      result = await run()
    } finally {
      message.durationMs = performance.now() - started
    }
  }, message)
  return result as Result
}

/** The same for a function that returns at once. */
export function traceSync<Message extends DiagnosticMessage, Result>(
  traced: TracingChannel<unknown, Message>,
  message: Message,
  run: () => Result,
): Result {
  const started = performance.now()
  let result: Result | undefined
  traced.traceSync(() => {
    try {
      result = run()
    } finally {
      message.durationMs = performance.now() - started
    }
  }, message)
  return result as Result
}
