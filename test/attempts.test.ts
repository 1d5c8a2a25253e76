/** The loop: load, decide, commit; and what it does with faults that a healthy store never shows. */
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
import type { CommitResult, WalletChanges, WalletKeys, WalletSnapshot, WalletStore } from '../src/store.js'
import { createMemoryStore } from '../src/stores/memory.js'
import {
  alice,
  bet,
  uncollected,
  faultOf,
  live,
  placeBet,
  reversed,
  rollbackBet,
  settlement,
  snapshot,
  transaction,
  unsettlement,
} from './fixtures.js'

type Answer<T> = T | (() => T | Promise<T>)

/** A store that answers what the script says, in this order. The last `load` is answered again; a `commit` is not. */
function scripted(loads: Answer<WalletSnapshot>[], commits: Answer<CommitResult>[]) {
  const loaded: WalletKeys[] = []
  const committed: WalletChanges[] = []
  const give = <T>(answer: Answer<T>) =>
    typeof answer === 'function' ? (answer as () => T | Promise<T>)() : answer
  const store = {
    contractVersion: 1,
    load(keys: WalletKeys) {
      const answer = loads[Math.min(loaded.push(keys), loads.length) - 1]
      return give(answer as Answer<WalletSnapshot>) as Promise<WalletSnapshot>
    },
    commit(changes: WalletChanges) {
      const answer = commits[committed.push(changes) - 1]
      if (answer === undefined) throw new Error('more commits than the script has')
      return give(answer) as Promise<CommitResult>
    },
  } as const satisfies WalletStore
  return { ...store, loaded, committed }
}

const conflict: CommitResult = { status: 'conflict' }
const unavailable: CommitResult = { status: 'unavailable' }
const done = (balance = '70'): CommitResult => ({ status: 'committed', balance, walletTransactionId: 'W9' })
const limit = { errorCode: 'LIMIT_REACHED', description: 'the limit of today' }
const refused: CommitResult = { status: 'refused', ...limit }
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

/** Calls the handler without waiting between attempts, and gives its answer, its fault and its event. */
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
  test('when one is followed by success, then the snapshot is loaded and decided anew', async () => {
    const poorer = snapshot({ player: { ...alice, balance: '10' } })
    const store = scripted([snapshot(), poorer], [conflict, done('10')])
    const { outcome, event, backOff } = await call(store)
    expect(outcome).toMatchObject({ ok: false, errorCode: 'INSUFFICIENT_FUNDS' })
    expect(event).toMatchObject({ reason: 'INSUFFICIENT_FUNDS', attempts: 2 })
    expect(store.committed.map(changes => changes.transaction.delta)).toEqual(['-30', '0'])
    expect(backOff.mock.calls).toEqual([[1]])
  })

  test('when it commits in the end, then balance and reference are those of the commit', async () => {
    const store = scripted([snapshot()], [conflict, conflict, done('12.5')])
    const { outcome, event } = await call(store)
    expect(outcome).toEqual({
      ok: true,
      replayed: false,
      balance: '12.5',
      currency: 'EUR',
      walletTransactionId: 'W9',
    })
    expect(event.attempts).toBe(3)
    const keys = { operation: 'placebet', transactionId: 'place-1', playerId: 'alice', betId: 'bet-1' }
    expect(store.loaded).toEqual([keys, keys, keys])
  })

  test('when a racing duplicate was faster, then its decision is repeated', async () => {
    const store = scripted([snapshot(), snapshot({ transaction: transaction(), bet: bet() })], [conflict])
    expect((await call(store)).outcome).toMatchObject({ ok: true, replayed: true, walletTransactionId: 'W1' })
  })

  test.each([
    [3, { attemptsMax: 3 }],
    [1, { attemptsMax: 1 }],
    [12, {}],
  ])('when every one of %i attempts meets one, then CONFLICT, retryable', async (attempts, options) => {
    const store = scripted([snapshot()], Array(attempts).fill(conflict))
    const result = await call(store, options)
    expect(result.fault).toMatchObject(fault('CONFLICT', true))
    expect(result.event).toMatchObject({ attempts, reason: 'FAULT', outcome: null, error: result.fault })
    expect([store.loaded.length, store.committed.length]).toEqual([attempts, attempts])
    expect(result.backOff.mock.calls.flat()).toEqual(
      Array.from({ length: attempts - 1 }, (_, index) => index + 1),
    )
  })

  test.each<[string, () => Promise<void>]>([
    ['throws', throwing(new Error('no clock'))],
    ['rejects', rejecting(new Error('no clock'))],
  ])('when backOff %s, then HOOK_FAILED with its cause', async (_what, backOff) => {
    const result = await call(scripted([snapshot()], [conflict]), { backOff })
    expect(result.fault).toMatchObject({ ...fault('HOOK_FAILED', false), cause: { message: 'no clock' } })
  })
})

