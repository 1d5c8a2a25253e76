/** The memory store, with the lookups that the page shows. */
import type { PlayerHistory, RecordedBet, RecordedTransaction, WalletLookups } from '../../lookups/index.js'
import type { Account, WalletChanges, WalletStore } from '../../store.js'
import { createMemoryStore } from '../../stores/memory.js'

export interface MemoryWallet {
  store: WalletStore
  /** Of one bet and of one player. */
  lookups: Pick<WalletLookups, 'bet' | 'player'>
  /** Credits an account, as the operator's cashier does. */
  readonly deposit: (playerId: string, amount: string, currency: string) => Promise<void>
}

/** Creates a wallet in memory. Beside the store it keeps the time and the balance of each transaction. */
export function createMemoryWallet(accounts: Iterable<Account>): MemoryWallet {
  const memory = createMemoryStore(accounts)
  const recorded: RecordedTransaction[] = []
  const firstRecorded = new Map<string, string>()

  const betOf = (betId: string): RecordedBet | null => {
    const bet = memory.bet(betId)
    return bet && { ...bet, recordedAt: firstRecorded.get(betId) ?? null }
  }
  const record = ({ transaction, bet }: WalletChanges, walletTransactionId: string, balanceAfter: string) => {
    const { betId } = transaction
    const recordedAt = new Date().toISOString()
    if (bet !== null && !firstRecorded.has(betId)) firstRecorded.set(betId, recordedAt)
    recorded.push({ ...transaction, walletTransactionId, recordedAt, balanceAfter })
  }

  return {
    store: {
      ...memory,
      async commit(changes) {
        const result = await memory.commit(changes)
        if (result.status === 'committed') record(changes, result.walletTransactionId ?? '', result.balance)
        return result
      },
    },
    async deposit(playerId, amount, currency) {
      memory.deposit(playerId, amount, currency)
    },
    lookups: {
      async bet(betId) {
        const transactions = recorded.filter(transaction => transaction.betId === betId)
        const bet = betOf(betId)
        return bet === null && transactions.length === 0 ? null : { betId, bet, transactions }
      },
      async player(playerId, { limit = 50, cursor = '0' } = {}): Promise<PlayerHistory | null> {
        const accounts = memory.accounts(playerId)
        if (accounts.length === 0) return null
        const all = recorded.filter(transaction => transaction.playerId === playerId).reverse()
        const end = Number(cursor) + limit
        const transactions = all.slice(Number(cursor), end)
        const bets = [...new Set(transactions.map(({ betId }) => betId))].flatMap(id => betOf(id) ?? [])
        return { playerId, accounts, transactions, bets, next: end < all.length ? String(end) : null }
      },
    },
  }
}
