/** AU-5xx: unsettlements in all their forms (spec 4.2, D7, D13, D17 to D20). */
import type { AuditCase } from '../case.js'
import { add, compare, type Decimal, subtract, textOf, zero } from '../decimal.js'
import type { Bet, Stage, UnsettlementType } from '../stage.js'

/** A bet that is placed and paid (or voided), and the balance afterwards. */
async function settledBet(
  stage: Stage,
  type: 'BET_PAID' | 'VOIDED' = 'BET_PAID',
  payout: Decimal = stage.units(stage.random.between(400, 600)),
): Promise<{ bet: Bet; payout: Decimal; staked: Decimal; balance: Decimal }> {
  const bet = stage.bet()
  const staked = await stage.placed(bet, stage.opening)
  const credited = type === 'VOIDED' ? bet.amount : payout
  await stage.settle(bet, type, credited)
  const balance = add(staked, credited)
  await stage.holds(balance, `after a settlement ${type} of ${stage.money(credited)}`)
  return { bet, payout: credited, staked, balance }
}

/** A paid bet whose payout is spent, and its unsettlement, which was refused for funds. */
async function closedBet(stage: Stage, type: 'BET_PAID' | 'VOIDED' = 'BET_PAID') {
  const { bet, balance, payout } = await settledBet(stage, type)
  const rest = subtract(payout, stage.units(1))
  const spent = await stage.spendDownTo(rest, balance)
  const transactionId = stage.id()
  const reversal: UnsettlementType = type === 'VOIDED' ? 'UNVOIDED' : 'UNSCORED'
  stage.refused(await stage.unsettle(bet, reversal, transactionId), 'INSUFFICIENT_FUNDS')
  await stage.holds(rest, 'after a clawback that the funds do not cover')
  return { bet, spent, balance, transactionId, reversal }
}

const bothNeeds = ['settle', 'clawbacks'] as const

