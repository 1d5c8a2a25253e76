/** AU-54x: several settlements of one bet, and concurrent settlements (spec 3, 4.2, D17, D18). */

import { add, compare, subtract } from '../../numbers/decimal.js'
import { casesOf } from '../audit-case.js'
import { type CaseContext, eachRound } from '../case-context.js'
import { Skipped } from '../case-outcomes.js'
import type { Bet } from '../wallet-calls.js'
import { bothNeeds, eachReversal } from './clawbacks.js'

/** Settles a bet, as paid or as voided, and rolls it back almost at the same time. */
async function settleAndRollBack(
  { wallet, random, units, wait }: CaseContext,
  bet: Bet,
  index: number,
  round: number,
): Promise<void> {
  const settle = () =>
    index % 2 === 0
      ? wallet.trySettle(bet, 'BET_PAID', add(bet.amount, units(1)))
      : wallet.trySettle(bet, 'VOIDED', bet.amount)
  const calls = [settle, () => wallet.rollback(bet, undefined, `concurrent rollbackbet ${index + 1}`)]
  if (round % 2 === 0) calls.reverse()
  // Half of the pairs are sent in one moment.
  const afterMs = index % 4 < 2 ? 0 : random.between(1, 3)
  await Promise.all(
    calls.map(async (call, place) => {
      if (place > 0 && afterMs > 0) await wait(afterMs)
      await call()
    }),
  )
}

