/** The kit with `idScope: 'player'`: stores of several partitions, in which ids are unique per partition only. */
import { describe, expect, test } from 'vitest'
import { walletStoreCases } from '../../src/testing/cases.js'
import type { StoreHarness } from '../../src/testing/harness.js'
import { checkWalletStore, type ReportOptions } from '../../src/testing/report.js'
import { memoryHarness } from './memory.js'
import { mutants } from './mutants.js'
import { partitionedHarness } from './partitioned.js'
import { referenceHarness } from './reference.js'

const check = <O extends { store: never }>(harness: unknown, options: ReportOptions = {}) =>
  checkWalletStore(harness as StoreHarness<O>, { print: null, ...options })

const twice = <H>(make: () => H): [H, H] => [make(), make()]

/** About one id of two players. */
const skipped = ['WS-21', 'WS-25']
const limited = ['WS-11', 'WS-12', 'WS-13', 'WS-14', 'WS-15', 'WS-17', 'WS-37', 'WS-61', 'WS-62']
const histories = ['WS-95', 'WS-96', 'WS-97', 'WS-98', 'WS-106', 'WS-107']

describe('a correct store of partitions', () => {
  test.each([2, 3])('passes every case that applies, with every hook: %i reference stores', async count => {
    const report = await check(partitionedHarness(Array.from({ length: count }, () => referenceHarness())))
    expect(report).toMatchObject({ passed: true, complete: true, counts: { failed: 0, skipped: 2 } })
    for (const { id, result, applies, detail } of report.results) {
      if (skipped.includes(id)) {
        expect({ result, applies }).toEqual({ result: 'skipped', applies: false })
        expect(detail).toBe("does not apply: two players may have the same id: idScope is 'player'")
      } else {
        const remark = "no two players with the same ids: idScope is 'player'"
        expect(detail, id).toBe([...limited, ...histories].includes(id) ? remark : null)
      }
    }
  })

  test('passes every case that its hooks allow: two memory stores', async () => {
    const { passed, counts, results } = await check(partitionedHarness([memoryHarness, memoryHarness]))
    expect({ passed, failed: counts.failed }).toEqual({ passed: true, failed: 0 })
    expect(results.find(({ id }) => id === 'WS-90')).toMatchObject({ result: 'passed' })
  })

  test('fails the cases about one id of two players, if it does not declare idScope', async () => {
    const { idScope: _, ...global } = partitionedHarness(twice(referenceHarness))
    const only = ['WS-17', 'WS-21', 'WS-25', 'WS-37', 'WS-61', 'WS-62']
    const { results } = await check(global, { only })
    expect(results.filter(({ result }) => result === 'failed').map(({ id }) => id)).toEqual(only)
  })
})

/** About one id of two players in one partition: the kit finds them in the partition's own store. */
const notFound: Record<string, readonly string[]> = {
  'WS-17': ['joined-from-the-player', 'bets-of-the-player-only'],
  'WS-21': ['unique-per-player'],
  'WS-25': ['bets-unique-per-player'],
  'WS-37': ['unique-per-player-except-placebets'],
  'WS-61': ['ids-locked-by-player'],
  'WS-62': ['bets-locked-by-player'],
  'WS-110': ['credit-of-another-player'],
}

test.each(mutants.map(mutant => [mutant.killedBy, mutant.name, mutant] as const))(
  '%s finds %s as the store of each partition, unless it is about ids of two players',
  async (id, name, mutant) => {
    const { timeoutMs = 30_000 } = mutant
    const report = await check(partitionedHarness(twice(mutant.make)), { only: [id], timeoutMs })
    const isFound = report.results[0]?.result === 'failed'
    expect(isFound).toBe(!notFound[id]?.includes(name))
  },
)

describe('the harness', () => {
  test('of partitions without stopPartition is incomplete', async () => {
    const { stopPartition: _, ...others } = partitionedHarness(twice(referenceHarness))
    const report = await check(others, { runs: 1 })
    expect(report).toMatchObject({ passed: true, complete: false })
    const [only] = walletStoreCases(others, { only: ['WS-90'] })
    expect(only).toMatchObject({ skip: 'the harness has no stopPartition', applies: true })
  })

  test('of a store without partitions need not have it', () => {
    const [only] = walletStoreCases(referenceHarness(), { only: ['WS-90'] })
    const skip = "does not apply: the store has no partitions: idScope is not 'player'"
    expect(only).toMatchObject({ skip, applies: false })
  })

  test('has idScope player, or none; and stopPartition is not null', () => {
    expect(() => walletStoreCases({ ...memoryHarness, idScope: 'global' as never })).toThrow(
      "idScope of the harness must be 'player', or left out",
    )
    expect(() => walletStoreCases({ ...memoryHarness, stopPartition: null as never })).toThrow(
      'stopPartition of the harness may be left out, but not null',
    )
  })

  test.each([
    [
      'fails',
      () => Promise.reject(new Error('no such container')),
      'the hook stopPartition of the harness to succeed',
    ],
    ['returns nothing', () => undefined, 'stopPartition to return a function'],
    ['stops nothing', () => () => undefined, 'faults only, for a player whose partition is unavailable'],
    [
      'stops every partition',
      ({ stopped }: { stopped: Set<number> }) => {
        stopped.add(0).add(1)
        return () => stopped.clear()
      },
      'a bet of a player of another partition to be accepted meanwhile',
    ],
  ])('whose stopPartition %s is seen', async (_, stopPartition, expected) => {
    const harness = { ...partitionedHarness(twice(referenceHarness)), stopPartition }
    const { results } = await check(harness, { only: ['WS-90'] })
    expect(results[0]).toMatchObject({
      result: 'failed',
      detail: expect.stringContaining(`expected: ${expected}`),
    })
  })
})
