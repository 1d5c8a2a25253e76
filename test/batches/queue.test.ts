import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type BatchSettings, createBatches, type Entry } from '../../src/batches/index.js'
import { recordEvents } from '../channel-events.js'
import { runs } from '../properties/runs.js'

interface Item {
  name: string
  sheddable?: boolean
  bulk?: boolean
  partition?: string
  keys?: string[]
}

type Answer = string

/** Batches that stay in flight until `end` is called. */
function stage(settings: Partial<BatchSettings<Item, Answer>> = {}) {
  const sent: { names: string[]; end(): void }[] = []
  const batches = createBatches<Item, Answer>({
    slotsMax: 1,
    batchMax: 4,
    queueMax: 8,
    queuedMsMax: 60_000,
    bulk: item => item.bulk === true,
    sheddable: item => item.sheddable === true,
    perform: entries =>
      new Promise(resolve => {
        sent.push({
          names: entries.map(({ item }) => item.name),
          end() {
            for (const entry of entries) entry.resolve('done')
            resolve()
          },
        })
      }),
    onShed: (entry: Entry<Item, Answer>) => entry.resolve('shed'),
    ...settings,
  })
  const submit = (...names: string[]) => names.map(name => batches.submit({ name }))
  return { batches, sent, submit }
}

/** Waits until a batch that ended has made room for the next one. */
async function turn(): Promise<void> {
  await new Promise(setImmediate)
  await new Promise(setImmediate)
}

describe('with no batch in flight', () => {
  test('a lone request leaves in the same turn of the event loop', async () => {
    const { sent, submit } = stage()
    submit('a')
    expect(sent).toHaveLength(0)
    await turn()
    expect(sent.map(({ names }) => names)).toEqual([['a']])
  })

  test('requests that arrive together leave together, up to batchMax', async () => {
    const { sent, submit } = stage()
    submit('a', 'b', 'c', 'd', 'e')
    await turn()
    expect(sent.map(({ names }) => names)).toEqual([['a', 'b', 'c', 'd']])
  })

  test('one batch leaves per free slot', async () => {
    const { sent, submit } = stage({ slotsMax: 2 })
    submit('a', 'b', 'c', 'd', 'e')
    await turn()
    expect(sent.map(({ names }) => names)).toEqual([['a', 'b', 'c', 'd'], ['e']])
  })

  test.each([
    [60, [30, 30]],
    [61, [31, 30]],
    // Two small batches would cost more than one.
    [16, [16]],
    [17, [16, 1]],
  ])('the free slots share %i requests: %j', async (count, sizes) => {
    const { sent, submit } = stage({ slotsMax: 2, batchMax: 128, queueMax: 200 })
    submit(...Array.from({ length: count }, (_, number) => `${number}`))
    await turn()
    expect(sent.map(({ names }) => names.length)).toEqual(sizes)
  })
})

describe('with a batch in flight', () => {
  test('requests that arrive meanwhile form the next batch', async () => {
    const { sent, submit, batches } = stage()
    submit('a')
    await turn()
    const later = submit('b', 'c')
    await turn()
    expect(batches.stats).toEqual({ queued: 2, inFlight: 1, shed: 0 })
    sent[0]?.end()
    await turn()
    expect(sent.map(({ names }) => names)).toEqual([['a'], ['b', 'c']])
    sent[1]?.end()
    expect(await Promise.all(later)).toEqual(['done', 'done'])
    await turn()
    expect(batches.stats).toEqual({ queued: 0, inFlight: 0, shed: 0 })
  })

  test('items of a partition in flight stay queued, others overtake them', async () => {
    const { sent, batches } = stage({ slotsMax: 2, partitionKeyOf: ({ partition = '' }) => partition })
    void batches.submit({ name: 'a1', partition: 'a' })
    await turn()
    void batches.submit({ name: 'a2', partition: 'a' })
    void batches.submit({ name: 'b1', partition: 'b' })
    void batches.submit({ name: 'a3', partition: 'a' })
    await turn()
    expect(sent.map(({ names }) => names)).toEqual([['a1'], ['b1']])
    sent[0]?.end()
    await turn()
    expect(sent.map(({ names }) => names)).toEqual([['a1'], ['b1'], ['a2']])
    sent[2]?.end()
    await turn()
    expect(sent[3]?.names).toEqual(['a3'])
  })
})

