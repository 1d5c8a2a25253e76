/**
 * The operator's own limits: concurrent bets, retries, faults, and what a rollback, a void, a win and a
 * clawback do to the sum.
 */
import fc from 'fast-check'
import type { WalletStore } from '../../store.js'
import type { CaseContext, CaseDefinition } from '../case-context.js'
import { faultyStore } from '../faulty-store.js'
import { commitTogether } from '../gathered-commits.js'
import { callHook } from '../hook-calls.js'
import { LimitedPlayer, type LimitKind } from '../limited-player.js'
import { fromCents } from '../platform.js'
import { call } from '../platform-calls.js'
import type { Wallet } from '../wallet.js'
import { withLoadConfirmed } from '../with-load-confirmed.js'
import { everyRun } from './histories.js'

type Needs = NonNullable<CaseDefinition['needs']>
type Run = (context: CaseContext, kind: LimitKind) => Promise<void>

const hourMs = 3_600_000

/** In a year with 25-hour days, 36 hours later is another day wherever the player lives. */
const periods = {
  stakes: { hook: 'limitStakes', name: 'Stakes per day', ms: 36 * hourMs },
  losses: { hook: 'limitLosses', name: 'Losses per week', ms: 8 * 24 * hourMs },
} as const

/** Of both kinds: WL-01 of stakes is WL-21 of losses. */
const shared: readonly [name: string, run: Run, needs?: Needs][] = [
  ['bets up to exactly the limit are accepted; a refused bet is final and does not count', exactly],
  [
    'concurrent bets of one player, also in one list, never exceed the limit; other players can bet',
    inOneList,
  ],
  ['the limit holds over two connections', overTwoConnections, ['reopen']],
  ['copies and retries of a bet count once', copies],
  [
    'a bet whose answer was lost, or whose commit came late, counts once; one that never came does not',
    faults,
  ],
  ['a bet counts as soon as it is committed, before it is answered', beforeTheAnswer],
  ['a rollback makes room again, once', rollbacks],
  ['a void makes room again, once, and its clawback takes it', voids],
  ['a bet that another rule refuses does not count', otherRefusals],
  ['a lower limit holds at once', lowerLimit],
  ['the transactionDate of the platform does not decide when a bet counts (D25)', platformDate],
  [
    'the next period has the whole limit, and a rollback of an earlier bet adds nothing',
    nextPeriod,
    ['advanceClock'],
  ],
  ['random bets, retries, rollbacks, voids, wins and clawbacks', randomPlay],
]

const sharedCases = (kind: LimitKind, first: number): CaseDefinition[] =>
  shared.map(([name, run, needs = []], index) => ({
    id: `WL-${String(first + index).padStart(2, '0')}`,
    level: 'MUST',
    name: `${periods[kind].name}: ${name}`,
    needs: [periods[kind].hook, ...needs],
    run: context => run(context, kind),
  }))

