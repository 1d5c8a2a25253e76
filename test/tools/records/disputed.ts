/** A wallet in which everything happened that a player or finance asks about. */
import {
  handlePlaceBet,
  handleRollbackBet,
  handleUnsettlement,
  recordSettlement,
} from '../../../src/index.js'
import type { BetHistory, PlayerHistory } from '../../../src/lookups/index.js'
import { createMemoryWallet } from '../../../src/tools/try/memory-wallet.js'

export interface Disputed {
  bet(betId: string): Promise<BetHistory>
  player(page?: { limit?: number }): Promise<PlayerHistory>
  betsOf(history: PlayerHistory): Promise<BetHistory[]>
}

/** @param prefix of every id */
export async function disputedWallet(prefix = ''): Promise<Disputed> {
  const id = (name: string) => `${prefix}${name}`
  const { store, lookups } = createMemoryWallet([
    { playerId: id('anna'), currency: 'EUR', balance: '100' },
    { playerId: id('kenji'), currency: 'JPY', balance: '77700077' },
  ])
  const common = { playerId: id('anna'), transactionDate: '2026-11-21T18:00:00Z' }
  const ids = (transaction: string, bet: string) => ({ transactionId: id(transaction), betId: id(bet) })
  const place = (transaction: string, bet: string, amount: string, fields: object = {}) =>
    handlePlaceBet(store, {
      ...{ ...common, ...ids(transaction, bet), amount, currency: 'EUR' },
      ...{ sessionId: 's', odds: '2', betType: 'SINGLE', ...fields },
    })
  const settle = (transaction: string, bet: string, amount: string, type = 'BET_PAID') =>
    recordSettlement(store, { ...common, ...ids(transaction, bet), amount, currency: 'EUR', type })
  const unsettle = (transaction: string, bet: string) =>
    handleUnsettlement(store, { ...common, ...ids(transaction, bet), type: 'UNSCORED' })
  const rollBack = (transaction: string, bet: string) =>
    handleRollbackBet(store, { ...common, ...ids(transaction, bet), type: 'TECHNICAL_ERROR' })

  await place('t-1', 'corrected', '30')
  await place('t-2', 'corrected', '30', { playerId: id('kenji'), currency: 'JPY' })
  await settle('s-1', 'corrected', '75.50')
  await unsettle('u-1', 'corrected')
  await place('t-3', 'returned', '10')
  await rollBack('r-3', 'returned')
  await place('t-4', 'refused', '500')
  await place('t-5', 'owed', '20')
  await settle('s-5', 'owed', '40')
  await place('t-6', 'open', '90')
  await unsettle('u-5', 'owed')
  await rollBack('r-7', 'late')
  await place('t-7', 'late', '1')
  await place('t-8', 'foreign', '1', { currency: 'USD' })

  const bet = async (betId: string) => (await lookups.bet(betId)) as BetHistory
  return {
    bet: name => bet(id(name)),
    player: async (page = {}) => (await lookups.player(id('anna'), page)) as PlayerHistory,
    betsOf: async ({ transactions }) =>
      await Promise.all([...new Set(transactions.map(({ betId }) => betId))].map(bet)),
  }
}
