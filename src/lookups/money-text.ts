/** Amounts as lookups print them. */
import { isoMinorUnits } from '../currencies.js'
import { type Decimal, format } from '../money.js'

/** An amount with its currency: `"30.00 EUR"`. */
export function money(amount: Decimal, currency: string | null): string {
  return currency === null ? amount : `${format(amount, isoMinorUnits(currency))} ${currency}`
}