describe('given no backOff of the operator’s', () => {
  afterEach(() => vi.restoreAllMocks())

  test.each([
    [0.999999, [2, 4, 8, 16, 32, 64, 64, 64, 64, 64]],
    [0.5, [1, 2, 4, 8, 16, 32, 32, 32, 32, 32]],
    [0, [0, 0, 0, 0, 0, 0, 0, 0, 0, 0]],
  ])('when luck is %d, then the first wait is none, and the rest are bounded', async (luck, expected) => {
    const waits: number[] = []
    vi.spyOn(Math, 'random').mockReturnValue(luck)
    vi.spyOn(globalThis, 'setTimeout').mockImplementation(((go: () => void, ms: number) => {
      waits.push(ms)
      go()
    }) as never)
    const store = scripted([snapshot()], Array(12).fill(conflict))
    expect(await faultOf(handlePlaceBet(store, placeBet()))).toMatchObject(fault('CONFLICT', true))
    expect(waits.map(Math.ceil)).toEqual(expected)
  })
})

describe('given a store that refuses by a rule of its own', () => {
  test('when it is a placebet, then the refusal is recorded by a commit that moves nothing (D6)', async () => {
    const store = scripted([snapshot()], [refused, done('100')])
    const { outcome, event } = await call(store)
    expect(outcome).toEqual({ ok: false, replayed: false, ...limit })
    expect(event).toMatchObject({ reason: 'REFUSED_BY_STORE', storeRefusal: limit, attempts: 1 })
    expect(store.committed[1]).toEqual({
      transaction: transaction({ delta: '0', refusal: limit, walletTransactionId: null }),
      bet: null,
      balance: null,
      request: placeBet(),
    })
  })

  test('when the placebet comes again, then it is refused alike, though the store would take it now', async () => {
    const memory = createMemoryStore([alice])
    const commit = vi.fn(memory.commit).mockResolvedValueOnce(refused)
    const store = { ...memory, commit }
    expect(await handlePlaceBet(store, placeBet())).toEqual({ ok: false, replayed: false, ...limit })
    expect(await handlePlaceBet(store, placeBet())).toEqual({ ok: false, replayed: true, ...limit })
    expect(memory.player('alice')?.balance).toBe('100')
    expect(memory.bets()).toEqual([])
  })

  test('when the recording meets a conflict, then it looks again', async () => {
    const rolledBack = snapshot({ bet: bet({ status: 'ROLLED_BACK', stake: '0' }) })
    const store = scripted([snapshot(), rolledBack], [refused, conflict, done('100')])
    const { outcome, event } = await call(store)
    expect(outcome).toMatchObject({ ok: false, errorCode: 'INVALID_BET' })
    expect(event).toMatchObject({ reason: 'BET_ROLLED_BACK', attempts: 2, storeRefusal: null })
    expect(store.committed).toHaveLength(3)
  })

  test('when it is an unsettlement, then INSUFFICIENT_FUNDS and D7; the code of the PAM goes to onOutcome', async () => {
    const store = scripted([paid], [refused, done('100')])
    const { outcome, event } = await call(store, {}, handleUnsettlement, unsettlement())
    expect(outcome).toMatchObject({ ok: false, replayed: false, errorCode: 'INSUFFICIENT_FUNDS' })
    expect(event).toMatchObject({ reason: 'REFUSED_BY_STORE', storeRefusal: limit, outcome })
    expect(store.committed[1]).toMatchObject({
      transaction: { delta: '0', refusal: { errorCode: 'INSUFFICIENT_FUNDS' } },
      bet: { credits: { BET_PAID: uncollected('60') }, revision: 3 },
      balance: null,
    })
  })

  test.each<[string, Handler, unknown, WalletSnapshot]>([
    ['a rollback', handleRollbackBet, rollbackBet(), placed],
    ['a tombstone', handleRollbackBet, rollbackBet(), snapshot()],
    ['a settlement', recordSettlement, settlement(), placed],
    ['a placebet of 0', handlePlaceBet, placeBet({ amount: '0' }), snapshot()],
  ])(
    'when it is %s, then STORE_CONTRACT, and nothing more is committed',
    async (_what, handler, request, known) => {
      const store = scripted([known], [refused])
      const result = await call(store, {}, handler, request)
      expect(result.fault).toMatchObject(fault('STORE_CONTRACT', false))
      expect(result.event.error).toBe(result.fault)
      expect(store.committed).toHaveLength(1)
    },
  )

  test('when it refuses the recording too, then STORE_CONTRACT', async () => {
    const result = await call(scripted([snapshot()], [refused, refused]))
    expect(result.fault).toMatchObject(fault('STORE_CONTRACT', false))
  })
})

