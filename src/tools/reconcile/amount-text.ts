/** Amounts for people, with the minor units of their currency. */
import { isoMinorUnits } from '../../currencies.js'
import { type Decimal, format, isNegative, isZero } from '../../money.js'

/** With the minor units of the currency: `12.50`. */
export const amountText = (amount: Decimal, currency: string | null) =>
  currency === null ? amount : format(amount, isoMinorUnits(currency))

/** `30.00 EUR`. */
export function moneyText({ amount, currency }: { amount: Decimal | null; currency: string | null }): string {
  if (amount === null) return 'an amount that the report does not state'
  return `${amountText(amount, currency)} ${currency ?? '(unknown currency)'}`
}

/** `+12.50`, `-3.00`, `0.00`. */
export const signed = (amount: Decimal, currency: string | null) =>
  `${isNegative(amount) || isZero(amount) ? '' : '+'}${amountText(amount, currency)}`
