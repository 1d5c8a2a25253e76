/** The first checks of every rule. Their order decides the error code, so it is defined once, here. */
import type { Requests } from '../requests.js'
import type { Bet, Operation, Player, Transaction, WalletSnapshot } from '../store.js'
import {
  betOfAnotherPlayer,
  betRolledBack,
  type Decision,
  refuse,
  transactionOf,
  unknownPlayer,
} from './decision.js'
import { decideReplay } from './replay.js'

/** Either a request that passed the first checks, or the decision that ended them. */
export type Opened<B extends Bet | null> =
  | { decision: null; transaction: Transaction; player: Player; bet: B }
  | { decision: Decision }

/** 1. A retry is replayed (D2 to D4). 2. The player is known (D16). */
export function openRequest<O extends Operation>(
  operation: O,
  request: Requests[O],
  snapshot: WalletSnapshot,
): Opened<Bet | null> {
  const transaction = transactionOf(operation, request)
  const replay = decideReplay(transaction, snapshot)
  if (replay !== null) return { decision: replay }

  const { player, bet } = snapshot
  if (player === null) return { decision: refuse('UNKNOWN_PLAYER', unknownPlayer) }
  return { decision: null, transaction, player, bet }
}

/**
 * The same, and 3. the bet does not belong to another player (D15). Not for placebet, whose refusal is final
 * (D6).
 */
export function openOwnBet<O extends Exclude<Operation, 'placebet'>>(
  operation: O,
  request: Requests[O],
  snapshot: WalletSnapshot,
): Opened<Bet | null> {
  const opened = openRequest(operation, request, snapshot)
  if (opened.decision !== null || opened.bet === null) return opened
  if (opened.bet.playerId === opened.player.playerId) return opened
  return { decision: refuse('BET_OF_ANOTHER_PLAYER', betOfAnotherPlayer) }
}

/** The same, and 4. the bet is known and not rolled back (D17, D19). */
export function openPlacedBet<O extends 'settlement' | 'unsettlement'>(
  operation: O,
  request: Requests[O],
  snapshot: WalletSnapshot,
): Opened<Bet> {
  const opened = openOwnBet(operation, request, snapshot)
  if (opened.decision !== null) return opened
  const { bet } = opened
  if (bet === null) {
    const refusal = { errorCode: 'INVALID_BET', description: 'betId: unknown bet' }
    return { decision: refuse('UNKNOWN_BET', refusal) }
  }
  if (bet.status === 'ROLLED_BACK') {
    return { decision: refuse('BET_ROLLED_BACK', betRolledBack) }
  }
  return { ...opened, bet }
}
