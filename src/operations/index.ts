/** `bet-wallet/operations`: health, readiness, metrics and the graceful stop of a process with a wallet. */
export { subscribe } from '../diagnostics.js'
export {
  collectMetrics,
  type MetricsOptions,
  type OpenTelemetryMeter,
  type PrometheusClient,
} from './collect-metrics.js'
export { createHealth, type Health, type HealthAnswer, type HealthOptions } from './health.js'
export { type StopOptions, type StoppableServer, stopGracefully } from './stop.js'
