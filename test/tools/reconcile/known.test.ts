/** Differences as CSV, and known ones that such a file leaves out. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { csvRecords } from '../../../src/tools/reconcile/csv.js'
import {
  type Difference,
  differenceCsvHeader,
  differenceCsvLine,
  formatReconciliation,
  type Reconciliation,
  readKnownDifferences,
  renderReconciliation,
} from '../../../src/tools/reconcile/index.js'
import { seeded } from './seeded.js'
import { chunksOf, createWorld, foundIn, reconcileWorld, record, rowOf, type World } from './world.js'

const csvOf = (differences: readonly Difference[]) =>
  `${differenceCsvHeader}${differences.map(differenceCsvLine).join('')}`

async function* bytesOf(text: string) {
  yield Buffer.from(text)
}

/** Each line by the names of the header. */
async function linesOf(csv: string): Promise<Record<string, string>[]> {
  const records = []
  for await (const batch of csvRecords(chunksOf(csv.slice(1)))) records.push(...batch)
  const [header, ...lines] = records.map(({ cells }) => cells)
  return lines.map(cells => Object.fromEntries(cells.map((cell, index) => [header?.[index] ?? '', cell])))
}

const lost = record('placebet', 't-1', 'b-1', '30')
const other = record('settlement', 't-2', 'b-2', '12.5')
const world = (): World => ({ records: [other], rows: [rowOf(lost), { ...rowOf(other), amount: '20' }] })
const idsOf = ({ differences }: Reconciliation) => differences.map(({ id }) => id)

describe('the CSV of differences', () => {
  test('has amounts as numbers with their currencies, what to do, and one line per difference', async () => {
    const { differences } = await reconcileWorld(world())
    const csv = csvOf(differences)
    expect(csv.startsWith('\ufeff"id","kind","title","operation"')).toBe(true)
    expect(csv.split('\r\n')).toHaveLength(4)
    const [first, second] = await linesOf(csv)
    expect(first).toMatchObject({
      ...{
        id: idsOf({ differences } as Reconciliation)[0],
        kind: 'never-arrived',
        transactionId: "'t-1",
        betId: "'b-1",
      },
      ...{
        reportAmount: '30.00',
        walletAmount: '',
        difference: '30.00',
        currency: 'EUR',
        toDoBy: 'operator',
      },
      ...{ line: '2', title: 'In the report, never arrived in the wallet' },
    })
    expect(second).toMatchObject({ reportAmount: '20.00', walletAmount: '12.50', difference: '-7.50' })
  })

  test('has both currencies of a difference that has two', async () => {
    const { differences } = await reconcileWorld({
      records: [other],
      rows: [{ ...rowOf(other), currency: 'USD' }],
    })
    expect((await linesOf(csvOf(differences)))[0]).toMatchObject({
      ...{ difference: '-12.50', currency: 'USD', otherDifference: '12.50', otherCurrency: 'EUR' },
    })
  })

  test.each([
    '=1+1',
    '+1',
    '-1',
    '@SUM(A1)',
    '＝1+1',
    '007',
    '1e5',
    '2026-11-21',
    'MAR1',
    "'quoted",
    'a,"b"',
    'é賭',
  ])('keeps an id as the text that it is: %s', async id => {
    const odd = record('placebet', id, id, '5', { playerId: id, walletTransactionId: id })
    const { differences } = await reconcileWorld({ rows: [], records: [odd] })
    const [line] = await linesOf(csvOf(differences))
    const ids = {
      transactionId: `'${id}`,
      betId: `'${id}`,
      playerId: `'${id}`,
      walletTransactionId: `'${id}`,
    }
    expect(line).toMatchObject(ids)
  })

  test.each(seeded)('has no cell that a spreadsheet executes: $name', async ({ seed }) => {
    const changed = createWorld()
    seed(changed)
    const { differences } = await reconcileWorld(changed)
    for (const line of await linesOf(csvOf(differences))) {
      for (const [name, cell] of Object.entries(line)) {
        if (/amount$|difference$/i.test(name)) expect(cell).toMatch(/^(?:-?\d+(?:\.\d+)?)?$/)
        else expect(cell).not.toMatch(/^[=+\-@\t\r＝＋－＠]/)
      }
    }
  })
})

