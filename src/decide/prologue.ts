/** The first checks of every rule. Their order decides the error code, so it is defined once, here. */
import type { Requests } from '../requests.js'
import type { Account, Bet, Operation, WalletSnapshot } from '../store.js'
import { accountOf } from './accounts.js'
import {
  betOfAnotherPlayer,
  betRolledBack,
  type Decision,
  type Policy,
  refuse,
  transactionOf,
  type Undecided,
  unknownPlayer,
} from './decision.js'
import { decideReplay } from './replay.js'

/** Either a request that passed the first checks, or the decision that ended them. */
export type FirstChecks<B extends Bet | null> =
  | { decision: null; transaction: Undecided; account: Account; bet: B }
  | { decision: Decision }

/**
 * 1. A retry is replayed (D2 to D4). 2. The player is known (D16).
 *
 * @returns with the account of the request's currency, else of the bet's, else the home account (D28)
 */
export function checkRequest<O extends Operation>(
  operation: O,
  request: Requests[O],
  snapshot: WalletSnapshot,
  { defaultCurrency }: Policy,
): FirstChecks<Bet | null> {
  const transaction = transactionOf(operation, request)
  const replay = decideReplay(transaction, snapshot, defaultCurrency)
  if (replay !== null) return { decision: replay }

  const { accounts, bet } = snapshot
  const currency = transaction.currency ?? bet?.currency ?? null
  const account = accountOf(accounts, currency, defaultCurrency)
  if (account === null) return { decision: refuse('UNKNOWN_PLAYER', unknownPlayer) }
  return { decision: null, transaction, account, bet }
}

/**
 * The same, and 3. the bet does not belong to another player (D15). Not for placebet, whose refusal is final
 * (D6).
 */
export function checkOwnBet<O extends Exclude<Operation, 'placebet'>>(
  operation: O,
  request: Requests[O],
  snapshot: WalletSnapshot,
  policy: Policy,
): FirstChecks<Bet | null> {
  const checks = checkRequest(operation, request, snapshot, policy)
  if (checks.decision !== null || checks.bet === null) return checks
  if (checks.bet.playerId === request.playerId) return checks
  return { decision: refuse('BET_OF_ANOTHER_PLAYER', betOfAnotherPlayer) }
}

/** The same, and 4. the bet is known and not rolled back (D17, D19). */
export function checkPlacedBet<O extends 'settlement' | 'unsettlement'>(
  operation: O,
  request: Requests[O],
  snapshot: WalletSnapshot,
  policy: Policy,
): FirstChecks<Bet> {
  const checks = checkOwnBet(operation, request, snapshot, policy)
  if (checks.decision !== null) return checks
  const { bet } = checks
  if (bet === null) {
    const refusal = { errorCode: 'INVALID_BET', description: 'betId: unknown bet' }
    return { decision: refuse('UNKNOWN_BET', refusal) }
  }
  if (bet.status === 'ROLLED_BACK') {
    return { decision: refuse('BET_ROLLED_BACK', betRolledBack) }
  }
  return { ...checks, bet }
}
