/** The tracing channels: their events, their messages, and that nothing happens without a subscriber. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { tracingChannel } from 'node:diagnostics_channel'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { channels, isTraced, type WalletChannels } from '../src/diagnostics.js'
import {
  handlePlaceBet,
  handleRollbackBet,
  type OutcomeEvent,
  WalletError,
  type WalletOutcome,
} from '../src/index.js'
import type { CommitResult } from '../src/store.js'
import { createMemoryStore } from '../src/stores/memory.js'
import { recordEvents } from './channel-events.js'
import { alice, bet, faultOf, placeBet, rollbackBet, snapshot, transaction } from './fixtures.js'
import { scripted } from './scripted-store.js'

const committed: CommitResult = { status: 'committed', balance: '70', walletTransactionId: 'W1' }
const conflict: CommitResult = { status: 'conflict' }
const lost = new Error('the connection was lost')
const losing = () => Promise.reject(lost)

const ids = { transactionId: 'place-1', betId: 'bet-1', playerId: 'alice' }
const keys = { operation: 'placebet', ...ids }
const settled = ['start', 'end', 'asyncStart', 'asyncEnd']
const failed = ['start', 'end', 'error', 'asyncStart', 'asyncEnd']
const ms = expect.any(Number)

describe('bet-wallet:request', () => {
  test('when a call succeeds, then its message is the event of onOutcome, complete at asyncEnd', async () => {
    const { events, names, messages } = recordEvents('bet-wallet:request')
    const outcomes: OutcomeEvent[] = []
    const onOutcome = (event: OutcomeEvent) => void outcomes.push(event)
    const outcome = await handlePlaceBet(createMemoryStore([alice]), placeBet(), { onOutcome })
    expect(names()).toEqual(settled)
    expect(messages()).toHaveLength(1)
    expect(events[0]?.[1]).toMatchObject({ operation: 'placebet', outcome: null })
    expect(events.at(-1)?.[1]).toMatchObject({
      ...keys,
      ...{ outcome, reason: 'ACCEPTED', error: null, commitError: null, storeRefusal: null },
      ...{ replayed: false, attempts: 1 },
    })
    expect(messages()[0]).toMatchObject({ ...outcomes[0], durationMs: ms })
  })

  test('when a call is refused, then it is an outcome, not an error', async () => {
    const { names, messages } = recordEvents('bet-wallet:request')
    const outcome = await handlePlaceBet(createMemoryStore([alice]), placeBet({ amount: '100.01' }))
    expect(names()).toEqual(settled)
    expect(messages()[0]).toMatchObject({ outcome, reason: 'INSUFFICIENT_FUNDS', error: null })
  })

  test('when a call ends in a fault, then there is an error event, and the message is complete at it', async () => {
    const { events, names } = recordEvents('bet-wallet:request')
    const fault = await handlePlaceBet(scripted([snapshot()], [losing]), placeBet()).catch(error => error)
    expect(fault).toBeInstanceOf(WalletError)
    expect(names()).toEqual(failed)
    expect(events.find(([event]) => event === 'error')?.[1]).toMatchObject({
      ...keys,
      ...{ outcome: null, reason: 'FAULT', error: fault, commitError: lost, attempts: 1 },
    })
  })

  test('when a subscriber changes the message, then the answer is unchanged', async () => {
    const channel = tracingChannel<unknown, OutcomeEvent>('bet-wallet:request')
    const change = (event: OutcomeEvent) => {
      if (event.outcome !== null) Object.assign(event.outcome, { ok: false, balance: '1000000' })
    }
    channel.asyncEnd.subscribe(change as never)
    const answers: WalletOutcome[] = []
    answers.push(await handlePlaceBet(createMemoryStore([alice]), placeBet()))
    channel.asyncEnd.unsubscribe(change as never)
    expect(answers).toEqual([expect.objectContaining({ ok: true, balance: '70.00' })])
  })

  test('when onOutcome changes its event, then subscribers get the message as it was', async () => {
    const request = recordEvents('bet-wallet:request')
    const refusal = { errorCode: 'LIMIT_REACHED', description: 'the limit of the day' }
    const store = scripted(
      [snapshot()],
      [{ status: 'refused', ...refusal }, { status: 'refused', ...refusal }, committed],
    )
    const onOutcome = ({ storeRefusal }: OutcomeEvent) => {
      if (storeRefusal !== null) storeRefusal.errorCode = 'CHANGED'
    }
    await handlePlaceBet(store, placeBet(), { onOutcome })
    expect(request.messages()[0]?.storeRefusal).toEqual(refusal)
  })
})

describe('a fault', () => {
  test('names its call, also before the request could be parsed', async () => {
    const unreachable = scripted([snapshot()], [{ status: 'unavailable' }])
    const fault = await faultOf(handlePlaceBet(unreachable, placeBet()))
    expect(fault.call).toEqual(keys)
    const unparsed = { parseTransactionDate: () => 5 as never }
    const early = await faultOf(handlePlaceBet(createMemoryStore([alice]), placeBet(), unparsed))
    expect(early).toMatchObject({ code: 'HOOK_FAILED', call: { operation: 'placebet', betId: null } })
    expect(new WalletError('INVALID_OPTIONS', 'wrong').call).toBeNull()
  })

  test('is a WalletError whatever was thrown: a record that cannot be read, say', async () => {
    const cause = new Error('not connected any more')
    const lazy = {
      get accounts(): never {
        throw cause
      },
    }
    const events: OutcomeEvent[] = []
    const onOutcome = (event: OutcomeEvent) => void events.push(event)
    const store = scripted([lazy as never], [])
    const fault = await faultOf(handleRollbackBet(store, rollbackBet(), { onOutcome }))
    const message = 'An unexpected error; changes may have been made'
    expect(fault).toMatchObject({ code: 'UNEXPECTED', message, retryable: false, cause })
    expect(events).toEqual([expect.objectContaining({ reason: 'FAULT', error: fault })])
  })
})

describe('bet-wallet:load, bet-wallet:decide and bet-wallet:commit', () => {
  test('when a placebet is new, then it is decided without a load, and committed once', async () => {
    const load = recordEvents('bet-wallet:load')
    const decide = recordEvents('bet-wallet:decide')
    const commit = recordEvents('bet-wallet:commit')
    await handlePlaceBet(createMemoryStore([alice]), placeBet())
    expect(load.events).toEqual([])
    expect(decide.names()).toEqual(['start', 'end'])
    expect(decide.events[0]?.[1]).toMatchObject({ ...keys, assumed: true, reason: null })
    expect(decide.messages()[0]).toMatchObject({ reason: 'ACCEPTED', error: null, durationMs: ms })
    expect(commit.names()).toEqual(settled)
    expect(commit.events[0]?.[1]).toMatchObject({ ...keys, status: null })
    expect(commit.messages()[0]).toMatchObject({ status: 'committed', error: null, durationMs: ms })
  })

  test('when it is a retry, then a conflict, a load and the replay are seen', async () => {
    const store = createMemoryStore([alice])
    await handlePlaceBet(store, placeBet())
    const load = recordEvents('bet-wallet:load')
    const decide = recordEvents('bet-wallet:decide')
    const commit = recordEvents('bet-wallet:commit')
    await handlePlaceBet(store, placeBet())
    expect(commit.messages().map(({ status }) => status)).toEqual(['conflict'])
    expect(load.messages()).toEqual([
      expect.objectContaining({ ...keys, confirmed: false, error: null, durationMs: ms }),
    ])
    expect(decide.messages().map(({ assumed, reason }) => [assumed, reason])).toEqual([
      [true, 'ACCEPTED'],
      [false, 'REPLAYED'],
    ])
  })

  test('when the store confirms, then the loads say which one was confirmed', async () => {
    const load = recordEvents('bet-wallet:load')
    const known = snapshot({ transaction: transaction() })
    const unknown = snapshot({ player: null })
    await handleRollbackBet(scripted([unknown], [], [unknown]), rollbackBet())
    await handlePlaceBet(scripted([], [conflict], [known]), placeBet())
    expect(load.messages().map(({ operation, confirmed }) => [operation, confirmed])).toEqual([
      ['rollbackbet', false],
      ['rollbackbet', true],
      ['placebet', true],
    ])
  })

  test('when commit throws, then its status is unknown, with the error, and the follow-up read is seen', async () => {
    const load = recordEvents('bet-wallet:load')
    const commit = recordEvents('bet-wallet:commit')
    await expect(handlePlaceBet(scripted([snapshot()], [losing]), placeBet())).rejects.toThrow()
    expect(commit.names()).toEqual(failed)
    expect(commit.messages()).toEqual([expect.objectContaining({ ...keys, status: 'unknown', error: lost })])
    expect(load.names()).toEqual(settled)
  })

  test.each<CommitResult>([
    committed,
    conflict,
    { status: 'unavailable' },
    { status: 'refused', errorCode: 'LIMIT', description: 'the daily limit' },
  ])('when commit returns $status, then the message has it', async result => {
    const { messages } = recordEvents('bet-wallet:commit')
    const store = scripted([snapshot({ bet: bet() })], [result, committed, committed])
    await handlePlaceBet(store, placeBet()).catch(() => {})
    expect(messages()[0]?.status).toBe(result.status)
  })

  test('when commit returns nothing, then it is reported as the fault of the store that it is', async () => {
    const { messages } = recordEvents('bet-wallet:commit')
    const store = scripted([snapshot({ bet: bet() })], [() => undefined as never])
    const fault = await faultOf(handlePlaceBet(store, placeBet()))
    expect(fault).toMatchObject({ code: 'STORE_CONTRACT' })
    expect(messages()).toEqual([expect.objectContaining({ status: null, error: null })])
  })

  test('when load throws at once, then there is an error event', async () => {
    const { names, messages } = recordEvents('bet-wallet:load')
    const store = scripted(
      [
        () => {
          throw lost
        },
      ],
      [],
    )
    await expect(handleRollbackBet(store, rollbackBet())).rejects.toMatchObject({ code: 'LOAD_FAILED' })
    expect(names()).toEqual(failed)
    expect(messages()[0]?.error).toBe(lost)
  })

  test('when the rules throw, then decide has an error event before its end', async () => {
    const { names, messages } = recordEvents('bet-wallet:decide')
    const huge = snapshot({ player: { ...alice, balance: '9'.repeat(40) }, bet: bet() })
    const result = handleRollbackBet(scripted([huge], []), rollbackBet())
    await expect(result).rejects.toMatchObject({ code: 'STORE_CONTRACT' })
    expect(names()).toEqual(['start', 'error', 'end'])
    expect(messages()[0]).toMatchObject({ reason: null, error: { code: 'STORE_CONTRACT' } })
  })
})

test('a store that is bound to the start of a request is seen by its parts', async () => {
  const calls = new AsyncLocalStorage<string>()
  const channel = tracingChannel<unknown, OutcomeEvent>('bet-wallet:request')
  const seen: (string | undefined)[] = []
  const see = () => void seen.push(calls.getStore())
  channel.start.bindStore(calls as never, ((event: OutcomeEvent) => event.operation) as never)
  tracingChannel('bet-wallet:decide').start.subscribe(see)
  tracingChannel('bet-wallet:commit').asyncEnd.subscribe(see)
  await handlePlaceBet(createMemoryStore([alice]), placeBet())
  channel.start.unbindStore(calls as never)
  tracingChannel('bet-wallet:decide').start.unsubscribe(see)
  tracingChannel('bet-wallet:commit').asyncEnd.unsubscribe(see)
  expect(seen).toEqual(['placebet', 'placebet'])
  expect(calls.getStore()).toBeUndefined()
})

describe('without a subscriber', () => {
  const prototype = Object.getPrototypeOf(tracingChannel('any')) as ReturnType<typeof tracingChannel>
  afterEach(() => void vi.restoreAllMocks())

  test('when there is no onOutcome either, then nothing is reported as a failed hook', async () => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    await handlePlaceBet(createMemoryStore([alice]), placeBet())
    expect(warn).not.toHaveBeenCalled()
  })

  test('when calls are answered, then no channel is used', async () => {
    const used = [vi.spyOn(prototype, 'tracePromise'), vi.spyOn(prototype, 'traceSync')]
    const store = createMemoryStore([alice])
    for (const _ of ['first', 'retry']) await handlePlaceBet(store, placeBet())
    for (const method of used) expect(method).not.toHaveBeenCalled()
    // The spies see what a subscriber would cause.
    recordEvents('bet-wallet:request')
    recordEvents('bet-wallet:decide')
    await handlePlaceBet(store, placeBet())
    for (const method of used) expect(method).toHaveBeenCalled()
  })

  test.each(['start', 'end', 'asyncStart', 'asyncEnd', 'error'] as const)(
    'when only %s has a subscriber, then the channel is used, also where it cannot be asked as a whole',
    part => {
      // Node.js 20.0 to 20.12 have no TracingChannel.hasSubscribers.
      const none = { hasSubscribers: false }
      const old = { start: none, end: none, asyncStart: none, asyncEnd: none, error: none }
      expect(isTraced(old as never)).toBe(false)
      expect(isTraced({ ...old, [part]: { hasSubscribers: true } } as never)).toBe(true)
    },
  )
})

test('every channel has the name of its messages', () => {
  const names: (keyof WalletChannels)[] = Object.values(channels).map(
    ({ start }) => String(start.name).split(':').slice(1, -1).join(':') as keyof WalletChannels,
  )
  expect(names).toEqual([
    'bet-wallet:request',
    'bet-wallet:load',
    'bet-wallet:decide',
    'bet-wallet:commit',
    'bet-wallet:batch',
    'bet-wallet:lock-wait',
    'bet-wallet:http',
  ])
})
