import { describe, expect, test } from 'vitest'
import { answerEach, bisect, createBatches, type Entry } from '../../src/batches/index.js'

interface Row {
  index: number
  value: string
}

/** The results of entries for these rows: the value, or the error. */
async function resultsOf(entries: number, rows: readonly Row[]): Promise<unknown[]> {
  const queue = createBatches<number, string>({
    ...{ slotsMax: 1, batchMax: 10, queueMax: 10, queuedMsMax: 60_000 },
    sheddable: () => false,
    onShed: entry => entry.resolve('shed'),
    async perform(batch: readonly Entry<number, string>[]) {
      answerEach(batch, rows, {
        indexOf: row => row.index,
        answer(entry, { value }) {
          if (value === 'unreadable') throw new Error('unreadable')
          entry.resolve(value)
        },
        missing: () => new Error('no row'),
      })
    },
  })
  const settled = await Promise.allSettled(Array.from({ length: entries }, (_, item) => queue.submit(item)))
  return settled.map(result => (result.status === 'fulfilled' ? result.value : result.reason.message))
}

describe('rows answer the entries of a batch', () => {
  test('in any order', async () => {
    const rows = [2, 0, 1].map(index => ({ index, value: `row ${index}` }))
    expect(await resultsOf(3, rows)).toEqual(['row 0', 'row 1', 'row 2'])
  })

  test('an entry without a row is rejected; the others are answered', async () => {
    expect(await resultsOf(3, [{ index: 1, value: 'row 1' }])).toEqual(['no row', 'row 1', 'no row'])
  })

  test('an entry with an unreadable row is rejected; the others are answered', async () => {
    const rows = ['row 0', 'unreadable', 'row 2'].map((value, index) => ({ index, value }))
    expect(await resultsOf(3, rows)).toEqual(['row 0', 'unreadable', 'row 2'])
  })

  test('the first of two rows counts; a row of no entry is ignored', async () => {
    const rows = [
      { index: 0, value: 'first' },
      { index: 0, value: 'second' },
      { index: 7, value: 'of no request' },
    ]
    expect(await resultsOf(1, rows)).toEqual(['first'])
  })
})

describe('bisection', () => {
  /** Performs batches that fail as a whole where they contain `bad`. */
  async function performed(items: readonly string[]): Promise<{ batches: string[]; failed: string[] }> {
    const batches: string[] = []
    const failed: string[] = []
    const perform = async (batch: readonly string[]): Promise<void> => {
      batches.push(batch.join(' '))
      if (!batch.includes('bad')) return
      if (batch.length > 1) return await bisect(batch, perform)
      failed.push(...batch)
    }
    await perform(items)
    return { batches, failed }
  }

  test('isolates the item that fails the batch; each other item is performed once more', async () => {
    const { batches, failed } = await performed(['a', 'b', 'bad', 'c', 'd'])
    expect(failed).toEqual(['bad'])
    expect(batches).toEqual(['a b bad c d', 'a b bad', 'a b', 'bad', 'c d'])
  })

  test('a batch of two is halved into one and one', async () => {
    expect((await performed(['bad', 'a'])).batches).toEqual(['bad a', 'bad', 'a'])
  })
})
