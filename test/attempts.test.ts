/** The loop: load, decide, commit; also under the faults that a healthy store never produces. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import {
  handlePlaceBet,
  handleRollbackBet,
  handleUnsettlement,
  type OutcomeEvent,
  type OutcomeReason,
  recordSettlement,
  WalletError,
  type WalletOptions,
  type WalletOutcome,
  WalletRefusal,
} from '../src/index.js'
import type { CommitResult, WalletSnapshot, WalletStore } from '../src/store.js'
import { createMemoryStore } from '../src/stores/memory.js'
import {
  alice,
  bet,
  faultOf,
  type Known,
  live,
  placeBet,
  reversed,
  rollbackBet,
  settlement,
  snapshot,
  transaction,
  uncollected,
  unmoved,
  unsettlement,
} from './fixtures.js'
import { type Answer, scripted } from './scripted-store.js'

const conflict: CommitResult = { status: 'conflict' }
const unavailable: CommitResult = { status: 'unavailable' }
const committedWith = (balance = '70'): CommitResult => ({
  status: 'committed',
  balance,
  walletTransactionId: 'W9',
})
const limitReached = { errorCode: 'LIMIT_REACHED', description: 'daily limit reached' }
const refused: CommitResult = { status: 'refused', ...limitReached }
const throwing = (error: unknown) => (): never => {
  throw error
}
const rejecting =
  <T>(error: unknown) =>
  (): Promise<T> =>
    Promise.reject(error)

const paid = snapshot({ bet: bet({ credits: { BET_PAID: live('60') }, revision: 2 }) })
const placed = snapshot({ bet: bet() })

type Handler = (store: WalletStore, request: unknown, options?: WalletOptions) => Promise<WalletOutcome>

/** A hook that needs the player: with it, a placebet is loaded before it is committed. */
const authorizeBet = () => {}

/**
 * Calls the handler without waits between attempts, and with a load before every commit. Returns its answer or
 * fault, and its event.
 */
async function call(
  store: WalletStore,
  options: WalletOptions = {},
  handler: Handler = handlePlaceBet,
  request: unknown = placeBet(),
) {
  const events: OutcomeEvent[] = []
  const backOff = vi.fn(async (_conflicts: number) => {})
  let outcome: WalletOutcome | null = null
  let fault: unknown = null
  try {
    outcome = await handler(store, request, {
      backOff,
      authorizeBet,
      ...options,
      onOutcome: event => {
        events.push(event)
      },
    })
  } catch (error) {
    fault = error
  }
  expect(events).toHaveLength(1)
  return { outcome, fault, event: events[0] as OutcomeEvent, backOff }
}

const fault = (code: string, retryable: boolean) => ({ name: 'WalletError', code, retryable })

describe('given conflicts', () => {
  test('when one is followed by a success, then the snapshot is reloaded and decided again', async () => {
    const poorer = snapshot({ player: { ...alice, balance: '10' } })
    const store = scripted([snapshot(), poorer], [conflict, committedWith('10')])
    const { outcome, event, backOff } = await call(store)
    expect(outcome).toMatchObject({ ok: false, errorCode: 'INSUFFICIENT_FUNDS' })
    expect(event).toMatchObject({ reason: 'INSUFFICIENT_FUNDS', attempts: 2 })
    expect(store.committed.map(changes => changes.transaction.delta)).toEqual(['-30', '0'])
    expect(backOff.mock.calls).toEqual([[1]])
  })

  test('when a later attempt commits, then balance and reference are those of the commit', async () => {
    const store = scripted([snapshot()], [conflict, conflict, committedWith('12.5')])
    const { outcome, event } = await call(store)
    expect(outcome).toEqual({
      ok: true,
      replayed: false,
      balance: '12.50',
      currency: 'EUR',
      walletTransactionId: 'W9',
    })
    expect(event.attempts).toBe(3)
    const keys = { operation: 'placebet', transactionId: 'place-1', playerId: 'alice', betId: 'bet-1' }
    expect(store.loaded).toEqual([keys, keys, keys])
  })

  test('when a racing duplicate won, then its decision is replayed', async () => {
    const store = scripted([snapshot(), snapshot({ transaction: transaction(), bet: bet() })], [conflict])
    expect((await call(store)).outcome).toMatchObject({ ok: true, replayed: true, walletTransactionId: 'W1' })
  })

  test.each([
    [3, { attemptsMax: 3 }],
    [1, { attemptsMax: 1 }],
    [20, {}],
  ])('when each of %i attempts ends in one, then CONFLICT, retryable', async (attempts, options) => {
    const store = scripted([snapshot()], Array(attempts).fill(conflict))
    const result = await call(store, options)
    expect(result.fault).toMatchObject(fault('CONFLICT', true))
    expect(result.event).toMatchObject({ attempts, reason: 'FAULT', outcome: null, error: result.fault })
    expect([store.loaded.length, store.committed.length]).toEqual([attempts, attempts])
    expect(result.backOff.mock.calls.flat()).toEqual(
      Array.from({ length: attempts - 1 }, (_, index) => index + 1),
    )
  })

  // A slow database spreads no writers: after each commit all others load, and meet again. The audit sends 16.
  test('when 16 writers of one bet always meet, then each of them is answered', async () => {
    const store = createMemoryStore([alice])
    await handlePlaceBet(store, placeBet())
    let writers = 16
    let meeting: (() => void)[] = []
    const meet = () =>
      new Promise<void>(resolve => {
        meeting.push(resolve)
        if (meeting.length < writers) return
        for (const leave of meeting) leave()
        meeting = []
      })
    const meetingStore: WalletStore = {
      ...store,
      async commit(changes) {
        await meet()
        const result = await store.commit(changes)
        if (result.status === 'committed') writers -= 1
        return result
      },
    }
    const calls = Array.from({ length: writers }, (_, index) =>
      recordSettlement(meetingStore, settlement({ transactionId: `s-${index}`, amount: '1' }), {
        backOff: async () => {},
      }),
    )
    for (const outcome of await Promise.all(calls)) expect(outcome).toMatchObject({ ok: true })
  })

  test.each<[string, () => Promise<void>]>([
    ['throws', throwing(new Error('no timer'))],
    ['rejects', rejecting(new Error('no timer'))],
  ])('when backOff %s, then HOOK_FAILED with its cause', async (_what, backOff) => {
    const result = await call(scripted([snapshot()], [conflict]), { backOff })
    expect(result.fault).toMatchObject({ ...fault('HOOK_FAILED', false), cause: { message: 'no timer' } })
  })
})

