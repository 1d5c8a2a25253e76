/** What people read: the table and the page; and that none of it can be abused by text of a report. */
import { describe, expect, test } from 'vitest'
import { kindSentences } from '../../../src/tools/reconcile/difference.js'
import * as exported from '../../../src/tools/reconcile/index.js'
import {
  type Difference,
  formatReconciliation,
  type Reconciliation,
  renderReconciliation,
} from '../../../src/tools/reconcile/index.js'
import { expectGoodPage } from '../report/page-rules.js'
import { equalities, seeded } from './seeded.js'
import { createWorld, csvOf, day, lookupsOf, reconcileWorld, record, rowOf, type World } from './world.js'

/** A day on which a stake never arrived, a payout differs, and a bet crossed midnight. */
async function sample(): Promise<Reconciliation> {
  const world = createWorld(1)
  world.records = world.records.filter(({ transactionId }) => transactionId !== 'placebet-EUR-0')
  world.rows = world.rows.map(row =>
    row.transactionId === 'BET_PAID-EUR-0' ? { ...row, amount: '50' } : row,
  )
  const late = record('placebet', 'late', 'b', '5', {
    transactionDate: '2026-11-21T23:59:59.900Z',
    recordedAt: '2026-11-22T00:00:00.100Z',
  })
  world.records.push(late)
  world.rows.push(rowOf(late))
  return { ...(await reconcileWorld(world)), durationMs: 12 }
}

/**
 * A wrong call pays twice: the reconciliation knows what was recorded, and not what happened. So no output has a call,
 * its body or its path, and no sentence says to send or to settle.
 */
describe('no output has a call that moves money', () => {
  const call =
    /curl|WALLET_|\bsen[dt]\b|\bresend|\bretry\b (?:credits|debits)|\bsettle the\b|\/(?:placebet|settlement|unsettlement|rollbackbet)\b|"(?:repair|repairs|calls|body|path|plan|toDo)":|sessionId|repair-/i

  test.each([...seeded, ...equalities])('$name', async ({ seed }) => {
    const world = createWorld()
    seed(world)
    const lines: string[] = []
    const result = await reconcileWorld(world, {
      onDifference: each => void lines.push(JSON.stringify(each)),
    })
    const outputs = [
      formatReconciliation(result),
      renderReconciliation(result).replace(/<style>.*<\/style>/s, ''),
      JSON.stringify(result),
      ...lines,
    ]
    for (const text of outputs) {
      expect(text.match(call)).toBeNull()
      expect(text).not.toMatch(/undefined|NaN/)
    }
  })

  test('nor has any sentence of a kind, and nothing is exported that makes one', () => {
    for (const sentence of Object.values(kindSentences)) {
      expect(sentence.match(call)).toBeNull()
      expect(sentence).toMatch(/^[A-Z][^\n]*\.$/)
    }
    const names = Object.keys(exported)
    expect(names.filter(name => /repair|plan|call|known|csv|curl/i.test(name))).toEqual([])
  })
})

describe('the table', () => {
  test('has totals, kinds, differences with their bets, and the verdict as its last line', async () => {
    const lines = formatReconciliation(await sample()).split('\n')
    expect(lines.slice(0, 6)).toEqual([
      'Reconciliation of 2026-11-21T00:00:00Z to 2026-11-22T00:00:00Z',
      'Days      UTC',
      'Report    28 rows; 0 outside of the range; 0 ignored',
      'Wallet    26 transactions',
      'Agree     25',
      'Duration  12 ms',
    ])
    expect(lines).toEqual(
      expect.arrayContaining([
        '  2026-11-21  placebet      EUR            2       17.34        1       0        0.00        1      -17.34',
        '  EUR            +45.00       +57.94      +12.94',
        '  In the report, never arrived in the wallet      1                       +12.34 EUR',
        'In the report, never arrived in the wallet: 1',
        `  ${kindSentences['never-arrived']}`,
        '  +12.34 EUR  placebet placebet-EUR-0  bet bet-placebet-EUR-0, player player-of-bet-placebet-EUR-0',
        '    The bet in the wallet:',
        '      No transaction of the wallet names this bet.',
        '  b                   EUR                 1   -5.00    0.00       +5.00',
        '  player-of-b                   EUR                 1   -5.00    0.00       +5.00',
      ]),
    )
    expect(lines.at(-1)).toBe(
      'DIFFERENT: 3 differences; 25 agree, of 28 rows in the report and 26 transactions of the wallet. In total, players have 12.94 EUR more in the wallet than in the report.',
    )
  })

  test('says how many refusals are in neither count', async () => {
    const result = await sample()
    const text = formatReconciliation({ ...result, rows: { ...result.rows, refusedAlone: 4 } })
    expect(text).toContain(' of the wallet. 4 refusals of one side only changed no balance. In total, ')
  })

  test('says that there are no differences', async () => {
    const text = formatReconciliation(await reconcileWorld(createWorld(1)))
    expect(text.split('\n').at(-1)).toBe(
      'EQUAL: No differences: 27 agree, of 27 rows in the report and 27 transactions of the wallet.',
    )
  })

  test('names what is omitted, and writes control characters so that they have no effect', async () => {
    const rows = Array.from({ length: 30 }, (_, index) =>
      rowOf(record('placebet', `t-${index}`, 'b\u200b', '5')),
    )
    const text = formatReconciliation(await reconcileWorld({ rows, records: [] }, { differencesMax: 12 }))
    expect(text).toContain('… and 20 more\n')
    expect(text).toContain('18 differences are in --lines alone.\n')
    expect(text).toContain('bet b\\u200b')
  })
})

