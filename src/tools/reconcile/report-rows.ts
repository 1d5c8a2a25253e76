/** The platform's report as rows that can be compared. */

import { JsonNumber, numberText, type ReadJson } from '../wire/json.js'
import { decimalOf, isNegative } from './amounts.js'
import { type CsvRecord, csvRecords } from './csv.js'
import { isId, type ReportRow } from './entry.js'
import { invalidRow, ReconcileError, shown } from './errors.js'
import { type JsonRecord, jsonRecords } from './json-lines.js'
import { type Field, fields, type Mapping, type Meaning, operationTypes } from './mapping.js'
import { type ReportSource, textChunks } from './text-chunks.js'

/** The platform's report, opened: what it says, and its rows. */
export interface OpenedReport {
  /** Whether any row can have the field. */
  has(field: Field): boolean
  /** Whether any row can have a type: by its column, or by the word for its operation. */
  hasTypes: boolean
  /** Some rows at a time. Rows that the mapping ignores are counted only. */
  rows: AsyncIterable<ReportRow[]>
  ignored(): number
}

/** A row before its values are read: a value per field, in their order; `undefined` where there is none. */
type Values = readonly (ReadJson | undefined)[]

const indexOf = Object.fromEntries(fields.map((field, place) => [field, place])) as Record<Field, number>

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
  file: string | null = null,
): Promise<OpenedReport> {
  const { isJson, chunks } = await sniffed(textChunks(source))
  const opened = isJson ? await openJson(chunks, mapping) : await openCsv(chunks, mapping)
  const has = (field: Field) => mapping.constants.has(field) || opened.has(field)
  let ignored = 0
  async function* rows(): AsyncGenerator<ReportRow[]> {
    const reader = rowReader(mapping, isInRange, has, file)
    for await (const records of opened.records) {
      const batch: ReportRow[] = []
      for (const { line, values } of records) {
        const row = reader(line, values)
        if (row === null) ignored += 1
        else batch.push(row)
      }
      yield batch
    }
  }
  const typedWords = [...mapping.operations.values()].some(each => each !== null && each.type !== null)
  return { has, hasTypes: has('type') || typedWords, rows: rows(), ignored: () => ignored }
}

interface Records {
  has(field: Field): boolean
  records: AsyncIterable<{ line: number; values: Values }[]>
}

/** Whether the first character that is no space is a `{`. */
async function sniffed(
  chunks: AsyncGenerator<string>,
): Promise<{ isJson: boolean; chunks: AsyncIterable<string> }> {
  let start = ''
  let ended = false
  while (start.trim() === '' && !ended) {
    const { done, value } = await chunks.next()
    if (done === true) ended = true
    else start += value
  }
  if (start.trim() === '') throw new ReconcileError('INVALID_REPORT', "The platform's report is empty")
  async function* all(): AsyncGenerator<string> {
    yield start
    yield* chunks
  }
  return { isJson: start.trimStart().startsWith('{'), chunks: all() }
}

/** The first batch that is not empty. */
async function firstOf<T>(batches: AsyncGenerator<T[]>): Promise<T[]> {
  for (;;) {
    const { done, value } = await batches.next()
    if (done === true) return []
    if (value.length > 0) return value
  }
}

async function* after<T>(first: T[], batches: AsyncGenerator<T[]>): AsyncGenerator<T[]> {
  yield first
  yield* batches
}

async function openCsv(chunks: AsyncIterable<string>, mapping: Mapping): Promise<Records> {
  const batches = csvRecords(chunks, mapping.delimiter)
  const [head, ...first] = await firstOf(batches)
  const others = first.length > 0 ? first : await firstOf(batches)
  if (others.length === 0 && head?.cells.some(cell => cell.includes('\r'))) {
    invalidRow(
      1,
      null,
      'its lines are ended by CR alone: the header takes all of the file, and there is no row',
    )
  }
  const header = (head?.cells ?? []).map(cell => cell.trim())
  const indexes = new Map<Field, number>()
  for (const [field, column] of mapping.columns) {
    const index = header.indexOf(column)
    if (index === -1) missingColumn(field, column, mapping, header)
    else if (header.includes(column, index + 1)) invalidRow(1, column, 'the header has this column twice')
    else indexes.set(field, index)
  }
  const at = fields.map(field => indexes.get(field) ?? -1)
  const valuesOf = ({ line, cells }: CsvRecord) => {
    if (cells.length !== header.length) {
      invalidRow(line, null, `it has ${cells.length} values, and the header has ${header.length} columns`)
    }
    return { line, values: at.map(index => cells[index]) }
  }
  async function* records() {
    for await (const batch of after(others, batches)) yield batch.map(valuesOf)
  }
  return { has: field => indexes.has(field), records: records() }
}

