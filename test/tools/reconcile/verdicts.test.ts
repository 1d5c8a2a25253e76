/** Never "no differences" where money differs, and never a difference named as something else. */
import { describe, expect, test } from 'vitest'
import { formatReconciliation, type ReportMapping, reconcile } from '../../../src/tools/reconcile/index.js'
import { chunksOf, createWorld, day, foundIn, lookupsOf, reconcileWorld, record, rowOf } from './world.js'

const compare = (report: string, records: ReturnType<typeof record>[], mapping: ReportMapping = {}) =>
  reconcile({ report: chunksOf(report), lookups: lookupsOf(records), ...day, mapping })

const stake = record('placebet', 't', 'b', '50')
const header = 'operation,transactionId,betId,amount,currency'

describe('a currency that the report states beside an empty amount', () => {
  test.each([
    record('unsettlement', 't', 'b', '50', { currency: 'USD' }),
    record('rollbackbet', 't', 'b', '50', { currency: 'USD' }),
  ])('is compared: $operation', async made => {
    const row = { ...rowOf(made), amount: '', currency: 'EUR' }
    const result = await reconcileWorld({ rows: [row], records: [made] })
    expect(foundIn(result)).toEqual([`other-currency: ${made.operation} t`])
    expect(result.verdict).toBe('different')
    // Empty, it is that of the record.
    expect((await reconcileWorld({ rows: [{ ...row, currency: '' }], records: [made] })).verdict).toBe(
      'equal',
    )
  })
})

describe('what the report says twice is an error', () => {
  test.each([
    [
      'the amount',
      'note,note,operation,transactionId,betId,amount,amount,currency',
      'x,y,placebet,t,b,50,70,EUR',
      'amount',
    ],
    [
      'the status',
      'a,a,b,b,operation,transactionId,betId,amount,currency,status,status',
      '1,2,3,4,placebet,t,b,50,EUR,accepted,refused',
      'status',
    ],
  ])('a column behind another duplicate: %s', async (_, head, row, column) => {
    await expect(compare(`${head}\n${row}`, [stake])).rejects.toThrow(
      `line 1, column "${column}": the header has this column twice`,
    )
  })

  test('but not a column that no value is read from', async () => {
    expect((await compare(`note,note,${header}\nx,y,placebet,t,b,50,EUR`, [stake])).verdict).toBe('equal')
  })

  test.each([
    [
      '{"amount":"70","operation":"placebet","transactionId":"t","betId":"b","amount":"50","currency":"EUR"}',
      'amount',
    ],
    [
      '{"operation":"placebet","transactionId":"t","betId":"b","amount":50,"currency":"EUR","am\\u006funt":70}',
      'amount',
    ],
    [
      '{"operation":"placebet","transactionId":"t","betId":"b","amount":50.1234567890123456,"currency":"EUR","currency":"USD"}',
      'currency',
    ],
  ])('a key of a JSON line: %s', async (line, key) => {
    await expect(compare(line, [stake])).rejects.toThrow(
      `line 1, column "${key}": the line has this key twice`,
    )
  })

  test('but not a key of an inner object, or text that looks like one', async () => {
    const line =
      '{"operation":"placebet","transactionId":"t","betId":"b","amount":50,"currency":"EUR","more":{"a":1,"amount":2,"a":3},"note":"\\"amount\\":70,\\"amount\\":1"}'
    expect((await compare(line, [stake])).verdict).toBe('equal')
  })
})

test.each(['["50"]', '{"value":"50"}', '[[50]]', 'true'])(
  'an amount that is %s is an error',
  async amount => {
    const line = `{"operation":"placebet","transactionId":"t","betId":"b","amount":${amount},"currency":"EUR"}`
    await expect(compare(line, [stake])).rejects.toThrow(/line 1, column "amount": must be a number or text/)
  },
)

describe('an empty word is a word', () => {
  const row = 'placebet,t,b,50,EUR,'
  test.each<[ReportMapping, string[]]>([
    [{ statuses: { '': 'refused' } }, ['refused-by-platform: placebet t']],
    [{ statuses: { '': null } }, ['missing-in-report: placebet t']],
    [{ statuses: { '': 'accepted' } }, []],
  ])('as a status: %j', async (mapping, expected) => {
    const other = record('placebet', 'u', 'c', '1')
    const report = `${header},status\n${row}\nplacebet,u,c,1,EUR,accepted`
    expect(foundIn(await compare(report, [stake, other], mapping))).toEqual(expected)
  })

  test('as a status that the mapping does not name: an error, in CSV and in JSON', async () => {
    const problem = /column "status": "" is none of accepted, refused/
    await expect(compare(`${header},status\n${row}`, [stake])).rejects.toThrow(problem)
    const line = { operation: 'placebet', transactionId: 't', betId: 'b', amount: 50, currency: 'EUR' }
    const lines = [{ ...line, transactionId: 'u', status: 'accepted' }, line]
    await expect(compare(lines.map(each => JSON.stringify(each)).join('\n'), [stake])).rejects.toThrow(
      problem,
    )
  })

  test('as a type', async () => {
    const win = record('settlement', 't', 'b', '50', { type: 'BET_PAID' })
    const report = `${header},type\nsettlement,t,b,50,EUR,`
    expect(foundIn(await compare(report, [win], { types: { '': 'VOIDED' } }))).toEqual([
      'other-type: settlement t',
    ])
    expect(foundIn(await compare(report, [win]))).toEqual([])
  })

  test('as an operation', async () => {
    const report = `${header}\n,t,b,50,EUR`
    expect(foundIn(await compare(report, [stake], { operations: { '': 'placebet' } }))).toEqual([])
    await expect(compare(report, [stake])).rejects.toThrow(/column "operation": "" is none of/)
  })
})

