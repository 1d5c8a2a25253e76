/**
 * What must hold of the money in a wallet whatever the rules are. It reads what is recorded and adds; it does
 * not ask whether a request should have been answered so.
 */
import type { SettlementType, Transaction } from 'bet-wallet'
import type { MemoryStore } from 'bet-wallet/memory'
import { expect } from 'vitest'
import { creditOf } from '../../src/testing/judge.js'
import type { Cents, InitialPlayer } from '../../src/testing/model.js'
import { toCents } from '../../src/testing/platform.js'

export function sumOf(transactions: readonly Transaction[]): Cents {
  return transactions.reduce((sum, { delta }) => sum + toCents(delta), 0n)
}

/** Balance = opening + what other writers moved + recorded deltas, and never below zero. */
export function expectBalancesToAddUp(
  memory: MemoryStore,
  openings: readonly InitialPlayer[],
  external: (playerId: string) => Cents,
): void {
  for (const { playerId, balance: opening } of openings) {
    const balance = toCents(memory.player(playerId)?.balance ?? 'none')
    expect(balance, `balance of ${playerId}`).toBe(
      opening + external(playerId) + sumOf(memory.transactions(playerId)),
    )
    expect(balance >= 0n, `balance of ${playerId}, ${balance}, is not below zero`).toBe(true)
  }
}

/** What moved for a bet is what its state says: per settlement type, and as a whole. */
export function expectBetsToAddUp(memory: MemoryStore): void {
  const transactions = memory.transactions()
  for (const bet of memory.bets()) {
    const own = transactions.filter(({ betId }) => betId === bet.betId)
    const movedBy = (operation: Transaction['operation'], type?: string) =>
      sumOf(own.filter(moved => moved.operation === operation && (type === undefined || moved.type === type)))

    let kept = 0n
    for (const type of ['BET_PAID', 'VOIDED', 'CASHOUT'] as const) {
      const { live, reversed, owed } = creditOf(bet, type)
      kept += live + owed
      expect(movedBy('settlement', type), `${bet.betId}: credited as ${type}`).toBe(live + reversed + owed)
      expect(movedBy('unsettlement', reversalOf[type]), `${bet.betId}: taken back of ${type}`).toBe(-reversed)
    }

    const stake = toCents(bet.stake)
    expect(movedBy('placebet'), `${bet.betId}: staked`).toBe(-stake)
    expect(movedBy('rollbackbet'), `${bet.betId}: returned`).toBe(bet.status === 'PLACED' ? 0n : stake)
    expect(sumOf(own), `${bet.betId}: moved in all`).toBe(bet.status === 'PLACED' ? kept - stake : 0n)
  }
  // No money moves for a bet that nobody knows.
  const strays = transactions.filter(
    ({ betId, delta }) => memory.bet(betId) === null && toCents(delta) !== 0n,
  )
  expect(strays).toEqual([])
}

const reversalOf: Record<SettlementType, string> = {
  BET_PAID: 'UNSCORED',
  VOIDED: 'UNVOIDED',
  CASHOUT: 'CASHOUT has none',
}
