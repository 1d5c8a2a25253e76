/** What people read: the table, the page, the calls; and that none of it can be abused by text of a report. */
import { describe, expect, test } from 'vitest'
import { createRequestParser } from '../../../src/requests.js'
import {
  type Difference,
  formatReconciliation,
  type Reconciliation,
  renderReconciliation,
} from '../../../src/tools/reconcile/index.js'
import { tagsOf } from '../html/markup-reader.js'
import { seeded } from './seeded.js'
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

const parser = createRequestParser()
const operationOf = {
  '/placebet': 'placebet',
  '/settlement': 'settlement',
  '/unsettlement': 'unsettlement',
  '/rollbackbet': 'rollbackbet',
} as const

describe('the calls of repairs', () => {
  test.each(seeded)(
    'are valid calls of the interface, and are in the curl commands: $name',
    async ({ seed }) => {
      const world = createWorld()
      seed(world)
      const result = await reconcileWorld(world)
      const { differences } = result
      for (const text of [formatReconciliation(result), renderReconciliation(result)])
        expect(text).not.toMatch(/(?:Nothing to|To) do.*Nothing to do/)
      for (const { repair } of differences) {
        expect(repair.text).not.toMatch(/undefined|null|NaN/)
        for (const { path, body, curl } of repair.calls) {
          expect(parser[operationOf[path]](body)).toHaveProperty('request')
          expect(curl).toMatch(new RegExp(`"\\$WALLET_URL(?:_WITHOUT_CLAWBACKS)?${path}"`))
          expect(curl).toContain(`'${JSON.stringify(body)}'`)
        }
      }
    },
  )

  test('are left out where the report does not say what they need', async () => {
    const world = createWorld(1)
    const without = { ...world, records: world.records.filter(({ operation }) => operation !== 'settlement') }
    async function* report() {
      yield csvOf(without.rows, ['operation', 'transactionId', 'betId', 'amount', 'currency'])
    }
    const { differences } = await reconcileWorld(without, { report: report() })
    const missing = differences.filter(({ kind }) => kind === 'never-arrived')
    expect(missing.length).toBeGreaterThan(5)
    for (const { repair } of missing) expect(repair.calls).toEqual([])
  })

  test('of a placebet name the sessionId that the hook must let pass', async () => {
    const result = await reconcileWorld({ rows: [rowOf(record('placebet', 't', 'b', '5'))], records: [] })
    const [{ repair } = {}] = result.differences
    expect(repair?.calls[0]?.body.sessionId).toBe('reconciliation')
    expect(repair?.text).toBe(
      'If the platform keeps the bet, send the placebet: it is a retry, so it debits once, if funds suffice. Otherwise the platform cancels the bet. Ask it, unless you have restored the database: then it keeps what it counts. Let the sessionId "reconciliation" pass your authorizeRequest first: its refusal would be final.',
    )
  })

  test('keep a quote of an id inside of its word of the shell', async () => {
    const odd = record('placebet', "it's", 'b', '5')
    const result = await reconcileWorld({ rows: [rowOf(odd)], records: [] })
    expect(result.differences[0]?.repair.calls[0]?.curl).toContain(`"it'\\''s"`)
  })
})

