/** The platform's report as rows that can be compared. */

import type { Operation } from '../../store.js'
import { JsonNumber, numberText, type ReadJson } from '../wire/json.js'
import { decimalOf, isNegative } from './amounts.js'
import { isDebit, isId, type ReportRow } from './entry.js'
import { invalidRow, ReconcileError, shown } from './errors.js'
import { type Field, type Mapping, type Meaning, operationTypes } from './mapping.js'
import { openTable, type TableRow } from './report-table.js'
import type { ReportSource } from './text-chunks.js'

/** The platform's report, opened: what it says, and its rows. */
export type OpenedReport = Awaited<ReturnType<typeof openReport>>

/**
 * Opens the platform's report: JSON lines if it begins with `{`, otherwise CSV with a header.
 *
 * @param file its name in the rows, if there are several reports
 * @throws {ReconcileError} `INVALID_REPORT`, `INVALID_MAPPING`; so do the rows, when they are read
 */
export async function openReport(
  source: ReportSource,
  mapping: Mapping,
  isInRange: (date: string) => boolean,
  file: string | null,
) {
  const table = await openTable(source, mapping.delimiter, [...mapping.columns.values()])
  const reader = new RowReader(mapping, indexesOf(table.columns, mapping), isInRange, file)
  let ignored = 0
  async function* rows(): AsyncGenerator<ReportRow[]> {
    for await (const batch of table.rows) {
      const read = batch.map(row => reader.read(row)).filter(row => row !== null)
      ignored += batch.length - read.length
      yield read
    }
  }
  const typedWords = [...mapping.operations.values()].some(each => each !== null && each.type !== null)
  return {
    /** Whether any row can have the field. */
    has: (field: Field) => reader.has(field),
    /** Whether any row can have a type: by its column, or by the word for its operation. */
    hasTypes: reader.has('type') || typedWords,
    /** Some rows at a time. Rows that the mapping ignores are counted only. */
    rows: rows(),
    ignored: () => ignored,
  }
}

/** Which column has the field. */
type Indexes = Partial<Record<Field, number>>

function indexesOf(columns: readonly string[], mapping: Mapping): Indexes {
  const indexes: Indexes = {}
  for (const [field, column] of mapping.columns) {
    const index = columns.indexOf(column)
    if (index === -1 && mapping.isRequired(field)) {
      const names = columns.map(name => JSON.stringify(name)).join(', ')
      throw new ReconcileError(
        'INVALID_MAPPING',
        `The platform's report has no column ${JSON.stringify(column)} for ${field}. Its columns are ${names}. ` +
          `Name the right one in the mapping: { "columns": { "${field}": "…" } }`,
      )
    }
    if (index === -1) continue
    if (columns.includes(column, index + 1)) invalidRow(1, column, 'the header has this column twice')
    indexes[field] = index
  }
  return indexes
}

/** Not what a spreadsheet takes for a formula. */
const currencyText = /^[A-Za-z0-9][A-Za-z0-9._-]{0,15}$/
/** The digits of the wallet's amounts (D22). */
const isAmount = /^[0-9]{1,15}(?:\.[0-9]{1,18})?$/
/** Operations that may have no amount in a report: the interface's calls have none (spec 4.2, 4.3). */
const mayBeEmpty: readonly Operation[] = ['unsettlement', 'rollbackbet']

/** Reads one row at a time. What cannot be read is an error with the line and the column. */
class RowReader {
  #row: TableRow = { line: 0, cells: [] }

  constructor(
    readonly mapping: Mapping,
    readonly indexes: Indexes,
    readonly isInRange: (date: string) => boolean,
    readonly file: string | null,
  ) {}

  /** @returns `null` for a row that the mapping ignores */
  read(row: TableRow): ReportRow | null {
    this.#row = row
    const { operations, statuses, dates } = this.mapping
    const meaning = this.#word('operation', operations)
    // An empty status is a word as any other: platforms write it for what failed, or for what did not.
    const status = meaning && this.has('status') ? this.#word('status', statuses) : 'accepted'
    if (meaning === null || status === null) return null
    const { operation } = meaning
    const transactionDate = this.has('transactionDate') ? this.#date() : null
    const amount = status === 'accepted' ? this.#amount(operation) : null
    const currency = this.#currency()
    if (amount !== null && currency === null) this.#fail('currency', 'is empty')
    return {
      operation,
      transactionId: this.#id('transactionId'),
      betId: this.#id('betId'),
      playerId: this.#text('playerId') === '' ? null : this.#id('playerId'),
      type: this.#type(meaning),
      accepted: status === 'accepted',
      amount,
      currency,
      day: transactionDate === null ? '' : dates.dayOf(transactionDate),
      inRange: transactionDate === null || this.isInRange(transactionDate),
      file: this.file,
      line: row.line,
      transactionDate,
    }
  }

