/** `reconcile`: compares the platform's report with the wallet's transactions. */

import type { RecordedTransaction, WalletLookups } from '../../lookups/records.js'
import { type OptionChecks, optionChecks } from '../../option-checks.js'
import { notAsync } from '../wire/operator-functions.js'
import { isZero, subtract } from './amounts.js'
import { type Collected, Collection } from './collection.js'
import type { Difference, Finding } from './difference.js'
import {
  lineOfRecord,
  lineOfRow,
  type NotCompared,
  recordOfLine,
  rowOfLine,
  type WalletRecord,
} from './entry.js'
import { ReconcileError } from './errors.js'
import { type JudgeContext, judgeBet, limitedLookups } from './judge.js'
import { type Mapping, mappingOf, type ReportMapping } from './mapping.js'
import { notComparedBy, Unstated } from './notes.js'
import { comparePartition, type FillSink } from './pairs.js'
import type { OpenedReport } from './report-rows.js'
import { openReports } from './reports.js'
import { linesOf, partitionOf, partitions, Spool } from './spool.js'
import type { ReportSource } from './text-chunks.js'
import { type CurrencyTotal, currencyTotalsOf, SideTotals, type Total, totalsOf } from './totals.js'
import { recordOf, type WalletRange } from './wallet-records.js'
import { WholeReport, type WrongReport } from './whole-report.js'

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
  /** The end of the range, which does not belong to it. */
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

/** The result of a reconciliation. Amounts are exact decimals as text. */
export interface Reconciliation extends Collected {
  /**
   * `equal`: no difference. `wrong-report`: the report as a whole is not that of the wallet, so no single
   * difference is named. `nothing-compared`: neither side has a transaction in the range.
   */
  verdict: 'equal' | 'different' | 'wrong-report' | 'nothing-compared'
  /** `null`: the report may be that of the wallet. */
  wrongReport: WrongReport | null
  from: string
  to: string
  /** Of the days: that of the mapping, or UTC. */
  timeZone: string
  rows: {
    /** Rows of the report that are within the range. */
    report: number
    /** Rows that the mapping ignores. */
    ignored: number
    /** Rows whose date is outside of the range. */
    outside: number
    /** Transactions of the wallet within the range. */
    wallet: number
    /** Rows and transactions that agree. */
    equal: number
    /** Refused by one side and missing on the other: no money moved. */
    refusedAlone: number
    /** Settlements that no transaction records, and that the bet holds: your own code has credited them. */
    creditedByOwnCode: number
  }
  /** Per day, operation and currency. */
  totals: Total[]
  /** Per currency, all operations together. */
  currencies: CurrencyTotal[]
  /** What was not compared, and why. */
  notes: string[]
  durationMs: number
}

const check: OptionChecks = optionChecks(message => {
  throw new ReconcileError('INVALID_OPTIONS', message)
})

/**
 * Compares a platform's report with the wallet's transactions. Both sides may have many millions of rows:
 * they are read once, as streams, and partitioned in a temporary file (in the folder that TMPDIR names).
 *
 * @throws {ReconcileError} nothing was compared: an invalid option, mapping or row, named with its line and
 *   column. Errors of the lookups are thrown as they are.
 */
