/**
 * Whether the report as a whole is that of the wallet. Where its ids were rewritten, or it is another file,
 * single differences say nothing: each transaction would be missing on both sides.
 */
import { countText } from '../html/figures.js'
import type { Finding } from './difference.js'
import type { NotCompared, ReportRow, WalletRecord } from './entry.js'
import { linesOf, partitionOf, partitions, Spool } from './spool.js'

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

/** The numbers of rows and transactions that a finding is about. */
interface Counted {
  report: number
  outside: number
  ignored: number
  wallet: number
}

type Ids = readonly [inReport: string, inWallet: string]

/** Is shown every finding; then it knows. */
export class WholeReport {
  /** What one side alone has, by its content without ids. */
  readonly #alone = new Spool()
  readonly #notCompared: NotCompared
  #scientific: string | null = null
  #rewritten: Ids | null = null
  /** Whether any row has its transaction, if only on another day. */
  #hasPair = false

  constructor(notCompared: NotCompared) {
    this.#notCompared = notCompared
  }

  add({ shape, row, record }: Finding): void {
    if (row !== null && record !== null) {
      this.#hasPair = true
      const ids: Ids[] = [
        [row.betId, record.betId],
        [row.playerId ?? record.playerId, record.playerId],
      ]
      this.#rewritten ??= ids.find(([inReport, inWallet]) => isRewritten(inReport, inWallet)) ?? null
    }
    const entry = shape === 'row' ? row : shape === 'record' ? record : null
    if (entry === null || !entry.accepted) return
    if (row !== null)
      this.#scientific ??= [row.transactionId, row.betId].find(id => scientific.test(id)) ?? null
    const content = this.#contentOf(entry)
    this.#alone.add(partitionOf(content), [content, entry.transactionId, row === null ? 'W' : 'R'].join('\t'))
  }

  /**
   * Same operation, player, amount and time, to the minute: what a report and a wallet have under any id. A
   * tool that writes ids in other letters, or fills them with spaces, does so with players too.
   */
  #contentOf({ operation, amount, currency, playerId, transactionDate }: ReportRow | WalletRecord): string {
    // The interface's calls have no amount: a report need not state it.
    const money = operation === 'placebet' || operation === 'settlement' ? `${amount} ${currency}` : ''
    const player = this.#notCompared.playerId
      ? ''
      : inSpreadsheet(playerId ?? '')
          .trim()
          .toLowerCase()
    return [operation, money, player, this.#notCompared.day ? '' : transactionDate?.slice(0, 16)].join(' ')
  }

  /** @returns `null`: it may be that of the wallet */
  result({ report, outside, ignored, wallet }: Counted): WrongReport | null {
    if (report === 0 && wallet > 0 && !this.#hasPair) return noRows(outside, ignored, wallet)
    this.#alone.seal()
    const { matched, example } = this.#matches()
    const rewritten = this.#rewritten
    if (rewritten !== null || this.#scientific !== null) {
      const ids =
        rewritten === null
          ? `${this.#scientific} in the report`
          : `${rewritten[0]} in the report is ${rewritten[1]} in the wallet`
      const sentence = `A spreadsheet has rewritten ids of the report: ${ids}. Compare the file as the platform wrote it, which no spreadsheet has saved.`
      return { kind: 'spreadsheet-ids', sentence }
    }
    if (example === null || 2 * matched <= report) return null
    const sentence = `The ids of the report are not those of the wallet: ${countText(matched, 'row')} of ${countText(report, 'row')} ${matched === 1 ? 'is' : 'are'} in the wallet under other ids, with the same operation${this.#notCompared.playerId ? '' : ', player'}${this.#notCompared.day ? '' : ', time'} and amount (${example[0]} in the report, ${example[1]} in the wallet). Is the column of the transactionId the right one?`
    return { kind: 'other-ids', sentence }
  }

  /** How many rows are transactions of the wallet but for their ids. */
  #matches(): { matched: number; example: Ids | null } {
    let matched = 0
    let example: Ids | null = null
    for (let partition = 0; partition < partitions; partition += 1) {
      for (const { inReport, inWallet } of contentsOf(linesOf(this.#alone, partition))) {
        const [row, record] = [inReport[0], inWallet[0]]
        if (row === undefined || record === undefined) continue
        matched += Math.min(inReport.length, inWallet.length)
        example ??= [row, record]
        const same = inWallet.find(id => isRewritten(row, id))
        if (same !== undefined) this.#rewritten ??= [row, same]
      }
    }
    return { matched, example }
  }

  close(): void {
    this.#alone.close()
  }
}

/** Per content, the ids that each side has for it. */
function contentsOf(lines: Iterable<string>) {
  const contents = new Map<string, { inReport: string[]; inWallet: string[] }>()
  for (const line of lines) {
    const [content = '', id = '', side] = line.split('\t')
    const ids = contents.get(content) ?? { inReport: [], inWallet: [] }
    contents.set(content, ids)
    ids[side === 'R' ? 'inReport' : 'inWallet'].push(id)
  }
  return contents.values()
}

function noRows(outside: number, ignored: number, wallet: number): WrongReport {
  const others = [
    ...(outside > 0 ? [`${countText(outside, 'row')} outside of it`] : []),
    ...(ignored > 0 ? [`${countText(ignored, 'row')} that the mapping ignores`] : []),
  ]
  const has = others.length === 0 ? '' : `, but ${others.join(' and ')}`
  const sentence = `The report has no row within the range${has}. The wallet has ${countText(wallet, 'transaction')}: is it the report of this range?`
  return { kind: 'no-rows', sentence }
}
