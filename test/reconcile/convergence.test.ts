/**
 * Repairs converge: whatever was lost, changed or made by one side only, the printed calls bring the wallet to what
 * the platform counts, once. The judge is the platform's own ledger of each player, which adds up its rows.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  handlePlaceBet,
  handleRollbackBet,
  handleUnsettlement,
  recordSettlement,
  type WalletStore,
} from '../../src/index.js'
import type { RecordedTransaction, WalletLookups } from '../../src/lookups/records.js'
import { type Difference, type Reconciliation, reconcile } from '../../src/reconcile/index.js'
import { createMemoryStore, type MemoryStore } from '../../src/stores/memory.js'

const day = { from: '2026-11-21', to: '2026-11-22' }
const at = (minute: number) => new Date(Date.parse('2026-11-21T08:00:00Z') + minute * 60_000).toISOString()

/** What the platform counts, or sends. */
interface Call {
  operation: 'placebet' | 'settlement' | 'unsettlement' | 'rollbackbet'
  transactionId: string
  betId: string
  playerId: string
  type: string
  amount: string
  minute: number
}
type Fault = 'none' | 'lost' | 'ghost' | 'more' | 'less' | 'type' | 'refused'

const players = ['anna', 'ben']
const initial = 1_000

/** A bet as a platform plays it: every step is possible for the platform. */
const course = fc.record({
  player: fc.integer({ min: 0, max: 1 }),
  start: fc.integer({ min: 0, max: 300 }),
  stake: fc.integer({ min: 0, max: 9 }),
  steps: fc.array(
    fc.record({
      what: fc.constantFrom('BET_PAID', 'VOIDED', 'CASHOUT', 'UNSCORED', 'UNVOIDED', 'rollbackbet'),
      amount: fc.integer({ min: 0, max: 20 }),
      fault: fc.constantFrom<Fault>(
        'none',
        'none',
        'none',
        'lost',
        'ghost',
        'more',
        'less',
        'type',
        'refused',
      ),
    }),
    { maxLength: 5 },
  ),
  bet: fc.constantFrom('none', 'none', 'none', 'lost', 'unknown', 'stake-unknown'),
})
type Course = typeof course extends fc.Arbitrary<infer T> ? T : never

interface Played {
  call: Call
  fault: Fault
}

const reverses: Record<string, string> = { UNSCORED: 'BET_PAID', UNVOIDED: 'VOIDED' }

function callsOf({ player, start, stake, steps, bet }: Course, number: number): Played[] {
  const base = { betId: `b-${number}`, playerId: players[player] as string }
  const live: Record<string, number> = {}
  let isRolledBack = false
  const make = (operation: Call['operation'], index: number, type: string, amount: number): Call => ({
    ...{ operation, transactionId: `${operation}-${number}-${index}`, ...base, type },
    ...{ amount: String(amount), minute: start + index * 7 },
  })
  const stakeFault: Fault = bet === 'lost' ? 'lost' : bet === 'none' ? 'none' : 'ghost'
  const played: Played[] = [{ call: make('placebet', 0, '', stake), fault: stakeFault }]
  for (const [index, { what, amount, fault: own }] of steps.entries()) {
    const fault = bet === 'unknown' ? 'ghost' : own
    const isPlatforms = fault !== 'ghost' && fault !== 'refused'
    if (isRolledBack) break
    const push = (operation: Call['operation'], type: string, sum: number) =>
      played.push({ call: make(operation, index + 1, type, sum), fault })
    if (what === 'rollbackbet') {
      if (Object.keys(live).length > 0) continue
      push('rollbackbet', '', stake)
      isRolledBack = isPlatforms
    } else if (reverses[what] === undefined) {
      push('settlement', what, amount)
      if (isPlatforms) live[what] = (live[what] ?? 0) + reported(fault, amount)
    } else {
      const credit = reverses[what] as string
      // The platform reverses what it counts as live, once.
      if (live[credit] === undefined && isPlatforms) continue
      push('unsettlement', what, live[credit] ?? 0)
      if (isPlatforms) delete live[credit]
    }
  }
  return played
}

const reported = (fault: Fault, amount: number) =>
  fault === 'more' ? amount + 3 : fault === 'less' ? Math.max(0, amount - 2) : amount

