/** A settlement by the operator's code (D17): credits a win, a void or a cash-out. */
import { creditedBet } from '../credits.js'
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

  const { playerId, currency, type, amount } = request
  const credit = { playerId, currency, status: 'PLACED', type, amount } as const
  return { ...accept(request, checks, { delta: amount, bet: creditedBet(bet, credit) }), credit }
}

/** A placed bet of the player in the currency: whatever its credits are, the settlement adds to them. */
function assumedSnapshot({ playerId, betId, currency }: SettlementRequest): WalletSnapshot {
  return {
    accounts: [{ playerId, currency, balance: '0' }],
    bet: { betId, playerId, currency, stake: '0', status: 'PLACED', credits: {}, revision: 1 },
    transaction: null,
  }
}

export const settlementRule: Rule<'settlement'> = {
  operation: 'settlement',
  assume: assumedSnapshot,
  decide: decideSettlement,
}