describe('given the default backOff', () => {
  afterEach(() => vi.restoreAllMocks())

  test.each([
    [0.999999, [2, 4, 8, 16, 32, ...Array(13).fill(64)]],
    [0.5, [1, 2, 4, 8, 16, ...Array(13).fill(32)]],
    [0, Array(18).fill(0)],
  ])(
    'when the random number is %d, then the first retry is immediate and later waits are bounded',
    async (random, expected) => {
      const waits: number[] = []
      vi.spyOn(Math, 'random').mockReturnValue(random)
      vi.spyOn(globalThis, 'setTimeout').mockImplementation(((callback: () => void, ms: number) => {
        waits.push(ms)
        callback()
      }) as never)
      const store = scripted([snapshot()], Array(20).fill(conflict))
      const thrown = await faultOf(handlePlaceBet(store, placeBet(), { authorizeBet }))
      expect(thrown).toMatchObject(fault('CONFLICT', true))
      expect(waits.map(Math.ceil)).toEqual(expected)
    },
  )
})

describe('given a store that refuses by a rule of the PAM', () => {
  test('when it refuses a placebet, then the refusal is recorded by a commit that changes no balance (D6)', async () => {
    const store = scripted([snapshot()], [refused, committedWith('100')])
    const { outcome, event } = await call(store)
    expect(outcome).toEqual({ ok: false, replayed: false, ...limitReached })
    expect(event).toMatchObject({ reason: 'REFUSED_BY_STORE', storeRefusal: limitReached, attempts: 1 })
    expect(store.committed[1]).toEqual({
      transaction: transaction({
        ...{ delta: '0', refusal: limitReached, reason: 'REFUSED_BY_STORE', walletTransactionId: null },
      }),
      bet: null,
      credit: null,
      account: unmoved,
      request: placeBet(),
    })
  })

  test('when it refuses a free bet, then the refusal is recorded too: a player may be excluded', async () => {
    const store = scripted([snapshot()], [refused, committedWith('100')])
    const { outcome } = await call(store, {}, handlePlaceBet, placeBet({ amount: '0' }))
    expect(outcome).toEqual({ ok: false, replayed: false, ...limitReached })
    expect(store.committed[1]).toMatchObject({
      transaction: { refusal: limitReached },
      bet: null,
      account: unmoved,
    })
  })

  test('when the placebet is retried, then the refusal is replayed, although the store would accept the bet by then', async () => {
    const memory = createMemoryStore([alice])
    const commit = vi.fn(memory.commit).mockResolvedValueOnce(refused)
    const store = { ...memory, commit }
    const first = await handlePlaceBet(store, placeBet(), { authorizeBet })
    expect(first).toEqual({ ok: false, replayed: false, ...limitReached })
    expect(await handlePlaceBet(store, placeBet())).toEqual({ ok: false, replayed: true, ...limitReached })
    expect(memory.account('alice')?.balance).toBe('100')
    expect(memory.bets()).toEqual([])
  })

  test('when recording the refusal ends in a conflict, then it reloads and retries', async () => {
    const rolledBack = snapshot({ bet: bet({ status: 'ROLLED_BACK', stake: '0' }) })
    const store = scripted([snapshot(), rolledBack], [refused, conflict, committedWith('100')])
    const { outcome, event } = await call(store)
    expect(outcome).toMatchObject({ ok: false, errorCode: 'INVALID_BET' })
    expect(event).toMatchObject({ reason: 'BET_ROLLED_BACK', attempts: 2, storeRefusal: null })
    expect(store.committed).toHaveLength(3)
  })

  test('when it refuses an unsettlement, then INSUFFICIENT_FUNDS by D7, and onOutcome receives the PAM’s code', async () => {
    const store = scripted([paid], [refused, committedWith('100')])
    const { outcome, event } = await call(store, {}, handleUnsettlement, unsettlement())
    expect(outcome).toMatchObject({ ok: false, replayed: false, errorCode: 'INSUFFICIENT_FUNDS' })
    expect(event).toMatchObject({ reason: 'REFUSED_BY_STORE', storeRefusal: limitReached, outcome })
    expect(store.committed[1]).toMatchObject({
      transaction: { delta: '0', refusal: { errorCode: 'INSUFFICIENT_FUNDS' } },
      bet: { credits: { BET_PAID: uncollected('60') }, revision: 3 },
      account: unmoved,
    })
  })

  test.each<[string, Handler, unknown, WalletSnapshot]>([
    ['a rollback', handleRollbackBet, rollbackBet(), placed],
    ['a tombstone', handleRollbackBet, rollbackBet(), snapshot()],
    ['a settlement', recordSettlement, settlement(), placed],
  ])(
    'when it refuses %s, then STORE_CONTRACT, and nothing more is committed',
    async (_what, handler, request, known) => {
      const store = scripted([known], [refused])
      const result = await call(store, {}, handler, request)
      expect(result.fault).toMatchObject(fault('STORE_CONTRACT', false))
      expect(result.event.error).toBe(result.fault)
      expect(store.committed).toHaveLength(1)
    },
  )

  test('when it refuses to record the refusal too, then STORE_CONTRACT', async () => {
    const result = await call(scripted([snapshot()], [refused, refused]))
    expect(result.fault).toMatchObject(fault('STORE_CONTRACT', false))
  })
})

