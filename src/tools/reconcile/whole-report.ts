/**
 * Whether the report as a whole is that of the wallet. Where its ids were rewritten, or it is another file,
 * single differences say nothing: each transaction would be missing on both sides.
 */
import { countText } from '../report/figures.js'
import type { Finding } from './difference.js'
import type { ReportRow, WalletRecord } from './entry.js'
import { groupsBy, Partitions } from './partitions.js'
import type { OpenedReport } from './report-rows.js'
import type { RowCounts } from './totals.js'

/** Why the report as a whole is not that of the wallet. */
export interface WrongReport {
  /**
   * `no-rows`: it has none in the range, and the wallet has some. `spreadsheet-ids`: a spreadsheet has
   * rewritten its ids. `other-ids`: most of its rows are transactions of the wallet under other ids.
   */
  kind: 'no-rows' | 'spreadsheet-ids' | 'other-ids'
  sentence: string
}

/** `2.02611E+17`: no wallet's id that a row can have alone. */
const scientific = /^[0-9](?:[.,][0-9]+)?E\+[0-9]+$/i
/** Of 15 digits, and zeros in the place of the others; or with the sign that keeps an id as text. */
const spreadsheetForm = /^[0-9]{15}0+$|^=?"|^'/

/** The id as a spreadsheet has it: the forms that it may write are equal. */
function inSpreadsheet(id: string): string {
  const bare = id.replace(/^(?:=?"|')|"$/g, '').replace(',', '.')
  if (scientific.test(bare) || /^[0-9]{16,}$/.test(bare)) return Number(bare).toPrecision(6)
  return /^[0-9]+$/.test(bare) ? String(Number(bare)) : bare
}

function isRewritten(inReport: string, inWallet: string): boolean {
  const isForm = scientific.test(inReport) || spreadsheetForm.test(inReport)
  const lostZeros = inWallet.startsWith('0') && !inReport.startsWith('0')
  return inReport !== inWallet && (isForm || lostZeros) && inSpreadsheet(inReport) === inSpreadsheet(inWallet)
}

type Ids = readonly [inReport: string, inWallet: string]

/** What one side alone has. */
interface Alone {
  side: 'report' | 'wallet'
  id: string
  content: string
}

/** Is shown every finding; then it knows. */
export class WholeReport {
  readonly #alone = new Partitions<Alone>()
  #scientific: string | null = null
  #rewritten: Ids | null = null
  /** Whether any row has its transaction, if only on another day. */
  #hasPair = false

  add({ row, record, isTwice }: Finding, has: OpenedReport['has']): void {
    if (row !== null && record !== null) {
      this.#hasPair = true
      const ids: Ids[] = [
        [row.betId, record.betId],
        [row.playerId ?? record.playerId, record.playerId],
      ]
      this.#rewritten ??= ids.find(each => isRewritten(...each)) ?? null
    }
    const entry = isTwice || (row !== null && record !== null) ? null : (row ?? record)
    if (entry === null || !entry.accepted) return
    const ids = row === null ? [] : [row.transactionId, row.betId]
    this.#scientific ??= ids.find(id => scientific.test(id)) ?? null
    const content = contentOf(entry, has)
    this.#alone.add(content, { side: row === null ? 'wallet' : 'report', id: entry.transactionId, content })
  }

  /** @returns `null`: it may be that of the wallet */
  result(counted: RowCounts, has: OpenedReport['has']): WrongReport | null {
    const { report, wallet } = counted
    if (report === 0 && wallet > 0 && !this.#hasPair) return noRows(counted)
    const { matched, example } = this.#matches()
    const ids =
      this.#rewritten !== null
        ? `${this.#rewritten[0]} in the report is ${this.#rewritten[1]} in the wallet`
        : this.#scientific && `${this.#scientific} in the report`
    if (ids !== null) {
      const sentence = `A spreadsheet has rewritten ids of the report: ${ids}. Compare the file as the platform wrote it, which no spreadsheet has saved.`
      return { kind: 'spreadsheet-ids', sentence }
    }
    if (example === null || 2 * matched <= report) return null
    const same = `${has('playerId') ? ', player' : ''}${has('transactionDate') ? ', time' : ''} and amount`
    const sentence = `The ids of the report are not those of the wallet: ${countText(matched, 'row')} of ${countText(report, 'row')} ${matched === 1 ? 'is' : 'are'} in the wallet under other ids, with the same operation${same} (${example[0]} in the report, ${example[1]} in the wallet). Is the column of the transactionId the right one?`
    return { kind: 'other-ids', sentence }
  }

  /** How many rows are transactions of the wallet but for their ids. */
  #matches(): { matched: number; example: Ids | null } {
    let matched = 0
    let example: Ids | null = null
    for (const alone of this.#alone) {
      for (const same of groupsBy(alone, ({ content }) => content)) {
        const inReport = same.filter(({ side }) => side === 'report')
        const inWallet = same.filter(({ side }) => side === 'wallet')
        const pairs = inWallet.map(({ id }): Ids => [inReport[0]?.id ?? '', id])
        if (inReport.length === 0 || pairs.length === 0) continue
        matched += Math.min(inReport.length, pairs.length)
        example ??= pairs[0] ?? null
        this.#rewritten ??= pairs.find(each => isRewritten(...each)) ?? null
      }
    }
    return { matched, example }
  }

  close(): void {
    this.#alone.close()
  }
}

/**
 * Same operation, player, amount and time, to the minute: what a report and a wallet have under any id. A
 * tool that writes ids in other letters, or fills them with spaces, does so with players too.
 */
function contentOf(
  { operation, amount, currency, playerId, transactionDate }: ReportRow | WalletRecord,
  has: OpenedReport['has'],
): string {
  // The interface's calls have no amount: a report need not state it.
  const money = operation === 'placebet' || operation === 'settlement' ? `${amount} ${currency}` : ''
  const player = has('playerId') ? inSpreadsheet(playerId ?? '') : ''
  const minute = has('transactionDate') ? transactionDate?.slice(0, 16) : ''
  return [operation, money, player.trim().toLowerCase(), minute].join(' ')
}

function noRows({ outside, ignored, wallet }: RowCounts): WrongReport {
  const others = [
    outside > 0 && `${countText(outside, 'row')} outside of it`,
    ignored > 0 && `${countText(ignored, 'row')} that the mapping ignores`,
  ].filter(Boolean)
  const has = others.length === 0 ? '' : `, but ${others.join(' and ')}`
  const sentence = `The report has no row within the range${has}. The wallet has ${countText(wallet, 'transaction')}: is it the report of this range?`
  return { kind: 'no-rows', sentence }
}