describe('given a store that is unavailable', () => {
  test.each<[string, CommitResult[]]>([
    ['at the commit', [unavailable]],
    ['at the recording of a refusal', [refused, unavailable]],
    ['after a conflict', [conflict, unavailable]],
  ])('when it says so %s, then UNAVAILABLE, retryable', async (_when, commits) => {
    const store = scripted([snapshot()], commits)
    expect((await call(store)).fault).toMatchObject(fault('UNAVAILABLE', true))
    expect(store.committed).toHaveLength(commits.length)
  })

  test.each<[string, (error: unknown) => () => never | Promise<never>]>([
    ['throws', throwing],
    ['rejects', rejecting],
  ])('when load %s, then LOAD_FAILED; UNAVAILABLE where its code says so', async (_what, fail) => {
    const error = new Error('broken')
    const first = await call(scripted([fail(error)], []))
    expect(first.fault).toMatchObject({ ...fault('LOAD_FAILED', false), cause: error })
    const overloaded = Object.assign(new Error('overloaded'), { code: 'UNAVAILABLE' })
    const second = await call(scripted([fail(overloaded)], []))
    expect(second.fault).toMatchObject({ ...fault('UNAVAILABLE', true), cause: overloaded })
    const nothing = await call(scripted([fail(undefined)], []))
    expect(nothing.fault).toMatchObject(fault('LOAD_FAILED', false))
  })
})

describe('given deadlineMs', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['performance', 'setTimeout'] })
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  const following =
    <T>(ms: number, answer: T) =>
    (): T => {
      vi.advanceTimersByTime(ms)
      return answer
    }

  test('when it is 0, then nothing is committed, and it is retryable', async () => {
    const store = scripted([snapshot()], [])
    expect((await call(store, { deadlineMs: 0 })).fault).toMatchObject(fault('DEADLINE_PASSED', true))
    expect(store.committed).toEqual([])
  })

  test('when it has passed, then what needs no commit is answered all the same', async () => {
    const repeat = scripted([following(99, snapshot({ transaction: transaction() }))], [])
    expect((await call(repeat, { deadlineMs: 50 })).outcome).toMatchObject({ ok: true, replayed: true })
    const unknown = scripted([following(99, snapshot({ player: null }))], [])
    expect((await call(unknown, { deadlineMs: 50 })).outcome).toMatchObject({ errorCode: 'INVALID_PLAYER' })
  })

  test('when a moment is left, then the commit is begun, and its answer counts however late', async () => {
    const { outcome, event } = await call(scripted([following(49, snapshot())], [following(1000, done())]), {
      deadlineMs: 50,
    })
    expect(outcome).toMatchObject({ ok: true, balance: '70' })
    expect(event.durationMs).toBe(1049)
  })

  test.each<[string, Answer<WalletSnapshot>, Answer<CommitResult>[], WalletOptions, number]>([
    ['during load', following(50, snapshot()), [], {}, 0],
    ['in a conflict', snapshot(), [following(50, conflict)], {}, 1],
    ['before the recording of a refusal', snapshot(), [following(50, refused)], {}, 1],
    ['in authorizeBet', snapshot(), [], { authorizeBet: following(50, undefined) }, 0],
    ['in backOff', snapshot(), [conflict], { backOff: async () => void vi.advanceTimersByTime(50) }, 1],
  ])('when it passes %s, then no commit is begun any more', async (_when, known, commits, options, begun) => {
    const store = scripted([known], commits)
    expect((await call(store, { ...options, deadlineMs: 50 })).fault).toMatchObject(
      fault('DEADLINE_PASSED', true),
    )
    expect(store.committed).toHaveLength(begun)
  })
})

