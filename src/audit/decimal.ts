/** Exact decimals of the audit's own: it judges a wallet's arithmetic, and so shares none with the library. */

/** `units / 10 ** scale`, in lowest terms of the scale. */
export interface Decimal {
  units: bigint
  scale: number
}

const exponentMax = 400

/** A JSON number as it was written: `"100.50"`, `"1e2"`. `null` for anything else, and for more than 400 digits. */
export function parseDecimal(text: string): Decimal | null {
  const parts = /^(-?)(\d{1,400})(?:\.(\d{1,400}))?(?:[eE]([+-]?\d{1,4}))?$/.exec(text)
  if (parts === null) return null
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = parts
  if (Math.abs(Number(exponent)) > exponentMax) return null
  const units = BigInt(`${sign}${whole}${fraction}`)
  const scale = fraction.length - Number(exponent)
  return lowest(scale < 0 ? { units: units * 10n ** BigInt(-scale), scale: 0 } : { units, scale })
}

function lowest({ units, scale }: Decimal): Decimal {
  let [rest, digits] = [units, scale]
  while (digits > 0 && rest % 10n === 0n) [rest, digits] = [rest / 10n, digits - 1]
  return { units: rest, scale: digits }
}

function aligned(a: Decimal, b: Decimal): [bigint, bigint, number] {
  const scale = Math.max(a.scale, b.scale)
  return [a.units * 10n ** BigInt(scale - a.scale), b.units * 10n ** BigInt(scale - b.scale), scale]
}

export function add(a: Decimal, b: Decimal): Decimal {
  const [x, y, scale] = aligned(a, b)
  return lowest({ units: x + y, scale })
}

export function subtract(a: Decimal, b: Decimal): Decimal {
  return add(a, { units: -b.units, scale: b.scale })
}

export function times(a: Decimal, count: number): Decimal {
  return lowest({ units: a.units * BigInt(count), scale: a.scale })
}

/** Negative, 0 or positive, as `a` is less than, equal to or greater than `b`. */
export function compare(a: Decimal, b: Decimal): number {
  const [x, y] = aligned(a, b)
  return x < y ? -1 : x > y ? 1 : 0
}

export const zero: Decimal = { units: 0n, scale: 0 }

/** So many of the smallest units of a currency: 250 with 2 decimals is 2.50. */
export function unitsOf(count: number | bigint, minorUnits: number): Decimal {
  return lowest({ units: BigInt(count), scale: minorUnits })
}

/** How many whole smallest units are in it: 2.509 with 2 decimals is 250. */
export function wholeUnits(value: Decimal, minorUnits: number): bigint {
  const [units, one] = aligned(value, { units: 1n, scale: minorUnits })
  return units / one
}

/** Decimal text with at least so many digits after the point, as many as are needed, and no exponent. */
export function textOf({ units, scale }: Decimal, decimals = 0): string {
  const digits = (units < 0n ? -units : units).toString().padStart(scale + 1, '0')
  const whole = digits.slice(0, digits.length - scale)
  const fraction = digits.slice(digits.length - scale).padEnd(decimals, '0')
  return `${units < 0n ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`
}
