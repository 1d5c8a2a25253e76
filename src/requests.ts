/** The requests of the interface (spec 4) and how they are read. The one room where zod lives. */
import { z } from 'zod'
import { isoMinorUnits } from './currencies.js'
import { WalletError } from './errors.js'
import { type Decimal, decimalsOf, isNegative, parseDecimal, wholeDigitsOf } from './money.js'
import type { SettlementType } from './store.js'

/** A placebet (spec 4.1) as it was read. */
export interface PlaceBetRequest {
  transactionId: string
  betId: string
  playerId: string
  sessionId: string
  /** The stake: at least 0, with at most as many decimals as the currency has minor units (D22). */
  amount: Decimal
  currency: string
  /** Information only; `null` where there are none. */
  odds: Decimal | null
  /** Information only: SINGLE, MULTIPLE, TEASER, or what the option `betTypes` lists. */
  betType: string
  /** An instant in UTC with milliseconds: `"2026-11-21T10:00:00.000Z"` (D25). So in every request. */
  transactionDate: string
}

/** An unsettlement (spec 4.2) as it was read. */
export interface UnsettlementRequest {
  transactionId: string
  betId: string
  playerId: string
  type: 'UNVOIDED' | 'UNSCORED'
  transactionDate: string
}

/** A rollbackbet (spec 4.3) as it was read. */
export interface RollbackBetRequest {
  transactionId: string
  betId: string
  playerId: string
  /** TECHNICAL_ERROR, or what the option `rollbackTypes` lists. */
  type: string
  transactionDate: string
}

/** A settlement by the operator's own code (D17) as it was read. */
export interface SettlementRequest {
  transactionId: string
  betId: string
  playerId: string
  type: SettlementType
  /** At least 0; 0 is a lost bet. */
  amount: Decimal
  currency: string
  transactionDate: string
}

/** The requests by operation. */
export interface Requests {
  placebet: PlaceBetRequest
  unsettlement: UnsettlementRequest
  rollbackbet: RollbackBetRequest
  settlement: SettlementRequest
}

/** Either a request, or what is wrong with it: `"amount: is missing; playerId: must be a string"`. */
export type ParseResult<T> = { request: T } | { flaws: string }

/** The part of the options that says how requests are read. */
export interface RequestOptions {
  /**
   * Minor units of a currency, 0 to 18; `undefined`: as ISO 4217 says (8 for a code that is not in it).
   * Amounts with more decimals by value are refused (D22), and balances are answered with as many (D21). Gets
   * what the platform wrote, before it is compared with the player's: answer `undefined` for what you do not know.
   */
  minorUnits?(currency: string): number | undefined
  /** Default: SINGLE, MULTIPLE, TEASER (D26). */
  betTypes?: readonly string[]
  /** Default: TECHNICAL_ERROR (D26). */
  rollbackTypes?: readonly string[]
  /**
   * Reads a transactionDate that the platform writes in a way of its own: gives it as ISO 8601, or `null` to
   * refuse it. Instead of the default, which takes ISO 8601 date and time, with `Z`, an offset or neither
   * (then UTC), a space for the `T`, and fractions (D25; kept to the millisecond).
   */
  parseTransactionDate?(value: unknown): string | null
}

/** Reads requests. Never throws for what is in them; {@link WalletError} `HOOK_FAILED` for a hook that throws. */
export type RequestParser = { [O in keyof Requests]: (body: unknown) => ParseResult<Requests[O]> }

const minorUnitsMax = 18
/** D22: the most digits an amount has before its point. */
const wholeDigitsMax = 15

/** `u`, so that characters are counted and half a surrogate pair is seen; Cc are the control characters (D24). */
const idText = /^[^\p{Cc}\p{Cs}]{1,255}$/u
const currencyText = /^[A-Za-z0-9._-]{1,16}$/

const missingOr = (what: string) => (issue: { input?: unknown }) =>
  issue.input === undefined ? 'is missing' : `must be ${what}`

const id = z
  .string({ error: missingOr('a string') })
  .regex(idText, 'must be 1 to 255 characters, well-formed and without control characters')

const currency = z
  .string({ error: missingOr('a string') })
  .regex(currencyText, 'must be a currency code: 1 to 16 letters, digits, ".", "_" or "-"')

/** A field that `read` takes or refuses with `null`. */
function field<T>(what: string, read: (value: unknown) => T | null) {
  return z.unknown().transform((value, context): T => {
    const result = value === undefined ? null : read(value)
    if (result === null) {
      context.issues.push({ code: 'custom', message: missingOr(what)({ input: value }), input: value })
      return z.NEVER
    }
    return result
  })
}

function readAmount(value: unknown): Decimal | null {
  const amount = parseDecimal(value)
  return amount !== null && !isNegative(amount) && wholeDigitsOf(amount) <= wholeDigitsMax ? amount : null
}

const amount = field(
  `a decimal of at least 0 with at most ${wholeDigitsMax} digits before the point ` +
    '(as a JavaScript number: at most 15 digits in all)',
  readAmount,
)

const odds = z
  .unknown()
  .optional()
  .transform((value, context): Decimal | null => {
    if (value === undefined || value === null) return null
    // Information, not money: a number of JavaScript's is taken with as many digits as it has.
    const read = parseDecimal(typeof value === 'number' ? String(value) : value)
    if (read !== null) return read
    context.issues.push({ code: 'custom', message: 'must be a decimal', input: value })
    return z.NEVER
  })

