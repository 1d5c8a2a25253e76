/** Several reports of the platform in one reconciliation: of two days, say. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { formatReconciliation, reconcile, renderReconciliation } from '../../../src/tools/reconcile/index.js'
import {
  chunksOf,
  columns,
  createWorld,
  csvOf,
  day,
  foundIn,
  lookupsOf,
  type Row,
  record,
  rowOf,
} from './world.js'

const folder = mkdtempSync(join(tmpdir(), 'several-reports-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** @returns its path */
function fileOf(name: string, rows: readonly Row[], names: readonly (keyof Row)[] = columns): string {
  const path = join(folder, name)
  writeFileSync(path, csvOf(rows, names))
  return path
}

/** Recorded after midnight, dated before it. */
const late = record('settlement', 'late', 'b', '5000', {
  ...{ recordedAt: '2026-11-21T09:00:00.000Z', transactionDate: '2026-11-20T20:00:00.000Z' },
})

describe('several reports', () => {
  test('count as one, whatever their order and form', async () => {
    const { rows, records } = createWorld(2)
    const half = rows.length / 2
    const [first, second] = [rows.slice(0, half), rows.slice(half)]
    const jsonLines = second.map(row => JSON.stringify(row)).join('\n')
    for (const report of [
      [fileOf('first.csv', first), fileOf('second.csv', second)],
      [chunksOf(jsonLines), chunksOf(csvOf(first))],
    ]) {
      const result = await reconcile({ report, lookups: lookupsOf(records), ...day })
      expect(result).toMatchObject({ verdict: 'equal', rows: { report: rows.length } })
    }
  })

  test('of two days: what only the report of the other day has is matched', async () => {
    const other = rowOf(record('placebet', 'x', 'x', '1', { recordedAt: '2026-11-20T20:00:00.000Z' }))
    const agreed = record('placebet', 'agreed', 'b', '5')
    const [today, before] = [fileOf('21.csv', [rowOf(agreed)]), fileOf('20.csv', [rowOf(late), other])]
    const lookups = lookupsOf([late, agreed])
    const compare = (report: string | string[]) => reconcile({ report, lookups, ...day })
    expect(await compare(today)).toMatchObject({ kinds: [{ kind: 'missing-in-report' }] })
    const result = await compare([today, before])
    expect(result).toMatchObject({ kinds: [{ kind: 'out-of-range' }], rows: { outside: 2 } })
    expect(result.differences[0]?.report).toMatchObject({ file: before, line: 2 })
  })

  test('are named with the line of a difference', async () => {
    const made = record('placebet', 't', 'b', '5')
    const [one, other] = [fileOf('one.csv', [rowOf(made)]), fileOf('other.csv', [rowOf(made)])]
    const result = await reconcile({ report: [one, other], lookups: lookupsOf([made]), ...day })
    expect(foundIn(result)).toEqual(['duplicate-in-report: placebet t'])
    expect(formatReconciliation(result)).toContain(`line 2 of ${other}: 5.00 EUR`)
    expect(renderReconciliation(result)).toContain(`line 2 of ${other}: 5.00 EUR`)
  })

  test('are named in errors', async () => {
    const [made] = [rowOf(record('placebet', 't', 'b', '5'))]
    const good = fileOf('good.csv', [made])
    const bad = fileOf('bad.csv', [made, { ...made, transactionId: 'u', amount: 'x' }])
    const other = fileOf(
      'columns.csv',
      [made],
      columns.filter(name => name !== 'playerId'),
    )
    const short = fileOf('short.csv', [made], ['operation', 'transactionId'])
    const empty = join(folder, 'empty.csv')
    writeFileSync(empty, '')
    const bytes = join(folder, 'bytes.csv')
    writeFileSync(bytes, Buffer.from([0x61, 0xff, 0xfe]))
    const compare = (...report: string[]) => reconcile({ report, lookups: lookupsOf([]), ...day })
    const cases: [string[], string][] = [
      [[good, bad], `The platform's report ${bad}, line 3, column "amount": "x" is no decimal`],
      [[bad, good], `The platform's report ${bad}, line 3, column "amount"`],
      [[good, empty], `The platform's report ${empty} is empty`],
      [[good, bytes], `The platform's report ${bytes}, line 1: `],
      [[good, short], `The platform's report ${short} has no column "betId"`],
      [[good, join(folder, 'none.csv')], `The platform's report ${join(folder, 'none.csv')} cannot be read`],
      [[good, other], `must have the same columns: ${good} has playerId, and ${other} has not`],
      [[other, good], `must have the same columns: ${good} has playerId, and ${other} has not`],
      [[good, good], 'report has the same report twice'],
      [[], 'report must be the path of a file'],
    ]
    for (const [reports, problem] of cases) {
      await expect(compare(...reports)).rejects.toThrow(
        expect.objectContaining({ message: expect.stringContaining(problem) }),
      )
    }
  })
})
