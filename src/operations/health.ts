/** Whether the process lives, and whether the platform's calls should be sent to it. */
import { check } from '../errors.js'
import { fieldOf, textOf } from '../foreign-values.js'
import { notify } from '../hooks.js'
import { sharing } from '../sharing.js'
import { withTimeout } from '../timeout.js'
import { pathOf } from '../visible-text.js'

export interface HealthOptions {
  /**
   * Rejects if no calls should be sent to this process: `() => store.ping()`. A durability that it resolves
   * to is part of the answer of `ready`.
   */
  check(): Promise<unknown>
  /**
   * For how long `ready` waits for `check`, in milliseconds; then the process is not ready.
   *
   * @default 5_000
   */
  timeoutMs?: number
  /**
   * What `listener` answers under `/metrics`: a registry of prom-client.
   *
   * @default none
   */
  metrics?: { readonly contentType: string; metrics(): string | Promise<string> }
}

export interface HealthAnswer {
  /** 200, or 503: not ready. */
  status: number
  headers: Record<string, string>
  /** Why the process is not ready, or how durable commits are: for your own people, as it may name hosts. */
  body: string
}

export interface Health {
  /** Only that the event loop runs: a restart of this process repairs no database. */
  readonly live: () => HealthAnswer
  /** Probes that come while a check runs share it: they must not add to the load of a slow database. */
  readonly ready: () => Promise<HealthAnswer>
  /** From now on `ready` answers 503. `stopGracefully` calls it. */
  readonly drain: () => void
  /**
   * Answers `/livez`, `/readyz` and `/metrics` on a server of `node:http`. Give it a port of its own: the
   * platform cannot reach it, and it answers while the wallet's connections are all taken.
   */
  readonly listener: (request: { url?: string | undefined }, response: HealthResponse) => Promise<void>
}

/** What `listener` uses of a `ServerResponse`. */
export interface HealthResponse {
  writeHead(status: number, headers: Record<string, string>): unknown
  end(body: string): unknown
}

/**
 * Creates the answers of health checks, for every framework.
 *
 * @throws {WalletError} `INVALID_OPTIONS`, naming the option
 */
export function createHealth(options: HealthOptions): Health {
  check.names(options, ['check', 'timeoutMs', 'metrics'])
  if (typeof options.check !== 'function') check.invalid('check must be a function: () => store.ping()')
  const timeoutMs = check.whole('timeoutMs', options.timeoutMs ?? 5_000, 1, 3_600_000)
  const { metrics } = options
  check.func('metrics.metrics', metrics?.metrics ?? metrics)
  let isDraining = false

  const late = () => answer(503, `the check took more than ${timeoutMs / 1_000} s`)
  const checkOnce = async () => answer(200, `ready${detailOf(await options.check())}`)
  const checked = sharing(() =>
    withTimeout(checkOnce(), timeoutMs, late).catch((error: unknown) => answer(503, textOf(error))),
  )

  const health: Health = {
    live: () => answer(200, 'alive'),
    async ready() {
      const stopping = answer(503, 'stopping')
      if (isDraining) return stopping
      const found = await checked()
      // It may have begun while the check ran.
      return isDraining ? stopping : found
    },
    drain() {
      isDraining = true
    },
    async listener({ url = '' }, response) {
      const { status, headers, body } = await answerOf(pathOf(url), health, metrics)
      notify('The response to a probe', () => {
        // Otherwise an idle connection of a monitoring tool would keep the process alive at its end.
        response.writeHead(status, { ...headers, connection: 'close' })
        response.end(body)
      })
    },
  }
  return health
}

/** Of what `store.ping()` resolves to. */
function detailOf(checked: unknown): string {
  const [level, reason] = [fieldOf(checked, 'level'), fieldOf(checked, 'reason')]
  return typeof level === 'string' && typeof reason === 'string' ? `; durability: ${level}: ${reason}` : ''
}

async function answerOf(
  path: string,
  health: Health,
  metrics: HealthOptions['metrics'],
): Promise<HealthAnswer> {
  if (path === '/livez') return health.live()
  if (path === '/readyz') return await health.ready()
  if (path !== '/metrics' || metrics === undefined) return answer(404, 'not found')
  try {
    return answer(200, await metrics.metrics(), metrics.contentType)
  } catch (error) {
    return answer(500, textOf(error))
  }
}

const answer = (status: number, text: string, type = 'text/plain; charset=utf-8'): HealthAnswer => ({
  status,
  headers: { 'content-type': type },
  body: `${text}\n`,
})
