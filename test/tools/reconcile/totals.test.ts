/** The totals agree with the verdict and with the differences, whatever the report leaves to the comparison. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { RecordedTransaction } from '../../../src/lookups/records.js'
import type { Operation } from '../../../src/store.js'
import type { Difference, Reconciliation } from '../../../src/tools/reconcile/index.js'
import {
  chunksOf,
  columns,
  csvOf,
  lookupsOf,
  type Row,
  reconcileWorld,
  record,
  rowOf,
  withCredit,
} from './world.js'

const faults = ['none', 'lost', 'ghost', 'more', 'twice', 'late', 'credited', 'credited in part'] as const
type Fault = (typeof faults)[number]

const item = fc.record({
  operation: fc.constantFrom<Operation>('placebet', 'settlement', 'unsettlement', 'rollbackbet'),
  amount: fc.integer({ min: 1, max: 30 }),
  currency: fc.constantFrom('EUR', 'JPY'),
  hour: fc.integer({ min: 0, max: 46 }),
  states: fc.constantFrom('all', 'no amount', 'no amount and no currency'),
  fault: fc.oneof(
    { weight: 3, arbitrary: fc.constant<Fault>('none') },
    { weight: 2, arbitrary: fc.constantFrom(...faults) },
  ),
})
type Item = typeof item extends fc.Arbitrary<infer T> ? T : never
const report = fc.record({ hasDates: fc.boolean(), hasPlayers: fc.boolean(), hasTypes: fc.boolean() })

const twoDays = { from: '2026-11-21T00:00:00.000Z', to: '2026-11-23T00:00:00.000Z' }
const isDebit = (operation: Operation) => operation === 'placebet' || operation === 'unsettlement'

interface Made {
  rows: Row[]
  recorded: RecordedTransaction | null
  /** What the PAM's own code has credited. */
  credit: number
  /** What the player has more in the wallet than the platform counts. */
  more: number
}

function madeOf({ operation, amount, currency, hour, states, fault }: Item, index: number): Made {
  const minute = String(index).padStart(2, '0')
  const at = (hours: number) =>
    new Date(Date.parse(`2026-11-21T00:${minute}:00Z`) + hours * 3_600_000).toISOString()
  const made = record(operation, `t-${index}`, `b-${index}`, String(amount), {
    ...{ currency, playerId: `p-${index % 3}`, transactionDate: at(hour), recordedAt: at(hour) },
  })
  const mayBeEmpty = operation === 'unsettlement' || operation === 'rollbackbet'
  const isStated = states === 'all' || !mayBeEmpty
  const row = {
    ...rowOf(made),
    ...(!isStated && { amount: '', ...(states === 'no amount and no currency' && { currency: '' }) }),
  }
  const sign = isDebit(operation) ? -1 : 1
  switch (fault) {
    case 'lost':
      return { rows: [row], recorded: null, credit: 0, more: isStated ? -sign * amount : 0 }
    case 'ghost':
      return { rows: [], recorded: made, credit: 0, more: sign * amount }
    case 'more':
      return {
        rows: [isStated ? { ...row, amount: String(amount + 1) } : row],
        ...{ recorded: made, credit: 0, more: isStated ? -sign : 0 },
      }
    case 'twice':
      return { rows: [row, row], recorded: made, credit: 0, more: -sign * amount }
    case 'late':
      // Beyond the range: by its id alone the wallet finds it.
      return { rows: [row], recorded: { ...made, recordedAt: at(60) }, credit: 0, more: -sign * amount }
    case 'credited':
      if (operation === 'settlement') return { rows: [row], recorded: null, credit: amount, more: 0 }
      return { rows: [row], recorded: made, credit: 0, more: 0 }
    case 'credited in part':
      if (operation === 'settlement') return { rows: [row], recorded: null, credit: amount - 1, more: -1 }
      return { rows: [row], recorded: made, credit: 0, more: 0 }
    case 'none':
      return { rows: [row], recorded: made, credit: 0, more: 0 }
  }
}

