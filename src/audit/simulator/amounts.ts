/** Money of the books: whole numbers of the smallest digit, exact and fast to add. Decimal text outside. */
import type { Decimal } from '../../money.js'
import { decimalsOf, format } from '../../money.js'

/** `"70.50"` with 2 decimals is 7050. `null` where the amount has more decimals than that, by value. */
export function unitsOf(amount: Decimal, decimals: number): bigint | null {
  if (decimalsOf(amount) > decimals) return null
  const [whole = '0', fraction = ''] = amount.split('.')
  return BigInt(whole + fraction.slice(0, decimals).padEnd(decimals, '0'))
}

/** 7050 with 2 decimals is `"70.50"`. */
export function amountOf(units: bigint, decimals: number): Decimal {
  const negative = units < 0n
  const digits = String(negative ? -units : units).padStart(decimals + 1, '0')
  const cut = digits.length - decimals
  const text = decimals === 0 ? digits : `${digits.slice(0, cut)}.${digits.slice(cut)}`
  return negative ? `-${text}` : text
}

/** As it is written to the wallet and to people: with the decimals of its currency, and further ones where there are any. */
export function written(units: bigint, decimals: number, decimalsShown: number): Decimal {
  return format(amountOf(units, decimals), decimalsShown)
}

/**
 * `units` times odds, rounded half up to multiples of `step` units.
 *
 * @param odds as a whole number of hundredths to the power of `legs`: 2.50 is 250 with one leg, 2.50 × 1.20 is 30000 with two
 */
export function timesOdds(units: bigint, odds: bigint, legs: number, step: bigint): bigint {
  const scale = 100n ** BigInt(legs) * step
  return ((units * odds * 2n + scale) / (scale * 2n)) * step
}
