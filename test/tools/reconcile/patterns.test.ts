/** What differences have in common: gaps, swapped amounts, upper and lower case; and which kinds come first. */
import { describe, expect, test } from 'vitest'
import type { RecordedTransaction } from '../../../src/lookups/records.js'
import {
  formatReconciliation,
  type Reconciliation,
  renderReconciliation,
} from '../../../src/tools/reconcile/index.js'
import { csvOf, foundIn, reconcileWorld, record, rowOf } from './world.js'

/** A placebet of 2 EUR every minute of the day, of which some hours are lost. */
function betsWithout(hours: readonly number[]) {
  const bets = Array.from({ length: 1_440 }, (_, minute) => {
    const date = new Date(Date.parse('2026-11-21T00:00:20Z') + minute * 60_000).toISOString()
    const dates = { transactionDate: date, recordedAt: date.replace('20.000Z', '20.300Z') }
    return record('placebet', `t-${minute}`, `b-${minute}`, '2', dates)
  })
  const kept = bets.filter(({ transactionDate }) => !hours.includes(Number(transactionDate.slice(11, 13))))
  return { bets, kept, records: bets, rows: kept.map(rowOf) }
}

const gap = (of: string, from: string, to: string, count: number, amount: string) => ({
  of,
  from: `2026-11-21T${from}:20.000Z`,
  to: `2026-11-21T${to}:20.000Z`,
  count,
  effects: [{ currency: 'EUR', amount }],
})

describe('a time for which one side has nothing is one finding', () => {
  test('of the report: in the result, the text and the page', async () => {
    const { rows, records } = betsWithout([13])
    const single = rows.filter(({ transactionId }) => transactionId !== 't-7')
    const result = await reconcileWorld({ rows: single, records })
    expect(result.gaps).toEqual([gap('report', '12:59', '14:00', 60, '-120')])
    expect(result.kinds).toMatchObject([{ kind: 'missing-in-report', count: 61 }])
    const sentence =
      'The report has nothing between 2026-11-21T12:59:20Z and 2026-11-21T14:00:20Z: 60 transactions of the wallet, -120.00 EUR.'
    const text = formatReconciliation(result)
    expect(text).toContain(
      `Gaps\n  ${sentence} It may be incomplete: get a complete one, and compare again.\n`,
    )
    // What the gap explains is not listed one by one.
    expect(text).toMatch(
      /^In the wallet, missing in the report\n {2}placebet t-7,.*\n.*\n.*\n.*\n {2}… and 60 more/m,
    )
    const page = renderReconciliation(result)
    expect(page).toContain(sentence)
    expect(page.match(/<article/g)).toHaveLength(1)
    // Where it is listed, its calls are not the first thing to do.
    const [first, second] = result.differences
    expect(first).toMatchObject({ wallet: { transactionId: 't-7' }, gap: null })
    expect(second?.gap).toEqual({ from: '2026-11-21T12:59:20.000Z', to: '2026-11-21T14:00:20.000Z' })
    expect(second?.repair.text).toMatch(
      /^The report has nothing for a time, so it may be incomplete: get a complete/,
    )
  })

  test('of the wallet: its calls are still listed, in their order', async () => {
    const { bets, kept } = betsWithout([13, 14, 20])
    const result = await reconcileWorld({ rows: bets.map(rowOf), records: kept })
    expect(result.gaps).toEqual([
      gap('wallet', '12:59', '15:00', 120, '240'),
      gap('wallet', '19:59', '21:00', 60, '120'),
    ])
    const text = formatReconciliation(result)
    expect(text).toContain(
      'The wallet has nothing between 2026-11-21T12:59:20Z and 2026-11-21T15:00:20Z: 120 rows of the report, +240.00 EUR.\n',
    )
    expect(text).toMatch(
      /^In the report, never arrived in the wallet\n {2}Send these calls .*\n {2}placebet t-780,/m,
    )
  })

  test('at the start and the end of the range, and in a range of a year', async () => {
    const { rows, records } = betsWithout([0, 22, 23])
    const gaps = async (range: object) => (await reconcileWorld({ rows, records }, range)).gaps
    const [first, last] = [
      { of: 'report', from: '2026-11-21T00:00:00.000Z', to: '2026-11-21T01:00:20.000Z', count: 60 },
      { of: 'report', from: '2026-11-21T21:59:20.000Z', to: '2026-11-22T00:00:00.000Z', count: 120 },
    ]
    expect(await gaps({})).toMatchObject([first, last])
    expect(await gaps({ from: '2026-01-01', to: '2027-01-01' })).toMatchObject([
      { ...first, from: '2026-01-01T00:00:00.000Z' },
      { ...last, to: '2027-01-01T00:00:00.000Z' },
    ])
  })

  test('is none where few are missing, and where the report has no dates', async () => {
    const { rows, records } = betsWithout([13])
    const quiet = records.filter(({ transactionId }) => !/^t-(?:78[1-9]|79|8[0-3])/.test(transactionId))
    expect((await reconcileWorld({ rows, records: quiet })).gaps).toEqual([])
    const names = ['operation', 'transactionId', 'betId', 'amount', 'currency'] as const
    async function* report() {
      yield csvOf(rows, names)
    }
    expect((await reconcileWorld({ rows, records }, { report: report() })).gaps).toEqual([])
  })
})

