/** What a reconciliation can find: the kinds of differences, and one difference with its explanation. */
import type { Decimal } from '../money.js'
import type { ReportRow, WalletRecord } from './entry.js'

/** Per kind, its title. In the order in which they are listed: the most urgent first. */
export const kindTitles = {
  'duplicate-in-wallet': "Twice in the wallet's records",
  'other-player': 'Another player here',
  'other-bet': 'Another bet here',
  'other-currency': 'Another currency here',
  'other-amount': 'Another amount here',
  'other-type': 'Another type here',
  'other-operation': 'Another operation here',
  'never-arrived': 'Counted there, never arrived here',
  'refused-by-wallet': 'Counted there, refused here',
  tombstone: 'Rolled back before its bet arrived',
  'rolled-back-twice': 'A second rollback of the same bet',
  'missing-in-report': 'Counted here, missing there',
  'refused-by-platform': 'Counted here, refused there',
  'uncollected-clawback': 'Clawback counted there, not collected here',
  'other-transaction-id': 'The same under another transactionId',
  'duplicate-in-report': "Twice in the platform's report",
  'conflicting-in-report': "Twice in the platform's report, with other content",
  'out-of-range': 'Outside of the range on one side',
} as const

export type DifferenceKind = keyof typeof kindTitles
export const differenceKinds = Object.keys(kindTitles) as DifferenceKind[]

/** A call that repairs a difference. */
export interface RepairCall {
  /** Below the address of the wallet. A settlement has no path of the interface: it is the operator's own. */
  path: '/placebet' | '/unsettlement' | '/rollbackbet' | '/settlement'
  body: Readonly<Record<string, string>>
  /** To paste into a shell. Address and credentials are environment variables. */
  curl: string
}

export interface Repair {
  /** Who has to act: `none`, the platform, or the operator (after an agreement with the platform). */
  by: 'none' | 'platform' | 'operator'
  text: string
  /** In this order. Empty where no call repairs it. */
  calls: readonly RepairCall[]
}

/** One difference between the platform's report and the wallet. */
export interface Difference {
  kind: DifferenceKind
  /** `null`: the platform's report has no such row. */
  report: ReportRow | null
  /** `null`: the wallet has no such transaction. */
  wallet: WalletRecord | null
  /** The values that differ. */
  fields: readonly { field: string; report: string; wallet: string }[]
  /**
   * What the player has here more (positive) or less (negative) than the report says, within the range.
   * `currency` is `null` where it is unknown.
   */
  effects: readonly { currency: string | null; amount: Decimal }[]
  explanation: string
  repair: Repair
}

/** What was found by comparing one key, before its bet is looked at. */
export interface Finding {
  /**
   * `pair`: both sides have it. `row`, `record`: one side has it. `twice`: a further row of the report;
   * `twice-in-wallet`: a further record; `operation`: a row and a record of another operation with the same id.
   */
  shape: 'pair' | 'row' | 'record' | 'twice' | 'twice-in-wallet' | 'operation'
  row: ReportRow | null
  record: WalletRecord | null
}