describe('given a store that is unavailable', () => {
  test.each<[string, CommitResult[]]>([
    ['at the commit', [unavailable]],
    ['when a refusal is recorded', [refused, unavailable]],
    ['after a conflict', [conflict, unavailable]],
  ])('when it reports so %s, then UNAVAILABLE, retryable', async (_when, commits) => {
    const store = scripted([snapshot()], commits)
    expect((await call(store)).fault).toMatchObject(fault('UNAVAILABLE', true))
    expect(store.committed).toHaveLength(commits.length)
  })

  test.each<[string, (error: unknown) => () => never | Promise<never>]>([
    ['throws', throwing],
    ['rejects', rejecting],
  ])('when load %s, then LOAD_FAILED, or UNAVAILABLE if the error has this code', async (_what, fail) => {
    const error = new Error('broken pipe')
    const first = await call(scripted([fail(error)], []))
    expect(first.fault).toMatchObject({ ...fault('LOAD_FAILED', false), cause: error })
    const overloaded = Object.assign(new Error('overloaded'), { code: 'UNAVAILABLE' })
    const second = await call(scripted([fail(overloaded)], []))
    expect(second.fault).toMatchObject({ ...fault('UNAVAILABLE', true), cause: overloaded })
  })

  test.each<[string, unknown]>([
    ['another code', Object.assign(new Error('connection reset'), { code: 'ECONNRESET' })],
    ['null', null],
    ['undefined', undefined],
  ])('when load rejects with %s, then LOAD_FAILED with this cause, not retryable', async (_what, cause) => {
    const { fault: thrown } = await call(scripted([rejecting(cause)], []))
    expect(thrown).toMatchObject(fault('LOAD_FAILED', false))
    expect((thrown as WalletError).cause).toBe(cause)
  })
})

describe('given deadlineMs', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['performance', 'setTimeout'] })
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  const delayed =
    <T>(ms: number, answer: T) =>
    (): T => {
      vi.advanceTimersByTime(ms)
      return answer
    }

  test('when it is 0, then no commit is begun, and the fault is retryable', async () => {
    const store = scripted([snapshot()], [])
    expect((await call(store, { deadlineMs: 0 })).fault).toMatchObject(fault('DEADLINE_PASSED', true))
    expect(store.committed).toEqual([])
  })

  test('when it has passed, then an answer that needs no commit is still given', async () => {
    const retry = scripted([delayed(99, snapshot({ transaction: transaction() }))], [])
    expect((await call(retry, { deadlineMs: 50 })).outcome).toMatchObject({ ok: true, replayed: true })
    const unknown = scripted([delayed(99, snapshot({ player: null }))], [])
    expect((await call(unknown, { deadlineMs: 50 })).outcome).toMatchObject({ errorCode: 'INVALID_PLAYER' })
  })

  test('when it has not passed before the commit, then the commit is begun and its result is awaited', async () => {
    vi.advanceTimersByTime(5000) // the clock does not start at 0
    const { outcome, event } = await call(
      scripted([delayed(49, snapshot())], [delayed(1000, committedWith())]),
      {
        deadlineMs: 50,
      },
    )
    expect(outcome).toMatchObject({ ok: true, balance: '70.00' })
    expect(event.durationMs).toBe(1049)
  })

  test.each<[string, Answer<WalletSnapshot>, Answer<CommitResult>[], WalletOptions, number]>([
    ['during load', delayed(50, snapshot()), [], {}, 0],
    ['during a commit that conflicts', snapshot(), [delayed(50, conflict)], {}, 1],
    ['before a refusal is recorded', snapshot(), [delayed(50, refused)], {}, 1],
    ['in authorizeBet', snapshot(), [], { authorizeBet: delayed(50, undefined) }, 0],
    ['in backOff', snapshot(), [conflict], { backOff: async () => void vi.advanceTimersByTime(50) }, 1],
  ])('when it passes %s, then no further commit is begun', async (_when, known, commits, options, begun) => {
    const store = scripted([known], commits)
    expect((await call(store, { ...options, deadlineMs: 50 })).fault).toMatchObject(
      fault('DEADLINE_PASSED', true),
    )
    expect(store.committed).toHaveLength(begun)
  })
})

