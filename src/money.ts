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

const digitsMax = 40
/** Longer text is rejected before it is parsed: every valid amount is shorter. */
const textLengthMax = 100
/** A decimal of at most 15 digits passes through a JavaScript number unchanged. */
const numberDigitsMax = 15

const decimalText = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?$/
const negativeZero = /^-[0.]+$/
const numberText = /^(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?([eE][+-]?[0-9]{1,3})?$/

/** Whether the value is decimal text as {@link Decimal} describes it. */
export function isDecimal(value: unknown): value is Decimal {
  if (typeof value !== 'string' || value.length > digitsMax + 2 || !decimalText.test(value)) return false
  if (value.charCodeAt(0) === 45 && negativeZero.test(value)) return false
  return value.length <= digitsMax || value.replace(/[-.]/g, '').length <= digitsMax
}

const brand = Symbol.for('bet-wallet.JsonNumber')

/**
 * A number in JSON text that a JavaScript number cannot hold exactly, with its original text.
 * `String(number)` returns that text.
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

/** By brand and not by class: the package may be loaded twice, as ESM and as CommonJS. */
function isJsonNumber(value: unknown): value is JsonNumber {
  return typeof value === 'object' && value !== null && brand in value
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
  const parts = numberText.exec(text)
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
    throw new RangeError(`the sum has more than ${digitsMax} digits`)
  return text
}

/** @throws {RangeError} for a result of more than 40 digits; `subtract` and `negate` likewise */
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

/** The number of decimals by value: `"10.500"` has 1. */
export function decimalsOf(value: Decimal): number {
  const [, fraction = ''] = value.split('.')
  return fraction.replace(/0+$/, '').length
}

/** The number of digits before the point. */
export function wholeDigitsOf(value: Decimal): number {
  const whole = value.split('.')[0] ?? ''
  return isNegative(value) ? whole.length - 1 : whole.length
}

/**
 * Formats with at least `decimals` decimals, and with further ones up to the last non-zero digit: `"100.00"`,
 * `"100.005"` (D21).
 */
export function format(value: Decimal, decimals: number): string {
  const [whole = '0', fraction = ''] = value.split('.')
  const digits = fraction.replace(/0+$/, '').padEnd(decimals, '0')
  return digits === '' ? whole : `${whole}.${digits}`
}
