/**
 * The memory store with an observer, which measures the balance before and after every commit and does not
 * rely on the records.
 */
import type { CommitResult, WalletChanges, WalletKeys, WalletSnapshot } from 'bet-wallet'
import { createMemoryStore, type MemoryStore } from 'bet-wallet/memory'
import { fromCents, toCents } from '../../../src/testing/platform.js'
import { moveExternally } from '../../properties/wallet.js'
import { playerId } from './alphabet.js'
import type { Start } from './starts.js'

/** Wraps the memory store, to inject a fault; `unchanged` injects none. */
export type Variant = (memory: MemoryStore) => MemoryStore
export const unchanged: Variant = memory => memory

/** A conflict returns the records of the moment. */
export const withSnapshots: Variant = memory => ({
  ...memory,
  async commit(changes) {
    const result = await memory.commit(changes)
    return result.status === 'conflict'
      ? { ...result, snapshot: await memory.load(changes.transaction) }
      : result
  },
})

/** The walletTransactionId of this transaction. */
export const idOf = (keys: { operation: string; transactionId: string }) =>
  `id of ${keys.operation} ${keys.transactionId}`

/** An observed change of the balance, in cents, and the transaction of its commit. */
export interface Movement {
  operation: string
  transactionId: string
  betId: string
  type: string | null
  cents: number
}

function withOurId(snapshot: WalletSnapshot): WalletSnapshot {
  const { transaction } = snapshot
  if (transaction === null) return snapshot
  return { ...snapshot, transaction: { ...transaction, walletTransactionId: idOf(transaction) } }
}

export class ObservedStore {
  readonly memory: MemoryStore
  readonly openings: Readonly<Record<'EUR' | 'JPY', number>>
  /** By key, so that a second movement of one transaction adds to the first. */
  readonly movements = new Map<string, Movement>()
  /** External deposits less external withdrawals: in EUR. */
  external = 0

  constructor({ opening, yen }: Start, variant: Variant) {
    this.openings = { EUR: Number(opening), JPY: Number(yen ?? 0n) }
    this.memory = variant(
      createMemoryStore([
        { playerId, currency: 'EUR', balance: fromCents(opening) },
        ...(yen === undefined ? [] : [{ playerId, currency: 'JPY', balance: fromCents(yen) }]),
      ]),
    )
  }

  balance(currency = 'EUR'): number {
    return Number(toCents(this.memory.account(playerId, currency)?.balance ?? '0'))
  }

  /**
   * The ids of the memory store count the commits. Ids by transaction make orders equal that differ in
   * nothing else.
   */
  async load(keys: WalletKeys): Promise<WalletSnapshot> {
    return withOurId(await this.memory.load(keys))
  }

  async commit(changes: WalletChanges): Promise<CommitResult> {
    const sum = () => this.balance() + this.balance('JPY')
    const before = sum()
    const result = await this.memory.commit(changes)
    const cents = sum() - before
    const { operation, transactionId, betId, type } = changes.transaction
    if (cents !== 0) {
      const key = `${operation} ${transactionId} ${betId} ${type}`
      const moved = this.movements.get(key)
      this.movements.set(key, { operation, transactionId, betId, type, cents: cents + (moved?.cents ?? 0) })
    }
    if (result.status === 'committed') return { ...result, walletTransactionId: idOf(changes.transaction) }
    if (result.status !== 'conflict' || !result.snapshot) return result
    return { ...result, snapshot: withOurId(result.snapshot) }
  }

  move(step: 'deposit' | 'withdraw', amount: bigint): 'done' | 'not-done' {
    if (!moveExternally(this.memory, { step, playerId, amount, currency: 'EUR' })) return 'not-done'
    this.external += Number(step === 'deposit' ? amount : -amount)
    return 'done'
  }

  /** The complete state as text. Two stores with the same text behave the same from here on. */
  text(): string {
    return JSON.stringify([
      this.balance(),
      this.balance('JPY'),
      this.external,
      this.memory.bets().sort((a, b) => (a.betId < b.betId ? -1 : 1)),
      this.memory
        .transactions()
        .map(({ walletTransactionId, ...transaction }) => JSON.stringify(transaction))
        .sort(),
      [...this.movements].map(([key, { cents }]) => `${key}: ${cents}`).sort(),
    ])
  }
}
