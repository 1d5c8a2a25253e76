/** A simulated sportsbook: the platform's side, to rehearse with and to load a wallet with. */
export type { SimulatedOperation } from './books.js'
export type { Chaos } from './chaos.js'
export type { Latency } from './histogram.js'
export type { SimulatorClock } from './network.js'
export {
  numberedPlayers,
  type SettleAnswer,
  type SettleFunction,
  type SimulatedPlayer,
  type SimulatedSettlement,
  type SimulationOptions,
} from './options.js'
export { formatProgress, formatReport } from './progress.js'
export type {
  ClosedBet,
  Difference,
  PlayerBooks,
  SimulationCounts,
  SimulationProgress,
  SimulationReport,
} from './report.js'
export { simulateSportsbook } from './simulation.js'
