/** Placebets as the platform sends them, each with new ids. */

export const playersCount = 10_000

export interface PlaceBet {
  transactionId: string
  betId: string
  playerId: string
  sessionId: string
  amount: number
  currency: string
  odds: number
  betType: string
  transactionDate: string
}

const transactionDate = '2026-11-21T10:00:00.000Z'

let last = 0

/** Sixteen digits; greater than {@link firstStored} and every earlier id. */
export function risingId(): number {
  last = Math.max(last + 1, Date.now() * 1_000)
  return last
}

/** The first id of the bets that are inserted by SQL. */
export const firstStored = 1_000_000_000_000_000

export function nextId(ids: 'rising' | 'random'): string {
  return String(ids === 'rising' ? risingId() : firstStored + Math.floor(Math.random() * 8 * firstStored))
}

export function anyPlayer(): string {
  return String(1 + Math.floor(Math.random() * playersCount))
}

export function placeBetOf(playerId: string, ids: 'rising' | 'random'): PlaceBet {
  const id = nextId(ids)
  return {
    transactionId: id,
    betId: id,
    playerId,
    sessionId: '7d0f9c1e-5b1a-4f0e-9f53-2f6f0b1d6a11',
    amount: 2.5,
    currency: 'EUR',
    odds: 1.85,
    betType: 'SINGLE',
    transactionDate,
  }
}

/** A body for `recordSettlement`; with type `UNSCORED`, for `handleUnsettlement`. */
export function settlementOf(betId: number, playerId: string, ids: 'rising' | 'random') {
  return {
    transactionId: nextId(ids),
    betId: String(betId),
    playerId,
    type: 'BET_PAID',
    amount: 4.5,
    currency: 'EUR',
    transactionDate,
  }
}