describe('given a commit that throws', () => {
  const lost = new Error('connection lost')
  const unknown: Answer<CommitResult>[] = [rejecting(lost)]

  test.each<[string, Answer<CommitResult>]>([
    ['rejects', rejecting(lost)],
    ['throws synchronously', throwing(lost)],
  ])(
    'when it %s and the transaction is recorded, then its success is replayed with the current balance (D2)',
    async (_what, answer) => {
      const found = snapshot({ player: { ...alice, balance: '55' }, bet: bet(), transaction: transaction() })
      const store = scripted([snapshot(), found], [answer])
      const { outcome, event } = await call(store)
      expect(outcome).toEqual({
        ok: true,
        replayed: true,
        balance: '55.00',
        currency: 'EUR',
        walletTransactionId: 'W1',
      })
      expect(event).toMatchObject({ reason: 'REPLAYED', replayed: true, attempts: 1 })
      expect([store.loaded.length, store.committed.length]).toEqual([2, 1])
      expect(store.loaded[1]).toEqual(store.loaded[0])
    },
  )

  test('when a racing duplicate recorded a refusal, then that refusal is answered, not the attempted decision', async () => {
    const found = snapshot({ transaction: transaction({ delta: '0', refusal: limitReached }) })
    const { outcome } = await call(scripted([snapshot(), found], unknown))
    expect(outcome).toEqual({ ok: false, replayed: true, ...limitReached })
  })

  test('when other content is recorded, then TRANSACTION_CONFLICT (D4)', async () => {
    const found = snapshot({ transaction: transaction({ amount: '40', delta: '-40' }) })
    const { outcome } = await call(scripted([snapshot(), found], unknown))
    expect(outcome).toMatchObject({ ok: false, replayed: false, errorCode: 'TRANSACTION_CONFLICT' })
  })

  test('when recording a refusal throws and the refusal is recorded, then it is replayed', async () => {
    const found = snapshot({ transaction: transaction({ delta: '0', refusal: limitReached }) })
    const { outcome, event } = await call(scripted([snapshot(), found], [refused, ...unknown]))
    expect(outcome).toEqual({ ok: false, replayed: true, ...limitReached })
    expect(event.storeRefusal).toEqual(limitReached)
  })

  test('when the transaction is not recorded, then COMMIT_UNKNOWN after one follow-up read, not retryable', async () => {
    const store = scripted([snapshot()], unknown)
    const result = await call(store)
    expect(result.fault).toMatchObject({ ...fault('COMMIT_UNKNOWN', false), cause: lost })
    expect([store.loaded.length, store.committed.length]).toEqual([2, 1])
  })

  test.each<[string, Answer<WalletSnapshot>, unknown]>([
    ['rejects', rejecting(new Error('still lost')), { cause: { message: 'still lost' } }],
    ['throws', throwing(new Error('still lost')), { cause: { message: 'still lost' } }],
    ['violates the contract', { ...snapshot(), bet: undefined } as never, { code: 'STORE_CONTRACT' }],
  ])(
    'when the follow-up read %s, then COMMIT_UNKNOWN with both causes, and no second read',
    async (_what, followUp, second) => {
      const store = scripted([snapshot(), followUp], unknown)
      const result = await call(store)
      expect(result.fault).toMatchObject(fault('COMMIT_UNKNOWN', false))
      const { errors } = (result.fault as WalletError).cause as AggregateError
      expect(errors).toMatchObject([lost, second])
      expect([store.loaded.length, store.committed.length]).toEqual([2, 1])
    },
  )

  test.each(['before', 'after'])(
    'when it takes effect late, %s the rollback, then bet and rollback leave the balance unchanged',
    async when => {
      const memory = createMemoryStore([alice])
      let applyDelayed = async (): Promise<unknown> => undefined
      const store: WalletStore = {
        ...memory,
        async commit(changes) {
          applyDelayed = () => memory.commit(changes)
          throw lost
        },
      }
      expect(await faultOf(handlePlaceBet(store, placeBet()))).toMatchObject({ code: 'COMMIT_UNKNOWN' })
      if (when === 'before') await applyDelayed()
      expect(await handleRollbackBet(memory, rollbackBet())).toMatchObject({ ok: true, balance: '100.00' })
      if (when === 'after') await applyDelayed()
      expect(memory.account('alice')?.balance).toBe('100')
      expect(memory.bet('bet-1')?.status).toBe('ROLLED_BACK')
    },
  )
})

describe('given the lost answer of a commit', () => {
  test('when its transaction is recorded, then the event carries the error as commitError', async () => {
    const lost = new Error('connection reset')
    const found = snapshot({ transaction: transaction(), player: { ...alice, balance: '70' } })
    const { outcome, event } = await call(scripted([snapshot(), found], [rejecting(lost)]))
    expect(outcome).toMatchObject({ ok: true, replayed: true, balance: '70.00' })
    expect(event).toMatchObject({ reason: 'REPLAYED', error: null, commitError: lost })
  })

  test.each<[string, WalletSnapshot, object]>([
    [
      'nothing is recorded, then it has a code of its own',
      snapshot(),
      {
        code: 'AMOUNT_NOT_REPRESENTABLE',
        retryable: false,
        message: 'The store cannot hold this amount; no changes were made',
      },
    ],
    [
      'a duplicate is recorded whose player is gone, then COMMIT_UNKNOWN',
      snapshot({ transaction: transaction(), player: null }),
      { code: 'COMMIT_UNKNOWN' },
    ],
  ])('when the amount was not representable and %s', async (_what, found, expected) => {
    const cause = Object.assign(new Error('999'), { code: 'AMOUNT_NOT_REPRESENTABLE' })
    const { fault: thrown } = await call(scripted([snapshot(), found], [rejecting(cause)]))
    expect(thrown).toMatchObject({ ...expected, cause })
  })

  test('when the amount was not representable and the follow-up read fails, then COMMIT_UNKNOWN', async () => {
    const cause = Object.assign(new Error('999'), { code: 'AMOUNT_NOT_REPRESENTABLE' })
    const store = scripted([snapshot(), rejecting(new Error('down'))], [rejecting(cause)])
    expect((await call(store)).fault).toMatchObject({ code: 'COMMIT_UNKNOWN' })
  })

  test('when its success is recorded but the player is gone, then COMMIT_UNKNOWN, never a refusal', async () => {
    const found = snapshot({ transaction: transaction(), player: null })
    const { fault: thrown } = await call(scripted([snapshot(), found], [rejecting(new Error('reset'))]))
    expect(thrown).toMatchObject({ code: 'COMMIT_UNKNOWN', retryable: false })
  })
})

