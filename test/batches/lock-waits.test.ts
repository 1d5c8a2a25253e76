import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Entry } from '../../src/batches/index.js'
import { type LockWaitSettings, LockWaits } from '../../src/batches/lock-waits.js'
import { recordEvents } from '../channel-events.js'

interface Item {
  name: string
  row: string
  sheddable?: boolean
  keys?: string[]
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
})
afterEach(() => void vi.useRealTimers())

/** Rows are locked until they are taken out of `locked`. */
function stage(settings: Partial<LockWaitSettings<Item, string>> = {}) {
  const locked = new Set<string>()
  const sent: string[][] = []
  const answers: Record<string, string> = {}
  const lockWaits = new LockWaits<Item, string>({
    queueMax: 100,
    batchMax: 4,
    lockTimeoutMs: 1_000,
    sheddable: item => item.sheddable === true,
    partitionKeyOf: item => item.row,
    uniqueKeysOf: ({ keys = [] }) => keys,
    async perform(batch) {
      sent.push(batch.map(({ item }) => item.name))
      for (const entry of batch) {
        if (locked.has(entry.item.row)) lockWaits.wait(entry)
        else entry.resolve('done')
      }
    },
    onUnlocked: entry => entry.resolve('passed on'),
    onGivenUp: entry => entry.resolve('given up'),
    ...settings,
  })
  function wait(name: string, fields: Partial<Item> = {}): void {
    const item = { name, row: name.slice(0, 1), ...fields }
    locked.add(item.row)
    const entry: Entry<Item, string> = {
      item,
      queuedAt: performance.now(),
      resolve(answer) {
        answers[name] = answer
      },
      reject(error) {
        answers[name] = `rejected: ${error}`
      },
    }
    lockWaits.wait(entry)
  }
  return { lockWaits, locked, sent, answers, wait }
}

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms)

describe('a locked row', () => {
  test('is tried again with growing pauses, of at most 24 ms', async () => {
    const { sent, wait, locked, answers } = stage()
    const times: number[] = []
    const started = performance.now()
    const push = sent.push.bind(sent)
    sent.push = (...batches) => {
      times.push(performance.now() - started)
      return push(...batches)
    }
    wait('a')
    await pass(500)
    const pauses = times.map((time, index) => time - (times[index - 1] ?? 0))
    // Half to one and a half of 2, 4, 8, 16, 16, …; timers have whole milliseconds.
    for (const [index, pause] of pauses.entries()) {
      const about = Math.min(16, 2 ** (index + 1))
      expect(pause).toBeGreaterThanOrEqual(about / 2)
      expect(pause).toBeLessThanOrEqual(1.5 * about + 1)
    }
    expect(pauses.length).toBeGreaterThan(15)
    expect(answers).toEqual({})
    locked.clear()
    await pass(25)
    expect(answers).toEqual({ a: 'done' })
    expect(vi.getTimerCount()).toBe(0)
  })

  test('is given up after lockTimeoutMs, with one last attempt at the end', async () => {
    const { sent, wait, answers, lockWaits } = stage()
    wait('a')
    await pass(999)
    expect(answers).toEqual({})
    const before = sent.length
    await pass(2)
    expect(answers).toEqual({ a: 'given up' })
    expect(sent.length).toBeGreaterThan(before)
    expect(lockWaits.stats).toEqual({ queued: 0, inFlight: 0, shed: 0 })
    expect(vi.getTimerCount()).toBe(0)
  })

  test('does not delay another row', async () => {
    const { wait, locked, answers } = stage()
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i']) wait(name)
    await pass(300)
    wait('z')
    locked.delete('z')
    await pass(100)
    expect(answers).toEqual({ z: 'done' })
  })

  test('has its first entry tried; the others are passed on when it is not locked any more', async () => {
    const { lockWaits, sent, wait, locked, answers } = stage()
    for (const name of ['a1', 'b1', 'a2', 'a3']) wait(name)
    await pass(200)
    for (const batch of sent)
      expect(batch.map(name => name.slice(0, 1))).toEqual([...new Set(batch.map(name => name.slice(0, 1)))])
    expect(answers).toEqual({})
    locked.delete('a')
    await pass(25)
    expect(answers).toEqual({ a1: 'done', a2: 'passed on', a3: 'passed on' })
    expect(sent.flat()).not.toContain('a2')
    expect(lockWaits.stats).toEqual({ queued: 1, inFlight: 0, shed: 0 })
  })

  test('is given up for the entries that were not tried too, each at the end of its time', async () => {
    const { wait, answers } = stage()
    wait('a1')
    wait('a2')
    await pass(500)
    wait('a3')
    await pass(501)
    expect(answers).toEqual({ a1: 'given up', a2: 'given up' })
    await pass(500)
    expect(answers).toEqual({ a1: 'given up', a2: 'given up', a3: 'given up' })
  })

  test('that is locked again after its entries were passed on: they have their whole time', async () => {
    const { lockWaits, wait, locked, answers } = stage({
      onUnlocked(entry) {
        locked.add('a')
        lockWaits.wait(entry)
      },
    })
    wait('a1')
    wait('a2')
    await pass(900)
    locked.clear()
    await pass(25)
    expect(answers).toEqual({ a1: 'done' })
    await pass(900)
    expect(answers).toEqual({ a1: 'done' })
    await pass(100)
    expect(answers).toEqual({ a1: 'done', a2: 'given up' })
  })

  test('costs a constant number of steps per attempt and per entry, also with 10,000 entries', async () => {
    let steps = 0
    const count = 10_000
    const { lockWaits, locked, sent } = stage({ queueMax: count })
    locked.add('a')
    let passedOn = 0
    for (let n = 0; n < count; n += 1)
      lockWaits.wait({
        get item() {
          steps += 1
          return { name: `a${n}`, row: 'a' }
        },
        queuedAt: 0,
        resolve() {
          passedOn += 1
        },
        reject() {},
      })
    await pass(500)
    expect(sent.length).toBeGreaterThan(15)
    locked.clear()
    await pass(25)
    expect(passedOn).toBe(count)
    expect(steps / (count + sent.length)).toBeLessThan(12)
  })
})

