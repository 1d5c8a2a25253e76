/**
 * The end of a process with a wallet. A call that is cut off costs money: its commit may have landed, and the
 * platform must roll it back or send it again.
 */
import { check } from '../errors.js'
import { textOf } from '../foreign-values.js'
import { notify } from '../hooks.js'
import { withTimeout } from '../timeout.js'
import { logged, pathOf } from '../visible-text.js'
import type { Health } from './health.js'
import { type Call, OpenCalls, type StoppableServer } from './open-calls.js'

export type { StoppableServer } from './open-calls.js'

export interface StopOptions {
  /**
   * Answers 503 to readiness probes from the first moment of the stop.
   *
   * @default none
   */
  health?: Pick<Health, 'drain'>
  /**
   * Called last, when every call is answered: closes the framework, then the pools of your store.
   *
   * @default none
   */
  close?(): unknown
  /**
   * How long the server still accepts connections, in milliseconds: until every proxy has seen that the
   * process is not ready.
   *
   * @default 0
   */
  delayMs?: number
  /**
   * How long an idle connection then stays open, in milliseconds: a call may be on its way.
   *
   * @default 500
   */
  idleMs?: number
  /**
   * For how long to wait for calls in flight, in milliseconds; then their connections are closed. Choose more
   * than `timeoutMs` of the store, and less than the time after which the process is killed
   * (`terminationGracePeriodSeconds` of Kubernetes), together with `delayMs` and `closeMs`.
   *
   * @default 20_000
   */
  graceMs?: number
  /**
   * For how long to wait for `close`, in milliseconds.
   *
   * @default 5_000
   */
  closeMs?: number
  /**
   * The signals of the process that start the stop. The second one ends the process at once. `[]`: none, you
   * call the returned function.
   *
   * @default ['SIGINT', 'SIGTERM']
   */
  signals?: readonly string[]
  /**
   * Called with a line when the stop begins, and when it ends or fails.
   *
   * @default console.log
   */
  log?(line: string): void
}

const dayMs = 86_400_000

/**
 * Prepares the stop of a server: `health` is not ready; no connection is accepted; each call in flight is
 * answered, and its connection closed; then `close` is called. Call it when the server is made: connections
 * of an earlier time are not seen.
 *
 * @param server of `node:http` or `node:https`: what `app.listen` of Express and Koa, `serve` of Hono and
 *   `app.getHttpServer()` of NestJS return, and `app.server` of Fastify
 * @returns stops the server now; every call of it returns the same promise. It rejects with the error of
 *   `close`, or if `close` did not end in time. After a signal, that error is logged, and the process ends
 *   with exit code 1
 * @throws {WalletError} `INVALID_OPTIONS`, naming the option
 */
export function stopGracefully(server: StoppableServer, options: StopOptions = {}): () => Promise<void> {
  const settings = settingsOf(options)
  if (typeof server?.closeIdleConnections !== 'function')
    check.invalid('server must be a server of node:http or node:https')
  const calls = new OpenCalls(server)
  const { signals, log } = settings
  let stopped: Promise<void> | null = null

  const stop = (cause: string) => {
    for (const signal of signals) process.removeListener(signal, onSignal)
    stopped ??= endOf(server, calls, cause, settings)
    return stopped
  }
  const onSignal = (signal: string) => {
    stop(signal).catch((error: unknown) => {
      log(`The stop failed: ${logged(textOf(error))}`)
      process.exitCode = 1
    })
  }
  for (const signal of signals) process.on(signal, onSignal)
  return () => stop('Stop')
}

type Settings = ReturnType<typeof settingsOf>

function settingsOf(options: StopOptions) {
  check.names(options, ['health', 'close', 'delayMs', 'idleMs', 'graceMs', 'closeMs', 'signals', 'log'])
  const { health, close, log = line => console.log(line), signals = ['SIGINT', 'SIGTERM'] } = options
  check.func('close', close)
  check.func('log', log)
  if (health !== undefined) check.func('health.drain', health?.drain ?? null)
  if (!Array.isArray(signals)) check.invalid('signals must be a list of names')
  return {
    health,
    close,
    log: (line: string) => notify('log', () => log(line)),
    signals,
    delayMs: check.whole('delayMs', options.delayMs ?? 0, 0, dayMs),
    idleMs: check.whole('idleMs', options.idleMs ?? 500, 0, dayMs),
    graceMs: check.whole('graceMs', options.graceMs ?? 20_000, 1, dayMs),
    closeMs: check.whole('closeMs', options.closeMs ?? 5_000, 1, dayMs),
  }
}

async function endOf(
  server: StoppableServer,
  calls: OpenCalls,
  cause: string,
  { health, close, delayMs, idleMs, graceMs, closeMs, log }: Settings,
): Promise<void> {
  notify('health.drain', () => health?.drain())
  calls.announceEnd()
  if (delayMs > 0) await new Promise(resolve => setTimeout(resolve, delayMs))
  const closed = stopAccepting(server)
  const inFlight = calls.list()
  const waiting = `Waiting for ${inFlight.length} in flight: ${namesOf(inFlight)}.`
  log(`${cause}: no new calls. ${inFlight.length === 0 ? 'None is in flight.' : waiting}`)
  const answered = async () => {
    await withTimeout(closed, idleMs, () => {})
    await calls.answered()
    await closed
  }
  await withTimeout(answered(), graceMs, () => {
    const left = calls.list()
    if (left.length > 0)
      log(`Not answered after ${graceMs / 1_000} s: ${namesOf(left)}. The platform retries, or rolls back.`)
    calls.cutOff()
  })
  if (inFlight.length > 0 && calls.list().length === 0) log('All calls are answered.')
  await withTimeout(
    (async () => {
      await close?.()
    })(),
    closeMs,
    () => {
      throw new Error(`close did not end within ${closeMs / 1_000} s`)
    },
  )
}

/** Resolved when every connection is closed. */
function stopAccepting(server: StoppableServer): Promise<void> {
  const { closeIdleConnections } = server
  // `close` calls it, and a call that is on its way on one of them would be lost.
  server.closeIdleConnections = () => {}
  const closed = new Promise<void>(resolve => server.close(() => resolve()))
  server.closeIdleConnections = closeIdleConnections
  return closed
}

/** `POST /wallet/placebet (3), POST /wallet/rollbackbet` */
function namesOf(calls: readonly Call[]): string {
  const counts = new Map<string, number>()
  for (const { method, url = '' } of calls) {
    const name = `${logged(method)} ${logged(pathOf(url))}`
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  return [...counts].map(([name, count]) => (count === 1 ? name : `${name} (${count})`)).join(', ')
}