describe('given a commit that throws', () => {
  const lost = new Error('the connection was lost')
  const unknown: Answer<CommitResult>[] = [rejecting(lost)]

  test.each<[string, Answer<CommitResult>]>([
    ['rejects', rejecting(lost)],
    ['throws at once', throwing(lost)],
  ])(
    'when it %s and the transaction is found, then it is repeated with the current balance (D2)',
    async (_what, answer) => {
      const found = snapshot({ player: { ...alice, balance: '55' }, bet: bet(), transaction: transaction() })
      const store = scripted([snapshot(), found], [answer])
      const { outcome, event } = await call(store)
      expect(outcome).toEqual({
        ok: true,
        replayed: true,
        balance: '55',
        currency: 'EUR',
        walletTransactionId: 'W1',
      })
      expect(event).toMatchObject({ reason: 'REPLAYED', replayed: true, attempts: 1 })
      expect([store.loaded.length, store.committed.length]).toEqual([2, 1])
      expect(store.loaded[1]).toEqual(store.loaded[0])
    },
  )

  test('when a racing duplicate has recorded a refusal, then that refusal, not the own decision', async () => {
    const found = snapshot({ transaction: transaction({ delta: '0', refusal: limit }) })
    const { outcome } = await call(scripted([snapshot(), found], unknown))
    expect(outcome).toEqual({ ok: false, replayed: true, ...limit })
  })

  test('when another meaning is found, then TRANSACTION_CONFLICT (D4)', async () => {
    const found = snapshot({ transaction: transaction({ amount: '40', delta: '-40' }) })
    const { outcome } = await call(scripted([snapshot(), found], unknown))
    expect(outcome).toMatchObject({ ok: false, replayed: false, errorCode: 'TRANSACTION_CONFLICT' })
  })

  test('when the recording of a refusal throws and is found, then it is repeated', async () => {
    const found = snapshot({ transaction: transaction({ delta: '0', refusal: limit }) })
    const { outcome, event } = await call(scripted([snapshot(), found], [refused, ...unknown]))
    expect(outcome).toEqual({ ok: false, replayed: true, ...limit })
    expect(event.storeRefusal).toEqual(limit)
  })

  test('when it is not found, then COMMIT_UNKNOWN after one look, not retryable', async () => {
    const store = scripted([snapshot()], unknown)
    const result = await call(store)
    expect(result.fault).toMatchObject({ ...fault('COMMIT_UNKNOWN', false), cause: lost })
    expect([store.loaded.length, store.committed.length]).toEqual([2, 1])
  })

  test.each<[string, Answer<WalletSnapshot>, unknown]>([
    ['rejects', rejecting(new Error('still lost')), { cause: { message: 'still lost' } }],
    ['throws', throwing(new Error('still lost')), { cause: { message: 'still lost' } }],
    ['breaks the contract', { ...snapshot(), bet: undefined } as never, { code: 'STORE_CONTRACT' }],
  ])(
    'when the look %s, then COMMIT_UNKNOWN with both causes, after one look',
    async (_what, look, second) => {
      const store = scripted([snapshot(), look], unknown)
      const result = await call(store)
      expect(result.fault).toMatchObject(fault('COMMIT_UNKNOWN', false))
      const { errors } = (result.fault as WalletError).cause as AggregateError
      expect(errors).toMatchObject([lost, second])
      expect([store.loaded.length, store.committed.length]).toEqual([2, 1])
    },
  )

  test.each(['before', 'after'])(
    'when it lands late, %s the rollback, then bet and rollback net to nothing',
    async when => {
      const memory = createMemoryStore([alice])
      let land = async (): Promise<unknown> => undefined
      const store: WalletStore = {
        ...memory,
        async commit(changes) {
          land = () => memory.commit(changes)
          throw lost
        },
      }
      expect(await faultOf(handlePlaceBet(store, placeBet()))).toMatchObject({ code: 'COMMIT_UNKNOWN' })
      if (when === 'before') await land()
      expect(await handleRollbackBet(memory, rollbackBet())).toMatchObject({ ok: true, balance: '100' })
      if (when === 'after') await land()
      expect(memory.player('alice')?.balance).toBe('100')
      expect(memory.bet('bet-1')?.status).toBe('ROLLED_BACK')
    },
  )
})

