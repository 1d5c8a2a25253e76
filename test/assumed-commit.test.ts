/** A placebet is committed without a load: its guards test what the commit assumes. */
import { describe, expect, test, vi } from 'vitest'
import { decidePlaceBet } from '../src/decide/place-bet.js'
import {
  handlePlaceBet,
  handleRollbackBet,
  handleUnsettlement,
  type OutcomeEvent,
  recordSettlement,
  type WalletOptions,
  WalletRefusal,
} from '../src/index.js'
import type { CommitResult, WalletStore } from '../src/store.js'
import { createMemoryStore } from '../src/stores/memory.js'
import {
  alice,
  bet,
  faultOf,
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
const refused: CommitResult = { status: 'refused', errorCode: 'LIMIT_REACHED', description: 'daily limit' }
const accepted = { ok: true, replayed: false, balance: '70.00', currency: 'EUR', walletTransactionId: 'W9' }

describe('given a new bet that the player can pay', () => {
  test('when it is placed, then one commit is the only call, and its guards are those of a loaded bet', async () => {
    const store = scripted([snapshot()], [committed])
    const events: OutcomeEvent[] = []
    const onOutcome = (event: OutcomeEvent) => void events.push(event)
    expect(await handlePlaceBet(store, placeBet(), { onOutcome })).toEqual(accepted)
    expect(store.calls).toEqual(['commit'])
    expect(store.committed).toEqual([decidePlaceBet(placeBet(), snapshot()).changes])
    expect(events).toMatchObject([{ reason: 'ACCEPTED', attempts: 1, replayed: false }])
  })

  test('when the stake is 0, then the guard of its commit tests the currency', async () => {
    const memory = createMemoryStore([{ ...alice, currency: 'USD' }])
    const outcome = await handlePlaceBet(memory, placeBet({ amount: '0' }))
    expect(outcome).toMatchObject({ ok: false, errorCode: 'INVALID_CURRENCY' })
    const store = scripted([], [committed])
    await handlePlaceBet(store, placeBet({ amount: '0.00' }))
    expect(store.calls).toEqual(['commit'])
    expect(store.committed).toMatchObject([{ account: { currency: 'EUR', delta: '0', floor: null } }])
  })
})

test.each<[string, (store: WalletStore) => Promise<unknown>]>([
  ['rollback', store => handleRollbackBet(store, rollbackBet())],
  ['unsettlement', store => handleUnsettlement(store, unsettlement())],
])('given another operation (%s), when it is called, then it loads first', async (_operation, call) => {
  const store = { ...scripted([snapshot({ bet: bet() })], [committed]), addsCredits: true }
  await call(store)
  expect(store.calls[0]).toBe('load')
})

describe('given a settlement', () => {
  const paid: CommitResult = { status: 'committed', balance: '160', walletTransactionId: 'W9' }
  const adding = (...script: Parameters<typeof scripted>) => ({ ...scripted(...script), addsCredits: true })

  test('when the store adds credits, then one commit of the credit is the only call', async () => {
    const store = adding([], [paid])
    expect(await recordSettlement(store, settlement())).toEqual({ ...accepted, balance: '160.00' })
    expect(store.calls).toEqual(['commit'])
    const [changes] = store.committed
    expect(changes).toMatchObject({ bet: null, account: { currency: 'EUR', delta: '60', floor: null } })
    expect(changes?.credit).toEqual({
      ...{ playerId: 'alice', currency: 'EUR', status: 'PLACED', type: 'BET_PAID', amount: '60' },
    })
  })

  test.each([[{}], [{ addsCredits: false }]])(
    'when the store does not (%j), then the bet is loaded, and no credit is committed',
    async capability => {
      const store = { ...scripted([snapshot({ bet: bet() })], [paid]), ...capability }
      await recordSettlement(store, settlement())
      expect(store.calls).toEqual(['load', 'commit'])
      expect(store.committed).toMatchObject([{ credit: null, bet: { revision: 2 } }])
    },
  )

  test.each([
    ['the bet is unknown', snapshot(), { errorCode: 'INVALID_BET' }],
    [
      'the bet was rolled back',
      snapshot({ bet: bet({ status: 'ROLLED_BACK' }) }),
      { errorCode: 'INVALID_BET' },
    ],
    ['the player is unknown', snapshot({ player: null }), { errorCode: 'INVALID_PLAYER' }],
    ['only a race was lost', snapshot({ bet: bet() }), { ok: true, replayed: false, balance: '160.00' }],
  ])('when a guard does not hold since %s, then a confirmed load decides', async (_why, loaded, expected) => {
    const store = adding([snapshot()], [conflict, paid], [loaded])
    expect(await recordSettlement(store, settlement())).toMatchObject(expected)
    expect(store.calls.slice(0, 2)).toEqual(['commit', 'loadConfirmed'])
    if (store.committed.length > 1)
      expect(store.committed[1]).toMatchObject({ credit: null, bet: { revision: 2 } })
  })

  test('when the store refuses the credit, then it violates the contract', async () => {
    const store = adding([], [refused])
    expect(await faultOf(recordSettlement(store, settlement()))).toMatchObject({ code: 'STORE_CONTRACT' })
  })
})

describe('given guards that do not hold', () => {
  test.each([
    [
      'the transaction is recorded',
      snapshot({ transaction: transaction(), bet: bet() }),
      { ok: true, replayed: true },
    ],
    [
      'the bet was rolled back',
      snapshot({ bet: bet({ status: 'ROLLED_BACK' }) }),
      { errorCode: 'INVALID_BET' },
    ],
    ['the player is unknown', snapshot({ player: null }), { errorCode: 'INVALID_PLAYER' }],
    [
      'the currency differs',
      snapshot({ player: { ...alice, currency: 'USD' } }),
      { errorCode: 'INVALID_CURRENCY' },
    ],
    [
      'funds are insufficient',
      snapshot({ player: { ...alice, balance: '29' } }),
      { errorCode: 'INSUFFICIENT_FUNDS' },
    ],
  ])('when %s, then a load follows at once and decides', async (_what, loaded, expected) => {
    const backOff = vi.fn(async () => {})
    const store = scripted([loaded], [conflict, committed])
    expect(await handlePlaceBet(store, placeBet(), { backOff })).toMatchObject(expected)
    expect(store.calls.slice(0, 2)).toEqual(['commit', 'load'])
    expect(backOff).not.toHaveBeenCalled()
  })

  test('when the conflict was only a race, then the loaded bet is committed, as the first attempt', async () => {
    const store = scripted([snapshot()], [conflict, committed])
    let attempts = 0
    const onOutcome = (event: OutcomeEvent) => {
      attempts = event.attempts
    }
    expect(await handlePlaceBet(store, placeBet(), { attemptsMax: 1, onOutcome })).toEqual(accepted)
    expect(store.calls).toEqual(['commit', 'load', 'commit'])
    expect(attempts).toBe(1)
  })

  test('when the store refuses, then the rules are asked before the refusal is recorded', async () => {
    const known = scripted([snapshot({ bet: bet() })], [refused, committed])
    expect(await handlePlaceBet(known, placeBet())).toMatchObject({ errorCode: 'INVALID_BET' })
    const unknown = scripted([snapshot()], [refused, refused, committed])
    expect(await handlePlaceBet(unknown, placeBet())).toMatchObject({ errorCode: 'LIMIT_REACHED' })
    expect(unknown.calls).toEqual(['commit', 'load', 'commit', 'commit'])
  })
})

describe('given a commit that throws', () => {
  test('when the transaction is recorded, then it is replayed by the follow-up read', async () => {
    const lost = () => Promise.reject(new Error('connection lost'))
    const store = scripted([snapshot({ transaction: transaction(), bet: bet() })], [lost])
    expect(await handlePlaceBet(store, placeBet())).toMatchObject({ ok: true, replayed: true })
    expect(store.calls).toEqual(['commit', 'load'])
  })
})

describe('given a deadline that has passed', () => {
  test('when the placebet is a retry, then it is still replayed, without a commit', async () => {
    const store = scripted([snapshot({ transaction: transaction(), bet: bet() })], [])
    const outcome = await handlePlaceBet(store, placeBet(), { deadlineMs: 0 })
    expect(outcome).toMatchObject({ ok: true, replayed: true })
    expect(store.calls).toEqual(['load'])
  })

  test('when it passes at this very moment, then no commit is begun either', async () => {
    vi.useFakeTimers({ toFake: ['performance'] }) // the clock stands still: it is exactly the deadline
    try {
      const store = scripted([snapshot({ transaction: transaction(), bet: bet() })], [])
      const outcome = await handlePlaceBet(store, placeBet(), { deadlineMs: 0 })
      expect(outcome).toMatchObject({ ok: true, replayed: true })
      expect(store.calls).toEqual(['load'])
    } finally {
      vi.useRealTimers()
    }
  })
})

describe('given authorizeRequest', () => {
  const limit = new WalletRefusal('LIMIT', 'the limit')
  const refuse = () => {
    throw limit
  }

  test('when it grants the bet, then it is called once, before one commit without a load', async () => {
    const store = scripted([snapshot()], [committed])
    const calls: string[] = []
    const authorizeRequest = async ({ betId }: { betId: string }) => void calls.push(betId, ...store.calls)
    expect(await handlePlaceBet(store, placeBet(), { authorizeRequest })).toEqual(accepted)
    expect(calls).toEqual(['bet-1'])
    expect(store.calls).toEqual(['commit'])
  })

  test('when it refuses the bet, then the refusal is recorded and replayed', async () => {
    const store = createMemoryStore([alice])
    const options = { authorizeRequest: refuse }
    const refusal = { ok: false, errorCode: 'LIMIT', description: 'the limit' }
    expect(await handlePlaceBet(store, placeBet(), options)).toEqual({ ...refusal, replayed: false })
    expect(await handlePlaceBet(store, placeBet())).toEqual({ ...refusal, replayed: true })
    expect(store.account('alice')?.balance).toBe('100')
  })

  test.each<[string, () => void]>([
    ['refuses', refuse],
    [
      'fails',
      () => {
        throw new Error('no session server')
      },
    ],
  ])('when it %s a retry, then the recorded answer stays', async (_what, authorizeRequest) => {
    const store = createMemoryStore([alice])
    await handlePlaceBet(store, placeBet())
    const outcome = await handlePlaceBet(store, placeBet(), { authorizeRequest })
    expect(outcome).toMatchObject({ ok: true, replayed: true, balance: '70.00' })
  })

  test('when it refuses a bet that the rules refuse too, then the rule comes first', async () => {
    const store = scripted([snapshot({ player: { ...alice, balance: '1' } })], [committed])
    const outcome = await handlePlaceBet(store, placeBet(), { authorizeRequest: refuse })
    expect(outcome).toMatchObject({ errorCode: 'INSUFFICIENT_FUNDS' })
  })

  test('when it fails, then HOOK_FAILED, and nothing is recorded', async () => {
    const store = scripted([snapshot()], [])
    const cause = new Error('no session server')
    const authorizeRequest = vi.fn(() => Promise.reject(cause))
    const fault = await faultOf(handlePlaceBet(store, placeBet(), { authorizeRequest }))
    expect(fault).toMatchObject({ code: 'HOOK_FAILED', cause })
    expect(fault.message).toContain('authorizeRequest')
    expect(authorizeRequest).toHaveBeenCalledTimes(1)
    expect(store.committed).toEqual([])
  })

  test('when commits conflict, then it is asked once', async () => {
    const authorizeRequest = vi.fn()
    const store = scripted([snapshot()], [conflict, conflict, committed])
    const backOff = async () => {}
    expect(await handlePlaceBet(store, placeBet(), { authorizeRequest, backOff })).toEqual(accepted)
    expect(authorizeRequest).toHaveBeenCalledTimes(1)
  })

  test('when authorizeBet is given too, then both are asked, the request first, after a load', async () => {
    const calls: string[] = []
    const options: WalletOptions = {
      authorizeRequest: () => void calls.push('request'),
      authorizeBet: (_request, player) => void calls.push(player.balance),
    }
    const store = scripted([snapshot()], [committed])
    expect(await handlePlaceBet(store, placeBet(), options)).toEqual(accepted)
    expect(calls).toEqual(['request', '100'])
    expect(store.calls).toEqual(['load', 'commit'])
  })

  test('when it refuses and authorizeBet is given too, then authorizeBet is not asked', async () => {
    const authorizeBet = vi.fn()
    const store = scripted([snapshot()], [committed])
    const outcome = await handlePlaceBet(store, placeBet(), { authorizeRequest: refuse, authorizeBet })
    expect(outcome).toMatchObject({ ok: false, errorCode: 'LIMIT' })
    expect(authorizeBet).not.toHaveBeenCalled()
  })

  test('when the call is no placebet, then it is not asked', async () => {
    const authorizeRequest = vi.fn()
    await handleRollbackBet(scripted([snapshot()], [committed]), rollbackBet(), { authorizeRequest })
    expect(authorizeRequest).not.toHaveBeenCalled()
  })
})
