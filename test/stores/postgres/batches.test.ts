import { describe, expect, test } from 'vitest'
import { type BatchSettings, createBatches, type Entry } from '../../../src/stores/postgres/batches.js'

interface Item {
  name: string
  sheddable?: boolean
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
    expect(sent.map(({ names }) => names)).toEqual([['a1'], ['b1'], ['a2', 'a3']])
  })

  test('with one partition per batch, no item waits for another partition', async () => {
    const { sent, batches } = stage({
      slotsMax: 2,
      partitionKeyOf: ({ partition = '' }) => partition,
      onePartitionPerBatch: true,
    })
    for (const name of ['a1', 'b1', 'a2', 'c1']) void batches.submit({ name, partition: name.slice(0, 1) })
    await turn()
    expect(sent.map(({ names }) => names)).toEqual([['a1', 'a2'], ['b1']])
    sent[0]?.end()
    await turn()
    expect(sent[2]?.names).toEqual(['c1'])
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
  test('sheddable items are shed from half of queueMax on, the others only when the queue is full', async () => {
    const { submit, batches } = stage({ queueMax: 8 })
    submit('in flight')
    await turn()
    const submitSheddable = (name: string) => batches.submit({ name, sheddable: true })
    const placebets = ['p1', 'p2', 'p3', 'p4'].map(submitSheddable)
    expect(await submitSheddable('p5')).toBe('shed')
    submit('r1', 'r2', 'r3', 'r4')
    expect(batches.stats).toEqual({ queued: 8, inFlight: 1, shed: 1 })
    expect(await submit('r5')[0]).toBe('shed')
    expect(batches.stats).toEqual({ queued: 8, inFlight: 1, shed: 2 })
    expect(placebets).toHaveLength(4)
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
