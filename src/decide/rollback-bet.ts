/** `/rollbackbet`: undoes a bet whose placement failed or timed out (spec 4.3). */
import { isZero } from '../money.js'
import type { RollbackBetRequest } from '../requests.js'
import type { Bet, WalletSnapshot } from '../store.js'
import {
  accept,
  betCurrencyMismatch,
  betOfAnotherPlayer,
  type Decision,
  type Rule,
  refuse,
  transactionOf,
  unknownPlayer,
} from './decision.js'
import { decideReplay } from './replay.js'

/** Gives the stake back, once. The caller retries until it hears success, and may come before the bet does. */
export function decideRollbackBet(request: RollbackBetRequest, snapshot: WalletSnapshot): Decision {
  const transaction = transactionOf('rollbackbet', request)
  const repeated = decideReplay(transaction, snapshot)
  if (repeated !== null) return repeated

  const { player, bet } = snapshot
  if (player === null) return refuse('UNKNOWN_PLAYER', unknownPlayer) // D16
  if (bet !== null && bet.playerId !== player.playerId)
    return refuse('BET_OF_ANOTHER_PLAYER', betOfAnotherPlayer) // D15

  if (bet === null) {
    // D11: a tombstone, so that a placebet that was overtaken takes nothing when it comes.
    const tombstone: Bet = {
      betId: request.betId,
      playerId: request.playerId,
      currency: player.currency,
      stake: '0',
      status: 'ROLLED_BACK',
      credits: {},
      revision: 1,
    }
    return accept(request, transaction, player, { delta: '0', bet: tombstone, reason: 'TOMBSTONE_CREATED' })
  }

  // D12. Nothing moves, so the currency of the bet does not matter any more.
  if (bet.status === 'ROLLED_BACK') {
    return accept(request, transaction, player, { delta: '0', bet: null, reason: 'ALREADY_ROLLED_BACK' })
  }

  // D13: with the credit still there, the player would have the stake twice; after D7, the platform counts it as paid.
  const credits = Object.values(bet.credits)
  if (credits.some(credit => credit.live !== null)) {
    return refuse('BET_SETTLED', { errorCode: 'INVALID_BET', description: 'betId: the bet is settled' })
  }
  if (credits.some(credit => !isZero(credit.owed))) {
    return refuse('CLAWBACK_UNCOLLECTED', {
      errorCode: 'INVALID_BET',
      description: 'betId: settled; its reversal could not be collected',
    })
  }

  if (bet.currency !== player.currency) return refuse('BET_CURRENCY_MISMATCH', betCurrencyMismatch) // D23

  return accept(request, transaction, player, {
    delta: bet.stake,
    bet: { ...bet, status: 'ROLLED_BACK', revision: bet.revision + 1 },
  })
}

export const rollbackBetRule: Rule<'rollbackbet'> = { operation: 'rollbackbet', decide: decideRollbackBet }
