/** Builders of valid changes, so that a case can violate one guard and satisfy the others. */
import { add, isZero, negate } from '../money.js'
import type {
  Account,
  Bet,
  Decimal,
  Operation,
  SettlementType,
  Transaction,
  WalletChanges,
  WalletKeys,
} from '../store.js'

export const anna: Account = { playerId: 'anna', currency: 'EUR', balance: '100.00' }
export const ben: Account = { playerId: 'ben', currency: 'EUR', balance: '100.00' }
export const chen: Account = { playerId: 'chen', currency: 'JPY', balance: '10000' }

export const transactionDate = '2026-11-21T18:00:00.000Z'

/** Of the placebet `t-1` of {@link anna} for the bet `b-1`. */
export const keys: WalletKeys = {
  operation: 'placebet',
  transactionId: 't-1',
  playerId: 'anna',
  betId: 'b-1',
}

/** Whose transaction it is: by default {@link anna}'s. */
interface Owner {
  player?: Account
}

function transaction(
  operation: Operation,
  transactionId: string,
  betId: string,
  { playerId, currency }: Account,
): Transaction {
  return {
    operation,
    transactionId,
    playerId,
    betId,
    amount: null,
    currency: null,
    type: null,
    delta: '0',
    accountCurrency: currency,
    refusal: null,
    reason: 'ACCEPTED',
    transactionDate,
    walletTransactionId: null,
  }
}

function changesOf(of: Transaction, player: Account, bet: Bet | null): WalletChanges {
  const { transactionId, playerId, betId } = of
  const delta = isZero(of.delta) ? '0' : of.delta
  const account = { currency: player.currency, delta, floor: delta.startsWith('-') ? '0' : null }
  return {
    transaction: of,
    bet,
    credit: null,
    account,
    request: { transactionId, playerId, betId, transactionDate },
  }
}

export function placeBet(
  transactionId: string,
  betId: string,
  { player = anna, stake = '30' }: Owner & { stake?: Decimal } = {},
): WalletChanges {
  const { playerId, currency } = player
  const placed: Transaction = {
    ...transaction('placebet', transactionId, betId, player),
    amount: stake,
    currency,
    delta: negate(stake),
  }
  const bet: Bet = { betId, playerId, currency, stake, status: 'PLACED', credits: {}, revision: 1 }
  return changesOf(placed, player, bet)
}

/** A refused placebet: recorded, without a change of the balance. */
export function refuseBet(
  transactionId: string,
  betId: string,
  of: Owner & {
    amount?: Decimal
    errorCode?: string
    description?: string
    reason?: Transaction['reason']
  } = {},
): WalletChanges {
  const { player = anna, amount = '30', errorCode = 'INSUFFICIENT_FUNDS', description = 'no funds' } = of
  const refused: Transaction = {
    ...transaction('placebet', transactionId, betId, player),
    amount,
    currency: player.currency,
    refusal: { errorCode, description },
    reason: of.reason ?? 'INSUFFICIENT_FUNDS',
  }
  return changesOf(refused, player, null)
}

export function settleBet(
  bet: Bet,
  transactionId: string,
  amount: Decimal,
  { type = 'BET_PAID', player = anna }: Owner & { type?: SettlementType } = {},
): WalletChanges {
  const { live, reversed, owed } = bet.credits[type] ?? { live: null, reversed: '0', owed: '0' }
  const credited: Transaction = {
    ...transaction('settlement', transactionId, bet.betId, player),
    amount,
    currency: player.currency,
    type,
    delta: amount,
  }
  const credits = { ...bet.credits, [type]: { live: add(live ?? '0', amount), reversed, owed } }
  return changesOf(credited, player, { ...bet, credits, revision: bet.revision + 1 })
}

/** The same without the bet, for a store that has `addsCredits`. */
export function addCredit(
  bet: Bet,
  transactionId: string,
  amount: Decimal,
  of: Owner & { type?: SettlementType } = {},
): WalletChanges {
  const { type = 'BET_PAID', player = anna } = of
  const { playerId, currency } = player
  const credit = { playerId, currency, status: 'PLACED', type, amount } as const
  return { ...settleBet(bet, transactionId, amount, of), bet: null, credit }
}

/** An unsettlement of the live credit of a loaded bet: debited, or with `uncollected` owed (D7). */
export function unsettleBet(
  bet: Bet,
  transactionId: string,
  of: Owner & { type?: 'BET_PAID' | 'VOIDED'; uncollected?: boolean } = {},
): WalletChanges {
  const { type = 'BET_PAID', uncollected = false, player = anna } = of
  const { live, reversed, owed } = bet.credits[type] ?? { live: null, reversed: '0', owed: '0' }
  const amount = live ?? '0'
  const unsettled: Transaction = {
    ...transaction('unsettlement', transactionId, bet.betId, player),
    type: type === 'BET_PAID' ? 'UNSCORED' : 'UNVOIDED',
    delta: uncollected ? '0' : negate(amount),
    refusal: uncollected ? { errorCode: 'INSUFFICIENT_FUNDS', description: 'no funds' } : null,
    reason: uncollected ? 'INSUFFICIENT_FUNDS' : 'ACCEPTED',
  }
  const credit = uncollected
    ? { live: null, reversed, owed: add(owed, amount) }
    : { live: null, reversed: add(reversed, amount), owed }
  return changesOf(unsettled, player, {
    ...bet,
    credits: { ...bet.credits, [type]: credit },
    revision: bet.revision + 1,
  })
}

export function rollBackBet(bet: Bet, transactionId: string, { player = anna }: Owner = {}): WalletChanges {
  const rolled: Transaction = {
    ...transaction('rollbackbet', transactionId, bet.betId, player),
    type: 'TECHNICAL_ERROR',
    delta: bet.stake,
  }
  return changesOf(rolled, player, { ...bet, status: 'ROLLED_BACK', revision: bet.revision + 1 })
}

/** The rollback of a bet that never arrived: it leaves a tombstone (D11). */
export function leaveTombstone(
  transactionId: string,
  betId: string,
  { player = anna }: Owner = {},
): WalletChanges {
  const { playerId, currency } = player
  const rolled: Transaction = {
    ...transaction('rollbackbet', transactionId, betId, player),
    type: 'TECHNICAL_ERROR',
    reason: 'TOMBSTONE_CREATED',
  }
  const bet: Bet = { betId, playerId, currency, stake: '0', status: 'ROLLED_BACK', credits: {}, revision: 1 }
  return changesOf(rolled, player, bet)
}
