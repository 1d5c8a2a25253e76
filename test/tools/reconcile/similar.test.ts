/** Ids that differ in upper and lower case or in spaces only; and which kinds of differences come first. */
import { describe, expect, test } from 'vitest'
import type { RecordedTransaction } from '../../../src/lookups/records.js'
import type { Reconciliation } from '../../../src/tools/reconcile/index.js'
import { foundIn, reconcileWorld, record, rowOf } from './world.js'

const explanationsIn = ({ differences }: Reconciliation) => differences.map(({ explanation }) => explanation)

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
  ])('%j and %j are one transaction: %s', async (ours, theirs) => {
    const placebet = record('placebet', ours, ours, '5')
    const row = { ...rowOf(placebet), transactionId: theirs, betId: theirs }
    const result = await reconcileWorld({ rows: [row], records: [placebet] })
    expect(result.differences).toMatchObject([{ kind: 'other-transaction-id', effects: [] }])
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
    test('are those of the wallet', async () => {
      const rollback = record('rollbackbet', 'Bet-a', 'b', '5', { playerId: 'Anna' })
      for (const amount of ['5', '']) {
        const rows = [rewritten(made), { ...rewritten(rollback), amount }]
        const result = await reconcileWorld({ rows, records: [made, rollback] })
        expect(result.kinds).toMatchObject([{ kind: 'other-transaction-id', count: 2 }])
        expect(result.kinds[0]?.effects).toEqual([])
        for (const explanation of explanationsIn(result))
          expect(explanation).toMatch(/ They differ in .* only\.$/)
      }
    })

    test('so are those that the wallet refused', async () => {
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
          { kind, explanation: expect.stringMatching(/ The ids differ in .* only\.$/) },
        ])
      }
      // Both sides refused it.
      const both = await reconcileWorld({ rows: [rewritten(unsettlement)], records: [unsettlement] })
      expect(both.differences).toEqual([])
    })

    test.each([
      ['the platform', '2026-11-21T23:59:59.000Z', '2026-11-22T00:00:01.000Z'],
      ['the wallet', '2026-11-22T00:00:01.000Z', '2026-11-21T23:59:59.000Z'],
    ])('so is what only %s has within the range', async (_, transactionDate, recordedAt) => {
      const late = { ...made, transactionDate, recordedAt }
      const result = await reconcileWorld({ rows: [rewritten(late)], records: [late] })
      expect(result.differences).toMatchObject([{ kind: 'other-transaction-id' }])
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
      expect(other.differences).toMatchObject([{ kind: 'other-transaction-id' }])
      expect(other.differences[0]?.explanation).toContain('the wallet moved 5.00 EUR under')
      const player = await reconcileWorld({ rows: [{ ...row, playerId: 'ben' }], records: [made] })
      expect(player.differences).toMatchObject([{ kind: 'other-player' }])
      // Of another bet, it is another transaction.
      const agreed = record('placebet', 'agreed', 'a', '9')
      const rows = [{ ...row, betId: 'c' }, rowOf(agreed)]
      const bet = await reconcileWorld({ rows, records: [made, agreed] })
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