describe('given a lost answer', () => {
  test('when its transaction is found, then commitError tells of the line', async () => {
    const lost = new Error('connection reset')
    const found = snapshot({ transaction: transaction(), player: { ...alice, balance: '70' } })
    const { outcome, event } = await call(scripted([snapshot(), found], [rejecting(lost)]))
    expect(outcome).toMatchObject({ ok: true, replayed: true, balance: '70' })
    expect(event).toMatchObject({ reason: 'REPLAYED', error: null, commitError: lost })
  })

  test('when its success is found without the player, then COMMIT_UNKNOWN: nobody is told that nothing happened', async () => {
    const found = snapshot({ transaction: transaction(), player: null })
    const { fault: thrown } = await call(scripted([snapshot(), found], [rejecting(new Error('reset'))]))
    expect(thrown).toMatchObject({ code: 'COMMIT_UNKNOWN', retryable: false })
  })
})

describe('given amounts that cannot be added', () => {
  test('when a credit would have more than 40 digits, then STORE_CONTRACT', async () => {
    const rich = snapshot({ bet: bet(), player: { ...alice, balance: '9'.repeat(40) } })
    const { fault: thrown } = await call(scripted([rich], []), {}, handleRollbackBet, rollbackBet())
    expect(thrown).toMatchObject({ code: 'STORE_CONTRACT' })
  })
})

