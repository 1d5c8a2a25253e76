/** `/placebet`: debits a stake (spec 4.1). */
import { compare, isZero, negate } from '../money.js'
import type { PlaceBetRequest } from '../requests.js'
import type { WalletSnapshot } from '../store.js'
import {
  accept,
  betRolledBack,
  currencyMismatch,
  type Decision,
  defaultPolicy,
  type Policy,
  type Refusal,
  type Rule,
  refuseAndRecord,
} from './decision.js'
import { checkRequest } from './prologue.js'

/**
 * Accepts the bet or refuses it. Every refusal for a known player is final: recorded and replayed (D6). A
 * delayed duplicate that succeeded later would debit a stake for a bet that does not exist.
 */
export function decidePlaceBet(
  request: PlaceBetRequest,
  snapshot: WalletSnapshot,
  policy: Policy = defaultPolicy,
): Decision {
  const checks = checkRequest('placebet', request, snapshot, policy)
  if (checks.decision !== null) return checks.decision
  const { account, bet } = checks

  if (bet !== null) {
    // The betId was used by another player (D15), by a rollback that overtook this bet (D11), or by a bet
    // (D10).
    if (bet.playerId !== request.playerId) {
      return refuseAndRecord(request, checks, 'BET_OF_ANOTHER_PLAYER', betIdUsed)
    }
    if (bet.status === 'ROLLED_BACK') {
      return refuseAndRecord(request, checks, 'BET_ROLLED_BACK', betRolledBack)
    }
    return refuseAndRecord(request, checks, 'BET_ALREADY_EXISTS', betIdUsed)
  }

  if (request.currency !== account.currency) {
    return refuseAndRecord(request, checks, 'CURRENCY_MISMATCH', currencyMismatch)
  }

  if (!isZero(request.amount) && compare(account.balance, request.amount) < 0) {
    return refuseAndRecord(request, checks, 'INSUFFICIENT_FUNDS', {
      errorCode: 'INSUFFICIENT_FUNDS',
      description: 'amount: insufficient funds',
    })
  }

  return accept(request, checks, {
    delta: negate(request.amount),
    bet: {
      betId: request.betId,
      playerId: request.playerId,
      currency: account.currency,
      stake: request.amount,
      status: 'PLACED',
      credits: {},
      revision: 1,
    },
  })
}

const betIdUsed: Refusal = {
  errorCode: 'INVALID_BET',
  description: 'betId: already used by another transaction',
}

/**
 * The snapshot under which a bet is accepted, without a load: the transaction and the bet are new, the player
 * has an account in this currency with exactly the stake. The guards of the commit test just that, so a
 * commit proves it.
 */
export function assumedSnapshot({ playerId, amount, currency }: PlaceBetRequest): WalletSnapshot {
  return { accounts: [{ playerId, currency, balance: amount }], bet: null, transaction: null }
}

export const placeBetRule: Rule<'placebet'> = {
  operation: 'placebet',
  assume: assumedSnapshot,
  decide: decidePlaceBet,
  // D6: recorded and replayed with the operator's own code.
  refuse(request, snapshot, policy, reason, refusal) {
    const checks = checkRequest('placebet', request, snapshot, policy)
    return checks.decision ?? refuseAndRecord(request, checks, reason, refusal)
  },
}
