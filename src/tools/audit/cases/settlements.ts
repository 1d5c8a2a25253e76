/** AU-54x: several settlements of one bet, and settlements that arrive concurrently (spec 3, 4.2, D17, D18). */

import { add, compare, type Decimal, subtract, textOf } from '../../platform/decimal.js'
import type { AuditCase } from '../audit-case.js'
import { type Bet, Skipped, type Stage } from '../stage.js'

const bothNeeds = ['settle', 'clawbacks'] as const

/**
 * Settles the bet, and returns the balance afterwards. What the operator's settlement credits is its own: it may
 * credit the stake for any void. Skips the case if it credits nothing: then one bet has one settlement.
 */
async function credit(
  stage: Stage,
  bet: Bet,
  type: 'BET_PAID' | 'VOIDED',
  amount: Decimal,
  before: Decimal,
): Promise<Decimal> {
  await stage.settle(bet, type, amount)
  const after = await stage.balance()
  if (compare(after, before) !== 0) return after
  throw new Skipped(`a settlement ${type} of ${textOf(amount)} was accepted, but nothing was credited`)
}

/** Places a bet of 200 to 300 smallest units. */
async function placedBet(stage: Stage, before = stage.opening): Promise<{ bet: Bet; staked: Decimal }> {
  const bet = stage.bet(stage.units(stage.random.between(200, 300)))
  return { bet, staked: await stage.placeSuccessfully(bet, before) }
}

/** Settles a bet, as paid or as voided, and rolls it back almost at the same time. */
async function settleAndRollBack(stage: Stage, bet: Bet, index: number, round: number): Promise<void> {
  const isPaid = index % 2 === 0
  const calls = [
    () =>
      stage.trySettle(
        bet,
        isPaid ? 'BET_PAID' : 'VOIDED',
        isPaid ? add(bet.amount, stage.units(1)) : bet.amount,
      ),
    () => stage.rollback(bet, undefined, { label: `concurrent rollbackbet ${index + 1} (round ${round})` }),
  ]
  if (round % 2 === 0) calls.reverse()
  // Half of the pairs are sent in one moment.
  const afterMs = index % 4 < 2 ? 0 : stage.random.between(1, 3)
  await Promise.all(
    calls.map(async (call, place) => {
      if (place > 0 && afterMs > 0) await stage.wait(afterMs)
      await call()
    }),
  )
}

