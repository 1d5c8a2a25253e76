/** `/placebet`: takes a stake (spec 4.1). */
import { compare, isZero, negate } from '../money.js'
import type { PlaceBetRequest } from '../requests.js'
import type { WalletSnapshot } from '../store.js'
import {
  accept,
  type Decision,
  type Rule,
  refuse,
  refuseAndRecord,
  transactionOf,
  unknownPlayer,
} from './decision.js'
import { decideReplay } from './replay.js'

/**
 * Whether the bet is taken. Every refusal for a known player is recorded and sticks (D6): a delayed
 * duplicate that succeeded later would take a stake for a bet that does not exist.
 */
export function decidePlaceBet(request: PlaceBetRequest, snapshot: WalletSnapshot): Decision {
  const transaction = transactionOf('placebet', request)
  const repeated = decideReplay(transaction, snapshot)
  if (repeated !== null) return repeated

  const { player, bet } = snapshot
  if (player === null) return refuse('UNKNOWN_PLAYER', unknownPlayer) // D16, D8

  if (bet !== null) {
    // D10, D15, and D11: a bet that was rolled back before it came stays rolled back.
    const reason =
      bet.playerId !== player.playerId
        ? 'BET_OF_ANOTHER_PLAYER'
        : bet.status === 'ROLLED_BACK'
          ? 'BET_ROLLED_BACK'
          : 'BET_ALREADY_EXISTS'
    return refuseAndRecord(request, transaction, reason, {
      errorCode: 'INVALID_BET',
      description:
        reason === 'BET_ROLLED_BACK'
          ? 'betId: the bet was rolled back'
          : 'betId: already used by another transaction',
    })
  }

  if (request.currency !== player.currency) {
    return refuseAndRecord(request, transaction, 'CURRENCY_MISMATCH', {
      errorCode: 'INVALID_CURRENCY',
      description: "currency: differs from the player's currency",
    })
  }

  if (!isZero(request.amount) && compare(player.balance, request.amount) < 0) {
    return refuseAndRecord(request, transaction, 'INSUFFICIENT_FUNDS', {
      errorCode: 'INSUFFICIENT_FUNDS',
      description: 'amount: insufficient funds',
    })
  }

  return accept(request, transaction, player, {
    delta: negate(request.amount),
    bet: {
      betId: request.betId,
      playerId: request.playerId,
      currency: player.currency,
      stake: request.amount,
      status: 'PLACED',
      credits: {},
      revision: 1,
    },
  })
}

export const placeBetRule: Rule<'placebet'> = {
  operation: 'placebet',
  decide: decidePlaceBet,
  // D6: recorded with the operator's own code, and it sticks.
  refuse: (request, _snapshot, reason, refusal) =>
    refuseAndRecord(request, transactionOf('placebet', request), reason, refusal),
}
