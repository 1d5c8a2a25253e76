/**
 * The wallet's metrics for Prometheus, by `prom-client`, from the tracing channels and `store.stats`. No
 * label has an id, or any other text of a caller. `alerts.yml` and `dashboard.json` of this folder use them.
 */
import type { Operation, WalletErrorCode } from 'bet-wallet'
import type { QueueStats } from 'bet-wallet/batches'
import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import { onEnd } from '../channels.js'

/** A store over a database. */
interface Observed {
  readonly stats: Readonly<Record<string, QueueStats>>
}

const operations: readonly Operation[] = ['placebet', 'unsettlement', 'rollbackbet', 'settlement']
const faultCodes: readonly WalletErrorCode[] = [
  ...(['UNAVAILABLE', 'CONFLICT', 'DEADLINE_PASSED', 'COMMIT_UNKNOWN', 'LOAD_FAILED'] as const),
  ...(['STORE_CONTRACT', 'HOOK_FAILED', 'INVALID_OPTIONS', 'UNEXPECTED'] as const),
]
/** The reasons of an unsettlement by which its clawback stays uncollected. */
const uncollected = ['INSUFFICIENT_FUNDS', 'CLAWBACKS_DISABLED', 'REFUSED_BY_STORE']
const rejections = [
  ...['NOT_FOUND', 'METHOD_NOT_ALLOWED', 'AUTHENTICATION_FAILED'],
  ...['UNSUPPORTED_MEDIA_TYPE', 'PAYLOAD_TOO_LARGE', 'INVALID_BODY'],
]

const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** Create it once per process, at start. Answer `GET /metrics` with `await registry.metrics()`. */
export function createMetrics(store: Observed, registry = new Registry()): Registry {
  const registers = [registry]
  observeRequests(registers)
  observeHttp(registers)
  observeDatabase(registers)
  observeQueues(registers, store)
  return registry
}

function observeRequests(registers: Registry[]): void {
  const requests = new Counter({
    name: 'bet_wallet_requests_total',
    help: 'Handled calls, by the reason of their outcome',
    labelNames: ['operation', 'reason'],
    registers,
  })
  const faults = new Counter({
    name: 'bet_wallet_faults_total',
    help: 'Handled calls that ended in a fault (500 or 503), by the code of the WalletError',
    labelNames: ['operation', 'code'],
    registers,
  })
  const seconds = new Histogram({
    name: 'bet_wallet_request_duration_seconds',
    help: 'Time of handled calls',
    labelNames: ['operation'],
    buckets,
    registers,
  })
  // increase() does not see the first one of a series that did not exist before: rare ones begin with 0.
  for (const operation of operations) for (const code of faultCodes) faults.inc({ operation, code }, 0)
  for (const reason of uncollected) requests.inc({ operation: 'unsettlement', reason }, 0)
  onEnd('bet-wallet:request', ({ operation, reason, error, durationMs }) => {
    requests.inc({ operation, reason })
    if (error !== null) faults.inc({ operation, code: error.code })
    seconds.observe({ operation }, durationMs / 1_000)
  })
}

function observeHttp(registers: Registry[]): void {
  const responses = new Counter({
    name: 'bet_wallet_http_responses_total',
    help: 'Answers over HTTP, by path, status code and error code',
    labelNames: ['route', 'status', 'code'],
    registers,
  })
  const rejected = new Counter({
    name: 'bet_wallet_http_rejections_total',
    help: 'HTTP calls that reached no handler',
    labelNames: ['rejection'],
    registers,
  })
  for (const rejection of rejections) rejected.inc({ rejection }, 0)
  onEnd('bet-wallet:http', ({ route, status, errorCode, rejection }) => {
    responses.inc({ route: route ?? 'none', status: String(status), code: errorCode ?? 'OK' })
    if (rejection !== null) rejected.inc({ rejection })
  })
}

function observeDatabase(registers: Registry[]): void {
  const commits = new Counter({
    name: 'bet_wallet_commits_total',
    help: 'Commits of the store, by result',
    labelNames: ['operation', 'status'],
    registers,
  })
  const sizes = new Histogram({
    name: 'bet_wallet_batch_size',
    help: 'Requests in a batch',
    labelNames: ['kind'],
    buckets: [1, 2, 4, 8, 16, 32, 64, 128],
    registers,
  })
  const seconds = new Histogram({
    name: 'bet_wallet_batch_duration_seconds',
    help: 'Time of a batch in the database',
    labelNames: ['kind'],
    buckets,
    registers,
  })
  const lockWaits = new Histogram({
    name: 'bet_wallet_lock_wait_seconds',
    help: 'Time that commits waited for the row lock of their player',
    labelNames: ['result'],
    buckets,
    registers,
  })
  for (const result of ['ended', 'gave-up']) lockWaits.zero({ result })
  for (const operation of operations) commits.inc({ operation, status: 'unknown' }, 0)
  onEnd('bet-wallet:commit', ({ operation, status }) => commits.inc({ operation, status: status ?? 'none' }))
  onEnd('bet-wallet:batch', ({ kind, size, durationMs }) => {
    sizes.observe({ kind }, size)
    seconds.observe({ kind }, durationMs / 1_000)
  })
  onEnd('bet-wallet:lock-wait', ({ result, durationMs }) =>
    lockWaits.observe({ result: result ?? 'none' }, durationMs / 1_000),
  )
}

function observeQueues(registers: Registry[], store: Observed): void {
  new Gauge({
    name: 'bet_wallet_queue_requests',
    help: 'Requests that are queued or in flight now',
    labelNames: ['queue', 'state'],
    registers,
    collect() {
      for (const [queue, { queued, inFlight }] of Object.entries(store.stats)) {
        this.set({ queue, state: 'queued' }, queued)
        this.set({ queue, state: 'in-flight' }, inFlight)
      }
    },
  })
  new Counter({
    name: 'bet_wallet_shed_total',
    help: 'Requests that were shed: answered 503 without a try',
    labelNames: ['queue'],
    registers,
    collect() {
      this.reset()
      for (const [queue, { shed }] of Object.entries(store.stats)) this.inc({ queue }, shed)
    },
  })
}
