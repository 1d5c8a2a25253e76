/** A failed case as the report shows it: what was found, what it costs, and the call to look at. */

import { type Decimal, subtract, textOf } from '../numbers/decimal.js'
import { readObject } from '../wire/json.js'
import type { AuditCase } from './audit-case.js'
import { callThatChanged, changeBy } from './balance-changes.js'
import type { CaseContext } from './case-context.js'
import type { CaseFailed } from './case-outcomes.js'
import { impactOf } from './impact.js'
import { sentences } from './interface-sentences.js'
import type { AuditExchange, AuditFailure } from './report.js'

/** Before the clean-up: reads the balance if an answer showed a wrong one, to tell which of both is wrong. */
export async function failureOf(
  item: AuditCase,
  { wallet, expect, opening, settings, money }: CaseContext,
  { expected, actual, exchangeIndex, details, isPreparation }: CaseFailed,
): Promise<AuditFailure> {
  let { kind } = details
  let difference: Decimal | null = details.balance?.difference ?? null
  let index = exchangeIndex
  const { currency = settings.currency } = details.balance ?? {}
  const exchanges =
    settings.accounts.length === 1 ? wallet.exchanges : wallet.exchanges.map(ofAccount(currency))
  if (details.balance !== undefined && index !== null) {
    const { expected } = details.balance
    if (!wallet.exchanges[index]?.isReading) {
      const { balance } = await wallet.readBalance(undefined, currency)
      if (balance !== null) difference = subtract(balance, expected)
    }
    if (difference?.units === 0n) [kind, difference] = ['stale-balance', null]
    else
      index = callThatChanged(
        exchanges,
        opening,
        expect.lastGoodExchange,
        index,
        difference ?? details.balance.difference,
      )
  }
  const change = kind === 'accepted' && index !== null ? changeBy(exchanges, opening, index) : difference
  return {
    kind,
    difference: difference === null ? null : textOf(difference, settings.minorUnitsOf(currency)),
    expected,
    actual,
    ...(isPreparation ? { isPreparation } : {}),
    impact: impactOf(isPreparation ? null : item.impact, kind, wallet.exchanges[index ?? -1], change, value =>
      money(value, currency),
    ),
    quote: isPreparation || item.quote === undefined ? null : sentences[item.quote],
    exchangeIndex: index,
  }
}

/** Without the balances of other accounts. */
const ofAccount =
  (currency: string) =>
  (exchange: AuditExchange): AuditExchange =>
    readObject(exchange.answer ?? '')?.get('currency') === currency
      ? exchange
      : { ...exchange, balance: null }
