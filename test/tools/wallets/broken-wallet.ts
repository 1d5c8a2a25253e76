/** What the broken wallets have in common. */

import type { HttpResponse } from '../../../src/http/index.js'
import type { WalletStore } from '../../../src/index.js'
import type { MemoryStore } from '../../../src/stores/memory.js'
import type { Difference, SimulationOptions } from '../../../src/tools/random/index.js'
import type { Breakage, players } from './library.js'

export interface BrokenWallet {
  name: string
  /** The random run must report a difference of one of these kinds. Empty: the audit alone finds it. */
  kinds: Difference['kind'][]
  /**
   * `affected` is called with every bet whose amounts or answers are wrong from then on. `now` is the wallet's
   * clock, in milliseconds.
   */
  break(affected: (betId: string) => void, now: () => number): Breakage
  /** The simulator finds the defect with these options only. */
  options?: Partial<SimulationOptions>
  /** Players besides the usual ones. */
  players?: readonly (typeof players)[number][]
}

export function answer(status: number, body: Record<string, unknown>): HttpResponse {
  return { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
}

export function storeWith(
  memory: MemoryStore,
  commit: WalletStore['commit'],
  load = memory.load,
): WalletStore {
  return { contractVersion: 2, load, commit }
}

/** About as long as a database takes: requests that were sent together meet in the meantime. */
export async function roundTrip(turns = 20): Promise<void> {
  for (let left = turns; left > 0; left -= 1) await new Promise(resolve => setImmediate(resolve))
}
