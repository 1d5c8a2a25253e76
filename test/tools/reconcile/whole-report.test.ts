/** A report that as a whole is not that of the wallet is one finding, and no single difference. */
import { describe, expect, test } from 'vitest'
import type { RecordedTransaction } from '../../../src/lookups/records.js'
import {
  type Difference,
  formatReconciliation,
  reconcile,
  renderReconciliation,
} from '../../../src/tools/reconcile/index.js'
import {
  chunksOf,
  columns,
  csvOf,
  day,
  foundIn,
  lookupsOf,
  type Row,
  reconcileWorld,
  record,
  rowOf,
} from './world.js'

/** Placebets of one player, a minute apart. */
const betsWith = (ids: readonly string[]) =>
  ids.map((id, index) => {
    const date = `2026-11-21T12:${String(index).padStart(2, '0')}:07.100Z`
    const dates = { transactionDate: date, recordedAt: date, playerId: 'anna' }
    return record('placebet', id, `${id}9`, String(index + 1), dates)
  })
const long = ['202611210000000017', '202611210000000021', '9007199254740993']
const withZeros = ['000124', '000125', '000126']
const plain = ['t-1', 't-2', 't-3']

/** @param written what the ids are in the report */
const rewrittenRows = (records: readonly RecordedTransaction[], written: (id: string) => string): Row[] =>
  records.map(each => ({
    ...rowOf(each),
    ...{ transactionId: written(each.transactionId), betId: written(each.betId) },
  }))

async function expectOneFinding(
  records: RecordedTransaction[],
  rows: Row[],
  kind: string,
  sentence: RegExp,
  names: readonly (keyof Row)[] = columns,
) {
  const each: Difference[] = []
  const onDifference = (difference: Difference) => void each.push(difference)
  const report = chunksOf(csvOf(rows, names))
  const result = await reconcileWorld({ rows, records }, { report, onDifference })
  expect(result).toMatchObject({ verdict: 'wrong-report', wrongReport: { kind }, kinds: [], differences: [] })
  expect(result.wrongReport?.sentence).toMatch(sentence)
  expect([each, result.bets, result.players]).toEqual([[], [], []])
  const last = formatReconciliation(result).split('\n').at(-1)
  expect(last).toBe(`WRONG REPORT: ${result.wrongReport?.sentence}`)
  const page = renderReconciliation(result)
  expect(page).toContain('<h1>Wrong report</h1>')
  expect(page).not.toContain('explain the totals')
}