describe('given authorizeBet', () => {
  const refusing = () => vi.fn(throwing(new WalletRefusal('INVALID_SESSION_TOKEN', 'the session has ended')))
  const ended = { errorCode: 'INVALID_SESSION_TOKEN', description: 'the session has ended' }

  test('when the rules allow the bet, then it is asked with the request and the player', async () => {
    const authorizeBet = vi.fn()
    const { outcome } = await call(scripted([snapshot()], [done()]), { authorizeBet })
    expect(outcome).toMatchObject({ ok: true })
    expect(authorizeBet.mock.calls).toEqual([[placeBet(), alice]])
  })

  test.each(['throws', 'rejects'])(
    'when it %s a WalletRefusal, then that is recorded and sticks',
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

  test('when conflicts come, then it was asked once and its yes is kept', async () => {
    const authorizeBet = vi.fn()
    await call(scripted([snapshot()], [conflict, conflict, done()]), { authorizeBet })
    expect(authorizeBet).toHaveBeenCalledTimes(1)
  })

  test('when conflicts come, then it was asked once and its no is kept', async () => {
    const authorizeBet = refusing()
    const store = scripted([snapshot()], [conflict, conflict, done('100')])
    expect((await call(store, { authorizeBet })).outcome).toMatchObject(ended)
    expect(authorizeBet).toHaveBeenCalledTimes(1)
    expect(
      store.committed.map(({ transaction, bet, balance }) => [transaction.refusal, bet, balance]),
    ).toEqual(Array(3).fill([ended, null, null]))
  })

  test('when its no meets a conflict and a rule refuses by then, then the rule comes first', async () => {
    const rolledBack = snapshot({ bet: bet({ status: 'ROLLED_BACK', stake: '0' }) })
    const store = scripted([snapshot(), rolledBack], [conflict, done('100')])
    expect((await call(store, { authorizeBet: refusing() })).outcome).toMatchObject({
      errorCode: 'INVALID_BET',
    })
  })

  test('when the first snapshot refuses and a later one allows, then it is asked for the later one', async () => {
    const poor = snapshot({ player: { ...alice, balance: '1' } })
    const authorizeBet = vi.fn()
    await call(scripted([poor, snapshot()], [conflict, done()]), { authorizeBet })
    expect(authorizeBet.mock.calls).toEqual([[placeBet(), alice]])
  })

  test.each<[string, Partial<WalletSnapshot>]>([
    ['a repeat', { transaction: transaction() }],
    ['another meaning', { transaction: transaction({ betId: 'bet-2' }) }],
    ['an unknown player', { player: null }],
    ['a known bet', { bet: bet() }],
    ['another currency', { player: { ...alice, currency: 'USD' } }],
    ['lack of funds', { player: { ...alice, balance: '29.99' } }],
  ])('when another rule answers (%s), then it is not asked', async (_what, known) => {
    const authorizeBet = refusing()
    const { outcome } = await call(scripted([snapshot(known)], [done()]), { authorizeBet })
    expect(outcome).not.toMatchObject(ended)
    expect(authorizeBet).not.toHaveBeenCalled()
  })

  test.each<[string, Handler, unknown, WalletSnapshot]>([
    ['a rollback', handleRollbackBet, rollbackBet(), placed],
    ['an unsettlement', handleUnsettlement, unsettlement(), paid],
    ['a settlement', recordSettlement, settlement(), placed],
  ])('when it is %s, then it is not asked', async (_what, handler, request, known) => {
    const authorizeBet = refusing()
    const { outcome } = await call(scripted([known], [done()]), { authorizeBet }, handler, request)
    expect(outcome).toMatchObject({ ok: true })
    expect(authorizeBet).not.toHaveBeenCalled()
  })

  const like = (fields: object) =>
    Object.assign(new Error('refused'), { code: 'WALLET_REFUSAL', ...ended, ...fields })

  test.each<[string, unknown]>([
    ['another copy of the package', like({})],
    ['another realm', { code: 'WALLET_REFUSAL', ...ended }],
  ])('when it throws a WalletRefusal of %s, then it is known by its code', async (_whose, error) => {
    const { outcome } = await call(scripted([snapshot()], [done('100')]), { authorizeBet: throwing(error) })
    expect(outcome).toEqual({ ok: false, replayed: false, ...ended })
  })

  test.each<[string, unknown]>([
    ['an error', new Error('no database')],
    ['a WalletError', new WalletError('UNAVAILABLE', 'mine')],
    ['undefined', undefined],
    ['a refusal with a code for faults', like({ errorCode: 'UNAVAILABLE' })],
    ['a refusal without a description', like({ description: undefined })],
  ])(
    'when it throws another thing (%s), then HOOK_FAILED with its cause, and nothing is recorded',
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
  ])('when it is made with %s, then it carries code and description', (errorCode, description) => {
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
  ])('when its code is %j, then a TypeError', errorCode => {
    expect(() => new WalletRefusal(errorCode as string, 'why')).toThrow(TypeError)
    expect(() => new WalletRefusal(errorCode as string, 'why')).toThrow(/errorCode/)
  })

  test.each<unknown>(['', 'a\u0000b', 'a\nb', '\ud800', 'x'.repeat(501), undefined, null, 17])(
    'when its description is bad (%#), then a TypeError',
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
    known?: Partial<WalletSnapshot>
    commits?: CommitResult[]
    options?: WalletOptions
    errorCode?: string
  }
  // A record, so that no reason can be forgotten.
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
    REFUSED_BY_STORE: { of: place, commits: [refused, done('100')], errorCode: 'LIMIT_REACHED' },
    FAULT: { of: place, commits: [unavailable] },
  }
  const operations = new Map<unknown, string>([
    [handlePlaceBet, 'placebet'],
    [handleUnsettlement, 'unsettlement'],
    [handleRollbackBet, 'rollbackbet'],
  ])

  test.each(Object.entries(cases))(
    'when the reason is %s, then it is told with ids and outcome',
    async (reason, expected) => {
      const { of, known, commits = [done()], options, errorCode } = expected
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
        storeRefusal: reason === 'REFUSED_BY_STORE' ? limit : null,
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

  test('when a settlement is recorded, then it is told as a settlement', async () => {
    const { event } = await call(scripted([placed], [done('160')]), {}, recordSettlement, settlement())
    expect(event).toMatchObject({ operation: 'settlement', transactionId: 'settle-1', reason: 'ACCEPTED' })
  })

  test.each<[string, () => void | Promise<void>]>([
    ['throws', throwing(new Error('no logger'))],
    ['rejects', rejecting<void>(new Error('no logger'))],
  ])('when it %s, then the answer stands, and it is reported once per process', async (_what, onOutcome) => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    vi.resetModules() // a process in which nothing was reported yet
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
  })
})

