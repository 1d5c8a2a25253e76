/** The search by amount and time, over lookups that count what is read. */
import { describe, expect, it } from 'vitest'
import type { RecordedTransaction, WalletLookups } from '../../src/lookups/index.js'
import { findTransactions, searchedAmount } from '../../src/lookups/search.js'

const range = { from: '2026-11-22T18:00:00.000Z', to: '2026-11-22T19:00:00.000Z' }
const recorded = (index: number, amount: string | null, delta: string) =>
  ({ transactionId: `t-${index}`, amount, delta, playerId: 'anna' }) as RecordedTransaction

/** @param transactions in the order of recording */
function lookupsOver(transactions: readonly RecordedTransaction[]) {
  const read = { rows: 0, calls: [] as unknown[] }
  const newest = transactions.toReversed()
  const lookups: WalletLookups = {
    bet: async () => null,
    transaction: async () => [],
    owed: async () => [],
    async player(playerId, page = {}) {
      read.calls.push([playerId, page])
      const start = Number(page.cursor ?? 0)
      const rows = newest.slice(start, start + (page.limit ?? 50))
      read.rows += rows.length
      const next = start + rows.length < newest.length ? String(start + rows.length) : null
      return playerId === 'anna' ? { playerId, player: null, transactions: rows, bets: [], next } : null
    },
    async *transactions(span) {
      read.calls.push(span)
      for (const each of transactions) {
        read.rows += 1
        yield each
      }
    },
  }
  return { lookups, read }
}

const idsOf = ({ transactions }: { transactions: readonly RecordedTransaction[] }) =>
  transactions.map(({ transactionId }) => transactionId)

describe.each([[{}], [{ playerId: 'anna' }]])('a search %j', who => {
  const search = (transactions: readonly RecordedTransaction[], amount: string, limit = 50) =>
    findTransactions(lookupsOver(transactions).lookups, { ...range, ...who, amount, limit })

  it('finds stakes, settlements, and changes of the balance in both directions, by value', async () => {
    const all = [
      recorded(1, '12.50', '-12.5'),
      recorded(2, '12.5', '12.5'),
      recorded(3, null, '-12.500'),
      recorded(4, null, '12.5'),
      recorded(5, '12.5', '0'),
      recorded(6, '12.51', '-12.51'),
      recorded(7, '125', '-125'),
      recorded(8, null, '0'),
    ]
    expect(await search(all, '12.5')).toMatchObject({ more: false })
    expect(idsOf(await search(all, '12.5'))).toEqual(['t-1', 't-2', 't-3', 't-4', 't-5'])
  })

  it('of 0 finds stakes and settlements of 0, and not every refusal', async () => {
    const all = [recorded(1, '0.00', '0'), recorded(2, '5', '0'), recorded(3, null, '0')]
    expect(idsOf(await search(all, '0'))).toEqual(['t-1'])
  })

  it('says whether there are more than the limit', async () => {
    const all = [1, 2, 3].map(index => recorded(index, '1', '-1'))
    expect(await search(all, '1', 3)).toMatchObject({ more: false })
    const two = await search(all, '1', 2)
    expect(two.more).toBe(true)
    expect(idsOf(two)).toEqual('playerId' in who ? ['t-2', 't-3'] : ['t-1', 't-2'])
  })
})

describe('what is read', () => {
  const many = Array.from({ length: 2_500 }, (_, index) =>
    recorded(index, index % 1_000 === 0 ? '7' : '1', '0'),
  )

  it('is every page of the player, in the span', async () => {
    const { lookups, read } = lookupsOver(many)
    const found = await findTransactions(lookups, { ...range, playerId: 'anna', amount: '7', limit: 50 })
    expect(idsOf(found)).toEqual(['t-0', 't-1000', 't-2000'])
    expect(read).toEqual({
      rows: 2_500,
      calls: [
        ['anna', { ...range, limit: 1_000 }],
        ['anna', { ...range, limit: 1_000, cursor: '1000' }],
        ['anna', { ...range, limit: 1_000, cursor: '2000' }],
      ],
    })
  })

  it('is the span, and no more than is needed', async () => {
    const { lookups, read } = lookupsOver(many)
    await findTransactions(lookups, { ...range, amount: '1', limit: 10 })
    expect(read).toEqual({ rows: 12, calls: [range] })
    const player = lookupsOver(many)
    await findTransactions(player.lookups, { ...range, playerId: 'anna', amount: '1', limit: 10 })
    expect(player.read.rows).toBe(1_000)
  })

  it('of an unknown player is nothing', async () => {
    const { lookups } = lookupsOver(many)
    const found = await findTransactions(lookups, { ...range, playerId: 'kenji', amount: '1', limit: 10 })
    expect(found).toEqual({ transactions: [], more: false })
  })
})

it.each([
  ['12.50', '12.5'],
  ['0', '0'],
  ['1e2', '100'],
  ['-1', null],
  ['12,50', null],
  ['', null],
  ['x', null],
])('the amount %j is %j', (text, amount) => {
  expect(searchedAmount(text)).toBe(amount)
})