export const limitDefinitions: readonly CaseDefinition[] = [
  ...sharedCases('stakes', 1),
  {
    id: 'WL-19',
    level: 'MUST',
    name: 'Stakes per day: a win makes no room, and its clawback takes none',
    needs: ['limitStakes'],
    async run(context) {
      const { anna } = await limited(context, 'stakes')
      await anna.place(['60'])
      await anna.settle(lastBetOf(anna), 'BET_PAID', '90')
      await anna.place(['40.01'])
      await anna.clawBack(lastBetOf(anna), 'BET_PAID')
      await anna.place(['40'])
    },
  },
  ...sharedCases('losses', 21),
  {
    id: 'WL-38',
    level: 'MUST',
    name: 'Losses per week: a win makes room for what it credits, once, and its clawback takes it',
    needs: ['limitLosses'],
    async run(context) {
      const { anna } = await limited(context, 'losses')
      await anna.place(['100'])
      const bet = lastBetOf(anna)
      await anna.settle(bet, 'BET_PAID', '60')
      await anna.retryAll()
      await anna.place(['60.01'])
      await anna.place(['50'])
      await anna.clawBack(bet, 'BET_PAID')
      await anna.retryAll()
      await anna.place(['0.01'])
      await anna.settle(lastBetOf(anna), 'BET_PAID', '60')
      await anna.place(['0.01'])
    },
  },
  {
    id: 'WL-39',
    level: 'MUST',
    name: 'Losses per week: a clawback that the funds do not cover changes nothing (D7)',
    needs: ['limitLosses'],
    async run(context) {
      const { anna } = await limited(context, 'losses', { limit: '150', balance: '100' })
      await anna.place(['100'])
      const bet = lastBetOf(anna)
      await anna.settle(bet, 'BET_PAID', '60')
      await anna.place(['60'])
      await anna.clawBack(bet, 'BET_PAID', false)
      await anna.settle(lastBetOf(anna), 'BET_PAID', '40')
      // Lost 60 of 150: these funds are within the limit, and would not be with the clawback.
      await anna.place(['40'])
    },
  },
  {
    id: 'WL-41',
    level: 'MUST',
    name: 'Exclusion: no bet is accepted, not even with a stake of 0; money still returns; other players can bet',
    needs: ['exclude'],
    async run(context) {
      const { wallet, send, exclude } = await withoutLimit(context)
      for (const n of [1, 2, 3]) await send('placebet', n, { playerId: 'anna', amount: '30' }, true)
      await exclude(null)
      await send('placebet', 4, { playerId: 'anna', amount: '1' }, false)
      await send('placebet', 5, { playerId: 'anna', amount: '0' }, false)
      await send('placebet', 6, { playerId: 'ben', amount: '1' }, true)
      await send('placebet', 7, { playerId: 'ben', amount: '0' }, true)
      await send('rollbackbet', 1, { playerId: 'anna' }, true)
      await send('settlement', 2, { playerId: 'anna', amount: '60' }, true)
      await send('unsettlement', 2, { playerId: 'anna' }, true)
      await send('settlement', 3, { playerId: 'anna', amount: '0' }, true)
      await wallet.expectBalance('anna', '99940')
    },
  },
  {
    id: 'WL-42',
    level: 'MUST',
    name: 'Exclusion: it holds from its moment, also for bets that are about to be committed',
    needs: ['exclude'],
    async run(context) {
      const { wallet, exclude } = await withoutLimit(context)
      const amounts = ['30', '0', '20']
      const results = await commitTogether(
        amounts.map((amount, n) => ({
          store: wallet.store,
          run: (store: WalletStore) =>
            call(
              context,
              store,
              'placebet',
              { transactionId: `t-${n}`, betId: `b-${n}`, amount },
              context.harness.walletOptions?.(wallet.opened),
            ),
        })),
        () => exclude(null),
      )
      for (const [n, result] of results.entries()) expectRefused(context, amounts[n] ?? '', result)
    },
  },
  {
    id: 'WL-43',
    level: 'MUST',
    name: 'Exclusion: it holds on a second connection too',
    needs: ['exclude', 'reopen'],
    async run(context) {
      const { wallet, send, exclude } = await withoutLimit(context)
      const second = await wallet.connectBy('reopen')
      await send('placebet', 1, { playerId: 'anna', amount: '30' }, true, second.store)
      await exclude(null)
      await send('placebet', 2, { playerId: 'anna', amount: '0' }, false, second.store)
      await send('placebet', 3, { playerId: 'anna', amount: '30' }, false, second.store)
    },
  },
  {
    id: 'WL-44',
    level: 'MUST',
    name: 'Exclusion: a cool-off ends at its time',
    needs: ['exclude', 'advanceClock'],
    async run(context) {
      const { send, exclude, advance } = await withoutLimit(context)
      await exclude(24 * hourMs)
      await send('placebet', 1, { playerId: 'anna', amount: '30' }, false)
      await advance(23 * hourMs)
      await send('placebet', 2, { playerId: 'anna', amount: '30' }, false)
      await advance(2 * hourMs)
      await send('placebet', 3, { playerId: 'anna', amount: '30' }, true)
      await send('placebet', 4, { playerId: 'anna', amount: '0' }, true)
    },
  },
]