describe('the table', () => {
  test('has totals, kinds, differences with their repairs, and the verdict as its last line', async () => {
    const text = formatReconciliation(await sample())
    expect(text.split('\n').slice(0, 12)).toEqual([
      'From 2026-11-21T00:00:00Z to 2026-11-22T00:00:00Z. Report: 28 rows; 0 outside of the range; 0 ignored. Wallet: 26 transactions.',
      '',
      expect.stringMatching(/^Day +Operation +Currency +Report +Amount +Wallet +Amount +Difference$/),
      expect.stringMatching(/^2026-11-21 {2}placebet +BTC +1 +0\.00012345 +1 +0\.00012345 +0\.00000000$/),
      expect.stringMatching(/^2026-11-21 {2}placebet +EUR +2 +17\.34 +0 +0\.00 +-17\.34$/),
      ...Array(7).fill(expect.stringMatching(/^2026-11-21 /)),
    ])
    expect(text).toContain('In the report, never arrived in the wallet  ')
    expect(text).toMatch(/^ {2}placebet placebet-EUR-0, bet bet-placebet-EUR-0, player \S+: \+12\.34 EUR$/m)
    expect(text).toMatch(
      /^ {4}curl -i -u "\$WALLET_USER:\$WALLET_PASSWORD" -H 'Content-Type: application\/json' --data-binary/m,
    )
    expect(text).toMatch(/^ {4}Nothing to do: /m)
    expect(text.split('\n').at(-1)).toBe(
      'DIFFERENT: 3 differences, 2 to clear up; 25 agree, of 28 rows in the report and 26 transactions of the wallet. In total, players have 12.94 EUR more in the wallet than in the report. (12 ms)',
    )
  })

  test('says how many refusals are in neither count', async () => {
    const result = await sample()
    const text = formatReconciliation({ ...result, rows: { ...result.rows, refusedAlone: 4 } })
    expect(text).toContain(' of the wallet. 4 refusals of one side only changed no balance. In total, ')
  })

  test('says that there are no differences', async () => {
    const text = formatReconciliation(await reconcileWorld(createWorld(1)))
    expect(text.split('\n').at(-1)).toMatch(
      /^EQUAL: No differences: 27 agree, of 27 rows in the report and 27 transactions of the wallet\. \(/,
    )
  })

  test('names what is omitted, and writes control characters so that they have no effect', async () => {
    const rows = Array.from({ length: 30 }, (_, index) =>
      rowOf(record('placebet', `t-${index}`, 'b\u200b', '5')),
    )
    const text = formatReconciliation(await reconcileWorld({ rows, records: [] }))
    expect(text).toContain('… and 20 more: --json has them in this order, --lines in none\n')
    const others = Array.from({ length: 30 }, (_, index) => record('placebet', `t-${index}`, 'b', '5'))
    // At the same moment as the others: the report has no gap.
    const agreed = record('placebet', 'agreed', 'b', '5')
    const otherText = formatReconciliation(
      await reconcileWorld({ rows: [rowOf(agreed)], records: [...others, agreed] }),
    )
    expect(otherText).toContain('… and 20 more: --json and --lines have them\n')
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
    const all: Difference[] = []
    const result = await reconcileWorld(
      { rows: [], records },
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

  describe('of what never arrived', () => {
    // Sent in another order, a stake that was paid from a win is refused, finally.
    const missing = [
      record('placebet', 'late-stake', 'b-2', '90', { transactionDate: '2026-11-21T12:02:00.000Z' }),
      record('settlement', 'win', 'b-1', '80', { transactionDate: '2026-11-21T12:01:00.000Z' }),
      record('unsettlement', 'reversal', 'b-1', '80', { transactionDate: '2026-11-21T12:03:00.000Z' }),
      record('settlement', 'lost-bet', 'b-3', '0', { transactionDate: '2026-11-21T12:00:00.000Z' }),
      record('placebet', 'stake', 'b-1', '10', { transactionDate: '2026-11-21T12:00:00.000Z' }),
      record('rollbackbet', 'last', 'b-2', '90', { transactionDate: '2026-11-21T12:04:00.000Z' }),
    ].map(rowOf)
    const idsOf = ({ differences }: Reconciliation) => differences.map(({ report }) => report?.transactionId)

    test('is in the order in which it must be sent: that of the dates', async () => {
      const result = await reconcileWorld({ rows: missing, records: [] })
      expect(idsOf(result)).toEqual(['stake', 'lost-bet', 'win', 'late-stake', 'reversal', 'last'])
      const text = 'Send these calls before those of other differences, in this order, by their dates.'
      expect(formatReconciliation(result)).toContain(`In the report, never arrived in the wallet\n  ${text}`)
      expect(renderReconciliation(result)).toContain(text)
    })

    test('keeps the first of them, not the largest', async () => {
      const result = await reconcileWorld({ rows: missing, records: [] }, { differencesMax: 2 })
      expect(idsOf(result)).toEqual(['stake', 'lost-bet'])
    })

    test('is by operation where the report has no dates, which both outputs say', async () => {
      const columns = [
        'operation',
        'transactionId',
        'betId',
        'playerId',
        'type',
        'amount',
        'currency',
      ] as const
      async function* report() {
        yield csvOf(missing, columns)
      }
      const result = await reconcileWorld({ rows: [], records: [] }, { report: report() })
      expect(idsOf(result)).toEqual(['late-stake', 'stake', 'win', 'lost-bet', 'reversal', 'last'])
      const text = 'The report has no dates, so these are by operation, placebets first. Get one with dates:'
      expect(formatReconciliation(result)).toContain(text)
      expect(renderReconciliation(result)).toContain(text)
    })
  })

  describe('of what one side has outside of the range', () => {
    const dates = { transactionDate: '2026-11-21T23:59:59.900Z', recordedAt: '2026-11-22T00:00:00.100Z' }
    const late = record('placebet', 'late', 'b', '5', dates)
    const title = 'On another day, or outside of the range'

    test('says that both sides have it', async () => {
      const { kinds, differences } = await reconcileWorld({ rows: [rowOf(late)], records: [late] })
      expect(kinds).toMatchObject([{ kind: 'out-of-range', title }])
      expect(differences[0]?.repair.text).toBe(
        'Both sides have it: the sums of this range and its neighbour together agree.',
      )
    })

    test('says to widen the range where the report has no dates', async () => {
      const columns = ['operation', 'transactionId', 'betId', 'amount', 'currency'] as const
      async function* report() {
        yield csvOf([rowOf(late)], columns)
      }
      const { kinds, differences } = await reconcileWorld({ rows: [], records: [late] }, { report: report() })
      expect(kinds).toMatchObject([{ kind: 'out-of-range', title }])
      expect(differences[0]?.repair.text).toBe(
        'Both sides have it. Widen the range (--from, --to), and compare again.',
      )
    })

    test('says to look into the other report where this one does not have it', async () => {
      const early = record('placebet', 'early', 'b', '5', {
        transactionDate: '2026-11-20T23:59:59.900Z',
        recordedAt: '2026-11-21T00:00:00.100Z',
      })
      const { kinds, differences } = await reconcileWorld({ rows: [], records: [early] })
      expect(kinds).toMatchObject([{ kind: 'missing-in-report', open: 1 }])
      expect(differences[0]?.explanation).not.toContain('the platform dates it')
      expect(differences[0]?.repair).toMatchObject({
        by: 'operator',
        text: expect.stringMatching(/^Its date is outside of this range/),
        calls: [],
      })
    })
  })

  test('sums bets and players of both sides, where they differ', async () => {
    const made = record('placebet', 't', 'b', '5')
    const result = await reconcileWorld({ records: [made], rows: [{ ...rowOf(made), playerId: 'ben' }] })
    expect(result.players).toMatchObject([
      { id: 'ben', report: '-5', wallet: '0', difference: '5' },
      { id: 'player-of-b', report: '0', wallet: '-5', difference: '-5' },
    ])
    expect(result.bets).toMatchObject([{ id: 'b', report: '-5', wallet: '-5', difference: '0' }])
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
    const page = renderReconciliation(await make())
    const tags = tagsOf(page)
    const ids = tags.flatMap(({ attributes }) => attributes.id ?? [])
    expect(new Set(ids).size).toBe(ids.length)
    for (const { attributes } of tags) {
      if (attributes.href !== undefined) expect(ids).toContain(attributes.href.slice(1))
    }
    const loading = ['script', 'link', 'img', 'iframe', 'object', 'embed', 'base', 'form']
    expect(tags.filter(({ name }) => loading.includes(name))).toEqual([])
    const names = new Set(tags.flatMap(({ attributes }) => Object.keys(attributes)))
    expect([...names].filter(name => /^on|^src|^style$|^action$/.test(name))).toEqual([])
  })

  test('names each value of a wide table, for narrow windows', async () => {
    const page = renderReconciliation(await sample())
    const tables = page.split('<table class="wide">').slice(1)
    expect(tables).toHaveLength(4)
    for (const table of tables) {
      const rows = (table.split('</table>')[0] ?? '').split('<tr>').slice(1)
      const columns = rows[0]?.match(/<th /g)?.length ?? 0
      for (const row of rows.slice(1)) expect(row.match(/ data-name="[^"]+"/g)).toHaveLength(columns - 1)
    }
    // A cell without a class has the colour of the verdict.
    expect(page).not.toContain('<td>')
  })

  test('shows no line without money, where refusals are not counted either', async () => {
    const world = createWorld(1)
    const refusal = { errorCode: 'INVALID_CURRENCY', description: 'x' }
    const refused = { ...record('placebet', 'odd', 'odd', '0', { currency: 'sek' }), refusal }
    world.records.push(refused)
    world.rows.push(rowOf(refused), rowOf(record('rollbackbet', 'nothing', 'empty', '0')))
    const result = await reconcileWorld(world)
    expect(result.currencies.map(({ currency }) => currency)).toContain('sek')
    expect(result.bets.map(({ id }) => id)).toContain('empty')
    expect(formatReconciliation(result)).not.toContain(' sek ')
    const page = renderReconciliation(result)
    expect(page).not.toContain('<th scope="row">sek</th>')
    expect(page).not.toContain('<th scope="row">empty</th>')
  })

  test('has the verdict, the totals, each difference with its call, and what was not compared', async () => {
    const page = renderReconciliation(await sample())
    expect(page).toContain('<h1>Different</h1>')
    expect(page).toContain('In the report, never arrived in the wallet: 1')
    expect(page).toContain('$WALLET_URL/placebet')
    expect(page).toContain('<title>Different: reconciliation of 2026-11-21T00:00:00.000Z to')
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