export const clawbacks: readonly AuditCase[] = [
  {
    id: 'AU-501',
    level: 'SHOULD',
    title: 'A settlement that is made twice under one transactionId is credited once',
    source: 'D17',
    needs: ['settle'],
    impact: 'The operator pays a winner twice; and an unsettlement takes back whatever was credited.',
    async play(stage) {
      const bet = stage.bet()
      const after = await stage.placed(bet, stage.opening)
      const transactionId = stage.id()
      const payout = stage.units(stage.random.between(400, 600))
      await stage.settle(bet, 'BET_PAID', payout, transactionId)
      await stage.holds(add(after, payout), 'after the settlement')
      // Whether a repetition is answered with success is the operator's: here the balance is what counts.
      await stage.trySettle(bet, 'BET_PAID', payout, transactionId)
      await stage.holds(add(after, payout), 'after the same settlement again')
    },
  },
  {
    id: 'AU-502',
    level: 'MUST',
    title:
      'UNSCORED takes back what BET_PAID paid; or, where the wallet cannot deduct, it is INSUFFICIENT_FUNDS and takes nothing',
    source: 'spec 3, 4.2, D20',
    needs: ['settle'],
    impact:
      'Wrong payouts are never collected; or they are collected twice, by the wallet and by the platform.',
    async play(stage) {
      const { bet, balance, staked } = await settledBet(stage)
      const answer = await stage.unsettle(bet, 'UNSCORED')
      if (stage.settings.clawbacks) stage.accepted(answer, staked)
      else stage.refused(answer, 'INSUFFICIENT_FUNDS')
      await stage.holds(stage.settings.clawbacks ? staked : balance, 'after the unsettlement')
    },
  },
  {
    id: 'AU-503',
    level: 'MUST',
    title:
      'UNVOIDED takes back what VOIDED gave back; or, where the wallet cannot deduct, it is INSUFFICIENT_FUNDS and takes nothing',
    source: 'spec 3, 4.2, D20',
    needs: ['settle'],
    impact: 'A bet that was voided by mistake is played on for free.',
    async play(stage) {
      const { bet, balance, staked } = await settledBet(stage, 'VOIDED')
      const answer = await stage.unsettle(bet, 'UNVOIDED')
      if (stage.settings.clawbacks) stage.accepted(answer, staked)
      else stage.refused(answer, 'INSUFFICIENT_FUNDS')
      await stage.holds(stage.settings.clawbacks ? staked : balance, 'after the unsettlement')
    },
  },
  {
    id: 'AU-504',
    level: 'MUST',
    title: 'A clawback that the funds do not cover is INSUFFICIENT_FUNDS and takes nothing, not even a part',
    source: 'spec 4.2, D20',
    needs: bothNeeds,
    impact: 'The platform nets the whole debt off future winnings: what was taken here is taken twice.',
    async play(stage) {
      await closedBet(stage)
    },
  },
  {
    id: 'AU-505',
    level: 'MUST',
    title: 'A clawback of exactly the funds is taken',
    source: 'spec 4.2',
    needs: bothNeeds,
    impact: 'Off by one at the floor: a debt that could be collected goes on the platform’s list.',
    async play(stage) {
      const { bet, payout, balance } = await settledBet(stage)
      await stage.spendDownTo(payout, balance)
      stage.accepted(await stage.unsettle(bet, 'UNSCORED'), zero)
      await stage.holds(zero, 'after a clawback of exactly the funds')
    },
  },
  {
    id: 'AU-506',
    level: 'MUST',
    title:
      'A clawback that was refused for funds stays refused when it comes again, whatever the funds are by then',
    source: 'spec 4.2 rule 2, D7',
    needs: bothNeeds,
    impact:
      'The platform nets the debt off future winnings, and the wallet collects it too: the player pays twice.',
    async play(stage) {
      const { bet, spent, balance, transactionId, reversal } = await closedBet(stage)
      stage.accepted(await stage.rollback(spent), balance)
      const label = 'the refused unsettlement again, with ample funds'
      const again = await stage.unsettle(bet, reversal, transactionId, { label })
      await stage.holds(balance, 'after a refused clawback came again')
      stage.refused(again, 'INSUFFICIENT_FUNDS')
    },
  },
  {
    id: 'AU-507',
    level: 'MUST',
    title: 'A clawback that was refused for funds is not collected by another unsettlement either',
    source: 'spec 4.2 rule 2, D7',
    needs: bothNeeds,
    impact:
      'As AU-506: a second unsettlement of the same bet collects what the platform is netting off already.',
    async play(stage) {
      const { bet, spent, balance, reversal } = await closedBet(stage)
      stage.accepted(await stage.rollback(spent), balance)
      const answer = await stage.unsettle(bet, reversal, undefined, {
        label: 'unsettlement under another id',
      })
      await stage.holds(balance, 'after another unsettlement of a refused clawback')
      stage.refused(answer)
    },
  },
  {
    id: 'AU-508',
    level: 'SHOULD',
    title: 'An unsettlement of what was unsettled or refused for funds before is refused with INVALID_BET',
    source: 'D19',
    needs: bothNeeds,
    impact: 'The platform cannot tell that there is nothing left to collect.',
    async play(stage) {
      const { bet, spent } = await closedBet(stage)
      stage.refusedAs(await stage.unsettle(bet, 'UNSCORED'), 'INVALID_BET')
      stage.accepted(await stage.rollback(spent))
    },
  },
  {
    id: 'AU-509',
    level: 'MUST',
    title: 'After a clawback was refused for funds, a rollback of the bet gives nothing',
    source: 'D13',
    needs: bothNeeds,
    impact: 'The player has payout and stake, and the platform counts the bet as paid.',
    async play(stage) {
      const { bet, spent, balance } = await closedBet(stage, 'VOIDED')
      stage.accepted(await stage.rollback(spent), balance)
      await stage.rollback(bet, undefined, { label: 'rollbackbet after a refused clawback' })
      await stage.holds(balance, 'after a rollback behind a refused clawback')
    },
  },
  {
    id: 'AU-510',
    level: 'MUST',
    title: 'An unsettlement that comes again, at once or later, takes the payout once',
    source: 'spec 1.5, 4.2',
    needs: bothNeeds,
    impact: 'The caller retries until it hears success: each retry takes the payout again.',
    async play(stage) {
      const { bet, staked } = await settledBet(stage)
      const transactionId = stage.id()
      for (let time = 1; time <= 2; time += 1)
        stage.accepted(await stage.unsettle(bet, 'UNSCORED', transactionId), staked)
      const other = stage.bet()
      const after = await stage.placed(other, staked)
      const label = 'the same unsettlement, after another bet'
      stage.accepted(await stage.unsettle(bet, 'UNSCORED', transactionId, { label }), after)
      await stage.holds(after, 'after three copies of one unsettlement')
    },
  },
  {
    id: 'AU-511',
    level: 'MUST',
    title: 'Copies of one unsettlement at the same time take the payout once',
    source: 'spec 1.5, 4.2',
    needs: bothNeeds,
    impact: 'As AU-510, in the milliseconds in which a wallet has not looked yet.',
    async play(stage) {
      for (let round = 1; round <= stage.settings.raceRounds; round += 1) {
        const { bet, staked } = await settledBet(stage, 'BET_PAID', stage.units(20))
        const transactionId = stage.id()
        const answers = await stage.together(stage.settings.concurrency, copy =>
          stage.unsettle(bet, 'UNSCORED', transactionId, {
            label: `copy ${copy + 1} of one unsettlement (round ${round})`,
          }),
        )
        await stage.holds(staked, `after ${answers.length} copies of one unsettlement at once`)
        for (const answer of answers) stage.accepted(answer)
        await stage.rollback(bet)
        await stage.holds(stage.opening, 'after the bet itself was rolled back')
      }
    },
  },
  {
    id: 'AU-512',
    level: 'MUST',
    title: 'A payout is taken back once, also by unsettlements under other transactionIds',
    source: 'spec 4.2, D18, D19',
    needs: bothNeeds,
    impact: 'Two corrections of one result take the payout twice.',
    async play(stage) {
      const { bet, staked } = await settledBet(stage)
      stage.accepted(await stage.unsettle(bet, 'UNSCORED'), staked)
      const again = await stage.unsettle(bet, 'UNSCORED', undefined, {
        label: 'unsettlement under another id',
      })
      await stage.holds(staked, 'after a second unsettlement')
      stage.refused(again)
    },
  },
  {
    id: 'AU-513',
    level: 'MUST',
    title: 'Unsettlements of one bet under different transactionIds at the same time take the payout once',
    source: 'spec 4.2, D18',
    needs: bothNeeds,
    impact: 'As AU-512, in the milliseconds in which a wallet has not looked yet.',
    async play(stage) {
      for (let round = 1; round <= stage.settings.raceRounds; round += 1) {
        const { bet, staked } = await settledBet(stage, 'BET_PAID', stage.units(20))
        await stage.together(stage.settings.concurrency, copy =>
          stage.unsettle(bet, 'UNSCORED', undefined, {
            label: `unsettlement ${copy + 1} under its own id (round ${round})`,
          }),
        )
        await stage.holds(staked, 'after many unsettlements of one bet at once')
        await stage.rollback(bet)
        await stage.holds(stage.opening, 'after the bet itself was rolled back')
      }
    },
  },
  {
    id: 'AU-514',
    level: 'MUST',
    title: 'Paid, unsettled and paid again: the next unsettlement takes the second payout, and no more',
    source: 'spec 4.2, D18',
    needs: bothNeeds,
    impact: 'A corrected result is corrected once more, and both payouts are taken, or none.',
    async play(stage) {
      const { bet, staked } = await settledBet(stage)
      stage.accepted(await stage.unsettle(bet, 'UNSCORED'), staked)
      const second = stage.units(stage.random.between(250, 350))
      await stage.settle(bet, 'BET_PAID', second)
      await stage.holds(add(staked, second), 'after the second payout')
      stage.accepted(await stage.unsettle(bet, 'UNSCORED'), staked)
      await stage.holds(staked, 'after the second unsettlement')
    },
  },
  {
    id: 'AU-515',
    level: 'MUST',
    title:
      'After a clawback that was refused for funds, a new payout alone is taken back by a new unsettlement',
    source: 'D7, D18',
    needs: bothNeeds,
    impact: 'The old debt is collected with the new one, while the platform nets it off too.',
    async play(stage) {
      const { bet, spent, balance, reversal } = await closedBet(stage)
      stage.accepted(await stage.rollback(spent), balance)
      const second = stage.units(stage.random.between(100, 150))
      await stage.settle(bet, 'BET_PAID', second)
      await stage.holds(add(balance, second), 'after a new payout')
      stage.accepted(await stage.unsettle(bet, reversal), balance)
      await stage.holds(balance, 'after the new payout was taken back')
    },
  },
  {
    id: 'AU-516',
    level: 'MUST',
    title: 'Several payouts of one bet are taken back together',
    source: 'spec 4.2, D17, D18',
    needs: bothNeeds,
    impact: 'Only the last of several payouts is collected.',
    async play(stage) {
      const { bet, staked, balance } = await settledBet(stage)
      const second = stage.units(stage.random.between(100, 150))
      await stage.settle(bet, 'BET_PAID', second)
      await stage.holds(add(balance, second), 'after a second payout')
      stage.accepted(await stage.unsettle(bet, 'UNSCORED'), staked)
      await stage.holds(staked, 'after the unsettlement')
    },
  },
  {
    id: 'AU-517',
    level: 'MUST',
    title: 'An unsettlement that comes before its settlement takes nothing, and is not a success',
    source: 'spec 4.2, D19',
    needs: ['settle'],
    impact: 'Success tells the platform that a payout was collected which has not even arrived.',
    async play(stage) {
      const bet = stage.bet()
      const after = await stage.placed(bet, stage.opening)
      const answer = await stage.unsettle(bet, 'UNSCORED')
      await stage.holds(after, 'after an unsettlement of a bet that was never settled')
      stage.refused(answer)
    },
  },
  {
    id: 'AU-518',
    level: 'MUST',
    title: 'An unsettlement that came before its settlement takes the payout when it comes again afterwards',
    source: 'spec 4.2, D8, D19',
    needs: bothNeeds,
    impact: 'A settlement that waits in a queue escapes its own reversal: the payout is never collected.',
    async play(stage) {
      const bet = stage.bet()
      const staked = await stage.placed(bet, stage.opening)
      const transactionId = stage.id()
      stage.refused(await stage.unsettle(bet, 'UNSCORED', transactionId))
      const payout = stage.units(stage.random.between(400, 600))
      await stage.settle(bet, 'BET_PAID', payout)
      await stage.holds(add(staked, payout), 'after the settlement')
      const label = 'the same unsettlement, after the settlement'
      stage.accepted(await stage.unsettle(bet, 'UNSCORED', transactionId, { label }), staked)
      await stage.holds(staked, 'after the unsettlement')
    },
  },
  {
    id: 'AU-519',
    level: 'SHOULD',
    title:
      'An unsettlement that comes before its settlement is answered as not yet possible: SETTLEMENT_NOT_FOUND, 503',
    source: 'D19',
    impact: 'The platform takes a 4xx for final, and does not come back when the settlement has arrived.',
    async play(stage) {
      const bet = stage.bet()
      stage.accepted(await stage.place(bet))
      stage.refusedAs(await stage.unsettle(bet, 'UNSCORED'), 'SETTLEMENT_NOT_FOUND')
      stage.refusedAs(await stage.unsettle(bet, 'UNVOIDED'), 'SETTLEMENT_NOT_FOUND')
    },
  },
  {
    id: 'AU-520',
    level: 'MUST',
    title: 'A rollback of a bet that was paid or voided gives nothing',
    source: 'spec 4.3, D13',
    needs: ['settle'],
    impact: 'The stake comes back a second time: by the void, or beside the payout.',
    async play(stage) {
      const paid = await settledBet(stage)
      await stage.rollback(paid.bet, undefined, { label: 'rollbackbet of a paid bet' })
      await stage.holds(paid.balance, 'after the rollback of a paid bet')
      const bet = stage.bet()
      const staked = await stage.placed(bet, paid.balance)
      await stage.settle(bet, 'VOIDED', bet.amount)
      await stage.holds(add(staked, bet.amount), 'after a void')
      await stage.rollback(bet, undefined, { label: 'rollbackbet of a voided bet' })
      await stage.holds(paid.balance, 'after the rollback of a voided bet')
    },
  },
  {
    id: 'AU-521',
    level: 'SHOULD',
    title: 'A rollback of a bet that was paid is refused with INVALID_BET',
    source: 'D13',
    needs: ['settle'],
    impact: 'Success would say that the stake went back.',
    async play(stage) {
      const { bet } = await settledBet(stage)
      stage.refusedAs(await stage.rollback(bet), 'INVALID_BET')
    },
  },
  {
    id: 'AU-522',
    level: 'SHOULD',
    title: 'After its payout was taken back, a bet can be rolled back',
    source: 'D13',
    needs: bothNeeds,
    impact: 'The stake of an undone bet stays in the wallet.',
    async play(stage) {
      const { bet } = await settledBet(stage)
      stage.accepted(await stage.unsettle(bet, 'UNSCORED'))
      stage.accepted(await stage.rollback(bet), stage.opening)
      await stage.holds(stage.opening, 'after unsettlement and rollback')
    },
  },
  {
    id: 'AU-523',
    level: 'MUST',
    title: 'UNSCORED takes nothing of a void, and UNVOIDED nothing of a payout',
    source: 'spec 4.2, D18',
    needs: ['settle'],
    impact: 'The wrong credit is reversed, and the right one can be reversed as well.',
    async play(stage) {
      const paid = await settledBet(stage)
      await stage.unsettle(paid.bet, 'UNVOIDED', undefined, { label: 'UNVOIDED of a paid bet' })
      await stage.holds(paid.balance, 'after UNVOIDED of a paid bet')
      const bet = stage.bet()
      const staked = await stage.placed(bet, paid.balance)
      await stage.settle(bet, 'VOIDED', bet.amount)
      await stage.holds(add(staked, bet.amount), 'after a void')
      await stage.unsettle(bet, 'UNSCORED', undefined, { label: 'UNSCORED of a voided bet' })
      await stage.holds(paid.balance, 'after UNSCORED of a voided bet')
    },
  },
  {
    id: 'AU-524',
    level: 'MUST',
    title: 'An unsettlement of a bet that is not known moves nothing',
    source: 'spec 4.2, D19',
    impact: 'A clawback takes money for a bet that the wallet has never seen.',
    async play(stage) {
      for (const type of ['UNSCORED', 'UNVOIDED'] as const) {
        const answer = await stage.unsettle(stage.bet(), type)
        await stage.holds(stage.opening, `after ${type} of a bet that is not known`)
        stage.refused(answer)
      }
    },
  },
  {
    id: 'AU-525',
    level: 'SHOULD',
    title: 'An unsettlement of a bet that is not known or was rolled back is refused with INVALID_BET',
    source: 'D19',
    impact: 'The platform cannot tell that there is nothing to collect, and comes back again and again.',
    async play(stage) {
      stage.refusedAs(await stage.unsettle(stage.bet(), 'UNSCORED'), 'INVALID_BET')
      const bet = stage.bet()
      stage.accepted(await stage.place(bet))
      stage.accepted(await stage.rollback(bet))
      stage.refusedAs(await stage.unsettle(bet, 'UNVOIDED'), 'INVALID_BET')
    },
  },
  {
    id: 'AU-526',
    level: 'MUST',
    title: 'An unsettlement of a bet that was rolled back moves nothing',
    source: 'spec 4.2, D19',
    impact: 'The stake that went back is taken again, as if it had been a void.',
    async play(stage) {
      const bet = stage.bet()
      stage.accepted(await stage.place(bet))
      stage.accepted(await stage.rollback(bet))
      for (const type of ['UNSCORED', 'UNVOIDED'] as const) {
        const answer = await stage.unsettle(bet, type)
        await stage.holds(stage.opening, `after ${type} of a bet that was rolled back`)
        stage.refused(answer)
      }
    },
  },
  {
    id: 'AU-527',
    level: 'MUST',
    title: 'An unsettlement takes the payout of its own bet and of no other',
    source: 'spec 2, 4.2',
    needs: bothNeeds,
    impact: 'A corrected match takes the winnings of another one.',
    async play(stage) {
      const first = await settledBet(stage)
      const bet = stage.bet()
      const staked = await stage.placed(bet, first.balance)
      const payout = stage.units(stage.random.between(100, 150))
      await stage.settle(bet, 'BET_PAID', payout)
      await stage.holds(add(staked, payout), 'after the second payout')
      stage.accepted(await stage.unsettle(first.bet, 'UNSCORED'), subtract(add(staked, payout), first.payout))
      stage.accepted(await stage.unsettle(bet, 'UNSCORED'), subtract(staked, first.payout))
    },
  },
  {
    id: 'AU-528',
    level: 'SHOULD',
    title: 'The settlement of a lost bet, a BET_PAID of 0, can be unsettled, and nothing moves',
    source: 'D18',
    needs: ['settle'],
    impact: 'A lost bet that is scored anew cannot be reopened.',
    async play(stage) {
      const bet = stage.bet()
      const after = await stage.placed(bet, stage.opening)
      await stage.settle(bet, 'BET_PAID', zero)
      await stage.holds(after, 'after a lost bet was settled')
      stage.accepted(await stage.unsettle(bet, 'UNSCORED'), after)
      await stage.holds(after, 'after the lost bet was unsettled')
    },
  },
  {
    id: 'AU-529',
    level: 'SHOULD',
    title:
      'An unsettlement with a known transactionId and another betId or type is refused with TRANSACTION_CONFLICT',
    source: 'D3, D4',
    needs: bothNeeds,
    impact: 'Success tells the platform that a second payout was taken back.',
    async play(stage) {
      const { bet, staked } = await settledBet(stage)
      const transactionId = stage.id()
      stage.accepted(await stage.unsettle(bet, 'UNSCORED', transactionId), staked)
      const another = { ...bet, betId: `${stage.id()}-b` }
      const withBet = await stage.unsettle(another, 'UNSCORED', transactionId, {
        label: 'the same unsettlement with another betId',
      })
      stage.refusedAs(withBet, 'TRANSACTION_CONFLICT')
      const withType = await stage.unsettle(bet, 'UNVOIDED', transactionId, {
        label: 'the same unsettlement with another type',
      })
      stage.refusedAs(withType, 'TRANSACTION_CONFLICT')
      await stage.holds(staked, 'after these conflicts')
    },
  },
  {
    id: 'AU-530',
    level: 'SHOULD',
    title: 'A repeated unsettlement may have another transactionDate',
    source: 'D3',
    needs: bothNeeds,
    impact: 'A retry is refused, and the platform books a payout as uncollected that was collected.',
    async play(stage) {
      const { bet, staked } = await settledBet(stage)
      const transactionId = stage.id()
      stage.accepted(await stage.unsettle(bet, 'UNSCORED', transactionId), staked)
      const fields = { transactionDate: stage.settings.formatDate(new Date(Date.now() - 60_000)) }
      stage.accepted(await stage.unsettle(bet, 'UNSCORED', transactionId, { fields }), staked)
    },
  },
  {
    id: 'AU-531',
    level: 'MUST',
    title: 'A clawback and a placebet on the same funds at the same time: never both are taken',
    source: 'spec 3, 4.2',
    needs: bothNeeds,
    impact: 'The balance falls below nothing, and the operator carries the difference.',
    async play(stage) {
      for (let round = 1; round <= stage.settings.raceRounds; round += 1) {
        const { bet, payout, balance } = await settledBet(stage, 'BET_PAID', stage.units(500))
        const spent = await stage.spendDownTo(payout, balance)
        const rival = stage.bet(stage.units(300))
        const clawback = () =>
          stage.unsettle(bet, 'UNSCORED', undefined, { label: `unsettlement (round ${round})` })
        const place = () => stage.place(rival, { label: `placebet on the same funds (round ${round})` })
        const calls = round % 2 === 0 ? [clawback, place] : [place, clawback]
        const answers = await stage.together(2, index => (calls[index] as typeof place)())
        const [collected, taken] = round % 2 === 0 ? answers : [...answers].reverse()
        let rest = payout
        if (collected?.success) rest = subtract(rest, payout)
        if (taken?.success) rest = subtract(rest, rival.amount)
        if (collected?.success && taken?.success)
          stage.fail('one of the two to be refused', 'both were taken', taken)
        await stage.holds(rest, 'after a clawback and a placebet at the same time')
        await stage.rollback(rival)
        await stage.rollback(spent)
        if (collected?.success) await stage.rollback(bet)
        stage.opening = await stage.balance()
      }
    },
  },
  {
    id: 'AU-532',
    level: 'MUST',
    title: 'A placebet that comes again after its bet was settled takes nothing, and pays nothing',
    source: 'spec 1.5, D2',
    needs: ['settle'],
    impact: 'A late duplicate opens a bet that has been paid.',
    async play(stage) {
      const { bet, balance } = await settledBet(stage)
      stage.accepted(await stage.place(bet, { label: 'the same placebet after its settlement' }), balance)
      await stage.holds(balance, 'after a duplicate of a settled bet')
    },
  },
  {
    id: 'AU-533',
    level: 'SHOULD',
    title: 'A settlement of a bet that was rolled back, or is not known, credits nothing',
    source: 'D17',
    needs: ['settle'],
    impact: 'A payout for a bet without a stake.',
    async play(stage) {
      const [bet, unknown] = [stage.bet(), stage.bet()]
      stage.accepted(await stage.place(bet))
      stage.accepted(await stage.rollback(bet))
      await stage.trySettle(bet, 'BET_PAID', stage.units(150))
      await stage.holds(stage.opening, 'after a settlement of a bet that was rolled back')
      await stage.trySettle(unknown, 'BET_PAID', stage.units(150))
      await stage.holds(stage.opening, 'after a settlement of a bet that is not known')
    },
  },
  {
    id: 'AU-534',
    level: 'MUST',
    title:
      'An unsettlement and a rollback of one bet at the same time: payout and stake move once each, or not at all',
    source: 'spec 4.2, 4.3, D13',
    needs: bothNeeds,
    impact: 'The stake comes back while the payout is still there.',
    async play(stage) {
      for (let round = 1; round <= stage.settings.raceRounds; round += 1) {
        const { bet, staked, balance } = await settledBet(stage, 'BET_PAID', stage.units(40))
        const calls = [
          () => stage.unsettle(bet, 'UNSCORED', undefined, { label: `unsettlement (round ${round})` }),
          () => stage.rollback(bet, undefined, { label: `rollbackbet (round ${round})` }),
        ]
        if (round % 2 === 0) calls.reverse()
        const answers = await stage.together(2, index => (calls[index] as (typeof calls)[0])())
        const [collected, undone] = round % 2 === 0 ? [...answers].reverse() : answers
        const rest = collected?.success ? staked : balance
        await stage.holds(
          undone?.success ? add(rest, bet.amount) : rest,
          'after an unsettlement and a rollback at the same time',
        )
        if (undone?.success && !collected?.success)
          stage.fail(
            'no rollback of a bet whose payout is still there',
            'both stake and payout are the player’s',
            undone,
          )
        if (!collected?.success) stage.accepted(await stage.unsettle(bet, 'UNSCORED'))
        await stage.rollback(bet)
        await stage.holds(stage.opening, 'after both were done')
      }
    },
  },
  {
    id: 'AU-535',
    level: 'SHOULD',
    title: 'A cash-out is not taken back by UNSCORED or UNVOIDED',
    source: 'spec 4.2, D18',
    needs: ['settle'],
    impact: 'The player sold the bet, and the price is taken back when the result is corrected.',
    async play(stage) {
      const bet = stage.bet()
      const staked = await stage.placed(bet, stage.opening)
      await stage.settle(bet, 'CASHOUT', stage.units(50))
      const balance = add(staked, stage.units(50))
      await stage.holds(balance, 'after a cash-out')
      for (const type of ['UNSCORED', 'UNVOIDED'] as const) {
        stage.refused(await stage.unsettle(bet, type))
        await stage.holds(balance, `after ${type} of a bet that was cashed out`)
      }
    },
  },
  {
    id: 'AU-536',
    level: 'MUST',
    title: 'An unsettlement in the name of another player takes nothing from either',
    source: 'spec 2, 4.2, D15',
    needs: ['settle', 'other player'],
    impact: 'One player pays for the corrected result of another.',
    async play(stage) {
      const other = stage.settings.otherPlayerId ?? ''
      const others = await stage.balance(other)
      const { bet, balance } = await settledBet(stage)
      const label = 'unsettlement in the name of the other player'
      const answer = await stage.unsettle({ ...bet, playerId: other }, 'UNSCORED', undefined, { label })
      await stage.holds(balance, `after an ${label}`)
      const theirs = await stage.balance(other)
      if (compare(theirs, others) !== 0)
        stage.fail(`the other player’s balance to stay ${textOf(others)}`, textOf(theirs))
      stage.refused(answer)
    },
  },
  {
    id: 'AU-537',
    level: 'MUST',
    title: 'A rollback of a bet that was settled as lost gives nothing',
    source: 'spec 4.3, D13, D18',
    needs: ['settle'],
    impact: 'The stakes of lost bets come back.',
    async play(stage) {
      const bet = stage.bet()
      const after = await stage.placed(bet, stage.opening)
      await stage.settle(bet, 'BET_PAID', zero)
      await stage.holds(after, 'after a lost bet was settled')
      await stage.rollback(bet, undefined, { label: 'rollbackbet of a lost bet' })
      await stage.holds(after, 'after the rollback of a lost bet')
    },
  },
]
