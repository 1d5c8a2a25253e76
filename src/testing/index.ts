/**
 * `bet-wallet/testing`: verifies a `WalletStore`. Needs fast-check (an optional peer dependency) and no test
 * runner.
 *
 * Exported beside the cases, for your own property-based tests: `createModel` (the answers that the wallet
 * must return), `history` and `concurrentBurst` (random requests), `requestBody` and `platformOptions` (which
 * send them), `faultyStore` (lost requests, lost answers, delayed commits).
 */
export { concurrentBurst, history, initialPlayers, permissivePolicy } from './arbitraries.js'
export { walletStoreCases } from './cases.js'
export { type CommitFault, type FaultyStore, faultyStore } from './faulty-store.js'
export type {
  CaseOptions,
  HeldCommit,
  HeldPlayer,
  OwnRows,
  StoreHarness,
  WalletStoreCase,
} from './harness.js'
export {
  createModel,
  type HistoryStep,
  type ModelAnswer,
  type WalletModel,
  type WalletPolicy,
} from './model.js'
export { fromCents, platformOptions, requestBody, toCents } from './platform.js'
export { type CaseResult, checkWalletStore, type ReportOptions, type StoreReport } from './report.js'
