/** Lines in partitions, in memory and in the temporary file. */
// cspell:words unstub
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { reconcile } from '../../../src/tools/reconcile/index.js'
import { linesOf, partitionOf, partitions, Spool } from '../../../src/tools/reconcile/spool.js'
import { csvOf, day, foundIn, lookupsOf, record, rowOf } from './world.js'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'spool-test-'))
  vi.stubEnv('TMPDIR', folder)
})
afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true, force: true })
})

/** Lines of every size, some larger than what is collected before it is written; of one to four bytes per character. */
const lineOf = (index: number) => `${index} ${['a', 'é', '賭', '🎲'][index % 4]?.repeat((index * 37) % 900)}`

describe('a spool', () => {
  test.each([
    ['in memory', 20],
    ['in the file', 6_000],
  ])('returns the lines of each partition as they came: %s', (_, count) => {
    const spool = new Spool()
    const expected = new Map<number, string[]>()
    for (let index = 0; index < count; index += 1) {
      const partition = index % 3
      expected.set(partition, [...(expected.get(partition) ?? []), lineOf(index)])
      spool.add(partition, lineOf(index))
    }
    for (const sealed of [false, true]) {
      if (sealed) spool.seal()
      for (const [partition, lines] of expected) expect([...linesOf(spool, partition)]).toEqual(lines)
      expect([...linesOf(spool, partitions - 1)]).toEqual([])
    }
    spool.close()
    expect(readdirSync(folder)).toEqual([])
  })

  test('takes a line that is larger than a chunk', () => {
    const spool = new Spool()
    const long = '賭'.repeat(50_000)
    for (const line of ['a', long, 'b', long]) spool.add(1, line)
    spool.seal()
    expect([...linesOf(spool, 1)]).toEqual(['a', long, 'b', long])
    spool.close()
  })

  test('has no name in the folder while it is used, so that a killed process leaves nothing', () => {
    const spool = new Spool()
    for (let index = 0; index < 6_000; index += 1) spool.add(0, lineOf(index))
    expect(readdirSync(folder)).toEqual([])
    spool.close()
  })

  test('says which folder cannot be written', () => {
    vi.stubEnv('TMPDIR', join(folder, 'missing'))
    const spool = new Spool()
    const fill = () => {
      for (let index = 0; index < 6_000; index += 1) spool.add(0, lineOf(index))
    }
    expect(fill).toThrow(
      expect.objectContaining({ code: 'TEMPORARY_FILE', message: expect.stringMatching(/missing/) }),
    )
  })
})

test('ids that count up are spread over all partitions', () => {
  const counts = new Uint32Array(partitions)
  const count = 100_000
  for (let index = 0; index < count; index += 1) {
    const partition = partitionOf(`0192f0c4-7b1e-7000-8000-${String(index).padStart(12, '0')}`)
    counts[partition] = (counts[partition] ?? 0) + 1
  }
  expect(Math.max(...counts)).toBeLessThan((2 * count) / partitions)
})

test('a reconciliation through the file names what a small one names', { timeout: 120_000 }, async () => {
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