test('a type that contradicts the word of the operation is an error', async () => {
  const win = record('settlement', 't', 'b', '50')
  const mapping: ReportMapping = { operations: { WIN: 'settlement BET_PAID' } }
  const report = (type: string) => `${header},type\nWIN,t,b,50,EUR,${type}`
  await expect(compare(report('VOIDED'), [win], mapping)).rejects.toThrow(
    /line 2, column "type": VOIDED contradicts the operation "WIN", which is settlement BET_PAID/,
  )
  for (const type of ['BET_PAID', '']) {
    expect((await compare(report(type), [win], mapping)).verdict).toBe('equal')
  }
})

describe('an imported transaction whose bet was not imported', () => {
  const imported = (operation: 'rollbackbet' | 'unsettlement', delta: string) => ({
    ...record(operation, 't', 'b', '5'),
    accountCurrency: null,
    delta,
  })
  test.each([imported('rollbackbet', '5'), imported('unsettlement', '-5')])(
    'has the currency of its row: $operation',
    async made => {
      const row = { ...rowOf(made), currency: 'EUR' }
      const equal = await reconcileWorld({ rows: [row], records: [made] })
      expect(foundIn(equal)).toEqual([])
      expect(equal.currencies).toMatchObject([{ currency: 'EUR', difference: '0' }])
      const other = await reconcileWorld({ rows: [{ ...row, amount: '6' }], records: [made] })
      expect(foundIn(other)).toEqual([`other-amount: ${made.operation} t`])
      const alone = await reconcileWorld({ rows: [rowOf(stake)], records: [stake, made] })
      expect(alone.verdict).toBe('different')
      // What is filled in leaves the sum of the currency that is not known.
      const records = [made, { ...made, transactionId: 'u' }]
      const { currencies } = await reconcileWorld({ rows: [row], records })
      expect(currencies.find(({ currency }) => currency === null)?.difference).toBe(made.delta)
      const stated = { ...row, amount: '', currency: '' }
      expect((await reconcileWorld({ rows: [stated], records: [made] })).verdict).toBe('equal')
      const outside = { ...made, recordedAt: '2026-11-22T00:00:01.000Z' }
      expect(foundIn(await reconcileWorld({ rows: [row], records: [outside] }))).toEqual([
        `out-of-range: ${made.operation} t`,
      ])
    },
  )
})

describe('two rows of one id, one of them refused', () => {
  const refusal = { errorCode: 'INSUFFICIENT_FUNDS', description: 'x' }
  const orders = [(rows: unknown[]) => rows, (rows: unknown[]) => rows.toReversed()]
  test.each([
    ['placebet', 'refused-by-wallet'],
    ['unsettlement', 'uncollected-clawback'],
  ] as const)('which the wallet refused: %s', async (operation, kind) => {
    const made = { ...record(operation, 't', 'b', '5'), refusal, delta: '0' }
    const row = { ...rowOf(made), amount: '5' }
    for (const order of orders) {
      const rows = order([row, { ...row, status: 'accepted' }]) as (typeof row)[]
      expect(foundIn(await reconcileWorld({ rows, records: [made] }))).toEqual([`${kind}: ${operation} t`])
    }
  })

  test('which the wallet accepted with another amount', async () => {
    const row = rowOf(stake)
    for (const order of orders) {
      const rows = order([
        { ...row, status: 'refused' },
        { ...row, amount: '60' },
      ]) as (typeof row)[]
      expect(foundIn(await reconcileWorld({ rows, records: [stake] }))).toEqual(['other-amount: placebet t'])
    }
  })
})

test('a transaction that the sides count on different days of the range is a difference', async () => {
  const late = { transactionDate: '2026-11-21T23:59:59.900Z', recordedAt: '2026-11-22T00:00:00.100Z' }
  const made = record('placebet', 'late', 'b', '5', late)
  const range = { to: '2026-11-23T00:00:00.000Z' }
  const result = await reconcileWorld({ rows: [rowOf(made)], records: [made] }, range)
  expect(foundIn(result)).toEqual(['out-of-range: placebet late'])
  expect(result.totals.map(({ day, difference }) => [day, difference])).toEqual([
    ['2026-11-21', '-5'],
    ['2026-11-22', '5'],
  ])
})

