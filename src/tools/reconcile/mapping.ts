/** Where the platform's report has what: its columns, and its words for operations, types and statuses. */
import { fieldOf } from '../../foreign-values.js'
import { type OptionChecks, optionChecks } from '../../option-checks.js'
import type { Operation } from '../../store.js'
import { type DateMapping, datesOf } from './dates.js'
import { operationOrder } from './entry.js'
import { ReconcileError, shown } from './errors.js'

/** The values of a row of the platform's report. */
export const fields = [
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
export type Field = (typeof fields)[number]

const requiredFields: readonly Field[] = ['operation', 'transactionId', 'betId', 'amount', 'currency']

/** How the platform's report is written. Every part may be left out. */
export interface ReportMapping {
  /**
   * The column of each value (the key, in JSON lines), or `{ value }` for one value in all rows.
   * `playerId`, `type`, `status` and `transactionDate` may be missing: without them players, settlement
   * types, refusals there and days are not compared.
   *
   * @default each value in the column of its own name
   */
  columns?: { [field in Field]?: string | { value: string } }
  /**
   * The platform's word → the operation, with a type if the word implies one; `null`: rows of this word are
   * not the wallet's. `{ BET: 'placebet', WIN: 'settlement BET_PAID' }`
   *
   * @default `placebet`, `settlement`, `unsettlement` and `rollbackbet` are known
   */
  operations?: Record<string, string | null>
  /**
   * The platform's word → BET_PAID, VOIDED or CASHOUT; UNSCORED or UNVOIDED.
   *
   * @default these are known
   */
  types?: Record<string, string>
  /**
   * The platform's word → whether it counts the row: `'accepted'`, `'refused'`, or `null` for rows that are
   * ignored. Without the column, every row counts.
   *
   * @default `accepted` and `refused` are known
   */
  statuses?: Record<string, 'accepted' | 'refused' | null>
  /**
   * The delimiter of CSV, one character.
   *
   * @default of `,` `;` tab and `|`, the one that the header has most often
   */
  delimiter?: string
  /**
   * The decimal point of amounts: `.` or `,`.
   *
   * @default '.'
   */
  decimalPoint?: '.' | ','
  /**
   * Which amounts have a minus: none (`unsigned`), debits of the player (`player`) or credits (`platform`).
   *
   * @default 'unsigned'
   */
  signs?: 'unsigned' | 'player' | 'platform'
  /**
   * The time zone of dates without an offset from UTC, and the format of dates that are not ISO 8601:
   * `{ timeZone, format }`.
   *
   * @default ISO 8601 with an offset; days in UTC
   */
  dates?: DateMapping
}

/** What a word for an operation means. */
export interface Meaning {
  operation: Operation
  /** The type that the word implies; `null`: none. */
  type: string | null
}

export type Mapping = ReturnType<typeof mappingOf>

const typesOf: { [operation in Operation]?: readonly string[] } = {
  settlement: ['BET_PAID', 'VOIDED', 'CASHOUT'],
  unsettlement: ['UNSCORED', 'UNVOIDED'],
}
const allTypes = Object.values(typesOf).flat()

/** The types that this operation has; `null`: its type is not compared. */
export const operationTypes = (operation: Operation) => typesOf[operation] ?? null

const check: OptionChecks = optionChecks(message => {
  throw new ReconcileError('INVALID_MAPPING', message)
}, 'The mapping is invalid')

const parts = 'columns operations types statuses delimiter decimalPoint signs dates'.split(' ')

/** @throws {ReconcileError} `INVALID_MAPPING`, naming the part */
export function mappingOf(given: ReportMapping = {}) {
  check.names(given, parts)
  const { columns = {}, delimiter, decimalPoint = '.', signs = 'unsigned' } = given
  check.names(columns, fields, 'columns.')
  if (given.dates !== undefined) check.names(given.dates, ['timeZone', 'format'], 'dates.')
  if (delimiter !== undefined && (typeof delimiter !== 'string' || !/^[^"\r\n]$/.test(delimiter))) {
    check.invalid('delimiter must be one character, no quote and no line end')
  }
  const named = new Map<Field, string>()
  const constants: Partial<Record<Field, string>> = {}
  for (const field of fields) {
    const column: unknown = columns[field] ?? field
    const value = fieldOf(column, 'value')
    if (typeof column === 'string' && column !== '') named.set(field, column)
    else if (typeof value === 'string' && value !== '') constants[field] = value
    else check.invalid(`columns.${field} must be the name of a column, or { "value": "…" }`)
  }
  return {
    columns: named as ReadonlyMap<Field, string>,
    /** The values for all rows. */
    constants,
    /** Columns that the mapping names must exist, as the required ones must. */
    isRequired: (field: Field) => requiredFields.includes(field) || typeof columns[field] === 'string',
    operations: wordsOf('operations', given.operations, operationOrder, meaningOf),
    types: wordsOf('types', given.types, allTypes, (part, to) => check.oneOf(part, to, allTypes)),
    statuses: wordsOf('statuses', given.statuses, ['accepted', 'refused'], (part, to) =>
      to === null ? null : check.oneOf(part, to, ['accepted', 'refused']),
    ),
    delimiter,
    decimalPoint: check.oneOf('decimalPoint', decimalPoint, ['.', ',']),
    signs: check.oneOf('signs', signs, ['unsigned', 'player', 'platform']),
    dates: datesOf(given.dates, check.invalid),
  }
}

/** Maps words of the report to ours: known words to themselves, others as the mapping says. */
function wordsOf<T>(
  part: string,
  given: object | undefined,
  known: readonly string[],
  meaningOf: (part: string, to: unknown) => T,
): ReadonlyMap<string, T> {
  if (given !== undefined) check.names(given, Object.keys(Object(given)), `${part}.`)
  const words = [...known.map(word => [word, word]), ...Object.entries(given ?? {})]
  return new Map(words.map(([word, to]) => [word, meaningOf(`${part}.${word}`, to)]))
}

function meaningOf(part: string, to: unknown): Meaning | null {
  if (to === null) return null
  const [name = '', type = null, ...more] = typeof to === 'string' ? to.split(' ') : []
  const operation = check.oneOf(part, name, operationOrder)
  const types = operationTypes(operation) ?? []
  if (more.length > 0 || (type !== null && !types.includes(type))) {
    const meanings = [operation, ...types.map(each => `${operation} ${each}`)]
    check.invalid(`${part}: ${shown(to)} must be ${meanings.join(', ')}`)
  }
  return { operation, type }
}
