/** `/unsettlement`: the clawback of a wrong settlement (spec 4.2). */
import { withCredit } from '../credits.js'
import { add, compare, isZero, negate } from '../money.js'
import type { UnsettlementRequest } from '../requests.js'
import type { SettlementType, WalletSnapshot } from '../store.js'
import {
  accept,
  betCurrencyMismatch,
  type Decision,
  defaultPolicy,
  type Policy,
  type Rule,
  refuse,
  refuseAndRecord,
} from './decision.js'
import { checkPlacedBet } from './prologue.js'

const reverses: Record<UnsettlementRequest['type'], SettlementType> = {
  UNSCORED: 'BET_PAID',
  UNVOIDED: 'VOIDED',
}

type CannotDebit = 'CLAWBACKS_DISABLED' | 'REFUSED_BY_OPERATOR' | 'REFUSED_BY_STORE'

/**
 * Debits the whole live credit of the type (D18), or nothing (D20). If funds are insufficient, the clawback
 * stays uncollected: the amount is owed to the platform, and no later unsettlement debits it (D7).
 *
 * @param cannotDebit why the PAM cannot debit the player; `null`: it can
 */
export function decideUnsettlement(
  request: UnsettlementRequest,
  snapshot: WalletSnapshot,
  policy: Policy = defaultPolicy,
  cannotDebit: CannotDebit | null = policy.clawbacks ? null : 'CLAWBACKS_DISABLED',
): Decision {
  const checks = checkPlacedBet('unsettlement', request, snapshot, policy)
  if (checks.decision !== null) return checks.decision
  const { account, bet } = checks

  // D19
  const credited = reverses[request.type]
  const credit = bet.credits[credited]
  if (credit === undefined) {
    return refuse('SETTLEMENT_NOT_FOUND', {
      errorCode: 'SETTLEMENT_NOT_FOUND',
      description: `betId: no ${credited} settlement found`,
    })
  }
  const { live, reversed, owed } = credit
  if (live === null) {
    const isCollected = isZero(owed)
    return refuse(isCollected ? 'ALREADY_UNSETTLED' : 'CLAWBACK_UNCOLLECTED', {
      errorCode: 'INVALID_BET',
      description: isCollected
        ? `betId: the ${credited} settlement was already reversed`
        : `betId: the clawback of the ${credited} settlement is uncollected, and owed to the platform`,
    })
  }

  if (bet.currency !== account.currency) return refuse('BET_CURRENCY_MISMATCH', betCurrencyMismatch) // D23

  if (!isZero(live) && (cannotDebit !== null || compare(account.balance, live) < 0)) {
    const description =
      cannotDebit === null
        ? 'betId: insufficient funds to reverse the settlement'
        : 'betId: the amount of the settlement cannot be debited'
    return refuseAndRecord(
      request,
      checks,
      cannotDebit ?? 'INSUFFICIENT_FUNDS',
      { errorCode: 'INSUFFICIENT_FUNDS', description },
      withCredit(bet, credited, { live: null, reversed, owed: add(owed, live) }),
    )
  }

  return accept(request, checks, {
    delta: negate(live),
    bet: withCredit(bet, credited, { live: null, reversed: add(reversed, live), owed }),
  })
}

export const unsettlementRule: Rule<'unsettlement'> = {
  operation: 'unsettlement',
  decide: decideUnsettlement,
  // Spec 4.2 rule 1: a refusal by the PAM counts as a PAM that cannot debit: INSUFFICIENT_FUNDS with D7.
  refuse: decideUnsettlement,
}