const explanationsIn = ({ differences }: Reconciliation) => differences.map(({ explanation }) => explanation)

describe('two amounts that are swapped', () => {
  const made = (id: string, amount: string, currency = 'EUR') =>
    record('settlement', `s-${id}`, `b-${id}`, amount, { currency })
  const compareWith = (records: RecordedTransaction[], amounts: readonly string[]) =>
    reconcileWorld({
      records,
      rows: records.map((each, index) => ({ ...rowOf(each), amount: amounts[index] ?? '' })),
    })

  test('say so, each with the other', async () => {
    const result = await compareWith([made('1', '30'), made('2', '50'), made('3', '30')], ['50', '30', '50'])
    expect(explanationsIn(result).sort()).toEqual([
      'The platform counts 30.00 EUR; the wallet moved 50.00 EUR. For the settlement s-1 of bet b-1 it is the other way round: the two amounts are swapped.',
      'The platform counts 50.00 EUR; the wallet moved 30.00 EUR.',
      'The platform counts 50.00 EUR; the wallet moved 30.00 EUR. For the settlement s-2 of bet b-2 it is the other way round: the two amounts are swapped.',
    ])
  })

  test('are none in other currencies, or if one of them agrees', async () => {
    for (const result of [
      await compareWith([made('1', '30'), made('2', '50', 'USD')], ['50', '30']),
      await compareWith([made('1', '30'), made('2', '50')], ['50', '50']),
    ]) {
      for (const text of explanationsIn(result)) expect(text).not.toContain('swapped')
    }
  })
})