describe('known differences', () => {
  test('are left out of lists and verdict, counted, and stay in the totals', async () => {
    const before = await reconcileWorld(world())
    const known = await readKnownDifferences(bytesOf(csvOf(before.differences.slice(0, 1))))
    const each: string[] = []
    const result = await reconcileWorld(world(), { known, onDifference: ({ id }) => void each.push(id) })
    expect(result).toMatchObject({
      verdict: 'different',
      known: { count: 1, effects: [{ currency: 'EUR', amount: '30' }], missing: [] },
    })
    expect([foundIn(result), each]).toEqual([['other-amount: settlement t-2'], idsOf(before).slice(1)])
    expect([result.totals, result.currencies]).toEqual([before.totals, before.currencies])
    expect(result.bets.map(({ id }) => id)).toEqual(['b-2'])
    for (const text of [formatReconciliation(result), renderReconciliation(result)])
      expect(text).toContain(
        'In total, players have 22.50 EUR more in the wallet than in the report. 1 known difference left out, +30.00 EUR in all.',
      )
  })

  test('alone are a verdict of their own, never "equal"', async () => {
    const before = await reconcileWorld(world())
    const result = await reconcileWorld(world(), { known: idsOf(before) })
    expect(result).toMatchObject({ verdict: 'known', kinds: [], differences: [], known: { count: 2 } })
    expect(
      formatReconciliation({ ...result, durationMs: 1 })
        .split('\n')
        .at(-1),
    ).toBe(
      'KNOWN DIFFERENCES ONLY: No new differences: 0 agree, of 2 rows in the report and 1 transaction of the wallet. 2 known differences left out, +22.50 EUR in all. (1 ms)',
    )
    expect(renderReconciliation(result)).toContain('<h1>Known differences only</h1>')
  })

  test('that differ otherwise now are new, and the file is said to name what does not exist', async () => {
    const known = idsOf(await reconcileWorld(world()))
    const [row, changed] = world().rows
    const result = await reconcileWorld(
      {
        records: [other],
        rows: [row, { ...changed, amount: '9000' }] as World['rows'],
      },
      { known },
    )
    expect(foundIn(result)).toEqual(['other-amount: settlement t-2'])
    expect(result.known.missing).toEqual(known.slice(1))
    expect(formatReconciliation(result)).toContain(
      ` 1 known difference left out, +30.00 EUR in all. 1 known difference not found in this range any more: ${known[1]}.`,
    )
  })

  test('leave out one each: a further copy of a row is new', async () => {
    const rows = [rowOf(other), rowOf(other)]
    const known = idsOf(await reconcileWorld({ records: [other], rows }))
    expect(known).toHaveLength(1)
    const result = await reconcileWorld({ records: [other], rows: [...rows, rowOf(other)] }, { known })
    expect(foundIn(result)).toEqual(['duplicate-in-report: settlement t-2'])
    expect(result.known.count).toBe(1)
  })

  test('of a file that a spreadsheet wrote, or of its ids alone', async () => {
    const before = await reconcileWorld(world())
    const ids = idsOf(before)
    const saved = csvOf(before.differences).slice(1).replaceAll('","', ';').replaceAll('"', '')
    for (const file of [saved, ['id', ...ids].join('\n'), `\ufeffnote,id\r\nours,${ids[0]}\r\n,${ids[1]}`])
      expect(await readKnownDifferences(bytesOf(file))).toEqual(ids)
  })

  const folder = mkdtempSync(join(tmpdir(), 'known-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  test.each([
    ['a file without ids', 'kind,transactionId\nx,y', ' has no column "id"'],
    ['something else as an id', 'id\nd-0123456789abcdef\nt-1', ', line 3: "t-1" is no id of a difference'],
    ['an open quote', 'id\n"d-0123456789abcdef', ', line 2: a quote is not closed'],
    [
      'bytes that are not UTF-8',
      Buffer.from([0x69, 0x64, 0x0a, 0xff]),
      ', line 1: this line, or one of the next ones, is not UTF-8',
    ],
  ])('are refused: %s', async (_, content, problem) => {
    const file = join(folder, 'known.csv')
    writeFileSync(file, content)
    await expect(readKnownDifferences(file)).rejects.toMatchObject({
      code: 'INVALID_OPTIONS',
      message: `Known differences: ${file}${problem}`,
    })
    await expect(reconcileWorld(world(), { known: ['t-1'] })).rejects.toThrow(/known must be a list of ids/)
  })
})
