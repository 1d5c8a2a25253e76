/** A store that runs the same changes again after an unknown outcome, as the contract allows. */
import { describe, expect, test } from 'vitest'
import type { CommitResult, WalletChanges } from '../../src/store.js'
import { faultyStore } from '../../src/testing/index.js'
import { handlers } from '../../src/testing/platform.js'
import { ReferenceStore, referenceHarness } from './reference.js'

/** The answer of one commit in three is lost, before or after the commit; then the same changes run again. */
class RunsAgain extends ReferenceStore {
  private commits = 0
  override async commit(changes: WalletChanges): Promise<CommitResult> {
    this.commits += 1
    const fault = (['lost-request', 'lost-answer', null] as const)[this.commits % 3] ?? null
    if (fault === null) return super.commit(changes)
    const { commit } = faultyStore(
      { contractVersion: 2, load: keys => this.load(keys), commit: same => super.commit(same) },
      [fault],
    )
    return commit(changes).catch(() => this.again(changes))
  }
  private async again(changes: WalletChanges): Promise<CommitResult> {
    const result = await super.commit(changes)
    if (result.status === 'committed') return result
    throw new Error(`unknown outcome; the second attempt: ${result.status}`)
  }
}

const ids = { playerId: 'anna', betId: 'b-1', transactionDate: '2026-11-21T18:00:00Z' }
const money = { amount: '30', currency: 'EUR' }
const requests = {
  placebet: { ...ids, ...money, transactionId: 't-1', sessionId: 's', betType: 'SINGLE' },
  settlement: { ...ids, ...money, transactionId: 's-1', type: 'BET_PAID' },
  unsettlement: { ...ids, transactionId: 'u-1', type: 'UNSCORED' },
  rollbackbet: { ...ids, transactionId: 'r-1', type: 'TECHNICAL_ERROR' },
}

describe('a store that runs unknown commits again', () => {
  test.each([0, 1, 2])(
    'answers every operation, and changes the balance once (fault %i first)',
    async skipped => {
      const harness = referenceHarness(RunsAgain)
      const { store } = await harness.open([{ playerId: 'anna', currency: 'EUR', balance: '100' }])
      for (let one = 0; one < skipped; one += 1) await store.commit(refusal(one)).catch(() => undefined)
      const balances: string[] = []
      for (const operation of ['placebet', 'settlement', 'unsettlement', 'rollbackbet'] as const) {
        const outcome = await handlers[operation](store, requests[operation])
        expect(outcome).toMatchObject({ ok: true })
        if (outcome.ok) balances.push(outcome.balance)
      }
      expect(balances.map(Number)).toEqual([70, 100, 70, 100])
    },
  )
})

/** Recorded, without a change of the balance. */
function refusal(number: number): WalletChanges {
  const transaction: WalletChanges['transaction'] = {
    ...{ operation: 'placebet', transactionId: `x-${number}`, playerId: 'anna', betId: `x-${number}` },
    ...{ amount: '1', currency: 'EUR', type: null, delta: '0', walletTransactionId: null },
    ...{ accountCurrency: 'EUR', reason: 'REFUSED_BY_OPERATOR' },
    ...{ refusal: { errorCode: 'LIMIT', description: 'limit' }, transactionDate: '2026-11-21T18:00:00.000Z' },
  }
  return {
    transaction,
    bet: null,
    credit: null,
    account: { currency: 'EUR', delta: '0', floor: null },
    request: {},
  }
}
