/** Sample calls of the platform, as curl commands. */

export interface Call {
  title: string
  path: string
  body: Record<string, unknown>
}

const anna = { playerId: 'anna', transactionDate: '2026-11-21T18:00:00Z' }
const annaBets = { ...anna, sessionId: 's-1', amount: 30, currency: 'EUR', odds: 1.85, betType: 'SINGLE' }

export const calls: readonly Call[] = [
  {
    title: 'Anna places a bet of 30 EUR: 200, balance 70.00',
    path: '/placebet',
    body: { transactionId: 'place-1', betId: 'bet-1', ...annaBets },
  },
  {
    title: 'The bet wins, 55.50 EUR are credited: 200, balance 125.50',
    path: '/settlement',
    body: {
      transactionId: 'settle-1',
      betId: 'bet-1',
      ...anna,
      type: 'BET_PAID',
      amount: 55.5,
      currency: 'EUR',
    },
  },
  {
    title: 'The result was wrong, the win is reversed: 200, balance 70.00',
    path: '/unsettlement',
    body: { transactionId: 'unsettle-1', betId: 'bet-1', ...anna, type: 'UNSCORED' },
  },
  {
    title: 'The bet is rolled back: 200, balance 100.00',
    path: '/rollbackbet',
    body: { transactionId: 'rollback-1', betId: 'bet-1', ...anna, type: 'TECHNICAL_ERROR' },
  },
  {
    title: 'Anna bets more than her balance: 402 INSUFFICIENT_FUNDS',
    path: '/placebet',
    body: { transactionId: 'place-2', betId: 'bet-2', ...annaBets, amount: 100.01 },
  },
  {
    title: 'Kenji places a bet of 1200 JPY, a currency without decimals: 200, balance 3800',
    path: '/placebet',
    body: {
      ...{ transactionId: 'place-3', betId: 'bet-3', ...annaBets, playerId: 'kenji' },
      ...{ amount: 1200, currency: 'JPY' },
    },
  },
]

/** One curl command per call. The title describes the call and its expected answer. */
export function curlLines(
  calls: readonly Call[],
  base: string,
  { username, password }: { username: string; password: string },
) {
  // None of these values has an apostrophe, so single quotes are safe in every shell.
  return calls.map(({ title, path, body }) => ({
    title,
    line:
      `curl -i -w '\\n' -u '${username}:${password}' -H 'Content-Type: application/json' ` +
      `-d '${JSON.stringify(body)}' '${base}${path}'`,
  }))
}
