/** AU-1xx: each of the three operations alone (spec 1 to 4). */

import { add, compare, subtract, textOf, zero } from '../../numbers/decimal.js'
import { type Answer, describeAnswer } from '../answer.js'
import { casesOf } from '../audit-case.js'
import type { CaseContext } from '../case-context.js'
import { Skipped } from '../case-outcomes.js'
import { type Bet, sumOf, type WalletCalls } from '../wallet-calls.js'

const unknownPlayer = 'unknown-player'

/** Expects that a call for a player whom the wallet does not know is refused. */
const refusedForUnknownPlayer =
  (call: (wallet: WalletCalls, bet: Bet) => Promise<Answer>) =>
  async ({ wallet, expect, units }: CaseContext) =>
    expect.refusal(await call(wallet, wallet.bet(units(1), `${wallet.id()}-${unknownPlayer}`)))

export const basics = casesOf({
  'AU-101': {
    name: 'A placebet debits the stake and returns the remaining balance in the player’s currency',
    source: 'spec 1.4, 3, 4.1',
    quote: 'stake-debited',
    impact: 'Stakes that are not debited are free bets. The sportsbook shows the player a wrong balance.',
    async run({ wallet, expect, opening }) {
      const bet = wallet.bet()
      await expect.executed(wallet.place(bet), subtract(opening, bet.amount))
    },
  },
  'AU-104': {
    name: 'A rollbackbet credits the stake and returns the new balance',
    source: 'spec 1.4, 3, 4.3',
    quote: 'placebet-undone',
    impact: 'The player pays for bets that the sportsbook has cancelled.',
    async run({ prepare, wallet, expect, opening }) {
      const { bet } = await prepare.openBet()
      await expect.executed(wallet.rollback(bet), opening)
    },
  },
  'AU-102': {
    name: 'A stake above the funds is refused and debits nothing',
    source: 'spec 3, 4.1, 7',
    quote: 'funds-insufficient',
    impact: 'Players bet money that they do not have, and the operator pays the winnings.',
    async run({ wallet, expect, opening, units }) {
      await expect.refused(wallet.place(wallet.bet(add(opening, units(1)))), opening)
    },
  },
  'AU-105': {
    name: 'A rollbackbet of an unknown bet succeeds and does not change the balance',
    source: 'spec 3, 4.3',
    quote: 'rollback-of-unknown-bet',
    impact:
      'The platform retries the rollback indefinitely, or the player is paid for a bet that was never placed.',
    async run({ wallet, expect, opening }) {
      await expect.executed(wallet.rollback(wallet.bet()), opening)
    },
  },
  'AU-106': {
    name: 'A rollbackbet for an unknown player is refused',
    source: 'spec 7, D16',
    quote: 'unknown-player',
    impact: 'The platform believes that it returned a stake to a player who does not exist.',
    run: refusedForUnknownPlayer((wallet, bet) => wallet.rollback(bet)),
  },
  'AU-107': {
    name: 'A placebet for an unknown player is refused',
    source: 'spec 7, D16',
    quote: 'unknown-player',
    impact: 'The sportsbook accepts a bet that no player has paid for.',
    run: refusedForUnknownPlayer((wallet, bet) => wallet.place(bet)),
  },
  'AU-108': {
    name: 'An unsettlement for an unknown player is refused',
    source: 'spec 7, D16',
    quote: 'unknown-player',
    impact: 'The platform records a clawback as collected from a player who does not exist.',
    run: refusedForUnknownPlayer((wallet, bet) => wallet.unsettle(bet, 'UNSCORED')),
  },
  'AU-122': {
    level: 'SHOULD',
    name: 'Calls for an unknown player do not create the player: each of them is refused, however often',
    source: 'spec 7, D16',
    impact: 'A mistyped playerId becomes an account, and later calls for it succeed.',
    async run(context) {
      const { wallet, expect } = context
      const playerId = `${wallet.id()}-${unknownPlayer}`
      const first = await callsForUnknownPlayer(context, playerId)
      const second = await callsForUnknownPlayer(context, playerId)
      for (const answer of [...first, ...second]) expect.refusal(answer)
      expect.refusal(await wallet.place(wallet.bet(zero, playerId), 'placebet of 0'))
    },
  },
  'AU-109': {
    name: 'Bets of every betType are accepted, and so is a bet without odds',
    source: 'spec 4.1',
    quote: 'bet-types',
    impact: 'All bets of one type fail in production, and tests with single bets do not show it.',
    async run({ wallet, expect, opening }) {
      let balance = opening
      for (const fields of [
        { betType: 'SINGLE' },
        { betType: 'MULTIPLE' },
        { betType: 'TEASER' },
        { odds: undefined },
      ]) {
        const label = fields.betType === undefined ? 'without odds' : `of a ${fields.betType}`
        balance = await expect.debit(wallet.bet(), balance, { fields, label: `placebet ${label}` })
      }
    },
  },
  'AU-110': {
    level: 'SHOULD',
    name: 'A placebet with additional fields, or with odds of null, is accepted',
    source: 'D26',
    impact: 'Every bet is refused from the day on which the platform adds a field.',
    async run({ wallet, expect, opening }) {
      const more = { brandId: 'b-1', legs: [{ eventId: 7, live: true }] }
      const added = { fields: more, label: 'placebet with additional fields' }
      const balance = await expect.debit(wallet.bet(), opening, added)
      const change = { fields: { odds: null }, label: 'placebet with odds of null' }
      await expect.debit(wallet.bet(), balance, change)
    },
  },
  'AU-111': {
    name: 'A stake in a currency other than the player’s is refused, or converted: it is not debited one to one',
    source: 'spec 4.1, D23',
    impact: 'A stake of 30 JPY is debited as 30 EUR, or the other way round.',
    async run({ wallet, expect, opening, foreignCurrency }) {
      const currency = foreignCurrency()
      const bet = wallet.bet()
      const answer = await wallet.place(bet, { fields: { currency }, label: `placebet in ${currency}` })
      if (answer.success === null) {
        expect.error(answer)
        await expect.balanceAfter(answer, opening)
        return
      }
      const debited = subtract(opening, await expect.currentBalance())
      if (compare(debited, bet.amount) === 0 || debited.units <= 0n) {
        const expected = `a refusal, or a debit of another amount than ${textOf(bet.amount)}`
        expect.fail(expected, `a debit of ${textOf(debited)}`, answer)
      }
      await expect.undone(bet, opening)
    },
  },
  'AU-112': {
    name: 'A rollback credits the stake of its own bet and of no other',
    source: 'spec 2, 4.3',
    quote: 'bet-id',
    impact: 'A rollback credits the stake of another bet: too much or too little.',
    async run({ prepare, wallet, expect, opening, units }) {
      const first = wallet.bet(units(110))
      const middle = wallet.bet(units(120))
      const last = wallet.bet(units(140))
      for (const bet of [first, middle, last]) await prepare.placedAnyhow(bet)
      expect.success(await wallet.rollback(middle), subtract(opening, sumOf([first, last])))
      await expect.executed(wallet.rollback(first), subtract(opening, last.amount))
    },
  },
  'AU-416': {
    name: 'A stake of the smallest unit of the currency is debited exactly',
    source: 'spec 4.1, D22',
    quote: 'stake-debited',
    impact: 'A currency with three decimals, or with none, is treated as one with two.',
    async run({ wallet, expect, opening, units }) {
      const bet = wallet.bet(units(1))
      await expect.executed(wallet.place(bet), subtract(opening, bet.amount))
    },
  },
  // Takes all funds, so it runs after the cases that show whether a rollback returns them.
  'AU-103': {
    name: 'A stake of exactly the funds is debited, and a further stake of the smallest unit is refused',
    source: 'spec 3, 4.1',
    quote: 'stake-debited',
    impact:
      'An off-by-one at the limit: a player cannot stake the last cent, or the balance becomes negative.',
    async run({ wallet, expect, opening, units, wholeUnits }) {
      const all = units(wholeUnits(opening))
      const rest = await expect.debit(wallet.bet(all), opening)
      await expect.refused(wallet.place(wallet.bet(units(1))), rest)
    },
  },
  'AU-113': {
    name: 'The rollback of a bet that was refused for insufficient funds succeeds and credits nothing',
    source: 'spec 4.3, D11',
    quote: 'rollback-of-unknown-bet',
    impact: 'Money is created: a player bets more than the funds, and the rollback pays out the stake.',
    async run({ wallet, expect, opening, units }) {
      const bet = wallet.bet(add(opening, units(100)))
      expect.refusal(await wallet.place(bet))
      await expect.executed(wallet.rollback(bet, undefined, 'rollbackbet of the refused bet'), opening)
    },
  },
  'AU-114': {
    level: 'SHOULD',
    name: 'A success has balance, currency and optionally walletTransactionId (a string), no other fields, and the agreed status',
    source: 'spec 2, docs/errors.md',
    impact: 'A platform with a strict parser rejects the answer and rolls back bets that were accepted.',
    async run({ wallet, expect, settings }) {
      const bet = wallet.bet()
      for (const answer of [await wallet.place(bet), await wallet.rollback(bet)]) {
        expect.success(answer)
        const fields = [...(answer.fields?.keys() ?? [])].sort().join(', ')
        if (!/^balance, currency(, walletTransactionId)?$/.test(fields))
          expect.fail('the fields balance, currency and optionally walletTransactionId', fields, answer)
        if (answer.fields?.has('walletTransactionId') && answer.success?.walletTransactionId === null)
          expect.fail('no walletTransactionId, or a string', 'null', answer)
        const agreed = settings.statusCodes.get('SUCCESS') ?? []
        if (!agreed.includes(answer.status ?? 0))
          expect.fail(`status ${agreed.join(' or ')}`, describeAnswer(answer), answer)
        expect.typeOfJson(answer)
      }
    },
  },
  'AU-116': {
    level: 'SHOULD',
    name: 'Different transactions have different walletTransactionIds',
    source: 'spec 2',
    impact: 'Two transactions share one reference, and a dispute cannot be traced.',
    async run({ wallet, expect }) {
      const first = wallet.bet()
      const second = wallet.bet()
      const answers = [await wallet.place(first), await wallet.place(second), await wallet.rollback(first)]
      for (const answer of answers) expect.success(answer)
      const named = answers.flatMap(({ success }) => success?.walletTransactionId ?? [])
      if (new Set(named).size !== named.length)
        expect.fail('three different references, or none', named.join(', '))
    },
  },
  'AU-118': {
    name: 'A call for one player does not change the bet or the balance of another',
    source: 'spec 2, D15',
    needs: ['other-player'],
    impact: 'A rollback pays the stake of one player to another, or a bet is stolen by its id.',
    async run(context) {
      const { prepare, wallet, expect, opening } = context
      const other = await otherPlayer(context)
      const { bet, staked } = await prepare.openBet()
      // A wallet that looks for a bet of this player finds none, and answers with a success (spec 4.3 rule
      // 1).
      const label = 'rollbackbet for the other player'
      const call = wallet.rollback({ ...bet, playerId: other.playerId }, undefined, label)
      await other.unchanged(await expect.balanceAfter(call, staked))
      await expect.undone(bet, opening)
    },
  },
  'AU-121': {
    level: 'SHOULD',
    name: 'A currency code in the other case is refused',
    source: 'D23',
    impact: 'Codes that differ in case can be different units: GBp is a hundredth of GBP.',
    async run({ wallet, expect, settings, opening }) {
      const { currency } = settings
      const other = currency === currency.toLowerCase() ? currency.toUpperCase() : currency.toLowerCase()
      if (other === currency) throw new Skipped(`${currency} has no letters`)
      const change = { fields: { currency: other }, label: `placebet in ${other}` }
      await expect.refused(wallet.place(wallet.bet(), change), opening)
    },
  },
})

