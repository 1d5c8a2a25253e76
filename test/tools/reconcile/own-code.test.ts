/**
 * A settlement is written in two ways: as a transaction, and by the PAM's own code as a credit of the bet. Before one is
 * called missing, what the bet holds and no transaction explains is taken off.
 */
import { describe, expect, test } from 'vitest'
import type { RecordedTransaction } from '../../../src/lookups/records.js'
import {
  formatReconciliation,
  type ReconcileOptions,
  renderReconciliation,
} from '../../../src/tools/reconcile/index.js'
import { lookupsOf, reconcileWorld, record, rowOf, withCredit } from './world.js'

const stake = record('placebet', 'p', 'e1', '10')
const win = (id: string, amount: string, changes: object = {}) =>
  record('settlement', id, 'e1', amount, changes)

/** What is missing of these settlements, which are in no record: per id, what the player lacks. */
async function missingOf(
  wins: readonly RecordedTransaction[],
  credit: string,
  { recorded = [] as RecordedTransaction[], options = {} as Partial<ReconcileOptions>, bet = {} } = {},
) {
  const records = [stake, ...recorded]
  const lookups = withCredit(lookupsOf(records), 'e1', credit, bet)
  const rows = [...records, ...wins].map(rowOf)
  const result = await reconcileWorld({ rows, records }, { lookups, ...options })
  return {
    result,
    missing: result.differences.map(({ kind, report, effects }) =>
      [kind, report?.transactionId, effects[0]?.amount].join(' '),
    ),
  }
}

test('credited by own code: no difference, and the totals have it', async () => {
  const { result, missing } = await missingOf([win('s-1', '18.5')], '18.5')
  expect(missing).toEqual([])
  expect(result).toMatchObject({ verdict: 'equal', rows: { equal: 1, creditedByOwnCode: 1 } })
  expect(result.currencies).toEqual([{ currency: 'EUR', report: '8.5', wallet: '8.5', difference: '0' }])
  for (const text of [formatReconciliation(result), renderReconciliation(result)])
    expect(text).toContain('1 settlement was credited by your own code')
})

test('a settlement that is really missing stays a difference, with the history of its bet', async () => {
  const { result, missing } = await missingOf([win('s-1', '18.5')], '0', { recorded: [win('s-0', '5')] })
  expect(missing).toEqual(['never-arrived s-1 -18.5'])
  expect(result.differences[0]?.bet).toEqual([
    '2026-11-21T12:00:00.100Z placebet p: -10.00 EUR',
    '2026-11-21T12:00:00.100Z settlement BET_PAID s-0: +5.00 EUR',
    'Now PLACED, stake 10.00 EUR; BET_PAID: live 5.00 EUR, reversed 0.00 EUR, uncollected 0.00 EUR',
  ])
  expect(formatReconciliation(result)).toContain('    The bet in the wallet:\n      2026-11-21T12:00')
})

test('a part of it is shown as a part', async () => {
  const { result, missing } = await missingOf([win('s-1', '20')], '18.5')
  expect(missing).toEqual(['credited-in-part s-1 -1.5'])
  expect(result.differences[0]).toMatchObject({
    credited: '18.5',
    explanation: expect.stringMatching(
      /^In the report, line 3: 20\.00 EUR, dated \S+Z\. The wallet has no record of it\. 18\.50 EUR of it was credited by your own code; 1\.50 EUR is missing\.$/,
    ),
  })
  expect(result.differences[0]?.bet).toContain(
    '18.50 EUR of BET_PAID is in no recorded settlement: your own code credited it, or it was imported.',
  )
  expect(result.bets).toMatchObject([{ id: 'e1', report: '20', wallet: '18.5', difference: '-1.5' }])
})

describe('what the bet holds is taken off by amount', () => {
  test.each([
    ['the second of two equal ones is missing', ['18.5', '18.5'], '18.5', ['never-arrived s-1 -18.5']],
    ['two make the sum', ['10', '8.5'], '18.5', []],
    ['the one of just this amount', ['10', '18.5'], '18.5', ['never-arrived s-0 -10']],
    ['those that it covers, before a part', ['20', '4', '5'], '9', ['never-arrived s-0 -20']],
    ['a part of what is left', ['10', '5'], '12', ['credited-in-part s-1 -3']],
    ['a lost bet, settled with 0', ['0'], '0', []],
  ])('%s', async (_, amounts, credit, expected) => {
    const wins = amounts.map((amount, index) => win(`s-${index}`, amount))
    expect((await missingOf(wins, credit)).missing).toEqual(expected)
  })

  test('less what recorded settlements have credited, also where it was reversed since or is owed', async () => {
    const bet = async (live: string | null, reversed: string, owed: string) => {
      const lookups = lookupsOf([stake, win('s-0', '5')])
      const history = await lookups.bet('e1')
      const credits = { BET_PAID: { live, reversed, owed } }
      const found = history?.bet && { ...history, bet: { ...history.bet, credits } }
      return { options: { lookups: { ...lookups, bet: async () => found ?? null } } }
    }
    const all: [string | null, string, string][] = [
      ['23.5', '0', '0'],
      ['5', '18.5', '0'],
      [null, '5', '18.5'],
    ]
    for (const held of all) {
      const { missing } = await missingOf([win('s-1', '18.5')], '0', {
        recorded: [win('s-0', '5')],
        ...(await bet(...held)),
      })
      expect(missing).toEqual([])
    }
    const { missing } = await missingOf([win('s-1', '18.5')], '0', {
      recorded: [win('s-0', '5')],
      ...(await bet('18.5', '0', '0')),
    })
    expect(missing).toEqual(['credited-in-part s-1 -5'])
  })

  test.each([
    ['another type', { type: 'VOIDED' }, {}],
    ['another currency', { currency: 'USD' }, {}],
    ['another player', {}, { playerId: 'ben' }],
  ])('but not of %s', async (_, changes, row) => {
    const records = [stake]
    const rows = [rowOf(stake), { ...rowOf(win('s-1', '18.5', changes)), ...row }]
    const lookups = withCredit(lookupsOf(records), 'e1', '18.5')
    const result = await reconcileWorld({ rows, records }, { lookups })
    expect(result.kinds).toMatchObject([{ kind: 'never-arrived', count: 1 }])
  })
})

test('of a bet that was not looked up, the difference says that own code may have credited it', async () => {
  const { result, missing } = await missingOf([win('s-1', '18.5')], '18.5', { options: { lookupsMax: 0 } })
  expect(missing).toEqual(['never-arrived s-1 -18.5'])
  expect(result.differences[0]?.explanation).toContain(
    'Its bet was not looked up, so your own code may have credited it.',
  )
})
