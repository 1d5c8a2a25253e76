/** A settlement by the operator's own code (D17): credits a result, a void or a cash-out. */
import { add } from '../money.js'
import type { SettlementRequest } from '../requests.js'
import type { WalletSnapshot } from '../store.js'
import {
  accept,
  betOfAnotherPlayer,
  currencyOfBetDiffers,
  type Decision,
  playerUnknown,
  type Rule,
  refuse,
  transactionOf,
  withCredit,
} from './decision.js'
import { decideRepeat } from './repeat.js'

/** Adds the amount to the player's balance and to what the type has live on the bet. Several per bet are allowed. */
export function decideSettlement(request: SettlementRequest, snapshot: WalletSnapshot): Decision {
  const transaction = transactionOf('settlement', request)
  const repeated = decideRepeat(transaction, snapshot)
  if (repeated !== null) return repeated

  const { player, bet } = snapshot
  if (player === null) return refuse('PLAYER_UNKNOWN', playerUnknown) // D16
  if (bet !== null && bet.playerId !== player.playerId)
    return refuse('BET_OF_ANOTHER_PLAYER', betOfAnotherPlayer) // D15

  if (bet === null) {
    return refuse('BET_UNKNOWN', { errorCode: 'INVALID_BET', description: 'betId: the bet is not known' })
  }
  if (bet.status === 'ROLLED_BACK') {
    return refuse('BET_ROLLED_BACK', {
      errorCode: 'INVALID_BET',
      description: 'betId: the bet was rolled back',
    })
  }

  // D23
  if (request.currency !== player.currency) {
    return refuse('CURRENCY_OF_PLAYER_DIFFERS', {
      errorCode: 'INVALID_CURRENCY',
      description: "currency: it is not the player's",
    })
  }
  if (bet.currency !== player.currency) return refuse('CURRENCY_OF_BET_DIFFERS', currencyOfBetDiffers)

  const { live, reversed, owed } = bet.credits[request.type] ?? { live: null, reversed: '0', owed: '0' }
  return accept(request, transaction, player, {
    delta: request.amount,
    bet: withCredit(bet, request.type, { live: add(live ?? '0', request.amount), reversed, owed }),
  })
}

export const settlementRule: Rule<'settlement'> = { operation: 'settlement', decide: decideSettlement }
