/** The requests of the interface (spec 4) and their parser. The only module that uses zod. */
import { z } from 'zod'
import { isoMinorUnits } from './currencies.js'
import { WalletError } from './errors.js'
import { callHook } from './hooks.js'
import { type Decimal, decimalsOf, isNegative, parseDecimal, wholeDigitsOf } from './money.js'
import type { SettlementType } from './store.js'

/** What every request has. */
export interface RequestIds {
  transactionId: string
  betId: string
  playerId: string
  /** An instant in UTC with milliseconds: `"2026-11-21T10:00:00.000Z"` (D25). */
  transactionDate: string
}

/** A placebet (spec 4.1), parsed. */
export interface PlaceBetRequest extends RequestIds {
  sessionId: string
  /** The stake: at least 0, with at most as many decimals as the currency has minor units (D22). */
  amount: Decimal
  currency: string
  /** Information only; `null` if there are none. */
  odds: Decimal | null
  /** Information only: SINGLE, MULTIPLE, TEASER, or the types of the option `betTypes`. */
  betType: string
}

/** An unsettlement (spec 4.2), parsed. */
export interface UnsettlementRequest extends RequestIds {
  type: 'UNVOIDED' | 'UNSCORED'
}

/** A rollbackbet (spec 4.3), parsed. */
export interface RollbackBetRequest extends RequestIds {
  /** TECHNICAL_ERROR, or the types of the option `rollbackTypes`. */
  type: string
}

/**
 * A settlement (D17), parsed. Also the shape in which the kit, the audit and the simulator pass settlements
 * to your code.
 */
export interface SettlementRequest extends RequestIds {
  type: SettlementType
  /** At least 0; 0 is a lost bet. */
  amount: Decimal
  currency: string
}

export interface Requests {
  placebet: PlaceBetRequest
  unsettlement: UnsettlementRequest
  rollbackbet: RollbackBetRequest
  settlement: SettlementRequest
}

/** Either a request, or its problems as text: `"amount: is missing; playerId: must be a string"`. */
export type ParseResult<T> = { request: T } | { issues: string }

export interface RequestOptions {
  /**
   * Returns how many decimals a currency has, 0 to 18; `undefined` for the default. Amounts with more
   * decimals by value are refused (D22); balances are formatted with this many (D21).
   *
   * @param currency as the platform wrote it, before an account is looked for
   * @default by ISO 4217, and 8 for a code that is not in it
   */
  minorUnits?(currency: string): number | undefined
  /**
   * The valid bet types (D26).
   *
   * @default ['SINGLE', 'MULTIPLE', 'TEASER']
   */
  betTypes?: readonly string[]
  /**
   * The valid types of a rollback (D26).
   *
   * @default ['TECHNICAL_ERROR']
   */
  rollbackTypes?: readonly string[]
  /**
   * Parses a transactionDate in another format: returns it as ISO 8601, or `null` for an invalid one. The
   * default accepts an ISO 8601 date and time with `Z`, an offset or neither (then UTC), a space for the `T`,
   * fractions, cut to the millisecond, `24:00`, and the name of a zone in brackets, which is not read.
   *
   * @default ISO 8601 (D25)
   */
  parseTransactionDate?(value: unknown): string | null
}

/**
 * Parses request bodies. An invalid body never throws.
 *
 * @throws {WalletError} `HOOK_FAILED` if a hook throws
 */
export type RequestParser = { [O in keyof Requests]: (body: unknown) => ParseResult<Requests[O]> }

const minorUnitsMax = 18
/** The maximum number of digits before the point (D22). */
const wholeDigitsMax = 15

/** Flag `u`: counts characters, and Cs matches half a surrogate pair. Cc are the control characters (D24). */
const idText = /^[^\p{Cc}\p{Cs}]{1,255}$/u
const currencyText = /^[A-Za-z0-9._-]{1,16}$/
export const isCurrency = (code: string) => currencyText.test(code)

const missingOr = (what: string) => (issue: { input?: unknown }) =>
  issue.input === undefined ? 'is missing' : `must be ${what}`