export async function reconcile(options: ReconcileOptions): Promise<Reconciliation> {
  const startedMs = performance.now()
  const settings = settingsOf(options)
  const { from, to, isInRange, mapping } = settings
  const notes: string[] = []
  const sides = { report: new Spool(), wallet: new Spool(), findings: new Spool() }
  const collection = new Collection(settings.differencesMax, async each => options.onDifference?.(each))
  let whole: WholeReport | undefined
  try {
    const opened = await openReports(reportsOf(options), mapping, isInRange)
    const notCompared = notComparedBy(opened, notes)
    whole = new WholeReport(notCompared)
    const read = new Reading(options)
    const report = await read.report(opened, notCompared, sides.report)
    notes.push(...report.unstated.notes(notCompared))
    const wallet = await read.wallet(settings, notCompared, sides.wallet)
    const fill: FillSink = {
      filledIn: (side, before, now) => (side === 'report' ? report : wallet).totals.replace(before, now),
    }
    const compared = compareSides(sides, whole, fill)
    sides.findings.seal()
    const { outside } = report
    const counts = { report: report.rows, ignored: opened.ignored(), outside, wallet: wallet.rows }
    const wrongReport = whole.result(counts)
    if (wrongReport === null) {
      const context = { ...fill, ...judgingOf(options, settings, notes, wallet.totals, compared) }
      await judgeFindings(sides.findings, collection, context)
    }
    const totals = totalsOf(report.totals, wallet.totals)
    const currencies = currencyTotalsOf(totals)
    if (wrongReport === null) checkSums(currencies, collection)
    const collected = collection.result()
    const isEmpty = report.rows + wallet.rows === 0
    const verdict = collected.kinds.length > 0 ? 'different' : 'equal'
    return {
      verdict: isEmpty ? 'nothing-compared' : wrongReport === null ? verdict : 'wrong-report',
      wrongReport,
      from,
      to,
      timeZone: mapping.dates.timeZone,
      rows: { ...counts, ...compared },
      totals,
      currencies,
      ...collected,
      notes,
      durationMs: performance.now() - startedMs,
    }
  } finally {
    whole?.close()
    collection.close()
    for (const spool of Object.values(sides)) spool.close()
  }
}

type ComparedRows = Pick<Reconciliation['rows'], 'equal' | 'refusedAlone' | 'creditedByOwnCode'>

/** What judges look up, and where they count. */
function judgingOf(
  { lookups }: ReconcileOptions,
  settings: Settings,
  notes: string[],
  inWallet: SideTotals,
  rows: ComparedRows,
): Omit<JudgeContext, keyof FillSink> {
  return {
    lookups: limitedLookups(lookups, settings.lookupsMax, note => notes.push(note)),
    recordOf: transaction => recordOf(transaction, settings),
    refusalAlone() {
      rows.refusedAlone += 1
    },
    credited(row, amount) {
      if (amount === row.amount) rows.creditedByOwnCode += 1
      inWallet.add({ ...row, amount })
    },
  }
}

interface Settings extends WalletRange {
  from: string
  to: string
  marginMs: number
  differencesMax: number
  lookupsMax: number
  mapping: Mapping
}

const optionNames = [
  'report',
  'mapping',
  'lookups',
  'from',
  'to',
  'marginMs',
  'differencesMax',
  'lookupsMax',
  'sentenceOf',
  'onDifference',
  'onProgress',
]

function settingsOf(options: ReconcileOptions): Settings {
  check.names(options, optionNames)
  check.func('sentenceOf', options.sentenceOf)
  check.func('onDifference', options.onDifference)
  check.func('onProgress', options.onProgress)
  if (typeof options.lookups?.transactions !== 'function') check.invalid('lookups must have transactions()')
  const reports = reportsOf(options)
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
  if (from >= to) check.invalid('to must be later than from')
  return {
    from,
    to,
    mapping,
    marginMs: check.whole('marginMs', options.marginMs ?? 3_600_000, 0, 7 * 86_400_000),
    differencesMax: check.whole('differencesMax', options.differencesMax ?? 1_000, 1, 100_000),
    lookupsMax: check.whole('lookupsMax', options.lookupsMax ?? 10_000, 0),
    // Both have the same form, so their text sorts by time.
    isInRange: date => date >= from && date < to,
    dayOf: mapping.dates.dayOf,
    sentenceOf: transaction => notAsync(check, 'sentenceOf', options.sentenceOf?.(transaction)) ?? '',
  }
}

const reportsOf = ({ report }: ReconcileOptions): readonly ReportSource[] =>
  Array.isArray(report) ? report : [report as ReportSource]

const isReport = (report: ReportSource | undefined) =>
  typeof report === 'string' || typeof report?.[Symbol.asyncIterator] === 'function'

const dayOf = (record: WalletRecord, notCompared: NotCompared): WalletRecord =>
  notCompared.day ? { ...record, day: '' } : record

const progressEvery = 100_000

class Reading {
  readonly #progress = { report: 0, wallet: 0 }
  readonly #options: ReconcileOptions

  constructor(options: ReconcileOptions) {
    this.#options = options
  }

  async #count(side: 'report' | 'wallet'): Promise<void> {
    this.#progress[side] += 1
    if (this.#progress[side] % progressEvery === 0) await this.#options.onProgress?.({ ...this.#progress })
  }

