/** AU-5xx: settlements and their reversal, the unsettlement (spec 4.2, D7, D13, D17 to D20). */

import { add, type Decimal, subtract, zero } from '../../numbers/decimal.js'
import { type Answer, describeAnswer } from '../answer.js'
import { casesOf } from '../audit-case.js'
import { type CaseContext, eachRound, together } from '../case-context.js'
import type { Reversible } from '../preparations.js'
import { type Bet, reversalOf, type UnsettlementType } from '../wallet-calls.js'
import { otherPlayer } from './basics.js'

/** Sends both unsettlements. @param balance is expected after each, if it is given */
async function unsettleBoth(
  { wallet, expect }: CaseContext,
  betOf: () => Bet,
  what: string,
  balance?: Decimal,
): Promise<Answer[]> {
  const answers: Answer[] = []
  for (const type of ['UNSCORED', 'UNVOIDED'] as const) {
    const answer = await wallet.tryUnsettle(betOf(), type, `${type} ${what}`)
    answers.push(balance === undefined ? answer : await expect.balanceAfter(answer, balance))
  }
  return answers
}

async function unsettleCashout(context: CaseContext) {
  const { bet, staked } = await context.prepare.openBet()
  const balance = await context.prepare.settled(bet, 'CASHOUT', context.units(50), staked)
  return await unsettleBoth(context, () => bet, 'of a bet that was cashed out', balance)
}

/** The reversal of a settlement is debited, or refused where clawbacks are disabled. */
const unsettleOnce =
  (type: Reversible) =>
  async ({ prepare, wallet, expect, settings }: CaseContext) => {
    const { bet, balance, staked } = await prepare.settledBet(type)
    const call = wallet.unsettle(bet, reversalOf[type])
    if (settings.clawbacks) await expect.executed(call, staked)
    else await expect.refused(call, balance)
  }

/** For a payout and for a void. @param run returns the balance that its bets leave */
export const eachReversal =
  (run: (context: CaseContext, type: Reversible, reversal: UnsettlementType) => Promise<Decimal>) =>
  async (context: CaseContext) => {
    for (const type of ['BET_PAID', 'VOIDED'] as const)
      context.opening = await run(context, type, reversalOf[type])
  }

export const bothNeeds = ['settle', 'clawbacks'] as const

