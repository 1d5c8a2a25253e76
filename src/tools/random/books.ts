/**
 * The platform's own books: the balance that every player must have, from the requests that were sent and the
 * answers that arrived.
 *
 * As long as an answer is missing, a transaction may have changed the balance or not. So every transaction
 * has a range of possible changes, and a player's balance lies between the sums of the lower and of the upper
 * ends. Once everything is answered, both ends meet, and the balance is known to the cent.
 */
import type { SettlementType } from '../../store.js'
import { type Decimal, type DecimalText, textOfUnits, toUnits } from '../numbers/decimal.js'

/** A player in the books. Amounts are whole units: multiples of the last of `decimals` digits. */
export interface Account {
  readonly playerId: string
  readonly sessionId: string
  /** Whether the opening balance is known, and with it the fields up to `opening`. */
  opened: boolean
  currency: string
  minorUnits: number
  /** Decimals of the units here: those of the currency, or more where the opening balance has more. */
  decimals: number
  /** One minor unit of the currency, in units. */
  step: bigint
  opening: bigint
  low: bigint
  high: bigint
  /** The sum of all moves of an end outwards: shows whether the range grew while a request was in flight. */
  widenedDown: bigint
  widenedUp: bigint
  /** The error of the wallet's balances that is already reported, so that one error is reported once. */
  drift: bigint
  accepted: Record<SimulatedOperation, number>
  refused: Record<SimulatedOperation, number>
  /** The balance that the wallet answered at the end; `null` until then. */
  actual: Decimal | null
  /** Decisions since the balance was last seen exact: the possible causes of a difference. */
  recent: Transaction[]
}

export type SimulatedOperation = 'placebet' | 'settlement' | 'unsettlement' | 'rollbackbet'

export function perOperation<T>(value: (operation: SimulatedOperation) => T): Record<SimulatedOperation, T> {
  return {
    placebet: value('placebet'),
    settlement: value('settlement'),
    unsettlement: value('unsettlement'),
    rollbackbet: value('rollbackbet'),
  }
}

/** A definite answer. Every retry must be answered alike. */
export interface FirstAnswer {
  ok: boolean
  status: number
  errorCode: string
  reference: string | null
  /** The moment at which it arrived. */
  at: number
}

/** A transaction of the platform: sent once or several times, always with the same body. */
export interface Transaction {
  readonly operation: SimulatedOperation
  readonly transactionId: string
  readonly account: Account
  readonly bet: Bet
  /** In units: the stake, the settled amount, or the amount that an unsettlement reverses. */
  readonly amount: bigint
  /** `null` for a placebet. */
  readonly type: SettlementType | 'UNSCORED' | 'UNVOIDED' | 'TECHNICAL_ERROR' | null
  readonly body: string
  /** `false`: a call that must be refused, or changes nothing: a changed retry, another player's bet. */
  readonly moves: boolean
  /** The range of the change of the balance. */
  low: bigint
  high: bigint
  /** The moment of the first delivery; 0 if there was none. */
  sentAt: number
  first: FirstAnswer | null
}

/** A bet as far as the balance is concerned. */
export interface Bet {
  readonly betId: string
  readonly account: Account
  readonly stake: bigint
  /** Why the bet must be refused; `null`: it may be accepted. */
  readonly invalid: { kind: 'currency' | 'overspent'; reason: string } | null
  /** `null`: never placed. A rollback of such a bet reads the balance. */
  placed: Transaction | null
  rollback: Transaction | null
  /** The moment at which the first success of its rollback arrived; 0 if there was none. */
  rolledBackAt: number
  /** In the order of their creation. */
  transactions: Transaction[]
  /** The settlements that are credited and not reversed. */
  credits: Transaction[]
  /** A clawback was refused: the bet cannot be rolled back any more (D13). */
  uncollected: boolean
  closed: boolean
}

export function createBet(
  betId: string,
  account: Account,
  stake: bigint,
  invalid: Bet['invalid'] = null,
): Bet {
  return {
    betId,
    account,
    stake,
    invalid,
    placed: null,
    rollback: null,
    rolledBackAt: 0,
    transactions: [],
    credits: [],
    uncollected: false,
    closed: false,
  }
}

/** A player whose balance is not known yet. */
export function createAccount(playerId: string, sessionId: string): Account {
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
    accepted: perOperation(() => 0),
    refused: perOperation(() => 0),
    actual: null,
    recent: [],
  }
}

/** Opens the books of a player with the balance that the wallet answers. */
export function openAccount(account: Account, balance: Decimal, currency: string, minorUnits: number): void {
  const decimals = Math.max(minorUnits, balance.scale)
  const opening = toUnits(balance, decimals) ?? 0n
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

/** Sets the range of the change that a transaction may have made. */
export function setRange(transaction: Transaction, low: bigint, high: bigint): void {
  const { account } = transaction
  account.low += low - transaction.low
  account.high += high - transaction.high
  if (low < transaction.low) account.widenedDown += transaction.low - low
  if (high > transaction.high) account.widenedUp += high - transaction.high
  transaction.low = low
  transaction.high = high
}

/** Decimal text with the decimals of the currency, and further ones where there are any: `"70.50"`. */
export function shown(units: bigint, { decimals, minorUnits }: Account): DecimalText {
  return textOfUnits(units, decimals, minorUnits)
}

/** A range as decimal text: `"70.50"`, or `"70.50 to 80.00"`. */
export function shownRange(low: bigint, high: bigint, account: Account): string {
  return low === high ? shown(low, account) : `${shown(low, account)} to ${shown(high, account)}`
}

/** The most digits that an amount may have before its point (D22). */
const wholeDigitsMax = 15

/** The largest amount of the interface (D22), in units. */
export function largestAmount({ decimals, step }: Account): bigint {
  return 10n ** BigInt(wholeDigitsMax + decimals) - step
}
