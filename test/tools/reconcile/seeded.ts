/** Differences of every kind, seeded into a world that has none. */
import type { RecordedTransaction } from '../../../src/lookups/records.js'
import { currencies, type Row, record, rowOf, transactionKinds, type World } from './world.js'

/** A seeded difference. */
export interface Seeded {
  name: string
  /** Changes the world. */
  seed(world: World): void
  /** What has to be found: `kind: operation transactionId`. */
  expected: string[]
  /** Per currency, what players have more in the wallet than in the report. */
  effects: Record<string, string>
}

type What = (typeof transactionKinds)[number]

const operationOf = (what: What) =>
  ({
    placebet: 'placebet',
    BET_PAID: 'settlement',
    VOIDED: 'settlement',
    CASHOUT: 'settlement',
    UNSCORED: 'unsettlement',
    UNVOIDED: 'unsettlement',
    rollbackbet: 'rollbackbet',
  })[what]

const find = <T extends { transactionId: string }>(list: T[], id: string): T => {
  const found = list.find(({ transactionId }) => transactionId === id)
  if (found === undefined) throw new Error(`no ${id}`)
  return found
}
const remove = <T extends { transactionId: string }>(list: T[], id: string): T => {
  const [removed] = list.splice(list.indexOf(find(list, id)), 1)
  return removed as T
}

/** In the currency, as a change of the player's balance: a debit is negative. */
const effectOf = (what: What, currency: string) => {
  const isDebit = ['placebet', 'UNSCORED', 'UNVOIDED'].includes(what)
  const small = { EUR: '12.34', JPY: '1500', BTC: '0.00012345' }[currency] ?? ''
  const large = { EUR: '45.6', JPY: '2800', BTC: '0.00300001' }[currency] ?? ''
  const amount = ['BET_PAID', 'CASHOUT', 'UNSCORED'].includes(what) ? large : small
  return isDebit ? `-${amount}` : amount
}
const negated = (amount: string) => (amount.startsWith('-') ? amount.slice(1) : `-${amount}`)

/** One case per kind of transaction and currency. */
function each(
  kind: string,
  kinds: readonly What[],
  of: readonly string[],
  seed: (world: World, id: string, what: What, currency: string) => void,
  effects: (what: What, currency: string) => Record<string, string>,
): Seeded[] {
  return kinds.flatMap(what =>
    of.map(currency => {
      const id = `${what}-${currency}-1`
      return {
        name: `${kind}: ${what} in ${currency}`,
        seed: (world: World) => seed(world, id, what, currency),
        expected: [`${kind}: ${operationOf(what)} ${id}`],
        effects: effects(what, currency),
      }
    }),
  )
}

const none = () => ({})
const all = transactionKinds
const refusal = (errorCode: string) => ({ refusal: { errorCode, description: 'refused' }, delta: '0' })

function change<T extends object>(target: T, changes: Partial<T>): void {
  Object.assign(target, changes)
}

const oneSided: Seeded[] = [
  ...each(
    'never-arrived',
    all,
    currencies,
    ({ records }, id) => void remove(records, id),
    (what, currency) => ({ [currency]: negated(effectOf(what, currency)) }),
  ),
  ...each(
    'missing-in-report',
    all,
    currencies,
    ({ rows }, id) => void remove(rows, id),
    (what, currency) => ({ [currency]: effectOf(what, currency) }),
  ),
  ...each(
    'refused-by-platform',
    all,
    ['EUR', 'JPY'],
    ({ rows }, id) => change(find(rows, id), { status: 'refused' }),
    (what, currency) => ({ [currency]: effectOf(what, currency) }),
  ),
  ...each(
    'refused-by-wallet',
    ['placebet'],
    currencies,
    ({ records }, id) => change(find(records, id), refusal('INSUFFICIENT_FUNDS')),
    (what, currency) => ({ [currency]: negated(effectOf(what, currency)) }),
  ),
  ...each(
    'uncollected-clawback',
    ['UNSCORED', 'UNVOIDED'],
    currencies,
    ({ records }, id) => change(find(records, id), refusal('INSUFFICIENT_FUNDS')),
    (what, currency) => ({ [currency]: negated(effectOf(what, currency)) }),
  ),
]