function oneOf<const T extends string>(values: readonly T[]) {
  return z.enum(values as readonly [T, ...T[]], { error: missingOr(`one of ${values.join(', ')}`) })
}

/** Makes the reader for these options: once, since schemas are costly to build. */
export function createRequestParser(options: RequestOptions = {}): RequestParser {
  const betTypes = options.betTypes ?? ['SINGLE', 'MULTIPLE', 'TEASER']
  const rollbackTypes = options.rollbackTypes ?? ['TECHNICAL_ERROR']
  const ids = { transactionId: id, betId: id, playerId: id }
  const transactionDate = field('an ISO 8601 date and time that exists', dateReader(options))

  const money = z.object({ amount, currency })
  const flawOfScale = (read: z.output<typeof money>): string | null => {
    const decimals = minorUnitsOf(read.currency, options)
    return decimalsOf(read.amount) <= decimals
      ? null
      : `amount: must have at most ${decimals} decimals in this currency`
  }

  return {
    placebet: reader(
      z.object({ ...ids, sessionId: id, amount, currency, odds, betType: oneOf(betTypes), transactionDate }),
      { part: money, flawOf: flawOfScale },
    ),
    unsettlement: reader(z.object({ ...ids, type: oneOf(['UNVOIDED', 'UNSCORED']), transactionDate })),
    rollbackbet: reader(z.object({ ...ids, type: oneOf(rollbackTypes), transactionDate })),
    settlement: reader(
      z.object({
        ...ids,
        type: oneOf(['BET_PAID', 'VOIDED', 'CASHOUT']),
        amount,
        currency,
        transactionDate,
      }),
      { part: money, flawOf: flawOfScale },
    ),
  }
}

/**
 * `whole` looks for a flaw that no single field has (the amount's decimals against its currency): also beside
 * flaws of other fields, so that all are told at once.
 */
function reader<T extends P, P>(
  schema: z.ZodType<T>,
  whole?: { part: z.ZodType<P>; flawOf(part: P): string | null },
) {
  return (body: unknown): ParseResult<T> => {
    if (typeof body !== 'object' || body === null || Array.isArray(body)) {
      return { flaws: 'the body must be a JSON object' }
    }
    const read = schema.safeParse(body)
    if (read.success) {
      const flaw = whole?.flawOf(read.data) ?? null
      return flaw === null ? { request: read.data } : { flaws: flaw }
    }
    const flaws = read.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`)
    const part = whole?.part.safeParse(body)
    const flaw = part?.success ? (whole?.flawOf(part.data) ?? null) : null
    return { flaws: (flaw === null ? flaws : [...flaws, flaw]).join('; ') }
  }
}

/** How many decimals a currency has here: the operator's word, else the table's. */
export function minorUnitsOf(currencyCode: string, options: RequestOptions): number {
  const units =
    callHook('minorUnits', () => options.minorUnits?.(currencyCode)) ?? isoMinorUnits(currencyCode)
  if (Number.isInteger(units) && units >= 0 && units <= minorUnitsMax) return units
  throw new WalletError(
    'HOOK_FAILED',
    `minorUnits must give a whole number of 0 to ${minorUnitsMax}, or undefined`,
  )
}

function dateReader(options: RequestOptions): (value: unknown) => string | null {
  const parseTransactionDate = options.parseTransactionDate?.bind(options)
  if (parseTransactionDate === undefined) return readDate
  return value => {
    const text = callHook('parseTransactionDate', () => parseTransactionDate(value))
    if (text === null) return null
    const instant = readDate(text)
    if (instant !== null) return instant
    throw new WalletError('HOOK_FAILED', 'parseTransactionDate must give an ISO 8601 date and time, or null')
  }
}

function callHook<T>(name: string, call: () => T): T {
  try {
    return call()
  } catch (cause) {
    throw new WalletError('HOOK_FAILED', `${name} threw`, { cause })
  }
}

const dateText =
  /^([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt ]([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:[.,]([0-9]{1,9}))?)?(?:[Zz]|([+-])([0-9]{2})(?::?([0-9]{2}))?)?$/

/** Whether it is written already as it is kept. Most are, and need not be taken apart. */
function isInstant(value: string): boolean {
  if (value.length !== 24 || value.startsWith('0000')) return false
  const date = new Date(value)
  return !Number.isNaN(date.getTime()) && date.toISOString() === value
}

/** D25. A leap second is taken as the second after it. */
function readDate(value: unknown): string | null {
  if (typeof value !== 'string' || value.length > 40) return null
  if (isInstant(value)) return value
  const parts = dateText.exec(value)
  if (parts === null) return null
  const part = (index: number) => Number(parts[index] ?? 0)
  const [year, month, day, hour, minute, second] = [1, 2, 3, 4, 5, 6].map(part) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ]
  const [offsetHours, offsetMinutes] = [part(9), part(10)]
  if (hour > 23 || minute > 59 || second > 60 || offsetHours > 23 || offsetMinutes > 59) return null
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  if (date.getUTCFullYear() !== year || date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day)
    return null
  const offset = (offsetHours * 60 + offsetMinutes) * (parts[8] === '-' ? -1 : 1)
  const milliseconds = Number((parts[7] ?? '').slice(0, 3).padEnd(3, '0'))
  date.setUTCHours(hour, minute - offset, second, milliseconds)
  const text = date.toISOString()
  return /^(?!0000)[0-9]{4}-/.test(text) ? text : null // no year 0, and none above 9999
}