/** What the platform's report says of a call; `null`: nothing. */
function rowOf({ call, fault }: Played): Record<string, string> | null {
  const { minute, ...row } = call
  if (fault === 'ghost') return null
  const isSettlement = call.operation === 'settlement'
  const otherType = { BET_PAID: 'VOIDED', VOIDED: 'BET_PAID' }[call.type] ?? call.type
  return {
    ...row,
    type: isSettlement && fault === 'type' ? otherType : call.type,
    amount: isSettlement ? String(reported(fault, Number(call.amount))) : call.amount,
    currency: 'EUR',
    status: fault === 'refused' && isSettlement ? 'refused' : 'accepted',
    transactionDate: at(minute),
  }
}

const handlers = {
  '/placebet': handlePlaceBet,
  '/settlement': recordSettlement,
  '/unsettlement': handleUnsettlement,
  '/rollbackbet': handleRollbackBet,
}

const deliver = (store: WalletStore, { operation, minute, type, ...call }: Call) =>
  handlers[`/${operation}`](store, {
    ...{ ...call, currency: 'EUR', sessionId: 's', betType: 'SINGLE', transactionDate: at(minute) },
    type: operation === 'rollbackbet' ? 'TECHNICAL_ERROR' : type,
  })

/** The look-ups of a store in memory: one minute of the day per transaction. */
function lookupsOf(store: MemoryStore): WalletLookups {
  const all = (): RecordedTransaction[] =>
    store.transactions().map((each, index) => ({
      ...each,
      walletTransactionId: each.walletTransactionId ?? '',
      recordedAt: new Date(Date.parse('2026-11-21T09:00:00Z') + index * 1000).toISOString(),
      balanceAfter: null,
      betCurrency: 'EUR',
    }))
  return {
    async *transactions({ from, to }) {
      yield* all().filter(({ recordedAt }) => recordedAt >= from && recordedAt < to)
    },
    transaction: async id => all().filter(({ transactionId }) => transactionId === id),
    async bet(betId) {
      const transactions = all().filter(each => each.betId === betId)
      const bet = store.bet(betId)
      return transactions.length === 0
        ? null
        : { betId, bet: bet && { ...bet, recordedAt: null }, transactions }
    },
    player: async () => null,
  }
}

async function* linesOf(rows: readonly object[]) {
  for (const row of rows) yield `${JSON.stringify(row)}\n`
}

/** The rows that the platform counts, added up per player. */
function platformBalances(rows: readonly Record<string, string>[]): Record<string, number> {
  const sums = Object.fromEntries(players.map(player => [player, initial]))
  for (const { operation = '', playerId = '', amount, status } of rows) {
    const sign = operation === 'placebet' || operation === 'unsettlement' ? -1 : 1
    if (status === 'accepted') sums[playerId] = (sums[playerId] ?? 0) + sign * Number(amount)
  }
  return sums
}

/** In the order that the text asks for: what never arrived first. */
const callsIn = ({ differences }: Reconciliation) => {
  const isFirst = ({ kind }: Difference) => kind === 'never-arrived' || kind === 'lost-refusal'
  return [...differences.filter(isFirst), ...differences.filter(each => !isFirst(each))].flatMap(
    ({ repair }) => repair.calls,
  )
}

interface Wallet {
  store: WalletStore
  lookups: WalletLookups
  range: { from: string; to: string }
  balances(): Promise<Record<string, number>>
}

async function expectConvergence(played: readonly Played[], wallet: Wallet): Promise<void> {
  const { store, lookups, range } = wallet
  for (const { call, fault } of played) if (fault !== 'lost') await deliver(store, call)
  const rows = played.map(rowOf).filter(row => row !== null)
  const compare = () => reconcile({ report: linesOf(rows.length > 0 ? rows : [{}]), lookups, ...range })
  let result = await compare()
  for (let round = 0; callsIn(result).length > 0; round += 1) {
    expect(round, JSON.stringify(result.differences, null, 1)).toBeLessThan(3)
    const calls = callsIn(result)
    for (const { path, body } of calls) await handlers[path](store, body)
    const once = await wallet.balances()
    for (const { path, body } of calls) await handlers[path](store, body)
    expect(await wallet.balances(), 'a second sending').toEqual(once)
    result = await compare()
  }
  // What is left: for each player, the money of the differences that only people can clear up.
  const expected = platformBalances(rows)
  for (const { effects, repair, wallet: record, report } of result.differences) {
    const player = (report ?? record)?.playerId ?? ''
    if (repair.by === 'none') continue
    for (const { amount } of effects) expected[player] = (expected[player] ?? 0) + Number(amount)
  }
  expect(await wallet.balances(), JSON.stringify(result.differences, null, 1)).toEqual(expected)
}