describe('ids that a spreadsheet has rewritten', () => {
  /** As it shows a long number, and as it rounds or cuts one. */
  const shown = (id: string) => {
    const [mantissa = '', exponent = ''] = Number(id).toExponential(5).split('e+')
    return `${mantissa.replace(/\.?0+$/, '')}E+${exponent}`
  }
  test.each<[string, readonly string[], (id: string) => string, RegExp]>([
    ['as 2.02611E+17', long, shown, /(2\.02611E\+17|9\.0072E\+15) in the report/],
    ['as 2,02611E+17', long, id => shown(id).replace('.', ','), /(2,02611E\+17|9,0072E\+15) in the report/],
    [
      'cut to 15 digits',
      long,
      id => id.slice(0, 15).padEnd(id.length, '0'),
      / is (2026112100000000\d\d|9007199254740993) in the wallet/,
    ],
    [
      'rounded to 15 digits',
      long,
      id => String(BigInt(Number(Number(id).toPrecision(15)))),
      / in the wallet/,
    ],
    [
      'without their leading zeros',
      withZeros,
      id => id.replace(/^0+/, ''),
      /12\d in the report is 00012\d in the wallet/,
    ],
    ['as ="000124"', withZeros, id => `="${id}"`, /="00012\d" in the report/],
    ["as '000124", withZeros, id => `'${id}`, /'00012\d in the report/],
  ])('%s', async (_, ids, written, sentence) => {
    const records = betsWith(ids)
    await expectOneFinding(records, rewrittenRows(records, written), 'spreadsheet-ids', sentence)
    // One among many, and with its player.
    const others = betsWith(plain).map(each => ({ ...each, playerId: 'ben' }))
    const [first] = rewrittenRows(records, written)
    const rows = [first as Row, ...[...records.slice(1), ...others].map(rowOf)]
    await expectOneFinding([...records, ...others], rows, 'spreadsheet-ids', sentence)
    // Only its bets, or only its players.
    const bets = records.map(each => ({ ...rowOf(each), betId: written(each.betId) }))
    await expectOneFinding(records, bets, 'spreadsheet-ids', / in the report is .* in the wallet/)
    const ofPlayers = records.map(each => ({ ...each, playerId: ids[0] as string }))
    const players = ofPlayers.map(each => ({ ...rowOf(each), playerId: written(each.playerId) }))
    await expectOneFinding(ofPlayers, players, 'spreadsheet-ids', / in the report is .* in the wallet/)
    const numbered = records.map(each => ({ ...each, playerId: ids[0] as string }))
    const all = rewrittenRows(numbered, written).map(row => ({ ...row, playerId: written(row.playerId) }))
    await expectOneFinding(numbered, all, 'spreadsheet-ids', sentence)
  })
})

describe('as many missing as never arrived', () => {
  const records = betsWith([...plain, 't-4', 't-5'])
  const other = (id: string) => `other-${id}`
  test.each([
    ['under other ids', (row: Row) => row],
    [
      'under other transactionIds',
      (row: Row, index: number) => ({ ...row, betId: records[index]?.betId ?? '' }),
    ],
    [
      'with dates without seconds',
      (row: Row) => ({ ...row, transactionDate: `${row.transactionDate.slice(0, 16)}Z` }),
    ],
    [
      'most of them',
      (row: Row, index: number) => (index < 2 ? rowOf(records[index] as RecordedTransaction) : row),
    ],
  ])('%s', async (_, change) => {
    const rows = rewrittenRows(records, other).map(change)
    await expectOneFinding(
      records,
      rows,
      'other-ids',
      /with the same operation, player, time and amount \(.* in the report, .* in the wallet\)\. Is the column/,
    )
  })

  test.each([
    ['in other letters', (id: string) => id.toUpperCase()],
    ['filled with spaces', (id: string) => id.padEnd(36)],
    ['filled with spaces on the left', (id: string) => id.padStart(36)],
  ])('with all ids %s', async (_, written) => {
    const rows = rewrittenRows(records, written).map(row => ({ ...row, playerId: written(row.playerId) }))
    await expectOneFinding(records, rows, 'other-ids', /5 rows of 5 rows are in the wallet under other ids/)
  })

  test('in a report without dates and players', async () => {
    const names = ['operation', 'transactionId', 'betId', 'amount', 'currency'] as const
    await expectOneFinding(
      records,
      rewrittenRows(records, other),
      'other-ids',
      /5 rows of 5 rows are in the wallet under other ids, with the same operation and amount \(/,
      names,
    )
  })

  test.each([
    ['of another player', { playerId: 'ben' }],
    ['of another amount', { amount: '77' }],
    ['of another time', { transactionDate: '2026-11-21T18:00:00Z' }],
    ['of another operation', { operation: 'settlement', type: 'BET_PAID' } as Partial<Row>],
  ])('are differences if they are %s', async (_, changes) => {
    const rows = rewrittenRows(records, other).map(row => ({ ...row, ...changes }))
    const result = await reconcileWorld({ rows, records })
    expect(result).toMatchObject({ verdict: 'different', wrongReport: null })
    expect(result.kinds.map(({ count }) => count)).toEqual([5, 5])
  })

  test('are differences if most rows agree', async () => {
    const agreed = betsWith(Array.from({ length: 6 }, (_, index) => `a-${index}`))
    const rows = [...rewrittenRows(records, other), ...agreed.map(rowOf)]
    const result = await reconcileWorld({ rows, records: [...records, ...agreed] })
    expect(result.kinds.map(({ count }) => count)).toEqual([5, 5])
  })
})

describe('no row in the range, where the wallet has transactions', () => {
  const records = betsWith(plain)
  test('a header alone', () =>
    expectOneFinding(
      records,
      [],
      'no-rows',
      /^The report has no row within the range\. The wallet has 3 transactions: is it/,
    ))

  test("yesterday's file", () => {
    const rows = records.map(each => ({ ...rowOf(each), transactionDate: '2026-11-20T12:00:00Z' }))
    return expectOneFinding(
      records.map(each => ({ ...each, transactionId: `x${each.transactionId}` })),
      rows,
      'no-rows',
      /within the range, but 3 rows outside of it\. The wallet/,
    )
  })

  test('is nothing compared, if the wallet has none either', async () => {
    expect(await reconcileWorld({ rows: [], records: [] })).toMatchObject({
      verdict: 'nothing-compared',
      wrongReport: null,
    })
  })
})

describe('lines that are ended by CR alone, with all of the file in the header', () => {
  const records = betsWith(plain)
  const compare = (text: string) => reconcile({ report: chunksOf(text), lookups: lookupsOf(records), ...day })
  const names = ['operation', 'transactionId', 'betId', 'amount', 'currency', 'transactionDate'] as const
  test.each([
    ['with an optional column last', csvOf(records.map(rowOf), names)],
    ['with a required column last', csvOf(records.map(rowOf), names.slice(0, 5))],
    ['of which nothing follows', 'operation,transactionId,betId,amount,"currency\r"'],
  ])('%s', async (_, text) => {
    await expect(compare(text.replaceAll('\n', '\r'))).rejects.toMatchObject({
      code: 'INVALID_REPORT',
      message: expect.stringContaining('line 1: its lines are ended by CR alone'),
    })
  })

  test('but a CR or LF inside of the quotes of a header is none, if rows follow', async () => {
    const text = csvOf(records.map(rowOf), names)
      .replace('transactionDate', 'transactionDate,"a\r\nnote\r"')
      .replaceAll('Z\n', 'Z,x\n')
    expect((await compare(`${text},x`)).verdict).toBe('equal')
  })
})

test('one row that is really missing, and one transaction, stay differences', async () => {
  const records = betsWith(plain)
  const lost = record('placebet', '1234567890123450', 'b-lost', '5')
  const [, ...kept] = records
  const rows = [
    ...kept.map(rowOf),
    rowOf(lost),
    rowOf(record('placebet', '77', 'b-77', '5', { playerId: 'ben' })),
  ]
  expect(foundIn(await reconcileWorld({ rows, records }))).toEqual([
    'missing-in-report: placebet t-1',
    'never-arrived: placebet 1234567890123450',
    'never-arrived: placebet 77',
  ])
})
