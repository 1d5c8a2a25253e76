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
import type { Definite } from './reading.js'

const operations = ['placebet', 'settlement', 'unsettlement', 'rollbackbet'] as const
export type SimulatedOperation = (typeof operations)[number]

export const perOperation = <T>(value: () => T) =>
  Object.fromEntries(operations.map(operation => [operation, value()])) as Record<SimulatedOperation, T>

/** A player in the books. Amounts are whole units: multiples of the last of `decimals` digits. */
export class Account {
  /** Whether the opening balance is known, and with it the fields up to `opening`. */
  opened = false
  currency = ''
  minorUnits = 0
  /** Decimals of the units here: those of the currency, or more where the opening balance has more. */
  decimals = 0
  /** One minor unit of the currency, in units. */
  step = 1n
  opening = 0n
  low = 0n
  high = 0n
  /** The sum of all shifts of an end outwards: shows whether the range grew while a request was in flight. */
  widenedDown = 0n
  widenedUp = 0n
  /** The error of the wallet's balances that is already reported, so that one error is reported once. */
  drift = 0n
  readonly accepted = perOperation(() => 0)
  readonly refused = perOperation(() => 0)
  /** The balance that the wallet answered at the end; `null` until then. */
  actual: Decimal | null = null
  /** Decisions since the balance was last seen exact: the possible causes of a difference. */
  readonly recent: Transaction[] = []
  /** The player's accounts in other currencies. */
  others: readonly Account[] = []
  /** Of one of several: a bet that is rolled back, whose further rollbacks read its balance (D12). */
  reading: Bet | null = null

  constructor(
    readonly playerId: string,
    readonly sessionId: string,
  ) {}

  /** For people, and the timeline. */
  get name(): string {
    return this.others.length === 0 ? this.playerId : `${this.playerId} ${this.currency}`
  }

  /** Opens the books with the balance that the wallet answers. */
  open(balance: Decimal, currency: string, minorUnits: number): void {
    this.opened = true
    this.currency = currency
    this.minorUnits = minorUnits
    this.decimals = Math.max(minorUnits, balance.scale)
    this.step = 10n ** BigInt(this.decimals - minorUnits)
    this.opening = toUnits(balance, this.decimals) ?? 0n
    this.low = this.opening
    this.high = this.opening
  }
}

/** The accounts of a player: one in a currency that is not known yet, or one in each of these currencies. */
export function accountsOf(
  playerId: string,
  sessionId: string,
  currencies: readonly { currency: string; minorUnits: number }[],
): Account[] {
  if (currencies.length === 0) return [new Account(playerId, sessionId)]
  const accounts = currencies.map(({ currency, minorUnits }) =>
    Object.assign(new Account(playerId, sessionId), { currency, minorUnits, decimals: minorUnits }),
  )
  for (const account of accounts) account.others = accounts.filter(other => other !== account)
  return accounts
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
  readonly changesBalance: boolean
  /** The range of the change of the balance. */
  low: bigint
  high: bigint
  /** The moment of the first delivery; 0 if there was none. */
  sentAt: number
  /** The decision that every retry must be answered with; `null` until it is known. */
  first: Definite | null
  /** The moment at which it arrived. */
  firstAt: number
}

/** A bet as far as the balance is concerned. */
export class Bet {
  /** `null`: never placed. A rollback of such a bet reads the balance. */
  placed: Transaction | null = null
  rollback: Transaction | null = null
  /** The moment at which the first success of its rollback arrived; 0 if there was none. */
  rolledBackAt = 0
  /** In the order of their creation. */
  readonly transactions: Transaction[] = []
  /** The settlements that are credited and not reversed. */
  credits: Transaction[] = []
  /** A clawback was refused: the bet cannot be rolled back any more (D13). */
  uncollected = false
  closed = false

  /** @param invalid why the bet must be refused; `null`: it may be accepted */
  constructor(
    readonly betId: string,
    readonly account: Account,
    readonly stake: bigint,
    readonly invalid: { kind: 'currency' | 'overspent'; reason: string } | null = null,
  ) {}
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