export const clawbacks = casesOf({
  'AU-501': {
    name: 'A settlement that is retried under the same transactionId is credited once',
    source: 'D17',
    needs: ['settle'],
    impact: 'The operator pays a winner twice, and an unsettlement debits whatever was credited.',
    async run({ prepare, wallet, expect, between }) {
      const { bet, staked } = await prepare.openBet()
      const transactionId = wallet.id()
      const payout = between(400, 600)
      const balance = await prepare.settled(bet, 'BET_PAID', payout, staked, transactionId)
      // How the operator's code answers the retry is not defined; the balance is.
      await wallet.trySettle(bet, 'BET_PAID', payout, transactionId)
      await expect.balance(balance, 'after the retried settlement')
    },
  },
  'AU-502': {
    name: 'UNSCORED debits the amount of BET_PAID, or is refused without a change if clawbacks are disabled',
    source: 'spec 3, 4.2, D20',
    quote: 'unscored-debits',
    needs: ['settle'],
    impact:
      'Wrong payouts are never collected, or they are collected twice: by the wallet and by the platform.',
    run: unsettleOnce('BET_PAID'),
  },
  'AU-504': {
    name: 'A clawback that exceeds the funds is refused and debits nothing, not even a part',
    source: 'spec 4.2, D20',
    quote: 'clawback-refused',
    needs: bothNeeds,
    impact:
      'The platform nets the whole amount off later winnings: a part that the wallet has debited is paid twice.',
    async run({ prepare, wallet, expect }) {
      const { bet, rest, reversal } = await prepare.spentCredit()
      await expect.refused(wallet.unsettle(bet, reversal), rest)
    },
  },
  'AU-505': {
    name: 'A clawback of exactly the funds is debited',
    source: 'spec 4.2',
    quote: 'unscored-debits',
    needs: bothNeeds,
    impact:
      'An off-by-one at the limit: an amount that could be collected is recorded as owed to the platform.',
    async run({ prepare, wallet, expect }) {
      const { bet, payout, balance } = await prepare.settledBet()
      await prepare.spendDownTo(payout, balance)
      await expect.executed(wallet.unsettle(bet, 'UNSCORED'), zero)
    },
  },
  'AU-510': {
    name: 'An unsettlement that is retried, at once or later, debits the payout once',
    source: 'spec 1.5, 4.2',
    quote: 'one-transaction',
    needs: bothNeeds,
    impact: 'The platform retries until it receives a success, and every retry debits the payout again.',
    async run({ prepare, wallet, expect }) {
      const { bet, staked } = await prepare.settledBet()
      const transactionId = wallet.id()
      expect.success(await wallet.unsettle(bet, 'UNSCORED', transactionId), staked)
      await expect.executed(wallet.unsettle(bet, 'UNSCORED', transactionId), staked)
      const after = await prepare.placed(wallet.bet(), staked)
      const label = 'retry of the unsettlement after another bet'
      await expect.executed(wallet.unsettle(bet, 'UNSCORED', transactionId, label), after)
    },
  },
  'AU-516': {
    name: 'Several payouts of one bet are debited together',
    source: 'spec 4.2, D17, D18',
    quote: 'unscored-debits',
    needs: bothNeeds,
    impact: 'Only one of several payouts is collected.',
    async run({ prepare, wallet, expect, between }) {
      const { bet, staked, balance } = await prepare.settledBet()
      const second = between(100, 150)
      const twice = await prepare.settled(bet, 'BET_PAID', second, balance)
      await prepare.settled(bet, 'BET_PAID', second, twice)
      await expect.executed(wallet.unsettle(bet, 'UNSCORED'), staked)
    },
  },
  'AU-517': {
    name: 'An unsettlement that arrives before its settlement debits nothing and is not a success',
    source: 'spec 4.2, D19',
    needs: ['settle'],
    impact: 'A success tells the platform that a payout was collected before it was even credited.',
    async run({ prepare, wallet, expect }) {
      const { bet, staked } = await prepare.openBet()
      await expect.notExecuted(wallet.tryUnsettle(bet, 'UNSCORED'), staked)
    },
  },
  'AU-518': {
    name: 'An unsettlement that arrived before its settlement debits the payout afterwards: as a retry after a 5xx, as a new transaction after a refusal',
    source: 'spec 4.2, D8, D19',
    quote: 'platform-retries',
    needs: bothNeeds,
    impact: 'A settlement that waits in a queue escapes its own reversal: the payout is never collected.',
    async run({ prepare, wallet, expect, between }) {
      const { bet, staked } = await prepare.openBet()
      const transactionId = wallet.id()
      const early = await wallet.unsettle(bet, 'UNSCORED', transactionId, { mayFail: true })
      expect.error(early)
      // A 4xx is final: the platform retries after a fault only, and a wallet may record its refusals.
      const isFinal = (early.status ?? 0) <= 499
      await prepare.settled(bet, 'BET_PAID', between(400, 600), staked)
      const label = `${isFinal ? 'new' : 'retry of the'} unsettlement after the settlement`
      const late = wallet.unsettle(bet, 'UNSCORED', isFinal ? wallet.id() : transactionId, label)
      await expect.executed(late, staked)
    },
  },
  'AU-519': {
    level: 'SHOULD',
    name: 'An unsettlement that arrives before its settlement is answered with SETTLEMENT_NOT_FOUND, 503',
    source: 'D19',
    impact: 'The platform treats a 4xx as final and does not retry after the settlement has arrived.',
    async run(context) {
      const { bet } = await context.prepare.openBet()
      for (const answer of await unsettleBoth(context, () => bet, 'of an open bet'))
        context.expect.agreedRefusal(answer, 'SETTLEMENT_NOT_FOUND')
    },
  },
  'AU-520': {
    name: 'A rollback of a paid or voided bet credits nothing',
    source: 'spec 4.3, D13',
    needs: ['settle'],
    impact: 'The stake is credited a second time: after the void, or in addition to the payout.',
    async run({ prepare, wallet, expect }) {
      const paid = await prepare.settledBet()
      const label = (what: string) => `rollbackbet of a ${what} bet`
      await expect.balanceAfter(wallet.rollback(paid.bet, undefined, label('paid')), paid.balance)
      const voided = await prepare.settledBet('VOIDED', undefined, paid.balance)
      await expect.balanceAfter(wallet.rollback(voided.bet, undefined, label('voided')), paid.balance)
    },
  },
  'AU-521': {
    level: 'SHOULD',
    name: 'A rollback of a paid bet is refused',
    source: 'D13',
    needs: ['settle'],
    impact: 'A success would mean that the stake was credited.',
    async run({ prepare, wallet, expect }) {
      const { bet } = await prepare.settledBet()
      expect.refusal(await wallet.rollback(bet))
    },
  },
  'AU-523': {
    name: 'UNSCORED does not reverse a void, and UNVOIDED does not reverse a payout',
    source: 'spec 4.2, D18',
    quote: 'unscored-debits',
    needs: ['settle'],
    impact: 'The wrong credit is reversed, and the right one can still be reversed as well.',
    async run({ prepare, wallet, expect }) {
      const paid = await prepare.settledBet()
      const unvoided = wallet.tryUnsettle(paid.bet, 'UNVOIDED', 'UNVOIDED of a paid bet')
      await expect.balanceAfter(unvoided, paid.balance)
      const { bet } = await prepare.settledBet('VOIDED', undefined, paid.balance)
      const unscored = wallet.tryUnsettle(bet, 'UNSCORED', 'UNSCORED of a voided bet')
      await expect.balanceAfter(unscored, paid.balance)
    },
  },
  'AU-509': {
    name: 'After a clawback was refused for insufficient funds, a rollback of the bet credits nothing',
    source: 'D13',
    needs: bothNeeds,
    impact: 'The player has both payout and stake, and the platform treats the bet as paid.',
    async run({ prepare, wallet, expect }) {
      const { bet, spent, balance } = await prepare.uncollectedBet('VOIDED')
      await prepare.rolledBack(spent, balance)
      const label = 'rollbackbet after a refused clawback'
      await expect.balanceAfter(wallet.rollback(bet, undefined, label), balance)
    },
  },
  'AU-503': {
    name: 'UNVOIDED debits the amount of VOIDED, or is refused without a change if clawbacks are disabled',
    source: 'spec 3, 4.2, D20',
    quote: 'unvoided-debits',
    needs: ['settle'],
    impact: 'A bet that was voided by mistake continues without a stake.',
    run: unsettleOnce('VOIDED'),
  },
  'AU-512': {
    name: 'Further unsettlements of a payout or a void under other transactionIds debit nothing',
    source: 'spec 4.2, D18, D19',
    quote: 'unscored-debits',
    needs: bothNeeds,
    impact: 'Two corrections of one result debit the credit twice.',
    run: eachReversal(async ({ prepare, wallet, expect }, type, reversal) => {
      const { bet, staked } = await prepare.settledBet(type)
      await prepare.unsettled(bet, reversal, staked)
      const label = `${reversal} under another transactionId`
      await expect.notExecuted(wallet.tryUnsettle(bet, reversal, label), staked)
      return staked
    }),
  },
  'AU-514': {
    name: 'After paid, unsettled and paid again, an unsettlement debits the second payout only',
    source: 'spec 4.2, D18',
    quote: 'unscored-debits',
    needs: bothNeeds,
    impact: 'A corrected result is corrected again, and both payouts are debited, or none.',
    async run({ prepare, wallet, expect, between }) {
      const { bet, staked } = await prepare.settledBet()
      await prepare.unsettled(bet, 'UNSCORED', staked)
      await prepare.settled(bet, 'BET_PAID', between(250, 350), staked)
      await expect.executed(wallet.unsettle(bet, 'UNSCORED'), staked)
    },
  },
  'AU-522': {
    name: 'A bet can be rolled back after its payout or its void was reversed',
    source: 'spec 3, D13',
    quote: 'placebet-undone',
    needs: bothNeeds,
    impact: 'The stake of a cancelled bet stays in the wallet.',
    run: eachReversal(async ({ prepare, wallet, expect, opening }, type, reversal) => {
      const { bet, staked } = await prepare.settledBet(type)
      await prepare.unsettled(bet, reversal, staked)
      await expect.executed(wallet.rollback(bet, undefined, `rollbackbet after ${reversal}`), opening)
      return opening
    }),
  },
  'AU-506': {
    name: 'A clawback that was refused for insufficient funds stays refused when retried, even with sufficient funds',
    source: 'spec 4.2 rule 2, D7',
    quote: 'debt-of-player',
    needs: bothNeeds,
    impact:
      'The platform nets the amount off later winnings, and the wallet collects it too: the player pays twice.',
    run: eachReversal(async ({ prepare, wallet, expect }, type, reversal) => {
      const { bet, spent, balance, transactionId } = await prepare.uncollectedBet(type)
      await prepare.rolledBack(spent, balance)
      const label = `retry of the refused ${reversal}, with sufficient funds`
      const retry = wallet.unsettle(bet, reversal, transactionId, label)
      expect.refusal(await expect.balanceAfter(retry, balance))
      return balance
    }),
  },
  'AU-507': {
    name: 'A clawback that was refused for insufficient funds is not collected by another unsettlement either',
    source: 'spec 4.2 rule 2, D7',
    quote: 'debt-of-player',
    needs: bothNeeds,
    impact:
      'As in AU-506: a second unsettlement of the same bet collects an amount that the platform already nets off.',
    run: eachReversal(async ({ prepare, wallet, expect }, type, reversal) => {
      const { bet, spent, balance } = await prepare.uncollectedBet(type)
      await prepare.rolledBack(spent, balance)
      const label = `${reversal} under another transactionId, after a refused clawback`
      await expect.notExecuted(wallet.tryUnsettle(bet, reversal, label), balance)
      return balance
    }),
  },
  'AU-515': {
    name: 'After a clawback was refused for insufficient funds, a new unsettlement debits a new payout only',
    source: 'D7, D18',
    quote: 'debt-of-player',
    needs: bothNeeds,
    impact: 'The uncollected amount is debited with the new one, while the platform nets it off too.',
    async run({ prepare, wallet, expect, between }) {
      const { bet, spent, balance, reversal } = await prepare.uncollectedBet()
      await prepare.rolledBack(spent, balance)
      await prepare.settled(bet, 'BET_PAID', between(100, 150), balance)
      await expect.executed(wallet.unsettle(bet, reversal), balance)
    },
  },
  'AU-571': {
    level: 'SHOULD',
    name: 'The retry of a refused clawback gets the same refusal: the same status and error code',
    source: 'D2, D7',
    needs: bothNeeds,
    impact:
      'One call has two different answers. The platform believes the second one, and its books differ from the wallet’s.',
    async run({ prepare, wallet, expect }) {
      const { bet, transactionId, reversal, refusal } = await prepare.uncollectedBet()
      expect.sameRefusal(refusal, await wallet.unsettle(bet, reversal, transactionId))
    },
  },
  'AU-524': {
    name: 'An unsettlement of an unknown bet changes no balance',
    source: 'spec 4.2, D19',
    quote: 'reverses-settlement',
    impact: 'A clawback debits money for a bet that the wallet has never received.',
    async run(context) {
      const answers = await unsettleBoth(
        context,
        () => context.wallet.bet(),
        'of an unknown bet',
        context.opening,
      )
      for (const answer of answers) context.expect.error(answer)
    },
  },
  'AU-525': {
    level: 'SHOULD',
    name: 'An unsettlement of a bet that is unknown or rolled back is refused with a 4xx',
    source: 'D19',
    impact: 'The platform cannot tell that there is nothing to collect, and retries indefinitely.',
    async run({ prepare, wallet, expect, opening }) {
      expect.finalRefusal(await wallet.tryUnsettle(wallet.bet(), 'UNSCORED'))
      const { bet } = await prepare.openBet()
      await prepare.rolledBack(bet, opening)
      expect.finalRefusal(await wallet.tryUnsettle(bet, 'UNVOIDED'))
    },
  },
  'AU-526': {
    name: 'An unsettlement of a bet that was rolled back changes no balance',
    source: 'spec 4.2, D19',
    quote: 'reverses-settlement',
    impact: 'The returned stake is debited again, as if it had been a void.',
    async run(context) {
      const { prepare, expect, opening } = context
      const { bet } = await prepare.openBet()
      await prepare.rolledBack(bet, opening)
      for (const answer of await unsettleBoth(context, () => bet, 'of a rolled-back bet', opening))
        expect.error(answer)
    },
  },
  'AU-527': {
    name: 'An unsettlement debits the payout of its own bet and of no other',
    source: 'spec 2, 4.2',
    quote: 'bet-id',
    needs: bothNeeds,
    impact: 'The correction of one match debits the winnings of another.',
    async run({ prepare, wallet, expect, between }) {
      const first = await prepare.settledBet()
      const second = await prepare.settledBet('BET_PAID', between(100, 150), first.balance)
      const rest = subtract(second.balance, first.payout)
      expect.success(await wallet.unsettle(first.bet, 'UNSCORED'), rest)
      expect.success(await wallet.unsettle(second.bet, 'UNSCORED'), subtract(rest, second.payout))
    },
  },
  'AU-528': {
    level: 'SHOULD',
    name: 'The settlement of a lost bet (BET_PAID of 0) can be unsettled without a change of the balance',
    source: 'D18',
    needs: ['settle'],
    impact: 'A lost bet whose result is corrected cannot be reopened.',
    async run({ prepare, wallet, expect }) {
      const { bet, staked } = await prepare.settledBet('BET_PAID', zero)
      await expect.executed(wallet.unsettle(bet, 'UNSCORED'), staked)
    },
  },
  'AU-529': {
    level: 'SHOULD',
    name: 'An unsettlement with a known transactionId and a different betId or type is refused',
    source: 'D3, D4',
    needs: bothNeeds,
    impact: 'A success tells the platform that a second payout was collected.',
    async run({ prepare, wallet, expect }) {
      const { bet, staked } = await prepare.settledBet()
      const transactionId = wallet.id()
      await prepare.unsettled(bet, 'UNSCORED', staked, transactionId)
      const another = { ...bet, betId: `${wallet.id()}-b` }
      const label = (name: string) => `retry of the unsettlement with a different ${name}`
      expect.refusal(await wallet.unsettle(another, 'UNSCORED', transactionId, label('betId')))
      expect.refusal(await wallet.unsettle(bet, 'UNVOIDED', transactionId, label('type')))
      await expect.balance(staked, 'after the conflicts')
    },
  },
  'AU-530': {
    level: 'SHOULD',
    name: 'A retried unsettlement may differ in transactionDate',
    source: 'D3',
    needs: bothNeeds,
    impact: 'A retry is refused, and the platform records a collected payout as uncollected.',
    async run({ prepare, wallet, expect, dateOf }) {
      const { bet, staked } = await prepare.settledBet()
      const transactionId = wallet.id()
      await prepare.unsettled(bet, 'UNSCORED', staked, transactionId)
      const fields = { transactionDate: dateOf(60_000) }
      expect.success(await wallet.unsettle(bet, 'UNSCORED', transactionId, { fields }), staked)
    },
  },
  'AU-531': {
    name: 'Of a concurrent clawback and placebet on the same funds, at most one is accepted',
    source: 'spec 3, 4.2',
    quote: 'clawback-refused',
    needs: bothNeeds,
    impact: 'The balance becomes negative, and the operator bears the loss.',
    run: eachRound(async (context, round) => {
      const { prepare, wallet, expect, units } = context
      const { bet, payout, balance } = await prepare.settledBet('BET_PAID', units(500))
      const spent = await prepare.spendDownTo(payout, balance)
      const rival = wallet.bet(units(300))
      const [collected, placed] = await together(
        round,
        () => wallet.unsettle(bet, 'UNSCORED'),
        () => wallet.place(rival, 'placebet on the same funds'),
      )
      let rest = payout
      if (collected.success) rest = subtract(rest, payout)
      if (placed.success) rest = subtract(rest, rival.amount)
      if (collected.success && placed.success)
        expect.fail('at most one accepted call', 'both were accepted', placed)
      await expect.balance(rest, 'after a concurrent clawback and placebet')
      for (const each of [rival, spent]) await wallet.rollback(each)
      if (collected.success) await wallet.rollback(bet)
      context.opening = await expect.currentBalance()
    }),
  },
  'AU-532': {
    name: 'The retry of a placebet whose bet was settled changes no balance',
    source: 'spec 1.5, D2',
    quote: 'one-transaction',
    needs: ['settle'],
    impact: 'A late duplicate reopens a bet that is already paid.',
    async run({ prepare, wallet, expect }) {
      const { bet, balance } = await prepare.settledBet()
      await expect.balanceAfter(wallet.place(bet, 'retry of the placebet after its settlement'), balance)
    },
  },
  'AU-551': {
    level: 'SHOULD',
    name: 'The retry of a placebet whose bet was settled gets the first answer',
    source: 'D2',
    needs: ['settle'],
    impact: 'With a refusal, the placebet seems to have failed, and the platform rolls back a settled bet.',
    async run({ prepare, wallet, expect }) {
      const { bet, balance } = await prepare.settledBet()
      expect.success(await wallet.place(bet), balance)
    },
  },
  'AU-533': {
    name: 'A settlement of a bet that was rolled back credits nothing',
    source: 'spec 3, D17',
    needs: ['settle'],
    impact: 'The player has the stake back, and a payout in addition.',
    async run({ prepare, wallet, expect, opening, units }) {
      const bet = await prepare.cancelledLater()
      await wallet.trySettle(bet, 'BET_PAID', units(150))
      await expect.balance(opening, 'after a settlement of a rolled-back bet')
    },
  },
  'AU-552': {
    // No MUST: after a restore from a backup, an operator may pay bets that the wallet has lost.
    level: 'SHOULD',
    name: 'A settlement of an unknown bet credits nothing',
    source: 'D17',
    needs: ['settle'],
    impact: 'A payout is credited for a bet without a stake.',
    async run({ wallet, expect, opening, units }) {
      await wallet.trySettle(wallet.bet(), 'BET_PAID', units(150))
      await expect.balance(opening, 'after a settlement of an unknown bet')
    },
  },
  'AU-534': {
    name: 'A concurrent unsettlement and rollback of one bet apply once each, or not at all',
    source: 'spec 4.2, 4.3, D13',
    needs: bothNeeds,
    impact: 'The stake is credited while the player still has the payout.',
    run: eachRound(async ({ prepare, wallet, expect, opening, units }, round) => {
      const { bet, staked, balance } = await prepare.settledBet('BET_PAID', units(40))
      const [collected, undone] = await together(
        round,
        () => wallet.unsettle(bet, 'UNSCORED'),
        () => wallet.rollback(bet),
      )
      const rest = collected.success ? staked : balance
      const expected = undone.success ? add(rest, bet.amount) : rest
      await expect.balance(expected, 'after a concurrent unsettlement and rollback')
      if (undone.success && !collected.success)
        expect.fail(
          'no rollback of a bet whose payout was not clawed back',
          'the player has both stake and payout',
          undone,
        )
      if (!collected.success) expect.success(await wallet.unsettle(bet, 'UNSCORED'))
      await prepare.rolledBack(bet, opening)
    }),
  },
  'AU-511': {
    name: 'Concurrent copies of one unsettlement debit the payout once',
    source: 'spec 1.5, 4.2',
    quote: 'one-transaction',
    needs: bothNeeds,
    impact:
      'As in AU-510, if the calls arrive within milliseconds, before the wallet has recorded the first one.',
    run: eachRound(async ({ prepare, wallet, expect, opening, units, concurrently }) => {
      const { bet, staked } = await prepare.settledBet('BET_PAID', units(20))
      const transactionId = wallet.id()
      const answers = await concurrently(copy =>
        wallet.unsettle(bet, 'UNSCORED', transactionId, `copy ${copy + 1} of one unsettlement`),
      )
      await expect.balance(staked, `after ${answers.length} concurrent copies of one unsettlement`)
      for (const answer of answers) expect.success(answer)
      await prepare.rolledBack(bet, opening)
    }),
  },
  'AU-513': {
    name: 'Concurrent unsettlements of one bet under different transactionIds debit its credit once',
    source: 'spec 4.2, D18',
    quote: 'unscored-debits',
    needs: bothNeeds,
    impact:
      'As in AU-512, if the calls arrive within milliseconds, before the wallet has recorded the first one.',
    run: eachRound(
      eachReversal(async ({ prepare, wallet, expect, opening, units, concurrently }, type, reversal) => {
        const { bet, staked } = await prepare.settledBet(type, units(20))
        await concurrently(copy =>
          wallet.tryUnsettle(bet, reversal, `${reversal} ${copy + 1} under its own transactionId`),
        )
        await expect.balance(staked, `after concurrent ${reversal} of one bet`)
        await prepare.rolledBack(bet, opening)
        return opening
      }),
    ),
  },
  'AU-535': {
    level: 'SHOULD',
    name: 'A cash-out is not reversed by UNSCORED or UNVOIDED',
    source: 'spec 4.2, D18',
    needs: ['settle'],
    impact: 'The player has sold the bet, and loses the price when the result is corrected.',
    async run(context) {
      for (const answer of await unsettleCashout(context)) context.expect.error(answer)
    },
  },
  'AU-553': {
    name: 'UNSCORED and UNVOIDED debit nothing of a cash-out',
    source: 'spec 4.2, D18',
    quote: 'unscored-debits',
    needs: ['settle'],
    impact: 'The player has sold the bet, and loses the price when the result is corrected.',
    async run(context) {
      await unsettleCashout(context)
    },
  },
  'AU-554': {
    name: 'The retry of an unsettlement succeeds when the funds are spent by then',
    source: 'spec 1.5, D2',
    quote: 'one-transaction',
    needs: bothNeeds,
    impact:
      'The platform books a debt for an amount that the wallet has already collected: the player pays twice.',
    async run({ prepare, wallet, expect }) {
      const { bet, staked } = await prepare.settledBet()
      const transactionId = wallet.id()
      expect.success(await wallet.unsettle(bet, 'UNSCORED', transactionId), staked)
      await prepare.spendDownTo(zero, staked)
      const label = 'retry of the unsettlement, without funds'
      expect.success(await wallet.unsettle(bet, 'UNSCORED', transactionId, label), zero)
    },
  },
  'AU-555': {
    name: 'A settlement of a bet that was rolled back before it arrived credits nothing, whatever its type',
    source: 'spec 4.3, D11, D17',
    needs: ['settle'],
    impact: 'A payout is credited for a bet without a stake, which the platform has cancelled.',
    async run({ prepare, wallet, expect, opening }) {
      for (const type of ['BET_PAID', 'VOIDED', 'CASHOUT'] as const) {
        const bet = await prepare.cancelled()
        await wallet.trySettle(bet, type, bet.amount)
        await expect.balance(opening, `after ${type} of a bet that was rolled back before it arrived`)
      }
    },
  },
  'AU-556': {
    level: 'SHOULD',
    name: 'An unsettlement of a credit that was reversed is refused with a 4xx, and not answered 5xx again and again',
    source: 'D19',
    needs: bothNeeds,
    impact: 'The platform retries the call indefinitely, and each retry raises an alarm.',
    run: eachReversal(async ({ prepare, wallet, expect }, type, reversal) => {
      const { bet, staked } = await prepare.settledBet(type)
      expect.success(await wallet.unsettle(bet, reversal), staked)
      expect.finalRefusal(
        await wallet.tryUnsettle(bet, reversal, `${reversal} of a credit that was reversed`),
      )
      return staked
    }),
  },
  'AU-508': {
    level: 'SHOULD',
    name: 'An unsettlement of an uncollected credit is refused, and not for insufficient funds again',
    source: 'D19',
    needs: bothNeeds,
    impact: 'The platform cannot tell that nothing is left to collect.',
    async run({ prepare, wallet, expect }) {
      const { bet, spent, refusal } = await prepare.uncollectedBet()
      const answer = await wallet.unsettle(bet, 'UNSCORED')
      expect.refusal(answer)
      if (answer.errorCode === refusal.errorCode && !expect.allowsAnyCode('INVALID_BET'))
        expect.fail(`a refusal other than ${describeAnswer(refusal)}`, describeAnswer(answer), answer)
      await expect.undone(spent)
    },
  },
  'AU-536': {
    name: 'An unsettlement that names another player debits neither player',
    source: 'spec 2, 4.2, D15',
    needs: ['settle', 'other-player'],
    impact: 'One player pays for the corrected result of another.',
    async run(context) {
      const { prepare, wallet, expect } = context
      const other = await otherPlayer(context)
      const { bet, balance } = await prepare.settledBet()
      const label = 'unsettlement for the other player'
      const call = wallet.tryUnsettle({ ...bet, playerId: other.playerId }, 'UNSCORED', label)
      const answer = await expect.balanceAfter(call, balance)
      await other.unchanged(answer)
      expect.error(answer)
    },
  },
  'AU-537': {
    name: 'A rollback of a bet that was settled as lost credits nothing',
    source: 'spec 4.3, D13, D18',
    needs: ['settle'],
    impact: 'The stakes of lost bets are credited.',
    async run({ prepare, wallet, expect }) {
      const { bet, staked } = await prepare.settledBet('BET_PAID', zero)
      await expect.balanceAfter(wallet.rollback(bet, undefined, 'rollbackbet of a lost bet'), staked)
    },
  },
})