describe('items of one partition', () => {
  const partitioned = (settings: Partial<BatchSettings<Item, Answer>> = {}) =>
    stage({
      queueMax: 40_000,
      partitionKeyOf: ({ name, partition }) => partition ?? name.slice(0, 1),
      ...settings,
    })

  /** Ends every batch that is sent, until none is in flight. */
  async function endAll({ sent }: ReturnType<typeof stage>): Promise<void> {
    for (let ended = 0; ended < sent.length; await turn())
      for (; ended < sent.length; ended += 1) sent[ended]?.end()
  }

  test('are never in one batch: each batch has the next one', async () => {
    const staged = partitioned()
    staged.submit('a1', 'a2', 'b1', 'a3', 'b2')
    await turn()
    await endAll(staged)
    expect(staged.sent.map(({ names }) => names)).toEqual([['a1', 'b1'], ['a2', 'b2'], ['a3']])
  })

  test('with a key in common are no duplicates: the later one is performed in a later batch', async () => {
    const duplicates: string[] = []
    const staged = partitioned({
      uniqueKeysOf: () => ['t1'],
      onDuplicateKey: entry => void duplicates.push(entry.item.name),
    })
    staged.submit('a1', 'a2')
    await turn()
    await endAll(staged)
    expect(staged.sent.map(({ names }) => names)).toEqual([['a1'], ['a2']])
    expect(duplicates).toEqual([])
  })

  test('of different priorities are never in one batch: the one with priority is first', async () => {
    const staged = partitioned()
    void staged.batches.submit({ name: 'a-bet', sheddable: true })
    void staged.batches.submit({ name: 'a-settlement', bulk: true })
    staged.submit('a-rollback')
    await turn()
    await endAll(staged)
    expect(staged.sent.map(({ names }) => names)).toEqual([['a-rollback'], ['a-settlement'], ['a-bet']])
  })

  test('that were queued too long are shed, the others are not', async () => {
    const staged = partitioned({ queuedMsMax: 1000 })
    const ends: string[] = []
    const add = (name: string, queuedAt: number) =>
      staged.batches.add({
        item: { name },
        queuedAt,
        reject() {},
        resolve: answer => void ends.push(`${name} ${answer}`),
      })
    const now = performance.now()
    for (const name of ['a1', 'a2', 'b1']) add(name, now - 2000)
    for (const name of ['a3', 'a4', 'b2']) add(name, now + 60_000)
    await turn()
    await endAll(staged)
    expect(ends.toSorted()).toEqual(['a1 shed', 'a2 shed', 'a3 done', 'a4 done', 'b1 shed', 'b2 done'])
    expect(staged.batches.stats).toEqual({ queued: 0, inFlight: 0, shed: 3 })
  })

  test.each([
    ['a batch of one', 1],
    ['larger batches', 128],
  ])('by thousands delay no other, with %s: it is in the next batch', async (_, batchMax) => {
    const staged = partitioned({ batchMax })
    staged.submit(...Array.from({ length: 10_000 }, (_, n) => `a${n}`))
    await turn()
    staged.submit('b1', 'c1')
    for (let n = 0; n < 3; n += 1) {
      staged.sent[n]?.end()
      await turn()
    }
    const next = staged.sent.slice(1, 4).flatMap(({ names }) => names)
    expect(next).toEqual(expect.arrayContaining(['b1', 'c1']))
  })

  test('by thousands leave the room of a batch to others', async () => {
    const staged = partitioned({ batchMax: 8 })
    for (let n = 0; n < 10_000; n += 1)
      void staged.batches.submit({ name: `p${n}`, partition: 'hot', sheddable: true })
    await turn()
    for (const name of 'abcdefg') void staged.batches.submit({ name, bulk: true })
    staged.sent[0]?.end()
    await turn()
    expect(staged.sent[1]?.names).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'p1'])
  })

  test('take a constant number of steps each, also where 10,000 are queued', async () => {
    let steps = 0
    const staged = partitioned({ slotsMax: 2 })
    const count = 10_000
    for (let n = 0; n < count; n += 1) {
      // Whatever looks at an entry reads one of these.
      const entry = {
        get item() {
          steps += 1
          return { name: `a${n}`, sheddable: n % 3 === 0, bulk: n % 3 === 1 }
        },
        get queuedAt() {
          steps += 1
          return Number.POSITIVE_INFINITY
        },
        resolve() {},
        reject() {},
      }
      staged.batches.add(entry)
    }
    await turn()
    await endAll(staged)
    expect(staged.sent).toHaveLength(count)
    expect(steps / count).toBeLessThan(12)
  })

  test('property: no two are in flight, all are answered in order, and no slot is idle without need', async () => {
    const item = fc.record({ partition: fc.constantFrom('a', 'b', 'c', 'd'), kind: fc.nat({ max: 2 }) })
    const action = fc.oneof(
      fc.array(item, { minLength: 1, maxLength: 8 }),
      fc.nat({ max: 5 }).map(end => ({ end })),
    )
    const settings = fc.record({
      slotsMax: fc.integer({ min: 1, max: 3 }),
      batchMax: fc.integer({ min: 1, max: 5 }),
    })
    await fc.assert(
      fc.asyncProperty(settings, fc.array(action, { maxLength: 20 }), async (limits, actions) => {
        const staged = partitioned(limits)
        const inFlight: typeof staged.sent = []
        const submitted: string[] = []
        let seen = 0
        for (const each of [...actions, ...Array.from({ length: 160 }, () => ({ end: 0 }))]) {
          if (!Array.isArray(each)) inFlight.splice(each.end % (inFlight.length || 1), 1)[0]?.end()
          else
            for (const { partition, kind } of each) {
              const name = `${partition}${kind} ${submitted.length}`
              submitted.push(name)
              void staged.batches.submit({ name, sheddable: kind === 0, bulk: kind === 1 })
            }
          await turn()
          inFlight.push(...staged.sent.slice(seen))
          seen = staged.sent.length
          const flying = inFlight.flatMap(({ names }) => names.map(name => name.slice(0, 1)))
          expect(flying.toSorted()).toEqual([...new Set(flying)].sort())
          const { queued, inFlight: count } = staged.batches.stats
          expect(count).toBe(flying.length)
          const done = new Set(staged.sent.flatMap(({ names }) => names))
          const waiting = submitted.filter(name => !done.has(name))
          expect(queued).toBe(waiting.length)
          // Of several slots, one is kept free of bulk work.
          const isKept = (name: string) => name[1] === '1' && limits.slotsMax > 1
          if (inFlight.length < limits.slotsMax)
            expect(waiting.filter(name => !flying.includes(name.slice(0, 1)) && !isKept(name))).toEqual([])
        }
        for (const lane of submitted.map(name => name.slice(0, 2)))
          expect(staged.sent.flatMap(({ names }) => names).filter(name => name.startsWith(lane))).toEqual(
            submitted.filter(name => name.startsWith(lane)),
          )
      }),
      { ...runs<[never]>(40), endOnFailure: true } as object,
    )
  })
})

