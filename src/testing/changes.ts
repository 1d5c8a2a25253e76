/** Builders of valid changes, so that a case can violate one guard and satisfy the others. */
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

function changesOf(of: Transaction, player: Player, bet: Bet | null): WalletChanges {
  const { transactionId, playerId, betId } = of
  const balance = isZero(of.delta)
    ? null
    : { currency: player.currency, delta: of.delta, floor: of.delta.startsWith('-') ? '0' : null }
  return { transaction: of, bet, balance, request: { transactionId, playerId, betId, transactionDate } }
}

/** A new bet of `stake`. */
export function placeBet({ stake = '30', ...identity }: Identity & { stake?: Decimal }): WalletChanges {
  const { player = anna, betId } = identity
  const { playerId, currency } = player
  const placed: Transaction = {
    ...transaction('placebet', identity),
    amount: stake,
    currency,
    delta: negate(stake),
  }
  const bet: Bet = { betId, playerId, currency, stake, status: 'PLACED', credits: {}, revision: 1 }
  return changesOf(placed, player, bet)
}

/** A refused placebet: recorded, without a change of the balance. */
export function refuseBet(
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
  return changesOf(refused, player, null)
}

/** A settlement of `amount` on a loaded bet. */
export function settleBet(
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
  return changesOf(credited, player, { ...bet, credits, revision: bet.revision + 1 })
}

/** An unsettlement of the live credit of a loaded bet: debited, or with `uncollected` owed (D7). */
export function unsettleBet(
  bet: Bet,
  of: { transactionId: string; type?: 'BET_PAID' | 'VOIDED'; uncollected?: boolean; player?: Player },
): WalletChanges {
  const { type = 'BET_PAID', uncollected = false, player = anna } = of
  const { live, reversed, owed } = bet.credits[type] ?? { live: null, reversed: '0', owed: '0' }
  const amount = live ?? '0'
  const unsettled: Transaction = {
    ...transaction('unsettlement', { ...of, betId: bet.betId }),
    type: type === 'BET_PAID' ? 'UNSCORED' : 'UNVOIDED',
    delta: uncollected ? '0' : negate(amount),
    refusal: uncollected ? { errorCode: 'INSUFFICIENT_FUNDS', description: 'no funds' } : null,
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

/** A rollback of a loaded bet. */
export function rollBackBet(bet: Bet, of: { transactionId: string; player?: Player }): WalletChanges {
  const rolled: Transaction = {
    ...transaction('rollbackbet', { ...of, betId: bet.betId }),
    type: 'TECHNICAL_ERROR',
    delta: bet.stake,
  }
  return changesOf(rolled, of.player ?? anna, { ...bet, status: 'ROLLED_BACK', revision: bet.revision + 1 })
}

/** The rollback of a bet that never arrived: it leaves a tombstone (D11). */
export function leaveTombstone(identity: Identity): WalletChanges {
  const { player = anna, betId } = identity
  const { playerId, currency } = player
  const rolled: Transaction = { ...transaction('rollbackbet', identity), type: 'TECHNICAL_ERROR' }
  const bet: Bet = { betId, playerId, currency, stake: '0', status: 'ROLLED_BACK', credits: {}, revision: 1 }
  return changesOf(rolled, player, bet)
}
