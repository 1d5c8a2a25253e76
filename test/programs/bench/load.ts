/** Placebets for the measurements in process, and the values that all benchmarks share. */

export const player = { playerId: 'player-1', currency: 'EUR', balance: '1000000000.00' }

export const credentials = { username: 'platform', password: 'bench-secret' }

let sent = 0

/** The JSON texts of `count` placebets with new ids, as the platform writes them. */
export function placeBets(count: number): string[] {
  return Array.from({ length: count }, () => {
    sent += 1
    return JSON.stringify({
      transactionId: `transaction-${process.pid}-${sent}`,
      betId: `bet-${process.pid}-${sent}`,
      playerId: player.playerId,
      sessionId: '7d0f9c1e-5b1a-4f0e-9f53-2f6f0b1d6a11',
      amount: 25.5,
      currency: player.currency,
      odds: 1.85,
      betType: 'SINGLE',
      transactionDate: '2026-11-21T10:00:00.000Z',
    })
  })
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1
    ? (sorted[middle] as number)
    : ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2
}