describe('the printed calls bring the wallet to what the platform counts', () => {
  test('in random histories with random faults', async () => {
    let repaired = 0
    await fc.assert(
      fc.asyncProperty(fc.array(course, { minLength: 1, maxLength: 4 }), async courses => {
        const store = createMemoryStore(
          players.map(playerId => ({ playerId, currency: 'EUR', balance: String(initial) })),
        )
        const played = courses.flatMap(callsOf).sort((one, other) => one.call.minute - other.call.minute)
        if (played.every(each => rowOf(each) === null)) return
        await expectConvergence(played, {
          store,
          lookups: lookupsOf(store),
          range: day,
          balances: async () =>
            Object.fromEntries(players.map(player => [player, Number(store.player(player)?.balance)])),
        })
        repaired += store
          .transactions()
          .filter(({ transactionId }) => transactionId.startsWith('repair-')).length
      }),
      { numRuns: 300 },
    )
    expect(repaired).toBeGreaterThan(50)
  })
})

/** Settled and spent; the clawback is refused, so the platform nets it off. A restore loses the records of some calls. */
describe('a refused clawback that the wallet has forgotten', () => {
  const call = (
    operation: Call['operation'],
    id: string,
    type: string,
    amount: string,
    minute: number,
  ): Call => ({
    ...{ operation, transactionId: id, betId: 'b', playerId: 'anna', type, amount, minute },
  })
  const placed = call('placebet', 'p', '', '10', 0)
  const settled = call('settlement', 's', 'BET_PAID', '50', 1)
  const reversed = call('unsettlement', 'u', 'UNSCORED', '50', 2)
  const row = (each: Call, status = 'accepted') => {
    const { minute, ...others } = each
    return { ...others, currency: 'EUR', status, transactionDate: at(minute) }
  }
  const rows = [row(placed), row(settled), row(reversed, 'refused')]

  test.each([
    ['the refusal', [placed, settled]],
    ['the settlement and the refusal', [placed]],
    ['all of it', []],
  ])('is a difference with its call, and is collected once: %s', async (_, kept) => {
    const store = createMemoryStore([{ playerId: 'anna', currency: 'EUR', balance: '100' }])
    for (const each of kept) await deliver(store, each)
    const compare = () => reconcile({ report: linesOf(rows), lookups: lookupsOf(store), ...day })
    const before = await compare()
    expect(before.verdict).toBe('different')
    const calls = callsIn(before)
    expect(calls).toHaveLength(3 - kept.length)
    for (const { path, body, curl } of calls) {
      const isClosing = curl.includes('"$WALLET_URL_WITHOUT_CLAWBACKS/unsettlement"')
      expect(isClosing).toBe(path === '/unsettlement')
      await handlers[path](store, body, { clawbacks: !isClosing })
    }
    expect(await compare()).toMatchObject({ verdict: 'equal' })
    expect(store.owed('anna')).toBe('50')
    expect(store.player('anna')?.balance).toBe('140')

    await deliver(store, { ...settled, transactionId: 's-2' })
    await deliver(store, { ...reversed, transactionId: 'u-2' })
    // Settled again and reversed again: not one clawback more.
    expect(store.player('anna')?.balance).toBe('140')
  })

  test('is none if the wallet had nothing to reverse: such a refusal has no record', async () => {
    const store = createMemoryStore([{ playerId: 'anna', currency: 'EUR', balance: '100' }])
    for (const each of [placed, settled, reversed]) await deliver(store, each)
    const second = row({ ...reversed, transactionId: 'u-2', minute: 3 }, 'refused')
    const report = linesOf([row(placed), row(settled), row(reversed), second])
    const result = await reconcile({ report, lookups: lookupsOf(store), ...day })
    expect(result).toMatchObject({ verdict: 'equal', rows: { refusedAlone: 1 } })
  })

  test('has no call if the bet was credited again since', async () => {
    const store = createMemoryStore([{ playerId: 'anna', currency: 'EUR', balance: '100' }])
    const again = call('settlement', 's-2', 'BET_PAID', '60', 3)
    for (const each of [placed, settled, again]) await deliver(store, each)
    const result = await reconcile({
      report: linesOf([...rows, row(again)]),
      lookups: lookupsOf(store),
      ...day,
    })
    expect(result.differences).toMatchObject([
      { kind: 'lost-refusal', repair: { by: 'operator', calls: [] } },
    ])
  })
})
