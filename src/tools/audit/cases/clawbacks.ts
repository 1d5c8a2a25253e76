/** AU-5xx: settlements and their reversal, the unsettlement (spec 4.2, D7, D13, D17 to D20). */

import { add, type Decimal, subtract, zero } from '../../platform/decimal.js'
import type { AuditCase } from '../audit-case.js'
import { type Answer, type Bet, describeAnswer, type Stage } from '../stage.js'
import { expectOthersUnchanged } from './basics.js'

/** The credits that can be reversed: a wallet may keep them in different tables, with different guards. */
const reversible = ['BET_PAID', 'VOIDED'] as const
const reversalOf = { BET_PAID: 'UNSCORED', VOIDED: 'UNVOIDED' } as const

/** Places a bet and settles it as paid or voided. */
async function settledBet(
  stage: Stage,
  type: 'BET_PAID' | 'VOIDED' = 'BET_PAID',
  payout: Decimal = stage.units(stage.random.between(400, 600)),
): Promise<{ bet: Bet; payout: Decimal; staked: Decimal; balance: Decimal }> {
  return await stage.prepare(async () => {
    const bet = stage.bet()
    const staked = await stage.placeSuccessfully(bet, stage.opening)
    const credited = type === 'VOIDED' ? bet.amount : payout
    await stage.settle(bet, type, credited)
    const balance = add(staked, credited)
    await stage.expectBalance(balance, `after a settlement ${type} of ${stage.money(credited)}`)
    return { bet, payout: credited, staked, balance }
  })
}

/** Settles a bet, spends most of the credit, and has the clawback refused for insufficient funds. */
export async function uncollectedBet(stage: Stage, type: 'BET_PAID' | 'VOIDED' = 'BET_PAID') {
  const { bet, balance, payout } = await settledBet(stage, type)
  const rest = subtract(payout, stage.units(1))
  const spent = await stage.spendDownTo(rest, balance)
  const transactionId = stage.id()
  const reversal = reversalOf[type]
  const refusal = await stage.unsettle(bet, reversal, transactionId)
  stage.expectRefusal(refusal)
  await stage.expectBalance(rest, 'after a clawback that exceeds the funds')
  return { bet, spent, balance, transactionId, reversal, refusal }
}

/** Expects that no unsettlement of a bet that was cashed out changes the balance. @returns the answers */
async function unsettleCashout(stage: Stage): Promise<Answer[]> {
  const bet = stage.bet()
  const staked = await stage.placeSuccessfully(bet, stage.opening)
  await stage.settle(bet, 'CASHOUT', stage.units(50))
  const balance = add(staked, stage.units(50))
  await stage.expectBalance(balance, 'after a cash-out')
  const answers: Answer[] = []
  for (const type of ['UNSCORED', 'UNVOIDED'] as const) {
    const label = `${type} of a bet that was cashed out`
    answers.push(await stage.unsettle(bet, type, undefined, { label, mayFail: true }))
    await stage.expectBalance(balance, `after ${label}`)
  }
  return answers
}

const bothNeeds = ['settle', 'clawbacks'] as const

