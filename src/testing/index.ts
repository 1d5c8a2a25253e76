/**
 * `bet-wallet/testing`: proves your store. Needs fast-check (an optional peer dependency) and no test runner.
 *
 * Beside the cases, for properties of your own: `createModel`, what the wallet must answer; `history` and `rush`,
 * what may happen to it; `brokenLine`, a line that loses answers.
 */
export { history, house, openHouse, openings, rush } from './arbitraries.js'
export { walletStoreCases } from './cases.js'
export type { CaseOptions, HeldCommit, OutsideSettlement, StoreHarness, WalletStoreCase } from './harness.js'
export { type Break, type BrokenLine, brokenLine } from './lines.js'
export {
  type Answer,
  type Cents,
  createModel,
  type Flaw,
  type House,
  type Line,
  type Opening,
  type Request,
  type Step,
  type WalletModel,
  type Writing,
} from './model.js'
export { bodyOf, centsOf, decimalOf, platformOptions } from './platform.js'
export { type CaseResult, checkWalletStore, type Report, type ReportOptions } from './report.js'