async function openJson(chunks: AsyncIterable<string>, mapping: Mapping): Promise<Records> {
  const batches = jsonRecords(chunks)
  const first = await firstOf(batches)
  const keys = [...(first[0]?.fields.keys() ?? [])]
  for (const [field, column] of mapping.columns) {
    if (!keys.includes(column)) missingColumn(field, column, mapping, keys)
  }
  const columns = fields.map(field => mapping.columns.get(field) ?? null)
  const missing = columns.filter((column): column is string => column !== null && !keys.includes(column))
  const valuesOf = ({ line, fields: record }: JsonRecord) => {
    // What the first row lacks is not compared: a status that comes later must not be overlooked.
    const late = missing.find(column => record.has(column))
    if (late !== undefined) invalidRow(line, late, 'the first row has no such key')
    const values = columns.map(column => (column === null ? undefined : record.get(column)))
    return { line, values }
  }
  async function* records() {
    for await (const batch of after(first, batches)) yield batch.map(valuesOf)
  }
  const isKnown = (column: string | undefined) => column !== undefined && keys.includes(column)
  return { has: field => isKnown(mapping.columns.get(field)), records: records() }
}

function missingColumn(field: Field, column: string, mapping: Mapping, found: readonly string[]): void {
  if (!mapping.isRequired(field)) return
  const names = found.map(name => JSON.stringify(name)).join(', ')
  throw new ReconcileError(
    'INVALID_MAPPING',
    `The platform's report has no column ${JSON.stringify(column)} for ${field}. Its columns are ${names}. ` +
      `Name the right one in the mapping: { "columns": { "${field}": "…" } }`,
  )
}

/** Not what a spreadsheet takes for a formula. */
const currencyText = /^[A-Za-z0-9][A-Za-z0-9._-]{0,15}$/

/** @returns reads one row; `null` for a row that the mapping ignores */
function rowReader(
  mapping: Mapping,
  isInRange: (date: string) => boolean,
  has: (field: Field) => boolean,
  file: string | null,
) {
  const read = new ValueReader(mapping)
  const [hasStatuses, hasDates] = [has('status'), has('transactionDate')]
  return (line: number, values: Values): ReportRow | null => {
    const meaning = read.word(line, 'operation', values, mapping.operations)
    if (meaning === null) return null
    // An empty status is a word as any other: platforms write it for what failed, or for what did not.
    const status = hasStatuses ? read.word(line, 'status', values, mapping.statuses) : 'accepted'
    if (status === null) return null
    const { operation } = meaning
    const accepted = status === 'accepted'
    const transactionDate = hasDates ? read.date(line, values) : null
    const amount = accepted ? read.amount(line, operation, values) : null
    const currency = read.currency(line, values)
    if (amount !== null && currency === null) invalidRow(line, read.columnOf('currency'), 'is empty')
    return {
      operation,
      transactionId: read.id(line, 'transactionId', values),
      betId: read.id(line, 'betId', values),
      playerId: read.text(line, 'playerId', values) === '' ? null : read.id(line, 'playerId', values),
      type: read.type(line, values, meaning),
      accepted,
      amount,
      currency,
      day: transactionDate === null ? '' : mapping.dates.dayOf(transactionDate),
      inRange: transactionDate === null || isInRange(transactionDate),
      file,
      line,
      transactionDate,
    }
  }
}

/** Reads single values of a row. Each method throws with the line and the column. */
class ValueReader {
  readonly #mapping: Mapping
  readonly #constants: Values
  readonly #readAmount: ReturnType<typeof amountReader>

  constructor(mapping: Mapping) {
    this.#mapping = mapping
    this.#constants = fields.map(field => mapping.constants.get(field))
    this.#readAmount = amountReader(mapping, field => this.columnOf(field))
  }

  columnOf(field: Field): string {
    return this.#mapping.columns.get(field) ?? field
  }

