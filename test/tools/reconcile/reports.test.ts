/** The platform's report in every form that it may have, and every way in which it can be wrong. */
// cspell:words Wette Betrag Einsatz Gewinn Rückruf Storno nein offen Spieler Stand Zeit
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { type ReconcileOptions, type ReportMapping, reconcile } from '../../../src/tools/reconcile/index.js'
import { chunksOf, createWorld, csvOf, day, foundIn, lookupsOf, type Row } from './world.js'

const world = createWorld(1)
const lookups = lookupsOf(world.records)
const compare = (report: ReconcileOptions['report'], mapping?: ReportMapping) =>
  reconcile({ report, lookups, ...day, ...(mapping && { mapping }) })

async function* one(text: string | Uint8Array) {
  yield text
}

const header = 'operation,transactionId,betId,amount,currency'
const jsonOf = (rows: readonly object[]) => rows.map(row => JSON.stringify(row)).join('\n')

describe('a report without differences, as', () => {
  const { rows } = world
  /** Stakes and clawbacks with a minus, or the other operations. */
  const withSigns = (isDebit: boolean) =>
    rows.map(row => ({
      ...row,
      amount:
        ['placebet', 'unsettlement'].includes(row.operation) === isDebit ? `-${row.amount}` : row.amount,
    }))
  const renamed = csvOf(rows).replace(/^.*\n/, 'Art;Nr;Wette;Spieler;Typ;Betrag;Stand;Zeit\n')
  const germanRows = rows.map(({ currency, ...row }) => row)
  const german = [
    'Art;Nr;Wette;Spieler;Typ;Betrag;Stand;Zeit',
    ...germanRows
      .filter((_, index) => rows[index]?.currency === 'EUR')
      .map(row =>
        [
          ...[
            { placebet: 'Einsatz', settlement: 'Gewinn', unsettlement: 'Rückruf', rollbackbet: 'Storno' }[
              row.operation
            ],
          ],
          ...[row.transactionId, row.betId, row.playerId, row.type, row.amount.replace('.', ',')],
          ...[
            row.status === 'accepted' ? 'ok' : 'nein',
            row.transactionDate.replace('T', ' ').replace('Z', ''),
          ],
        ].join(';'),
      ),
    'Bonus;x;y;anna;;1,00;ok;2026-11-21 10:00',
    'Einsatz;x;y;anna;;1,00;offen;2026-11-21 10:00',
  ].join('\r\n')
  const germanMapping: ReportMapping = {
    columns: {
      ...{ operation: 'Art', transactionId: 'Nr', betId: 'Wette', playerId: 'Spieler', type: 'Typ' },
      ...{ amount: 'Betrag', currency: { value: 'EUR' }, status: 'Stand', transactionDate: 'Zeit' },
    },
    operations: {
      ...{
        Einsatz: 'placebet',
        Gewinn: 'settlement',
        Rückruf: 'unsettlement',
        Storno: 'rollbackbet',
        Bonus: null,
      },
    },
    statuses: { ok: 'accepted', nein: 'refused', offen: null },
    decimalPoint: ',',
    dates: { timeZone: 'UTC' },
  }

  const forms: [string, ReconcileOptions['report'], ReportMapping?][] = [
    ['CSV', one(csvOf(rows))],
    ['CSV with \\r\\n', one(csvOf(rows).replaceAll('\n', '\r\n'))],
    ['CSV in chunks of one character', chunksOf(csvOf(rows), 1)],
    [
      'CSV with quotes around everything, in chunks',
      chunksOf(
        csvOf(rows)
          .replace(/[^,\n]+/g, '"$&"')
          .replaceAll('\n', '\r\n'),
        3,
      ),
    ],
    ['bytes with a byte order mark', one(Buffer.from(`\ufeff${csvOf(rows)}`))],
    ['CSV with empty lines', one(`\n\n${csvOf(rows).replaceAll('\n', '\n\n')}\n\n`)],
    [
      'CSV with quotes around first values and \\r\\n',
      one(
        csvOf(rows)
          .replace(/^[^,\n]+/gm, '"$&"')
          .replaceAll('\n', '\r\n'),
      ),
    ],
    ['CSV with tabs', one(csvOf(rows).replaceAll(',', '\t'))],
    ['CSV with more columns', one(csvOf(rows).replaceAll('\n', ',more\n').concat(',more'))],
    ['JSON lines', one(jsonOf(rows))],
    ['JSON lines in chunks', chunksOf(jsonOf(rows), 7)],
    ['JSON lines with numbers', one(jsonOf(rows).replace(/"amount":"([^"]*)"/g, '"amount":$1'))],
    ['JSON lines with null for what is empty', one(jsonOf(rows).replaceAll('""', 'null'))],
    ['signs of the player', one(csvOf(withSigns(true))), { signs: 'player' }],
    ['signs of the platform', one(csvOf(withSigns(false))), { signs: 'platform' }],
  ]
  test.each(forms)('%s', async (_, report, mapping) => {
    const result = await compare(report, mapping)
    expect(foundIn(result)).toEqual([])
    expect(result).toMatchObject({ verdict: 'equal', rows: { report: rows.length, wallet: rows.length } })
  })

  test('another language, in one currency, with rows that are not the wallet’s', async () => {
    expect(renamed).toContain('Art;')
    const euros = lookupsOf(world.records.filter(({ accountCurrency }) => accountCurrency === 'EUR'))
    const result = await reconcile({ report: one(german), lookups: euros, ...day, mapping: germanMapping })
    expect(foundIn(result)).toEqual([])
    expect(result).toMatchObject({ verdict: 'equal', rows: { ignored: 2 } })
  })

  test('words for operations with their types, without a column for types', async () => {
    const words: Record<string, string> = {
      BET_PAID: 'WIN',
      VOIDED: 'VOID',
      CASHOUT: 'CASH',
      UNSCORED: 'UN1',
      UNVOIDED: 'UN2',
    }
    const operations = {
      ...{ WIN: 'settlement BET_PAID', VOID: 'settlement VOIDED', CASH: 'settlement CASHOUT' },
      ...{ UN1: 'unsettlement UNSCORED', UN2: 'unsettlement UNVOIDED' },
    }
    const typed = rows.map(row => ({ ...row, operation: words[row.type] ?? row.operation }))
    const names = Object.keys(typed[0] ?? {}).filter(name => name !== 'type') as (keyof Row)[]
    expect(foundIn(await compare(one(csvOf(typed, names)), { operations }))).toEqual([])
    const wrong = typed.map(row => (row.operation === 'VOID' ? { ...row, operation: 'WIN' } : row))
    const found = foundIn(await compare(one(csvOf(wrong, names)), { operations }))
    expect(found.map(each => each.split(':')[0])).toEqual(Array(3).fill('other-type'))
  })

  test('a file, and amounts with more digits than a JavaScript number has', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'reports-'))
    afterAll(() => rmSync(folder, { recursive: true, force: true }))
    const file = join(folder, 'platform.jsonl')
    const large = { ...(world.records[0] as (typeof world.records)[0]), delta: '-123456789012345.678' }
    const lines = (amount: string) => jsonOf([{ ...rows[0], amount: 'AMOUNT' }]).replace('"AMOUNT"', amount)
    writeFileSync(file, lines('123456789012345.678'))
    const options = { lookups: lookupsOf([large]), ...day }
    expect((await reconcile({ report: file, ...options })).verdict).toBe('equal')
    writeFileSync(file, lines('123456789012345.679'))
    expect(foundIn(await reconcile({ report: file, ...options }))).toEqual([
      'other-amount: placebet placebet-EUR-0',
    ])
  })
})

