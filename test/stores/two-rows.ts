/** An account with two rows, which no index excludes: its calls are faults, and no other call is. */
import { expect } from 'vitest'
import { handlePlaceBet, type WalletStore } from '../../src/index.js'
import { placeBet } from '../fixtures.js'

const players = ['bob', 'alice', 'carol']

/** Places bets of 30 in one batch: `alice` has two rows of EUR, `bob` and `carol` one. */
export async function expectFaultsOfAlice(store: WalletStore): Promise<void> {
  const load = (playerId: string) =>
    store.load({ operation: 'placebet', transactionId: playerId, playerId, betId: playerId })
  // While the first is read, the others gather.
  const [, ...loads] = await Promise.allSettled(['dora', ...players].map(load))
  expect(loads.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  expect(loads[1]).toMatchObject({
    reason: {
      code: 'INVALID_PLAYERS_TABLE',
      message: expect.stringContaining('has several rows for the player "alice" in one currency'),
    },
  })
  const bets = players.map(playerId =>
    handlePlaceBet(store, placeBet({ playerId, betId: `b-${playerId}`, transactionId: `t-${playerId}` })),
  )
  const done = { value: { ok: true, balance: '70.00', currency: 'EUR' } }
  expect(await Promise.allSettled(bets)).toMatchObject([done, { status: 'rejected' }, done])
}
