/** AU-54x: several settlements of one bet, and concurrent settlements (spec 3, 4.2, D17, D18). */

import { add, compare, subtract } from '../../numbers/decimal.js'
import { casesOf } from '../audit-case.js'
import type { CaseContext } from '../case-context.js'
import { Skipped } from '../case-outcomes.js'
import type { Bet } from '../wallet-calls.js'

const bothNeeds = ['settle', 'clawbacks'] as const

/** Settles a bet, as paid or as voided, and rolls it back almost at the same time. */
async function settleAndRollBack(
  { wallet, units, random, wait }: CaseContext,
  bet: Bet,
  index: number,
  round: number,
): Promise<void> {
  const isPaid = index % 2 === 0
  const calls = [
    () =>
      wallet.trySettle(bet, isPaid ? 'BET_PAID' : 'VOIDED', isPaid ? add(bet.amount, units(1)) : bet.amount),
    () => wallet.rollback(bet, undefined, `concurrent rollbackbet ${index + 1} (round ${round})`),
  ]
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
    async run({ prepare, wallet, expect, units, random }) {
      const { bet, staked } = await prepare.openBet()
      await prepare.credited(bet, 'VOIDED', units(random.between(60, 90)), staked)
      expect.success(await wallet.unsettle(bet, 'UNVOIDED'), staked)
      await expect.balance(staked, 'after UNVOIDED of a void of a part of the stake')
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
      await expect.executed(await wallet.unsettle(bet, 'UNVOIDED'), staked, 'after UNVOIDED of three voids')
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
      for (const first of ['UNSCORED', 'UNVOIDED'] as const) {
        const { bet, staked } = await prepare.openBet(before)
        const voided = await prepare.credited(bet, 'VOIDED', units(70), staked)
        const paid = await prepare.credited(bet, 'BET_PAID', units(150), voided)
        const payout = subtract(paid, voided)
        const rest = first === 'UNSCORED' ? voided : add(staked, payout)
        expect.success(await wallet.unsettle(bet, first), rest)
        await expect.balance(rest, `after ${first} of a bet with a payout and a void`)
        const second = first === 'UNSCORED' ? 'UNVOIDED' : 'UNSCORED'
        await expect.executed(await wallet.unsettle(bet, second), staked, `after ${first} and ${second}`)
        before = staked
      }
    },
  },
  'AU-541': {
    name: 'Concurrent copies of one settlement are credited once',
    source: 'D17',
    needs: ['settle'],
    impact: 'Two workers take the same message from the queue, and the winner is paid twice.',
    async run({ prepare, wallet, expect, opening, units, settings, random, concurrently }) {
      let balance = opening
      for (let round = 1; round <= settings.raceRounds; round += 1) {
        const bet = wallet.bet()
        const payout = units(random.between(10, 30))
        const staked = await prepare.placed(bet, balance)
        const transactionId = wallet.id()
        const problems = await concurrently(settings.concurrency, () =>
          wallet.trySettle(bet, 'BET_PAID', payout, transactionId),
        )
        if (!problems.includes(null)) throw new Skipped(`a bet could not be settled: ${problems[0]}`)
        balance = add(staked, payout)
        await expect.balance(balance, `after ${problems.length} concurrent copies of one settlement`)
      }
    },
  },
  'AU-542': {
    name: 'Concurrent settlements and bets of one player are all applied: no update is lost',
    source: 'spec 3, D17',
    needs: ['settle'],
    impact: 'A payout and a stake are booked at the same moment, and one of them disappears.',
    async run({ prepare, wallet, expect, units, settings, random, concurrently }) {
      for (let round = 1; round <= settings.raceRounds; round += 1) {
        const half = Math.ceil(settings.concurrency / 2)
        const small = () => wallet.bet(units(random.between(10, 30)))
        const [settled, placed] = [Array.from({ length: half }, small), Array.from({ length: half }, small)]
        let balance = await expect.currentBalance()
        for (const bet of settled) balance = await prepare.placed(bet, balance)
        const payout = units(random.between(10, 30))
        await concurrently(2 * half, async index => {
          const bet = (index % 2 === 0 ? settled : placed)[index >> 1] as Bet
          if (index % 2 === 0) return await wallet.settle(bet, 'BET_PAID', payout)
          expect.success(await wallet.place(bet, `concurrent placebet (round ${round})`))
        })
        for (const { amount } of placed) balance = subtract(add(balance, payout), amount)
        await expect.balance(balance, `after ${half} settlements and ${half} bets at the same time`)
      }
    },
  },
  'AU-543': {
    name: 'Concurrent settlements of one bet are all credited, and its unsettlement debits all of them',
    source: 'spec 4.2, D17, D18',
    quote: 'unscored-debits',
    needs: bothNeeds,
    impact: 'A payout in two parts is credited, but only one part can be collected again.',
    async run({ prepare, wallet, expect, opening, units, settings, random, concurrently }) {
      let before = opening
      for (let round = 1; round <= settings.raceRounds; round += 1) {
        const { bet, staked } = await prepare.openBet(before)
        let balance = staked
        for (const count of [11, 12]) balance = await prepare.credited(bet, 'BET_PAID', units(count), balance)
        const payout = units(random.between(10, 20))
        const problems = await concurrently(settings.concurrency, () =>
          wallet.trySettle(bet, 'BET_PAID', payout),
        )
        for (const problem of problems) if (problem === null) balance = add(balance, payout)
        await expect.balance(balance, `after ${problems.length} concurrent settlements of one bet`)
        expect.success(await wallet.unsettle(bet, 'UNSCORED'), staked)
        await expect.balance(staked, 'after the unsettlement of all of them')
        before = staked
      }
    },
  },
  'AU-544': {
    name: 'The retry of an unsettlement does not debit the payout of a later settlement',
    source: 'spec 1.5, 4.2, D2',
    quote: 'one-transaction',
    needs: bothNeeds,
    impact: 'A late duplicate of the first correction takes the corrected payout from the winner.',
    async run({ prepare, wallet, expect, units, random }) {
      const { bet, staked } = await prepare.openBet()
      await prepare.credited(bet, 'BET_PAID', units(random.between(400, 600)), staked)
      const transactionId = wallet.id()
      await prepare.unsettled(bet, 'UNSCORED', staked, transactionId)
      const corrected = units(random.between(250, 350))
      const balance = await prepare.settled(bet, 'BET_PAID', corrected, staked)
      const label = 'retry of the first unsettlement after the second payout'
      await wallet.unsettle(bet, 'UNSCORED', transactionId, label)
      await expect.balance(balance, `after the ${label}`)
      await expect.executed(await wallet.unsettle(bet, 'UNSCORED'), staked, 'after the second unsettlement')
    },
  },
  'AU-545': {
    name: 'A settlement that meets an unsettlement of its bet is debited by it, or by the next one',
    source: 'spec 4.2, D18',
    quote: 'unscored-debits',
    needs: bothNeeds,
    impact: 'A payout counts as collected that was never debited, and the player keeps it.',
    async run({ prepare, wallet, expect, opening, units, settings, random, concurrently, wait }) {
      const { concurrency, raceRounds } = settings
      let before = opening
      for (let round = 1; round <= raceRounds; round += 1) {
        const bets: Bet[] = []
        for (let number = 0; number < Math.min(concurrency, 8); number += 1) {
          const bet = wallet.bet(units(random.between(40, 60)))
          bets.push(bet)
          before = await prepare.placed(bet, before)
        }
        for (const bet of bets) await wallet.settle(bet, 'BET_PAID', units(11))
        await concurrently(bets.length, async index => {
          const bet = bets[index] as Bet
          const settled = async () => {
            if (index % 4 > 0) await wait(random.between(0, index))
            await wallet.trySettle(bet, 'BET_PAID', units(13))
          }
          await Promise.all([wallet.unsettle(bet, 'UNSCORED'), settled()])
          // It is refused where the first one has met both payouts.
          await wallet.unsettle(bet, 'UNSCORED')
        })
        await expect.balance(
          before,
          'after concurrent settlements and unsettlements, and one unsettlement more',
        )
      }
    },
  },
  'AU-546': {
    name: 'A rollback of a bet that was cashed out credits nothing',
    source: 'spec 4.3, D13',
    needs: ['settle'],
    impact: 'The player has sold the bet, and gets the stake in addition to the price.',
    async run({ prepare, wallet, expect, units }) {
      const { bet, staked } = await prepare.openBet()
      const balance = await prepare.settled(bet, 'CASHOUT', units(50), staked)
      await wallet.rollback(bet, undefined, 'rollbackbet of a bet that was cashed out')
      await expect.balance(balance, 'after the rollback of a bet that was cashed out')
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
      expect.success(await wallet.rollback(bet, transactionId, 'its retry'), opening)
      await expect.balance(opening, 'after the retry of the rollback')
    },
  },
  'AU-548': {
    name: 'Of a concurrent settlement and rollback of one bet, one is applied, and not both',
    source: 'spec 3, 4.3, D13, D17',
    needs: ['settle'],
    impact: 'The stake is returned, and the payout or the void is credited as well.',
    async run(context) {
      const { prepare, wallet, expect, opening, units, settings, concurrently } = context
      const { concurrency, raceRounds } = settings
      let least = opening
      for (let round = 1; round <= raceRounds; round += 1) {
        const bets = Array.from({ length: Math.min(concurrency, 8) }, () => wallet.bet(units(20)))
        let staked = least
        for (const bet of bets) staked = await prepare.placed(bet, staked)
        await concurrently(bets.length, index => settleAndRollBack(context, bets[index] as Bet, index, round))
        // A bet that was paid is one smallest unit more than its stake, and any other one is its stake.
        const most = add(least, units(bets.length))
        const seen = await expect.currentBalance()
        const due = compare(seen, least) < 0 ? least : compare(seen, most) > 0 ? most : seen
        await expect.balance(due, `after ${bets.length} bets were settled and rolled back concurrently`)
        least = due
      }
    },
  },
  'AU-549': {
    name: 'A rollback of a bet that was voided in part does not return that part again',
    source: 'spec 4.3, D13',
    needs: ['settle'],
    impact: 'One leg of a multiple bet is voided, and a rollback returns the whole stake in addition.',
    async run({ prepare, wallet, expect, opening, units, random }) {
      const { bet, staked } = await prepare.openBet()
      const balance = await prepare.credited(bet, 'VOIDED', units(random.between(60, 90)), staked)
      await wallet.rollback(bet, undefined, 'rollbackbet of a bet that was voided in part')
      // A wallet that returns the rest of the stake has corrected the balance too.
      const isRest = compare(await expect.currentBalance(), opening) === 0
      await expect.balance(isRest ? opening : balance, 'after the rollback of a bet that was voided in part')
    },
  },
  'AU-550': {
    name: 'A rollback of a bet that was settled, unsettled and settled again credits nothing',
    source: 'spec 4.3, D13, D18',
    needs: bothNeeds,
    impact: 'After a corrected result, the player has both the second payout and the stake.',
    async run({ prepare, wallet, expect, opening, units }) {
      let before = opening
      for (const [type, reversal] of [
        ['BET_PAID', 'UNSCORED'],
        ['VOIDED', 'UNVOIDED'],
      ] as const) {
        const { bet, staked } = await prepare.openBet(before)
        const amount = type === 'VOIDED' ? bet.amount : units(130)
        await prepare.credited(bet, type, amount, staked)
        await prepare.unsettled(bet, reversal, staked)
        before = await prepare.credited(bet, type, amount, staked)
        const label = `rollbackbet after ${type}, ${reversal} and ${type}`
        await wallet.rollback(bet, undefined, label)
        await expect.balance(before, `after the ${label}`)
      }
    },
  },
})
