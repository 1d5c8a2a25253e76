/** Values in partitions, in memory and in the temporary file. */
// cspell:words unstub
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { reconcile } from '../../../src/tools/reconcile/index.js'
import { Partitions, partitionCount, partitionOf } from '../../../src/tools/reconcile/partitions.js'
import { csvOf, day, foundIn, lookupsOf, record, rowOf } from './world.js'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'partitions-test-'))
  vi.stubEnv('TMPDIR', folder)
})
afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true, force: true })
})

/** Texts of every size, some larger than what is collected before it is written; of one to four bytes per character. */
const made = (index: number) => ({
  key: `key-${index % 3}`,
  text: `${index} ${['a', 'é', '賭', '🎲'][index % 4]?.repeat((index * 37) % 900)}`,
})
const fill = (values: Partitions<unknown>, count: number) => {
  for (let index = 0; index < count; index += 1) values.add(`key-${index % 3}`, made(index))
}

describe('partitions', () => {
  test.each([
    ['in memory', 20],
    ['in the file', 6_000],
  ])('return the values of each key as they came: %s', (_, count) => {
    const values = new Partitions<ReturnType<typeof made>>()
    fill(values, count)
    const all = [...values]
    expect(all).toHaveLength(partitionCount)
    expect(all.flat()).toHaveLength(count)
    for (const key of ['key-0', 'key-1', 'key-2']) {
      const expected = Array.from({ length: count }, (__, index) => made(index)).filter(
        each => each.key === key,
      )
      expect(all[partitionOf(key)]?.filter(each => each.key === key)).toEqual(expected)
    }
    values.close()
    expect(readdirSync(folder)).toEqual([])
  })

  test('take a value that is larger than a chunk', () => {
    const values = new Partitions<string>()
    const long = '賭'.repeat(50_000)
    for (const value of ['a', long, 'b', long]) values.add('key', value)
    expect(values.valuesOf(partitionOf('key'))).toEqual(['a', long, 'b', long])
    values.close()
  })

  test('have no name in the folder while they are used, so that a killed process leaves nothing', () => {
    const values = new Partitions()
    fill(values, 6_000)
    expect(readdirSync(folder)).toEqual([])
    values.close()
  })

  test('say which folder cannot be written', () => {
    vi.stubEnv('TMPDIR', join(folder, 'missing'))
    expect(() => fill(new Partitions(), 6_000)).toThrow(
      expect.objectContaining({ code: 'TEMPORARY_FILE', message: expect.stringMatching(/missing/) }),
    )
  })
})

test('ids that count up are spread over all partitions', () => {
  const counts = new Uint32Array(partitionCount)
  const count = 100_000
  for (let index = 0; index < count; index += 1) {
    const partition = partitionOf(`0192f0c4-7b1e-7000-8000-${String(index).padStart(12, '0')}`)
    counts[partition] = (counts[partition] ?? 0) + 1
  }
  expect(Math.max(...counts)).toBeLessThan((2 * count) / partitionCount)
})

test('a reconciliation through the file names what a small one names', async () => {
  const records = Array.from({ length: 120_000 }, (_, index) =>
    record('placebet', `t-${index}-${'x'.repeat(40)}`, `b-${index}`, '5'),
  )
  const rows = records.map(rowOf).reverse()
  const [first, second] = rows
  if (first === undefined || second === undefined) throw new Error('no rows')
  // The first row is the last record, which the wallet will lack.
  rows.push({ ...second })
  const report = (async function* () {
    yield csvOf(rows)
  })()
  const missing = records.pop()
  const result = await reconcile({ report, lookups: lookupsOf(records), ...day })
  expect(foundIn(result)).toEqual([
    `duplicate-in-report: placebet ${second.transactionId}`,
    `never-arrived: placebet ${missing?.transactionId}`,
  ])
  expect(result.rows).toMatchObject({ report: 120_001, wallet: 119_999, equal: 119_999 })
  expect(readdirSync(folder)).toEqual([])
})
