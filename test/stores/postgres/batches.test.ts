import { describe, expect, test } from 'vitest'
import { type BatchSettings, createBatches, type Entry } from '../../../src/stores/postgres/batches.js'

interface Item {
  name: string
  yields?: boolean
  order?: string
  identities?: string[]
}

type Answer = string

/** Batches that stay under way until they are told to end. */
function stage(settings: Partial<BatchSettings<Item, Answer>> = {}) {
  const sent: { names: string[]; end(): void }[] = []
  const batches = createBatches<Item, Answer>({
    slotsMax: 1,
    batchMax: 4,
    queueMax: 8,
    queuedMsMax: 60_000,
    sheddable: item => item.yields === true,
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
    onShed: (entry: Entry<Item, Answer>) => entry.resolve('turned away'),
    ...settings,
  })
  const submit = (...names: string[]) => names.map(name => batches.submit({ name }))
  return { batches, sent, submit }
}

/** Until what has ended has let the next one go. */
async function turn(): Promise<void> {
  await new Promise(setImmediate)
  await new Promise(setImmediate)
}

describe('given nothing under way', () => {
  test('a lone request leaves in the same turn of the event loop', async () => {
    const { sent, submit } = stage()
    submit('a')
    expect(sent).toHaveLength(0)
    await turn()
    expect(sent.map(({ names }) => names)).toEqual([['a']])
  })

  test('what comes together leaves together, up to batchMax', async () => {
    const { sent, submit } = stage()
    submit('a', 'b', 'c', 'd', 'e')
    await turn()
    expect(sent.map(({ names }) => names)).toEqual([['a', 'b', 'c', 'd']])
  })

  test('as many batches leave as there are lanes', async () => {
    const { sent, submit } = stage({ slotsMax: 2 })
    submit('a', 'b', 'c', 'd', 'e')
    await turn()
    expect(sent.map(({ names }) => names)).toEqual([['a', 'b', 'c', 'd'], ['e']])
  })
})

describe('given a batch under way', () => {
  test('what comes meanwhile makes the next one', async () => {
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

  test('items of an order that is under way wait for it, others pass them', async () => {
    const { sent, batches } = stage({ slotsMax: 2, partitionKeyOf: ({ order = '' }) => order })
    void batches.submit({ name: 'a1', order: 'a' })
    await turn()
    void batches.submit({ name: 'a2', order: 'a' })
    void batches.submit({ name: 'b1', order: 'b' })
    void batches.submit({ name: 'a3', order: 'a' })
    await turn()
    expect(sent.map(({ names }) => names)).toEqual([['a1'], ['b1']])
    sent[0]?.end()
    await turn()
    expect(sent.map(({ names }) => names)).toEqual([['a1'], ['b1'], ['a2', 'a3']])
  })

  test('with one order per batch, nobody waits for a stranger', async () => {
    const { sent, batches } = stage({
      slotsMax: 2,
      partitionKeyOf: ({ order = '' }) => order,
      onePartitionPerBatch: true,
    })
    for (const name of ['a1', 'b1', 'a2', 'c1']) void batches.submit({ name, order: name.slice(0, 1) })
    await turn()
    expect(sent.map(({ names }) => names)).toEqual([['a1', 'a2'], ['b1']])
    sent[0]?.end()
    await turn()
    expect(sent[2]?.names).toEqual(['c1'])
  })
})

describe('given items with an identity in common', () => {
  test('the first goes, and the others are told once it is through', async () => {
    const told: string[] = []
    const { sent, batches } = stage({
      uniqueKeysOf: ({ identities = [] }) => identities,
      onDuplicateKey: entry => {
        told.push(entry.item.name)
        entry.resolve('collided')
      },
    })
    const first = batches.submit({ name: 'a', identities: ['t1', 'b1'] })
    const second = batches.submit({ name: 'b', identities: ['t2', 'b1'] })
    const third = batches.submit({ name: 'c', identities: ['t3'] })
    await turn()
    expect(sent.map(({ names }) => names)).toEqual([['a', 'c']])
    expect(told).toEqual([])
    sent[0]?.end()
    expect(await Promise.all([first, second, third])).toEqual(['done', 'collided', 'done'])
  })
})

describe('given more than can wait', () => {
  test('those that yield are turned away from half of the room on, the others only when it is full', async () => {
    const { submit, batches } = stage({ queueMax: 8 })
    submit('under way')
    await turn()
    const yielding = (name: string) => batches.submit({ name, yields: true })
    const placebets = ['p1', 'p2', 'p3', 'p4'].map(yielding)
    expect(await yielding('p5')).toBe('turned away')
    submit('r1', 'r2', 'r3', 'r4')
    expect(batches.stats).toEqual({ queued: 8, inFlight: 1, shed: 1 })
    expect(await submit('r5')[0]).toBe('turned away')
    expect(batches.stats).toEqual({ queued: 8, inFlight: 1, shed: 2 })
    expect(placebets).toHaveLength(4)
  })

  test('a batch has room for both kinds, and all of it for one where the other has nothing', async () => {
    const { sent, submit, batches } = stage({ queueMax: 100 })
    submit('under way')
    await turn()
    for (const name of ['p1', 'p2', 'p3', 'p4', 'p5']) void batches.submit({ name, yields: true })
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

  test('who has waited too long is turned away when a lane is free', async () => {
    const { sent, submit } = stage({ queuedMsMax: 0 })
    submit('a')
    const late = submit('b')[0]
    const until = performance.now() + 1
    while (performance.now() < until); // the clock moves on
    await turn()
    expect(await late).toBe('turned away')
    expect(sent).toHaveLength(0)
  })
})
