/** A simulated sportsbook: the platform's side, to rehearse with a wallet and to load it. */
export type { SimulatedOperation } from './books.js'
export type { Chaos } from './chaos.js'
export type { SimulatorClock } from './clock.js'
export type { Latency } from './histogram.js'
export { numberedPlayers, type SimulatedPlayer, type SimulationOptions } from './options.js'
export type {
  ClosedBet,
  Difference,
  PlayerBooks,
  SimulationCounts,
  SimulationProgress,
  SimulationReport,
} from './report.js'
export { simulateSportsbook } from './simulation.js'
