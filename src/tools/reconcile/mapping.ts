/** Where the platform's report has what: its columns, and its words for operations, types and statuses. */
import { type OptionChecks, optionChecks } from '../../option-checks.js'
import type { Operation } from '../../store.js'
import { type DateMapping, type Dates, datesOf } from './dates.js'
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

export interface Mapping {
  columns: ReadonlyMap<Field, string>
  constants: ReadonlyMap<Field, string>
  /** Columns that the mapping names must exist, as the required ones must. */
  isRequired(field: Field): boolean
  operations: ReadonlyMap<string, Meaning | null>
  types: ReadonlyMap<string, string>
  statuses: ReadonlyMap<string, 'accepted' | 'refused' | null>
  delimiter: string | undefined
  decimalPoint: '.' | ','
  signs: 'unsigned' | 'player' | 'platform'
  dates: Dates
}

const operationNames: readonly Operation[] = ['placebet', 'settlement', 'unsettlement', 'rollbackbet']
const typesOf: { [operation in Operation]?: readonly string[] } = {
  settlement: ['BET_PAID', 'VOIDED', 'CASHOUT'],
  unsettlement: ['UNSCORED', 'UNVOIDED'],
}
const allTypes = Object.values(typesOf).flat()

const check: OptionChecks = optionChecks(message => {
  throw new ReconcileError('INVALID_MAPPING', message)
}, 'The mapping is invalid')

/** @throws {ReconcileError} `INVALID_MAPPING`, naming the part */
export function mappingOf(given: ReportMapping = {}): Mapping {
  check.names(given, [
    'columns',
    'operations',
    'types',
    'statuses',
    'delimiter',
    'decimalPoint',
    'signs',
    'dates',
  ])
  const { columns = {}, delimiter, decimalPoint = '.', signs = 'unsigned' } = given
  check.names(columns, fields, 'columns.')
  if (given.dates !== undefined) check.names(given.dates, ['timeZone', 'format'], 'dates.')
  if (delimiter !== undefined && (typeof delimiter !== 'string' || !/^[^"\r\n]$/.test(delimiter))) {
    check.invalid('delimiter must be one character, no quote and no line end')
  }
  check.oneOf('decimalPoint', decimalPoint, ['.', ','])
  check.oneOf('signs', signs, ['unsigned', 'player', 'platform'])
  const named = new Map<Field, string>()
  const constants = new Map<Field, string>()
  for (const field of fields) {
    const column: unknown = columns[field] ?? field
    if (typeof column === 'string' && column !== '') named.set(field, column)
    else constants.set(field, constantOf(field, column))
  }
  return {
    columns: named,
    constants,
    isRequired: field => requiredFields.includes(field) || typeof columns[field] === 'string',
    operations: new Map([
      ...operationNames.map(name => [name, { operation: name, type: null }] as const),
      ...entriesOf('operations', given.operations).map(
        ([word, to]) => [word, operationOf(word, to)] as const,
      ),
    ]),
    types: new Map([
      ...allTypes.map(name => [name, name] as const),
      ...entriesOf('types', given.types).map(
        ([word, to]) => [word, check.oneOf(`types.${word}`, to, allTypes)] as const,
      ),
    ]),
    statuses: new Map([
      ...(['accepted', 'refused'] as const).map(name => [name, name] as const),
      ...entriesOf('statuses', given.statuses).map(
        ([word, to]) =>
          [word, to === null ? null : check.oneOf(`statuses.${word}`, to, ['accepted', 'refused'])] as const,
      ),
    ]),
    delimiter,
    decimalPoint,
    signs,
    dates: datesOf(given.dates, check.invalid),
  }
}

function constantOf(field: Field, column: unknown): string {
  const value =
    typeof column === 'object' && column !== null ? (column as { value?: unknown }).value : undefined
  if (typeof value === 'string' && value !== '') return value
  return check.invalid(`columns.${field} must be the name of a column, or { "value": "…" }`)
}

function operationOf(word: string, to: unknown): Meaning | null {
  if (to === null) return null
  const [name = '', type = null, ...more] = typeof to === 'string' ? to.split(' ') : []
  const operation = check.oneOf(`operations.${word}`, name, operationNames)
  if (more.length > 0 || (type !== null && !typesOf[operation]?.includes(type))) {
    const types = typesOf[operation] ?? []
    check.invalid(
      `operations.${word}: ${shown(to)} must be ${operation}${types.map(each => `, ${operation} ${each}`).join('')}`,
    )
  }
  return { operation, type }
}

/** The types that this operation has; `null`: its type is not compared. */
export function operationTypes(operation: Operation): readonly string[] | null {
  return typesOf[operation] ?? null
}

function entriesOf<T>(part: string, value: Record<string, T> | undefined): [string, T][] {
  if (value === undefined) return []
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    check.invalid(`${part} must be an object`)
  return Object.entries(value)
}