describe('what differs in upper and lower case only, or in spaces at its ends, says so', () => {
  const made = record('placebet', 'Bet-a', 'b', '5', { playerId: 'Anna' })
  const isCase = / They differ in upper and lower case only\.$/
  const isSpaces = / They differ in spaces at their ends only\.$/
  test.each([
    ['a player', { playerId: 'anna' }, 'other-player', isCase],
    ['a bet', { betId: 'B' }, 'other-bet', isCase],
    ['a currency', { currency: 'eur' }, 'other-currency', isCase],
    ['a transactionId', { transactionId: 'BET-A' }, 'other-transaction-id', isCase],
    ['a player', { playerId: 'Anna ' }, 'other-player', isSpaces],
    ['a bet', { betId: ' b' }, 'other-bet', isSpaces],
    ['a transactionId', { transactionId: 'Bet-a   ' }, 'other-transaction-id', isSpaces],
    [
      'a transactionId',
      { transactionId: ' BET-A' },
      'other-transaction-id',
      / They differ in upper and lower case and in spaces at their ends only\.$/,
    ],
  ] as const)('%s: %j', async (_, changes, kind, said) => {
    const result = await reconcileWorld({ rows: [{ ...rowOf(made), ...changes }], records: [made] })
    expect(result.differences).toMatchObject([{ kind, explanation: expect.stringMatching(said) }])
  })

  test.each([
    ['\u0420-1', '\u0440-1', 'Cyrillic'],
    ['\u00d1-1', '\u00f1-1', 'Spanish'],
    ['t-1\u00a0', 't-1', 'a space that does not break'],
    ['K-1', '\u212a-1', 'the sign of Kelvin'],
  ])('no call would move the money of %j again as %j: %s', async (ours, theirs) => {
    const placebet = record('placebet', ours, ours, '5')
    const row = { ...rowOf(placebet), transactionId: theirs, betId: theirs }
    const result = await reconcileWorld({ rows: [row], records: [placebet] })
    expect(result.differences).toMatchObject([{ kind: 'other-transaction-id', repair: { calls: [] } }])
  })

  const written = [
    ['in other letters', (id: string) => id.toUpperCase()],
    ['filled with spaces', (id: string) => id.padEnd(36)],
    ['filled with spaces on the left', (id: string) => id.padStart(36)],
  ] as const
  describe.each(written)('all ids of a report, %s', (_, written) => {
    const rewritten = (each: RecordedTransaction) => ({
      ...rowOf(each),
      ...{ transactionId: written(each.transactionId), betId: written(each.betId) },
      playerId: written(each.playerId),
    })
    const isOther = { by: 'platform', calls: [] }

    test('no call would move the money again', async () => {
      const rollback = record('rollbackbet', 'Bet-a', 'b', '5', { playerId: 'Anna' })
      for (const amount of ['5', '']) {
        const rows = [rewritten(made), { ...rewritten(rollback), amount }]
        const result = await reconcileWorld({ rows, records: [made, rollback] })
        expect(result.kinds).toMatchObject([{ kind: 'other-transaction-id', count: 2 }])
        expect(result.kinds[0]?.effects).toEqual([])
        for (const { explanation, repair } of result.differences) {
          expect(explanation).toMatch(/ They differ in .* only\.$/)
          expect(repair).toMatchObject(isOther)
        }
      }
    })

    test('nor what the wallet refused', async () => {
      const refusal = { errorCode: 'INSUFFICIENT_FUNDS', description: 'x' }
      const placebet = { ...made, delta: '0', refusal }
      const unsettlement = { ...record('unsettlement', 'u', 'b', '5'), delta: '0', refusal }
      for (const [refused, kind] of [
        [placebet, 'refused-by-wallet'],
        [unsettlement, 'uncollected-clawback'],
      ] as const) {
        const row = { ...rewritten(refused), status: 'accepted', amount: '5' }
        const result = await reconcileWorld({ rows: [row], records: [refused] })
        expect(result.differences).toMatchObject([
          { kind, repair: isOther, explanation: expect.stringMatching(/ The ids differ in .* only\.$/) },
        ])
      }
      // Both sides refused it.
      const both = await reconcileWorld({ rows: [rewritten(unsettlement)], records: [unsettlement] })
      expect(both.differences).toEqual([])
    })

    test.each([
      ['the platform', '2026-11-21T23:59:59.000Z', '2026-11-22T00:00:01.000Z'],
      ['the wallet', '2026-11-22T00:00:01.000Z', '2026-11-21T23:59:59.000Z'],
    ])('nor what only %s has within the range', async (_, transactionDate, recordedAt) => {
      const late = { ...made, transactionDate, recordedAt }
      const result = await reconcileWorld({ rows: [rewritten(late)], records: [late] })
      expect(result.differences).toMatchObject([{ kind: 'other-transaction-id', repair: isOther }])
      expect(result.differences[0]?.explanation).toContain(' outside of the range on one side')
    })

    test('each row is paired with the record of its own money', async () => {
      const [five, seven] = [made, record('placebet', 'bet-A', 'b', '7', { playerId: 'Anna' })]
      for (const entries of [
        [five, seven],
        [seven, five],
      ]) {
        const result = await reconcileWorld({ rows: entries.map(rewritten), records: [five, seven] })
        expect(result.kinds).toMatchObject([{ kind: 'other-transaction-id', count: 2, effects: [] }])
        for (const { explanation } of result.differences)
          expect(explanation).toContain('the wallet moved it under')
      }
    })

    test('what else differs is said', async () => {
      const row = rewritten(made)
      const other = await reconcileWorld({ rows: [{ ...row, amount: '50' }], records: [made] })
      expect(other.differences).toMatchObject([{ kind: 'other-transaction-id', repair: isOther }])
      expect(other.differences[0]?.repair.text).toContain('compare again')
      expect(other.differences[0]?.explanation).toContain('the wallet moved 5.00 EUR under')
      const player = await reconcileWorld({ rows: [{ ...row, playerId: 'ben' }], records: [made] })
      expect(player.differences).toMatchObject([{ kind: 'other-player', repair: { calls: [] } }])
      // Of another bet, it is another transaction.
      const bet = await reconcileWorld({ rows: [{ ...row, betId: 'c' }], records: [made] })
      expect(foundIn(bet)).toEqual([
        'missing-in-report: placebet Bet-a',
        `never-arrived: placebet ${row.transactionId}`,
      ])
    })
  })

  test('two transactions of both sides are two', async () => {
    const records = ['a', 'A', 'a ', ' a'].map(id => record('placebet', id, `b${id}`, '5'))
    expect((await reconcileWorld({ rows: records.map(rowOf), records })).verdict).toBe('equal')
    const [, other] = records as [RecordedTransaction, RecordedTransaction]
    const rows = records.filter(each => each !== other).map(rowOf)
    expect(foundIn(await reconcileWorld({ rows, records }))).toEqual(['missing-in-report: placebet A'])
  })

  test('but not what differs otherwise', async () => {
    const result = await reconcileWorld({ rows: [{ ...rowOf(made), playerId: 'anne' }], records: [made] })
    expect(explanationsIn(result)[0]).not.toContain('They differ')
  })
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