describe('bulk work beside sheddable items', () => {
  const bulk = (count: number) => Array.from({ length: count }, (_, n) => `b${n}`)

  function mixed(settings: Partial<BatchSettings<Item, Answer>> = {}) {
    const staged = stage({ slotsMax: 2, batchMax: 6, queueMax: 100, ...settings })
    return {
      ...staged,
      settle: (...names: string[]) => {
        for (const name of names) void staged.batches.submit({ name, bulk: true })
      },
      place: (...names: string[]) => {
        for (const name of names) void staged.batches.submit({ name, sheddable: true })
      },
    }
  }

  // The time stands still, unless a test moves it: a pause of the process must not look like 100 ms without bets.
  beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
  afterEach(() => void vi.useRealTimers())

  test('alone, it uses every slot, in full batches', async () => {
    const { sent, settle } = mixed()
    settle(...bulk(17))
    await turn()
    expect(sent.map(({ names }) => names.length)).toEqual([6, 6])
  })

  test('it uses one slot, in smaller batches; the other slot is for the sheddable items', async () => {
    const { sent, settle, place } = mixed()
    settle(...bulk(9))
    place('p1')
    await turn()
    expect(sent.map(({ names }) => names)).toEqual([['b0', 'b1'], ['p1']])
    place('p2', 'p3')
    sent[1]?.end()
    await turn()
    // Its slot stays free of bulk work, also while no item waits.
    sent[2]?.end()
    await turn()
    expect(sent.map(({ names }) => names).slice(2)).toEqual([['p2', 'p3']])
    sent[0]?.end()
    await turn()
    expect(sent[3]?.names).toEqual(['b2', 'b3'])
  })

  test('little of it shares the batches of the others: no more than one batch holds, with what is in flight', async () => {
    const { sent, settle, place, submit } = mixed()
    settle(...bulk(2))
    place('p1')
    submit('rollback')
    await turn()
    expect(sent.map(({ names }) => names)).toEqual([['rollback', 'b0', 'b1', 'p1']])
    settle('b2', 'b3', 'b4', 'b5', 'b6')
    place('p2')
    await turn()
    expect(sent[1]?.names).toEqual(['p2'])
    // Five are left: no burst any more.
    sent[0]?.end()
    sent[1]?.end()
    place('p3')
    await turn()
    expect(sent[2]?.names).toEqual(['b2', 'b3', 'b4', 'b5', 'b6', 'p3'])
  })

  test('with sheddable items in every other slot, it still goes on', async () => {
    const { sent, settle, place } = mixed({ batchMax: 2 })
    place('p1', 'p2', 'p3', 'p4', 'p5', 'p6')
    await turn()
    settle(...bulk(3))
    sent[0]?.end()
    await turn()
    expect(sent.map(({ names }) => names)).toEqual([['p1', 'p2'], ['p3', 'p4'], ['b0']])
  })

  test('what is neither bulk nor sheddable goes first, and not with bulk work', async () => {
    const { sent, settle, place, submit } = mixed()
    settle(...bulk(9))
    place('p1')
    submit('rollback')
    await turn()
    expect(sent.map(({ names }) => names)).toEqual([
      ['b0', 'b1'],
      ['rollback', 'p1'],
    ])
  })

  test('it gets every slot back once no sheddable item has arrived for 100 ms', async () => {
    const { sent, settle, place } = mixed()
    settle(...bulk(20))
    place('p1')
    await turn()
    vi.advanceTimersByTime(101)
    sent[0]?.end()
    sent[1]?.end()
    await turn()
    expect(sent.map(({ names }) => names.length)).toEqual([2, 1, 6, 6])
  })

  test('with one slot only, a batch is shared half and half', async () => {
    const { sent, settle, place } = mixed({ slotsMax: 1 })
    settle(...bulk(9))
    place('p1', 'p2', 'p3')
    await turn()
    expect(sent.map(({ names }) => names)).toEqual([['b0', 'b1', 'b2', 'p1', 'p2', 'p3']])
  })
})

