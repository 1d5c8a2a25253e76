/**
 * The reference store, and what an onlooker sees who counts the player's money before and after every commit and
 * reads no record for it.
 */
import type { CommitResult, WalletChanges, WalletKeys, WalletSnapshot } from 'bet-wallet'
import { createMemoryStore, type MemoryStore } from 'bet-wallet/memory'
import { fromCents, toCents } from '../../src/testing/platform.js'
import { moveExternally } from '../properties/wallet.js'
import { playerId } from './alphabet.js'
import type { Start } from './starts.js'

/** What stands between the library and the reference store: nothing, or something that breaks a promise. */
export type Variant = (memory: MemoryStore) => MemoryStore
export const sound: Variant = memory => memory

/** The reference that a success of this transaction is to be answered with. */
export const referenceOf = (keys: { operation: string; transactionId: string }) =>
  `reference of ${keys.operation} ${keys.transactionId}`

/** Money that was seen to move: in cents, by whose commit. */
export interface Moved {
  operation: string
  transactionId: string
  betId: string
  type: string | null
  cents: number
}

export class World {
  readonly memory: MemoryStore
  readonly opening: number
  /** By key, so that a second movement of one transaction adds to the first. */
  readonly moved = new Map<string, Moved>()
  /** What other writers have put in and taken out. */
  external = 0

  constructor({ opening }: Start, variant: Variant) {
    this.opening = Number(opening)
    this.memory = variant(createMemoryStore([{ playerId, currency: 'EUR', balance: fromCents(opening) }]))
  }

  balance(): number {
    return Number(toCents(this.memory.player(playerId)?.balance ?? ''))
  }

  /** References count the commits; named by their transaction they do not tell orders apart that differ in nothing else. */
  async load(keys: WalletKeys): Promise<WalletSnapshot> {
    const snapshot = await this.memory.load(keys)
    const { transaction } = snapshot
    if (transaction === null) return snapshot
    return { ...snapshot, transaction: { ...transaction, walletTransactionId: referenceOf(transaction) } }
  }

  async commit(changes: WalletChanges): Promise<CommitResult> {
    const before = this.balance()
    const result = await this.memory.commit(changes)
    const cents = this.balance() - before
    const { operation, transactionId, betId, type } = changes.transaction
    if (cents !== 0) {
      const key = `${operation} ${transactionId} ${betId} ${type}`
      const moved = this.moved.get(key)
      this.moved.set(key, { operation, transactionId, betId, type, cents: cents + (moved?.cents ?? 0) })
    }
    return result.status === 'committed'
      ? { ...result, walletTransactionId: referenceOf(changes.transaction) }
      : result
  }

  move(step: 'deposit' | 'withdraw', amount: bigint): 'done' | 'not done' {
    if (!moveExternally(this.memory, { step, playerId, amount })) return 'not done'
    this.external += Number(step === 'deposit' ? amount : -amount)
    return 'done'
  }

  /** All of it as text: two worlds with the same text are the same from here on. */
  text(): string {
    return JSON.stringify([
      this.balance(),
      this.external,
      this.memory.bets().sort((a, b) => (a.betId < b.betId ? -1 : 1)),
      this.memory
        .transactions()
        .map(({ walletTransactionId, ...transaction }) => JSON.stringify(transaction))
        .sort(),
      [...this.moved].map(([key, { cents }]) => `${key}: ${cents}`).sort(),
    ])
  }
}
