/**
 * What an operator's own limits must do with concurrent bets, retries and faults, and what a rollback, a void, a
 * win and a clawback do to the sum. Each case takes a wallet with the rule in it.
 */
import type { WalletStore } from 'bet-wallet'
import fc from 'fast-check'
import { faultyStore } from '../../src/testing/faulty-store.js'
import { commitTogether } from '../../src/testing/gathered-commits.js'
import { fromCents } from '../../src/testing/platform.js'
import { withCommit } from '../../src/testing/stores-around.js'
import {
  check,
  LimitedPlayer,
  type LimitedWallet,
  type LimitKind,
  type OpenLimited,
  type Request,
  sendTo,
} from './limited-player.js'

export type LimitCases = Record<string, (open: OpenLimited) => Promise<void>>

const hourMs = 3_600_000

/** In a year with 25-hour days, 36 hours later is another day wherever the player lives. */
const periods = { stakes: 36 * hourMs, losses: 8 * 24 * hourMs }

const shared: Record<string, (open: OpenLimited, kind: LimitKind) => Promise<void>> = {
  'bets up to exactly the limit are accepted; a refused bet is final and does not count': exactly,
  'concurrent bets of one player, also in one list, never exceed the limit; other players can bet': inOneList,
  'the limit holds over two connections': overTwoConnections,
  'copies and retries of a bet count once': copies,
  'a bet whose answer was lost, or whose commit came late, counts once; one that never came does not': faults,
  'a bet counts as soon as it is committed, before it is answered': beforeTheAnswer,
  'a rollback makes room again, once': rollbacks,
  'a void makes room again, once, and its clawback takes it': voids,
  'a bet that another rule refuses does not count': otherRefusals,
  'a lower limit holds at once': lowerLimit,
  'the transactionDate of the platform does not decide when a bet counts (D25)': platformDate,
  'the next period has the whole limit, and a rollback of an earlier bet adds nothing': nextPeriod,
  'random bets, retries, rollbacks, voids, wins and clawbacks': randomPlay,
}

const sharedCases = (kind: LimitKind): LimitCases =>
  Object.fromEntries(Object.entries(shared).map(([name, run]) => [name, open => run(open, kind)]))

export const stakeCases: LimitCases = {
  ...sharedCases('stakes'),
  async 'a win makes no room, and its clawback takes none'(open) {
    const { anna } = await limited(open, 'stakes')
    await anna.place(['60'])
    await anna.settle(anna.lastBet, 'BET_PAID', '90')
    await anna.place(['40.01'])
    await anna.clawBack(anna.lastBet, 'BET_PAID')
    await anna.place(['40'])
  },
}

export const lossCases: LimitCases = {
  ...sharedCases('losses'),
  async 'a win makes room for what it credits, once, and its clawback takes it'(open) {
    const { anna } = await limited(open, 'losses')
    await anna.place(['100'])
    const bet = anna.lastBet
    await anna.settle(bet, 'BET_PAID', '60')
    await anna.retryAll()
    await anna.place(['60.01'])
    await anna.place(['50'])
    await anna.clawBack(bet, 'BET_PAID')
    await anna.retryAll()
    await anna.place(['0.01'])
    await anna.settle(anna.lastBet, 'BET_PAID', '60')
    await anna.place(['0.01'])
  },
  async 'a clawback that the funds do not cover changes nothing (D7)'(open) {
    const { anna } = await limited(open, 'losses', { limit: '150', balance: '100' })
    await anna.place(['100'])
    const bet = anna.lastBet
    await anna.settle(bet, 'BET_PAID', '60')
    await anna.place(['60'])
    await anna.clawBack(bet, 'BET_PAID', false)
    await anna.settle(anna.lastBet, 'BET_PAID', '40')
    // Lost 60 of 150: these funds are within the limit, and would not be with the clawback.
    await anna.place(['40'])
  },
}