describe('given hooks and stores that keep what they are handed', () => {
  test('when authorizeBet changes the request and the player, then another bet is not taken', async () => {
    const memory = createMemoryStore([alice, { ...alice, playerId: 'bob' }])
    const commit = vi.fn(memory.commit).mockResolvedValueOnce(conflict)
    const authorizeBet: WalletOptions['authorizeBet'] = (request, player) => {
      Object.assign(request, { playerId: 'bob', currency: 'eur', amount: '1' })
      Object.assign(player, { playerId: 'bob', balance: '0' })
    }
    const outcome = await handlePlaceBet({ ...memory, commit }, placeBet(), { authorizeBet })
    expect(outcome).toMatchObject({ ok: true, balance: '70' })
    expect(memory.player('bob')?.balance).toBe(alice.balance)
  })

  test('when onOutcome changes the outcome, then the answer is as it was', async () => {
    const onOutcome = ({ outcome }: OutcomeEvent) => void Object.assign(outcome as object, { balance: '***' })
    expect(await handlePlaceBet(createMemoryStore([alice]), placeBet(), { onOutcome })).toMatchObject({
      balance: '70',
    })
  })

  test('when load folds the ids that it was asked for, then STORE_CONTRACT', async () => {
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
    'when authorizeBet answers %j instead of throwing, then HOOK_FAILED, and the bet is not taken',
    async answer => {
      const memory = createMemoryStore([alice])
      const authorizeBet = (async () => answer) as never
      expect(await faultOf(handlePlaceBet(memory, placeBet(), { authorizeBet }))).toMatchObject({
        code: 'HOOK_FAILED',
      })
      expect(memory.transactions()).toEqual([])
    },
  )

  test('when onOutcome throws what has no text, then the answer stands', async () => {
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

describe('given options that are not what they must be', () => {
  test('when there is no such option, then INVALID_OPTIONS names it', async () => {
    for (const name of ['deduction', 'deadlineMS', 'onoutcome']) {
      const fault = await faultOf(
        handlePlaceBet(createMemoryStore([alice]), placeBet(), { [name]: 1 } as never),
      )
      expect(fault).toMatchObject({ code: 'INVALID_OPTIONS' })
      expect(fault.message).toContain(`unknown option "${name}"`)
    }
  })

  test('when they are changed after their first use, then nothing changes', async () => {
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
    ['attemptsMax', [0, -1, 1.5, '3', Number.NaN, Number.POSITIVE_INFINITY, null]],
    ['deadlineMs', [-1, Number.NaN, '50', null]],
  ])('when %s is bad, then INVALID_OPTIONS names it before anything is asked', async (name, values) => {
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

  test('when they say nothing, then the defaults hold', async () => {
    const nothing = {
      clawbacks: undefined,
      attemptsMax: undefined,
      deadlineMs: undefined,
      betTypes: undefined,
    }
    expect(await handlePlaceBet(createMemoryStore([alice]), placeBet(), nothing as never)).toMatchObject({
      ok: true,
    })
  })
})