export const settlements: readonly AuditCase[] = [
  {
    id: 'AU-538',
    level: 'MUST',
    title: 'UNVOIDED debits what the void credited, even if that is less than the stake',
    source: 'spec 3, 4.2',
    quote: 'the wallet debits what the void settlement of the bet credited',
    needs: bothNeeds,
    impact:
      'One leg of a multiple bet is voided and unvoided, and the player pays the whole stake a second time.',
    async play(stage) {
      const { bet, staked } = await placedBet(stage)
      await credit(stage, bet, 'VOIDED', stage.units(stage.random.between(60, 90)), staked)
      stage.expectSuccess(await stage.unsettle(bet, 'UNVOIDED'), staked)
      await stage.expectBalance(staked, 'after UNVOIDED of a void of a part of the stake')
    },
  },
  {
    id: 'AU-539',
    level: 'MUST',
    title: 'Several voids of one bet are debited together',
    source: 'spec 3, 4.2, D17, D18',
    quote: 'the wallet debits what the void settlement of the bet credited',
    needs: bothNeeds,
    impact: 'Only one of several voids is collected: the player keeps the others, and the bet goes on.',
    async play(stage) {
      const { bet, staked } = await placedBet(stage)
      let balance = staked
      for (const units of [70, 40, 40])
        balance = await credit(stage, bet, 'VOIDED', stage.units(units), balance)
      stage.expectSuccess(await stage.unsettle(bet, 'UNVOIDED'), staked)
      await stage.expectBalance(staked, 'after UNVOIDED of three voids')
    },
  },
  {
    id: 'AU-540',
    level: 'MUST',
    title: 'Of a bet with a payout and a void, UNSCORED debits the payout only, and UNVOIDED the void only',
    source: 'spec 3, 4.2, D18',
    quote:
      'the wallet debits what the BET_PAID settlement of the bet credited, or answers INSUFFICIENT_FUNDS',
    needs: bothNeeds,
    impact: 'The correction of one result debits the credit of another as well.',
    async play(stage) {
      let before = stage.opening
      for (const first of ['UNSCORED', 'UNVOIDED'] as const) {
        const { bet, staked } = await placedBet(stage, before)
        const voided = await credit(stage, bet, 'VOIDED', stage.units(70), staked)
        const paid = await credit(stage, bet, 'BET_PAID', stage.units(150), voided)
        const payout = subtract(paid, voided)
        const rest = first === 'UNSCORED' ? voided : add(staked, payout)
        stage.expectSuccess(await stage.unsettle(bet, first), rest)
        await stage.expectBalance(rest, `after ${first} of a bet with a payout and a void`)
        const second = first === 'UNSCORED' ? 'UNVOIDED' : 'UNSCORED'
        stage.expectSuccess(await stage.unsettle(bet, second), staked)
        await stage.expectBalance(staked, `after ${first} and ${second}`)
        before = staked
      }
    },
  },
  {
    id: 'AU-541',
    level: 'MUST',
    title: 'Concurrent copies of one settlement are credited once',
    source: 'D17',
    needs: ['settle'],
    impact: 'Two workers take the same message from the queue, and the winner is paid twice.',
    async play(stage) {
      let balance = stage.opening
      for (let round = 1; round <= stage.settings.raceRounds; round += 1) {
        const bet = stage.bet()
        const payout = stage.units(stage.random.between(10, 30))
        const staked = await stage.placeSuccessfully(bet, balance)
        const transactionId = stage.id()
        const problems = await stage.concurrently(stage.settings.concurrency, () =>
          stage.trySettle(bet, 'BET_PAID', payout, transactionId),
        )
        if (!problems.includes(null)) throw new Skipped(`a bet could not be settled: ${problems[0]}`)
        balance = add(staked, payout)
        await stage.expectBalance(balance, `after ${problems.length} concurrent copies of one settlement`)
      }
    },
  },
  {
    id: 'AU-542',
    level: 'MUST',
    title: 'Concurrent settlements and bets of one player are all applied: no update is lost',
    source: 'spec 3, D17',
    needs: ['settle'],
    impact: 'A payout and a stake are booked at the same moment, and one of them disappears.',
    async play(stage) {
      for (let round = 1; round <= stage.settings.raceRounds; round += 1) {
        const half = Math.ceil(stage.settings.concurrency / 2)
        const small = () => stage.bet(stage.units(stage.random.between(10, 30)))
        const [settled, placed] = [Array.from({ length: half }, small), Array.from({ length: half }, small)]
        let balance = await stage.balance()
        for (const bet of settled) balance = await stage.placeSuccessfully(bet, balance)
        const payout = stage.units(stage.random.between(10, 30))
        await stage.concurrently(2 * half, async index => {
          const bet = (index % 2 === 0 ? settled : placed)[index >> 1] as Bet
          if (index % 2 === 0) return await stage.settle(bet, 'BET_PAID', payout)
          stage.expectSuccess(await stage.place(bet, { label: `concurrent placebet (round ${round})` }))
        })
        for (const { amount } of placed) balance = subtract(add(balance, payout), amount)
        await stage.expectBalance(balance, `after ${half} settlements and ${half} bets at the same time`)
      }
    },
  },
  {
    id: 'AU-543',
    level: 'MUST',
    title: 'Concurrent settlements of one bet are all credited, and its unsettlement debits all of them',
    source: 'spec 4.2, D17, D18',
    quote:
      'the wallet debits what the BET_PAID settlement of the bet credited, or answers INSUFFICIENT_FUNDS',
    needs: bothNeeds,
    impact: 'A payout in two parts is credited, but only one part can be collected again.',
    async play(stage) {
      let before = stage.opening
      for (let round = 1; round <= stage.settings.raceRounds; round += 1) {
        const { bet, staked } = await placedBet(stage, before)
        let balance = staked
        for (const units of [11, 12])
          balance = await credit(stage, bet, 'BET_PAID', stage.units(units), balance)
        const payout = stage.units(stage.random.between(10, 20))
        const problems = await stage.concurrently(stage.settings.concurrency, () =>
          stage.trySettle(bet, 'BET_PAID', payout),
        )
        for (const problem of problems) if (problem === null) balance = add(balance, payout)
        await stage.expectBalance(balance, `after ${problems.length} concurrent settlements of one bet`)
        stage.expectSuccess(await stage.unsettle(bet, 'UNSCORED'), staked)
        await stage.expectBalance(staked, 'after the unsettlement of all of them')
        before = staked
      }
    },
  },
  {
    id: 'AU-544',
    level: 'MUST',
    title: 'The retry of an unsettlement does not debit the payout of a later settlement',
    source: 'spec 1.5, 4.2, D2',
    quote:
      'A second request with the same transactionId is the same transaction, and the balance changes at most once.',
    needs: bothNeeds,
    impact: 'A late duplicate of the first correction takes the corrected payout from the winner.',
    async play(stage) {
      const { bet, staked } = await placedBet(stage)
      await credit(stage, bet, 'BET_PAID', stage.units(stage.random.between(400, 600)), staked)
      const transactionId = stage.id()
      stage.expectSuccess(await stage.unsettle(bet, 'UNSCORED', transactionId), staked)
      const corrected = stage.units(stage.random.between(250, 350))
      await stage.settle(bet, 'BET_PAID', corrected)
      const balance = add(staked, corrected)
      await stage.expectBalance(balance, 'after the second payout')
      const label = 'retry of the first unsettlement after the second payout'
      await stage.unsettle(bet, 'UNSCORED', transactionId, { label })
      await stage.expectBalance(balance, `after the ${label}`)
      stage.expectSuccess(await stage.unsettle(bet, 'UNSCORED'), staked)
      await stage.expectBalance(staked, 'after the second unsettlement')
    },
  },
  {
    id: 'AU-545',
    level: 'MUST',
    title: 'A settlement that meets an unsettlement of its bet is debited by it, or by the next one',
    source: 'spec 4.2, D18',
    quote:
      'the wallet debits what the BET_PAID settlement of the bet credited, or answers INSUFFICIENT_FUNDS',
    needs: bothNeeds,
    impact: 'A payout counts as collected that was never debited, and the player keeps it.',
    async play(stage) {
      const { concurrency, raceRounds } = stage.settings
      let before = stage.opening
      for (let round = 1; round <= raceRounds; round += 1) {
        const bets: Bet[] = []
        for (let number = 0; number < Math.min(concurrency, 8); number += 1) {
          const bet = stage.bet(stage.units(stage.random.between(40, 60)))
          bets.push(bet)
          before = await stage.placeSuccessfully(bet, before)
        }
        for (const bet of bets) await stage.settle(bet, 'BET_PAID', stage.units(11))
        await stage.concurrently(bets.length, async index => {
          const bet = bets[index] as Bet
          const settled = async () => {
            if (index % 4 > 0) await stage.wait(stage.random.between(0, index))
            await stage.trySettle(bet, 'BET_PAID', stage.units(13))
          }
          await Promise.all([stage.unsettle(bet, 'UNSCORED'), settled()])
          // It is refused where the first one has met both payouts.
          await stage.unsettle(bet, 'UNSCORED')
        })
        await stage.expectBalance(
          before,
          'after concurrent settlements and unsettlements, and one unsettlement more',
        )
      }
    },
  },
  {
    id: 'AU-546',
    level: 'MUST',
    title: 'A rollback of a bet that was cashed out credits nothing',
    source: 'spec 4.3, D13',
    needs: ['settle'],
    impact: 'The player has sold the bet, and gets the stake in addition to the price.',
    async play(stage) {
      const { bet, staked } = await placedBet(stage)
      await stage.settle(bet, 'CASHOUT', stage.units(50))
      const balance = add(staked, stage.units(50))
      await stage.expectBalance(balance, 'after a cash-out')
      await stage.rollback(bet, undefined, { label: 'rollbackbet of a bet that was cashed out' })
      await stage.expectBalance(balance, 'after the rollback of a bet that was cashed out')
    },
  },
  {
    id: 'AU-547',
    // No MUST: a 4xx is final for the platform, which rolls back under a new transactionId then (AU-522).
    level: 'SHOULD',
    title: 'A rollback that was refused because of a payout succeeds when it is retried after the reversal',
    source: 'D8, D13',
    needs: bothNeeds,
    impact: 'The platform retries the rollback with its transactionId, and the stake stays in the wallet.',
    async play(stage) {
      const { bet, staked } = await placedBet(stage)
      await credit(stage, bet, 'BET_PAID', stage.units(60), staked)
      const transactionId = stage.id()
      await stage.rollback(bet, transactionId, { label: 'rollbackbet of a paid bet' })
      stage.expectSuccess(await stage.unsettle(bet, 'UNSCORED'))
      stage.expectSuccess(await stage.rollback(bet, transactionId, { label: 'its retry' }), stage.opening)
      await stage.expectBalance(stage.opening, 'after the retry of the rollback')
    },
  },
  {
    id: 'AU-548',
    level: 'MUST',
    title: 'Of a concurrent settlement and rollback of one bet, one is applied, and not both',
    source: 'spec 3, 4.3, D13, D17',
    needs: ['settle'],
    impact: 'The stake is returned, and the payout or the void is credited as well.',
    async play(stage) {
      const { concurrency, raceRounds } = stage.settings
      let least = stage.opening
      for (let round = 1; round <= raceRounds; round += 1) {
        const bets = Array.from({ length: Math.min(concurrency, 8) }, () => stage.bet(stage.units(20)))
        let staked = least
        for (const bet of bets) staked = await stage.placeSuccessfully(bet, staked)
        await stage.concurrently(bets.length, index =>
          settleAndRollBack(stage, bets[index] as Bet, index, round),
        )
        // A bet that was paid is one smallest unit more than its stake, and any other one is its stake.
        const most = add(least, stage.units(bets.length))
        const seen = await stage.balance()
        const due = compare(seen, least) < 0 ? least : compare(seen, most) > 0 ? most : seen
        await stage.expectBalance(due, `after ${bets.length} bets were settled and rolled back concurrently`)
        least = due
      }
    },
  },
  {
    id: 'AU-549',
    level: 'MUST',
    title: 'A rollback of a bet that was voided in part does not return that part again',
    source: 'spec 4.3, D13',
    needs: ['settle'],
    impact: 'One leg of a multiple bet is voided, and a rollback returns the whole stake in addition.',
    async play(stage) {
      const { bet, staked } = await placedBet(stage)
      const balance = await credit(stage, bet, 'VOIDED', stage.units(stage.random.between(60, 90)), staked)
      await stage.rollback(bet, undefined, { label: 'rollbackbet of a bet that was voided in part' })
      // A wallet that returns the rest of the stake has corrected the balance too.
      const isRest = compare(await stage.balance(), stage.opening) === 0
      await stage.expectBalance(
        isRest ? stage.opening : balance,
        'after the rollback of a bet that was voided in part',
      )
    },
  },
  {
    id: 'AU-550',
    level: 'MUST',
    title: 'A rollback of a bet that was settled, unsettled and settled again credits nothing',
    source: 'spec 4.3, D13, D18',
    needs: bothNeeds,
    impact: 'After a corrected result, the player has both the second payout and the stake.',
    async play(stage) {
      let before = stage.opening
      for (const [type, reversal] of [
        ['BET_PAID', 'UNSCORED'],
        ['VOIDED', 'UNVOIDED'],
      ] as const) {
        const { bet, staked } = await placedBet(stage, before)
        const amount = type === 'VOIDED' ? bet.amount : stage.units(130)
        await credit(stage, bet, type, amount, staked)
        stage.expectSuccess(await stage.unsettle(bet, reversal), staked)
        before = await credit(stage, bet, type, amount, staked)
        const label = `rollbackbet after ${type}, ${reversal} and ${type}`
        await stage.rollback(bet, undefined, { label })
        await stage.expectBalance(before, `after the ${label}`)
      }
    },
  },
]
