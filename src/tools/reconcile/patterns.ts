/** What differences have in common: a time for which one side has nothing; two amounts that are swapped. */
import type { Finding, Judgement, Span } from './difference.js'
import { keyOf, type ReportRow, type WalletRecord } from './entry.js'

/** Fewer differences are no gap: in a quiet night, one transaction is missing for an hour. */
const gapLeast = 10
/** More other amounts are not searched for swapped ones. */
const waitingMax = 100_000

/** Is shown every row and every record first, then every finding; then it knows. */
export class Patterns {
  readonly #range: Span
  readonly #isInRange: (date: string) => boolean
  readonly #times: { report: Times; wallet: Times }
  #spans: { report: CountedSpan[]; wallet: CountedSpan[] } | undefined
  /** Without it, nothing is known of the report's times. */
  #isDated = true
  readonly #waiting = new Map<string, WalletRecord[]>()
  readonly #swapped = new Map<string, WalletRecord>()

  constructor(range: Span, isInRange: (date: string) => boolean) {
    this.#range = range
    this.#isInRange = isInRange
    this.#times = { report: new Times(range), wallet: new Times(range) }
  }

  addRow({ transactionDate, inRange }: ReportRow): void {
    if (transactionDate === null) this.#isDated = false
    else if (inRange) this.#times.report.add(transactionDate)
  }

  addRecord(record: WalletRecord): void {
    const date = this.#dateOf(record)
    if (this.#isInRange(date)) this.#times.wallet.add(date)
  }

  addFinding({ shape, row, record }: Finding): void {
    const span = this.#spanOf(shape === 'row' ? row : null, shape === 'record' ? record : null)
    if (span !== undefined) span.count += 1
    if (shape === 'pair' && row?.accepted && record?.accepted) this.#addAmounts(row, record)
  }

  /** The gap that the difference is in; `null`: none. */
  gapOf({ kind, row, record }: Judgement): Span | null {
    const span = this.#spanOf(
      kind === 'never-arrived' ? row : null,
      kind === 'missing-in-report' ? record : null,
    )
    return span === undefined || span.count < gapLeast ? null : { from: span.from, to: span.to }
  }

  /** The transaction with which its amount is swapped. */
  swappedWith({ kind, record }: Judgement): WalletRecord | undefined {
    return kind === 'other-amount' && record !== null ? this.#swapped.get(keyOf(record)) : undefined
  }

  /** A transaction that is recorded late still belongs to the time of its date. */
  #dateOf = ({ transactionDate, recordedAt }: WalletRecord) =>
    this.#isInRange(transactionDate) ? transactionDate : recordedAt

  #spanOf(row: ReportRow | null, record: WalletRecord | null): CountedSpan | undefined {
    const date = row?.transactionDate ?? (record === null ? null : this.#dateOf(record))
    if (date === null || !this.#isDated) return undefined
    this.#spans ??= {
      report: this.#times.report.spansWithout(this.#range),
      wallet: this.#times.wallet.spansWithout(this.#range),
    }
    return spanAt(row === null ? this.#spans.report : this.#spans.wallet, date)
  }

  #addAmounts(row: ReportRow, record: WalletRecord): void {
    if (row.amount === record.amount || this.#waiting.size >= waitingMax) return
    const keyWith = (inReport: string | null, inWallet: string | null) =>
      [record.operation, record.currency, inReport, inWallet].join('\t')
    const other = this.#waiting.get(keyWith(record.amount, row.amount))?.pop()
    if (other === undefined) {
      const key = keyWith(row.amount, record.amount)
      const same = this.#waiting.get(key)
      if (same === undefined) this.#waiting.set(key, [record])
      else same.push(record)
    } else {
      this.#swapped.set(keyOf(record), other)
      this.#swapped.set(keyOf(other), record)
    }
  }
}

interface CountedSpan extends Span {
  count: number
}

/** The one that the date lies in, of spans in order that do not overlap. */
function spanAt(spans: readonly CountedSpan[], date: string): CountedSpan | undefined {
  let [low, high] = [0, spans.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((spans[middle] as CountedSpan).from < date) low = middle + 1
    else high = middle
  }
  // At the time with which a span begins, the side has something, unless the range begins with it.
  const span = spans[Math.max(low - 1, 0)]
  return span !== undefined && date < span.to ? span : undefined
}

const minuteMs = 60_000
const dayMs = 86_400_000

/** The times that one side has: the first and the last one of each minute; of each hour, in a long range. */
class Times {
  readonly #partMs: number
  /** Milliseconds since 1970. A text would keep the part of the report that it was cut from. */
  readonly #parts = new Map<number, { first: number; last: number }>()
  #day = { key: 0, start: 0 }

  constructor({ from, to }: Span) {
    const days = (Date.parse(to) - Date.parse(from)) / dayMs
    this.#partMs = days <= 2 ? minuteMs : days <= 62 ? 10 * minuteMs : 60 * minuteMs
  }

  add(date: string): void {
    const time = this.#timeOf(date)
    const key = Math.floor(time / this.#partMs)
    const part = this.#parts.get(key)
    if (part === undefined) this.#parts.set(key, { first: time, last: time })
    else if (time < part.first) part.first = time
    else if (time > part.last) part.last = time
  }

  /** As `Date.parse`, which takes most of the time for millions of dates. */
  #timeOf(date: string): number {
    const digit = (index: number) => date.charCodeAt(index) - 48
    const two = (index: number) => digit(index) * 10 + digit(index + 1)
    const key = ((two(0) * 100 + two(2)) * 100 + two(5)) * 100 + two(8)
    if (key !== this.#day.key) this.#day = { key, start: Date.parse(date.slice(0, 10)) }
    const seconds = (two(11) * 60 + two(14)) * 60 + two(17)
    return this.#day.start + seconds * 1000 + two(20) * 10 + digit(22)
  }

  /** From each time to the next one. */
  spansWithout({ from, to }: Span): CountedSpan[] {
    const parts = [...this.#parts.values()].sort((one, other) => one.first - other.first)
    const starts = [from, ...parts.map(({ last }) => new Date(last).toISOString())]
    const ends = [...parts.map(({ first }) => new Date(first).toISOString()), to]
    return starts.map((start, index) => ({ from: start, to: ends[index] ?? to, count: 0 }))
  }
}