/** A store with anna, whose limit is 100 of 100,000, and with ben, who has none. */
async function limited(
  context: CaseContext,
  kind: LimitKind,
  { limit = '100', balance = '100000' } = {},
): Promise<{ wallet: Wallet; anna: LimitedPlayer }> {
  const wallet = await context.open([
    { playerId: 'anna', currency: 'EUR', balance },
    { playerId: 'ben', currency: 'EUR', balance },
  ])
  const anna = new LimitedPlayer(context, wallet, 'anna', kind)
  await anna.limitTo(limit)
  return { wallet, anna }
}

function lastBetOf({ bets }: LimitedPlayer) {
  const bet = bets.at(-1)
  if (bet === undefined) throw new Error('unreachable: a bet was accepted')
  return bet
}

async function exactly(context: CaseContext, kind: LimitKind): Promise<void> {
  const { anna } = await limited(context, kind)
  await anna.place(['60'])
  await anna.place(['40.01'])
  await anna.place(['40'])
  await anna.place(['0.01'])
  await anna.retryAll()
}

async function inOneList(context: CaseContext, kind: LimitKind): Promise<void> {
  const { wallet, anna } = await limited(context, kind)
  await anna.place(['10'])
  const bens = [1, 2, 3].map(n => ({
    transactionId: `t-meanwhile-${n}`,
    betId: `b-meanwhile-${n}`,
    playerId: 'ben',
    amount: '90',
  }))
  const options = context.harness.walletOptions?.(wallet.opened)
  const sendBens = async () => {
    for (const fields of bens) {
      const result = await call(context, wallet.store, 'placebet', fields, options)
      context.check(result.ok, 'the bet of ben to succeed: he has no limit', result)
    }
  }
  await anna.place(['20', '20', '20', '20', '20', '20', '20', '20'], { meanwhile: sendBens })
  const ben = new LimitedPlayer(context, wallet, 'ben', kind)
  await ben.limitTo('1000')
  await Promise.all([anna.place(['9', '7', '5', '4', '3', '1']), ben.place(['9', '7', '5', '4', '3', '1'])])
}

async function overTwoConnections(context: CaseContext, kind: LimitKind): Promise<void> {
  const { wallet, anna } = await limited(context, kind)
  const second = await wallet.connectBy('reopen')
  const stores = [wallet.store, second.store]
  await anna.place(['20'])
  await anna.place(['20'], { stores: [second.store] })
  await anna.place(['15', '15', '15', '15', '15', '15', '15', '15'], { stores })
  await anna.place(['15'], { stores: [second.store] })
}

async function copies(context: CaseContext, kind: LimitKind): Promise<void> {
  const { anna } = await limited(context, kind)
  await anna.placeCopies('30', 5)
  await anna.retryAll()
  await anna.place(['70.01'])
  await anna.place(['70'])
  await anna.retryAll()
}

async function faults(context: CaseContext, kind: LimitKind): Promise<void> {
  const { wallet, anna } = await limited(context, kind)
  const faulty = faultyStore(wallet.store)
  for (const fault of ['lost-answer', 'lost-request', 'delayed'] as const) {
    context.trace.note('kit', `injects a fault: ${fault}`)
    faulty.failNext(fault)
    const request = anna.bet('20')
    await anna.send(request, faulty)
    anna.judge([{ request, result: await anna.send(request, faulty) }])
    await faulty.deliverDelayed()
  }
  // Given up by the platform: its commit never comes, or comes after the rollback.
  for (const fault of ['lost-request', 'delayed'] as const) {
    context.trace.note('kit', `injects a fault: ${fault}`)
    faulty.failNext(fault)
    const request = anna.bet('20')
    await anna.send(request, faulty)
    await anna.send(anna.rollbackOf(request[1].betId))
    await faulty.deliverDelayed()
  }
  await anna.place(['40.01'])
  await anna.place(['40'])
}

async function beforeTheAnswer(context: CaseContext, kind: LimitKind): Promise<void> {
  const { wallet, anna } = await limited(context, kind)
  let answer = () => {}
  const answered = new Promise<void>(resolve => {
    answer = resolve
  })
  let commit = () => {}
  const committed = new Promise<void>(resolve => {
    commit = resolve
  })
  const { store } = wallet
  const slow: WalletStore = {
    contractVersion: store.contractVersion,
    load: keys => store.load(keys),
    ...withLoadConfirmed(store, (keys, loadConfirmed) => loadConfirmed(keys)),
    async commit(changes) {
      const result = await store.commit(changes)
      commit()
      await answered
      return result
    },
  }
  const [first, second] = [anna.bet('60'), anna.bet('60')]
  const firstResult = anna.send(first, slow)
  await Promise.race([committed, firstResult])
  const result = await anna.send(second)
  answer()
  anna.judge([
    { request: first, result: await firstResult },
    { request: second, result },
  ])
}

