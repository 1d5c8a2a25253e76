/**
 * `bet-wallet/testing`: verifies a `WalletStore`, and your own limits. Needs fast-check (an optional peer
 * dependency) and no test runner.
 *
 * Exported beside the cases, for your own property-based tests: `createModel` (the answers that the wallet
 * must return), `history` and `concurrentBurst` (random requests), `faultyStore` (lost requests, lost
 * answers, delayed commits).
 */
export { concurrentBurst, history, initialPlayers, permissivePolicy, policy } from './arbitraries.js'
export { limitCases, walletStoreCases } from './cases.js'
export { type CommitFault, type FaultyStore, faultyStore } from './faulty-store.js'
export type {
  CaseOptions,
  HeldCommit,
  HeldPlayer,
  OwnRows,
  ResumePartition,
  ResumeReplication,
  StoreHarness,
  WalletStoreCase,
} from './harness.js'
export type { LimitHarness, LimitHooks } from './limit-harness.js'
export {
  type AmountFormat,
  type BodyDefect,
  type Cents,
  createModel,
  type HistoryStep,
  type InitialPlayer,
  type InjectedFault,
  type ModelAnswer,
  type ModelBet,
  type ModelRequest,
  type SessionHook,
  type WalletModel,
  type WalletPolicy,
} from './model.js'
export { fromCents, platformOptions, requestBody, toCents } from './platform.js'
export {
  type CaseResult,
  checkLimits,
  checkWalletStore,
  type ReportOptions,
  type StoreReport,
} from './report.js'