test('the currency of what both sides refused is not compared: no money moved', async () => {
  const refusal = { errorCode: 'INVALID_CURRENCY', description: 'x' }
  const refused = { ...record('placebet', 'r', 'b', '5'), refusal, delta: '0' }
  const rows = [rowOf(stake), { ...rowOf(refused), currency: 'USD' }]
  expect((await reconcileWorld({ rows, records: [stake, refused] })).verdict).toBe('equal')
})

test.each(['1234567890123456', '1e16', '0.1234567890123456789'])(
  'an amount that no wallet accepts is an error: %s',
  async amount => {
    await expect(compare(`${header}\nplacebet,t,b,${amount},EUR`, [stake])).rejects.toThrow(
      /line 2, column "amount": ".*" has more than 15 digits before the point, or 18 after it/,
    )
  },
)

describe('a value that only some rows state', () => {
  const win = record('settlement', 'w', 'b', '60')
  const clawback = record('unsettlement', 'u', 'b', '60')
  const records = [stake, win, clawback]
  const rows = [rowOf(stake), { ...rowOf(win), type: '' }, { ...rowOf(clawback), amount: '', playerId: '' }]

  test('is not compared where it is missing, and the result says so', async () => {
    const { verdict, notes } = await reconcileWorld({ rows, records })
    expect(verdict).toBe('equal')
    expect(notes).toEqual([
      '1 row states no amount: what the wallet moved is counted.',
      '1 row states no player: it is not compared.',
      '1 row states no type: it is not compared.',
    ])
    const again = [{ ...rowOf(stake), playerId: '' }, ...rows.slice(1)]
    expect((await reconcileWorld({ rows: again, records })).notes[1]).toBe(
      '2 rows state no player: it is not compared.',
    )
    // Outside of the range, nothing is compared.
    const outside = rows.map(row => ({ ...row, transactionDate: '2026-11-20T12:00:00Z' }))
    expect((await reconcileWorld({ rows: outside, records: [] })).notes).toEqual([])
    expect((await reconcileWorld({ rows: records.map(rowOf), records })).notes).toEqual([])
  })

  test('a range that ends less than a minute ago may lack calls, and the result says so', async () => {
    const { notes } = await reconcileWorld(createWorld(1), { to: new Date().toISOString() })
    expect(notes).toEqual([
      'The range ends less than a minute ago: a call whose commit was still running then is missing in the wallet. Compare again in a minute.',
    ])
  })

  test('is an error, if it is a date: the row would count in any range', async () => {
    await expect(
      reconcileWorld({ rows: [rowOf(stake), { ...rowOf(win), transactionDate: '' }], records }),
    ).rejects.toThrow(/line 3, column "transactionDate": is empty/)
  })
})

describe('where one side alone has refusals, and nothing else is there', () => {
  const refusal = { errorCode: 'INSUFFICIENT_FUNDS', description: 'x' }
  const refused = ['r-1', 'r-2'].map(id => ({ ...record('placebet', id, 'b', '5'), refusal, delta: '0' }))

  test('of the report, or other ones of each: nothing was compared', async () => {
    const [one, other] = refused.map(each => [each])
    for (const [rows = [], records = [], sentence] of [
      [refused, [], '2 rows in the report and 0 transactions of the wallet are refusals of one side only'],
      [one, other, '1 row in the report and 1 transaction of the wallet are refusals of one side only'],
    ] as const) {
      const result = await reconcileWorld({ rows: rows.map(rowOf), records: [...records] })
      expect(result.verdict).toBe('nothing-compared')
      expect(formatReconciliation(result)).toMatch(new RegExp(`^NOTHING COMPARED: ${sentence}`, 'm'))
    }
  })

  test('of the wallet: the report is not that of the range', async () => {
    const { verdict, wrongReport } = await reconcileWorld({ rows: [], records: refused })
    expect([verdict, wrongReport?.kind]).toEqual(['wrong-report', 'no-rows'])
  })

  test('a refusal that both sides have is compared', async () => {
    const result = await reconcileWorld({ rows: refused.map(rowOf), records: refused.slice(1) })
    expect([result.verdict, result.rows.refusedAlone]).toEqual(['equal', 1])
  })

  test('what your own code has credited is compared', async () => {
    const win = rowOf(record('settlement', 'w', 'b', '60'))
    const result = await reconcileWorld({ rows: [win], records: [], credits: { b: '60' } })
    expect([result.verdict, result.rows.creditedByOwnCode]).toEqual(['equal', 1])
  })
})
