/** Lawful changes by hand, so that a case can break one guard and satisfy the others. */
import { add, isZero, negate } from '../money.js'
import type { Bet, Decimal, Operation, Player, SettlementType, Transaction, WalletChanges } from '../store.js'

export const anna: Player = { playerId: 'anna', currency: 'EUR', balance: '100.00' }
export const ben: Player = { playerId: 'ben', currency: 'EUR', balance: '100.00' }
export const chen: Player = { playerId: 'chen', currency: 'JPY', balance: '10000' }

export const transactionDate = '2026-11-21T18:00:00.000Z'

interface Identity {
  transactionId: string
  betId: string
  player?: Player
}

function transaction(operation: Operation, { transactionId, betId, player = anna }: Identity): Transaction {
  return {
    operation,
    transactionId,
    playerId: player.playerId,
    betId,
    amount: null,
    currency: null,
    type: null,
    delta: '0',
    refusal: null,
    transactionDate,
    walletTransactionId: null,
  }
}

function changes(of: Transaction, player: Player, bet: Bet | null): WalletChanges {
  const { transactionId, playerId, betId } = of
  const balance = isZero(of.delta)
    ? null
    : { currency: player.currency, delta: of.delta, floor: of.delta.startsWith('-') ? '0' : null }
  return { transaction: of, bet, balance, request: { transactionId, playerId, betId, transactionDate } }
}

/** A bet of `stake`, new. */
export function placing({ stake = '30', ...identity }: Identity & { stake?: Decimal }): WalletChanges {
  const { player = anna, betId } = identity
  const { playerId, currency } = player
  const placed: Transaction = {
    ...transaction('placebet', identity),
    amount: stake,
    currency,
    delta: negate(stake),
  }
  const bet: Bet = { betId, playerId, currency, stake, status: 'PLACED', credits: {}, revision: 1 }
  return changes(placed, player, bet)
}

/** A placebet that was refused: recorded, and nothing moves. */
export function refusing(
  identity: Identity & { amount?: Decimal; errorCode?: string; description?: string },
): WalletChanges {
  const {
    player = anna,
    amount = '30',
    errorCode = 'INSUFFICIENT_FUNDS',
    description = 'no funds',
  } = identity
  const refused: Transaction = {
    ...transaction('placebet', identity),
    amount,
    currency: player.currency,
    refusal: { errorCode, description },
  }
  return changes(refused, player, null)
}

/** A settlement of `amount` on a bet as it was loaded. */
export function crediting(
  bet: Bet,
  of: { transactionId: string; type?: SettlementType; amount: Decimal; player?: Player },
): WalletChanges {
  const { type = 'BET_PAID', amount, player = anna } = of
  const { live, reversed, owed } = bet.credits[type] ?? { live: null, reversed: '0', owed: '0' }
  const credited: Transaction = {
    ...transaction('settlement', { ...of, betId: bet.betId }),
    amount,
    currency: player.currency,
    type,
    delta: amount,
  }
  const credits = { ...bet.credits, [type]: { live: add(live ?? '0', amount), reversed, owed } }
  return changes(credited, player, { ...bet, credits, revision: bet.revision + 1 })
}

/** An unsettlement of what is live on a bet as it was loaded: collected, or (`closed`) left to the platform. */
export function reversing(
  bet: Bet,
  of: { transactionId: string; type?: 'BET_PAID' | 'VOIDED'; closed?: boolean; player?: Player },
): WalletChanges {
  const { type = 'BET_PAID', closed = false, player = anna } = of
  const { live, reversed, owed } = bet.credits[type] ?? { live: null, reversed: '0', owed: '0' }
  const amount = live ?? '0'
  const unsettled: Transaction = {
    ...transaction('unsettlement', { ...of, betId: bet.betId }),
    type: type === 'BET_PAID' ? 'UNSCORED' : 'UNVOIDED',
    delta: closed ? '0' : negate(amount),
    refusal: closed ? { errorCode: 'INSUFFICIENT_FUNDS', description: 'no funds' } : null,
  }
  const credit = closed
    ? { live: null, reversed, owed: add(owed, amount) }
    : { live: null, reversed: add(reversed, amount), owed }
  return changes(unsettled, player, {
    ...bet,
    credits: { ...bet.credits, [type]: credit },
    revision: bet.revision + 1,
  })
}

/** A rollback of a bet as it was loaded. */
export function rollingBack(bet: Bet, of: { transactionId: string; player?: Player }): WalletChanges {
  const rolled: Transaction = {
    ...transaction('rollbackbet', { ...of, betId: bet.betId }),
    type: 'TECHNICAL_ERROR',
    delta: bet.stake,
  }
  return changes(rolled, of.player ?? anna, { ...bet, status: 'ROLLED_BACK', revision: bet.revision + 1 })
}

/** A rollback of a bet that never arrived (D11). */
export function entombing(identity: Identity): WalletChanges {
  const { player = anna, betId } = identity
  const { playerId, currency } = player
  const rolled: Transaction = { ...transaction('rollbackbet', identity), type: 'TECHNICAL_ERROR' }
  const bet: Bet = { betId, playerId, currency, stake: '0', status: 'ROLLED_BACK', credits: {}, revision: 1 }
  return changes(rolled, player, bet)
}