describe('one batch at a time, up to batchWaitMsMax', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
  afterEach(() => void vi.useRealTimers())
  const alone = () => stage({ slotsMax: 3, batchWaitMsMax: 20, batchMax: 100, queueMax: 100 })
  const sizes = ({ sent }: ReturnType<typeof stage>) => sent.map(({ names }) => names.length)
  const forty = Array.from({ length: 40 }, (_, number) => `${number}`)

  test('given free slots, then one batch has all items', async () => {
    const staged = alone()
    staged.submit(...forty)
    await turn()
    expect(sizes(staged)).toEqual([40])
  })

  test('given a batch that is quick, then the next one is sent when it ends, with all that has arrived', async () => {
    const staged = alone()
    staged.submit('a')
    await turn()
    staged.submit(...forty)
    await turn()
    vi.advanceTimersByTime(19)
    await turn()
    expect(sizes(staged)).toEqual([1])
    staged.sent[0]?.end()
    await turn()
    expect(sizes(staged)).toEqual([1, 40])
    expect(vi.getTimerCount()).toBe(0)
  })

  test('given a batch that hangs, then others are sent beside it, each after 20 ms, while slots are free', async () => {
    const staged = alone()
    for (const name of ['a', 'b', 'c', 'd']) {
      staged.submit(name)
      await turn()
      vi.advanceTimersByTime(20)
      await turn()
    }
    expect(staged.sent.map(({ names }) => names)).toEqual([['a'], ['b'], ['c']])
    staged.sent[1]?.end()
    await turn()
    vi.advanceTimersByTime(20)
    await turn()
    expect(staged.sent[3]?.names).toEqual(['d'])
  })
})

