/** A harness that also checks the operator's rows that `withinTransaction` writes. */
import type { StoreHarness, StoreReport } from 'bet-wallet/testing'
import type { WalletStore } from '../../../src/store.js'

export interface Ledger<Opened> {
  /** Transactions of these stores without a row of the ledger, and rows without a transaction. */
  differences(opened: readonly Opened[]): Promise<readonly unknown[]>
  clear(): Promise<unknown>
}

/** When stores are closed: every transaction has its row of the ledger, and no other row is there. */
export function withLedger<Opened extends { store: WalletStore }>(
  harness: StoreHarness<Opened>,
  { differences, clear }: Ledger<Opened>,
): StoreHarness<Opened> {
  const open = new Set<Opened>()
  return {
    ...harness,
    // A single server.
    stopReplication: null,
    async open(players) {
      const opened = await harness.open(players)
      open.add(opened)
      return opened
    },
    async close(opened) {
      // A case may have opened several stores. They share the ledger, and are closed one after the other.
      const found = open.size === 0 ? [] : await differences([...open])
      open.clear()
      await harness.close?.(opened)
      // Until then, a commit that the case has left behind may add a row.
      await clear()
      if (found.length > 0)
        throw new Error(`The ledger differs from the transactions: ${JSON.stringify(found)}`)
    },
  }
}

/** The failures in words; also a case that was left out, and did not apply to a store of one server. */
export const failuresOf = ({ results }: StoreReport): string[] =>
  results
    .filter(({ result, applies }) => result === 'failed' || (result === 'skipped' && applies))
    .map(({ id, name, detail }) => `${id} ${name}: ${detail}`)
