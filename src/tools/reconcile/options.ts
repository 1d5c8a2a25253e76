/** The options of a reconciliation, and what they say once they are checked. */
import type { RecordedTransaction, WalletLookups } from '../../lookups/records.js'
import { type OptionChecks, optionChecks } from '../../option-checks.js'
import { notAsync } from '../wire/operator-functions.js'
import type { Difference } from './difference.js'
import { ReconcileError } from './errors.js'
import { mappingOf, type ReportMapping } from './mapping.js'
import type { ReportSource } from './text-chunks.js'

export interface ReconcileOptions {
  /**
   * The platform's report: the path of a file, or its content in chunks. CSV with a header, or JSON lines;
   * UTF-8. The order of its rows does not matter. A list: several reports, of one day each, say, with the
   * same columns.
   */
  report: ReportSource | readonly ReportSource[]
  /** How the report is written. */
  mapping?: ReportMapping
  /**
   * The wallet: `createPostgresLookups` or `createMysqlLookups`. `transaction` and `bet` explain differences
   * better; without them, only the range is known.
   */
  lookups: Pick<WalletLookups, 'transactions'> & Partial<Pick<WalletLookups, 'transaction' | 'bet'>>
  /**
   * The start of the range: ISO 8601; a date stands for its beginning. Without `Z`, it is in the mapping's
   * time zone; in UTC, if the mapping has none.
   */
  from: string
  /** The end of the range, which does not belong to it: at least a minute ago, or a note says so. */
  to: string
  /**
   * How far before and after the range the wallet is read too: it may record a transaction a little earlier
   * or later than the platform dates it.
   *
   * @default 3_600_000
   */
  marginMs?: number
  /**
   * How many differences of each kind the result lists, the largest first. All are counted.
   *
   * @default 1_000
   */
  differencesMax?: number
  /**
   * The maximum number of lookups of a single bet or transaction.
   *
   * @default 10_000
   */
  lookupsMax?: number
  /**
   * Which rule decided a transaction: `sentenceOf` of `bet-wallet/lookups`.
   *
   * @default the error code alone
   */
  sentenceOf?(transaction: RecordedTransaction): string
  /** Called with every difference, listed or not. The comparison waits for it, and fails with its error. */
  onDifference?(difference: Difference): unknown
  /** Called now and then with the rows read so far. The comparison waits for it, and fails with its error. */
  onProgress?(progress: { report: number; wallet: number }): unknown
}

const check: OptionChecks = optionChecks(message => {
  throw new ReconcileError('INVALID_OPTIONS', message)
})

export type Settings = ReturnType<typeof settingsOf>

const optionNames =
  'report mapping lookups from to marginMs differencesMax lookupsMax sentenceOf onDifference onProgress'.split(
    ' ',
  )

export function settingsOf(options: ReconcileOptions) {
  check.names(options, optionNames)
  check.func('sentenceOf', options.sentenceOf)
  check.func('onDifference', options.onDifference)
  check.func('onProgress', options.onProgress)
  if (typeof options.lookups?.transactions !== 'function') check.invalid('lookups must have transactions()')
  const reports = [options.report].flat() as ReportSource[]
  if (reports.length === 0 || !reports.every(isReport)) {
    check.invalid(
      'report must be the path of a file, or its content as an async iterable, or a list of these',
    )
  }
  if (new Set(reports).size < reports.length) check.invalid('report has the same report twice')
  const mapping = mappingOf(options.mapping)
  const timeOf = (name: 'from' | 'to') =>
    mapping.dates.boundary(options[name]) ??
    check.invalid(`${name} must be a date or time in UTC: "2026-11-22" or "2026-11-22T10:00:00Z"`)
  const [from, to] = [timeOf('from'), timeOf('to')]
  if (from >= to) check.invalid('to must be later than the start')
  return {
    ...options,
    ...{ reports, mapping, from, to },
    marginMs: check.whole('marginMs', options.marginMs ?? 3_600_000, 0, 7 * 86_400_000),
    differencesMax: check.whole('differencesMax', options.differencesMax ?? 1_000, 1, 100_000),
    lookupsMax: check.whole('lookupsMax', options.lookupsMax ?? 10_000, 0),
    // Both have the same form, so their text sorts by time.
    isInRange: (date: string) => date >= from && date < to,
    dayOf: mapping.dates.dayOf,
    /** Which rule decided it. */
    sentenceOf: (transaction: RecordedTransaction) =>
      notAsync(check, 'sentenceOf', options.sentenceOf?.(transaction)) ?? '',
  }
}

const isReport = (report: ReportSource | undefined) =>
  typeof report === 'string' || typeof report?.[Symbol.asyncIterator] === 'function'
