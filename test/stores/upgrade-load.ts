/** The load of an upgrade: placebets, settlements, unsettlements and rollbacks on stores that come and go. */
import {
  handlePlaceBet,
  handleRollbackBet,
  handleUnsettlement,
  recordSettlement,
  type WalletOutcome,
  type WalletStore,
} from 'bet-wallet'
import { expect } from 'vitest'
import { isRetryable } from '../../src/errors.js'
import { placeBet, rollbackBet, settlement, unsettlement } from '../fixtures.js'
import { until } from '../until.js'

/** Of the load. */
export const playerIds = Array.from({ length: 8 }, (_, n) => `player-${n}`)

/** Callers that never rest, and retry whatever may be retried. */
export function startLoad(stores: () => readonly WalletStore[]) {
  const load = { accepted: 0, retried: 0, problems: [] as unknown[], ended: false }
  async function answered(call: (store: WalletStore) => Promise<WalletOutcome>, turn: number) {
    for (;;) {
      const all = stores()
      const store = all[turn % all.length] as WalletStore
      try {
        const outcome = await call(store)
        if (outcome.ok) load.accepted += 1
        else if (outcome.errorCode !== 'INSUFFICIENT_FUNDS') load.problems.push(outcome)
        return outcome.ok
      } catch (error) {
        if (!isRetryable(error)) {
          load.problems.push(error)
          return false
        }
        load.retried += 1
      }
    }
  }
  async function caller(number: number): Promise<void> {
    for (let turn = number; !load.ended; turn += 1) {
      const ids = { playerId: playerIds[turn % playerIds.length] ?? '', betId: `bet-${number}-${turn}` }
      const id = (kind: string) => ({ ...ids, transactionId: `${kind}-${number}-${turn}` })
      const placed = await answered(
        store => handlePlaceBet(store, placeBet({ ...id('place'), amount: '3' })),
        turn,
      )
      if (!placed) continue
      await answered(store => recordSettlement(store, settlement({ ...id('settle'), amount: '4' })), turn + 1)
      await answered(store => handleUnsettlement(store, unsettlement(id('unsettle'))), turn)
      await answered(store => handleRollbackBet(store, rollbackBet(id('rollback'))), turn + 1)
    }
  }
  const callers = Promise.all(Array.from({ length: 16 }, (_, number) => caller(number)))
  return {
    load,
    /** Until this many more calls were accepted. */
    async progress(more = 150): Promise<void> {
      const goal = load.accepted + more
      await until(() => load.accepted >= goal || load.problems.length > 0)
      expect(load.problems).toEqual([])
    },
    async end(): Promise<void> {
      load.ended = true
      await callers
    },
  }
}
