/**
 * The reference store with one promise broken, or one rule undone on the way to it: what the judges must see. Each is a
 * wrapper, so that everything else stays as it is.
 */
import type { Transaction, WalletChanges } from 'bet-wallet'
import type { MemoryStore } from 'bet-wallet/memory'
import { addsUp, hadIt, netZero, neverCollected, neverNegative } from './money.js'
import type { Variant } from './world.js'

const changed =
  (change: (changes: WalletChanges, memory: MemoryStore) => WalletChanges): Variant =>
  memory => ({ ...memory, commit: changes => memory.commit(change(changes, memory)) })

/** D11 undone: the rollback of an unknown bet leaves nothing behind. */
const withoutTombstone = changed(changes =>
  changes.bet?.status === 'ROLLED_BACK' && changes.bet.revision === 1 ? { ...changes, bet: null } : changes,
)

/** D7 undone: a clawback that is answered 402 leaves its credit live. */
const withoutClosing = changed(changes =>
  changes.transaction.refusal !== null ? { ...changes, bet: null } : changes,
)

/** A transaction that is recorded already is recorded again, in its place. */
const withoutGuard1: Variant = memory => {
  // In the store behind, the copies have ids of their own; in front of it only the last one is seen.
  const copies = new Map<string, number>()
  const keyOf = ({ operation, transactionId }: Pick<Transaction, 'operation' | 'transactionId'>) =>
    `${operation} ${transactionId}`
  const idOf = (transactionId: string, copy: number) =>
    copy === 1 ? transactionId : `${transactionId} copy ${copy}`
  return {
    ...memory,
    async load(keys) {
      const copy = copies.get(keyOf(keys)) ?? 1
      const snapshot = await memory.load({ ...keys, transactionId: idOf(keys.transactionId, copy) })
      const { transaction } = snapshot
      return transaction === null
        ? snapshot
        : { ...snapshot, transaction: { ...transaction, transactionId: keys.transactionId } }
    },
    async commit(changes) {
      const { transaction } = changes
      const copy = (copies.get(keyOf(transaction)) ?? 0) + 1
      const transactionId = idOf(transaction.transactionId, copy)
      const result = await memory.commit({ ...changes, transaction: { ...transaction, transactionId } })
      if (result.status === 'committed') copies.set(keyOf(transaction), copy)
      return result
    },
    transactions(playerId) {
      const last = new Map<string, Transaction>()
      for (const recorded of memory.transactions(playerId)) {
        const transaction = { ...recorded, transactionId: recorded.transactionId.replace(/ copy .*/, '') }
        last.set(keyOf(transaction), transaction)
      }
      return [...last.values()]
    },
  }
}

/** A bet is written over whatever has become of it. */
const withoutGuard2 = changed((changes, memory) => {
  if (changes.bet === null) return changes
  const revision = (memory.bet(changes.bet.betId)?.revision ?? 0) + 1
  return { ...changes, bet: { ...changes.bet, revision } }
})

/** A balance is moved whatever it is by then. */
const withoutGuard3 = changed(changes =>
  changes.balance === null ? changes : { ...changes, balance: { ...changes.balance, floor: null } },
)

/** `committed` tells the balance of before the commit. */
const withStaleBalance: Variant = memory => ({
  ...memory,
  async commit(changes) {
    const before = memory.player(changes.transaction.playerId)
    const result = await memory.commit(changes)
    return result.status === 'committed' && before !== null ? { ...result, balance: before.balance } : result
  },
})

/** Each with the invariant of money that must see it, without help from the rules. */
export const brokenVariants: readonly { name: string; variant: Variant; seenBy: string }[] = [
  { name: 'the tombstone removed', variant: withoutTombstone, seenBy: netZero },
  { name: 'the closing removed', variant: withoutClosing, seenBy: neverCollected },
  { name: 'guard 1 removed', variant: withoutGuard1, seenBy: addsUp },
  { name: 'guard 2 removed', variant: withoutGuard2, seenBy: netZero },
  { name: 'guard 3 removed', variant: withoutGuard3, seenBy: neverNegative },
  { name: 'a balance from before the commit', variant: withStaleBalance, seenBy: hadIt },
]
