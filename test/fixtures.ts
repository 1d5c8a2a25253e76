/**
 * One player, one bet and one request of each kind, as small as they can be. Every test states only the
 * differences.
 */
import { WalletError } from '../src/errors.js'
import type {
  PlaceBetRequest,
  RollbackBetRequest,
  SettlementRequest,
  UnsettlementRequest,
} from '../src/requests.js'
import type { Account, Bet, Credit, Transaction, WalletSnapshot } from '../src/store.js'

export const transactionDate = '2026-11-21T10:00:00.000Z'

export const alice: Account = { playerId: 'alice', currency: 'EUR', balance: '100' }

export function placeBet(fields: Partial<PlaceBetRequest> = {}): PlaceBetRequest {
  return {
    transactionId: 'place-1',
    betId: 'bet-1',
    playerId: 'alice',
    sessionId: 'session-1',
    amount: '30',
    currency: 'EUR',
    odds: '1.85',
    betType: 'SINGLE',
    transactionDate,
    ...fields,
  }
}

export function unsettlement(fields: Partial<UnsettlementRequest> = {}): UnsettlementRequest {
  return {
    transactionId: 'unsettle-1',
    betId: 'bet-1',
    playerId: 'alice',
    type: 'UNSCORED',
    transactionDate,
    ...fields,
  }
}

export function rollbackBet(fields: Partial<RollbackBetRequest> = {}): RollbackBetRequest {
  return {
    transactionId: 'rollback-1',
    betId: 'bet-1',
    playerId: 'alice',
    type: 'TECHNICAL_ERROR',
    transactionDate,
    ...fields,
  }
}

export function settlement(fields: Partial<SettlementRequest> = {}): SettlementRequest {
  return {
    transactionId: 'settle-1',
    betId: 'bet-1',
    playerId: 'alice',
    type: 'BET_PAID',
    amount: '60',
    currency: 'EUR',
    transactionDate,
    ...fields,
  }
}

/** A bet of 30 that alice has placed. */
export function bet(fields: Partial<Bet> = {}): Bet {
  return {
    betId: 'bet-1',
    playerId: 'alice',
    currency: 'EUR',
    stake: '30',
    status: 'PLACED',
    credits: {},
    revision: 1,
    ...fields,
  }
}

export const live = (amount: string): Credit => ({ live: amount, reversed: '0', owed: '0' })
export const reversed = (amount: string): Credit => ({ live: null, reversed: amount, owed: '0' })
export const uncollected = (amount: string): Credit => ({ live: null, reversed: '0', owed: amount })

/** The accepted placebet of `placeBet()` as a store returns it. */
export function transaction(fields: Partial<Transaction> = {}): Transaction {
  return {
    operation: 'placebet',
    transactionId: 'place-1',
    playerId: 'alice',
    betId: 'bet-1',
    amount: '30',
    currency: 'EUR',
    type: null,
    delta: '-30',
    accountCurrency: 'EUR',
    refusal: null,
    reason: 'ACCEPTED',
    transactionDate,
    walletTransactionId: 'W1',
    ...fields,
  }
}

/** What a store knows. `player`: the only account of the player, `null` for none. */
export type Known = Partial<WalletSnapshot> & { player?: Account | null }

/** What a commit names that moves nothing. */
export const unmoved = { currency: 'EUR', delta: '0', floor: null }

/** The snapshot of a store: alice alone, unless `fields` says otherwise. */
export function snapshot({ player = alice, ...fields }: Known = {}): WalletSnapshot {
  return { accounts: player === null ? [] : [player], bet: null, transaction: null, ...fields }
}

/** A deeply frozen copy, as input for a pure function. */
export function frozen<T>(value: T): T {
  const freeze = (part: unknown): void => {
    if (typeof part !== 'object' || part === null) return
    Object.freeze(part)
    Object.values(part).forEach(freeze)
  }
  const copy = structuredClone(value)
  freeze(copy)
  return copy
}

/** Every pair of a list, the earlier first. */
export function pairsOf<T>(list: readonly T[]): [earlier: T, later: T][] {
  return list.flatMap((earlier, index) => list.slice(index + 1).map((later): [T, T] => [earlier, later]))
}

/** One problem of a request or a snapshot, and the answer if it is the only one. */
export interface Problem {
  reason: string
  errorCode: string
  description: string
  request?: Record<string, unknown>
  player?: Partial<Account> | null
  bet?: Partial<Bet>
  transaction?: Transaction
}

/** A request and a snapshot with all of these problems at once. `known`: the bet if no problem changes it. */
export function withProblems(problems: readonly Problem[], known: Bet | null) {
  const bets = problems.map(problem => problem.bet).filter(fields => fields !== undefined)
  const players = problems.map(problem => problem.player)
  return {
    request: Object.assign({}, ...problems.map(problem => problem.request)) as Record<string, never>,
    known: {
      player: players.includes(null) ? null : { ...alice, ...Object.assign({}, ...players) },
      bet: bets.length === 0 ? known : { ...(known ?? bet()), ...Object.assign({}, ...bets) },
      transaction: problems.map(problem => problem.transaction).find(Boolean) ?? null,
    },
  }
}

/** The fault that a promise rejects with. */
export async function faultOf(promise: Promise<unknown>): Promise<WalletError> {
  const error = await promise.then(
    value => new Error(`Expected a fault, but the answer was ${JSON.stringify(value)}`),
    (thrown: unknown) => thrown,
  )
  if (error instanceof WalletError) return error
  throw error
}
