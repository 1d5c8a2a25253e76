/** Compares the rows and the records of one partition, by operation and transactionId (D1). */
import type { Finding } from './difference.js'
import {
  comparedPart,
  type Entry,
  keyOf,
  keyOfLine,
  keysOfOtherOperations,
  type ReportRow,
  recordOfLine,
  rowOfLine,
  type WalletRecord,
} from './entry.js'
import { similarOf } from './similar.js'

/** Told where the comparison fills in what one side does not say. */
export interface FillSink {
  filledIn(side: 'report' | 'wallet', before: Entry, now: Entry): void
}

export interface PairSink extends FillSink {
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
export function isOnOtherDay(row: ReportRow, record: WalletRecord): boolean {
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

  const alone: ReportRow[] = []
  // Of two rows with one key, a refused one must not take the record from an accepted one.
  const rows = others.map(rowOfLine).sort((one, other) => Number(other.accepted) - Number(one.accepted))
  for (const row of rows) {
    const key = keyOf(row)
    const { record, isTaken } = records.get(key)
    if (record === null) alone.push(row)
    else if (isTaken) foundTwice(row, record, sink)
    else {
      records.take(key)
      comparePair(row, record, sink)
    }
  }

  // No row takes the record that has the money of another row.
  const unmatched = alone.filter(row => !compareAlone(row, records, sink, sameMoneyKeyOf))
  for (const row of unmatched) if (!compareAlone(row, records, sink, similarKeyOf)) foundAlone(row, sink)

  for (const record of records.rest()) {
    if (!record.inRange) continue
    if (record.accepted) sink.found({ shape: 'record', row: null, record })
    else sink.refusalAlone()
  }
}

/** A row whose key no record has. @returns whether there is a record for it */
function compareAlone(
  row: ReportRow,
  records: Records,
  sink: PairSink,
  similarBy: (entry: ReportRow | WalletRecord) => string,
): boolean {
  const isOperation = (key: string) => row.accepted && row.inRange && records.agrees(key, row)
  const otherKey = keysOfOtherOperations(row).find(isOperation)
  if (otherKey !== undefined) {
    const record = records.get(otherKey).record as WalletRecord
    fillRow(row, record, sink)
    sink.found({ shape: 'operation', row, record })
    records.take(otherKey)
    return true
  }
  const similar = isCall(row) ? records.takeSimilar(row, similarBy) : undefined
  if (similar === undefined) return false
  if (row.accepted) comparePair(row, similar, sink, 'other-id')
  else sink.refusalAlone()
  return true
}

/** Whether the wallet should have a record: it forgets other refusals. */
const isCall = (row: ReportRow) => row.accepted || row.operation === 'unsettlement'

function foundAlone(row: ReportRow, sink: PairSink): void {
  if (!row.inRange) return
  if (isCall(row)) sink.found({ shape: 'row', row, record: null })
  else sink.refusalAlone()
}

function comparePair(
  row: ReportRow,
  record: WalletRecord,
  sink: PairSink,
  shape: 'pair' | 'other-id' = 'pair',
): void {
  if (!row.inRange && !record.inRange) return
  if (record.currency === null && row.currency !== null) {
    const before = { ...record }
    record.currency = row.currency
    if (record.inRange) sink.filledIn('wallet', before, record)
  }
  fillRow(row, record, sink)
  const agrees =
    shape === 'pair' && row.accepted === record.accepted && differingFields(row, record).length === 0
  if (!agrees || isOnOtherDay(row, record)) sink.found({ shape, row, record })
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

const similarKeyOf = ({ operation, transactionId, betId }: ReportRow | WalletRecord) =>
  `${operation}\t${similarOf(transactionId)}\t${similarOf(betId)}`

/** The same, of the same money on the same side of the range. */
const sameMoneyKeyOf = (entry: ReportRow | WalletRecord) =>
  `${similarKeyOf(entry)}\t${entry.amount}\t${entry.currency}\t${entry.inRange}`

/** The records of a partition, each taken by one row at most. */
class Records {
  readonly #lines: string[] = []
  readonly #indexes = new Map<string, number>()
  readonly #taken: Uint8Array
  readonly #similar = new Map<unknown, ReadonlyMap<string, WalletRecord[]>>()

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

  /** Whether a free record has this key, and differs from the row in its operation only. */
  agrees(key: string, row: ReportRow): boolean {
    const { record, isTaken } = this.get(key)
    if (record === null || isTaken || !record.inRange || !record.accepted) return false
    // The types belong to the operations.
    return differingFields({ ...row, type: null }, record).length === 0
  }

  /**
   * Takes a free record whose ids differ from the row's in letter case or in spaces at their ends only. What
   * a refused row passes over is lost for later rows: accepted rows come first.
   *
   * @param by equal for a row and its record
   */
  takeSimilar(row: ReportRow, by: (entry: ReportRow | WalletRecord) => string): WalletRecord | undefined {
    const records = this.#similarBy(by).get(by(row)) ?? []
    for (let record = records.pop(); record !== undefined; record = records.pop()) {
      // A refused row says nothing of a record that is accepted.
      if (this.get(keyOf(record)).isTaken || (record.accepted && !row.accepted)) continue
      this.take(keyOf(record))
      return record
    }
    return undefined
  }

  #similarBy(by: (entry: ReportRow | WalletRecord) => string): ReadonlyMap<string, WalletRecord[]> {
    const known = this.#similar.get(by)
    if (known !== undefined) return known
    const similar = new Map<string, WalletRecord[]>()
    for (const record of this.rest()) {
      const same = similar.get(by(record))
      if (same === undefined) similar.set(by(record), [record])
      else same.push(record)
    }
    this.#similar.set(by, similar)
    return similar
  }

  /** Those that no row has taken. */
  *rest(): Generator<WalletRecord> {
    for (const [index, line] of this.#lines.entries()) {
      if (this.#taken[index] === 0) yield recordOfLine(line)
    }
  }
}