export const clawbacks: readonly AuditCase[] = [
  {
    id: 'AU-501',
    level: 'MUST',
    title: 'A settlement that is retried under the same transactionId is credited once',
    source: 'D17',
    needs: ['settle'],
    impact: 'The operator pays a winner twice, and an unsettlement debits whatever was credited.',
    async play(stage) {
      const bet = stage.bet()
      const after = await stage.placeSuccessfully(bet, stage.opening)
      const transactionId = stage.id()
      const payout = stage.units(stage.random.between(400, 600))
      await stage.settle(bet, 'BET_PAID', payout, transactionId)
      await stage.expectBalance(add(after, payout), 'after the settlement')
      // How the operator's code answers the retry is not defined; the balance is.
      await stage.trySettle(bet, 'BET_PAID', payout, transactionId)
      await stage.expectBalance(add(after, payout), 'after the retried settlement')
    },
  },
  {
    id: 'AU-502',
    level: 'MUST',
    title: 'UNSCORED debits the amount of BET_PAID, or is refused without a change if clawbacks are disabled',
    source: 'spec 3, 4.2, D20',
    quote:
      'the wallet debits what the BET_PAID settlement of the bet credited, or answers INSUFFICIENT_FUNDS',
    needs: ['settle'],
    impact:
      'Wrong payouts are never collected, or they are collected twice: by the wallet and by the platform.',
    async play(stage) {
      const { bet, balance, staked } = await settledBet(stage)
      const answer = await stage.unsettle(bet, 'UNSCORED')
      if (stage.settings.clawbacks) stage.expectSuccess(answer, staked)
      else stage.expectRefusal(answer)
      await stage.expectBalance(stage.settings.clawbacks ? staked : balance, 'after the unsettlement')
    },
  },
  {
    id: 'AU-503',
    level: 'MUST',
    title: 'UNVOIDED debits the amount of VOIDED, or is refused without a change if clawbacks are disabled',
    source: 'spec 3, 4.2, D20',
    quote: 'the wallet debits what the void settlement of the bet credited',
    needs: ['settle'],
    impact: 'A bet that was voided by mistake continues without a stake.',
    async play(stage) {
      const { bet, balance, staked } = await settledBet(stage, 'VOIDED')
      const answer = await stage.unsettle(bet, 'UNVOIDED')
      if (stage.settings.clawbacks) stage.expectSuccess(answer, staked)
      else stage.expectRefusal(answer)
      await stage.expectBalance(stage.settings.clawbacks ? staked : balance, 'after the unsettlement')
    },
  },
  {
    id: 'AU-504',
    level: 'MUST',
    title: 'A clawback that exceeds the funds is refused and debits nothing, not even a part',
    source: 'spec 4.2, D20',
    quote:
      "If the player's funds are insufficient, or the PAM cannot debit a balance, the answer is INSUFFICIENT_FUNDS.",
    needs: bothNeeds,
    impact:
      'The platform nets the whole amount off later winnings: a part that the wallet has debited is paid twice.',
    async play(stage) {
      await uncollectedBet(stage)
    },
  },
  {
    id: 'AU-505',
    level: 'MUST',
    title: 'A clawback of exactly the funds is debited',
    source: 'spec 4.2',
    quote:
      'the wallet debits what the BET_PAID settlement of the bet credited, or answers INSUFFICIENT_FUNDS',
    needs: bothNeeds,
    impact:
      'An off-by-one at the limit: an amount that could be collected is recorded as owed to the platform.',
    async play(stage) {
      const { bet, payout, balance } = await settledBet(stage)
      await stage.spendDownTo(payout, balance)
      stage.expectSuccess(await stage.unsettle(bet, 'UNSCORED'), zero)
      await stage.expectBalance(zero, 'after a clawback of exactly the funds')
    },
  },
  {
    id: 'AU-506',
    level: 'MUST',
    title:
      'A clawback that was refused for insufficient funds stays refused when retried, even with sufficient funds',
    source: 'spec 4.2 rule 2, D7',
    quote: 'The platform then books the amount as a debt of the player',
    needs: bothNeeds,
    impact:
      'The platform nets the amount off later winnings, and the wallet collects it too: the player pays twice.',
    async play(stage) {
      for (const type of reversible) {
        const { bet, spent, balance, transactionId, reversal } = await uncollectedBet(stage, type)
        stage.expectSuccess(await stage.rollback(spent), balance)
        const label = `retry of the refused ${reversal}, with sufficient funds`
        const retry = await stage.unsettle(bet, reversal, transactionId, { label })
        await stage.expectBalance(balance, `after the ${label}`)
        stage.expectRefusal(retry)
        stage.opening = balance
      }
    },
  },
  {
    id: 'AU-507',
    level: 'MUST',
    title:
      'A clawback that was refused for insufficient funds is not collected by another unsettlement either',
    source: 'spec 4.2 rule 2, D7',
    quote: 'The platform then books the amount as a debt of the player',
    needs: bothNeeds,
    impact:
      'As in AU-506: a second unsettlement of the same bet collects an amount that the platform already nets off.',
    async play(stage) {
      for (const type of reversible) {
        const { bet, spent, balance, reversal } = await uncollectedBet(stage, type)
        stage.expectSuccess(await stage.rollback(spent), balance)
        const answer = await stage.unsettle(bet, reversal, undefined, {
          label: `${reversal} under another transactionId`,
          mayFail: true,
        })
        await stage.expectBalance(balance, `after another ${reversal} of a refused clawback`)
        stage.expectError(answer)
        stage.opening = balance
      }
    },
  },
  {
    id: 'AU-571',
    level: 'SHOULD',
    title: 'The retry of a refused clawback gets the same refusal: the same status and error code',
    source: 'D2, D7',
    needs: bothNeeds,
    impact:
      'One call has two different answers. The platform believes the second one, and its books differ from the wallet’s.',
    async play(stage) {
      const { bet, transactionId, reversal, refusal } = await uncollectedBet(stage)
      const retry = await stage.unsettle(bet, reversal, transactionId, { label: 'retry of the unsettlement' })
      if (refusal.status !== retry.status || refusal.errorCode !== retry.errorCode)
        stage.fail(`the same answer: ${describeAnswer(refusal)}`, describeAnswer(retry), retry)
    },
  },
  {
    id: 'AU-508',
    level: 'SHOULD',
    title: 'An unsettlement of an uncollected credit is refused, and not for insufficient funds again',
    source: 'D19',
    needs: bothNeeds,
    impact: 'The platform cannot tell that nothing is left to collect.',
    async play(stage) {
      const { bet, spent, refusal } = await uncollectedBet(stage)
      const answer = await stage.unsettle(bet, 'UNSCORED')
      stage.expectRefusal(answer)
      if (answer.errorCode === refusal.errorCode && !stage.allowsAnyCode('INVALID_BET'))
        stage.fail(`a refusal other than ${describeAnswer(refusal)}`, describeAnswer(answer), answer)
      stage.expectSuccess(await stage.rollback(spent))
    },
  },
  {
    id: 'AU-509',
    level: 'MUST',
    title: 'After a clawback was refused for insufficient funds, a rollback of the bet credits nothing',
    source: 'D13',
    needs: bothNeeds,
    impact: 'The player has both payout and stake, and the platform treats the bet as paid.',
    async play(stage) {
      const { bet, spent, balance } = await uncollectedBet(stage, 'VOIDED')
      stage.expectSuccess(await stage.rollback(spent), balance)
      await stage.rollback(bet, undefined, { label: 'rollbackbet after a refused clawback' })
      await stage.expectBalance(balance, 'after a rollback that followed a refused clawback')
    },
  },
  {
    id: 'AU-510',
    level: 'MUST',
    title: 'An unsettlement that is retried, at once or later, debits the payout once',
    source: 'spec 1.5, 4.2',
    quote:
      'A second request with the same transactionId is the same transaction, and the balance changes at most once.',
    needs: bothNeeds,
    impact: 'The platform retries until it receives a success, and every retry debits the payout again.',
    async play(stage) {
      const { bet, staked } = await settledBet(stage)
      const transactionId = stage.id()
      for (let time = 1; time <= 2; time += 1)
        stage.expectSuccess(await stage.unsettle(bet, 'UNSCORED', transactionId), staked)
      const other = stage.bet()
      const after = await stage.placeSuccessfully(other, staked)
      const label = 'retry of the unsettlement after another bet'
      stage.expectSuccess(await stage.unsettle(bet, 'UNSCORED', transactionId, { label }), after)
      await stage.expectBalance(after, 'after three copies of one unsettlement')
    },
  },
  {
    id: 'AU-511',
    level: 'MUST',
    title: 'Concurrent copies of one unsettlement debit the payout once',
    source: 'spec 1.5, 4.2',
    quote:
      'A second request with the same transactionId is the same transaction, and the balance changes at most once.',
    needs: bothNeeds,
    impact:
      'As in AU-510, if the calls arrive within milliseconds, before the wallet has recorded the first one.',
    async play(stage) {
      for (let round = 1; round <= stage.settings.raceRounds; round += 1) {
        const { bet, staked } = await settledBet(stage, 'BET_PAID', stage.units(20))
        const transactionId = stage.id()
        const answers = await stage.concurrently(stage.settings.concurrency, copy =>
          stage.unsettle(bet, 'UNSCORED', transactionId, {
            label: `copy ${copy + 1} of one unsettlement (round ${round})`,
          }),
        )
        await stage.expectBalance(staked, `after ${answers.length} concurrent copies of one unsettlement`)
        for (const answer of answers) stage.expectSuccess(answer)
        await stage.rollback(bet)
        await stage.expectBalance(stage.opening, 'after the bet itself was rolled back')
      }
    },
  },
  {
    id: 'AU-512',
    level: 'MUST',
    title: 'Further unsettlements of a payout or a void under other transactionIds debit nothing',
    source: 'spec 4.2, D18, D19',
    quote:
      'the wallet debits what the BET_PAID settlement of the bet credited, or answers INSUFFICIENT_FUNDS',
    needs: bothNeeds,
    impact: 'Two corrections of one result debit the credit twice.',
    async play(stage) {
      for (const type of reversible) {
        const { bet, staked } = await settledBet(stage, type)
        const reversal = reversalOf[type]
        stage.expectSuccess(await stage.unsettle(bet, reversal), staked)
        const retry = await stage.unsettle(bet, reversal, undefined, {
          label: `${reversal} under another transactionId`,
          mayFail: true,
        })
        await stage.expectBalance(staked, `after a second ${reversal}`)
        stage.expectError(retry)
        stage.opening = staked
      }
    },
  },
  {
    id: 'AU-513',
    level: 'MUST',
    title: 'Concurrent unsettlements of one bet under different transactionIds debit its credit once',
    source: 'spec 4.2, D18',
    quote:
      'the wallet debits what the BET_PAID settlement of the bet credited, or answers INSUFFICIENT_FUNDS',
    needs: bothNeeds,
    impact:
      'As in AU-512, if the calls arrive within milliseconds, before the wallet has recorded the first one.',
    async play(stage) {
      for (let round = 1; round <= stage.settings.raceRounds; round += 1) {
        for (const type of reversible) {
          const { bet, staked } = await settledBet(stage, type, stage.units(20))
          await stage.concurrently(stage.settings.concurrency, copy =>
            stage.unsettle(bet, reversalOf[type], undefined, {
              label: `${reversalOf[type]} ${copy + 1} under its own transactionId (round ${round})`,
              mayFail: true,
            }),
          )
          await stage.expectBalance(staked, `after concurrent ${reversalOf[type]} of one bet`)
          await stage.rollback(bet)
          await stage.expectBalance(stage.opening, 'after the bet itself was rolled back')
        }
      }
    },
  },
  {
    id: 'AU-514',
    level: 'MUST',
    title: 'After paid, unsettled and paid again, an unsettlement debits the second payout only',
    source: 'spec 4.2, D18',
    quote:
      'the wallet debits what the BET_PAID settlement of the bet credited, or answers INSUFFICIENT_FUNDS',
    needs: bothNeeds,
    impact: 'A corrected result is corrected again, and both payouts are debited, or none.',
    async play(stage) {
      const { bet, staked } = await settledBet(stage)
      stage.expectSuccess(await stage.unsettle(bet, 'UNSCORED'), staked)
      const second = stage.units(stage.random.between(250, 350))
      await stage.settle(bet, 'BET_PAID', second)
      await stage.expectBalance(add(staked, second), 'after the second payout')
      stage.expectSuccess(await stage.unsettle(bet, 'UNSCORED'), staked)
      await stage.expectBalance(staked, 'after the second unsettlement')
    },
  },
  {
    id: 'AU-515',
    level: 'MUST',
    title: 'After a clawback was refused for insufficient funds, a new unsettlement debits a new payout only',
    source: 'D7, D18',
    quote: 'The platform then books the amount as a debt of the player',
    needs: bothNeeds,
    impact: 'The uncollected amount is debited with the new one, while the platform nets it off too.',
    async play(stage) {
      const { bet, spent, balance, reversal } = await uncollectedBet(stage)
      stage.expectSuccess(await stage.rollback(spent), balance)
      const second = stage.units(stage.random.between(100, 150))
      await stage.settle(bet, 'BET_PAID', second)
      await stage.expectBalance(add(balance, second), 'after a new payout')
      stage.expectSuccess(await stage.unsettle(bet, reversal), balance)
      await stage.expectBalance(balance, 'after the clawback of the new payout')
    },
  },
  {
    id: 'AU-516',
    level: 'MUST',
    title: 'Several payouts of one bet are debited together',
    source: 'spec 4.2, D17, D18',
    quote:
      'the wallet debits what the BET_PAID settlement of the bet credited, or answers INSUFFICIENT_FUNDS',
    needs: bothNeeds,
    impact: 'Only one of several payouts is collected.',
    async play(stage) {
      const { bet, staked, balance } = await settledBet(stage)
      const second = stage.units(stage.random.between(100, 150))
      let paid = balance
      for (const which of ['second', 'third, equal']) {
        await stage.settle(bet, 'BET_PAID', second)
        paid = add(paid, second)
        await stage.expectBalance(paid, `after a ${which} payout`)
      }
      stage.expectSuccess(await stage.unsettle(bet, 'UNSCORED'), staked)
      await stage.expectBalance(staked, 'after the unsettlement')
    },
  },
  {
    id: 'AU-517',
    level: 'MUST',
    title: 'An unsettlement that arrives before its settlement debits nothing and is not a success',
    source: 'spec 4.2, D19',
    needs: ['settle'],
    impact: 'A success tells the platform that a payout was collected before it was even credited.',
    async play(stage) {
      const bet = stage.bet()
      const after = await stage.placeSuccessfully(bet, stage.opening)
      const answer = await stage.unsettle(bet, 'UNSCORED', undefined, { mayFail: true })
      await stage.expectBalance(after, 'after an unsettlement of a bet that was never settled')
      stage.expectError(answer)
    },
  },
  {
    id: 'AU-518',
    level: 'MUST',
    title:
      'An unsettlement that arrived before its settlement debits the payout afterwards: as a retry after a 5xx, as a new transaction after a refusal',
    source: 'spec 4.2, D8, D19',
    quote: 'The platform retries this call.',
    needs: bothNeeds,
    impact: 'A settlement that waits in a queue escapes its own reversal: the payout is never collected.',
    async play(stage) {
      const bet = stage.bet()
      const staked = await stage.placeSuccessfully(bet, stage.opening)
      const transactionId = stage.id()
      const early = await stage.unsettle(bet, 'UNSCORED', transactionId, { mayFail: true })
      stage.expectError(early)
      // A 4xx is final: the platform retries after a fault only, and a wallet may record its refusals.
      const isFinal = (early.status ?? 0) <= 499
      const payout = stage.units(stage.random.between(400, 600))
      await stage.settle(bet, 'BET_PAID', payout)
      await stage.expectBalance(add(staked, payout), 'after the settlement')
      const label = `${isFinal ? 'new' : 'retry of the'} unsettlement after the settlement`
      const late = await stage.unsettle(bet, 'UNSCORED', isFinal ? stage.id() : transactionId, { label })
      stage.expectSuccess(late, staked)
      await stage.expectBalance(staked, 'after the unsettlement')
    },
  },
  {
    id: 'AU-519',
    level: 'SHOULD',
    title: 'An unsettlement that arrives before its settlement is answered with SETTLEMENT_NOT_FOUND, 503',
    source: 'D19',
    impact: 'The platform treats a 4xx as final and does not retry after the settlement has arrived.',
    async play(stage) {
      const bet = stage.bet()
      await stage.placePrepared(bet)
      for (const type of ['UNSCORED', 'UNVOIDED'] as const) {
        const answer = await stage.unsettle(bet, type, undefined, { mayFail: true })
        stage.expectAgreedRefusal(answer, 'SETTLEMENT_NOT_FOUND')
      }
    },
  },
  {
    id: 'AU-520',
    level: 'MUST',
    title: 'A rollback of a paid or voided bet credits nothing',
    source: 'spec 4.3, D13',
    needs: ['settle'],
    impact: 'The stake is credited a second time: after the void, or in addition to the payout.',
    async play(stage) {
      const paid = await settledBet(stage)
      await stage.rollback(paid.bet, undefined, { label: 'rollbackbet of a paid bet' })
      await stage.expectBalance(paid.balance, 'after the rollback of a paid bet')
      const bet = stage.bet()
      const staked = await stage.placeSuccessfully(bet, paid.balance)
      await stage.settle(bet, 'VOIDED', bet.amount)
      await stage.expectBalance(add(staked, bet.amount), 'after a void')
      await stage.rollback(bet, undefined, { label: 'rollbackbet of a voided bet' })
      await stage.expectBalance(paid.balance, 'after the rollback of a voided bet')
    },
  },
  {
    id: 'AU-521',
    level: 'SHOULD',
    title: 'A rollback of a paid bet is refused',
    source: 'D13',
    needs: ['settle'],
    impact: 'A success would mean that the stake was credited.',
    async play(stage) {
      const { bet } = await settledBet(stage)
      stage.expectRefusal(await stage.rollback(bet))
    },
  },
  {
    id: 'AU-522',
    level: 'MUST',
    title: 'A bet can be rolled back after its payout or its void was reversed',
    source: 'spec 3, D13',
    quote: 'the bet exists | the placebet is undone',
    needs: bothNeeds,
    impact: 'The stake of a cancelled bet stays in the wallet.',
    async play(stage) {
      for (const type of reversible) {
        const { bet } = await settledBet(stage, type)
        stage.expectSuccess(await stage.unsettle(bet, reversalOf[type]))
        stage.expectSuccess(await stage.rollback(bet), stage.opening)
        await stage.expectBalance(stage.opening, `after ${reversalOf[type]} and rollback`)
      }
    },
  },
  {
    id: 'AU-523',
    level: 'MUST',
    title: 'UNSCORED does not reverse a void, and UNVOIDED does not reverse a payout',
    source: 'spec 4.2, D18',
    quote:
      'the wallet debits what the BET_PAID settlement of the bet credited, or answers INSUFFICIENT_FUNDS',
    needs: ['settle'],
    impact: 'The wrong credit is reversed, and the right one can still be reversed as well.',
    async play(stage) {
      const paid = await settledBet(stage)
      await stage.unsettle(paid.bet, 'UNVOIDED', undefined, {
        label: 'UNVOIDED of a paid bet',
        mayFail: true,
      })
      await stage.expectBalance(paid.balance, 'after UNVOIDED of a paid bet')
      const bet = stage.bet()
      const staked = await stage.placeSuccessfully(bet, paid.balance)
      await stage.settle(bet, 'VOIDED', bet.amount)
      await stage.expectBalance(add(staked, bet.amount), 'after a void')
      await stage.unsettle(bet, 'UNSCORED', undefined, {
        label: 'UNSCORED of a voided bet',
        mayFail: true,
      })
      await stage.expectBalance(paid.balance, 'after UNSCORED of a voided bet')
    },
  },
  {
    id: 'AU-524',
    level: 'MUST',
    title: 'An unsettlement of an unknown bet changes no balance',
    source: 'spec 4.2, D19',
    quote: 'reverses the settlement that a bet has received',
    impact: 'A clawback debits money for a bet that the wallet has never received.',
    async play(stage) {
      for (const type of ['UNSCORED', 'UNVOIDED'] as const) {
        const answer = await stage.unsettle(stage.bet(), type, undefined, { mayFail: true })
        await stage.expectBalance(stage.opening, `after ${type} of an unknown bet`)
        stage.expectError(answer)
      }
    },
  },
  {
    id: 'AU-525',
    level: 'SHOULD',
    title: 'An unsettlement of a bet that is unknown or rolled back is refused with a 4xx',
    source: 'D19',
    impact: 'The platform cannot tell that there is nothing to collect, and retries indefinitely.',
    async play(stage) {
      stage.expectFinalRefusal(await stage.unsettle(stage.bet(), 'UNSCORED', undefined, { mayFail: true }))
      const bet = stage.bet()
      await stage.placePrepared(bet)
      stage.expectSuccess(await stage.rollback(bet))
      stage.expectFinalRefusal(await stage.unsettle(bet, 'UNVOIDED', undefined, { mayFail: true }))
    },
  },
  {
    id: 'AU-526',
    level: 'MUST',
    title: 'An unsettlement of a bet that was rolled back changes no balance',
    source: 'spec 4.2, D19',
    quote: 'reverses the settlement that a bet has received',
    impact: 'The returned stake is debited again, as if it had been a void.',
    async play(stage) {
      const bet = stage.bet()
      await stage.placePrepared(bet)
      stage.expectSuccess(await stage.rollback(bet))
      for (const type of ['UNSCORED', 'UNVOIDED'] as const) {
        const answer = await stage.unsettle(bet, type, undefined, { mayFail: true })
        await stage.expectBalance(stage.opening, `after ${type} of a rolled-back bet`)
        stage.expectError(answer)
      }
    },
  },
  {
    id: 'AU-527',
    level: 'MUST',
    title: 'An unsettlement debits the payout of its own bet and of no other',
    source: 'spec 2, 4.2',
    quote: 'identifies the bet; connects it with its settlements, unsettlements and rollbacks',
    needs: bothNeeds,
    impact: 'The correction of one match debits the winnings of another.',
    async play(stage) {
      const first = await settledBet(stage)
      const bet = stage.bet()
      const staked = await stage.placeSuccessfully(bet, first.balance)
      const payout = stage.units(stage.random.between(100, 150))
      await stage.settle(bet, 'BET_PAID', payout)
      await stage.expectBalance(add(staked, payout), 'after the second payout')
      stage.expectSuccess(
        await stage.unsettle(first.bet, 'UNSCORED'),
        subtract(add(staked, payout), first.payout),
      )
      stage.expectSuccess(await stage.unsettle(bet, 'UNSCORED'), subtract(staked, first.payout))
    },
  },
  {
    id: 'AU-528',
    level: 'SHOULD',
    title: 'The settlement of a lost bet (BET_PAID of 0) can be unsettled without a change of the balance',
    source: 'D18',
    needs: ['settle'],
    impact: 'A lost bet whose result is corrected cannot be reopened.',
    async play(stage) {
      const bet = stage.bet()
      const after = await stage.placeSuccessfully(bet, stage.opening)
      await stage.settle(bet, 'BET_PAID', zero)
      await stage.expectBalance(after, 'after a lost bet was settled')
      stage.expectSuccess(await stage.unsettle(bet, 'UNSCORED'), after)
      await stage.expectBalance(after, 'after the lost bet was unsettled')
    },
  },
  {
    id: 'AU-529',
    level: 'SHOULD',
    title: 'An unsettlement with a known transactionId and a different betId or type is refused',
    source: 'D3, D4',
    needs: bothNeeds,
    impact: 'A success tells the platform that a second payout was collected.',
    async play(stage) {
      const { bet, staked } = await settledBet(stage)
      const transactionId = stage.id()
      stage.expectSuccess(await stage.unsettle(bet, 'UNSCORED', transactionId), staked)
      const another = { ...bet, betId: `${stage.id()}-b` }
      const withBet = await stage.unsettle(another, 'UNSCORED', transactionId, {
        label: 'retry of the unsettlement with a different betId',
      })
      stage.expectRefusal(withBet)
      const withType = await stage.unsettle(bet, 'UNVOIDED', transactionId, {
        label: 'retry of the unsettlement with a different type',
      })
      stage.expectRefusal(withType)
      await stage.expectBalance(staked, 'after the conflicts')
    },
  },
  {
    id: 'AU-530',
    level: 'SHOULD',
    title: 'A retried unsettlement may differ in transactionDate',
    source: 'D3',
    needs: bothNeeds,
    impact: 'A retry is refused, and the platform records a collected payout as uncollected.',
    async play(stage) {
      const { bet, staked } = await settledBet(stage)
      const transactionId = stage.id()
      stage.expectSuccess(await stage.unsettle(bet, 'UNSCORED', transactionId), staked)
      const fields = { transactionDate: stage.settings.formatDate(new Date(Date.now() - 60_000)) }
      stage.expectSuccess(await stage.unsettle(bet, 'UNSCORED', transactionId, { fields }), staked)
    },
  },
  {
    id: 'AU-531',
    level: 'MUST',
    title: 'Of a concurrent clawback and placebet on the same funds, at most one is accepted',
    source: 'spec 3, 4.2',
    quote:
      "If the player's funds are insufficient, or the PAM cannot debit a balance, the answer is INSUFFICIENT_FUNDS.",
    needs: bothNeeds,
    impact: 'The balance becomes negative, and the operator bears the loss.',
    async play(stage) {
      for (let round = 1; round <= stage.settings.raceRounds; round += 1) {
        const { bet, payout, balance } = await settledBet(stage, 'BET_PAID', stage.units(500))
        const spent = await stage.spendDownTo(payout, balance)
        const rival = stage.bet(stage.units(300))
        const clawback = () =>
          stage.unsettle(bet, 'UNSCORED', undefined, { label: `unsettlement (round ${round})` })
        const place = () => stage.place(rival, { label: `placebet on the same funds (round ${round})` })
        const calls = round % 2 === 0 ? [clawback, place] : [place, clawback]
        const answers = await stage.concurrently(2, index => (calls[index] as typeof place)())
        const [collected, placed] = round % 2 === 0 ? answers : [...answers].reverse()
        let rest = payout
        if (collected?.success) rest = subtract(rest, payout)
        if (placed?.success) rest = subtract(rest, rival.amount)
        if (collected?.success && placed?.success)
          stage.fail('at most one accepted call', 'both were accepted', placed)
        await stage.expectBalance(rest, 'after a concurrent clawback and placebet')
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
    title: 'The retry of a placebet whose bet was settled changes no balance',
    source: 'spec 1.5, D2',
    quote:
      'A second request with the same transactionId is the same transaction, and the balance changes at most once.',
    needs: ['settle'],
    impact: 'A late duplicate reopens a bet that is already paid.',
    async play(stage) {
      const { bet, balance } = await settledBet(stage)
      await stage.place(bet, { label: 'retry of the placebet after its settlement' })
      await stage.expectBalance(balance, 'after the retry of a placebet that was settled')
    },
  },
  {
    id: 'AU-551',
    level: 'SHOULD',
    title: 'The retry of a placebet whose bet was settled gets the first answer',
    source: 'D2',
    needs: ['settle'],
    impact: 'With a refusal, the placebet seems to have failed, and the platform rolls back a settled bet.',
    async play(stage) {
      const { bet, balance } = await settledBet(stage)
      stage.expectSuccess(await stage.place(bet), balance)
    },
  },
  {
    id: 'AU-533',
    level: 'MUST',
    title: 'A settlement of a bet that was rolled back credits nothing',
    source: 'spec 3, D17',
    needs: ['settle'],
    impact: 'The player has the stake back, and a payout in addition.',
    async play(stage) {
      const bet = stage.bet()
      await stage.placePrepared(bet)
      stage.expectSuccess(await stage.rollback(bet))
      await stage.trySettle(bet, 'BET_PAID', stage.units(150))
      await stage.expectBalance(stage.opening, 'after a settlement of a rolled-back bet')
    },
  },
  {
    id: 'AU-552',
    // No MUST: after a restore from a backup, an operator may pay bets that the wallet has lost.
    level: 'SHOULD',
    title: 'A settlement of an unknown bet credits nothing',
    source: 'D17',
    needs: ['settle'],
    impact: 'A payout is credited for a bet without a stake.',
    async play(stage) {
      await stage.trySettle(stage.bet(), 'BET_PAID', stage.units(150))
      await stage.expectBalance(stage.opening, 'after a settlement of an unknown bet')
    },
  },
  {
    id: 'AU-534',
    level: 'MUST',
    title: 'A concurrent unsettlement and rollback of one bet apply once each, or not at all',
    source: 'spec 4.2, 4.3, D13',
    needs: bothNeeds,
    impact: 'The stake is credited while the player still has the payout.',
    async play(stage) {
      for (let round = 1; round <= stage.settings.raceRounds; round += 1) {
        const { bet, staked, balance } = await settledBet(stage, 'BET_PAID', stage.units(40))
        const calls = [
          () => stage.unsettle(bet, 'UNSCORED', undefined, { label: `unsettlement (round ${round})` }),
          () => stage.rollback(bet, undefined, { label: `rollbackbet (round ${round})` }),
        ]
        if (round % 2 === 0) calls.reverse()
        const answers = await stage.concurrently(2, index => (calls[index] as (typeof calls)[0])())
        const [collected, undone] = round % 2 === 0 ? [...answers].reverse() : answers
        const rest = collected?.success ? staked : balance
        await stage.expectBalance(
          undone?.success ? add(rest, bet.amount) : rest,
          'after a concurrent unsettlement and rollback',
        )
        if (undone?.success && !collected?.success)
          stage.fail(
            'no rollback of a bet whose payout was not clawed back',
            'the player has both stake and payout',
            undone,
          )
        if (!collected?.success) stage.expectSuccess(await stage.unsettle(bet, 'UNSCORED'))
        await stage.rollback(bet)
        await stage.expectBalance(stage.opening, 'after both calls')
      }
    },
  },
  {
    id: 'AU-535',
    level: 'SHOULD',
    title: 'A cash-out is not reversed by UNSCORED or UNVOIDED',
    source: 'spec 4.2, D18',
    needs: ['settle'],
    impact: 'The player has sold the bet, and loses the price when the result is corrected.',
    async play(stage) {
      for (const answer of await unsettleCashout(stage)) stage.expectError(answer)
    },
  },
  {
    id: 'AU-553',
    level: 'MUST',
    title: 'UNSCORED and UNVOIDED debit nothing of a cash-out',
    source: 'spec 4.2, D18',
    quote:
      'the wallet debits what the BET_PAID settlement of the bet credited, or answers INSUFFICIENT_FUNDS',
    needs: ['settle'],
    impact: 'The player has sold the bet, and loses the price when the result is corrected.',
    describes: ['too little'],
    async play(stage) {
      await unsettleCashout(stage)
    },
  },
  {
    id: 'AU-554',
    level: 'MUST',
    title: 'The retry of an unsettlement succeeds when the funds are spent by then',
    source: 'spec 1.5, D2',
    quote:
      'A second request with the same transactionId is the same transaction, and the balance changes at most once.',
    needs: bothNeeds,
    impact:
      'The platform books a debt for an amount that the wallet has already collected: the player pays twice.',
    describes: ['refused'],
    async play(stage) {
      const { bet, staked } = await settledBet(stage)
      const transactionId = stage.id()
      stage.expectSuccess(await stage.unsettle(bet, 'UNSCORED', transactionId), staked)
      await stage.spendDownTo(zero, staked)
      const label = 'retry of the unsettlement, without funds'
      stage.expectSuccess(await stage.unsettle(bet, 'UNSCORED', transactionId, { label }), zero)
    },
  },
  {
    id: 'AU-555',
    level: 'MUST',
    title: 'A settlement of a bet that was rolled back before it arrived credits nothing, whatever its type',
    source: 'spec 4.3, D11, D17',
    needs: ['settle'],
    impact: 'A payout is credited for a bet without a stake, which the platform has cancelled.',
    describes: ['too much'],
    async play(stage) {
      for (const type of ['BET_PAID', 'VOIDED', 'CASHOUT'] as const) {
        const bet = stage.bet()
        stage.expectSuccess(await stage.rollback(bet), stage.opening)
        await stage.trySettle(bet, type, bet.amount)
        await stage.expectBalance(
          stage.opening,
          `after ${type} of a bet that was rolled back before it arrived`,
        )
      }
    },
  },
  {
    id: 'AU-556',
    level: 'SHOULD',
    title:
      'An unsettlement of a credit that was reversed is refused with a 4xx, and not answered 5xx again and again',
    source: 'D19',
    needs: bothNeeds,
    impact: 'The platform retries the call indefinitely, and each retry raises an alarm.',
    async play(stage) {
      for (const type of reversible) {
        const { bet, staked } = await settledBet(stage, type)
        stage.expectSuccess(await stage.unsettle(bet, reversalOf[type]), staked)
        const label = `${reversalOf[type]} of a credit that was reversed`
        stage.expectFinalRefusal(
          await stage.unsettle(bet, reversalOf[type], undefined, { label, mayFail: true }),
        )
        stage.opening = staked
      }
    },
  },
  {
    id: 'AU-536',
    level: 'MUST',
    title: 'An unsettlement that names another player debits neither player',
    source: 'spec 2, 4.2, D15',
    needs: ['settle', 'other-player'],
    impact: 'One player pays for the corrected result of another.',
    async play(stage) {
      const other = stage.settings.otherPlayerId ?? ''
      const others = await stage.balance(other)
      const { bet, balance } = await settledBet(stage)
      const label = 'unsettlement for the other player'
      const answer = await stage.unsettle({ ...bet, playerId: other }, 'UNSCORED', undefined, {
        label,
        mayFail: true,
      })
      await stage.expectBalance(balance, `after an ${label}`)
      await expectOthersUnchanged(stage, others)
      stage.expectError(answer)
    },
  },
  {
    id: 'AU-537',
    level: 'MUST',
    title: 'A rollback of a bet that was settled as lost credits nothing',
    source: 'spec 4.3, D13, D18',
    needs: ['settle'],
    impact: 'The stakes of lost bets are credited.',
    async play(stage) {
      const bet = stage.bet()
      const after = await stage.placeSuccessfully(bet, stage.opening)
      await stage.settle(bet, 'BET_PAID', zero)
      await stage.expectBalance(after, 'after a lost bet was settled')
      await stage.rollback(bet, undefined, { label: 'rollbackbet of a lost bet' })
      await stage.expectBalance(after, 'after the rollback of a lost bet')
    },
  },
]