async function rollbacks(context: CaseContext, kind: LimitKind): Promise<void> {
  const { wallet, anna } = await limited(context, kind)
  await anna.place(['60'])
  const bet = lastBetOf(anna)
  await anna.place(['40'])
  await anna.rollBack(bet)
  await anna.rollBack(bet)
  await anna.rollBack(null)
  await anna.retryAll()
  await anna.place(['60.01'])
  await anna.place(['60'])
  await anna.place(['0.01'])
  // A bet and its own rollback at once: in whatever order, nothing of it counts.
  await anna.rollBack(lastBetOf(anna))
  const request = anna.bet('30')
  await commitTogether(
    [request, anna.rollbackOf(request[1].betId)].map(each => ({
      store: wallet.store,
      run: (store: WalletStore) => anna.send(each, store),
    })),
  )
  await anna.place(['60.01'])
  await anna.place(['60'])
}

async function voids(context: CaseContext, kind: LimitKind): Promise<void> {
  const { anna } = await limited(context, kind)
  await anna.place(['60'])
  const bet = lastBetOf(anna)
  await anna.settle(bet, 'VOIDED', '60')
  await anna.retryAll()
  await anna.place(['100.01'])
  await anna.place(['90'])
  const later = lastBetOf(anna)
  await anna.clawBack(bet, 'VOIDED')
  await anna.retryAll()
  await anna.place(['0.01'])
  await anna.rollBack(later)
  await anna.place(['40.01'])
  await anna.place(['40'])
}

async function otherRefusals(context: CaseContext, kind: LimitKind): Promise<void> {
  const { anna } = await limited(context, kind)
  await anna.place(['10'])
  const { betId } = lastBetOf(anna)
  await anna.rollBack(null)
  for (const request of [
    anna.bet('60', { currency: 'USD' }),
    anna.bet('60', { betId }),
    anna.bet('200000'),
  ]) {
    const result = await anna.send(request)
    context.check(!result.ok && !('fault' in result), 'a refusal by a rule of the wallet', result)
  }
  await anna.place(['90.01'])
  await anna.place(['90'])
}

async function lowerLimit(context: CaseContext, kind: LimitKind): Promise<void> {
  const { anna } = await limited(context, kind)
  await anna.place(['20', '20', '20', '20'], { meanwhile: () => anna.limitTo('50') })
  await anna.place(['10.01'])
  await anna.place(['10'])
  await anna.limitTo('70')
  await anna.place(['20.01'])
  await anna.place(['20'])
}

async function platformDate(context: CaseContext, kind: LimitKind): Promise<void> {
  const { anna } = await limited(context, kind)
  for (const transactionDate of ['2020-02-29T12:00:00Z', '2026-11-21T18:00:00Z', '2040-01-01T00:00:00Z'])
    await anna.place(['40'], { transactionDate })
}

async function nextPeriod(context: CaseContext, kind: LimitKind): Promise<void> {
  const { wallet, anna } = await limited(context, kind)
  await anna.place(['100'])
  const bet = lastBetOf(anna)
  await advanceClock(context, wallet, periods[kind].ms)
  anna.forgetPast()
  await anna.place(['100'])
  await anna.place(['0.01'])
  await anna.rollBack(bet)
  await anna.place(['0.01'])
}

async function advanceClock(
  { harness, trace }: CaseContext,
  { opened }: Wallet,
  milliseconds: number,
): Promise<void> {
  trace.note('kit', `moves the clock forward by ${milliseconds / hourMs} hours`)
  await callHook(trace, 'advanceClock', () => harness.advanceClock?.(opened, milliseconds))
}

/** The random players of one store. */
const playersPerStore = 25