/** Per currency, without zeros. */
function sumsOf(amounts: Iterable<readonly [currency: string | null, amount: number]>) {
  const sums = new Map<string | null, number>()
  for (const [currency, amount] of amounts) sums.set(currency, (sums.get(currency) ?? 0) + amount)
  return Object.fromEntries([...sums].filter(([, sum]) => sum !== 0))
}

const differencesOf = (list: Reconciliation['currencies'] | Reconciliation['players']) =>
  sumsOf(list.map(({ currency, difference }) => [currency, Number(difference)]))

test('verdict, totals, days, currencies, players and the listed differences say the same', async () => {
  const seen = new Map<string, number>()
  await fc.assert(
    fc.asyncProperty(fc.array(item, { minLength: 1, maxLength: 12 }), report, async (items, has) => {
      const made = items.map(madeOf)
      const { hasDates, hasPlayers, hasTypes } = has
      const names = columns.filter(
        name =>
          (hasDates || name !== 'transactionDate') &&
          (hasPlayers || name !== 'playerId') &&
          (hasTypes || name !== 'type'),
      )
      const rows = made.flatMap(each => each.rows)
      const records = made.flatMap(({ recorded }) => recorded ?? [])
      const lookups = made.reduce(
        (all, { credit }, index) =>
          credit === 0
            ? all
            : withCredit(all, `b-${index}`, String(credit), {
                currency: items[index]?.currency ?? '',
                playerId: `p-${index % 3}`,
              }),
        lookupsOf(records),
      )
      const found: Difference[] = []
      const result = await reconcileWorld(
        { rows, records },
        {
          ...{ report: chunksOf(csvOf(rows, names)), lookups, ...twoDays },
          onDifference: difference => void found.push(difference),
        },
      )
      seen.set(result.verdict, (seen.get(result.verdict) ?? 0) + 1)
      const expected = sumsOf(made.map(({ more }, index) => [items[index]?.currency ?? '', more]))
      const inTotals = result.totals.map(
        ({ operation, currency, difference }) =>
          [currency, (isDebit(operation) ? -1 : 1) * Number(difference)] as const,
      )
      expect(sumsOf(inTotals)).toEqual(expected)
      expect(differencesOf(result.currencies)).toEqual(expected)
      // Without dates and players, other transactions may be the same but for their ids.
      if (result.verdict === 'wrong-report') return
      const effects = found.flatMap(difference => difference.effects)
      expect(sumsOf(effects.map(({ currency, amount }) => [currency, Number(amount)]))).toEqual(expected)
      expect(differencesOf(result.players)).toEqual(expected)
      expect(differencesOf(result.bets)).toEqual(expected)
      expect(result.verdict).toBe(found.length === 0 ? 'equal' : 'different')
      if (result.verdict !== 'equal') return
      for (const { difference } of [...result.totals, ...result.currencies, ...result.players])
        expect(difference).toBe('0')
      for (const { report, wallet } of result.totals)
        expect([report.count, report.amount]).toEqual([wallet.count, wallet.amount])
    }),
    { numRuns: 150, seed: 20261126, endOnFailure: true },
  )
  // Each of them has been played.
  for (const verdict of ['equal', 'different'] as const) expect(seen.get(verdict)).toBeGreaterThan(20)
})

test('kinds are in the order of their money, whatever its direction', async () => {
  const missing = record('placebet', 'missing', 'b-1', '7')
  const [less, more] = [record('settlement', 'less', 'b-2', '90'), record('settlement', 'more', 'b-3', '90')]
  const lost = record('settlement', 'lost', 'b-4', '20')
  const result = await reconcileWorld({
    records: [missing, less, more],
    // 95 and -90: nearly nothing in sum, and 185 in all.
    rows: [{ ...rowOf(less), amount: '185' }, { ...rowOf(more), amount: '0' }, rowOf(lost)],
  })
  expect(result.kinds.map(({ kind }) => kind)).toEqual(['other-amount', 'never-arrived', 'missing-in-report'])
  expect(
    result.differences.map(({ kind }) => kind).filter((kind, index, all) => kind !== all[index - 1]),
  ).toEqual(result.kinds.map(({ kind }) => kind))
  expect(result.kinds[0]?.effects).toEqual([{ currency: 'EUR', amount: '-5' }])
})