describe('given a fault, then its message says what happened and whether changes were made:', () => {
  const lost = rejecting<never>(new Error('lost'))
  const down = new Error('down')
  const rich = snapshot({ bet: bet(), player: { ...alice, balance: '9'.repeat(40) } })

  test.each<[string, Answer<WalletSnapshot>[], Answer<CommitResult>[], WalletOptions, string]>([
    [
      'conflicts',
      [snapshot()],
      [conflict, conflict],
      { attemptsMax: 2 },
      'Gave up after 2 conflicting attempts; no changes were made',
    ],
    [
      'backOff',
      [snapshot()],
      [conflict],
      { backOff: rejecting(down) },
      'backOff threw; no changes were made',
    ],
    [
      'authorizeBet throws',
      [snapshot()],
      [],
      { authorizeBet: throwing(down) },
      'authorizeBet threw; no changes were made',
    ],
    [
      'authorizeBet returns a value',
      [snapshot()],
      [],
      { authorizeBet: (() => true) as never },
      'authorizeBet must return undefined, or throw WalletRefusal to refuse; no changes were made',
    ],
    [
      'authorizeRequest throws',
      [snapshot()],
      [],
      { authorizeRequest: throwing(down) },
      'authorizeRequest threw; no changes were made',
    ],
    ['unavailable', [snapshot()], [unavailable], {}, 'The store is unavailable; no changes were made'],
    ['load', [rejecting(down)], [], {}, 'load threw; no changes were made'],
    [
      'the deadline',
      [snapshot()],
      [],
      { deadlineMs: 0 },
      'The deadline passed before the commit; no changes were made',
    ],
    [
      'a commit that is not recorded',
      [snapshot()],
      [lost],
      {},
      'commit failed and its transaction is not recorded',
    ],
    [
      'a commit whose follow-up read fails',
      [snapshot(), rejecting(down)],
      [lost],
      {},
      'commit failed and the follow-up read failed too',
    ],
  ])('%s', async (_what, loads, commits, options, message) => {
    const { fault: thrown } = await call(scripted(loads, commits), options)
    expect((thrown as WalletError).message).toBe(message)
  })

  test('a sum that is too long', async () => {
    const { fault: thrown } = await call(scripted([rich], []), {}, handleRollbackBet, rollbackBet())
    expect((thrown as WalletError).message).toBe('load() returned amounts whose sum exceeds 40 digits')
  })
})

describe('given a balance that cannot be added to', () => {
  test('when a credit would exceed 40 digits, then STORE_CONTRACT with its cause', async () => {
    const rich = snapshot({ bet: bet(), player: { ...alice, balance: '9'.repeat(40) } })
    const { fault: thrown } = await call(scripted([rich], []), {}, handleRollbackBet, rollbackBet())
    expect(thrown).toMatchObject({ code: 'STORE_CONTRACT', cause: expect.any(RangeError) })
  })
})

/** The third argument of the hook, when the handler was called without a message. */
const withoutMessage = {
  ...{ method: null, path: null, headers: {}, address: null },
  remainingMs: expect.any(Number),
}

describe('given authorizeBet', () => {
  const refusing = () => vi.fn(throwing(new WalletRefusal('INVALID_SESSION_TOKEN', 'the session has ended')))
  const ended = { errorCode: 'INVALID_SESSION_TOKEN', description: 'the session has ended' }

  test('when the rules allow the bet, then it is called with the request and the player', async () => {
    const authorizeBet = vi.fn()
    const { outcome } = await call(scripted([snapshot()], [committedWith()]), { authorizeBet })
    expect(outcome).toMatchObject({ ok: true })
    expect(authorizeBet.mock.calls).toEqual([[placeBet(), alice, withoutMessage]])
  })

  test.each(['throws', 'rejects'])(
    'when it %s a WalletRefusal, then the refusal is recorded and replayed',
    async how => {
      const store = createMemoryStore([alice])
      const refusal = new WalletRefusal(ended.errorCode, ended.description)
      const authorizeBet = vi.fn(how === 'throws' ? throwing(refusal) : rejecting<void>(refusal))
      const first = await call(store, { authorizeBet })
      expect(first.outcome).toEqual({ ok: false, replayed: false, ...ended })
      expect(first.event).toMatchObject({ reason: 'REFUSED_BY_OPERATOR', storeRefusal: null })
      expect(store.transactions()).toMatchObject([{ delta: '0', refusal: ended }])
      expect(store.bets()).toEqual([])
      const again = await call(store, { authorizeBet: vi.fn() })
      expect(again.outcome).toEqual({ ok: false, replayed: true, ...ended })
      expect(authorizeBet).toHaveBeenCalledTimes(1)
    },
  )

  test('when the player has several accounts, then it is called with that of the bet (D28)', async () => {
    const authorizeBet = vi.fn()
    const accounts = [{ ...alice, currency: 'AAA', balance: '7' }, alice]
    const store = createMemoryStore(accounts)
    const outcome = await handlePlaceBet(store, placeBet(), { authorizeBet, defaultCurrency: 'AAA' })
    expect(outcome).toMatchObject({ ok: true, balance: '70.00', currency: 'EUR' })
    expect(authorizeBet.mock.calls[0]?.[1]).toEqual(alice)
    expect(store.accounts('alice')).toEqual([accounts[0], { ...alice, balance: '70' }])
  })

  test('when commits conflict, then it is called once and its approval is remembered', async () => {
    const authorizeBet = vi.fn()
    await call(scripted([snapshot()], [conflict, conflict, committedWith()]), { authorizeBet })
    expect(authorizeBet).toHaveBeenCalledTimes(1)
  })

  test('when commits conflict, then it is called once and its refusal is remembered', async () => {
    const authorizeBet = refusing()
    const store = scripted([snapshot()], [conflict, conflict, committedWith('100')])
    expect((await call(store, { authorizeBet })).outcome).toMatchObject(ended)
    expect(authorizeBet).toHaveBeenCalledTimes(1)
    expect(
      store.committed.map(({ transaction, bet, account }) => [transaction.refusal, bet, account]),
    ).toEqual(Array(3).fill([ended, null, unmoved]))
  })

  test('when its refusal conflicts and a rule refuses by then, then the rule comes first', async () => {
    const rolledBack = snapshot({ bet: bet({ status: 'ROLLED_BACK', stake: '0' }) })
    const store = scripted([snapshot(), rolledBack], [conflict, committedWith('100')])
    expect((await call(store, { authorizeBet: refusing() })).outcome).toMatchObject({
      errorCode: 'INVALID_BET',
    })
  })

  test('when the rules refuse the first snapshot and allow a later one, then it is called for the later one', async () => {
    const poor = snapshot({ player: { ...alice, balance: '1' } })
    const authorizeBet = vi.fn()
    await call(scripted([poor, snapshot()], [conflict, committedWith()]), { authorizeBet })
    expect(authorizeBet.mock.calls).toEqual([[placeBet(), alice, withoutMessage]])
  })

  test.each<[string, Known]>([
    ['a replay', { transaction: transaction() }],
    ['other content', { transaction: transaction({ betId: 'bet-2' }) }],
    ['an unknown player', { player: null }],
    ['a known bet', { bet: bet() }],
    ['another currency', { player: { ...alice, currency: 'USD' } }],
    ['insufficient funds', { player: { ...alice, balance: '29.99' } }],
  ])('when another rule decides (%s), then it is not called', async (_what, known) => {
    const authorizeBet = refusing()
    const { outcome } = await call(scripted([snapshot(known)], [committedWith()]), { authorizeBet })
    expect(outcome).not.toMatchObject(ended)
    expect(authorizeBet).not.toHaveBeenCalled()
  })

  test.each<[string, Handler, unknown, WalletSnapshot]>([
    ['a rollback', handleRollbackBet, rollbackBet(), placed],
    ['an unsettlement', handleUnsettlement, unsettlement(), paid],
    ['a settlement', recordSettlement, settlement(), placed],
  ])('when the request is %s, then it is not called', async (_what, handler, request, known) => {
    const authorizeBet = refusing()
    const { outcome } = await call(scripted([known], [committedWith()]), { authorizeBet }, handler, request)
    expect(outcome).toMatchObject({ ok: true })
    expect(authorizeBet).not.toHaveBeenCalled()
  })

  const refusalLike = (fields: object) =>
    Object.assign(new Error('refused'), { code: 'WALLET_REFUSAL', ...ended, ...fields })

  test.each<[string, unknown]>([
    ['a second copy of the package', refusalLike({})],
    ['another realm', { code: 'WALLET_REFUSAL', ...ended }],
  ])('when it throws a WalletRefusal of %s, then it is recognised by its code', async (_origin, error) => {
    const { outcome } = await call(scripted([snapshot()], [committedWith('100')]), {
      authorizeBet: throwing(error),
    })
    expect(outcome).toEqual({ ok: false, replayed: false, ...ended })
  })

  test.each<[string, unknown]>([
    ['an error', new Error('no database')],
    ['a WalletError', new WalletError('UNAVAILABLE', 'of the hook')],
    ['undefined', undefined],
    ['a refusal with a reserved code', refusalLike({ errorCode: 'UNAVAILABLE' })],
    ['a refusal without a description', refusalLike({ description: undefined })],
  ])(
    'when it throws anything else (%s), then HOOK_FAILED with its cause, and nothing is recorded',
    async (_what, error) => {
      const store = scripted([snapshot()], [])
      const result = await call(store, { authorizeBet: throwing(error) })
      expect(result.fault).toMatchObject(fault('HOOK_FAILED', false))
      expect((result.fault as WalletError).cause).toBe(error)
      expect(store.committed).toEqual([])
    },
  )
})