test('entries with a key in common are tried one after the other', async () => {
  const { sent, wait, locked, answers } = stage()
  wait('a', { keys: ['t'] })
  wait('b', { keys: ['t'] })
  locked.clear()
  await pass(50)
  expect(sent.map(({ length }) => length)).toEqual([1, 1])
  expect(answers).toEqual({ a: 'done', b: 'done' })
})

test('a full queue sheds: sheddable entries from half of queueMax on, which take no room from the others', async () => {
  const { wait, answers, lockWaits } = stage({ queueMax: 4 })
  for (const name of ['p1', 'q1', 's1']) wait(name, { sheddable: true })
  for (const name of ['t1', 'u1', 'v1', 'w1', 'x1']) wait(name)
  expect(answers).toEqual({ s1: 'given up', x1: 'given up' })
  expect(lockWaits.stats).toEqual({ queued: 6, inFlight: 0, shed: 2 })
})

test('a row takes at most half of the room, of sheddable entries and of others', async () => {
  const { wait, answers, lockWaits } = stage({ queueMax: 8 })
  for (const name of ['a1', 'a2', 'a3']) wait(name, { sheddable: true })
  for (const name of ['a4', 'a5', 'a6', 'a7', 'a8']) wait(name)
  for (const name of ['b1', 'b2']) wait(name, { sheddable: true })
  for (const name of ['b3', 'b4', 'b5', 'b6']) wait(name)
  expect(answers).toEqual({ a3: 'given up', a8: 'given up' })
  expect(lockWaits.stats).toEqual({ queued: 12, inFlight: 0, shed: 2 })
})

test('a batch that rejects: its entries are rejected with that error, and the others are tried', async () => {
  let fails = true
  const { wait, answers, lockWaits } = stage({
    async perform(batch) {
      for (const entry of batch) {
        if (fails) lockWaits.wait(entry)
        else entry.resolve('done')
      }
      if (fails) throw new Error('no')
    },
  })
  wait('a')
  await pass(25)
  expect(answers).toEqual({ a: 'rejected: Error: no' })
  expect(lockWaits.stats).toEqual({ queued: 0, inFlight: 0, shed: 0 })
  fails = false
  wait('b')
  await pass(25)
  expect(answers).toEqual({ a: 'rejected: Error: no', b: 'done' })
  expect(vi.getTimerCount()).toBe(0)
})

test('attempts take at most half of the time', async () => {
  let attempts = 0
  const { wait, lockWaits } = stage({
    async perform(batch) {
      attempts += 1
      await new Promise(resolve => setTimeout(resolve, 40))
      for (const entry of batch) lockWaits.wait(entry)
    },
  })
  wait('a')
  await pass(800)
  expect(attempts).toBeLessThanOrEqual(11)
  expect(attempts).toBeGreaterThan(8)
})

describe('bet-wallet:lock-wait', () => {
  test('has each wait, with its player, attempts and time; each attempt is a batch', async () => {
    const { names, messages, events } = recordEvents('bet-wallet:lock-wait')
    const batches = recordEvents('bet-wallet:batch')
    const { wait, locked, sent } = stage()
    wait('a')
    expect(names()).toEqual(['start', 'end'])
    expect(events[0]?.[1]).toMatchObject({ playerId: 'a', attempts: 0, result: null, durationMs: 0 })
    await pass(100)
    locked.clear()
    await pass(25)
    expect(names()).toEqual(['start', 'end', 'asyncStart', 'asyncEnd'])
    const [message] = messages()
    expect(message).toMatchObject({ result: 'ended', attempts: sent.length })
    expect(message?.durationMs).toBeGreaterThan(100)
    expect(batches.messages()).toHaveLength(sent.length)
    expect(batches.messages()[0]).toMatchObject({ kind: 'lock-wait', size: 1 })
  })

  test('says that a wait was given up, and has none for an entry that is shed', async () => {
    const { messages } = recordEvents('bet-wallet:lock-wait')
    const { wait } = stage({ queueMax: 1 })
    wait('a')
    wait('b')
    await pass(1_100)
    expect(messages()).toEqual([expect.objectContaining({ playerId: 'a', result: 'gave-up' })])
  })

  test('leaves out a wait that began without a subscriber', async () => {
    const { wait, locked, answers } = stage()
    wait('a')
    const { events } = recordEvents('bet-wallet:lock-wait')
    locked.clear()
    await pass(25)
    expect([answers, events]).toEqual([{ a: 'done' }, []])
  })
})
