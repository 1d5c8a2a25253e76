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
} from '../../../src/index.js'
import type { RecordedTransaction, WalletLookups } from '../../../src/lookups/records.js'
import { createMemoryStore, type MemoryStore } from '../../../src/stores/memory.js'
import { type Difference, type Reconciliation, reconcile } from '../../../src/tools/reconcile/index.js'
import { testedDatabases } from '../../lookups/databases.js'

const dayMs = 86_400_000
const dayStart = (number: number) => Date.parse('2026-11-21T00:00:00Z') + number * dayMs
/** From the start of a day to the end of another one: -1 is the day before, whose reports agreed. */
const days = (first: number, last: number) => ({
  from: new Date(dayStart(first)).toISOString(),
  to: new Date(dayStart(last + 1)).toISOString(),
})
const day = days(0, 0)
const at = (minute: number) => new Date(dayStart(0) + (480 + minute) * 60_000).toISOString()
/** Of which day a call of this minute is; each day begins at 8. */
const dayOf = (minute: number) => Math.floor(minute / 1440)

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

/** A bet as a platform plays it, over three days. A platform may also roll back what it has paid. */
const course = fc.record({
  player: fc.integer({ min: 0, max: 1 }),
  start: fc.integer({ min: 0, max: 300 }),
  stake: fc.integer({ min: 0, max: 9 }),
  /** How many of its calls are of the day before, and from which one on they are of the day after. */
  before: fc.constantFrom(0, 0, 0, 1, 2, 3),
  after: fc.constantFrom(9, 9, 9, 1, 2, 3),
  rollsBackPaid: fc.boolean(),
  /** Lost, then rolled back by the platform; what lies between, the wallet alone has. */
  isCancelled: fc.constantFrom(false, false, false, true),
  steps: fc.array(
    fc.record({
      what: fc.constantFrom('BET_PAID', 'VOIDED', 'CASHOUT', 'UNSCORED', 'UNVOIDED', 'rollbackbet'),
      amount: fc.oneof(
        { weight: 1, arbitrary: fc.constant(0) },
        { weight: 4, arbitrary: fc.integer({ min: 1, max: 20 }) },
      ),
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

const cancelled = (steps: Course['steps']): Course['steps'] => [
  { what: 'BET_PAID', amount: 0, fault: 'none' },
  ...steps.filter(({ what }) => what === 'VOIDED').map(step => ({ ...step, fault: 'ghost' as const })),
  { what: 'rollbackbet', amount: 0, fault: 'none' },
]

function callsOf(
  { player, start, stake, steps: own, bet, before, after, rollsBackPaid, isCancelled }: Course,
  number: number,
): Played[] {
  const steps = isCancelled ? cancelled(own) : own
  const base = { betId: `b-${number}`, playerId: players[player] as string }
  const live: Record<string, number> = {}
  let isRolledBack = false
  const make = (operation: Call['operation'], index: number, type: string, amount: number): Call => ({
    ...{ operation, transactionId: `${operation}-${number}-${index}`, ...base, type },
    ...{ amount: String(amount), minute: start + index * 7 + dayOfCall(index) * 1440 },
  })
  const dayOfCall = (index: number) => (index < before ? -1 : index < before + after ? 0 : 1)
  const stakeFault: Fault = before > 0 || bet === 'none' ? 'none' : bet === 'lost' ? 'lost' : 'ghost'
  const played: Played[] = [{ call: make('placebet', 0, '', stake), fault: stakeFault }]
  for (const [index, { what, amount, fault: own }] of steps.entries()) {
    const fault = dayOfCall(index + 1) === -1 ? 'none' : bet === 'unknown' && before === 0 ? 'ghost' : own
    const isPlatforms = fault !== 'ghost' && fault !== 'refused'
    if (isRolledBack) break
    const push = (operation: Call['operation'], type: string, sum: number) =>
      played.push({ call: make(operation, index + 1, type, sum), fault })
    if (what === 'rollbackbet') {
      if (Object.keys(live).length > 0 && !rollsBackPaid && !isCancelled) continue
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

/** A store with its records, in the order of recording. Every transaction is of the day that was begun last. */
class Wallet {
  readonly store: WalletStore
  readonly #source: WalletLookups
  readonly #begun: { index: number; day: number }[] = []

  constructor(store: WalletStore, source: WalletLookups) {
    this.store = store
    this.#source = source
  }

  async begin(day: number): Promise<void> {
    this.#begun.push({ index: (await this.recorded()).length, day })
  }

  /** One second of its day per transaction. */
  async recorded(): Promise<RecordedTransaction[]> {
    const records: RecordedTransaction[] = []
    for await (const each of this.#source.transactions(always)) {
      const start = dayStart(this.#begun.findLast(({ index }) => index <= records.length)?.day ?? 0)
      const recordedAt = new Date(start + 9 * 3_600_000 + records.length * 1000).toISOString()
      records.push({ ...each, recordedAt })
    }
    return records
  }

  readonly lookups: WalletLookups = {
    transactions: ({ from, to }) => this.#between(from, to),
    transaction: async id => (await this.recorded()).filter(({ transactionId }) => transactionId === id),
    bet: async betId => {
      const history = await this.#source.bet(betId)
      const transactions = (await this.recorded()).filter(each => each.betId === betId)
      expect(transactions).toHaveLength(history?.transactions.length ?? 0)
      return history && { ...history, transactions }
    },
    player: playerId => this.#source.player(playerId),
    owed: () => this.#source.owed(),
  }

  async *#between(from: string, to: string) {
    yield* (await this.recorded()).filter(({ recordedAt }) => recordedAt >= from && recordedAt < to)
  }
}

const always = { from: '2000-01-01T00:00:00Z', to: '2999-01-01T00:00:00Z' }

function inMemory(): Wallet {
  const store = createMemoryStore(
    players.map(playerId => ({ playerId, currency: 'EUR', balance: String(initial) })),
  )
  return new Wallet(store, lookupsOf(store))
}

/** The look-ups of a store in memory. */
function lookupsOf(store: MemoryStore): WalletLookups {
  const all = (): RecordedTransaction[] =>
    store.transactions().map((each, index) => ({
      ...each,
      walletTransactionId: each.walletTransactionId ?? '',
      recordedAt: new Date(dayStart(0) + 9 * 3_600_000 + index * 1000).toISOString(),
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
    owed: async () => [],
    player: async playerId => {
      const player = store.player(playerId)
      return { playerId, player, transactions: [], bets: [], next: null }
    },
  }
}

async function* linesOf(rows: readonly object[]) {
  for (const row of rows) yield `${JSON.stringify(row)}\n`
}

/** In the order that the text asks for: what never arrived first. */
const callsIn = ({ differences }: Reconciliation) => {
  const isFirst = ({ kind }: Difference) => kind === 'never-arrived' || kind === 'lost-refusal'
  return [...differences.filter(isFirst), ...differences.filter(each => !isFirst(each))].flatMap(
    ({ repair }) => repair.calls,
  )
}

type Range = ReturnType<typeof days>
const rowsIn = (played: readonly Played[], { from, to }: Range) =>
  played
    .map(rowOf)
    .filter(row => row !== null)
    .filter(({ transactionDate = '' }) => transactionDate >= from && transactionDate < to)

async function* headerOnly() {
  yield 'operation,transactionId,betId,amount,currency,transactionDate\n'
}

function compareDays({ lookups }: Wallet, played: readonly Played[], range: Range): Promise<Reconciliation> {
  const rows = rowsIn(played, range)
  return reconcile({ report: rows.length > 0 ? linesOf(rows) : headerOnly(), lookups, ...range })
}

/** Sends what is printed until nothing is, and each call twice. */
async function converge(wallet: Wallet, played: readonly Played[], range: Range): Promise<Reconciliation> {
  const { store, lookups } = wallet
  const compare = () => compareDays(wallet, played, range)
  const balances = () =>
    Promise.all(players.map(async player => (await lookups.player(player))?.player?.balance))
  let result = await compare()
  for (let round = 0; callsIn(result).length > 0; round += 1) {
    expect(round).toBeLessThan(3)
    const calls = callsIn(result)
    for (const { path, body } of calls) await handlers[path](store, body)
    const once = await balances()
    for (const { path, body } of calls) await handlers[path](store, body)
    expect(await balances(), 'a second sending').toEqual(once)
    result = await compare()
  }
  return result
}

/** What is left of each bet that began in the range: exactly the differences that only people can clear up. */
async function expectSettled(
  result: Reconciliation,
  wallet: Wallet,
  played: readonly Played[],
): Promise<void> {
  const recorded = await wallet.recorded()
  const betIds = new Set(played.map(({ call }) => call.betId))
  for (const { call } of played) if (at(call.minute) < result.from) betIds.delete(call.betId)
  for (const betId of betIds) {
    let open = 0
    for (const { repair, report, wallet } of result.differences) {
      if (repair.by === 'none' || (report ?? wallet)?.betId !== betId) continue
      open += moneyOf(wallet) - moneyOf(report)
    }
    const moved = recorded.filter(each => each.betId === betId)
    const inWallet = moved.reduce((sum, { delta }) => sum + Number(delta), 0)
    const inReport = played.reduce((sum, { call, fault }) => {
      const row = call.betId === betId ? rowOf({ call, fault }) : null
      return sum + (row === null ? 0 : moneyOf({ ...call, ...row, accepted: row.status === 'accepted' }))
    }, 0)
    expect({ betId, more: inWallet - inReport }).toEqual({ betId, more: open })
  }
}

/** A bet that the calls have corrected is rolled back too, if the platform did, and no call is a difference of its own. */
async function expectWholePlans(
  result: Reconciliation,
  wallet: Wallet,
  played: readonly Played[],
): Promise<void> {
  const isRepair = (id: string | undefined) => id?.startsWith('repair-') === true
  const open = result.differences.filter(({ repair }) => repair.by !== 'none')
  const isUnprinted = ({ repair }: Difference) =>
    /send the calls/.test(repair.text) && repair.calls.length === 0
  expect(open.filter(isUnprinted)).toEqual([])
  const corrected = (await wallet.recorded()).filter(({ transactionId }) => isRepair(transactionId))
  const begun = new Set(played.flatMap(({ call }) => (at(call.minute) < result.from ? [call.betId] : [])))
  for (const { betId } of corrected) {
    if (begun.has(betId)) continue
    expect(open.filter(({ wallet }) => wallet?.betId === betId && isRepair(wallet.transactionId))).toEqual([])
    const credits = new Map<string, number>()
    let isRolledBack = false
    for (const { operation, type = '', amount, status, ...row } of played
      .map(rowOf)
      .filter(row => row !== null)) {
      if (row.betId !== betId || status !== 'accepted') continue
      if (operation === 'rollbackbet') isRolledBack = true
      const credit = reverses[type] ?? type
      const sum =
        operation === 'settlement' ? Number(amount) : operation === 'unsettlement' ? -Number(amount) : 0
      credits.set(credit, (credits.get(credit) ?? 0) + sum)
    }
    const bet = (await wallet.lookups.bet(betId))?.bet
    const isReversible = bet?.credits.CASHOUT === undefined
    if (isRolledBack && isReversible && [...credits.values()].every(sum => sum === 0))
      expect(bet?.status).toBe('ROLLED_BACK')
  }
}

type Money = Pick<Call, 'operation'> & { accepted: boolean; amount: string | null }
/** What it changes the balance by, whatever the range is. */
function moneyOf(entry: Money | null): number {
  if (!entry?.accepted) return 0
  const isDebit = entry.operation === 'placebet' || entry.operation === 'unsettlement'
  return (isDebit ? -1 : 1) * Number(entry.amount)
}

const history = fc.record({
  courses: fc.array(course, { minLength: 1, maxLength: 4 }),
  /** On which day the calls of the first report are sent: outside of its range, or within. */
  sentOn: fc.constantFrom(0, 1),
  isSecondDayCompared: fc.boolean(),
})

/** @returns how many calls that the wallet alone has were sent */
async function playAndRepair(
  wallet: Wallet,
  { courses, sentOn, isSecondDayCompared }: typeof history extends fc.Arbitrary<infer T> ? T : never,
): Promise<number> {
  const played = courses.flatMap(callsOf).sort((one, other) => one.call.minute - other.call.minute)
  const play = async (number: number) => {
    await wallet.begin(number)
    for (const { call, fault } of played)
      if (dayOf(call.minute) === number && fault !== 'lost') await deliver(wallet.store, call)
  }
  await play(-1)
  await play(0)
  const first = played.filter(({ call }) => dayOf(call.minute) <= 0)
  await wallet.begin(sentOn)
  const settled = await converge(wallet, first, day)
  await expectSettled(settled, wallet, first)
  await expectWholePlans(settled, wallet, first)
  // The day after has nothing but the calls.
  expect(callsIn(await compareDays(wallet, first, days(1, 1)))).toEqual([])
  await play(1)
  if (isSecondDayCompared) await converge(wallet, played, days(1, 1))
  await expectSettled(await converge(wallet, played, days(-1, 1)), wallet, played)
  const recorded = await wallet.recorded()
  return recorded.filter(({ transactionId }) => transactionId.startsWith('repair-')).length
}

describe('the printed calls bring the wallet to what the platform counts', () => {
  test('in random histories with random faults', async () => {
    let repaired = 0
    await fc.assert(
      fc.asyncProperty(history, async each => {
        repaired += await playAndRepair(inMemory(), each)
      }),
      { numRuns: 100, seed: 20261121, endOnFailure: true },
    )
    expect(repaired).toBeGreaterThan(50)
  })

  test('in PostgreSQL', { timeout: 120_000 }, async () => {
    const postgres = await testedDatabases[0]?.open()
    if (postgres === undefined) throw new Error('no database')
    let repaired = 0
    try {
      await fc.assert(
        fc.asyncProperty(history, async each => {
          await postgres.run('TRUNCATE TRANSACTIONS, BETS, PLAYERS')
          for (const player of players)
            await postgres.run(`INSERT INTO PLAYERS VALUES ('${player}', 'EUR', ${initial})`)
          repaired += await playAndRepair(new Wallet(postgres.store, postgres.lookups), each)
        }),
        { numRuns: 40, seed: 20261121, endOnFailure: true },
      )
    } finally {
      await postgres.close()
    }
    expect(repaired).toBeGreaterThan(5)
  })
})

describe('a bet that the platform has rolled back, with a credit that the wallet alone has', () => {
  const make = (operation: Call['operation'], type: string, amount: string, minute: number): Call => ({
    ...{ operation, transactionId: `${operation}-${type}`, betId: 'b', playerId: 'anna' },
    ...{ type, amount, minute },
  })
  test.each([
    ['lost: all is reversed, then it is rolled back', 'BET_PAID', '0', 'ROLLED_BACK', 3],
    ['paid: what the platform counts stays', 'BET_PAID', '20', 'PLACED', 1],
    ['cashed out for nothing, which no call reverses', 'CASHOUT', '0', 'PLACED', 1],
  ])('%s', async (_, type, amount, status, count) => {
    const wallet = inMemory()
    await wallet.begin(0)
    const played: Played[] = [
      { call: make('placebet', '', '10', 0), fault: 'none' },
      { call: make('settlement', type, amount, 1), fault: 'none' },
      { call: make('settlement', 'VOIDED', '5', 2), fault: 'ghost' },
      { call: make('rollbackbet', '', '10', 3), fault: 'none' },
    ]
    for (const { call } of played) await deliver(wallet.store, call)
    expect(callsIn(await compareDays(wallet, played, day))).toHaveLength(count)
    const settled = await converge(wallet, played, day)
    await expectSettled(settled, wallet, played)
    await expectWholePlans(settled, wallet, played)
    expect((await wallet.lookups.bet('b'))?.bet?.status).toBe(status)
  })
})

test('a bet that is repaired twice gets calls with new ids', async () => {
  const wallet = inMemory()
  await wallet.begin(0)
  const make = (operation: Call['operation'], id: string, amount: string, minute: number): Call => ({
    ...{ operation, transactionId: id, betId: 'b', playerId: 'anna' },
    ...{ type: operation === 'settlement' ? 'BET_PAID' : '', amount, minute },
  })
  const played: Played[] = []
  for (const [call, fault] of [
    [make('placebet', 'p', '10', 0), 'none'],
    [make('settlement', 's-1', '20', 1), 'less'],
    [make('settlement', 's-2', '30', 2), 'ghost'],
  ] as const) {
    played.push({ call, fault })
    await deliver(wallet.store, call)
    await expectSettled(await converge(wallet, played, day), wallet, played)
  }
  const repairs = (await wallet.recorded()).filter(({ transactionId }) => transactionId.startsWith('repair-'))
  expect(repairs.map(({ transactionId }) => transactionId)).toEqual(
    [1, 2, 3, 4].map(each => `repair-b-${each}`),
  )
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
