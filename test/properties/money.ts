/**
 * Invariants of the money in a wallet, whatever the rules are. They add up the records, and do not judge
 * whether an answer was right.
 */
import type { SettlementType, Transaction } from 'bet-wallet'
import type { MemoryStore } from 'bet-wallet/memory'
import { expect } from 'vitest'
import type { Cents, InitialPlayer } from '../../src/testing/model.js'
import { creditOf } from '../../src/testing/model-comparison.js'
import { toCents } from '../../src/testing/platform.js'

export function sumOf(transactions: readonly Transaction[]): Cents {
  return transactions.reduce((sum, { delta }) => sum + toCents(delta), 0n)
}

/** Balance = initial balance + external movements + recorded deltas, and never negative. */
export function expectBalancesToAddUp(
  memory: MemoryStore,
  players: readonly InitialPlayer[],
  external: (playerId: string) => Cents,
): void {
  for (const { playerId, balance: initial } of players) {
    const balance = toCents(memory.account(playerId)?.balance ?? 'none')
    expect(balance, `balance of ${playerId}`).toBe(
      initial + external(playerId) + sumOf(memory.transactions(playerId)),
    )
    expect(balance >= 0n, `balance of ${playerId}, ${balance}, is not negative`).toBe(true)
  }
}

/** The movements of a bet match its state: per settlement type, and in total. */
export function expectBetsToAddUp(memory: MemoryStore): void {
  const transactions = memory.transactions()
  for (const bet of memory.bets()) {
    const own = transactions.filter(({ betId }) => betId === bet.betId)
    const movedBy = (operation: Transaction['operation'], type?: string) =>
      sumOf(own.filter(one => one.operation === operation && (type === undefined || one.type === type)))

    let notReversed = 0n
    for (const type of ['BET_PAID', 'VOIDED', 'CASHOUT'] as const) {
      const { live, reversed, owed } = creditOf(bet, type)
      notReversed += live + owed
      expect(movedBy('settlement', type), `${bet.betId}: credited as ${type}`).toBe(live + reversed + owed)
      expect(movedBy('unsettlement', reversalOf[type]), `${bet.betId}: reversed of ${type}`).toBe(-reversed)
    }

    const stake = toCents(bet.stake)
    expect(movedBy('placebet'), `${bet.betId}: staked`).toBe(-stake)
    expect(movedBy('rollbackbet'), `${bet.betId}: returned`).toBe(bet.status === 'PLACED' ? 0n : stake)
    expect(sumOf(own), `${bet.betId}: total movement`).toBe(
      bet.status === 'PLACED' ? notReversed - stake : 0n,
    )
  }
  // No movement belongs to an unknown bet.
  const strays = transactions.filter(
    ({ betId, delta }) => memory.bet(betId) === null && toCents(delta) !== 0n,
  )
  expect(strays).toEqual([])
}

const reversalOf: Record<SettlementType, string> = {
  BET_PAID: 'UNSCORED',
  VOIDED: 'UNVOIDED',
  CASHOUT: 'no reversal of CASHOUT',
}
