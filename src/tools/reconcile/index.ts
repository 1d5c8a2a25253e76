/** `bet-wallet/reconcile`: the platform's report against the wallet's transactions. */

export type { KindTotal } from './collection.js'
export type { DateMapping } from './dates.js'
export { type Difference, type DifferenceKind, differenceKinds, kindTitles } from './difference.js'
export type { ReportRow, WalletRecord } from './entry.js'
export { ReconcileError, type ReconcileErrorCode } from './errors.js'
export type { GroupSum } from './groups.js'
export type { ReportMapping } from './mapping.js'
export type { ReconcileOptions } from './options.js'
export { formatReconciliation, renderReconciliation } from './printed.js'
export { type Reconciliation, reconcile } from './reconciliation.js'
export type { CurrencyTotal, RowCounts, SideTotal, Total } from './totals.js'
export type { WrongReport } from './whole-report.js'
