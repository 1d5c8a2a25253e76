/** The simulated platform's report as CSV, in the columns that a reconciliation knows without a mapping. */
import type { DecidedTransaction } from '../simulator/index.js'

const columns = [
  'operation',
  'transactionId',
  'betId',
  'playerId',
  'type',
  'amount',
  'currency',
  'status',
  'transactionDate',
] as const

const lineOf = (cells: readonly string[]) =>
  `${cells.map(cell => (/[",\n\r]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(',')}\n`

export const platformReportHeader = lineOf(columns)

export function platformReportLine(transaction: DecidedTransaction): string {
  const values = { ...transaction, status: transaction.accepted ? 'accepted' : 'refused' }
  return lineOf(columns.map(column => values[column] ?? ''))
}