describe('given a WalletRefusal', () => {
  test.each([
    ['INVALID_SESSION_TOKEN', 'the session has ended'],
    ['my-limit.2', 'é'.repeat(500)],
    ['x'.repeat(64), 'x'],
  ])('when it is created with %s, then it carries code and description', (errorCode, description) => {
    const refusal = new WalletRefusal(errorCode, description)
    expect(refusal).toMatchObject({ name: 'WalletRefusal', code: 'WALLET_REFUSAL', errorCode, description })
    expect(refusal).toBeInstanceOf(Error)
  })

  test.each<unknown>([
    ...[
      'INTERNAL_ERROR',
      'UNAVAILABLE',
      'SETTLEMENT_NOT_FOUND',
      'TRANSACTION_CONFLICT',
      'AUTHENTICATION_FAILED',
    ],
    ...['NOT_FOUND', 'METHOD_NOT_ALLOWED', 'PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'],
    ...['', 'has space', 'x'.repeat(65), 'é', 'X\n', undefined, null, 17],
  ])('when its code is %j, then the constructor throws a TypeError', errorCode => {
    expect(() => new WalletRefusal(errorCode as string, 'why')).toThrow(TypeError)
    expect(() => new WalletRefusal(errorCode as string, 'why')).toThrow(/errorCode/)
  })

  test.each<unknown>(['', 'a\u0000b', 'a\nb', '\ud800', 'x'.repeat(501), undefined, null, 17])(
    'when its description is invalid (%#), then the constructor throws a TypeError',
    description => {
      expect(() => new WalletRefusal('LIMIT', description as string)).toThrow(TypeError)
      expect(() => new WalletRefusal('LIMIT', description as string)).toThrow(/description/)
    },
  )
})

