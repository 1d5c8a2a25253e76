/** A settlement by the operator's own code (D17): credits a result, a void or a cash-out. */
import { add } from '../money.js'
import type { SettlementRequest } from '../requests.js'
import type { WalletSnapshot } from '../store.js'
import {
  accept,
  betCurrencyMismatch,
  betOfAnotherPlayer,
  type Decision,
  type Rule,
  refuse,
  transactionOf,
  unknownPlayer,
  withCredit,
} from './decision.js'
import { decideReplay } from './replay.js'

/** Adds the amount to the player's balance and to what the type has live on the bet. Several per bet are allowed. */
export function decideSettlement(request: SettlementRequest, snapshot: WalletSnapshot): Decision {
  const transaction = transactionOf('settlement', request)
  const repeated = decideReplay(transaction, snapshot)
  if (repeated !== null) return repeated

  const { player, bet } = snapshot
  if (player === null) return refuse('UNKNOWN_PLAYER', unknownPlayer) // D16
  if (bet !== null && bet.playerId !== player.playerId)
    return refuse('BET_OF_ANOTHER_PLAYER', betOfAnotherPlayer) // D15

  if (bet === null) {
    return refuse('UNKNOWN_BET', { errorCode: 'INVALID_BET', description: 'betId: unknown bet' })
  }
  if (bet.status === 'ROLLED_BACK') {
    return refuse('BET_ROLLED_BACK', {
      errorCode: 'INVALID_BET',
      description: 'betId: the bet was rolled back',
    })
  }

  // D23
  if (request.currency !== player.currency) {
    return refuse('CURRENCY_MISMATCH', {
      errorCode: 'INVALID_CURRENCY',
      description: "currency: differs from the player's currency",
    })
  }
  if (bet.currency !== player.currency) return refuse('BET_CURRENCY_MISMATCH', betCurrencyMismatch)

  const { live, reversed, owed } = bet.credits[request.type] ?? { live: null, reversed: '0', owed: '0' }
  return accept(request, transaction, player, {
    delta: request.amount,
    bet: withCredit(bet, request.type, { live: add(live ?? '0', request.amount), reversed, owed }),
  })
}

export const settlementRule: Rule<'settlement'> = { operation: 'settlement', decide: decideSettlement }
