/** Amounts as exact decimal text: sums of millions of them, and how people read them. */
import {
  add,
  compare,
  type Decimal,
  type DecimalText,
  fromUnits,
  parseDecimal,
  subtract,
  textOf,
  zero,
} from '../numbers/decimal.js'
import { isoMinorUnits } from '../numbers/minor-units.js'

export type { DecimalText }

/** The form of nearly every amount. */
const plainText = /^(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,20})?$/

/** The decimal in its one form: no exponent, no zeros at the end. `null`: the text is no decimal. */
export function decimalOf(text: string): DecimalText | null {
  if (plainText.test(text)) return text.includes('.') ? withoutZeros(text) : text
  const value = parseDecimal(text)
  return value === null ? null : textOf(value)
}

function withoutZeros(text: string): DecimalText {
  let end = text.length
  while (text[end - 1] === '0') end -= 1
  return text.slice(0, text[end - 1] === '.' ? end - 1 : end)
}

/** The value of a text that is a decimal. */
export const exactly = (text: DecimalText) => parseDecimal(text) as Decimal

export const difference = (a: DecimalText, b: DecimalText) => textOf(subtract(exactly(a), exactly(b)))
export const negate = (amount: DecimalText) =>
  isZero(amount) ? '0' : isNegative(amount) ? amount.slice(1) : `-${amount}`
export const magnitudeOf = (amount: DecimalText) => (isNegative(amount) ? amount.slice(1) : amount)
export const isZero = (amount: DecimalText) => !/[1-9]/.test(amount)
export const isNegative = (amount: DecimalText) => amount.startsWith('-')
/** For a sort: the larger magnitude first. */
export const byMagnitude = (a: DecimalText, b: DecimalText) =>
  compare(exactly(magnitudeOf(b)), exactly(magnitudeOf(a)))

/** A sum of millions of amounts: in whole numbers per number of decimals, as long as these are exact. */
export class Sum {
  readonly #units: number[] = []
  #others = zero

  add(amount: DecimalText): void {
    const point = amount.indexOf('.')
    const decimals = point === -1 ? 0 : amount.length - point - 1
    const units = Number(point === -1 ? amount : amount.slice(0, point) + amount.slice(point + 1))
    const sum = (this.#units[decimals] ?? 0) + units
    if (Number.isSafeInteger(units) && Number.isSafeInteger(sum)) this.#units[decimals] = sum
    else this.#others = add(this.#others, exactly(amount))
  }

  total(): Decimal {
    const parts = this.#units.map((units, decimals) => fromUnits(units, decimals))
    return parts.reduce(add, this.#others)
  }
}

export function sumOf(amounts: Iterable<DecimalText>): DecimalText {
  const sum = new Sum()
  for (const amount of amounts) sum.add(amount)
  return textOf(sum.total())
}

/** Adds to the sum of this key, such as a currency. */
export function addTo<Key>(sums: Map<Key, Sum>, key: Key, amount: DecimalText): void {
  const sum = sums.get(key) ?? new Sum()
  sums.set(key, sum)
  sum.add(amount)
}

/** With the minor units of the currency: `12.50`. */
export const amountText = (amount: DecimalText, currency: string | null) =>
  currency === null ? amount : textOf(exactly(amount), isoMinorUnits(currency))

/** `30.00 EUR`. */
export function moneyText(amount: DecimalText | null, currency: string | null): string {
  if (amount === null) return 'an amount that the report does not state'
  return `${amountText(amount, currency)} ${currency ?? '(unknown currency)'}`
}

/** `+12.50`, `-3.00`, `0.00`. */
export const signed = (amount: DecimalText, currency: string | null) =>
  `${isNegative(amount) || isZero(amount) ? '' : '+'}${amountText(amount, currency)}`