const id = z
  .string({ error: missingOr('a string') })
  .regex(idText, 'must be 1 to 255 characters, well-formed and without control characters')

const currency = z
  .string({ error: missingOr('a string') })
  .regex(currencyText, 'must be a currency code: 1 to 16 letters, digits, ".", "_" or "-"')

/** JSON Schema, for what a function checks. */
type Form = Readonly<Record<string, unknown>>

/**
 * A field that `read` parses, or rejects with `null`.
 *
 * @param form what `read` accepts, as far as JSON Schema can say it
 */
function field<T>(what: string, read: (value: unknown) => T | null, form: Form) {
  return z
    .unknown()
    .transform((value, context): T => {
      const result = value === undefined ? null : read(value)
      if (result === null) {
        context.addIssue(missingOr(what)({ input: value }))
        return z.NEVER
      }
      return result
    })
    .meta(form)
}

function readAmount(value: unknown): Decimal | null {
  const amount = parseDecimal(value)
  return amount !== null && !isNegative(amount) && wholeDigitsOf(amount) <= wholeDigitsMax ? amount : null
}

const amount = field(
  `a decimal of at least 0 with at most ${wholeDigitsMax} digits before the point ` +
    '(as a JavaScript number: at most 15 digits in all)',
  readAmount,
  {
    type: ['number', 'string'],
    minimum: 0,
    exclusiveMaximum: 10 ** wholeDigitsMax,
    pattern: '^(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][+-]?[0-9]{1,3})?$',
  },
)

const odds = z
  .unknown()
  .optional()
  .transform((value, context): Decimal | null => {
    if (value === undefined || value === null) return null
    // Information, not money: a JavaScript number is accepted with all of its digits.
    const read = parseDecimal(typeof value === 'number' ? String(value) : value)
    if (read !== null) return read
    context.addIssue('must be a decimal')
    return z.NEVER
  })
  .meta({
    type: ['number', 'string', 'null'],
    pattern: '^-?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][+-]?[0-9]{1,3})?$',
  })

function oneOf<const T extends string>(values: readonly T[]) {
  return z.enum(values as readonly [T, ...T[]], { error: missingOr(`one of ${values.join(', ')}`) })
}

/** The schemas of the requests, apart from the decimals of an amount, which depend on its currency. */
export function requestSchemas(options: RequestOptions = {}) {
  const betTypes = options.betTypes ?? ['SINGLE', 'MULTIPLE', 'TEASER']
  const rollbackTypes = options.rollbackTypes ?? ['TECHNICAL_ERROR']
  const ids = { transactionId: id, betId: id, playerId: id }
  const form = { type: 'string', pattern: dateText.source }
  const transactionDate = field('a valid ISO 8601 date and time', dateParser(options), form)
  return {
    placebet: z.object({
      ...ids,
      sessionId: id,
      amount,
      currency,
      odds,
      betType: oneOf(betTypes),
      transactionDate,
    }),
    unsettlement: z.object({ ...ids, type: oneOf(['UNVOIDED', 'UNSCORED']), transactionDate }),
    rollbackbet: z.object({ ...ids, type: oneOf(rollbackTypes), transactionDate }),
    settlement: z.object({
      ...ids,
      type: oneOf(['BET_PAID', 'VOIDED', 'CASHOUT']),
      amount,
      currency,
      transactionDate,
    }),
  }
}

/** Creates the parser for these options. Create it once: schemas are costly to build. */
export function createRequestParser(options: RequestOptions = {}): RequestParser {
  const schemas = requestSchemas(options)
  const money = z.object({ amount, currency })
  const scaleIssue = (read: z.output<typeof money>): string | null => {
    const decimals = minorUnitsOf(read.currency, options)
    return decimalsOf(read.amount) <= decimals
      ? null
      : `amount: must have at most ${decimals} decimals in this currency`
  }
  const whole = { part: money, issueOf: scaleIssue }
  return {
    placebet: parser(schemas.placebet, whole),
    unsettlement: parser(schemas.unsettlement),
    rollbackbet: parser(schemas.rollbackbet),
    settlement: parser(schemas.settlement, whole),
  }
}

