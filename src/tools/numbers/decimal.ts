/**
 * Exact decimals of the audit and the simulator. They judge a wallet's arithmetic and therefore share no code
 * with the library. Two forms: {@link Decimal} for amounts of any scale, and `bigint` units at a fixed scale
 * for sums that must be fast.
 */

/** `units / 10 ** scale`, with the smallest possible scale: 10.50 is `{ units: 105n, scale: 1 }`. */
export interface Decimal {
  readonly units: bigint
  readonly scale: number
}

/** A decimal as text, for reports and options: `"100.50"`, `"-3.1"`, `"0"`. */
export type DecimalText = string

export const zero: Decimal = { units: 0n, scale: 0 }

const exponentMax = 400

/** Reads the text of a JSON number: `"100.50"`, `"1e2"`. `null` for other text or more than 400 digits. */
export function parseDecimal(text: string): Decimal | null {
  const parts = /^(-?)(0|[1-9][0-9]{0,399})(?:\.([0-9]{1,400}))?(?:[eE]([+-]?[0-9]{1,4}))?$/.exec(text)
  if (parts === null) return null
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = parts
  if (Math.abs(Number(exponent)) > exponentMax) return null
  const units = BigInt(`${sign}${whole}${fraction}`)
  const scale = fraction.length - Number(exponent)
  return fromUnits(scale < 0 ? units * 10n ** BigInt(-scale) : units, Math.max(scale, 0))
}

/** 250 units at scale 2 are 2.50. */
export function fromUnits(units: number | bigint, scale: number): Decimal {
  let [rest, digits] = [BigInt(units), scale]
  while (digits > 0 && rest % 10n === 0n) [rest, digits] = [rest / 10n, digits - 1]
  return { units: rest, scale: digits }
}

/** 2.50 at scale 2 is 250 units; `null` where the value has more decimals than that. */
export function toUnits(value: Decimal, scale: number): bigint | null {
  return value.scale > scale ? null : value.units * 10n ** BigInt(scale - value.scale)
}

/** As {@link toUnits}, but truncated: 2.509 at scale 2 is 250 units. */
export function wholeUnits(value: Decimal, scale: number): bigint {
  const [units, one] = aligned(value, { units: 1n, scale })
  return units / one
}

function aligned(a: Decimal, b: Decimal): [bigint, bigint, number] {
  const scale = Math.max(a.scale, b.scale)
  return [a.units * 10n ** BigInt(scale - a.scale), b.units * 10n ** BigInt(scale - b.scale), scale]
}

export function add(a: Decimal, b: Decimal): Decimal {
  const [x, y, scale] = aligned(a, b)
  return fromUnits(x + y, scale)
}

export function subtract(a: Decimal, b: Decimal): Decimal {
  return add(a, { units: -b.units, scale: b.scale })
}

export function times(a: Decimal, count: number): Decimal {
  return fromUnits(a.units * BigInt(count), a.scale)
}

/** Negative, 0 or positive, as `a` is less than, equal to or greater than `b`. */
export function compare(a: Decimal, b: Decimal): number {
  const [x, y] = aligned(a, b)
  return x < y ? -1 : x > y ? 1 : 0
}

/** Decimal text without an exponent, with at least `decimals` digits after the point. */
export function textOf({ units, scale }: Decimal, decimals = 0): DecimalText {
  return textOfUnits(units, scale, decimals)
}

/** 7050 units at scale 2 are `"70.5"`, and `"70.50"` with at least 2 decimals. */
export function textOfUnits(units: bigint, scale: number, decimals = 0): DecimalText {
  const negative = units < 0n
  const digits = String(negative ? -units : units).padStart(scale + 1, '0')
  const point = digits.length - scale
  let end = digits.length
  while (end > point + decimals && digits.charCodeAt(end - 1) === 48) end -= 1
  const fraction = digits.slice(point, end).padEnd(decimals, '0')
  return `${negative ? '-' : ''}${digits.slice(0, point)}${fraction === '' ? '' : `.${fraction}`}`
}