  #fail(field: Field, problem: string): never {
    return invalidRow(this.#row.line, this.mapping.columns.get(field) ?? field, problem)
  }

  has(field: Field): boolean {
    return (this.mapping.constants[field] ?? this.indexes[field]) !== undefined
  }

  #value(field: Field): ReadJson | undefined {
    return this.mapping.constants[field] ?? this.#row.cells[this.indexes[field] ?? -1]
  }

  /** Empty where there is none. */
  #text(field: Field): string {
    const value = this.#value(field)
    if (typeof value === 'string') return value
    if (value === undefined || value === null) return ''
    // Ids that a report writes as whole numbers.
    if (value instanceof JsonNumber && /^-?[0-9]+$/.test(value.text)) return value.text
    return this.#fail(field, `must be text, not ${shown(value)}`)
  }

  #id(field: Field): string {
    const value = this.#text(field)
    if (isId(value)) return value
    const problem = 'must have 1 to 255 characters, and no control characters'
    return this.#fail(field, value === '' ? 'is empty' : problem)
  }

  #word<T>(field: Field, words: ReadonlyMap<string, T>): T {
    const value = this.#text(field)
    const found = words.get(value)
    if (found !== undefined) return found
    const known = [...words.keys()].join(', ')
    return this.#fail(field, `${shown(value)} is none of ${known}; say in the mapping what it is`)
  }

  #date(): string {
    const value = this.#text('transactionDate')
    const read = value === '' ? { problem: 'is empty' } : this.mapping.dates.read(value)
    return 'date' in read ? read.date : this.#fail('transactionDate', read.problem)
  }

  /** @param meaning of the operation's word, which may imply a type */
  #type({ operation, type: implied }: Meaning): string | null {
    const types = operationTypes(operation)
    const isEmpty = this.#text('type') === ''
    if (types === null || (isEmpty && (implied !== null || !this.mapping.types.has('')))) return implied
    const type = this.#word('type', this.mapping.types)
    if (!types.includes(type)) this.#fail('type', `${type} does not fit the operation: ${types.join(', ')}`)
    if (implied === null || implied === type) return type
    const word = shown(this.#text('operation'))
    return this.#fail('type', `${type} contradicts the operation ${word}, which is ${operation} ${implied}`)
  }

  #currency(): string | null {
    const value = this.#text('currency')
    if (value === '' || currencyText.test(value)) return value || null
    return this.#fail('currency', `${shown(value)} is no currency code`)
  }

  #amount(operation: Operation): string | null {
    const { decimalPoint, signs } = this.mapping
    const value = this.#value('amount')
    const invalid = (problem: string) => this.#fail('amount', `${shown(value)} ${problem}`)
    if (value === undefined || value === null || value === '') {
      return mayBeEmpty.includes(operation) ? null : this.#fail('amount', 'is empty')
    }
    const written = numberText(value)
    if (written === null) return this.#fail('amount', `must be a number or text, not ${shown(value)}`)
    let { text } = written
    if (decimalPoint === ',' && written.quoted) text = text.includes('.') ? '' : text.replace(',', '.')
    const negative = text.startsWith('-')
    const parsed = decimalOf(negative ? text.slice(1) : text)
    if (parsed === null || isNegative(parsed)) {
      const point = decimalPoint === ',' ? 'a decimal comma' : 'a decimal point'
      return invalid(`is no decimal with ${point} and without separators of thousands`)
    }
    if (!isAmount.test(parsed)) return invalid('has more than 15 digits before the point, or 18 after it')
    if (signs === 'unsigned' && negative) {
      return invalid('has a minus; if debits have one, set "signs" in the mapping to "player" or "platform"')
    }
    const isRight = signs === 'unsigned' || negative === (isDebit(operation) === (signs === 'player'))
    if (parsed !== '0' && !isRight) {
      return invalid(`has the wrong sign for a ${operation}, with the signs of the ${signs}`)
    }
    return parsed
  }
}
