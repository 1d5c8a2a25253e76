/** What a reconciliation can find: the kinds of differences, and one difference with its explanation. */
import type { DecimalText } from './amounts.js'
import type { ReportRow, WalletRecord } from './entry.js'

/** Titles by kind. Kinds are listed by their money; with equal money in this order, the most urgent first. */
export const kindTitles = {
  'duplicate-in-wallet': 'Twice in the wallet',
  'other-player': 'Another player in the wallet',
  'other-bet': 'Another bet in the wallet',
  'other-currency': 'Another currency in the wallet',
  'other-amount': 'Another amount in the wallet',
  'other-type': 'Another type in the wallet',
  'other-operation': 'Another operation in the wallet',
  'never-arrived': 'In the report, never arrived in the wallet',
  'refused-by-wallet': 'In the report, refused by the wallet',
  'lost-refusal': 'Refused clawback that is missing in the wallet',
  tombstone: 'Rolled back before its bet arrived',
  'rolled-back-twice': 'A second rollback of the same bet',
  'missing-in-report': 'In the wallet, missing in the report',
  'refused-by-platform': 'In the wallet, refused by the platform',
  'uncollected-clawback': 'Clawback in the report, not collected by the wallet',
  'other-transaction-id': 'The same under another transactionId',
  'duplicate-in-report': 'Twice in the report',
  'conflicting-in-report': 'Twice in the report, with other content',
  repaired: 'Repaired by calls of an earlier reconciliation',
  'out-of-range': 'On another day, or outside of the range',
} as const

export type DifferenceKind = keyof typeof kindTitles
export const differenceKinds = Object.keys(kindTitles) as DifferenceKind[]

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

/** A time for which one side has nothing, by the platform's dates: UTC, ISO 8601. */
export interface Span {
  from: string
  to: string
}

/** One difference between the platform's report and the wallet. */
export interface Difference {
  /** Of all that differs: the same in every reconciliation, as long as both sides say the same. */
  id: string
  kind: DifferenceKind
  /** `null`: the platform's report has no such row. */
  report: ReportRow | null
  /** `null`: the wallet has no such transaction. */
  wallet: WalletRecord | null
  /** The values that differ. */
  fields: readonly { field: string; report: string; wallet: string }[]
  /**
   * What the player has in the wallet more (positive) or less (negative) than the report says, within the
   * range. `currency` is `null` where it is unknown.
   */
  effects: readonly { currency: string | null; amount: DecimalText }[]
  explanation: string
  repair: Repair
  /** The gap of the other side that it is in. */
  gap: Span | null
}

/** What was found by comparing one key, before its bet is looked at. */
export interface Finding {
  /**
   * `pair`: both sides have it. `row`, `record`: one side has it. `twice`: a further row of the report;
   * `twice-in-wallet`: a further record; `operation`: a row and a record of another operation with the same
   * id; `other-id`: their ids differ in letter case or in spaces at their ends only.
   */
  shape: 'pair' | 'row' | 'record' | 'twice' | 'twice-in-wallet' | 'operation' | 'other-id'
  row: ReportRow | null
  record: WalletRecord | null
}

/** A finding whose kind is known. */
export interface Judgement extends Finding {
  kind: DifferenceKind
}

/** With who has to act, and the calls. */
export interface Planned extends Judgement {
  repair: Repair
}
