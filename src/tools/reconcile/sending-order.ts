/** In which order calls that never arrived are sent again. */
import type { Difference } from './difference.js'
import { operationOrder, type ReportRow } from './entry.js'

/**
 * By the platform's dates: a stake that was paid from a win and is sent before it would get a final refusal
 * (D6). At the same moment, and without dates, by operation: a settlement of a bet that is missing is refused
 * too, though not finally. Then by report and line.
 */
export function sendingOrder(one: ReportRow | null, other: ReportRow | null): number {
  const [date, otherDate] = [one?.transactionDate ?? '', other?.transactionDate ?? '']
  if (date !== otherDate) return date < otherDate ? -1 : 1
  const ofReports = byName.compare(one?.file ?? '', other?.file ?? '')
  return rankOf(one) - rankOf(other) || ofReports || (one?.line ?? 0) - (other?.line ?? 0)
}

/** `report 10` is after `report 9`. */
const byName = new Intl.Collator('en', { numeric: true })

const rankOf = (row: ReportRow | null) => (row === null ? 0 : operationOrder.indexOf(row.operation))

/** How a list of what never arrived is ordered; for other kinds empty. */
export function orderText(differences: readonly Difference[]): string {
  if (differences[0]?.kind !== 'never-arrived') return ''
  const isDated = differences.every(({ report }) => report?.transactionDate)
  return isDated
    ? 'Send these calls before those of other differences, in this order, by their dates. A settlement that is refused because its bet is missing is sent again at the end.'
    : 'The report has no dates, so these are by operation, placebets first. Get one with dates: a stake that was paid from a win is refused, finally, if it is sent before the win.'
}
