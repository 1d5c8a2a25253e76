/** examples/stores/batches.ts: many calls are one statement, and a call without an answer has an unknown outcome. */
import { handlePlaceBet, type WalletChanges } from 'bet-wallet'
import { createMemoryStore } from 'bet-wallet/memory'
import { expect, test } from 'vitest'
import { createBatchedStore } from '../../examples/stores/batches.js'

const players = ['anna', 'ben', 'carol']
const betOf = (playerId: string) => ({
  ...{ transactionId: `t-${playerId}`, betId: `b-${playerId}`, playerId, sessionId: 's-1', amount: '2.50' },
  ...{ currency: 'EUR', betType: 'SINGLE', transactionDate: '2026-11-21T18:00:00Z' },
})

function open(answered: (playerId: string) => boolean) {
  const memory = createMemoryStore(players.map(playerId => ({ playerId, currency: 'EUR', balance: '10.00' })))
  const batches: number[] = []
  const store = createBatchedStore(memory.load, async items => {
    batches.push(items.length)
    const rows = await Promise.all(
      items.map(async (item: WalletChanges, index) => ({ index, result: await memory.commit(item) })),
    )
    return rows.filter((_, index) => answered(items[index]?.transaction.playerId ?? ''))
  })
  return { store, memory, batches }
}

test('the bets of three players are one statement', async () => {
  const { store, memory, batches } = open(() => true)
  const outcomes = await Promise.all(players.map(playerId => handlePlaceBet(store, betOf(playerId))))
  expect(outcomes.map(({ ok }) => ok)).toEqual([true, true, true])
  expect(batches).toEqual([3])
  expect(players.map(playerId => memory.account(playerId)?.balance)).toEqual(['7.5', '7.5', '7.5'])
})

test('a call whose row is missing is looked up, and answered by its record', async () => {
  const { store, memory } = open(playerId => playerId !== 'ben')
  const outcomes = await Promise.all(players.map(playerId => handlePlaceBet(store, betOf(playerId))))
  expect(outcomes.map(outcome => outcome.ok && outcome.replayed)).toEqual([false, true, false])
  expect(memory.account('ben')?.balance).toBe('7.5')
})
