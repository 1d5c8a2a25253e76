/** The simulated platform's report as CSV, in the columns that a reconciliation knows without a mapping. */

import type { DecidedTransaction } from '../random/index.js'
import { fields } from '../reconcile/mapping.js'

const lineOf = (cells: readonly string[]) =>
  `${cells.map(cell => (/[",\n\r]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(',')}\n`

export const platformReportHeader = lineOf(fields)

export function platformReportLine(transaction: DecidedTransaction): string {
  const values = { ...transaction, status: transaction.accepted ? 'accepted' : 'refused' }
  return lineOf(fields.map(field => values[field] ?? ''))
}