const values: Seeded[] = [
  ...each(
    'other-amount',
    all,
    ['EUR'],
    ({ rows }, id) => change(find(rows, id), { amount: '100' }),
    what => ({
      EUR: {
        ...{ placebet: '87.66', BET_PAID: '-54.4', VOIDED: '-87.66', CASHOUT: '-54.4' },
        ...{ UNSCORED: '54.4', UNVOIDED: '87.66', rollbackbet: '-87.66' },
      }[what],
    }),
  ),
  ...each(
    'other-amount',
    all,
    ['BTC'],
    ({ rows }, id) => change(find(rows, id), { amount: find(rows, id).amount.replace(/.$/, '0') }),
    what => ({
      BTC: {
        ...{ placebet: '-0.00000005', BET_PAID: '0.00000001', VOIDED: '0.00000005', CASHOUT: '0.00000001' },
        ...{ UNSCORED: '-0.00000001', UNVOIDED: '-0.00000005', rollbackbet: '0.00000005' },
      }[what],
    }),
  ),
  ...each(
    'other-currency',
    all,
    ['EUR'],
    ({ rows }, id) => change(find(rows, id), { currency: 'USD' }),
    what => ({ EUR: effectOf(what, 'EUR'), USD: negated(effectOf(what, 'EUR')) }),
  ),
  ...each(
    'other-player',
    all,
    ['EUR'],
    ({ rows }, id) => change(find(rows, id), { playerId: 'someone-else' }),
    none,
  ),
  ...each(
    'other-bet',
    all,
    ['EUR'],
    ({ rows }, id) => change(find(rows, id), { betId: 'another-bet' }),
    none,
  ),
  ...each(
    'other-type',
    ['BET_PAID', 'VOIDED', 'CASHOUT'],
    ['EUR'],
    ({ rows }, id, what) => change(find(rows, id), { type: what === 'VOIDED' ? 'BET_PAID' : 'VOIDED' }),
    none,
  ),
  ...each(
    'other-type',
    ['UNSCORED', 'UNVOIDED'],
    ['EUR'],
    ({ rows }, id, what) => change(find(rows, id), { type: what === 'UNSCORED' ? 'UNVOIDED' : 'UNSCORED' }),
    none,
  ),
]

const copies: Seeded[] = [
  ...each(
    'duplicate-in-report',
    all,
    ['EUR', 'BTC'],
    ({ rows }, id) => void rows.push({ ...find(rows, id) }),
    (what, currency) => ({ [currency]: negated(effectOf(what, currency)) }),
  ),
  ...each(
    'conflicting-in-report',
    all,
    ['EUR'],
    ({ rows }, id) => void rows.unshift({ ...find(rows, id), amount: '1' }),
    what => ({ EUR: effectOf(what, 'EUR').startsWith('-') ? '1' : '-1' }),
  ),
  ...each(
    'duplicate-in-wallet',
    ['placebet', 'BET_PAID'],
    ['EUR'],
    ({ records }, id) => void records.push({ ...find(records, id) }),
    what => ({ EUR: effectOf(what, 'EUR') }),
  ),
]