export const exclusionCases: LimitCases = {
  async 'no bet is accepted, not even with a stake of 0; money still returns; other players can bet'(open) {
    const { wallet, send } = await withoutLimit(open)
    for (const n of [1, 2, 3]) await send('placebet', n, { amount: '30' }, true)
    await wallet.exclude('anna', null)
    await send('placebet', 4, { amount: '1' }, false)
    await send('placebet', 5, { amount: '0' }, false)
    await send('placebet', 6, { playerId: 'ben', amount: '1' }, true)
    await send('placebet', 7, { playerId: 'ben', amount: '0' }, true)
    await send('rollbackbet', 1, {}, true)
    await send('settlement', 2, { amount: '60' }, true)
    await send('unsettlement', 2, {}, true)
    await send('settlement', 3, { amount: '0' }, true)
    const keys = { operation: 'placebet', transactionId: 't-1', playerId: 'anna', betId: 'b-1' } as const
    const [player] = (await wallet.store.load(keys)).accounts
    check(Number(player?.balance) === 99_940, 'a balance of 99940', player)
  },
  async 'it holds from its moment, also for bets that are about to be committed'(open) {
    const { wallet } = await withoutLimit(open)
    const amounts = ['30', '0', '20']
    const results = await commitTogether(
      amounts.map((amount, n) => ({
        store: wallet.store,
        run: store =>
          sendTo({ ...wallet, store }, [
            'placebet',
            { transactionId: `t-${n}`, betId: `b-${n}`, playerId: 'anna', amount },
          ]),
      })),
      async () => void (await wallet.exclude('anna', null)),
    )
    for (const [n, result] of results.entries()) expectRefused(amounts[n] ?? '', result)
  },
  async 'it holds on a second connection too'(open) {
    const { wallet, send } = await withoutLimit(open)
    const second = wallet.connect()
    await send('placebet', 1, { amount: '30' }, true, second)
    await wallet.exclude('anna', null)
    await send('placebet', 2, { amount: '0' }, false, second)
    await send('placebet', 3, { amount: '30' }, false, second)
  },
  async 'a cool-off ends at its time'(open) {
    const { wallet, send } = await withoutLimit(open)
    await wallet.exclude('anna', 24 * hourMs)
    await send('placebet', 1, { amount: '30' }, false)
    await wallet.advanceClock(23 * hourMs)
    await send('placebet', 2, { amount: '30' }, false)
    await wallet.advanceClock(2 * hourMs)
    await send('placebet', 3, { amount: '30' }, true)
    await send('placebet', 4, { amount: '0' }, true)
  },
}

const playersWith = (balance: string) =>
  ['anna', 'ben'].map(playerId => ({ playerId, currency: 'EUR', balance }))

/** A wallet with anna, whose limit is 100 of 100,000, and with ben, who has none. */
async function limited(
  open: OpenLimited,
  kind: LimitKind,
  { limit = '100', balance = '100000' } = {},
): Promise<{ wallet: LimitedWallet; anna: LimitedPlayer }> {
  const wallet = await open(playersWith(balance))
  const anna = new LimitedPlayer(wallet, 'anna', kind)
  await anna.limitTo(limit)
  return { wallet, anna }
}

async function exactly(open: OpenLimited, kind: LimitKind): Promise<void> {
  const { anna } = await limited(open, kind)
  await anna.place(['60'])
  await anna.place(['40.01'])
  await anna.place(['40'])
  await anna.place(['0.01'])
  await anna.retryAll()
}

async function inOneList(open: OpenLimited, kind: LimitKind): Promise<void> {
  const { wallet, anna } = await limited(open, kind)
  await anna.place(['10'])
  const bens = [1, 2, 3].map(n => ({
    transactionId: `t-meanwhile-${n}`,
    betId: `b-meanwhile-${n}`,
    playerId: 'ben',
    amount: '90',
  }))
  const sendBens = async () => {
    for (const fields of bens) {
      const result = await sendTo(wallet, ['placebet', fields])
      check(result.ok, 'the bet of ben to succeed: he has no limit', result)
    }
  }
  await anna.place(['20', '20', '20', '20', '20', '20', '20', '20'], { meanwhile: sendBens })
  const ben = new LimitedPlayer(wallet, 'ben', kind)
  await ben.limitTo('1000')
  await Promise.all([anna.place(['9', '7', '5', '4', '3', '1']), ben.place(['9', '7', '5', '4', '3', '1'])])
}

async function overTwoConnections(open: OpenLimited, kind: LimitKind): Promise<void> {
  const { wallet, anna } = await limited(open, kind)
  const second = wallet.connect()
  const stores = [wallet.store, second]
  await anna.place(['20'])
  await anna.place(['20'], { stores: [second] })
  await anna.place(['15', '15', '15', '15', '15', '15', '15', '15'], { stores })
  await anna.place(['15'], { stores: [second] })
}

async function copies(open: OpenLimited, kind: LimitKind): Promise<void> {
  const { anna } = await limited(open, kind)
  await anna.placeCopies('30', 5)
  await anna.retryAll()
  await anna.place(['70.01'])
  await anna.place(['70'])
  await anna.retryAll()
}

async function faults(open: OpenLimited, kind: LimitKind): Promise<void> {
  const { wallet, anna } = await limited(open, kind)
  const faulty = faultyStore(wallet.store)
  for (const fault of ['lost-answer', 'lost-request', 'delayed'] as const) {
    faulty.failNext(fault)
    const request = anna.bet('20')
    await anna.send(request, faulty)
    anna.judge([{ request, result: await anna.send(request, faulty) }])
    await faulty.deliverDelayed()
  }
  // Given up by the platform: its commit never comes, or comes after the rollback.
  for (const fault of ['lost-request', 'delayed'] as const) {
    faulty.failNext(fault)
    const request = anna.bet('20')
    await anna.send(request, faulty)
    await anna.send(anna.rollbackOf(request[1].betId))
    await faulty.deliverDelayed()
  }
  await anna.place(['40.01'])
  await anna.place(['40'])
}

