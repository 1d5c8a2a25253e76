/** `/unsettlement`: takes back what a wrong settlement credited (spec 4.2). */
import { add, compare, isZero, negate } from '../money.js'
import type { UnsettlementRequest } from '../requests.js'
import type { SettlementType, WalletSnapshot } from '../store.js'
import {
  accept,
  betCurrencyMismatch,
  betOfAnotherPlayer,
  type Decision,
  type Rule,
  type Rules,
  refuse,
  refuseAndRecord,
  transactionOf,
  unknownPlayer,
  withCredit,
} from './decision.js'
import { decideReplay } from './replay.js'

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
  const repeated = decideReplay(transaction, snapshot)
  if (repeated !== null) return repeated

  const { player, bet } = snapshot
  if (player === null) return refuse('UNKNOWN_PLAYER', unknownPlayer) // D16
  if (bet !== null && bet.playerId !== player.playerId)
    return refuse('BET_OF_ANOTHER_PLAYER', betOfAnotherPlayer) // D15

  // D19
  if (bet === null) {
    return refuse('UNKNOWN_BET', { errorCode: 'INVALID_BET', description: 'betId: unknown bet' })
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
    return refuse('SETTLEMENT_NOT_FOUND', {
      errorCode: 'SETTLEMENT_NOT_FOUND',
      description: `betId: no ${credited} settlement found`,
    })
  }
  const { live, reversed, owed } = credit
  if (live === null) {
    return refuse(isZero(owed) ? 'ALREADY_UNSETTLED' : 'CLAWBACK_UNCOLLECTED', {
      errorCode: 'INVALID_BET',
      description: `betId: the ${credited} settlement was already reversed`,
    })
  }

  if (bet.currency !== player.currency) return refuse('BET_CURRENCY_MISMATCH', betCurrencyMismatch) // D23

  if (!isZero(live) && (!rules.clawbacks || compare(player.balance, live) < 0)) {
    return refuseAndRecord(
      request,
      transaction,
      rules.clawbacks ? 'INSUFFICIENT_FUNDS' : 'CLAWBACKS_DISABLED',
      {
        errorCode: 'INSUFFICIENT_FUNDS',
        description: rules.clawbacks
          ? 'betId: insufficient funds to reverse the settlement'
          : 'betId: this wallet does not support deductions',
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
    ...decideUnsettlement(request, snapshot, { clawbacks: false }),
    reason,
  }),
}
