/** A ledger that `withinTransaction` writes, with the balance after each commit: on any of our stores. */
import fc from 'fast-check'
import { expect } from 'vitest'
import type { WalletChanges, WalletStore } from '../../src/store.js'
import type { PendingCommit, Query } from '../../src/stores/postgres/index.js'
import { bet, live, transaction } from '../fixtures.js'

/** A store whose players have 100 EUR, and what it has recorded. */
export interface LedgerStore {
  store: WalletStore
  players: readonly string[]
  /** In the order in which the hook wrote them: reference, player, delta, balance. */
  ledger(): Promise<unknown[][]>
  /** Reference and `balance_after` of every transaction. */
  recorded(): Promise<unknown[][]>
}

/** The hook: an entry for each commit, and a refusal of every debit of 13. */
export async function writeEntries(
  query: Query,
  commits: readonly PendingCommit[],
  insert: string,
): Promise<void> {
  for (const commit of commits) {
    const { playerId, delta } = commit.changes.transaction
    if (delta === '-13') commit.refuse('LIMIT', 'above the limit')
    await query(insert, [commit.walletTransactionId, playerId, delta, commit.balance])
  }
}

/** One call: of a player, in hundredths. A debit that the balance does not cover is a conflict. */
const movement = fc.record({
  player: fc.nat({ max: 2 }),
  hundredths: fc.oneof(fc.constant(1300), fc.integer({ min: 1, max: 6000 })),
  kind: fc.constantFrom('debit', 'debit', 'credit', 'free'),
})
export const movements = fc.array(fc.array(movement, { minLength: 1, maxLength: 12 }), { maxLength: 4 })
type Movement = typeof movement extends fc.Arbitrary<infer T> ? T : never

let calls = 0

/** A free bet changes no balance, and is in the ledger too. */
function changesOf({ player, hundredths, kind }: Movement, players: readonly string[]): WalletChanges {
  calls += 1
  const ids = { playerId: players[player] ?? '', betId: `bet-${calls}`, transactionId: `t-${calls}` }
  const amount = kind === 'free' ? '0' : String(hundredths / 100)
  const { transactionId, ...betIds } = ids
  if (kind === 'credit')
    return {
      transaction: transaction({
        ...{ ...ids, operation: 'settlement', type: 'BET_PAID', amount },
        ...{ delta: amount, walletTransactionId: null },
      }),
      bet: bet({ ...betIds, credits: { BET_PAID: live(amount) } }),
      credit: null,
      account: { currency: 'EUR', delta: amount, floor: null },
      request: {},
    }
  const delta = kind === 'free' ? '0' : `-${amount}`
  return {
    transaction: transaction({ ...ids, amount, delta, walletTransactionId: null }),
    bet: bet({ ...betIds, stake: amount }),
    credit: null,
    account: { currency: 'EUR', delta, floor: kind === 'free' ? null : '0' },
    request: {},
  }
}

/** Commits each list at once, so that its requests share batches. */
export async function commitAll(
  { store, players }: LedgerStore,
  lists: readonly Movement[][],
): Promise<void> {
  for (const list of lists) await Promise.all(list.map(each => store.commit(changesOf(each, players))))
}

/** Every balance is the running sum of its player, and the one of the recorded transaction. */
export async function expectRunningBalances({ ledger, recorded }: LedgerStore): Promise<void> {
  const balances = new Map<unknown, number>()
  const after = new Map((await recorded()).map(([reference, balance]) => [reference, Number(balance)]))
  const entries = await ledger()
  const expected = entries.map(([reference, player, delta]) => {
    const balance = (balances.get(player) ?? 10_000) + Math.round(Number(delta) * 100)
    balances.set(player, balance)
    return [reference, balance / 100, balance / 100]
  })
  expect(
    entries.map(([reference, , , balance]) => [reference, Number(balance), after.get(reference)]),
  ).toEqual(expected)
  expect(entries).toHaveLength(after.size)
}
