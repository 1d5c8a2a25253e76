/** Differences as CSV for a spreadsheet, and the ids of known ones from such a file. */
import { amountText } from './amounts.js'
import { isDifferenceId } from './collection.js'
import { csvRecords } from './csv.js'
import { type Difference, kindTitles } from './difference.js'
import { ReconcileError } from './errors.js'
import { type ReportSource, textChunks } from './text-chunks.js'

/** Spreadsheets show it, and take what follows for text: no formula, no number, no date. */
const asText = "'"

/** Column by column. An amount is a number; everything that others have written is text. */
const columns: Record<string, (difference: Difference) => string | null | undefined> = {
  id: ({ id }) => id,
  kind: ({ kind }) => kind,
  title: ({ kind }) => kindTitles[kind],
  operation: ({ report, wallet }) => (report ?? wallet)?.operation,
  type: ({ report, wallet }) => report?.type ?? wallet?.type,
  transactionId: ({ report, wallet }) => textOf((report ?? wallet)?.transactionId),
  betId: ({ report, wallet }) => textOf((report ?? wallet)?.betId),
  playerId: ({ report, wallet }) => textOf(report?.playerId ?? wallet?.playerId),
  reportAmount: ({ report }) => amountOf(report),
  reportCurrency: ({ report }) => report?.currency,
  walletAmount: ({ wallet }) => amountOf(wallet),
  walletCurrency: ({ wallet }) => wallet?.currency,
  difference: ({ effects: [first] }) => amountOf(first),
  currency: ({ effects: [first] }) => first?.currency,
  otherDifference: ({ effects: [, second] }) => amountOf(second),
  otherCurrency: ({ effects: [, second] }) => second?.currency,
  report: ({ report }) => textOf(report?.file),
  line: ({ report }) => report && String(report.line),
  transactionDate: ({ report, wallet }) => report?.transactionDate ?? wallet?.transactionDate,
  recordedAt: ({ wallet }) => wallet?.recordedAt,
  walletTransactionId: ({ wallet }) => textOf(wallet?.walletTransactionId),
  explanation: ({ explanation }) => explanation,
  toDoBy: ({ repair }) => repair.by,
  toDo: ({ repair }) => repair.text,
}

const textOf = (value: string | null | undefined) => (value ? `${asText}${value}` : null)
const amountOf = (side: { amount: string | null; currency: string | null } | null | undefined) =>
  side?.amount ? amountText(side.amount, side.currency) : null
const lineOf = (cells: readonly string[]) =>
  `${cells.map(cell => `"${cell.replaceAll('"', '""')}"`).join(',')}\r\n`

/** The first line of the file. Its byte order mark says to spreadsheets that it is UTF-8. */
export const differenceCsvHeader = `\ufeff${lineOf(Object.keys(columns))}`

/** One line of CSV, with its line end. Ids begin with a `'`, so that a spreadsheet takes them for text. */
export const differenceCsvLine = (difference: Difference): string =>
  lineOf(Object.values(columns).map(cellOf => cellOf(difference) ?? ''))

/**
 * Reads the ids of known differences from a file that {@link differenceCsvLine} wrote, or from its column
 * `id` alone.
 *
 * @throws {ReconcileError} `INVALID_OPTIONS`: it cannot be read, or has something else than such ids
 */
export async function readKnownDifferences(file: ReportSource): Promise<string[]> {
  const ids: string[] = []
  let index: number | undefined
  const fail = (problem: string, cause?: unknown): never => {
    const name = typeof file === 'string' ? file : 'the file'
    throw new ReconcileError('INVALID_OPTIONS', `Known differences: ${name}${problem}`, { cause })
  }
  try {
    for await (const records of csvRecords(textChunks(file))) {
      for (const { line, cells } of records) {
        const isHeader = index === undefined
        index ??= cells.indexOf('id')
        const id = cells[index] ?? ''
        if (index === -1) fail(' has no column "id"')
        if (!isHeader && !isDifferenceId(id))
          fail(`, line ${line}: ${JSON.stringify(id)} is no id of a difference`)
        if (!isHeader) ids.push(id)
      }
    }
  } catch (error) {
    const problem = (error as Error).message.replace(/^The platform's report/, '')
    if (!(error instanceof ReconcileError) || error.code !== 'INVALID_REPORT') throw error
    fail(problem, error.cause)
  }
  return ids
}
