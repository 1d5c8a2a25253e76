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
  'never-arrived': 'In the report, never arrived in the wallet',
  'credited-in-part': 'In the report, credited in part by your own code',
  'refused-by-wallet': 'In the report, refused by the wallet',
  'lost-refusal': 'Refused clawback that is missing in the wallet',
  tombstone: 'Rolled back before its bet arrived',
  'rolled-back-twice': 'A second rollback of the same bet',
  'missing-in-report': 'In the wallet, missing in the report',
  'refused-by-platform': 'In the wallet, refused by the platform',
  'uncollected-clawback': 'Clawback in the report, not collected by the wallet',
  'duplicate-in-report': 'Twice in the report',
  'conflicting-in-report': 'Twice in the report, with other content',
  'out-of-range': 'On another day, or outside of the range',
} as const

export type DifferenceKind = keyof typeof kindTitles
export const differenceKinds = Object.keys(kindTitles) as DifferenceKind[]

/** What each kind means. */
export const kindSentences: Record<DifferenceKind, string> = {
  'duplicate-in-wallet':
    'The store has recorded a transaction twice, which must be impossible: stop the wallet, and check the primary key of the transactions.',
  'other-player':
    'Both sides have it, for different players; the wallet never changes what is recorded, so the platform says first which of the two is right.',
  'other-bet':
    'Both sides have it, for different bets; the wallet never changes what is recorded, so the platform says first which of the two is right.',
  'other-currency': 'Both sides have it, in different currencies; the wallet never converts.',
  'other-amount': 'Both sides have it, with different amounts: agree with the platform which one is right.',
  'other-type': 'Both sides have it, with different types: agree with the platform which one is right.',
  'never-arrived':
    "The wallet has no record of it, and cannot see what your own code moved without one: look into the PAM's ledger, and ask the platform how it was answered.",
  'credited-in-part':
    'The bet holds a part of it that no transaction records; the rest is in no record of the wallet.',
  'refused-by-wallet': 'The refusal is final and nothing moved; the platform must not count it.',
  'lost-refusal':
    'The platform nets the amount off later winnings, and the wallet has lost its own record of the refusal.',
  tombstone: 'Its rollback came first, so no stake was debited and none is owed.',
  'rolled-back-twice': 'The stake was returned once, by the first rollback.',
  'missing-in-report':
    'The wallet has moved it, and the platform does not count it: ask whether it knows it.',
  'refused-by-platform':
    'The wallet has moved it, and the platform counts it as refused: ask how it was answered.',
  'uncollected-clawback':
    'The platform nets the amount off later winnings; debited by hand, the player would pay twice.',
  'duplicate-in-report': 'The money moved once in the wallet; the platform counts it again.',
  'conflicting-in-report': 'The wallet executes a transactionId once, with its first content.',
  'out-of-range': 'Both sides have it: together with the range beside it, or in a wider one, the sums agree.',
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
   * What the player has in the wallet more (positive) or less (negative) than the report says, within the
   * range. `currency` is `null` where it is unknown.
   */
  effects: readonly { currency: string | null; amount: DecimalText }[]
  explanation: string
  /** What the PAM's own code has credited of it: the bet holds it, and no transaction records it. */
  credited: DecimalText | null
  /** The bet in the wallet: its first transactions, and what it holds now. `null`: it was not looked up. */
  bet: readonly string[] | null
}

/** What was found by comparing one key, before its bet is looked at. `null`: that side does not have it. */
export interface Finding {
  row: ReportRow | null
  record: WalletRecord | null
  /** A further row of the report with the same key, or a further record of the wallet. */
  isTwice: boolean
}

/** A finding whose kind is known, with what its bet says. */
export interface Judgement extends Finding, Pick<Difference, 'kind' | 'credited' | 'bet'> {}
