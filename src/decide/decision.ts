/** What a rule says of one request on one snapshot. */
import { add, isZero } from '../money.js'
import type { ErrorCode, OutcomeReason, WalletOutcome } from '../outcomes.js'
import type { Requests } from '../requests.js'
import type {
  Bet,
  Credit,
  Operation,
  Player,
  SettlementType,
  Transaction,
  WalletChanges,
  WalletSnapshot,
} from '../store.js'

/** The operator's choices that the rules know of. */
export interface Rules {
  /** `false`: the PAM cannot deduct; every unsettlement above 0 is answered INSUFFICIENT_FUNDS (D20). */
  clawbacks: boolean
}

export interface Decision {
  /**
   * What to answer once `changes` are committed (at once where they are `null`). Of an accepted request the
   * balance is the snapshot's plus the delta, and walletTransactionId is `null`: the store's commit knows both.
   */
  outcome: WalletOutcome
  reason: OutcomeReason
  /** What must be committed first, with its guards. `null`: nothing is written. */
  changes: WalletChanges | null
}

export interface Refusal {
  errorCode: ErrorCode | (string & {})
  description: string
}

/** The rule of one operation. Pure and synchronous: no promises, no clock, no randomness. */
export interface Rule<O extends Operation> {
  operation: O
  decide(request: Requests[O], snapshot: WalletSnapshot, rules: Rules): Decision
  /**
   * What becomes of a request that `decide` allows and the operator or the store refuses. Absent where nobody
   * may: money that goes back is never refused.
   */
  refuse?(
    request: Requests[O],
    snapshot: WalletSnapshot,
    reason: 'REFUSED_BY_OPERATOR' | 'REFUSED_BY_STORE',
    refusal: Refusal,
  ): Decision
}

/** What happens, and nothing is moved yet: the transaction of a request, to be completed by `accept` or `refuseForGood`. */
export function transactionOf<O extends Operation>(operation: O, request: Requests[O]): Transaction {
  const { transactionId, playerId, betId, transactionDate } = request
  return {
    operation,
    transactionId,
    playerId,
    betId,
    amount: 'amount' in request ? request.amount : null,
    currency: 'currency' in request ? request.currency : null,
    type: 'type' in request ? request.type : null,
    delta: '0',
    refusal: null,
    transactionDate,
    walletTransactionId: null,
  }
}

/** Success: moves `delta` and writes `bet`, where there is one. */
export function accept(
  request: Requests[Operation],
  transaction: Transaction,
  player: Player,
  moved: { delta: string; bet: Bet | null; reason?: OutcomeReason },
): Decision {
  const { bet, reason = 'ACCEPTED' } = moved
  const delta = isZero(moved.delta) ? '0' : moved.delta // a store may write it "0.00"
  const takes = delta.startsWith('-')
  return {
    outcome: {
      ok: true,
      replayed: false,
      balance: add(player.balance, delta),
      currency: player.currency,
      walletTransactionId: null,
    },
    reason,
    changes: {
      transaction: { ...transaction, delta },
      bet,
      // Nothing moves: no balance, and so no floor; a zero stake or clawback never fails for funds.
      balance: isZero(delta) ? null : { currency: player.currency, delta, floor: takes ? '0' : null },
      request: { ...request },
    },
  }
}

/** A refusal of which nothing is kept: the same request may succeed later (D8). */
export function refuse(reason: OutcomeReason, refusal: Refusal): Decision {
  return { outcome: { ok: false, replayed: false, ...refusal }, reason, changes: null }
}

/** A refusal that is recorded and sticks (D6, D7). `bet`: what it closes. */
export function refuseAndRecord(
  request: Requests[Operation],
  transaction: Transaction,
  reason: OutcomeReason,
  refusal: Refusal,
  bet: Bet | null = null,
): Decision {
  const { errorCode, description } = refusal
  return {
    outcome: { ok: false, replayed: false, errorCode, description },
    reason,
    changes: {
      transaction: { ...transaction, refusal: { errorCode, description } },
      bet,
      balance: null,
      request: { ...request },
    },
  }
}

/** The bet with one credit changed, one revision further. */
export function withCredit(bet: Bet, type: SettlementType, credit: Credit): Bet {
  return { ...bet, credits: { ...bet.credits, [type]: credit }, revision: bet.revision + 1 }
}

export const unknownPlayer: Refusal = {
  errorCode: 'INVALID_PLAYER',
  description: 'playerId: unknown player',
}

export const betOfAnotherPlayer: Refusal = {
  errorCode: 'INVALID_PLAYER',
  description: 'playerId: the bet belongs to another player',
}

export const betCurrencyMismatch: Refusal = {
  errorCode: 'INVALID_CURRENCY',
  description: "betId: bet currency differs from the player's current currency",
}