/** A row and a record with other operations or ids: ids are opaque (D24), so each stands for itself. */
const others: Seeded[] = [
  {
    name: 'a rollback that the platform counts as a void',
    seed: ({ rows }) =>
      change(find(rows, 'rollbackbet-EUR-1'), { operation: 'settlement', type: 'VOIDED' } as Partial<Row>),
    expected: [
      'never-arrived: settlement rollbackbet-EUR-1',
      'missing-in-report: rollbackbet rollbackbet-EUR-1',
    ],
    effects: {},
  },
  {
    name: 'an unsettlement that the platform counts as a settlement',
    seed: ({ rows }) =>
      change(find(rows, 'UNSCORED-EUR-1'), { operation: 'settlement', type: 'BET_PAID' } as Partial<Row>),
    expected: ['never-arrived: settlement UNSCORED-EUR-1', 'missing-in-report: unsettlement UNSCORED-EUR-1'],
    effects: { EUR: '-91.2' },
  },
  ...(['placebet', 'BET_PAID', 'UNVOIDED', 'rollbackbet'] as const).flatMap(what =>
    ['under-another-id', `${what}-EUR-1 `, `${what}-eur-1`].map(id => ({
      name: `under another transactionId: ${what} as ${JSON.stringify(id)}`,
      seed: ({ rows }: World) => change(find(rows, `${what}-EUR-1`), { transactionId: id }),
      expected: [
        `never-arrived: ${operationOf(what)} ${id}`,
        `missing-in-report: ${operationOf(what)} ${what}-EUR-1`,
      ],
      effects: {},
    })),
  ),
  {
    name: 'the second placebet of a bet, which was refused, is counted in place of the first',
    seed({ rows, records }) {
      const betId = 'bet-placebet-EUR-1'
      records.push(record('placebet', 'second', betId, '0', { ...refusal('INVALID_BET'), amount: '12.34' }))
      change(find(rows, 'placebet-EUR-1'), { transactionId: 'second' })
    },
    expected: ['refused-by-wallet: placebet second', 'missing-in-report: placebet placebet-EUR-1'],
    effects: {},
  },
]

/** A rollback that came before its bet, or after another rollback. */
const rollbacks: Seeded[] = [
  {
    name: 'tombstone: the bet is counted there and never arrived here',
    seed({ rows, records }) {
      remove(records, 'placebet-EUR-1')
      const rollback = record('rollbackbet', 'early', 'bet-placebet-EUR-1', '0')
      records.push(rollback)
      rows.push(rowOf(rollback))
    },
    expected: ['tombstone: placebet placebet-EUR-1'],
    effects: { EUR: '12.34' },
  },
  {
    name: 'tombstone: the bet is counted there and came late here',
    seed({ rows, records }) {
      change(find(records, 'placebet-EUR-1'), refusal('INVALID_BET'))
      const rollback = record('rollbackbet', 'early', 'bet-placebet-EUR-1', '0')
      records.push(rollback)
      rows.push(rowOf(rollback))
    },
    expected: ['tombstone: placebet placebet-EUR-1'],
    effects: { EUR: '12.34' },
  },
  {
    name: 'tombstone: the platform counts a stake that was returned',
    seed({ records }) {
      // The bet of this rollback has no other transaction.
      change(find(records, 'rollbackbet-EUR-1'), { delta: '0' })
    },
    expected: ['tombstone: rollbackbet rollbackbet-EUR-1'],
    effects: { EUR: '-12.34' },
  },
  {
    name: 'tombstone: the report has neither the bet nor its rollback',
    seed: ({ records }) => void records.push(record('rollbackbet', 'early', 'unknown-bet', '0')),
    expected: ['tombstone: rollbackbet early'],
    effects: {},
  },
  {
    name: 'tombstone: bet and rollback are counted there',
    seed({ rows, records }) {
      remove(records, 'placebet-EUR-1')
      const rollback = record('rollbackbet', 'early', 'bet-placebet-EUR-1', '0')
      records.push(rollback)
      rows.push({ ...rowOf(rollback), amount: '12.34' })
    },
    expected: ['tombstone: placebet placebet-EUR-1', 'tombstone: rollbackbet early'],
    effects: {},
  },
  ...['12.34', '0'].map(amount => ({
    name: `rolled-back-twice: the second rollback ${amount === '0' ? 'is missing there' : 'is counted there'}`,
    seed({ rows, records }: World) {
      const betId = 'bet-placebet-EUR-1'
      const first = record('rollbackbet', 'first', betId, '12.34')
      records.push(first, record('rollbackbet', 'second', betId, '0'))
      rows.push(rowOf(first))
      if (amount !== '0') rows.push({ ...rowOf(first), transactionId: 'second' })
    },
    expected: ['rolled-back-twice: rollbackbet second'],
    effects: (amount === '0' ? {} : { EUR: '-12.34' }) as Record<string, string>,
  })),
]