describe('the list of differences', () => {
  test('keeps the largest of each kind, counts all, and passes every one to onDifference', async () => {
    const records = Array.from({ length: 40 }, (_, index) =>
      record(
        'placebet',
        `t-${String(index).padStart(2, '0')}`,
        `b-${index % 7}`,
        String(((index * 17) % 40) + 1),
      ),
    )
    const agreed = record('placebet', 'agreed', 'b', '50')
    const all: Difference[] = []
    const result = await reconcileWorld(
      { rows: [rowOf(agreed)], records: [...records, agreed] },
      { differencesMax: 3, onDifference: each => void all.push(each) },
    )
    expect(result.differences.map(({ wallet }) => wallet?.amount)).toEqual(['40', '39', '38'])
    expect(result.differencesOmitted).toBe(37)
    expect(result.kinds).toMatchObject([{ count: 40, effects: [{ currency: 'EUR', amount: '-820' }] }])
    expect(all).toHaveLength(40)
    expect(result.bets).toHaveLength(7)
    expect(result.bets.reduce((sum, { difference }) => sum + Number(difference), 0)).toBe(-820)
    expect(result.players).toHaveLength(7)
  })

  describe('of what one side has outside of the range', () => {
    const dates = { transactionDate: '2026-11-21T23:59:59.900Z', recordedAt: '2026-11-22T00:00:00.100Z' }
    const late = record('placebet', 'late', 'b', '5', dates)
    const title = 'On another day, or outside of the range'

    test('says that both sides have it', async () => {
      const { kinds } = await reconcileWorld({ rows: [rowOf(late)], records: [late] })
      expect(kinds).toMatchObject([
        { kind: 'out-of-range', title, sentence: expect.stringContaining('Both') },
      ])
      const columns = ['operation', 'transactionId', 'betId', 'amount', 'currency'] as const
      async function* report() {
        yield csvOf([rowOf(late)], columns)
      }
      const undated = await reconcileWorld({ rows: [], records: [late] }, { report: report() })
      expect(undated.kinds).toMatchObject([{ kind: 'out-of-range', title }])
    })
  })

  test('sums bets and players of both sides, where they differ', async () => {
    const made = record('placebet', 't', 'b', '5')
    const result = await reconcileWorld({ records: [made], rows: [{ ...rowOf(made), playerId: 'ben' }] })
    expect(result.players).toMatchObject([
      { id: 'ben', report: '-5', wallet: '0', difference: '5' },
      { id: 'player-of-b', report: '0', wallet: '-5', difference: '-5' },
    ])
    expect(result.bets).toMatchObject([{ id: 'b', report: '-5', wallet: '-5', difference: '0', count: 1 }])
    const dollars = await reconcileWorld({ records: [made], rows: [{ ...rowOf(made), currency: 'USD' }] })
    expect(dollars.bets).toMatchObject([
      { id: 'b', currency: 'EUR', report: '0', wallet: '-5', difference: '-5' },
      { id: 'b', currency: 'USD', report: '-5', wallet: '0', difference: '5' },
    ])
  })
})

