/** The random run: the platform's side, to test a wallet under load and faults. */
export type { SimulatedOperation } from './books.js'
export type { Chaos } from './chaos.js'
export type { SimulatorClock } from './clock.js'
export type { Latency } from './histogram.js'
export { numberedPlayers, type SimulatedPlayer, type SimulationOptions } from './options.js'
export type {
  ClosedBet,
  DecidedTransaction,
  Difference,
  PlayerBooks,
  SimulationProgress,
  SimulationReport,
} from './report.js'
export { simulateSportsbook } from './run.js'
export type { SimulationCounts } from './tally.js'
export type { SimulationTimeline, TimelinePart } from './timeline.js'
