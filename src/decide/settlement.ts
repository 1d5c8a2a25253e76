/** A settlement by the operator's code (D17): credits a win, a void or a cash-out. */
import { add } from '../money.js'
import type { SettlementRequest } from '../requests.js'
import type { WalletSnapshot } from '../store.js'
import {
  accept,
  betCurrencyMismatch,
  currencyMismatch,
  type Decision,
  defaultPolicy,
  type Policy,
  type Rule,
  refuse,
  withCredit,
} from './decision.js'
import { checkPlacedBet } from './prologue.js'

/** Adds the amount to the balance and to the live credit of its type. A bet may have several settlements. */
export function decideSettlement(
  request: SettlementRequest,
  snapshot: WalletSnapshot,
  policy: Policy = defaultPolicy,
): Decision {
  const checks = checkPlacedBet('settlement', request, snapshot, policy)
  if (checks.decision !== null) return checks.decision
  const { account, bet } = checks

  // D23
  if (request.currency !== account.currency) {
    return refuse('CURRENCY_MISMATCH', currencyMismatch)
  }
  if (bet.currency !== account.currency) return refuse('BET_CURRENCY_MISMATCH', betCurrencyMismatch)

  const { live, reversed, owed } = bet.credits[request.type] ?? { live: null, reversed: '0', owed: '0' }
  return accept(request, checks, {
    delta: request.amount,
    bet: withCredit(bet, request.type, { live: add(live ?? '0', request.amount), reversed, owed }),
  })
}

export const settlementRule: Rule<'settlement'> = { operation: 'settlement', decide: decideSettlement }
