/** Refusals and replays are decided on a snapshot of a database that proves that it is the primary. */
import { describe, expect, test } from 'vitest'
import {
  handlePlaceBet,
  handleRollbackBet,
  handleUnsettlement,
  recordSettlement,
  type WalletOptions,
  type WalletOutcome,
} from '../src/index.js'
import type { CommitResult, WalletSnapshot, WalletStore } from '../src/store.js'
import {
  alice,
  bet,
  faultOf,
  live,
  placeBet,
  rollbackBet,
  settlement,
  snapshot,
  transaction,
  unsettlement,
} from './fixtures.js'
import { scripted } from './scripted-store.js'

const conflict: CommitResult = { status: 'conflict' }
const committed: CommitResult = { status: 'committed', balance: '70', walletTransactionId: 'W9' }
const placed = snapshot({ bet: bet() })
const unavailable = () => Promise.reject(Object.assign(new Error('standby'), { code: 'UNAVAILABLE' }))

type Handler = (store: WalletStore, request: unknown, options?: WalletOptions) => Promise<WalletOutcome>

describe('given an acceptance that the guards of its commit prove', () => {
  test.each<[string, Handler, object, WalletSnapshot, string[]]>([
    ['placebet', handlePlaceBet, placeBet(), snapshot(), ['commit']],
    ['settlement', recordSettlement, settlement(), placed, ['load', 'commit']],
    ['rollback', handleRollbackBet, rollbackBet(), placed, ['load', 'commit']],
    ['tombstone', handleRollbackBet, rollbackBet(), snapshot(), ['load', 'commit']],
    [
      'unsettlement',
      handleUnsettlement,
      unsettlement(),
      snapshot({ bet: bet({ credits: { BET_PAID: live('60') }, revision: 2 }) }),
      ['load', 'commit'],
    ],
  ])('when it is a %s, then loadConfirmed is not called', async (_what, handler, request, known, calls) => {
    const store = scripted([known], [committed], [known])
    expect(await handler(store, request)).toMatchObject({ ok: true })
    expect(store.calls).toEqual(calls)
  })
})

describe('given a stale load', () => {
  test.each<[string, Handler, object, WalletSnapshot, WalletSnapshot]>([
    ['a settlement of a bet that it does not know', recordSettlement, settlement(), snapshot(), placed],
    [
      'a rollback of a player whom it does not know',
      handleRollbackBet,
      rollbackBet(),
      snapshot({ player: null }),
      placed,
    ],
    [
      'an unsettlement of a credit that it does not know',
      handleUnsettlement,
      unsettlement(),
      placed,
      snapshot({ bet: bet({ credits: { BET_PAID: live('60') }, revision: 2 }) }),
    ],
    [
      'a rollback of a bet that was rolled back only there',
      handleRollbackBet,
      rollbackBet(),
      snapshot({ bet: bet({ status: 'ROLLED_BACK', revision: 2 }) }),
      placed,
    ],
    [
      'an unsettlement that the balance there does not cover',
      handleUnsettlement,
      unsettlement(),
      snapshot({
        player: { ...alice, balance: '1' },
        bet: bet({ credits: { BET_PAID: live('60') }, revision: 2 }),
      }),
      snapshot({ bet: bet({ credits: { BET_PAID: live('60') }, revision: 2 }) }),
    ],
  ])(
    'when it is %s, then the confirmed snapshot decides',
    async (_what, handler, request, stale, current) => {
      const store = scripted([stale], [committed], [current])
      expect(await handler(store, request)).toMatchObject({ ok: true, replayed: false })
      expect(store.calls).toEqual(['load', 'loadConfirmed', 'commit'])
    },
  )

  test('when a placebet conflicts, then the load after it is confirmed at once', async () => {
    const poor = snapshot({ player: { ...alice, balance: '1' } })
    const store = scripted([snapshot()], [conflict, committed], [poor])
    expect(await handlePlaceBet(store, placeBet())).toMatchObject({ errorCode: 'INSUFFICIENT_FUNDS' })
    expect(store.calls).toEqual(['commit', 'loadConfirmed', 'commit'])
  })

  test('when a placebet conflicts again, then the next load is an ordinary one', async () => {
    const store = scripted([snapshot()], [conflict, conflict, committed], [snapshot()])
    expect(await handlePlaceBet(store, placeBet())).toMatchObject({ ok: true })
    expect(store.calls).toEqual(['commit', 'loadConfirmed', 'commit', 'load', 'commit'])
  })
})

describe('given a database that cannot confirm', () => {
  const replayed = snapshot({
    bet: bet({ status: 'ROLLED_BACK' }),
    transaction: transaction({
      ...{ operation: 'rollbackbet', transactionId: 'rollback-1', type: 'TECHNICAL_ERROR' },
      ...{ amount: null, currency: null, delta: '30' },
    }),
  })

  test.each<[string, Handler, object, WalletSnapshot]>([
    ['a refusal', recordSettlement, settlement(), snapshot()],
    ['a replay', handleRollbackBet, rollbackBet(), replayed],
  ])('when the answer is %s, then UNAVAILABLE, retryable', async (_what, handler, request, known) => {
    const store = scripted([known], [], [unavailable])
    expect(await faultOf(handler(store, request))).toMatchObject({ code: 'UNAVAILABLE', retryable: true })
    expect(store.calls).toEqual(['load', 'loadConfirmed'])
  })
})

describe('given a commit of unknown outcome', () => {
  const lost = () => Promise.reject(new Error('connection lost'))
  const recorded = snapshot({ transaction: transaction(), bet: bet() })

  test('when its transaction is found, then only a confirmed read replays it', async () => {
    const store = scripted([recorded], [lost], [recorded])
    expect(await handlePlaceBet(store, placeBet())).toMatchObject({ ok: true, replayed: true })
    expect(store.calls).toEqual(['commit', 'loadConfirmed'])
  })

  test('when the database cannot confirm, then COMMIT_UNKNOWN, although load would find it', async () => {
    const store = scripted([recorded], [lost], [unavailable])
    expect(await faultOf(handlePlaceBet(store, placeBet()))).toMatchObject({ code: 'COMMIT_UNKNOWN' })
    expect(store.calls).toEqual(['commit', 'loadConfirmed'])
  })
})

test('given a store without loadConfirmed, when it refuses, then load alone decides', async () => {
  const store = scripted([snapshot()], [])
  expect(await recordSettlement(store, settlement())).toMatchObject({ errorCode: 'INVALID_BET' })
  expect(store.calls).toEqual(['load'])
})
