/**
 * Variants of the memory store with one fault each, which the checks must detect. Each is a wrapper, so that
 * everything else stays the same.
 */
import type { Transaction, WalletChanges } from 'bet-wallet'
import type { MemoryStore } from 'bet-wallet/memory'
import { someOrder } from './checker.js'
import type { Placebets } from './handler.js'
import { addsUp, balanceExisted, netZero, neverCollected, neverNegative } from './money.js'
import type { Variant } from './observed-store.js'

const changed =
  (change: (changes: WalletChanges, memory: MemoryStore) => WalletChanges): Variant =>
  memory => ({ ...memory, commit: changes => memory.commit(change(changes, memory)) })

/** Without D11: the rollback of an unknown bet leaves no tombstone. */
const withoutTombstone = changed(changes =>
  changes.bet?.status === 'ROLLED_BACK' && changes.bet.revision === 1 ? { ...changes, bet: null } : changes,
)

/** Without D7: an uncollected clawback leaves its credit live. */
const withLiveCredit = changed(changes =>
  changes.transaction.refusal !== null ? { ...changes, bet: null } : changes,
)

/** A recorded transaction is recorded again, and replaces the first record. */
const withoutGuard1: Variant = memory => {
  // The copies have different ids in the memory store. Callers see only the last copy, under the original id.
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

/** A bet is overwritten, whatever its revision. */
const withoutGuard2 = changed((changes, memory) => {
  if (changes.bet === null) return changes
  const revision = (memory.bet(changes.bet.betId)?.revision ?? 0) + 1
  return { ...changes, bet: { ...changes.bet, revision } }
})

/** A settlement that has loaded its bet overwrites it, whatever its revision. */
const withoutGuard2OfSettlements: Variant = memory => {
  const faulty = withoutGuard2(memory)
  return {
    ...memory,
    commit: changes => (changes.transaction.operation === 'settlement' ? faulty : memory).commit(changes),
  }
}

/** A balance is changed without a floor. */
const withoutGuard3 = changed(changes =>
  changes.account.delta === '0' ? changes : { ...changes, account: { ...changes.account, floor: null } },
)

/** A stake goes back to the home account, whatever account the commit names. */
const withCreditsAtHome = changed((changes, memory) => {
  const { transaction, account } = changes
  const hasHome = memory.account(transaction.playerId, 'JPY') !== null
  return transaction.operation === 'rollbackbet' && hasHome
    ? { ...changes, account: { ...account, currency: 'JPY' } }
    : changes
})

/** `committed` answers the balance from before the commit. */
const withStaleBalance: Variant = memory => ({
  ...memory,
  async commit(changes) {
    const before = memory.account(changes.transaction.playerId, changes.account.currency)
    const result = await memory.commit(changes)
    return result.status === 'committed' && before !== null ? { ...result, balance: before.balance } : result
  },
})

/**
 * Each with the invariant that two requests must violate, among those that do not know the rules. Only for
 * settlements that load first they need a third request.
 */
export const faultyVariants: readonly {
  name: string
  variant: Variant
  violates: string
  placebets?: Placebets
}[] = [
  { name: 'no tombstone', variant: withoutTombstone, violates: netZero },
  { name: 'uncollected credit stays live', variant: withLiveCredit, violates: neverCollected },
  { name: 'no guard 1', variant: withoutGuard1, violates: addsUp },
  { name: 'no guard 2', variant: withoutGuard2, violates: netZero },
  {
    name: 'no guard 2 for a settlement with a bet',
    variant: withoutGuard2OfSettlements,
    violates: someOrder,
    placebets: 'load-first',
  },
  { name: 'no guard 3', variant: withoutGuard3, violates: neverNegative },
  { name: 'credits of the home account', variant: withCreditsAtHome, violates: addsUp },
  { name: 'a balance from before the commit', variant: withStaleBalance, violates: balanceExisted },
]