const ofTheBet: Seeded[] = [
  {
    name: 'lost-refusal: a clawback that the platform knows as refused, and the wallet does not have',
    seed({ rows, records }) {
      const bet = [record('placebet', 'lr-p', 'lr', '5'), record('settlement', 'lr-s', 'lr', '5')]
      records.push(...bet)
      rows.push(...bet.map(rowOf), {
        ...rowOf(record('unsettlement', 'lr-u', 'lr', '5')),
        status: 'refused',
      })
    },
    expected: ['lost-refusal: unsettlement lr-u'],
    effects: {},
  },
  ...['45.5', '0.1'].map(credit => ({
    name: `credited-in-part: the bet holds ${credit} of 45.6`,
    seed(world: World) {
      remove(world.records, 'BET_PAID-EUR-1')
      world.credits = { 'bet-BET_PAID-EUR-1': credit }
    },
    expected: ['credited-in-part: settlement BET_PAID-EUR-1'],
    effects: { EUR: credit === '45.5' ? '-0.1' : '-45.5' },
  })),
]

/** A bet without a stake: its rollback moves nothing, and is neither early nor a second one. */
function freeBet({ rows, records }: World): RecordedTransaction {
  const free = record('placebet', 'free', 'free-bet', '0')
  const rollback = record('rollbackbet', 'free-back', 'free-bet', '0')
  records.push(free, rollback)
  rows.push(rowOf(free))
  return rollback
}

const freeBets: Seeded[] = [
  {
    name: 'missing-in-report: the rollback of a bet without a stake',
    seed: world => void freeBet(world),
    expected: ['missing-in-report: rollbackbet free-back'],
    effects: {},
  },
  {
    name: 'other-amount: the rollback of a bet without a stake',
    seed: world => void world.rows.push({ ...rowOf(freeBet(world)), amount: '3' }),
    expected: ['other-amount: rollbackbet free-back'],
    effects: { EUR: '-3' },
  },
]

const before = (time: string) => ({ recordedAt: time, transactionDate: time })
const late = '2026-11-22T00:00:00.500Z'
const early = '2026-11-20T23:59:59.500Z'

const midnight: Seeded[] = [
  ...each(
    'out-of-range',
    all,
    ['EUR'],
    ({ records }, id) => change(find(records, id), { recordedAt: late }),
    (what, currency) => ({ [currency]: negated(effectOf(what, currency)) }),
  ),
  ...each(
    'out-of-range',
    ['placebet', 'rollbackbet'],
    ['JPY'],
    ({ records }, id) => change(find(records, id), { recordedAt: early }),
    (what, currency) => ({ [currency]: negated(effectOf(what, currency)) }),
  ),
  ...each(
    'out-of-range',
    ['BET_PAID', 'UNSCORED'],
    ['BTC'],
    // Beyond what is read around the range: found by its id.
    ({ records }, id) => change(find(records, id), { recordedAt: '2026-11-24T10:00:00.000Z' }),
    (what, currency) => ({ [currency]: negated(effectOf(what, currency)) }),
  ),
  {
    name: 'missing-in-report: recorded just in time, dated on the next day, and in no report',
    seed: ({ records }) =>
      void records.push(
        record('placebet', 'just', 'b', '5', {
          transactionDate: late,
          recordedAt: '2026-11-21T23:59:59.999Z',
        }),
      ),
    expected: ['missing-in-report: placebet just'],
    effects: { EUR: '-5' },
  },
  {
    name: 'out-of-range: recorded here at the first moment, dated there on the day before, in the same report',
    seed({ rows, records }) {
      const first = record('settlement', 'just', 'b', '5', {
        transactionDate: early,
        recordedAt: '2026-11-21T00:00:00.000Z',
      })
      records.push(first)
      rows.push(rowOf(first))
    },
    expected: ['out-of-range: settlement just'],
    effects: { EUR: '5' },
  },
]

