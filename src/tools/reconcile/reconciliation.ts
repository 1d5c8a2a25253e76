/** `reconcile`: compares the platform's report with the wallet's transactions. */

import type { RecordedTransaction } from '../../lookups/records.js'
import { textOf } from '../numbers/decimal.js'
import { addTo, isZero, negate, type Sum } from './amounts.js'
import { type Collected, Collection } from './collection.js'
import type { Finding } from './difference.js'
import type { ReportRow, WalletRecord } from './entry.js'
import { judgeBet, limitedLookups } from './judge.js'
import { Unstated } from './notes.js'
import { type ReconcileOptions, type Settings, settingsOf } from './options.js'
import { comparePartition } from './pairs.js'
import { groupsBy, Partitions, partitionCount } from './partitions.js'
import type { OpenedReport } from './report-rows.js'
import { openReports } from './reports.js'
import { type CurrencyTotal, currencyTotalsOf, type RowCounts, type Total, Totals } from './totals.js'
import { recordOf } from './wallet-records.js'
import { WholeReport, type WrongReport } from './whole-report.js'

/** The result of a reconciliation. Amounts are exact decimals as text. */
export interface Reconciliation extends Collected {
  /**
   * `equal`: no difference. `wrong-report`: the report as a whole is not that of the wallet, so no single
   * difference is named. `nothing-compared`: neither side has a transaction in the range, or only refusals
   * that the other one does not have.
   */
  verdict: 'equal' | 'different' | 'wrong-report' | 'nothing-compared'
  /** `null`: the report may be that of the wallet. */
  wrongReport: WrongReport | null
  from: string
  to: string
  /** Of the days: that of the mapping, or UTC. */
  timeZone: string
  rows: RowCounts
  /** Per day, operation and currency. */
  totals: Total[]
  /** Per currency, all operations together. */
  currencies: CurrencyTotal[]
  /** What was not compared, and why. */
  notes: string[]
  durationMs: number
}

/**
 * Compares a platform's report with the wallet's transactions. Both sides may have many millions of rows:
 * they are read once, as streams, and partitioned in a temporary file (in the folder that TMPDIR names).
 *
 * @throws {ReconcileError} nothing was compared: an invalid option, mapping or row, named with its line and
 *   column. Errors of the lookups are thrown as they are.
 */
export async function reconcile(options: ReconcileOptions): Promise<Reconciliation> {
  const run = new Run(settingsOf(options))
  try {
    return await run.result()
  } finally {
    run.close()
  }
}

const progressEvery = 100_000

/** A commit that is running may appear so much later than the time that it records. */
const runningMsMax = 60_000