describe('given onOutcome', () => {
  const place = [handlePlaceBet, placeBet()] as const
  const unsettle = [handleUnsettlement, unsettlement()] as const
  const rollBack = [handleRollbackBet, rollbackBet()] as const
  interface Case {
    of: readonly [Handler, object]
    known?: Known
    commits?: CommitResult[]
    options?: WalletOptions
    errorCode?: string
  }
  // A record: the compiler rejects it if a reason is missing.
  const cases: Record<OutcomeReason, Case> = {
    ACCEPTED: { of: place },
    TOMBSTONE_CREATED: { of: rollBack },
    ALREADY_ROLLED_BACK: { of: rollBack, known: { bet: bet({ status: 'ROLLED_BACK' }) } },
    REPLAYED: { of: place, known: { transaction: transaction() }, commits: [] },
    INVALID_REQUEST: { of: [handlePlaceBet, {}], commits: [], errorCode: 'INVALID_REQUEST' },
    PAYLOAD_MISMATCH: {
      of: place,
      known: { transaction: transaction({ betId: 'bet-2' }) },
      commits: [],
      errorCode: 'TRANSACTION_CONFLICT',
    },
    UNKNOWN_PLAYER: { of: place, known: { player: null }, commits: [], errorCode: 'INVALID_PLAYER' },
    BET_OF_ANOTHER_PLAYER: { of: place, known: { bet: bet({ playerId: 'bob' }) }, errorCode: 'INVALID_BET' },
    BET_ALREADY_EXISTS: { of: place, known: placed, errorCode: 'INVALID_BET' },
    UNKNOWN_BET: { of: unsettle, commits: [], errorCode: 'INVALID_BET' },
    BET_ROLLED_BACK: { of: place, known: { bet: bet({ status: 'ROLLED_BACK' }) }, errorCode: 'INVALID_BET' },
    BET_SETTLED: { of: rollBack, known: paid, commits: [], errorCode: 'INVALID_BET' },
    ALREADY_UNSETTLED: {
      of: unsettle,
      known: { bet: bet({ credits: { BET_PAID: reversed('60') } }) },
      commits: [],
      errorCode: 'INVALID_BET',
    },
    CLAWBACK_UNCOLLECTED: {
      of: unsettle,
      known: { bet: bet({ credits: { BET_PAID: uncollected('60') } }) },
      commits: [],
      errorCode: 'INVALID_BET',
    },
    SETTLEMENT_NOT_FOUND: { of: unsettle, known: placed, commits: [], errorCode: 'SETTLEMENT_NOT_FOUND' },
    CURRENCY_MISMATCH: {
      of: place,
      known: { player: { ...alice, currency: 'USD' } },
      errorCode: 'INVALID_CURRENCY',
    },
    BET_CURRENCY_MISMATCH: {
      of: rollBack,
      known: { bet: bet({ currency: 'USD' }) },
      commits: [],
      errorCode: 'INVALID_CURRENCY',
    },
    INSUFFICIENT_FUNDS: {
      of: place,
      known: { player: { ...alice, balance: '1' } },
      errorCode: 'INSUFFICIENT_FUNDS',
    },
    CLAWBACKS_DISABLED: {
      of: unsettle,
      known: paid,
      options: { clawbacks: false },
      errorCode: 'INSUFFICIENT_FUNDS',
    },
    REFUSED_BY_OPERATOR: {
      of: place,
      options: { authorizeBet: throwing(new WalletRefusal('LIMIT', 'why')) },
      errorCode: 'LIMIT',
    },
    REFUSED_BY_STORE: { of: place, commits: [refused, committedWith('100')], errorCode: 'LIMIT_REACHED' },
    FAULT: { of: place, commits: [unavailable] },
  }
  const operations = new Map<unknown, string>([
    [handlePlaceBet, 'placebet'],
    [handleUnsettlement, 'unsettlement'],
    [handleRollbackBet, 'rollbackbet'],
  ])

  test.each(Object.entries(cases))(
    'when the reason is %s, then the event has it, with ids and outcome',
    async (reason, expected) => {
      const { of, known, commits = [committedWith()], options, errorCode } = expected
      const [handler, request] = of
      const store = scripted([snapshot(known)], commits)
      const { outcome, fault, event } = await call(store, options, handler, request)
      const ids = request as Record<string, string>
      expect(event).toEqual({
        operation: operations.get(handler),
        transactionId: ids.transactionId ?? null,
        betId: ids.betId ?? null,
        playerId: ids.playerId ?? null,
        outcome,
        reason,
        error: fault,
        commitError: null,
        storeRefusal: reason === 'REFUSED_BY_STORE' ? limitReached : null,
        replayed: reason === 'REPLAYED',
        attempts: reason === 'INVALID_REQUEST' ? 0 : 1,
        durationMs: expect.any(Number),
      })
      if (reason === 'FAULT') expect(fault).toBeInstanceOf(WalletError)
      else if (errorCode === undefined) expect(outcome).toMatchObject({ ok: true })
      else expect(outcome).toMatchObject({ ok: false, errorCode })
      expect(store.committed).toHaveLength(commits.length)
    },
  )

  test('when a settlement is recorded, then the event names the operation settlement', async () => {
    const { event } = await call(
      scripted([placed], [committedWith('160')]),
      {},
      recordSettlement,
      settlement(),
    )
    expect(event).toMatchObject({ operation: 'settlement', transactionId: 'settle-1', reason: 'ACCEPTED' })
  })

  test.each<[string, () => void | Promise<void>]>([
    ['throws', throwing(new Error('no logger'))],
    ['rejects', rejecting<void>(new Error('no logger'))],
  ])(
    'when it %s, then the answer is unchanged, and the error is reported once per process',
    async (_what, onOutcome) => {
      const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
      vi.resetModules() // as in a new process: nothing is reported yet
      const { handlePlaceBet } = await import('../src/index.js')
      const store = createMemoryStore([alice])
      for (const _ of ['first', 'second']) {
        expect(await handlePlaceBet(store, placeBet(), { onOutcome })).toMatchObject({ ok: true })
        const down = handlePlaceBet(scripted([snapshot()], [unavailable]), placeBet(), { onOutcome })
        await expect(down).rejects.toMatchObject({ code: 'UNAVAILABLE' })
      }
      expect(warn).toHaveBeenCalledTimes(1)
      expect(warn).toHaveBeenCalledWith(
        expect.stringMatching(/^onOutcome threw.*no logger/s),
        'BetWalletWarning',
      )
      warn.mockRestore()
    },
  )
})

describe('given no onOutcome', () => {
  test('then nothing is reported', async () => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    vi.resetModules() // as in a new process: nothing is reported yet
    const { handlePlaceBet } = await import('../src/index.js')
    expect(await handlePlaceBet(createMemoryStore([alice]), placeBet())).toMatchObject({ ok: true })
    expect(warn).not.toHaveBeenCalled()
    warn.mockRestore()
  })
})

