/** `/unsettlement`: takes back what a wrong settlement credited (spec 4.2). */
import { add, compare, isZero, negate } from '../money.js'
import type { UnsettlementRequest } from '../requests.js'
import type { SettlementType, WalletSnapshot } from '../store.js'
import {
  accept,
  betOfAnotherPlayer,
  currencyOfBetDiffers,
  type Decision,
  playerUnknown,
  type Rule,
  type Rules,
  refuse,
  refuseForGood,
  transactionOf,
  withCredit,
} from './decision.js'
import { decideRepeat } from './repeat.js'

const reverses: Record<UnsettlementRequest['type'], SettlementType> = {
  UNSCORED: 'BET_PAID',
  UNVOIDED: 'VOIDED',
}

/**
 * Takes the whole live credit of the type (D18), or nothing (D20). Where funds are short, the credit is
 * closed: the debt is the platform's from then on, and no later unsettlement collects it again (D7).
 */
export function decideUnsettlement(
  request: UnsettlementRequest,
  snapshot: WalletSnapshot,
  rules: Rules,
): Decision {
  const transaction = transactionOf('unsettlement', request)
  const repeated = decideRepeat(transaction, snapshot)
  if (repeated !== null) return repeated

  const { player, bet } = snapshot
  if (player === null) return refuse('PLAYER_UNKNOWN', playerUnknown) // D16
  if (bet !== null && bet.playerId !== player.playerId)
    return refuse('BET_OF_ANOTHER_PLAYER', betOfAnotherPlayer) // D15

  // D19
  if (bet === null) {
    return refuse('BET_UNKNOWN', { errorCode: 'INVALID_BET', description: 'betId: the bet is not known' })
  }
  if (bet.status === 'ROLLED_BACK') {
    return refuse('BET_ROLLED_BACK', {
      errorCode: 'INVALID_BET',
      description: 'betId: the bet was rolled back',
    })
  }
  const credited = reverses[request.type]
  const credit = bet.credits[credited]
  if (credit === undefined) {
    return refuse('CREDIT_MISSING', {
      errorCode: 'SETTLEMENT_NOT_FOUND',
      description: `betId: no ${credited} settlement has arrived for the bet`,
    })
  }
  const { live, reversed, owed } = credit
  if (live === null) {
    return refuse(isZero(owed) ? 'CREDIT_REVERSED' : 'CREDIT_CLOSED', {
      errorCode: 'INVALID_BET',
      description: `betId: the ${credited} settlement of the bet was unsettled before`,
    })
  }

  if (bet.currency !== player.currency) return refuse('CURRENCY_OF_BET_DIFFERS', currencyOfBetDiffers) // D23

  if (!isZero(live) && (!rules.deductions || compare(player.balance, live) < 0)) {
    return refuseForGood(
      request,
      transaction,
      rules.deductions ? 'FUNDS_SHORT' : 'DEDUCTIONS_OFF',
      {
        errorCode: 'INSUFFICIENT_FUNDS',
        description: rules.deductions
          ? 'betId: the funds do not cover what the settlement credited'
          : 'betId: this wallet does not deduct what a settlement credited',
      },
      withCredit(bet, credited, { live: null, reversed, owed: add(owed, live) }),
    )
  }

  return accept(request, transaction, player, {
    delta: negate(live),
    bet: withCredit(bet, credited, { live: null, reversed: add(reversed, live), owed }),
  })
}

export const unsettlementRule: Rule<'unsettlement'> = {
  operation: 'unsettlement',
  decide: decideUnsettlement,
  // Spec 4.2 rule 1: what the PAM will not deduct is as if it could not; INSUFFICIENT_FUNDS with D7.
  refuse: (request, snapshot, reason) => ({
    ...decideUnsettlement(request, snapshot, { deductions: false }),
    reason,
  }),
}
