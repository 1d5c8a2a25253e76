/**
 * One bet may have any number of differences: a test player's, say, or one that a fault repeats. The work on it grows
 * as they do. What is counted is how often a value of a row, a record or the history is read, so no clock decides.
 */
import { describe, expect, test } from 'vitest'
import type { RecordedTransaction } from '../../../src/lookups/records.js'
import type { Finding } from '../../../src/tools/reconcile/difference.js'
import { judgeBet, limitedLookups } from '../../../src/tools/reconcile/judge.js'
import { Totals } from '../../../src/tools/reconcile/totals.js'
import { recordOf } from '../../../src/tools/reconcile/wallet-records.js'
import { lookupsOf, record, withCredit } from './world.js'

const range = { isInRange: () => true, dayOf: (date: string) => date.slice(0, 10), sentenceOf: () => '' }
const refusal = { errorCode: 'INVALID_BET', description: 'x' }

/** Every read of a value of it, and of what it holds, is counted. */
function counting<T extends object>(value: T, count: () => void): T {
  return new Proxy(value, {
    get(target, name, receiver) {
      const read: unknown = Reflect.get(target, name, receiver)
      if (Array.isArray(target) || typeof name === 'symbol') return read
      count()
      return read
    },
  })
}

const rowOf = (made: RecordedTransaction, line: number, accepted = true) => {
  const { recordedAt, errorCode, why, walletTransactionId, ...entry } = recordOf(
    { ...made, refusal: null },
    range,
  )
  return { ...entry, accepted, file: null, line }
}
const recordedOf = (made: RecordedTransaction) => recordOf(made, range)

type Made = readonly { finding: Finding | null; recorded: RecordedTransaction | null }[]
const alone = (made: RecordedTransaction): Made[number] => ({
  finding: { row: null, record: recordedOf(made), isTwice: false },
  recorded: made,
})
const lost = (made: RecordedTransaction, line: number, accepted = true): Made[number] => ({
  finding: { row: rowOf(made, line, accepted), record: null, isTwice: false },
  recorded: null,
})
const agreed = (made: RecordedTransaction): Made[number] => ({ finding: null, recorded: made })
const placed = agreed(record('placebet', 'p', 'b', '5'))

/** @param credit what the PAM's own code has credited */
async function readsOf(made: Made, credit: string): Promise<number> {
  let reads = 0
  const count = () => {
    reads += 1
  }
  const counted = <T extends object | null>(value: T) => (value === null ? value : counting(value, count))
  const records = made.flatMap(({ recorded }) => recorded ?? [])
  const history = await withCredit(lookupsOf(records), 'b', credit).bet('b')
  const transactions = history?.transactions.map(counted) ?? []
  const findings = made.flatMap(({ finding }) =>
    finding === null
      ? []
      : counted({ ...finding, row: counted(finding.row), record: counted(finding.record) }),
  )
  const counts = {
    ...{ report: 0, ignored: 0, outside: 0, wallet: 0 },
    ...{ equal: 0, refusedAlone: 0, creditedByOwnCode: 0 },
  }
  const judged = await judgeBet(findings, {
    lookups: limitedLookups(
      { bet: async () => history && { ...history, transactions } },
      10,
      () => undefined,
    ),
    recordOf: recordedOf,
    counts,
    totals: new Totals(),
  })
  expect(judged.length).toBeGreaterThan(0)
  expect(counts.creditedByOwnCode > 0).toBe(credit !== '0')
  return reads
}

const times = (count: number, each: (index: number) => Made[number] | Made) =>
  Array.from({ length: count }, (_, index) => each(index)).flat()

describe('twice as many differences of one bet are about twice the work', () => {
  test.each<[string, (count: number) => Made]>([
    [
      'refused clawbacks that were lost',
      count => [
        placed,
        ...times(count, index => [
          agreed(record('settlement', `s-${index}`, 'b', '5')),
          lost(record('unsettlement', `u-${index}`, 'b', '5'), index, false),
        ]),
      ],
    ],
    [
      'settlements of a bet that the wallet refused',
      count => [
        ...times(count, index => [
          agreed({ ...record('unsettlement', `u-${index}`, 'b', '0'), refusal }),
          lost(record('settlement', `s-${index}`, 'b', '5'), index),
        ]),
        agreed({ ...record('placebet', 'p', 'b', '0'), refusal }),
      ],
    ],
    [
      'placebets of a bet that was rolled back before',
      count => [
        agreed(record('rollbackbet', 'r', 'b', '0')),
        ...times(count, index => [
          agreed({ ...record('settlement', `s-${index}`, 'b', '0'), refusal }),
          lost(record('placebet', `p-${index}`, 'b', '5'), index),
        ]),
      ],
    ],
    [
      'settlements that own code has credited',
      count => [placed, ...times(count, index => lost(record('settlement', `s-${index}`, 'b', '5'), index))],
    ],
    [
      'rollbacks that moved nothing',
      count => [...times(count, index => alone(record('rollbackbet', `r-${index}`, 'b', '0'))), placed],
    ],
    [
      'the same under other ids',
      count =>
        times(count, index => [
          alone(record('settlement', `s-${index}`, 'b', '5')),
          lost(record('settlement', `t-${index}`, 'b', '5'), index),
        ]),
    ],
  ])('%s', async (name, make) => {
    const credit = name.includes('own code') ? '333' : '0'
    const [once, twice] = [await readsOf(make(100), credit), await readsOf(make(200), credit)]
    expect(twice / once).toBeLessThan(2.3)
  })
})