async function beforeTheAnswer(open: OpenLimited, kind: LimitKind): Promise<void> {
  const { wallet, anna } = await limited(open, kind)
  let answer = () => {}
  const answered = new Promise<void>(resolve => {
    answer = resolve
  })
  let commit = () => {}
  const committed = new Promise<void>(resolve => {
    commit = resolve
  })
  const { store } = wallet
  const slow = withCommit(store, async changes => {
    const result = await store.commit(changes)
    commit()
    await answered
    return result
  })
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

async function rollbacks(open: OpenLimited, kind: LimitKind): Promise<void> {
  const { wallet, anna } = await limited(open, kind)
  await anna.place(['60'])
  const bet = anna.lastBet
  await anna.place(['40'])
  await anna.rollBack(bet)
  await anna.rollBack(bet)
  await anna.rollBack(null)
  await anna.retryAll()
  await anna.place(['60.01'])
  await anna.place(['60'])
  await anna.place(['0.01'])
  // A bet and its own rollback at once: in whatever order, nothing of it counts.
  await anna.rollBack(anna.lastBet)
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

async function voids(open: OpenLimited, kind: LimitKind): Promise<void> {
  const { anna } = await limited(open, kind)
  await anna.place(['60'])
  const bet = anna.lastBet
  await anna.settle(bet, 'VOIDED', '60')
  await anna.retryAll()
  await anna.place(['100.01'])
  await anna.place(['90'])
  const later = anna.lastBet
  await anna.clawBack(bet, 'VOIDED')
  await anna.retryAll()
  await anna.place(['0.01'])
  await anna.rollBack(later)
  await anna.place(['40.01'])
  await anna.place(['40'])
}

async function otherRefusals(open: OpenLimited, kind: LimitKind): Promise<void> {
  const { anna } = await limited(open, kind)
  await anna.place(['10'])
  const { betId } = anna.lastBet
  await anna.rollBack(null)
  for (const request of [
    anna.bet('60', { currency: 'USD' }),
    anna.bet('60', { betId }),
    anna.bet('200000'),
  ]) {
    const result = await anna.send(request)
    check(!result.ok && !('fault' in result), 'a refusal by a rule of the wallet', result)
  }
  await anna.place(['90.01'])
  await anna.place(['90'])
}

async function lowerLimit(open: OpenLimited, kind: LimitKind): Promise<void> {
  const { anna } = await limited(open, kind)
  await anna.place(['20', '20', '20', '20'], { meanwhile: () => anna.limitTo('50') })
  await anna.place(['10.01'])
  await anna.place(['10'])
  await anna.limitTo('70')
  await anna.place(['20.01'])
  await anna.place(['20'])
}

async function platformDate(open: OpenLimited, kind: LimitKind): Promise<void> {
  const { anna } = await limited(open, kind)
  for (const transactionDate of ['2020-02-29T12:00:00Z', '2026-11-21T18:00:00Z', '2040-01-01T00:00:00Z'])
    await anna.place(['40'], { transactionDate })
}

async function nextPeriod(open: OpenLimited, kind: LimitKind): Promise<void> {
  const { wallet, anna } = await limited(open, kind)
  await anna.place(['100'])
  const bet = anna.lastBet
  await wallet.advanceClock(periods[kind])
  anna.forgetPast()
  await anna.place(['100'])
  await anna.place(['0.01'])
  await anna.rollBack(bet)
  await anna.place(['0.01'])
}

/** The random players of one wallet. */
const playersPerWallet = 25

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

async function randomPlay(open: OpenLimited, kind: LimitKind): Promise<void> {
  let wallet: LimitedWallet | null = null
  let count = 0
  const property = fc.asyncProperty(fc.array(step, { maxLength: 24, size: 'max' }), async steps => {
    if (wallet === null || count % playersPerWallet === 0) {
      const players = Array.from({ length: playersPerWallet }, (_, n) => `anna-${count + n}`)
      wallet = await open(players.map(playerId => ({ playerId, currency: 'EUR', balance: '100000' })))
    }
    const anna = new LimitedPlayer(wallet, `anna-${count++}`, kind)
    await anna.limitTo('100')
    for (const each of steps) await play(anna, each)
    await anna.retryAll()
  })
  const { failed, errorInstance } = await fc.check(property, { seed: 1, numRuns: 15 })
  if (failed) throw errorInstance
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
async function withoutLimit(open: OpenLimited) {
  const wallet = await open(playersWith('100000'))
  return {
    wallet,
    async send(
      operation: Request[0],
      n: number,
      fields: { playerId?: string; amount?: string },
      isAccepted: boolean,
      store: WalletStore = wallet.store,
    ): Promise<void> {
      const { playerId = 'anna' } = fields
      const ids = { transactionId: `t-${n}`, betId: `b-${n}`, playerId }
      const result = await sendTo({ ...wallet, store }, [operation, { ...ids, ...fields }])
      if (!isAccepted) expectRefused(fields.amount ?? '', result)
      else check(result.ok, `the ${operation} of ${playerId} to succeed`, result)
    },
  }
}

function expectRefused(amount: string, result: Awaited<ReturnType<typeof sendTo>>): void {
  const isRefused = !result.ok && !('fault' in result)
  const bet = Number(amount) === 0 ? 'a free bet (stake 0)' : `a bet of ${amount}`
  check(
    isRefused,
    `a refusal of ${bet}: anna is excluded`,
    result.ok ? `exclusion passed: anna is excluded, and ${bet} was accepted` : result,
  )
}