  async report(opened: OpenedReport, notCompared: NotCompared, spool: Spool) {
    const totals = new SideTotals()
    const unstated = new Unstated()
    let rows = 0
    let outside = 0
    for await (const batch of opened.rows) {
      for (const row of batch) {
        spool.add(partitionOf(row.transactionId), lineOfRow(row, notCompared))
        if (row.inRange) {
          totals.add(row)
          unstated.add(row)
          rows += 1
        } else outside += 1
        await this.#count('report')
      }
    }
    spool.seal()
    return { totals, unstated, rows, outside }
  }

  async wallet(settings: Settings, notCompared: NotCompared, spool: Spool) {
    const totals = new SideTotals()
    let rows = 0
    const moved = (time: string, ms: number) => new Date(Date.parse(time) + ms).toISOString()
    const { from, to, marginMs } = settings
    const range = { from: moved(from, -marginMs), to: moved(to, marginMs) }
    for await (const transaction of this.#options.lookups.transactions(range)) {
      const record = recordOf(transaction, settings)
      spool.add(partitionOf(record.transactionId), lineOfRecord(record, notCompared))
      if (record.inRange) {
        totals.add(dayOf(record, notCompared))
        rows += 1
      }
      await this.#count('wallet')
    }
    spool.seal()
    return { totals, rows }
  }
}

/** Compares partition by partition. The findings go to a spool by bet. */
function compareSides(
  { report, wallet, findings }: { report: Spool; wallet: Spool; findings: Spool },
  whole: WholeReport,
  fill: FillSink,
): ComparedRows {
  const rows = { equal: 0, refusedAlone: 0, creditedByOwnCode: 0 }
  for (let partition = 0; partition < partitions; partition += 1) {
    comparePartition(report.chunks(partition), wallet.chunks(partition), {
      ...fill,
      found: finding => {
        findings.add(partitionOf(betIdOf(finding)), lineOfFinding(finding))
        whole.add(finding)
      },
      equal: () => {
        rows.equal += 1
      },
      refusalAlone: () => {
        rows.refusedAlone += 1
      },
    })
  }
  return rows
}

const betIdOf = ({ row, record }: Finding) => (row ?? record)?.betId ?? ''

/** A finding keeps every value: the judge and the reader need all of them. */
const allShown: NotCompared = { playerId: false, type: false, day: false }
/** Between row and record. No value has control characters. */
const beforeRecord = '\u001d'

const lineOfFinding = ({ shape, row, record }: Finding) =>
  [
    shape,
    row === null ? '' : lineOfRow(row, allShown),
    record === null ? '' : lineOfRecord(record, allShown),
  ].join(beforeRecord)

function findingOfLine(line: string): Finding {
  const [shape, row = '', record = ''] = line.split(beforeRecord)
  return {
    shape: shape as Finding['shape'],
    row: row === '' ? null : rowOfLine(row),
    record: record === '' ? null : recordOfLine(record),
  }
}

async function judgeFindings(spool: Spool, collection: Collection, context: JudgeContext): Promise<void> {
  for (let partition = 0; partition < partitions; partition += 1) {
    const bets = new Map<string, Finding[]>()
    for (const line of linesOf(spool, partition)) {
      const finding = findingOfLine(line)
      const ofBet = bets.get(betIdOf(finding))
      if (ofBet === undefined) bets.set(betIdOf(finding), [finding])
      else ofBet.push(finding)
    }
    for (const findings of bets.values()) {
      for (const judged of await judgeBet(findings, context)) await collection.add(judged)
    }
  }
}

/** The differences explain the totals to the last digit, or the comparison itself is wrong. */
function checkSums(currencies: readonly CurrencyTotal[], collection: Collection): void {
  const effects = collection.effects()
  for (const currency of new Set([...currencies.map(each => each.currency), ...effects.keys()])) {
    const difference = currencies.find(total => total.currency === currency)?.difference ?? '0'
    const rest = subtract(difference, effects.get(currency)?.total() ?? '0')
    if (!isZero(rest)) {
      throw new Error(
        `The differences do not explain the totals: ${rest} ${currency} is left. Please report this.`,
      )
    }
  }
}