describe('what cannot be compared is an error that names line and column', () => {
  const row = 'placebet,t-1,b-1,10,EUR'
  const cases: [name: string, report: string, problem: RegExp, mapping?: ReportMapping][] = [
    ['an empty report', '', /report is empty/],
    ['an empty report of spaces', ' \n\n ', /report is empty/],
    [
      'a missing column',
      'operation,transactionId,betId,amount\n',
      /no column "currency".*Its columns are "operation"/,
    ],
    [
      'a column that the mapping names',
      `${header}\n${row}`,
      /no column "who" for playerId/,
      { columns: { playerId: 'who' } },
    ],
    [
      'a column twice',
      `${header},amount\n${row},1`,
      /line 1, column "amount": the header has this column twice/,
    ],
    [
      'too few values',
      `${header}\n${row}\nplacebet,t-2,b-2`,
      /line 3: it has 3 values, and the header has 5/,
    ],
    [
      'a value of many lines before it',
      `${header}\n"placebet","t\n1",b-1,10,EUR\n`,
      /line 2, column "transactionId": must have 1 to 255/,
    ],
    [
      'an unknown operation',
      `${header}\nBET,t-1,b-1,10,EUR`,
      /line 2, column "operation": "BET" is none of placebet/,
    ],
    ['an empty id', `${header}\nplacebet,,b-1,10,EUR`, /line 2, column "transactionId": is empty/],
    ['an empty amount of a stake', `${header}\nplacebet,t-1,b-1,,EUR`, /line 2, column "amount": is empty/],
    [
      'an amount without a currency',
      `${header}\nplacebet,t-1,b-1,10,`,
      /line 2, column "currency": is empty/,
    ],
    ['no amount', `${header}\nplacebet,t-1,b-1,ten,EUR`, /line 2, column "amount": "ten" is no decimal/],
    [
      'separators of thousands',
      `${header}\nplacebet,t-1,b-1,"1,000.00",EUR`,
      /line 2, column "amount": "1,000.00" is no decimal/,
    ],
    [
      'two minus signs',
      `${header}\nplacebet,t-1,b-1,--1,EUR`,
      /line 2, column "amount"/,
      { signs: 'player' },
    ],
    [
      'an unexpected minus',
      `${header}\nplacebet,t-1,b-1,-10,EUR`,
      /line 2, column "amount": "-10" has a minus/,
    ],
    [
      'a wrong sign',
      `${header}\nplacebet,t-1,b-1,10,EUR`,
      /line 2, column "amount": "10" has the wrong sign for a placebet/,
      { signs: 'player' },
    ],
    [
      'a decimal point instead of a comma',
      `${header}\nplacebet,t-1,b-1,1.5,EUR`,
      /line 2, column "amount".*decimal comma/,
      { decimalPoint: ',' },
    ],
    ['no currency', `${header}\nplacebet,t-1,b-1,1,€`, /line 2, column "currency": "€" is no currency code/],
    // It would be in the CSV of differences.
    [
      'a currency that a spreadsheet executes',
      `${header}\nplacebet,t-1,b-1,1,-A1`,
      /column "currency": "-A1" is no currency code/,
    ],
    [
      'an unknown type',
      `${header},type\nsettlement,t-1,b-1,1,EUR,WON`,
      /line 2, column "type": "WON" is none of BET_PAID/,
    ],
    [
      'a type of another operation',
      `${header},type\nsettlement,t-1,b-1,1,EUR,UNSCORED`,
      /line 2, column "type": UNSCORED does not fit/,
    ],
    [
      'an unknown status',
      `${header},status\n${row},PENDING`,
      /line 2, column "status": "PENDING" is none of accepted, refused/,
    ],
    [
      'no date',
      `${header},transactionDate\n${row},21.11.2026`,
      /line 2, column "transactionDate": "21.11.2026" is no ISO 8601/,
    ],
    [
      'a day that does not exist',
      `${header},transactionDate\n${row},2026-02-30T10:00:00Z`,
      /line 2, column "transactionDate"/,
    ],
    ['a quote that is not closed', `${header}\nplacebet,"t-1,b-1,10,EUR`, /line 2: a quote is not closed/],
    [
      'text after a quote',
      `${header}\nplacebet,"t-1"x,b-1,10,EUR`,
      /line 2: after the quote of value 2, a "," is missing/,
    ],
    ['no JSON', '{"operation":"placebet",\n', /line 1: no JSON object/],
    ['a list in JSON', `${jsonOf(world.rows.slice(0, 1))}\n[]`, /line 2: no JSON object/],
    [
      'a JSON number with a fraction as an id',
      jsonOf([{ ...world.rows[0], transactionId: 1.5 }]),
      /line 1, column "transactionId": must be text, not 1.5/,
    ],
    [
      'a key that the first row lacks',
      jsonOf([{ ...world.rows[0], status: undefined }, world.rows[1] ?? {}]),
      /line 2, column "status": the first row has no such key/,
    ],
    [
      'half a surrogate pair',
      jsonOf([{ ...world.rows[0], betId: 'b\ud800' }]),
      /line 1, column "betId": must have 1 to 255/,
    ],
  ]
  test.each(cases)('%s', async (_, report, problem, mapping) => {
    for (const chunks of [one(report), chunksOf(report, 1)]) {
      await expect(compare(chunks, mapping)).rejects.toMatchObject({
        name: 'ReconcileError',
        code: expect.stringMatching(/^INVALID_(?:REPORT|MAPPING)$/),
        message: expect.stringMatching(problem),
      })
    }
  })

  test('bytes that are not UTF-8, and a file that does not exist', async () => {
    const bytes = Buffer.concat([Buffer.from(`${header}\n${row}\n`), Buffer.from([0xff, 0xfe])])
    await expect(compare(one(bytes))).rejects.toThrow(/not UTF-8/)
    await expect(compare('no-such-file.csv')).rejects.toMatchObject({ code: 'INVALID_REPORT' })
  })

  test('an endless quote is found before the memory is full', async () => {
    let read = 0
    async function* endless() {
      yield `${header}\nplacebet,"`
      for (; read < 10_000; read += 1) yield 'x'.repeat(100_000)
    }
    await expect(compare(endless())).rejects.toThrow(/line 2: the record has more than 1000000 characters/)
    expect(read).toBeLessThan(20)
  })
})

