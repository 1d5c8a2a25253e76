/** Which of a player's accounts is meant (D28). */
import type { Account } from '../store.js'

/**
 * The only place that chooses: the account in this currency, else the home account, which answers and is
 * recorded, but never moves money. So a caller that moves money compares the currencies.
 *
 * @param currency `null`: none is known
 * @param defaultCurrency of the home account; without such an account, it is the first by code point
 * @returns `null`: the player has no account
 */
export function accountOf(
  accounts: readonly Account[],
  currency: string | null,
  defaultCurrency: string | null,
): Account | null {
  const inCurrency = (code: string | null) => accounts.find(account => account.currency === code)
  const first = () => accounts.toSorted((one, other) => (one.currency < other.currency ? -1 : 1))[0]
  return inCurrency(currency) ?? inCurrency(defaultCurrency) ?? first() ?? null
}
