/** `/rollbackbet`: undoes a bet whose placement failed or timed out (spec 4.3). */
import { isZero } from '../money.js'
import type { RollbackBetRequest } from '../requests.js'
import type { Bet, WalletSnapshot } from '../store.js'
import {
  accept,
  betCurrencyMismatch,
  type Decision,
  defaultPolicy,
  type Policy,
  type Rule,
  refuse,
} from './decision.js'
import { checkOwnBet } from './prologue.js'

/**
 * Credits the stake back, once. The caller retries until it succeeds, and may call before the bet arrives.
 */
export function decideRollbackBet(
  request: RollbackBetRequest,
  snapshot: WalletSnapshot,
  policy: Policy = defaultPolicy,
): Decision {
  const checks = checkOwnBet('rollbackbet', request, snapshot, policy)
  if (checks.decision !== null) return checks.decision
  const { account, bet } = checks

  if (bet === null) {
    // D11: the tombstone makes a late placebet fail.
    const tombstone: Bet = {
      betId: request.betId,
      playerId: request.playerId,
      currency: account.currency,
      stake: '0',
      status: 'ROLLED_BACK',
      credits: {},
      revision: 1,
    }
    return accept(request, checks, { delta: '0', bet: tombstone, reason: 'TOMBSTONE_CREATED' })
  }

  // D12. The balance does not change, so the currency of the bet no longer matters.
  if (bet.status === 'ROLLED_BACK') {
    return accept(request, checks, { delta: '0', bet: null, reason: 'ALREADY_ROLLED_BACK' })
  }

  // D13: the stake would be paid twice, by the credit and by the rollback.
  const credits = Object.values(bet.credits)
  if (credits.some(credit => credit.live !== null)) {
    return refuse('BET_SETTLED', { errorCode: 'INVALID_BET', description: 'betId: the bet is settled' })
  }
  // D13: after D7 the player keeps the credit, and the platform nets it off later winnings.
  if (credits.some(credit => !isZero(credit.owed))) {
    return refuse('CLAWBACK_UNCOLLECTED', {
      errorCode: 'INVALID_BET',
      description: 'betId: settled; its reversal could not be collected',
    })
  }

  if (bet.currency !== account.currency) return refuse('BET_CURRENCY_MISMATCH', betCurrencyMismatch) // D23

  return accept(request, checks, {
    delta: bet.stake,
    bet: { ...bet, status: 'ROLLED_BACK', revision: bet.revision + 1 },
  })
}

export const rollbackBetRule: Rule<'rollbackbet'> = { operation: 'rollbackbet', decide: decideRollbackBet }