/**
 * @param whole checks several fields together (the amount's decimals and its currency), even if other fields
 *   are invalid: one answer reports every problem
 */
function parser<T extends P, P>(
  schema: z.ZodType<T>,
  whole?: { part: z.ZodType<P>; issueOf(part: P): string | null },
) {
  return (body: unknown): ParseResult<T> => {
    if (typeof body !== 'object' || body === null || Array.isArray(body)) {
      return { issues: 'the body must be a JSON object' }
    }
    const parsed = schema.safeParse(body)
    if (parsed.success) {
      const issue = whole?.issueOf(parsed.data) ?? null
      return issue === null ? { request: parsed.data } : { issues: issue }
    }
    // No field of a request is nested, so a path is one name.
    const issues = parsed.error.issues.map(({ path, message }) => `${String(path[0])}: ${message}`)
    if (whole !== undefined) {
      const part = whole.part.safeParse(body)
      const issue = part.success ? whole.issueOf(part.data) : null
      if (issue !== null) issues.push(issue)
    }
    return { issues: issues.join('; ') }
  }
}

/** The decimals of a currency: by the operator's `minorUnits`, else by ISO 4217. */
export function minorUnitsOf(currencyCode: string, options: RequestOptions): number {
  const units =
    callHook('minorUnits', () => options.minorUnits?.(currencyCode)) ?? isoMinorUnits(currencyCode)
  if (Number.isInteger(units) && units >= 0 && units <= minorUnitsMax) return units
  throw new WalletError(
    'HOOK_FAILED',
    `minorUnits must return a whole number from 0 to ${minorUnitsMax}, or undefined`,
  )
}

function dateParser(options: RequestOptions): (value: unknown) => string | null {
  const parseTransactionDate = options.parseTransactionDate?.bind(options)
  if (parseTransactionDate === undefined) return parseDate
  return value => {
    const text = callHook('parseTransactionDate', () => parseTransactionDate(value))
    if (text === null) return null
    const instant = parseDate(text)
    if (instant !== null) return instant
    throw new WalletError(
      'HOOK_FAILED',
      'parseTransactionDate must return an ISO 8601 date and time, or null',
    )
  }
}

/** The name of a zone behind it, as Java writes one, says nothing that the offset does not say. */
const dateText =
  /^([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt ]([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:[.,]([0-9]+))?)?(?:[Zz]|([+-])([0-9]{2})(?::?([0-9]{2}))?)?(?:\[[A-Za-z0-9_+/:-]{1,64}\])?$/

/** The form that is returned, with a day that every month has: nearly all dates, without a calendar. */
const canonicalDate =
  /^(?!0000)[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]\.[0-9]{3}Z$/

/** Parses a date by D25. A leap second becomes the second after it, and 24:00 the next day. */
export function parseDate(value: unknown): string | null {
  if (typeof value !== 'string') return null
  if (canonicalDate.test(value)) return value
  const parts = dateText.exec(value)
  if (parts === null) return null
  const part = (index: number) => Number(parts[index] ?? 0)
  const [year, month, day] = [part(1), part(2), part(3)]
  const [hour, minute, second] = [part(4), part(5), part(6)]
  const [offsetHours, offsetMinutes] = [part(9), part(10)]
  const isMidnight = hour === 24 && minute === 0 && second === 0 && part(7) === 0
  if ((hour > 23 && !isMidnight) || minute > 59 || second > 60 || offsetHours > 23 || offsetMinutes > 59)
    return null
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  // A day or a month that does not exist leads to another month.
  if (date.getUTCMonth() !== month - 1) return null
  const offset = offsetHours * 60 + offsetMinutes
  const milliseconds = Number((parts[7] ?? '').slice(0, 3).padEnd(3, '0'))
  date.setUTCHours(hour, minute + (parts[8] === '-' ? offset : -offset), second, milliseconds)
  const text = date.toISOString()
  return /^(?!0000)[0-9]{4}-/.test(text) ? text : null // no year 0, and none above 9999
}
