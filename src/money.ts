/**
 * Decimal text and its exact arithmetic: text in, text out, never a float (D21). The only module that uses
 * big.js.
 */
import Big from 'big.js'

/**
 * An exact decimal as text: `"100.50"`, `"0"`, `"-3.1"`. An optional minus, digits without leading
 * zeros, an optional point with at least one digit behind it; at most 40 digits in all; no exponent, no
 * plus sign, never `"-0"`. Trailing zeros are not significant: `"10"` and `"10.00"` are the same amount.
 */
export type Decimal = string

/** Also written in `decimalText`. */
const digitsMax = 40
/** Longer text is rejected before it is parsed: every valid amount is shorter. */
const textLengthMax = 100
/** A decimal of at most 15 digits passes through a JavaScript number unchanged. */
const numberDigitsMax = 15

/** After the sign: at most 40 digits, not only zeros if there is a minus. Then their form. */
const decimalText = /^(?:-(?=[0.]*[1-9]))?(?=(?:[0-9]\.?){1,40}$)(?:0|[1-9][0-9]*)(?:\.[0-9]+)?$/
const numberText = /^(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?([eE][+-]?[0-9]{1,3})?$/
/** The form of nearly every amount: short, not negative, no exponent, no trailing zero. */
const shortDecimalText = /^(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{0,14}[1-9])?$/

/** Whether the value is decimal text as {@link Decimal} describes it. */
export function isDecimal(value: unknown): value is Decimal {
  return typeof value === 'string' && decimalText.test(value)
}

const brand = Symbol.for('bet-wallet.JsonNumber')

/**
 * A number of JSON text with all of its digits: one that was received and that a JavaScript number cannot
 * hold exactly, or one to send. `String(number)` returns its text, as does `number.text`.
 */
export class JsonNumber {
  readonly text: string
  /** @param text as in JSON: `"100.00"` */
  constructor(text: string) {
    this.text = text
    Object.defineProperty(this, brand, { value: true })
  }
  toString(): string {
    return this.text
  }
  toJSON(): string {
    return this.text
  }
}

/** By brand and not by class: the package may be loaded twice, as ESM and as CommonJS. */
export function isJsonNumber(value: unknown): value is JsonNumber {
  return typeof value === 'object' && value !== null && Reflect.get(value, brand) === true
}

/**
 * Parses a decimal exactly, or not at all (D21).
 *
 * @param value decimal text (a small exponent is allowed), a {@link JsonNumber}, or a JavaScript number of at
 *   most 15 significant digits
 * @returns the decimal without exponent and without trailing zeros; `null` for any other value
 */
export function parseDecimal(value: unknown): Decimal | null {
  const text = typeof value === 'number' ? textOfNumber(value) : isJsonNumber(value) ? value.text : value
  if (typeof text !== 'string' || text.length > textLengthMax) return null
  if (shortDecimalText.test(text)) return text
  const parts = numberText.exec(text)
  if (parts === null) return null
  const [, sign, whole, fraction = '', exponent] = parts
  if (sign === '-' && isZero(`${whole}${fraction}`)) return null
  const digits =
    exponent === undefined
      ? withoutTrailingZeros(`${sign}${whole}`, fraction)
      : Math.abs(Number(exponent.slice(1))) > digitsMax
        ? null
        : new Big(text).toFixed()
  return isDecimal(digits) ? digits : null
}

function textOfNumber(value: number): string | null {
  if (!Number.isFinite(value) || Object.is(value, -0)) return null
  const text = String(value)
  if (text.length <= numberDigitsMax) return text
  const mantissa = text.replace(/e.*/, '').replace(/[-.]/g, '')
  const significant = mantissa.replace(/^0+/, '').replace(/(?<!0)0+$/, '')
  return significant.length <= numberDigitsMax ? text : null
}

function withoutTrailingZeros(whole: string, fraction: string): string {
  const end = lengthWithoutZeros(fraction)
  return end === 0 ? whole : `${whole}.${fraction.slice(0, end)}`
}

function lengthWithoutZeros(digits: string): number {
  let end = digits.length
  while (digits.charCodeAt(end - 1) === 48) end -= 1 // before the first digit: NaN
  return end
}

function textOf(value: Big): Decimal {
  const text = value.toFixed()
  if (isDecimal(text)) return text
  throw new RangeError(`the sum has more than ${digitsMax} digits`)
}

/** @throws {RangeError} for a result of more than 40 digits; `subtract` likewise */
export function add(a: Decimal, b: Decimal): Decimal {
  return sum(a, 1, b)
}

export function subtract(a: Decimal, b: Decimal): Decimal {
  return sum(a, -1, b)
}

export function negate(value: Decimal): Decimal {
  if (isZero(value)) return '0'
  return isNegative(value) ? format(value.slice(1), 0) : `-${format(value, 0)}`
}

/** -1, 0 or 1, as `a` is less than, equal to or greater than `b` by value. */
export function compare(a: Decimal, b: Decimal): -1 | 0 | 1 {
  if (a === b) return 0
  const decimals = Math.max(writtenDecimalsOf(a), writtenDecimalsOf(b))
  const units = unitsOf(a, decimals) - unitsOf(b, decimals)
  return Number.isSafeInteger(units) ? (Math.sign(units) as -1 | 0 | 1) : new Big(a).cmp(b)
}

function sum(a: Decimal, sign: 1 | -1, b: Decimal): Decimal {
  const decimals = Math.max(writtenDecimalsOf(a), writtenDecimalsOf(b))
  const units = unitsOf(a, decimals) + sign * unitsOf(b, decimals)
  if (Number.isSafeInteger(units)) return textOfUnits(units, decimals)
  return textOf(sign === 1 ? new Big(a).plus(b) : new Big(a).minus(b))
}

/**
 * The decimal as a whole number of units of 10^-`decimals`, exact: cents for 2. NaN if it has more than 15
 * digits there; then big.js does the arithmetic, which is slower.
 *
 * @param decimals at least those of the text
 */
function unitsOf(value: Decimal, decimals: number): number {
  const missing = decimals - writtenDecimalsOf(value)
  if (value.length + missing > numberDigitsMax) return Number.NaN
  return Number(value.replace('.', '')) * 10 ** missing
}

function textOfUnits(units: number, decimals: number): Decimal {
  if (decimals === 0) return String(units)
  const digits = String(Math.abs(units)).padStart(decimals + 1, '0')
  const point = digits.length - decimals
  return withoutTrailingZeros((units < 0 ? '-' : '') + digits.slice(0, point), digits.slice(point))
}

/** The number of decimals in the text: `"10.500"` has 3. */
function writtenDecimalsOf(value: Decimal): number {
  const point = value.indexOf('.')
  return point === -1 ? 0 : value.length - point - 1
}

export function isZero(value: Decimal): boolean {
  return !/[1-9]/.test(value)
}

export function isNegative(value: Decimal): boolean {
  return value.charCodeAt(0) === 45
}

/** The number of decimals by value: `"10.500"` has 1. */
export function decimalsOf(value: Decimal): number {
  return lengthWithoutZeros(value.slice(value.length - writtenDecimalsOf(value)))
}

/** The number of digits before the point. */
export function wholeDigitsOf(value: Decimal): number {
  const point = value.indexOf('.')
  return (point === -1 ? value.length : point) - (isNegative(value) ? 1 : 0)
}

/**
 * Formats with at least `decimals` decimals, and with further ones up to the last non-zero digit: `"100.00"`,
 * `"100.005"` (D21).
 */
export function format(value: Decimal, decimals: number): string {
  const written = writtenDecimalsOf(value)
  if (written === decimals) return value
  const whole = written === 0 ? value : value.slice(0, -written - 1)
  const fraction = written === 0 ? '' : value.slice(-written)
  const digits = fraction.slice(0, lengthWithoutZeros(fraction)).padEnd(decimals, '0')
  return digits === '' ? whole : `${whole}.${digits}`
}