/** What is no difference: nothing may be found. */
export const equalities: Seeded[] = [
  {
    name: "a settlement that the PAM's own code has credited",
    seed(world) {
      remove(world.records, 'BET_PAID-EUR-1')
      world.credits = { 'bet-BET_PAID-EUR-1': '45.6' }
    },
    expected: [],
    effects: {},
  },
  { name: 'the world as it is', seed: () => undefined, expected: [], effects: {} },
  {
    name: 'another order of rows',
    seed: ({ rows }) => void rows.reverse(),
    expected: [],
    effects: {},
  },
  {
    name: 'trailing zeros on both sides',
    seed({ rows, records }) {
      change(find(rows, 'placebet-EUR-1'), { amount: '12.340' })
      change(find(records, 'rollbackbet-EUR-1'), { delta: '12.340000000000000000' })
    },
    expected: [],
    effects: {},
  },
  {
    name: 'no amounts, currencies and types of unsettlements and rollbacks in the report',
    seed({ rows }) {
      for (const row of rows) {
        if (['unsettlement', 'rollbackbet'].includes(row.operation))
          change(row, { amount: '', currency: '', type: '' })
      }
    },
    expected: [],
    effects: {},
  },
  {
    name: 'refusals of one side only',
    seed({ rows, records }) {
      remove(rows, 'refused-EUR-1')
      remove(records, 'refused-EUR-2')
    },
    expected: [],
    effects: {},
  },
  {
    name: 'an uncollected clawback that both sides refused',
    seed({ rows, records }) {
      change(find(records, 'UNSCORED-EUR-1'), refusal('INSUFFICIENT_FUNDS'))
      change(find(rows, 'UNSCORED-EUR-1'), { status: 'refused' })
    },
    expected: [],
    effects: {},
  },
  {
    name: 'what both sides count on other days',
    seed({ rows, records }) {
      const outside = [
        record('placebet', 'before', 'b', '5', before(early)),
        record('placebet', 'after', 'c', '5', before(late)),
      ]
      records.push(...outside)
      rows.push(...outside.map(rowOf))
    },
    expected: [],
    effects: {},
  },
  {
    name: 'what differs on other days',
    seed({ rows, records }) {
      const outside = record('placebet', 'before', 'b', '5', before(early))
      records.push(outside)
      rows.push({ ...rowOf(outside), amount: '6' })
    },
    expected: [],
    effects: {},
  },
  {
    name: 'what the report has of other days, and the wallet in the hour around',
    seed({ rows, records }) {
      rows.push(rowOf(record('placebet', 'before', 'b', '5', before(early))))
      records.push(record('placebet', 'after', 'c', '5', before(late)))
    },
    expected: [],
    effects: {},
  },
  {
    name: 'one id for a placebet and its rollback',
    seed({ rows, records }) {
      const both = [record('placebet', 'same', 'b', '5'), record('rollbackbet', 'same', 'b', '5')]
      records.push(...both)
      rows.push(...both.map(rowOf))
    },
    expected: [],
    effects: {},
  },
  {
    name: 'ids of any language, with delimiters and quotes',
    seed({ rows, records }) {
      const odd: RecordedTransaction = record('placebet', '賭け, "1"', 'ставка;1', '5')
      records.push(odd)
      rows.push(rowOf(odd))
    },
    expected: [],
    effects: {},
  },
]

export const seeded: Seeded[] = [
  ...oneSided,
  ...values,
  ...copies,
  ...others,
  ...rollbacks,
  ...freeBets,
  ...midnight,
  ...ofTheBet,
]