/** Few amounts and few bets: so that bets reach the limit, and most steps find a bet. */
const amount = fc.constantFrom('0.01', '9.99', '25', '40.50', '60', '100')
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      step: fc.constant('place' as const),
      amounts: fc.array(amount, { minLength: 1, maxLength: 4 }),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      step: fc.constantFrom('rollback', 'void', 'win', 'clawback' as const),
      bet: fc.nat(2),
      amount,
    }),
  },
  { weight: 1, arbitrary: fc.record({ step: fc.constant('retry' as const) }) },
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

async function randomPlay(context: CaseContext, kind: LimitKind): Promise<void> {
  let wallet: Wallet | null = null
  let count = 0
  const options = { ...context.options, runs: Math.ceil(context.options.runs / 4) }
  await everyRun(
    context,
    fc.array(step, { maxLength: 24, size: 'max' }),
    async steps => {
      if (wallet === null || count % playersPerStore === 0) {
        await context.closeAll()
        const players = Array.from({ length: playersPerStore }, (_, n) => `anna-${count + n}`)
        wallet = await context.open(
          players.map(playerId => ({ playerId, currency: 'EUR', balance: '100000' })),
        )
      }
      context.trace.reset()
      const anna = new LimitedPlayer(context, wallet, `anna-${count++}`, kind)
      await anna.limitTo('100')
      for (const each of steps) await play(anna, each)
      await anna.retryAll()
    },
    options,
  )
}

/** A step that is not possible for its bet is left out. */
async function play(anna: LimitedPlayer, each: Step): Promise<void> {
  if (each.step === 'place') return await anna.place(each.amounts)
  if (each.step === 'retry') return await anna.retryAll()
  const bet = anna.bets.at(-1 - each.bet)
  if (bet === undefined || bet.isRolledBack) return
  const { live, stake } = bet
  if (each.step === 'rollback' && live.size === 0) await anna.rollBack(bet)
  if (each.step === 'void' && live.size === 0) await anna.settle(bet, 'VOIDED', fromCents(stake))
  if (each.step === 'win' && !live.has('VOIDED')) await anna.settle(bet, 'BET_PAID', each.amount)
  if (each.step !== 'clawback') return
  if (live.has('VOIDED')) await anna.clawBack(bet, 'VOIDED')
  else if (live.has('BET_PAID')) await anna.clawBack(bet, 'BET_PAID')
}

/** Anna and ben, and calls whose result is known. */
async function withoutLimit(context: CaseContext) {
  const wallet = await context.open([
    { playerId: 'anna', currency: 'EUR', balance: '100000' },
    { playerId: 'ben', currency: 'EUR', balance: '100000' },
  ])
  const { harness, trace } = context
  return {
    wallet,
    async send(
      operation: Parameters<typeof call>[2],
      n: number,
      fields: { playerId: string; amount?: string },
      isAccepted: boolean,
      store = wallet.store,
    ): Promise<void> {
      const ids = { transactionId: `t-${n}`, betId: `b-${n}` }
      const options = harness.walletOptions?.(wallet.opened)
      const result = await call(context, store, operation, { ...ids, ...fields }, options)
      if (!isAccepted) expectRefused(context, fields.amount ?? '', result)
      else context.check(result.ok, `the ${operation} of ${fields.playerId} to succeed`, result)
    },
    async exclude(milliseconds: number | null): Promise<void> {
      const until = milliseconds === null ? 'permanently' : `for ${milliseconds / hourMs} hours`
      trace.note('PAM', `excludes anna ${until}`)
      await callHook(trace, 'exclude', () => harness.exclude?.(wallet.opened, 'anna', milliseconds))
    },
    advance: (milliseconds: number) => advanceClock(context, wallet, milliseconds),
  }
}

function expectRefused(context: CaseContext, amount: string, result: Awaited<ReturnType<typeof call>>): void {
  const isRefused = !result.ok && !('fault' in result)
  const bet = Number(amount) === 0 ? 'a free bet (stake 0)' : `a bet of ${amount}`
  context.check(
    isRefused,
    `a refusal of ${bet}: anna is excluded`,
    result.ok ? `exclusion passed: anna is excluded, and ${bet} was accepted` : result,
  )
}
