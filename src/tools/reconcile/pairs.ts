/** Compares the rows and the records of one partition, by operation and transactionId (D1). */
import type { Finding } from './difference.js'
import type { Entry, ReportRow, WalletRecord } from './entry.js'
import type { RowCounts, Totals } from './totals.js'

interface PairSink {
  counts: RowCounts
  totals: Totals
  found(finding: Finding): void
}

/** By value, the most important first: a wrong player is no matter of the amount. */
const comparedFields = ['playerId', 'betId', 'currency', 'amount', 'type'] as const

/** What one side does not say is not compared, nor is the currency of a refusal. */
function differs(row: ReportRow, record: WalletRecord, field: (typeof comparedFields)[number]): boolean {
  if (row[field] === null || record[field] === null || row[field] === record[field]) return false
  return field !== 'currency' || (row.accepted && record.accepted)
}

/** The values of a row and its record that differ. */
export const differingFields = (row: ReportRow, record: WalletRecord) =>
  comparedFields
    .filter(field => differs(row, record, field))
    .map(field => ({ field, report: row[field] as string, wallet: record[field] as string }))

function agrees(row: ReportRow, record: WalletRecord): boolean {
  if (row.accepted !== record.accepted || comparedFields.some(field => differs(row, record, field)))
    return false
  // Both count it on the same day, or neither counts it. No side counts a refusal.
  return !row.accepted || (row.inRange === record.inRange && (!row.inRange || row.day === record.day))
}

const keyOf = ({ operation, transactionId }: Entry) => `${operation} ${transactionId}`

export function comparePartition(
  rows: readonly ReportRow[],
  records: readonly WalletRecord[],
  sink: PairSink,
): void {
  const recorded = new Map<string, WalletRecord>()
  for (const record of records) {
    const key = keyOf(record)
    if (!recorded.has(key)) recorded.set(key, record)
    else if (record.inRange) sink.found({ row: null, record, isTwice: true })
  }

  // Of two rows with one key, the one that agrees is the pair, and the other one the duplicate; a refused one
  // must not take the record from an accepted one.
  const ranked: [row: ReportRow, record: WalletRecord | undefined][][] = [[], [], []]
  for (const row of rows) {
    const record = recorded.get(keyOf(row))
    const rank = record !== undefined && agrees(row, record) ? 0 : row.accepted ? 1 : 2
    ranked[rank]?.push([row, record])
  }
  const taken = new Set<WalletRecord>()
  for (const [row, record] of ranked.flat()) {
    if (record === undefined) foundAlone(row, sink)
    else if (taken.has(record)) foundTwice(row, record, sink)
    else comparePair(row, record, sink)
    if (record !== undefined) taken.add(record)
  }
  for (const record of recorded.values()) {
    if (taken.has(record) || !record.inRange) continue
    if (record.accepted) sink.found({ row: null, record, isTwice: false })
    else sink.counts.refusedAlone += 1
  }
}

function foundAlone(row: ReportRow, { counts, found }: PairSink): void {
  if (!row.inRange) return
  // The wallet records a refused clawback, and forgets other refusals.
  if (row.accepted || row.operation === 'unsettlement') found({ row, record: null, isTwice: false })
  else counts.refusedAlone += 1
}

function comparePair(row: ReportRow, record: WalletRecord, { counts, totals, found }: PairSink): void {
  if (!row.inRange && !record.inRange) return
  if (record.currency === null && row.currency !== null) {
    const before = { ...record }
    record.currency = row.currency
    if (record.inRange) totals.replace('wallet', before, record)
  }
  fillRow(row, record, totals)
  if (!agrees(row, record)) found({ row, record, isTwice: false })
  else if (row.inRange && record.inRange) counts.equal += 1
  // Refusals, of which one side has the other date.
  else counts.refusedAlone += 1
}

/** A row that states no amount has that of its record, and its currency unless it states one. */
export function fillRow(row: ReportRow, record: WalletRecord, totals: Totals): void {
  if (!row.accepted || row.amount !== null || !record.accepted) return
  const before = { ...row }
  row.amount = record.amount
  row.currency ??= record.currency
  if (row.inRange) totals.replace('report', before, row)
}

function foundTwice(row: ReportRow, record: WalletRecord, { counts, totals, found }: PairSink): void {
  if (!row.inRange) return
  fillRow(row, record, totals)
  if (!row.accepted) counts.refusedAlone += 1
  // The record is a refusal that a refused row of this key has taken: this row was never executed.
  else found({ row, record, isTwice: record.accepted })
}