describe('the page', () => {
  const attack = `"'></title></style><script>alerted=1</script>`
  const pages: [string, () => Promise<Reconciliation>][] = [
    ['differences', sample],
    ['no differences', () => reconcileWorld(createWorld(1))],
    ['nothing', () => reconcileWorld({ rows: [], records: [] })],
    [
      'hostile text',
      () => {
        const odd = record('settlement', attack, `bet ${attack}`, '5', { playerId: attack })
        return reconcileWorld({ rows: [rowOf(odd)], records: [] } satisfies World)
      },
    ],
    [
      'every kind',
      async () => {
        const results: Reconciliation[] = []
        for (const { seed } of seeded) {
          const world = createWorld()
          seed(world)
          results.push(await reconcileWorld(world))
        }
        const byKind = new Map(results.flatMap(({ kinds }) => kinds).map(each => [each.kind, each]))
        return {
          ...(results[0] as Reconciliation),
          kinds: [...byKind.values()],
          differences: results.flatMap(({ differences }) => differences),
        }
      },
    ],
  ]

  test.each(pages)('is well-formed, loads nothing and runs nothing: %s', async (_, make) => {
    expectGoodPage(renderReconciliation(await make()))
  })

  test('shows no sum without money, where refusals are not counted either', async () => {
    const world = createWorld(1)
    const refusal = { errorCode: 'INVALID_CURRENCY', description: 'x' }
    const refused = { ...record('placebet', 'odd', 'odd', '0', { currency: 'sek' }), refusal }
    world.records.push(refused)
    world.rows.push(rowOf(refused), rowOf(record('rollbackbet', 'nothing', 'empty', '0')))
    const result = await reconcileWorld(world)
    expect(result.currencies.map(({ currency }) => currency)).toContain('sek')
    expect(result.bets.map(({ id }) => id)).toContain('empty')
    const text = formatReconciliation(result)
    expect(text).not.toMatch(/^ +(?:sek|empty) /m)
    expect(text).toMatch(/^ +2026-11-21 +placebet +sek +0 +0\.\S+ +1 +0 +0\.\S+ +1 /m)
  })

  test('has the verdict, the totals, each difference with its bet, and what was not compared', async () => {
    const page = renderReconciliation(await sample())
    expect(page).toContain('<h1>Different</h1>')
    expect(page).toContain('In the report, never arrived in the wallet: 1')
    expect(page).toContain('No transaction of the wallet names this bet.')
    expect(page).toContain('<title>Different: Reconciliation of 2026-11-21T00:00:00Z to')
    const equal = renderReconciliation(await reconcileWorld(createWorld(1)))
    expect(equal).toContain('<h1>Equal</h1>')
    expect(equal).not.toContain('<article')
    const world = createWorld(1)
    async function* report() {
      yield csvOf(world.rows, ['operation', 'transactionId', 'betId', 'amount', 'currency'])
    }
    const { transactions } = lookupsOf(world.records)
    const partial = renderReconciliation(
      await reconcileWorld(world, { report: report(), lookups: { transactions }, ...day }),
    )
    expect(partial).toContain('The report has no players')
  })
})

describe('a difference states what each side says of it', () => {
  const made = record('settlement', 's', 'b', '5')
  const agreed = record('placebet', 'agreed', 'b', '9')
  const dated = 'dated 2026-11-21T12:00:00.100Z'
  const inWallet = `In the wallet: 5.00 EUR, ${dated}, recorded at 2026-11-21T12:00:00.100Z.`
  const refusal = { errorCode: 'INSUFFICIENT_FUNDS', description: 'x' }
  test.each<[string, World, string]>([
    [
      'missing',
      { rows: [rowOf(agreed)], records: [agreed, made] },
      `The report does not have it. ${inWallet}`,
    ],
    ['twice in the wallet', { rows: [rowOf(made)], records: [made, made] }, inWallet],
    [
      'other values',
      {
        rows: [{ ...rowOf(made), playerId: 'ben', betId: 'c', type: 'VOIDED', amount: '7' }],
        records: [made],
      },
      `In the report, line 2: 7.00 EUR, player ben, bet c, type VOIDED, ${dated}. In the wallet: 5.00 EUR, player player-of-b, bet b, type BET_PAID, ${dated}, recorded at 2026-11-21T12:00:00.100Z.`,
    ],
    [
      'refused by the platform',
      { rows: [{ ...rowOf(made), status: 'refused' }], records: [made] },
      `In the report, line 2: refused, ${dated}. ${inWallet}`,
    ],
    [
      'refused by the wallet',
      { rows: [{ ...rowOf(made), status: 'accepted' }], records: [{ ...made, delta: '0', refusal }] },
      `In the report, line 2: 5.00 EUR, ${dated}. In the wallet: refused with INSUFFICIENT_FUNDS, ${dated}, recorded at 2026-11-21T12:00:00.100Z.`,
    ],
    [
      'on another day',
      { rows: [rowOf(made)], records: [{ ...made, recordedAt: '2026-11-22T00:00:00.100Z' }] },
      `In the report, line 2: 5.00 EUR, ${dated}. In the wallet: 5.00 EUR, ${dated}, outside of the range, recorded at 2026-11-22T00:00:00.100Z.`,
    ],
  ])('%s', async (_, world, explanation) => {
    const { differences } = await reconcileWorld(world)
    expect(differences.map(each => each.explanation)).toEqual([explanation])
  })
})
