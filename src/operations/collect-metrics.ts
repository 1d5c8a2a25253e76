/** The metrics of the list, into prom-client or OpenTelemetry: both are the operator's own. */
import { subscribe } from '../diagnostics.js'
import { check } from '../errors.js'
import { sharing } from '../sharing.js'
import { withTimeout } from '../timeout.js'
import { type Labels, type Metric, metrics, prometheusName, type RelayStats, type Sample } from './metrics.js'

interface Counted {
  inc(labels: Labels, value?: number): void
  reset(): void
  remove(): void
}

/** What is used of the module `prom-client`. */
export interface PrometheusClient {
  Counter: new (configuration: never) => Counted
  Gauge: new (configuration: never) => Counted
  Histogram: new (
    configuration: never,
  ) => { observe(labels: Labels, value: number): void; zero(labels: Labels): void }
}

/** What is used of a meter of `@opentelemetry/api`. */
export interface OpenTelemetryMeter {
  createCounter(name: string, options: object): { add(value: number, attributes: Labels): void }
  createHistogram(name: string, options: object): { record(value: number, attributes: Labels): void }
  createObservableGauge(name: string, options: object): Observable
  createObservableCounter(name: string, options: object): Observable
}

interface Observable {
  addCallback(callback: (result: { observe(value: number, attributes: Labels): void }) => Promise<void>): void
}

export interface MetricsOptions {
  /**
   * A store over a database, for the metrics of its queues.
   *
   * @default none
   */
  store?: { readonly stats: object }
  /**
   * A relay, for the metrics of its outbox: one query each time that the metrics are asked for.
   *
   * @default none
   */
  relay?: { stats(): Promise<RelayStats> }
  /**
   * The registry of prom-client.
   *
   * @default its own, `register`
   */
  registry?: object
}

/** How long metrics wait for the outbox, in milliseconds: a database that hangs must not hide the others. */
const outboxMsMax = 2_000

/**
 * Collects the metrics of all wallets of this process, from now on. Call it once per process, at start. Their
 * list is in docs/observability.md#metrics.
 *
 * @param destination the module of prom-client (`import * as client from 'prom-client'`), or a meter of
 *   OpenTelemetry (`metrics.getMeter('bet-wallet')`), after its SDK has started
 * @throws {WalletError} `INVALID_OPTIONS`, naming the option
 */
export function collectMetrics(
  destination: PrometheusClient | OpenTelemetryMeter,
  options: MetricsOptions = {},
): void {
  check.names(options, ['store', 'relay', 'registry'])
  const { store, relay, registry } = options
  if (store !== undefined && typeof Object(store).stats !== 'object')
    check.invalid('store must have stats: a store of bet-wallet/postgres or bet-wallet/mysql')
  if (relay !== undefined) check.func('relay.stats', Object(relay).stats ?? null)
  const outbox = relay === undefined ? null : outboxReader(relay)
  const instruments = instrumentsOf(destination, registry)
  for (const metric of metrics) {
    if (metric.from === 'stats') {
      if (store !== undefined) instruments.observe(metric, async () => metric.read(store.stats))
      continue
    }
    if (metric.from === 'relay') {
      if (outbox !== null)
        instruments.observe(metric, async () => {
          const stats = await outbox()
          return stats === null ? [] : metric.read(stats)
        })
      continue
    }
    const record = instruments.recorder(metric)
    subscribe(metric.from, message => {
      // A message of this channel: TypeScript does not see that the two belong together.
      const sample = metric.read(message as never)
      if (sample !== null) record(sample)
    })
  }
}

/** Asks once for all metrics that are asked for at the same time; `null`: there is no answer. */
function outboxReader(relay: { stats(): Promise<RelayStats> }): () => Promise<RelayStats | null> {
  // Async: a relay that throws at once rejects, too.
  const ask = sharing(async () => await relay.stats())
  return () => withTimeout(ask(), outboxMsMax, () => null).catch(() => null)
}

interface Instruments {
  /** Of a counter or a histogram. */
  recorder(metric: Metric): (sample: Sample) => void
  /** Of a metric whose values are read when they are asked for. */
  observe(metric: Metric, read: () => Promise<Sample[]>): void
}

function instrumentsOf(destination: object, registry: object | undefined): Instruments {
  const { Counter, createCounter } = Object(destination)
  if (typeof createCounter === 'function') {
    if (registry !== undefined) check.invalid('registry is for prom-client; a meter has none')
    return openTelemetry(destination as OpenTelemetryMeter)
  }
  if (typeof Counter === 'function') return prometheus(destination as PrometheusClient, registry)
  return check.invalid(
    "the destination must be the module of prom-client (import * as client from 'prom-client') or a meter",
  )
}

const secondsBoundaries = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const sizeBoundaries = [1, 2, 4, 8, 16, 32, 64, 128]
const boundariesOf = ({ unit }: Metric) => (unit === 's' ? secondsBoundaries : sizeBoundaries)

function prometheus({ Counter, Gauge, Histogram }: PrometheusClient, registry?: object): Instruments {
  const configuration = (metric: Metric, more: object = {}) =>
    ({
      name: prometheusName(metric),
      help: metric.help,
      labelNames: metric.labels,
      ...more,
      ...(registry === undefined ? {} : { registers: [registry] }),
    }) as never
  return {
    recorder(metric) {
      const { zeros = [] } = metric
      if (metric.kind === 'histogram') {
        const histogram = new Histogram(configuration(metric, { buckets: boundariesOf(metric) }))
        for (const labels of zeros) histogram.zero(labels)
        return ([labels, value]) => histogram.observe(labels, value)
      }
      const counter = new Counter(configuration(metric))
      for (const labels of zeros) counter.inc(labels, 0)
      return ([labels, value]) => counter.inc(labels, value)
    },
    observe(metric, read) {
      const collect = async () => {
        const samples = await read()
        instrument.reset()
        // Without labels, reset leaves a 0.
        if (metric.labels.length === 0) instrument.remove()
        for (const [labels, value] of samples) instrument.inc(labels, value)
      }
      const Instrument = metric.kind === 'gauge' ? Gauge : Counter
      const instrument = new Instrument(configuration(metric, { collect }))
    },
  }
}

function openTelemetry(meter: OpenTelemetryMeter): Instruments {
  const described = ({ unit, help: description }: Metric) => ({ unit, description })
  return {
    recorder(metric) {
      if (metric.kind === 'histogram') {
        const advice = { explicitBucketBoundaries: boundariesOf(metric) }
        const histogram = meter.createHistogram(metric.name, { ...described(metric), advice })
        return ([labels, value]) => histogram.record(value, labels)
      }
      const counter = meter.createCounter(metric.name, described(metric))
      for (const labels of metric.zeros ?? []) counter.add(0, labels)
      return ([labels, value]) => counter.add(value, labels)
    },
    observe(metric, read) {
      const observable =
        metric.kind === 'gauge'
          ? meter.createObservableGauge(metric.name, described(metric))
          : meter.createObservableCounter(metric.name, described(metric))
      observable.addCallback(async result => {
        for (const [labels, value] of await read()) result.observe(value, labels)
      })
    },
  }
}
