/**
 * `bet-wallet/testing`: proves your store. Needs fast-check (an optional peer dependency) and no test runner.
 *
 * Beside the cases, for properties of your own: `createModel`, what the wallet must answer; `history` and `rush`,
 * what may happen to it; `brokenLine`, a line that loses answers.
 */
export { concurrentBurst, history, initialPlayers, permissivePolicy, policy } from './arbitraries.js'
export { walletStoreCases } from './cases.js'
export { type CommitFault, type FaultyStore, faultyStore } from './faulty-store.js'
export type { CaseOptions, ExternalSettlement, HeldCommit, StoreHarness, WalletStoreCase } from './harness.js'
export {
  type AmountFormat,
  type BodyDefect,
  type Cents,
  createModel,
  type HistoryStep,
  type InitialPlayer,
  type InjectedFault,
  type ModelAnswer,
  type ModelRequest,
  type WalletModel,
  type WalletPolicy,
} from './model.js'
export { fromCents, platformOptions, requestBody, toCents } from './platform.js'
export { type CaseResult, checkWalletStore, type ReportOptions, type StoreReport } from './report.js'
