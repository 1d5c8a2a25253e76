/** Compares the rows and the records of one partition, by operation and transactionId (D1). */
import type { Finding } from './difference.js'
import {
  comparedPart,
  type Entry,
  keyOf,
  keyOfLine,
  type ReportRow,
  recordOfLine,
  rowOfLine,
  type WalletRecord,
} from './entry.js'

/** Told where the comparison fills in what one side does not say. */
export interface FillSink {
  filledIn(side: 'report' | 'wallet', before: Entry, now: Entry): void
}

interface PairSink extends FillSink {
  found(finding: Finding): void
  /** A row and a record agree, both within the range. */
  equal(): void
  /** One side refused it, and the other one does not have it: no money moved. */
  refusalAlone(): void
}

/** The values of a row and its record that differ. What one of them does not say is not compared. */
export function differingFields(row: ReportRow, record: WalletRecord) {
  return (
    [
      ['playerId', row.playerId, record.playerId],
      ['betId', row.betId, record.betId],
      ['type', row.type, record.type],
      ['currency', row.currency, record.currency],
      ['amount', row.amount, record.amount],
    ] as const
  ).flatMap(([field, report, wallet]) =>
    report === null || wallet === null || report === wallet ? [] : [{ field, report, wallet }],
  )
}

/** Whether both count it, but on different days, or one of them outside of the range. */
function isOnOtherDay(row: ReportRow, record: WalletRecord): boolean {
  if (!row.accepted || !record.accepted) return false
  return row.inRange !== record.inRange || (row.inRange && row.day !== '' && row.day !== record.day)
}

export function comparePartition(
  rowChunks: Iterable<readonly string[]>,
  recordChunks: Iterable<readonly string[]>,
  sink: PairSink,
) {
  const records = new Records(recordChunks, sink)

  // Nearly all rows: their line begins as the record's does. They come first, so that of two rows with one
  // key the one that agrees is the pair, and the other one the duplicate.
  const others: string[] = []
  for (const lines of rowChunks) {
    for (const line of lines) {
      const compared = comparedPart(line)
      if (!records.takeEqual(keyOfLine(line), compared)) others.push(line)
      else if (compared.endsWith('I')) sink.equal()
    }
  }

  // Of two rows with one key, a refused one must not take the record from an accepted one.
  const rows = others.map(rowOfLine).sort((one, other) => Number(other.accepted) - Number(one.accepted))
  for (const row of rows) {
    const key = keyOf(row)
    const { record, isTaken } = records.get(key)
    if (record === null) foundAlone(row, sink)
    else if (isTaken) foundTwice(row, record, sink)
    else {
      records.take(key)
      comparePair(row, record, sink)
    }
  }

  for (const record of records.rest()) {
    if (!record.inRange) continue
    if (record.accepted) sink.found({ shape: 'record', row: null, record })
    else sink.refusalAlone()
  }
}

/** Whether the wallet should have a record: it forgets other refusals. */
const isCall = (row: ReportRow) => row.accepted || row.operation === 'unsettlement'

function foundAlone(row: ReportRow, sink: PairSink): void {
  if (!row.inRange) return
  if (isCall(row)) sink.found({ shape: 'row', row, record: null })
  else sink.refusalAlone()
}

function comparePair(row: ReportRow, record: WalletRecord, sink: PairSink): void {
  if (!row.inRange && !record.inRange) return
  if (record.currency === null && row.currency !== null) {
    const before = { ...record }
    record.currency = row.currency
    if (record.inRange) sink.filledIn('wallet', before, record)
  }
  fillRow(row, record, sink)
  const agrees = row.accepted === record.accepted && differingFields(row, record).length === 0
  if (!agrees || isOnOtherDay(row, record)) sink.found({ shape: 'pair', row, record })
  else if (row.inRange && record.inRange) sink.equal()
}

/** A row that states no amount has that of its record, and its currency unless it states one. */
export function fillRow(row: ReportRow, record: WalletRecord, sink: FillSink): void {
  if (!row.accepted || row.amount !== null || !record.accepted) return
  const before = { ...row }
  row.amount = record.amount
  row.currency ??= record.currency
  if (row.inRange) sink.filledIn('report', before, row)
}

function foundTwice(row: ReportRow, record: WalletRecord, sink: PairSink): void {
  if (!row.inRange) return
  fillRow(row, record, sink)
  if (!row.accepted) sink.refusalAlone()
  // The record is a refusal that a refused row of this key has taken: this row was never executed.
  else sink.found({ shape: record.accepted ? 'twice' : 'pair', row, record })
}

/** The records of a partition, each taken by one row at most. */
class Records {
  readonly #lines: string[] = []
  readonly #indexes = new Map<string, number>()
  readonly #taken: Uint8Array

  constructor(chunks: Iterable<readonly string[]>, sink: PairSink) {
    for (const lines of chunks) this.#lines.push(...lines)
    this.#taken = new Uint8Array(this.#lines.length)
    for (const [index, line] of this.#lines.entries()) {
      const key = keyOfLine(line)
      if (!this.#indexes.has(key)) {
        this.#indexes.set(key, index)
        continue
      }
      this.#taken[index] = 1
      const record = recordOfLine(line)
      if (record.inRange) sink.found({ shape: 'twice-in-wallet', row: null, record })
    }
  }

  /** Takes the record with this key if it is free and its line begins like this. */
  takeEqual(key: string, compared: string): boolean {
    const index = this.#indexes.get(key)
    if (index === undefined || this.#taken[index] === 1) return false
    if (comparedPart(this.#lines[index] as string) !== compared) return false
    this.#taken[index] = 1
    return true
  }

  get(key: string): { record: WalletRecord | null; isTaken: boolean } {
    const index = this.#indexes.get(key)
    if (index === undefined) return { record: null, isTaken: false }
    return { record: recordOfLine(this.#lines[index] as string), isTaken: this.#taken[index] === 1 }
  }

  take(key: string): void {
    const index = this.#indexes.get(key)
    if (index !== undefined) this.#taken[index] = 1
  }

  /** Those that no row has taken. */
  *rest(): Generator<WalletRecord> {
    for (const [index, line] of this.#lines.entries()) {
      if (this.#taken[index] === 0) yield recordOfLine(line)
    }
  }
}