/** The other player. `unchanged` expects, after a call, the balance of now. */
export async function otherPlayer({ expect, settings }: CaseContext) {
  const playerId = settings.otherPlayerId ?? ''
  const before = await expect.currentBalance(playerId)
  return {
    playerId,
    async unchanged(call: Answer): Promise<void> {
      const now = await expect.currentBalance(playerId)
      const actual = `balance ${textOf(now)} of the other player`
      if (compare(now, before) !== 0)
        expect.fail(`balance ${textOf(before)} of the other player, as before`, actual, call)
    },
  }
}

/** Each operation once, for a player whom the wallet does not know: the answers. */
export async function callsForUnknownPlayer(
  { wallet, units }: CaseContext,
  playerId = `${wallet.id()}-${unknownPlayer}`,
): Promise<Answer[]> {
  const bet = wallet.bet(units(1), playerId)
  return [await wallet.place(bet), await wallet.rollback(bet), await wallet.unsettle(bet, 'UNSCORED')]
}

/** Each operation for the bet of a player, in the name of another player: the answers. */
export async function callForOtherPlayer({
  prepare,
  wallet,
  settings,
}: CaseContext): Promise<Record<'rollback' | 'unsettlement' | 'placebet', Answer>> {
  const playerId = settings.otherPlayerId ?? ''
  const { bet } = await prepare.openBet()
  const theirs = { ...bet, transactionId: wallet.id(), playerId }
  const label = (operation: string) => `${operation} for the other player`
  return {
    rollback: await wallet.rollback({ betId: bet.betId, playerId }, undefined, label('rollbackbet')),
    unsettlement: await wallet.tryUnsettle({ ...bet, playerId }, 'UNSCORED', label('unsettlement')),
    placebet: await wallet.place(theirs, label('placebet')),
  }
}
