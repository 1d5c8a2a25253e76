/**
 * Decimal text and its arithmetic. Money enters as text, is counted exactly, and leaves as text (D21).
 * The one room where big.js lives.
 */
import Big from 'big.js'

/**
 * An exact decimal as text: `"100.50"`, `"0"`, `"-3.1"`. An optional minus, digits without leading
 * zeros, an optional point with at least one digit behind it; at most 40 digits in all; no exponent, no
 * plus sign, never `"-0"`. Trailing zeros carry no meaning: `"10"` and `"10.00"` are the same amount.
 */
export type Decimal = string

const digitsMax = 40
/** Longer text is not looked at: what is worth reading fits, and an attacker's megabyte costs nothing. */
const textLengthMax = 100
/** Up to here every decimal survives the way through a JavaScript number unharmed. */
const numberDigitsMax = 15

const decimalText = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?$/
const negativeZero = /^-[0.]+$/
const writtenNumber = /^(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?([eE][+-]?[0-9]{1,3})?$/

/** Whether the value is decimal text as {@link Decimal} describes it. */
export function isDecimal(value: unknown): value is Decimal {
  if (typeof value !== 'string' || value.length > digitsMax + 2 || !decimalText.test(value)) return false
  if (value.charCodeAt(0) === 45 && negativeZero.test(value)) return false
  return value.length <= digitsMax || value.replace(/[-.]/g, '').length <= digitsMax
}

const brand = Symbol.for('bet-wallet.JsonNumber')

/**
 * A number of a JSON text that a JavaScript number cannot hold exactly, kept as it was written.
 * `String(number)` is its text.
 */
export class JsonNumber {
  readonly text: string
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

/** By brand and not by class, so that the CommonJS and the ESM copy of this package understand each other. */
function isJsonNumber(value: unknown): value is JsonNumber {
  return typeof value === 'object' && value !== null && brand in value
}

/**
 * Reads a decimal exactly as it was written, or refuses it (D21).
 *
 * Takes decimal text (a small exponent is allowed), a {@link JsonNumber}, or a JavaScript number of at most
 * 15 significant digits. Gives it without exponent and without trailing zeros; `null` where it is none.
 */
export function parseDecimal(value: unknown): Decimal | null {
  const text = typeof value === 'number' ? textOfNumber(value) : isJsonNumber(value) ? value.text : value
  if (typeof text !== 'string' || text.length > textLengthMax) return null
  const parts = writtenNumber.exec(text)
  if (parts === null) return null
  const [, sign, whole, fraction = '', exponent] = parts
  if (negativeZero.test(`${sign}${whole}${fraction}`)) return null
  const digits =
    exponent === undefined
      ? withoutTrailingZeros(`${sign}${whole}`, fraction)
      : Math.abs(Number(exponent.slice(1))) > digitsMax
        ? null
        : new Big(text).toFixed()
  return digits !== null && isDecimal(digits) ? digits : null
}

function textOfNumber(value: number): string | null {
  if (!Number.isFinite(value) || Object.is(value, -0)) return null
  const text = String(value)
  const mantissa = text.replace(/e.*$/, '').replace(/[-.]/g, '')
  const significant = mantissa.replace(/^0+/, '').replace(/0+$/, '')
  return significant.length <= numberDigitsMax ? text : null
}

function withoutTrailingZeros(whole: string, fraction: string): string {
  let end = fraction.length
  while (end > 0 && fraction.charCodeAt(end - 1) === 48) end -= 1
  return end === 0 ? whole : `${whole}.${fraction.slice(0, end)}`
}

function textOf(value: Big): Decimal {
  const text = value.toFixed()
  if (isZero(text)) return '0'
  if (text.length > digitsMax && !isDecimal(text))
    throw new RangeError(`a sum of more than ${digitsMax} digits`)
  return text
}

/** @throws {RangeError} for a sum of more than 40 digits, as the next two */
export function add(a: Decimal, b: Decimal): Decimal {
  return textOf(new Big(a).plus(b))
}

export function subtract(a: Decimal, b: Decimal): Decimal {
  return textOf(new Big(a).minus(b))
}

export function negate(value: Decimal): Decimal {
  return textOf(new Big(value).times(-1))
}

/** -1, 0 or 1, as `a` is less than, equal to or greater than `b` by value. */
export function compare(a: Decimal, b: Decimal): -1 | 0 | 1 {
  return new Big(a).cmp(b)
}

export function isZero(value: Decimal): boolean {
  return !/[1-9]/.test(value)
}

export function isNegative(value: Decimal): boolean {
  return value.charCodeAt(0) === 45
}

/** How many decimals it has by value: `"10.500"` has 1. */
export function decimalsOf(value: Decimal): number {
  const [, fraction = ''] = value.split('.')
  return fraction.replace(/0+$/, '').length
}

/** How many digits stand before the point. */
export function wholeDigitsOf(value: Decimal): number {
  const whole = value.split('.')[0] ?? ''
  return isNegative(value) ? whole.length - 1 : whole.length
}

/** With at least `decimals` decimals, and then only non-zero further digits: `"100.00"`, `"100.005"` (D21). */
export function format(value: Decimal, decimals: number): string {
  const [whole = '0', fraction = ''] = value.split('.')
  const digits = fraction.replace(/0+$/, '').padEnd(decimals, '0')
  return digits === '' ? whole : `${whole}.${digits}`
}
