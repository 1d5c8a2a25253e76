/** The decision of a rule on one request and one snapshot. */
import { add, isZero } from '../money.js'
import type { ErrorCode, OutcomeReason, WalletOutcome } from '../outcomes.js'
import type { Requests } from '../requests.js'
import type {
  Account,
  AddedCredit,
  Bet,
  Operation,
  RecordedReason,
  Transaction,
  WalletChanges,
  WalletSnapshot,
} from '../store.js'

export interface Decision {
  /**
   * The answer once `changes` are committed, or at once if they are `null`. For an accepted request,
   * `balance` is the snapshot's plus the delta, and `walletTransactionId` is `null`: the result of the commit
   * replaces both.
   */
  outcome: WalletOutcome
  reason: OutcomeReason
  /** The changes to commit first, with their guards. `null`: nothing is written. */
  changes: WalletChanges | null
  /** What `changes` adds to the bet, for a commit without the bet: see `WalletChanges.credit`. */
  credit?: AddedCredit
}

export interface Refusal {
  errorCode: ErrorCode | (string & {})
  description: string
}

/** The operator's choices that the rules depend on. */
export interface Policy {
  /** Only an unsettlement depends on it (D20). */
  clawbacks: boolean
  /** The currency of the home account (D28); `null`: the first by code. */
  defaultCurrency: string | null
}

export const defaultPolicy: Policy = { clawbacks: true, defaultCurrency: null }

/** The rule of one operation. Pure and synchronous: no promises, no clock, no randomness. */
export interface Rule<O extends Operation> {
  operation: O
  decide(request: Requests[O], snapshot: WalletSnapshot, policy: Policy): Decision
  /**
   * The snapshot under which the request is accepted with changes whose guards test exactly that snapshot; so
   * they can be committed without a load. With a bet: as `Decision.credit`, by a store that has
   * `addsCredits`. Absent: no request of this operation.
   */
  assume?(request: Requests[O]): WalletSnapshot
  /**
   * The decision if the operator or the store refuses a request that `decide` accepts. Absent for operations
   * that must not be refused: rollbacks and settlements credit money.
   */
  refuse?(
    request: Requests[O],
    snapshot: WalletSnapshot,
    policy: Policy,
    reason: 'REFUSED_BY_OPERATOR' | 'REFUSED_BY_STORE',
    refusal: Refusal,
  ): Decision
}

/** The reason of a decision that is recorded. */
type RecordedDecision = OutcomeReason & RecordedReason

/** A transaction that `accept` or `refuseAndRecord` decides. */
export type Undecided = Omit<Transaction, 'accountCurrency' | 'reason'>

export function transactionOf<O extends Operation>(operation: O, request: Requests[O]): Undecided {
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

/** With the account that its commit names. */
interface Named {
  transaction: Undecided
  account: Account
}

/** A success: adds `delta` to the balance and writes `bet`, unless it is `null`. */
export function accept(
  request: Requests[Operation],
  { transaction, account }: Named,
  change: { delta: string; bet: Bet | null; reason?: RecordedDecision },
): Decision {
  const { bet, reason = 'ACCEPTED' } = change
  const delta = isZero(change.delta) ? '0' : change.delta // a store may have "0.00"
  const { currency } = account
  return {
    outcome: {
      ok: true,
      replayed: false,
      balance: add(account.balance, delta),
      currency,
      walletTransactionId: null,
    },
    reason,
    changes: {
      transaction: { ...transaction, delta, accountCurrency: currency, reason },
      bet,
      credit: null,
      // A delta of 0 tests no floor: a zero stake or clawback never fails for funds.
      account: { currency, delta, floor: delta.startsWith('-') ? '0' : null },
      request: { ...request },
    },
  }
}

/** A refusal that is not recorded: a retry is decided again and may succeed (D8). */
export function refuse(reason: OutcomeReason, refusal: Refusal): Decision {
  return { outcome: { ok: false, replayed: false, ...refusal }, reason, changes: null }
}

/**
 * A final refusal: recorded and replayed (D6, D7). `bet`: the bet with its uncollected clawback, if there is
 * one.
 */
export function refuseAndRecord(
  request: Requests[Operation],
  { transaction, account: { currency } }: Named,
  reason: RecordedDecision,
  refusal: Refusal,
  bet: Bet | null = null,
): Decision {
  const { errorCode, description } = refusal
  return {
    outcome: { ok: false, replayed: false, errorCode, description },
    reason,
    changes: {
      transaction: { ...transaction, accountCurrency: currency, refusal: { errorCode, description }, reason },
      bet,
      credit: null,
      account: { currency, delta: '0', floor: null },
      request: { ...request },
    },
  }
}

export const unknownPlayer: Refusal = {
  errorCode: 'INVALID_PLAYER',
  description: 'playerId: unknown player',
}

export const betOfAnotherPlayer: Refusal = {
  errorCode: 'INVALID_PLAYER',
  description: 'playerId: the bet belongs to another player',
}

export const betRolledBack: Refusal = {
  errorCode: 'INVALID_BET',
  description: 'betId: the bet was rolled back',
}

export const currencyMismatch: Refusal = {
  errorCode: 'INVALID_CURRENCY',
  description: "currency: differs from the player's currency",
}

export const betCurrencyMismatch: Refusal = {
  errorCode: 'INVALID_CURRENCY',
  description: "betId: bet currency differs from the player's current currency",
}
