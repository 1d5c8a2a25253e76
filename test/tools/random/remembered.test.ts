import { describe, expect, test } from 'vitest'
import { Remembered } from '../../../src/tools/random/remembered.js'
import { seeded } from './objects.js'

const added = (count: number, max: number, seed = 1) => {
  const remembered = new Remembered<number>(max, seeded(seed))
  for (let item = 0; item < count; item += 1) remembered.add(item)
  return remembered.items
}
const from = (least: number, most: number) =>
  Array.from({ length: most - least }, (_, index) => least + index)

describe('what is remembered', () => {
  test.each([0, 1, 2, 5, 9, 10])('of %i items at most 10: each, once', count => {
    expect(added(count, 10).sort((one, other) => one - other)).toEqual(from(0, count))
  })

  test.each([
    [0, 0],
    [1, 1],
    [5, 3],
    [10, 5],
  ])('of 1,000 items at most %i: the latest %i, and others before, each once', (max, latest) => {
    const items = added(1_000, max)
    expect([items.length, new Set(items).size]).toEqual([max, max])
    expect(items).toEqual(expect.arrayContaining(from(1_000 - latest, 1_000)))
  })

  test('the sample has early items in proportion', () => {
    // Of 1,010 items, 10 of the first 1,000 in each of 400 runs: by tenths 400 each.
    const older = from(0, 400).flatMap(seed => added(1_010, 20, seed).filter(item => item < 1_000))
    const tenths = from(0, 10).map(tenth => older.filter(item => Math.floor(item / 100) === tenth).length)
    for (const count of tenths) expect(Math.abs(count - 400)).toBeLessThan(100)
  })
})