describe('items with a key in common', () => {
  test('the first one leaves; the others are answered after its batch', async () => {
    const duplicates: string[] = []
    const { sent, batches } = stage({
      uniqueKeysOf: ({ keys = [] }) => keys,
      onDuplicateKey: entry => {
        duplicates.push(entry.item.name)
        entry.resolve('duplicate')
      },
    })
    const first = batches.submit({ name: 'a', keys: ['t1', 'b1'] })
    const second = batches.submit({ name: 'b', keys: ['t2', 'b1'] })
    const third = batches.submit({ name: 'c', keys: ['t3'] })
    await turn()
    expect(sent.map(({ names }) => names)).toEqual([['a', 'c']])
    expect(duplicates).toEqual([])
    sent[0]?.end()
    expect(await Promise.all([first, second, third])).toEqual(['done', 'duplicate', 'done'])
  })
})

describe('with a full queue', () => {
  test('sheddable items are shed from half of queueMax on, and take no room from the others', async () => {
    const { submit, batches } = stage({ queueMax: 8 })
    submit('in flight')
    await turn()
    const submitSheddable = (name: string) => batches.submit({ name, sheddable: true })
    const placebets = ['p1', 'p2', 'p3', 'p4'].map(submitSheddable)
    expect(await submitSheddable('p5')).toBe('shed')
    submit('r1', 'r2', 'r3', 'r4', 'r5', 'r6', 'r7', 'r8')
    expect(batches.stats).toEqual({ queued: 12, inFlight: 1, shed: 1 })
    expect(await submit('r9')[0]).toBe('shed')
    expect(batches.stats).toEqual({ queued: 12, inFlight: 1, shed: 2 })
    expect(placebets).toHaveLength(4)
  })

  test.each([
    ['sheddable', [{ sheddable: true }], 4],
    ['bulk, or neither', [{ bulk: true }, {}], 8],
  ])('a partition takes at most half of the room of items that are %s', async (_, kinds, room) => {
    const { batches, sent } = stage({
      queueMax: 8,
      partitionKeyOf: ({ name, partition }) => partition ?? name,
    })
    void batches.submit({ name: 'in flight' })
    await turn()
    for (const partition of ['a', 'b', 'c'])
      for (let n = 0; n < room; n += 1)
        void batches.submit({ name: `${partition}${n}`, partition, ...kinds[n % kinds.length] })
    expect(batches.stats).toEqual({ queued: room, inFlight: 1, shed: 2 * room })
    for (let n = 0; n < room; n += 1) {
      sent.at(-1)?.end()
      await turn()
    }
    expect(new Set(sent.slice(1).flatMap(({ names }) => names)).size).toBe(room)
    expect(
      sent
        .slice(1)
        .flatMap(({ names }) => names)
        .filter(name => name.startsWith('a')),
    ).toHaveLength(room / 2)
  })

  test('a batch is shared half and half by both queues, and filled from one where the other is empty', async () => {
    const { sent, submit, batches } = stage({ queueMax: 100 })
    submit('in flight')
    await turn()
    for (const name of ['p1', 'p2', 'p3', 'p4', 'p5']) void batches.submit({ name, sheddable: true })
    submit('r1', 'r2', 'r3', 'r4', 'r5')
    for (let n = 0; n < 4; n += 1) {
      sent.at(-1)?.end()
      await turn()
    }
    expect(sent.slice(1).map(({ names }) => names)).toEqual([
      ['r1', 'r2', 'p1', 'p2'],
      ['r3', 'r4', 'p3', 'p4'],
      ['r5', 'p5'],
    ])
  })

  test('an item that was queued too long is shed when a slot is free', async () => {
    const { sent, submit } = stage({ queuedMsMax: 0 })
    submit('a')
    const late = submit('b')[0]
    const until = performance.now() + 1
    while (performance.now() < until); // the clock moves on
    await turn()
    expect(await late).toBe('shed')
    expect(sent).toHaveLength(0)
  })
})