export const settlements = casesOf({
  'AU-538': {
    name: 'UNVOIDED debits what the void credited, even if that is less than the stake',
    source: 'spec 3, 4.2',
    quote: 'unvoided-debits',
    needs: bothNeeds,
    impact:
      'One leg of a multiple bet is voided and unvoided, and the player pays the whole stake a second time.',
    async run({ prepare, wallet, expect, between }) {
      const { bet, staked } = await prepare.openBet()
      await prepare.credited(bet, 'VOIDED', between(60, 90), staked)
      await expect.executed(wallet.unsettle(bet, 'UNVOIDED'), staked)
    },
  },
  'AU-539': {
    name: 'Several voids of one bet are debited together',
    source: 'spec 3, 4.2, D17, D18',
    quote: 'unvoided-debits',
    needs: bothNeeds,
    impact: 'Only one of several voids is collected: the player keeps the others, and the bet goes on.',
    async run({ prepare, wallet, expect, units }) {
      const { bet, staked } = await prepare.openBet()
      let balance = staked
      for (const count of [70, 40, 40]) balance = await prepare.credited(bet, 'VOIDED', units(count), balance)
      await expect.executed(wallet.unsettle(bet, 'UNVOIDED'), staked)
    },
  },
  'AU-540': {
    name: 'Of a bet with a payout and a void, UNSCORED debits the payout only, and UNVOIDED the void only',
    source: 'spec 3, 4.2, D18',
    quote: 'unscored-debits',
    needs: bothNeeds,
    impact: 'The correction of one result debits the credit of another as well.',
    async run({ prepare, wallet, expect, opening, units }) {
      let before = opening
      for (const [first, second] of [
        ['UNSCORED', 'UNVOIDED'],
        ['UNVOIDED', 'UNSCORED'],
      ] as const) {
        const { bet, staked } = await prepare.openBet(before)
        const voided = await prepare.credited(bet, 'VOIDED', units(70), staked)
        const paid = await prepare.credited(bet, 'BET_PAID', units(150), voided)
        const rest = first === 'UNSCORED' ? voided : add(staked, subtract(paid, voided))
        await expect.executed(wallet.unsettle(bet, first), rest)
        await expect.executed(wallet.unsettle(bet, second), staked)
        before = staked
      }
    },
  },
  'AU-541': {
    name: 'Concurrent copies of one settlement are credited once',
    source: 'D17',
    needs: ['settle'],
    impact: 'Two workers take the same message from the queue, and the winner is paid twice.',
    run: eachRound(async context => {
      const { prepare, wallet, expect, between, concurrently } = context
      const bet = wallet.bet()
      const payout = between(10, 30)
      const transactionId = wallet.id()
      const staked = await prepare.placed(bet, context.opening)
      const problems = await concurrently(() => wallet.trySettle(bet, 'BET_PAID', payout, transactionId))
      if (!problems.includes(null)) throw new Skipped(`a bet could not be settled: ${problems[0]}`)
      context.opening = add(staked, payout)
      await expect.balance(context.opening, `after ${problems.length} concurrent copies of one settlement`)
    }),
  },
  'AU-542': {
    name: 'Concurrent settlements and bets of one player are all applied: no update is lost',
    source: 'spec 3, D17',
    needs: ['settle'],
    impact: 'A payout and a stake are booked at the same moment, and one of them disappears.',
    run: eachRound(async ({ prepare, wallet, expect, settings, between }) => {
      const half = Math.ceil(settings.concurrency / 2)
      const settled = wallet.bets(half, () => between(10, 30))
      const placed = wallet.bets(half, () => between(10, 30))
      let balance = await expect.currentBalance()
      for (const bet of settled) balance = await prepare.placed(bet, balance)
      const payout = between(10, 30)
      const both = async (bet: Bet, index: number) => {
        const [, answer] = await Promise.all([
          wallet.settle(bet, 'BET_PAID', payout),
          wallet.place(placed[index] as Bet, 'concurrent placebet'),
        ])
        expect.success(answer)
      }
      await Promise.all(settled.map(both))
      for (const { amount } of placed) balance = subtract(add(balance, payout), amount)
      await expect.balance(balance, `after ${half} settlements and ${half} bets at the same time`)
    }),
  },
  'AU-543': {
    name: 'Concurrent settlements of one bet are all credited, and its unsettlement debits all of them',
    source: 'spec 4.2, D17, D18',
    quote: 'unscored-debits',
    needs: bothNeeds,
    impact: 'A payout in two parts is credited, but only one part can be collected again.',
    run: eachRound(async context => {
      const { prepare, wallet, expect, units, between, concurrently } = context
      const { bet, staked } = await prepare.openBet()
      let balance = staked
      for (const count of [11, 12]) balance = await prepare.credited(bet, 'BET_PAID', units(count), balance)
      const payout = between(10, 20)
      const problems = await concurrently(() => wallet.trySettle(bet, 'BET_PAID', payout))
      for (const problem of problems) if (problem === null) balance = add(balance, payout)
      await expect.balance(balance, `after ${problems.length} concurrent settlements of one bet`)
      await expect.executed(wallet.unsettle(bet, 'UNSCORED'), staked)
      context.opening = staked
    }),
  },
  'AU-544': {
    name: 'The retry of an unsettlement does not debit the payout of a later settlement',
    source: 'spec 1.5, 4.2, D2',
    quote: 'one-transaction',
    needs: bothNeeds,
    impact: 'A late duplicate of the first correction takes the corrected payout from the winner.',
    async run({ prepare, wallet, expect, between }) {
      const { bet, staked } = await prepare.openBet()
      await prepare.credited(bet, 'BET_PAID', between(400, 600), staked)
      const transactionId = wallet.id()
      await prepare.unsettled(bet, 'UNSCORED', staked, transactionId)
      const balance = await prepare.settled(bet, 'BET_PAID', between(250, 350), staked)
      const label = 'retry of the first unsettlement after the second payout'
      await expect.balanceAfter(wallet.unsettle(bet, 'UNSCORED', transactionId, label), balance)
      await expect.executed(wallet.unsettle(bet, 'UNSCORED'), staked)
    },
  },
  'AU-545': {
    name: 'A settlement that meets an unsettlement of its bet is debited by it, or by the next one',
    source: 'spec 4.2, D18',
    quote: 'unscored-debits',
    needs: bothNeeds,
    impact: 'A payout counts as collected that was never debited, and the player keeps it.',
    run: eachRound(async context => {
      const { prepare, wallet, expect, units, settings, random, between, wait } = context
      const bets = wallet.bets(Math.min(settings.concurrency, 8), () => between(40, 60))
      for (const bet of bets) context.opening = await prepare.placed(bet, context.opening)
      for (const bet of bets) await wallet.settle(bet, 'BET_PAID', units(11))
      const meeting = async (bet: Bet, index: number) => {
        const settled = async () => {
          if (index % 4 > 0) await wait(random.between(0, index))
          await wallet.trySettle(bet, 'BET_PAID', units(13))
        }
        await Promise.all([wallet.unsettle(bet, 'UNSCORED'), settled()])
        // It is refused where the first one has met both payouts.
        await wallet.unsettle(bet, 'UNSCORED')
      }
      await Promise.all(bets.map(meeting))
      const when = 'after concurrent settlements and unsettlements, and one unsettlement more'
      await expect.balance(context.opening, when)
    }),
  },
  'AU-546': {
    name: 'A rollback of a bet that was cashed out credits nothing',
    source: 'spec 4.3, D13',
    needs: ['settle'],
    impact: 'The player has sold the bet, and gets the stake in addition to the price.',
    async run({ prepare, wallet, expect, units }) {
      const { bet, staked } = await prepare.openBet()
      const balance = await prepare.settled(bet, 'CASHOUT', units(50), staked)
      const label = 'rollbackbet of a bet that was cashed out'
      await expect.balanceAfter(wallet.rollback(bet, undefined, label), balance)
    },
  },
  'AU-547': {
    // No MUST: a 4xx is final for the platform, which rolls back under a new transactionId then (AU-522).
    level: 'SHOULD',
    name: 'A rollback that was refused because of a payout succeeds when it is retried after the reversal',
    source: 'D8, D13',
    needs: bothNeeds,
    impact: 'The platform retries the rollback with its transactionId, and the stake stays in the wallet.',
    async run({ prepare, wallet, expect, opening, units }) {
      const { bet, staked } = await prepare.openBet()
      await prepare.credited(bet, 'BET_PAID', units(60), staked)
      const transactionId = wallet.id()
      await wallet.rollback(bet, transactionId, 'rollbackbet of a paid bet')
      expect.success(await wallet.unsettle(bet, 'UNSCORED'))
      await expect.executed(wallet.rollback(bet, transactionId, 'its retry'), opening)
    },
  },
  'AU-548': {
    name: 'Of a concurrent settlement and rollback of one bet, one is applied, and not both',
    source: 'spec 3, 4.3, D13, D17',
    needs: ['settle'],
    impact: 'The stake is returned, and the payout or the void is credited as well.',
    run: eachRound(async (context, round) => {
      const { prepare, wallet, expect, opening, units, settings } = context
      const bets = wallet.bets(Math.min(settings.concurrency, 8), () => units(20))
      let staked = opening
      for (const bet of bets) staked = await prepare.placed(bet, staked)
      await Promise.all(bets.map((bet, index) => settleAndRollBack(context, bet, index, round)))
      // A bet that was paid is one smallest unit more than its stake, and any other one is its stake.
      const most = add(opening, units(bets.length))
      const seen = await expect.currentBalance()
      const expected = compare(seen, opening) < 0 ? opening : compare(seen, most) > 0 ? most : seen
      await expect.balance(expected, `after ${bets.length} bets were settled and rolled back concurrently`)
      context.opening = expected
    }),
  },
  'AU-549': {
    name: 'A rollback of a bet that was voided in part does not return that part again',
    source: 'spec 4.3, D13',
    needs: ['settle'],
    impact: 'One leg of a multiple bet is voided, and a rollback returns the whole stake in addition.',
    async run({ prepare, wallet, expect, opening, between }) {
      const { bet, staked } = await prepare.openBet()
      const balance = await prepare.credited(bet, 'VOIDED', between(60, 90), staked)
      const answer = await wallet.rollback(bet, undefined, 'rollbackbet of a bet that was voided in part')
      // A wallet that returns the rest of the stake has corrected the balance too.
      const isRest = compare(await expect.currentBalance(), opening) === 0
      await expect.balanceAfter(answer, isRest ? opening : balance)
    },
  },
  'AU-550': {
    name: 'A rollback of a bet that was settled, unsettled and settled again credits nothing',
    source: 'spec 4.3, D13, D18',
    needs: bothNeeds,
    impact: 'After a corrected result, the player has both the second payout and the stake.',
    run: eachReversal(async ({ prepare, wallet, expect, units }, type, reversal) => {
      const { bet, staked } = await prepare.openBet()
      const amount = type === 'VOIDED' ? bet.amount : units(130)
      await prepare.credited(bet, type, amount, staked)
      await prepare.unsettled(bet, reversal, staked)
      const balance = await prepare.credited(bet, type, amount, staked)
      const label = `rollbackbet after ${type}, ${reversal} and ${type}`
      await expect.balanceAfter(wallet.rollback(bet, undefined, label), balance)
      return balance
    }),
  },
})
