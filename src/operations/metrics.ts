/**
 * Every metric of the wallet, in one list: its name, unit, help and labels, and where its values come from.
 * No label has an id, or any other text of a caller.
 */
import type { QueueStats } from '../batches/index.js'
import { httpRejections, type WalletChannels } from '../diagnostics.js'
import { walletErrorCodes } from '../errors.js'
import type { Operation } from '../store.js'

export type Labels = Readonly<Record<string, string>>
export type Sample = readonly [labels: Labels, value: number]

/** Its values come from the messages of a channel; `null`: this message does not count. */
type FromChannel = {
  [Name in keyof WalletChannels]: {
    readonly from: Name
    readonly kind: 'counter' | 'histogram'
    read(message: WalletChannels[Name]): Sample | null
  }
}[keyof WalletChannels]

/** Its values are those of `store.stats` when the metrics are asked for. */
interface FromStats {
  readonly from: 'stats'
  readonly kind: 'counter' | 'gauge'
  read(stats: object): Sample[]
}

/** What is used of the statistics of a relay. */
export interface RelayStats {
  queued: number
  oldestMs: number | null
  dead: number
}

/** Its values are those of `relay.stats()` when the metrics are asked for. */
interface FromRelay {
  readonly from: 'relay'
  readonly kind: 'gauge'
  read(stats: RelayStats): Sample[]
}

interface Description {
  /** In OpenTelemetry: `bet_wallet.request.duration`. In Prometheus: see `prometheusName`. */
  readonly name: string
  /** `s`: seconds. */
  readonly unit: string
  readonly help: string
  readonly labels: readonly string[]
  /** Series that begin with 0: `increase()` does not see the first value of one that did not exist. */
  readonly zeros?: readonly Labels[]
}

export type Metric = Description & (FromChannel | FromStats | FromRelay)

/** `bet_wallet_requests_total`: as Prometheus translates names of OpenTelemetry. */
export function prometheusName({ name, unit, kind }: Metric): string {
  const base = name.replaceAll('.', '_')
  return `${base}${unit === 's' ? '_seconds' : ''}${kind === 'counter' ? '_total' : ''}`
}

const operations: readonly Operation[] = ['placebet', 'unsettlement', 'rollbackbet', 'settlement']
/** The reasons of an unsettlement by which its clawback stays uncollected. */
const uncollected = ['INSUFFICIENT_FUNDS', 'CLAWBACKS_DISABLED', 'REFUSED_BY_STORE']
const levels = ['alone', 'asynchronous', 'synchronous']
const seconds = (durationMs: number) => durationMs / 1_000

/** The queues among the statistics of a store, by name. */
const queuesOf = (stats: object) =>
  Object.entries(stats).filter(
    (entry): entry is [string, QueueStats] => Object(entry[1]).queued !== undefined,
  )