class Run {
  readonly #startedMs = performance.now()
  readonly #counts: RowCounts = {
    ...{ report: 0, ignored: 0, outside: 0, wallet: 0 },
    ...{ equal: 0, refusedAlone: 0, creditedByOwnCode: 0 },
  }
  readonly #read = { report: 0, wallet: 0 }
  readonly #totals = new Totals()
  readonly #notes: string[] = []
  readonly #rows = new Partitions<ReportRow>()
  readonly #records = new Partitions<WalletRecord>()
  /** By bet. */
  readonly #findings = new Partitions<Finding>()
  readonly #collection: Collection
  readonly #whole = new WholeReport()

  constructor(readonly settings: Settings) {
    this.#collection = new Collection(settings.differencesMax, async each => settings.onDifference?.(each))
  }

  async result(): Promise<Reconciliation> {
    const { from, to, mapping } = this.settings
    const opened = await openReports(this.settings)
    await this.#readReport(opened)
    await this.#readWallet(opened.has('transactionDate'))
    this.#compare(opened.has)
    const wrongReport = this.#whole.result(this.#counts, opened.has)
    if (wrongReport === null) await this.#judge()
    const totals = this.#totals.list()
    const currencies = currencyTotalsOf(totals)
    const collected = this.#collection.result()
    if (wrongReport === null) checkSums(currencies, collected)
    const { equal, creditedByOwnCode } = this.#counts
    const isDifferent = collected.kinds.length > 0
    const verdict = equal + creditedByOwnCode > 0 ? 'equal' : 'nothing-compared'
    return {
      verdict: wrongReport !== null ? 'wrong-report' : isDifferent ? 'different' : verdict,
      wrongReport,
      ...{ from, to, timeZone: mapping.dates.timeZone, rows: this.#counts, totals, currencies },
      ...collected,
      notes: this.#notes,
      durationMs: performance.now() - this.#startedMs,
    }
  }

  async #countRead(side: 'report' | 'wallet'): Promise<void> {
    this.#read[side] += 1
    if (this.#read[side] % progressEvery === 0) await this.settings.onProgress?.({ ...this.#read })
  }

  async #readReport(opened: OpenedReport): Promise<void> {
    const unstated = new Unstated()
    for await (const batch of opened.rows) {
      for (const row of batch) {
        this.#rows.add(row.transactionId, row)
        if (row.inRange) {
          this.#totals.add('report', row)
          unstated.add(row)
          this.#counts.report += 1
        } else this.#counts.outside += 1
        await this.#countRead('report')
      }
    }
    this.#counts.ignored = opened.ignored()
    this.#notes.push(...unstated.notes(opened))
  }

  async #readWallet(hasDays: boolean): Promise<void> {
    const { from, to, marginMs } = this.settings
    if (Date.parse(to) > Date.now() - runningMsMax) {
      this.#notes.push(
        'The range ends less than a minute ago: a call whose commit was still running then is missing in the wallet. Compare again in a minute.',
      )
    }
    const moved = (time: string, ms: number) => new Date(Date.parse(time) + ms).toISOString()
    const range = { from: moved(from, -marginMs), to: moved(to, marginMs) }
    for await (const transaction of this.settings.lookups.transactions(range)) {
      const record = recordOf(transaction, this.settings)
      if (!hasDays) record.day = ''
      this.#records.add(record.transactionId, record)
      if (record.inRange) {
        this.#totals.add('wallet', record)
        this.#counts.wallet += 1
      }
      await this.#countRead('wallet')
    }
  }

  #compare(has: OpenedReport['has']): void {
    const sink = {
      counts: this.#counts,
      totals: this.#totals,
      found: (finding: Finding) => {
        this.#findings.add(betIdOf(finding), finding)
        this.#whole.add(finding, has)
      },
    }
    for (let partition = 0; partition < partitionCount; partition += 1) {
      comparePartition(this.#rows.valuesOf(partition), this.#records.valuesOf(partition), sink)
    }
  }

  async #judge(): Promise<void> {
    const { lookups, lookupsMax } = this.settings
    const context = {
      lookups: limitedLookups(lookups, lookupsMax, note => this.#notes.push(note)),
      recordOf: (transaction: RecordedTransaction) => recordOf(transaction, this.settings),
      counts: this.#counts,
      totals: this.#totals,
    }
    for (const findings of this.#findings) {
      for (const ofBet of groupsBy(findings, betIdOf)) {
        for (const judged of await judgeBet(ofBet, context)) await this.#collection.add(judged)
      }
    }
  }

  /** Deletes the temporary files. */
  close(): void {
    const all = [this.#rows, this.#records, this.#findings, this.#collection, this.#whole]
    for (const each of all) each.close()
  }
}

const betIdOf = ({ row, record }: Finding) => (row ?? record)?.betId ?? ''

/** The differences explain the totals to the last digit, or the comparison itself is wrong. */
function checkSums(currencies: readonly CurrencyTotal[], { kinds }: Collected): void {
  const rests = new Map<string | null, Sum>()
  for (const { currency, difference } of currencies) addTo(rests, currency, difference)
  for (const { currency, amount } of kinds.flatMap(({ effects }) => effects)) {
    addTo(rests, currency, negate(amount))
  }
  for (const [currency, sum] of rests) {
    const rest = textOf(sum.total())
    if (isZero(rest)) continue
    throw new Error(
      `The differences do not explain the totals: ${rest} ${currency} is left. Please report this.`,
    )
  }
}