  #value(field: Field, values: Values): ReadJson | undefined {
    return this.#constants[indexOf[field]] ?? values[indexOf[field]]
  }

  /** Empty where there is none. */
  text(line: number, field: Field, values: Values): string {
    const value = this.#value(field, values)
    if (typeof value === 'string') return value
    if (value === undefined || value === null) return ''
    // Ids that a report writes as whole numbers.
    if (value instanceof JsonNumber && /^-?[0-9]+$/.test(value.text)) return value.text
    return invalidRow(line, this.columnOf(field), `must be text, not ${shown(value)}`)
  }

  id(line: number, field: Field, values: Values): string {
    const value = this.text(line, field, values)
    if (isId(value)) return value
    if (value === '') return invalidRow(line, this.columnOf(field), 'is empty')
    return invalidRow(line, this.columnOf(field), 'must have 1 to 255 characters, and no control characters')
  }

  word<T>(line: number, field: Field, values: Values, words: ReadonlyMap<string, T>): T {
    const value = this.text(line, field, values)
    const found = words.get(value)
    if (found !== undefined) return found
    const problem = `${shown(value)} is none of ${[...words.keys()].join(', ')}; say in the mapping what it is`
    return invalidRow(line, this.columnOf(field), problem)
  }

  date(line: number, values: Values): string {
    const value = this.text(line, 'transactionDate', values)
    const read = value === '' ? { problem: 'is empty' } : this.#mapping.dates.read(value)
    if ('date' in read) return read.date
    return invalidRow(line, this.columnOf('transactionDate'), read.problem)
  }

  /** @param meaning of the operation's word, which may imply a type */
  type(line: number, values: Values, { operation, type: implied }: Meaning): string | null {
    const types = operationTypes(operation)
    const isEmpty = this.text(line, 'type', values) === ''
    if (types === null || (isEmpty && (implied !== null || !this.#mapping.types.has('')))) return implied
    const type = this.word(line, 'type', values, this.#mapping.types)
    if (!types.includes(type)) {
      return invalidRow(
        line,
        this.columnOf('type'),
        `${type} does not fit the operation: ${types.join(', ')}`,
      )
    }
    if (implied === null || implied === type) return type
    const word = shown(this.text(line, 'operation', values))
    const problem = `${type} contradicts the operation ${word}, which is ${operation} ${implied}`
    return invalidRow(line, this.columnOf('type'), problem)
  }

  currency(line: number, values: Values): string | null {
    const value = this.text(line, 'currency', values)
    if (value === '') return null
    if (currencyText.test(value)) return value
    return invalidRow(line, this.columnOf('currency'), `${shown(value)} is no currency code`)
  }

  amount(line: number, operation: ReportRow['operation'], values: Values): string | null {
    return this.#readAmount(line, operation, this.#value('amount', values))
  }
}

/** The digits of the wallet's amounts (D22). */
const isAmount = /^[0-9]{1,15}(?:\.[0-9]{1,18})?$/

/** Whether the operation may have no amount in a report: the interface's calls have none (spec 4.2, 4.3). */
const mayBeEmpty = ['unsettlement', 'rollbackbet']

function amountReader({ decimalPoint, signs }: Mapping, columnOf: (field: Field) => string) {
  const debits = ['placebet', 'unsettlement']
  return (line: number, operation: ReportRow['operation'], value: ReadJson | undefined): string | null => {
    const invalid = (problem: string) => invalidRow(line, columnOf('amount'), problem)
    if (value === undefined || value === null || value === '') {
      return mayBeEmpty.includes(operation) ? null : invalid('is empty')
    }
    const written = numberText(value)
    if (written === null) return invalid(`must be a number or text, not ${shown(value)}`)
    let { text } = written
    if (decimalPoint === ',' && written.quoted) text = text.includes('.') ? '' : text.replace(',', '.')
    const negative = text.startsWith('-')
    const parsed = decimalOf(negative ? text.slice(1) : text)
    if (parsed === null || isNegative(parsed)) {
      const point = decimalPoint === ',' ? 'a decimal comma' : 'a decimal point'
      return invalid(`${shown(value)} is no decimal with ${point} and without separators of thousands`)
    }
    if (!isAmount.test(parsed)) {
      return invalid(`${shown(value)} has more than 15 digits before the point, or 18 after it`)
    }
    if (signs === 'unsigned' && negative) {
      return invalid(
        `${shown(value)} has a minus; if debits have one, set "signs" in the mapping to "player" or "platform"`,
      )
    }
    const isDebit = debits.includes(operation)
    if (signs !== 'unsigned' && parsed !== '0' && negative !== (isDebit === (signs === 'player'))) {
      return invalid(`${shown(value)} has the wrong sign for a ${operation}, with the signs of the ${signs}`)
    }
    return parsed
  }
}