export const metrics: readonly Metric[] = [
  {
    name: 'bet_wallet.requests',
    kind: 'counter',
    unit: '{request}',
    labels: ['operation', 'reason'],
    help: 'Handled calls, by the reason of their outcome',
    zeros: uncollected.map(reason => ({ operation: 'unsettlement', reason })),
    from: 'bet-wallet:request',
    read: ({ operation, reason }) => [{ operation, reason }, 1],
  },
  {
    name: 'bet_wallet.faults',
    kind: 'counter',
    unit: '{request}',
    labels: ['operation', 'code'],
    help: 'Handled calls that ended in a fault (500 or 503), by the code of the WalletError',
    zeros: operations.flatMap(operation => walletErrorCodes.map(code => ({ operation, code }))),
    from: 'bet-wallet:request',
    read: ({ operation, error }) => (error === null ? null : [{ operation, code: error.code }, 1]),
  },
  {
    name: 'bet_wallet.request.duration',
    kind: 'histogram',
    unit: 's',
    labels: ['operation'],
    help: 'Time of handled calls',
    from: 'bet-wallet:request',
    read: ({ operation, durationMs }) => [{ operation }, seconds(durationMs)],
  },
  {
    name: 'bet_wallet.http.responses',
    kind: 'counter',
    unit: '{response}',
    labels: ['route', 'status', 'code'],
    help: 'Answers over HTTP, by path, status code and error code',
    from: 'bet-wallet:http',
    read: ({ route, status, errorCode }) => [
      { route: route ?? 'none', status: String(status), code: errorCode ?? 'OK' },
      1,
    ],
  },
  {
    name: 'bet_wallet.http.rejections',
    kind: 'counter',
    unit: '{response}',
    labels: ['rejection'],
    help: 'HTTP calls that reached no handler',
    zeros: httpRejections.map(rejection => ({ rejection })),
    from: 'bet-wallet:http',
    read: ({ rejection }) => (rejection === null ? null : [{ rejection }, 1]),
  },
  {
    name: 'bet_wallet.commits',
    kind: 'counter',
    unit: '{commit}',
    labels: ['operation', 'status'],
    help: 'Commits of the store, by result',
    zeros: operations.map(operation => ({ operation, status: 'unknown' })),
    from: 'bet-wallet:commit',
    read: ({ operation, status }) => [{ operation, status: status ?? 'none' }, 1],
  },
  {
    name: 'bet_wallet.commit.duration',
    kind: 'histogram',
    unit: 's',
    labels: ['operation'],
    help: 'Time of the commits of the store, in the queue and in the database',
    from: 'bet-wallet:commit',
    read: ({ operation, durationMs }) => [{ operation }, seconds(durationMs)],
  },
  {
    name: 'bet_wallet.batch.size',
    kind: 'histogram',
    unit: '{request}',
    labels: ['kind'],
    help: 'Requests in a batch',
    from: 'bet-wallet:batch',
    read: ({ kind, size }) => [{ kind }, size],
  },
  {
    name: 'bet_wallet.batch.duration',
    kind: 'histogram',
    unit: 's',
    labels: ['kind'],
    help: 'Time of a batch in the database',
    from: 'bet-wallet:batch',
    read: ({ kind, durationMs }) => [{ kind }, seconds(durationMs)],
  },
  {
    name: 'bet_wallet.lock_wait',
    kind: 'histogram',
    unit: 's',
    labels: ['result'],
    help: 'Time that commits waited for the row lock of their player',
    zeros: [{ result: 'ended' }, { result: 'gave-up' }],
    from: 'bet-wallet:lock-wait',
    read: ({ result, durationMs }) => [{ result: result ?? 'none' }, seconds(durationMs)],
  },
  {
    name: 'bet_wallet.queue.requests',
    kind: 'gauge',
    unit: '{request}',
    labels: ['queue', 'state'],
    help: 'Requests that are queued or in flight now',
    from: 'stats',
    read: stats =>
      queuesOf(stats).flatMap(([queue, { queued, inFlight }]) => [
        [{ queue, state: 'queued' }, queued],
        [{ queue, state: 'in-flight' }, inFlight],
      ]),
  },
  {
    name: 'bet_wallet.shed',
    kind: 'counter',
    unit: '{request}',
    labels: ['queue'],
    help: 'Requests that were shed: answered 503 without a try',
    from: 'stats',
    read: stats => queuesOf(stats).map(([queue, { shed }]) => [{ queue }, shed]),
  },
  {
    ...{ name: 'bet_wallet.durability', kind: 'gauge', unit: '{store}', labels: ['level'] },
    help: '1 for the durability of commits as the server reported it last, 0 for the other levels',
    from: 'stats',
    read: stats => {
      const { durability } = stats as { durability?: { level: string } | null }
      return levels.map(level => [{ level }, Number(durability?.level === level)])
    },
  },
  {
    ...{
      name: 'bet_wallet.missing_transaction',
      kind: 'gauge',
      unit: '{transaction}',
      labels: ['transaction'],
    },
    help: '1 while no server that answers has this transaction; else absent',
    from: 'stats',
    read: stats => {
      const { missingTransaction } = stats as { missingTransaction?: string | null }
      return missingTransaction ? [[{ transaction: missingTransaction }, 1]] : []
    },
  },
  {
    ...{ name: 'bet_wallet.outbox.enabled', kind: 'gauge', unit: '{store}', labels: [] },
    help: '1 if the store writes events, for a relay',
    from: 'stats',
    read: stats => [[{}, Number((stats as { outbox?: boolean }).outbox === true)]],
  },
  {
    ...{ name: 'bet_wallet.outbox.events', kind: 'gauge', unit: '{event}', labels: ['state'] },
    help: 'Events of the outbox that are not delivered yet, and dead letters',
    from: 'relay',
    read: ({ queued, dead }) => [
      [{ state: 'queued' }, queued],
      [{ state: 'dead' }, dead],
    ],
  },
  {
    ...{ name: 'bet_wallet.outbox.oldest', kind: 'gauge', unit: 's', labels: [] },
    help: 'Age of the oldest event of the outbox, dead letters included; 0 without one',
    from: 'relay',
    read: ({ oldestMs }) => [[{}, seconds(oldestMs ?? 0)]],
  },
]