describe('options', () => {
  const report = one(header)
  const valid = { report, lookups, ...day }
  test.each<[string, object, RegExp]>([
    ['an unknown option', { marginMS: 1 }, /unknown option "marginMS"/],
    ['no lookups', { lookups: {} }, /lookups must have transactions/],
    ['no report', { report: undefined }, /report must be/],
    ['another time zone', { from: '2026-11-21T00:00:00+02:00' }, /from must be a date or time in UTC/],
    ['a range that is empty', { to: day.from }, /to must be later than the start/],
    ['a margin below 0', { marginMs: -1 }, /marginMs/],
    [
      'an unknown part of the mapping',
      { mapping: { column: {} } },
      /The mapping is invalid: unknown option "column"/,
    ],
    ['an unknown field', { mapping: { columns: { bet: 'x' } } }, /unknown option "columns.bet"/],
    [
      'an operation that does not exist',
      { mapping: { operations: { X: 'bet' } } },
      /operations.X must be one of placebet/,
    ],
    [
      'a type of another operation',
      { mapping: { operations: { X: 'placebet VOIDED' } } },
      /operations.X: "placebet VOIDED" must be placebet/,
    ],
    [
      'an unknown status',
      { mapping: { statuses: { X: 'ok' } } },
      /statuses.X must be one of accepted, refused/,
    ],
    ['an unknown type', { mapping: { types: { X: 'PAID' } } }, /types.X must be one of BET_PAID/],
    ['a delimiter of two characters', { mapping: { delimiter: '::' } }, /delimiter must be one character/],
    ['an unknown point', { mapping: { decimalPoint: ';' } }, /decimalPoint must be one of/],
    ['unknown signs', { mapping: { signs: 'both' } }, /signs must be one of/],
    ['a column that is no text', { mapping: { columns: { betId: 1 } } }, /columns.betId must be the name/],
  ])('%s is refused', async (_, changes, problem) => {
    await expect(reconcile({ ...valid, ...changes } as never)).rejects.toMatchObject({
      name: 'ReconcileError',
      message: expect.stringMatching(problem),
    })
  })

  test('records that are none of the wallet’s are refused', async () => {
    const [first] = world.records
    for (const changes of [
      { delta: 'ten' },
      { operation: 'bet' },
      { recordedAt: 'today' },
      { betId: 'a\tb' },
    ]) {
      const broken = {
        ...lookupsOf([]),
        async *transactions() {
          yield { ...first, ...changes } as never
        },
      }
      await expect(reconcile({ report: one(header), lookups: broken, ...day })).rejects.toMatchObject({
        code: 'INVALID_RECORDS',
      })
    }
  })

  test('an error of the lookups is thrown as it is; a missing index only leaves bets out', async () => {
    const without = world.records.filter(({ operation }) => operation !== 'placebet')
    const failing = { ...lookupsOf(without), bet: () => Promise.reject(new Error('lost')) }
    const rows = world.rows
    const lacking = {
      ...lookupsOf(without),
      bet: () =>
        Promise.reject(Object.assign(new Error('no index on bet_id'), { code: 'LOOKUP_INDEX_MISSING' })),
    }
    await expect(
      reconcile({
        report: one(csvOf(rows)),
        lookups: failing,
        ...day,
      }),
    ).rejects.toThrow('lost')
    const result = await reconcile({ report: one(csvOf(rows)), lookups: lacking, ...day })
    expect(result.notes).toEqual(['Bets were not looked up: no index on bet_id'])
    expect(result.kinds).toMatchObject([{ kind: 'never-arrived', count: 3 }])
  })
})

test('neither side has a transaction: nothing is proved', async () => {
  const result = await reconcile({ report: one(header), lookups: lookupsOf([]), ...day })
  expect(result.verdict).toBe('nothing-compared')
})