describe('given hooks and stores that change their arguments', () => {
  test('when authorizeBet changes the request and the player, then the bet is placed as it was requested', async () => {
    const memory = createMemoryStore([alice, { ...alice, playerId: 'bob' }])
    const commit = vi.fn(memory.commit).mockResolvedValueOnce(conflict)
    const authorizeBet: WalletOptions['authorizeBet'] = (request, player) => {
      Object.assign(request, { playerId: 'bob', currency: 'eur', amount: '1' })
      Object.assign(player, { playerId: 'bob', balance: '0' })
    }
    const outcome = await handlePlaceBet({ ...memory, commit }, placeBet(), { authorizeBet })
    expect(outcome).toMatchObject({ ok: true, balance: '70.00' })
    expect(memory.account('bob')?.balance).toBe(alice.balance)
  })

  test('when onOutcome changes the outcome, then the answer is unchanged', async () => {
    const onOutcome = ({ outcome }: OutcomeEvent) => void Object.assign(outcome as object, { balance: '***' })
    expect(await handlePlaceBet(createMemoryStore([alice]), placeBet(), { onOutcome })).toMatchObject({
      balance: '70.00',
    })
  })

  test('when load changes its keys, then STORE_CONTRACT', async () => {
    const memory = createMemoryStore([alice])
    const load: WalletStore['load'] = keys => {
      keys.playerId = keys.playerId.toLowerCase()
      return memory.load(keys)
    }
    const fault = await faultOf(handlePlaceBet({ ...memory, load }, placeBet({ playerId: 'ALICE' })))
    expect(fault).toMatchObject({ code: 'STORE_CONTRACT' })
    expect(memory.transactions()).toEqual([])
  })

  test.each([false, true, null, new WalletRefusal('LIMIT_REACHED', 'the limit')])(
    'when authorizeBet returns %j instead of throwing, then HOOK_FAILED, and the bet is not placed',
    async answer => {
      const memory = createMemoryStore([alice])
      const authorizeBet = (async () => answer) as never
      expect(await faultOf(handlePlaceBet(memory, placeBet(), { authorizeBet }))).toMatchObject({
        code: 'HOOK_FAILED',
      })
      expect(memory.transactions()).toEqual([])
    },
  )

  test('when onOutcome throws a value without text, then the answer is unchanged', async () => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    vi.resetModules()
    const { handlePlaceBet } = await import('../src/index.js')
    const onOutcome = throwing(Object.create(null))
    expect(await handlePlaceBet(createMemoryStore([alice]), placeBet(), { onOutcome })).toMatchObject({
      ok: true,
    })
    expect(warn).toHaveBeenCalledTimes(1)
    warn.mockRestore()
  })
})

describe('given invalid options', () => {
  test('when an option is unknown, then INVALID_OPTIONS names it', async () => {
    // basePath and authenticate belong to the HTTP handler: without it, no layer would check them.
    for (const name of ['clawback', 'deadlineMS', 'onoutcome', 'basePath', 'authenticate']) {
      const fault = await faultOf(
        handlePlaceBet(createMemoryStore([alice]), placeBet(), { [name]: 5 } as never),
      )
      expect(fault).toMatchObject({ code: 'INVALID_OPTIONS' })
      expect(fault.message).toContain(`unknown option "${name}"`)
    }
  })

  test('when they are changed after their first use, then the change has no effect', async () => {
    const options: WalletOptions = { minorUnits: () => 2, betTypes: ['SINGLE'] }
    const memory = createMemoryStore([alice])
    expect(await handlePlaceBet(memory, placeBet(), options)).toMatchObject({ ok: true })
    options.minorUnits = () => 0
    options.betTypes = ['MULTIPLE']
    const next = placeBet({ transactionId: 'place-2', betId: 'bet-2', amount: '0.5' })
    expect(await handlePlaceBet(memory, next, options)).toMatchObject({ ok: true })
  })

  test.each<[string, unknown[]]>([
    ['authorizeBet', ['yes', {}, null]],
    ['minorUnits', [{ EUR: 2 }, 2, null]],
    ['parseTransactionDate', [true, null]],
    ['backOff', [5, null]],
    ['onOutcome', [[], null]],
    ['betTypes', [[], 'SINGLE', [''], ['SINGLE', 1], {}, null]],
    ['rollbackTypes', [[], 'TIMEOUT', [''], [undefined], null]],
    ['clawbacks', ['false', 0, null]],
    ['defaultCurrency', ['', 'E R', 5, null, '12345678901234567']],
    ['attemptsMax', [0, -1, 1.5, '3', Number.NaN, Number.POSITIVE_INFINITY, null]],
    ['deadlineMs', [-1, Number.NaN, '50', null]],
  ])('when %s is invalid, then INVALID_OPTIONS names it before the store is called', async (name, values) => {
    for (const value of values) {
      const store = scripted([snapshot()], [])
      const fault = await faultOf(handlePlaceBet(store, placeBet(), { [name]: value } as WalletOptions))
      expect(fault).toMatchObject({ code: 'INVALID_OPTIONS', retryable: false })
      expect(fault.message).toContain(`${name} must `)
      expect(store.loaded).toEqual([])
    }
  })

  test.each([null, 5, 'options', true])('when they are %j, then INVALID_OPTIONS', async options => {
    const fault = await faultOf(handlePlaceBet(scripted([snapshot()], []), placeBet(), options as never))
    expect(fault).toMatchObject({ code: 'INVALID_OPTIONS' })
    expect(fault.message).toContain('the options must be an object')
  })

  test('when every option is undefined, then the defaults apply', async () => {
    const allUndefined = {
      clawbacks: undefined,
      attemptsMax: undefined,
      deadlineMs: undefined,
      betTypes: undefined,
    }
    expect(await handlePlaceBet(createMemoryStore([alice]), placeBet(), allUndefined as never)).toMatchObject(
      {
        ok: true,
      },
    )
  })
})