describe('a batch whose `perform` rejects', () => {
  test('rejects its entries that are not answered, and frees its slot', async () => {
    let calls = 0
    const { batches } = stage({
      async perform(entries) {
        calls += 1
        entries[0]?.resolve('done')
        if (calls === 1) throw new Error('lost')
        entries[1]?.resolve('done')
      },
    })
    const first = [batches.submit({ name: 'a' }), batches.submit({ name: 'b' })]
    expect(await first[0]).toBe('done')
    await expect(first[1]).rejects.toThrow('lost')
    expect(await Promise.all([batches.submit({ name: 'c' }), batches.submit({ name: 'd' })])).toEqual([
      'done',
      'done',
    ])
    expect(batches.stats).toEqual({ queued: 0, inFlight: 0, shed: 0 })
  })
})

describe('bet-wallet:batch', () => {
  test('has the kind and size of a batch, and the longest time in the queue', async () => {
    const { names, messages, events } = recordEvents('bet-wallet:batch')
    const { batches, sent } = stage({ kind: 'commit' })
    void batches.add({ item: { name: 'a' }, queuedAt: performance.now() - 500, resolve() {}, reject() {} })
    void batches.submit({ name: 'b' })
    await turn()
    expect(names()).toEqual(['start', 'end'])
    expect(events[0]?.[1]).toMatchObject({ kind: 'commit', size: 2, durationMs: 0, error: null })
    expect(messages()[0]?.queuedMs).toBeGreaterThanOrEqual(500)
    sent[0]?.end()
    await turn()
    expect(names()).toEqual(['start', 'end', 'asyncStart', 'asyncEnd'])
    expect(messages()[0]?.durationMs).toBeGreaterThan(0)
  })

  test('has the error of a batch whose `perform` throws or rejects, and its slot is free again', async () => {
    const { messages } = recordEvents('bet-wallet:batch')
    const lost = new Error('lost')
    const errors = [() => Promise.reject(lost), () => failing(lost)]
    const { batches } = stage({ perform: () => (errors.shift() as () => Promise<void>)() })
    for (const name of ['a', 'b']) await expect(batches.submit({ name })).rejects.toBe(lost)
    expect(messages().map(({ kind, error }) => [kind, error])).toEqual([
      ['batch', lost],
      ['batch', lost],
    ])
  })
})

function failing(error: Error): never {
  throw error
}

describe('settings that are wrong', () => {
  test.each([
    [{ slotsMax: 0 }, 'slotsMax must be a whole number of at least 1'],
    [{ batchWaitMsMax: -1 }, 'batchWaitMsMax must be a whole number of at least 0'],
    [{ batchMax: 1.5 }, 'batchMax must be a whole number of at least 1'],
    [{ queueMax: Number.POSITIVE_INFINITY }, 'queueMax must be a whole number of at least 1'],
    [{ queuedMsMax: -1 }, 'queuedMsMax must be a whole number of at least 0'],
    [{ perform: undefined }, 'perform must be a function'],
    [{ onShed: 'shed' }, 'onShed must be a function'],
    [{ uniqueKeysOf: () => [] }, 'onDuplicateKey must be a function'],
    [{ kind: '' }, 'kind must be text'],
    [{ kind: 1 }, 'kind must be text'],
    [{ batchSize: 5 }, 'unknown option "batchSize"'],
  ])('%o: %s', (wrong, message) => {
    expect(() => stage(wrong as unknown as Partial<BatchSettings<Item, Answer>>)).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTIONS', message: `Invalid options: ${message}` }),
    )
  })
})
