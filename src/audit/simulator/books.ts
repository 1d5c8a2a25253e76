/**
 * The platform's own books: what every player's balance must be, from what was sent and what was answered.
 *
 * As long as an answer is missing, a transaction may have moved its amount or not. So every transaction has a range of
 * what it may have moved, and a player's balance lies between the sums of the ends. Once everything is
 * answered, both ends meet, and the balance is known to the cent.
 */
import { type Decimal, decimalsOf } from '../../money.js'
import type { SettlementType } from '../../store.js'
import { unitsOf, written } from './amounts.js'

/** A player of the books. Amounts are whole units: the last of `decimals` digits. */
export interface Account {
  readonly playerId: string
  readonly sessionId: string
  /** Whether its opening balance is known, and with it the fields up to `opening`. */
  opened: boolean
  currency: string
  /** Of the currency. */
  minorUnits: number
  /** Of the units of these books: those of the currency, or more where the opening balance has more. */
  decimals: number
  /** One minor unit of the currency, in units. */
  step: bigint
  opening: bigint
  low: bigint
  high: bigint
  /** How far the ends were moved outwards, ever: tells whether the range grew while a call was on its way. */
  widenedDown: bigint
  widenedUp: bigint
  /** What the wallet's balances were off by, as told already: so that one fault is told once. */
  drift: bigint
  /** What was answered INSUFFICIENT_FUNDS and waits to be netted off future winnings (spec 4.2 rule 2). */
  debt: bigint
  /** Of closed bets: what the player won and lost by the results, whatever was collected. */
  entitled: bigint
  accepted: Record<SimulatedOperation, number>
  refused: Record<SimulatedOperation, number>
  /** The balance that the wallet answered at the end; `null` until then. */
  found: Decimal | null
  /** What was decided since the balance was last seen exact: where a difference may come from. */
  recent: Transaction[]
}

export type SimulatedOperation = 'placebet' | 'settlement' | 'unsettlement' | 'rollbackbet'
export const operations: readonly SimulatedOperation[] = [
  'placebet',
  'settlement',
  'unsettlement',
  'rollbackbet',
]

/** A definite answer that every repeat must be answered with. */
export interface FirstAnswer {
  ok: boolean
  status: number
  errorCode: string
  reference: string | null
  /** The moment at which it was heard. */
  at: number
}

/** A transaction of the platform's: sent once or many times, always the same. */
export interface Transaction {
  readonly operation: SimulatedOperation
  readonly transactionId: string
  readonly account: Account
  readonly bet: Bet
  /** Stake, settled amount, or what an unsettlement reverses. In units. */
  readonly amount: bigint
  /** `null` for a placebet. */
  readonly type: SettlementType | 'UNSCORED' | 'UNVOIDED' | 'TECHNICAL_ERROR' | null
  readonly body: string
  /** A settlement: what was kept back to recover debts. */
  readonly recovered: bigint
  low: bigint
  high: bigint
  /** The moment of the first delivery; 0: none so far. */
  sentAt: number
  first: FirstAnswer | null
  /** Answers that said nothing definite, and calls without an answer, of the real network. */
  faults: number
}

export type BetState = 'placing' | 'open' | 'credited' | 'refused' | 'rolled back'

/** A bet as the platform knows it. */
export interface Bet {
  readonly betId: string
  readonly account: Account
  readonly stake: bigint
  /** `null`: never placed, a bet of which only a rollback is sent, to read the balance. */
  placed: Transaction | null
  rollback: Transaction | null
  /** The moment at which the first success of its rollback was heard; 0: not so far. */
  rolledBackAt: number
  state: BetState
  /** In the order in which they were made. */
  transactions: Transaction[]
}

/** A player of whom nothing is known yet. */
export function createAccount(playerId: string, sessionId: string): Account {
  const none = () => ({ placebet: 0, settlement: 0, unsettlement: 0, rollbackbet: 0 })
  return {
    playerId,
    sessionId,
    opened: false,
    currency: '',
    minorUnits: 0,
    decimals: 0,
    step: 1n,
    opening: 0n,
    low: 0n,
    high: 0n,
    widenedDown: 0n,
    widenedUp: 0n,
    drift: 0n,
    debt: 0n,
    entitled: 0n,
    accepted: none(),
    refused: none(),
    found: null,
    recent: [],
  }
}

/** Begins the books of a player with the balance that the wallet answers. */
export function openAccount(account: Account, balance: Decimal, currency: string, minorUnits: number): void {
  const decimals = Math.max(minorUnits, decimalsOf(balance))
  const opening = unitsOf(balance, decimals) ?? 0n
  const step = 10n ** BigInt(decimals - minorUnits)
  Object.assign(account, {
    opened: true,
    currency,
    minorUnits,
    decimals,
    step,
    opening,
    low: opening,
    high: opening,
  })
}

/** Says what a transaction may have moved, now that more is known. */
export function setRange(transaction: Transaction, low: bigint, high: bigint): void {
  const { account } = transaction
  account.low += low - transaction.low
  account.high += high - transaction.high
  if (low < transaction.low) account.widenedDown += transaction.low - low
  if (high > transaction.high) account.widenedUp += high - transaction.high
  transaction.low = low
  transaction.high = high
}

/** As people read it: `"70.50"`. */
export function shown(units: bigint, account: Account): Decimal {
  return written(units, account.decimals, account.minorUnits)
}
