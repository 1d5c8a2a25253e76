/** AU-4xx: the balance under load, and exact amounts (D20 to D22). */

import {
  add,
  compare,
  type Decimal,
  parseDecimal,
  subtract,
  textOf,
  times,
  zero,
} from '../../numbers/decimal.js'
import { type Json, raw, write } from '../../wire/json.js'
import { type Answer, describeAnswer, withoutSuccess } from '../answer.js'
import { casesOf } from '../audit-case.js'
import { type CaseContext, eachRound } from '../case-context.js'
import { Skipped } from '../case-outcomes.js'
import { type Bet, sumOf } from '../wallet-calls.js'

/** Sends concurrent bets of which about a third are covered by the funds. */
async function overspend(context: CaseContext) {
  const { wallet, opening, units, wholeUnits, settings } = context
  const fitting = BigInt(Math.max(2, Math.floor(settings.concurrency / 3)))
  const stake = units(wholeUnits(opening) / fitting)
  const bets = wallet.bets(settings.concurrency, () => stake)
  const label = (index: number) => `placebet ${index + 1} of ${textOf(stake)}`
  const answers = await Promise.all(bets.map((bet, index) => wallet.place(bet, label(index))))
  const accepted = answers.filter(({ success }) => success !== null).length
  return { bets, answers, accepted, stake, fitting: Number(fitting) }
}

/** Expects that the amount is refused, or debited exactly as it is spelled. */
async function exactOrRefused(
  { wallet, expect, opening }: CaseContext,
  writing: string,
  exact: Decimal,
): Promise<Answer> {
  const bet = wallet.bet(exact)
  const change = { fields: { amount: raw(writing) }, label: `placebet of ${writing}` }
  const answer = await wallet.place(bet, change)
  const accepted = answer.success !== null
  await expect.balanceAfter(answer, accepted ? subtract(opening, exact) : opening)
  if (!accepted) expect.error(answer)
  else await expect.undone(bet, opening)
  return answer
}

async function allRefused({ wallet, expect, opening }: CaseContext, amounts: readonly Json[]): Promise<void> {
  for (const amount of amounts) {
    const change = { fields: { amount }, label: `placebet of ${write(amount)}` }
    await expect.notExecuted(wallet.place(wallet.bet(), change), opening)
  }
}

/** Only a wide balance column can hold it: a fault is no outage then, and the case is skipped. */
async function settleLarge(
  { wallet, expect, money }: CaseContext,
  bet: Bet,
  payout: Decimal,
  before: Decimal,
): Promise<void> {
  const problem = await wallet.trySettle(bet, 'BET_PAID', payout)
  if (problem !== null)
    throw new Skipped(`a payout of ${money(payout)} could not be settled: ${problem}. Too narrow a column?`)
  await expect.balance(add(before, payout), `after a payout of ${money(payout)}`)
}

export const funds = casesOf({
  'AU-403': {
    name: 'Concurrent bets of one player, and their rollbacks, are all applied: no update is lost',
    source: 'spec 3',
    quote: 'stake-debited',
    impact: 'Two bets read the same balance and write the same balance: one of them was free.',
    run: eachRound(async ({ wallet, expect, settings, opening, between }) => {
      const bets = wallet.bets(settings.concurrency, () => between(10, 60))
      const accepted = await Promise.all(bets.map(bet => wallet.place(bet)))
      const sum = sumOf(bets.filter((_, index) => accepted[index]?.success !== null))
      await expect.balance(subtract(opening, sum), `after ${bets.length} concurrent bets`)
      for (const answer of accepted) expect.success(answer)
      const returned = await Promise.all(bets.map(bet => wallet.rollback(bet)))
      await expect.balance(opening, `after ${bets.length} concurrent rollbacks`)
      for (const answer of returned) expect.success(answer)
    }),
  },
  'AU-401': {
    name: 'Concurrent bets never debit more than the funds',
    source: 'spec 3, 4.1',
    quote: 'funds-required',
    impact: 'A script that sends twenty bets at once stakes the same money twenty times.',
    run: eachRound(async context => {
      const { expect, opening, money } = context
      const { bets, accepted, stake } = await overspend(context)
      const balance = await expect.currentBalance()
      const rest = subtract(opening, times(stake, accepted))
      const actual = `${accepted} bets of ${money(stake)}, ${money(times(stake, accepted))} in all`
      if (rest.units < 0n) expect.fail(`bets of at most ${money(opening)} in all`, actual)
      if (compare(balance, rest) !== 0)
        expect.fail(`balance ${money(rest)} after ${accepted} accepted bets`, money(balance))
      for (const bet of bets) await expect.undone(bet)
      await expect.balance(opening, 'after all bets were rolled back')
    }),
  },
  'AU-402': {
    level: 'SHOULD',
    name: 'Of concurrent bets, as many are accepted as the funds cover; the others are refused',
    source: 'spec 4.1',
    impact: 'Bets that the funds cover are refused in the busiest minute of the match.',
    async run(context) {
      const { answers, accepted, fitting } = await overspend(context)
      if (accepted !== fitting) context.expect.fail(`${fitting} accepted bets`, `${accepted} accepted bets`)
      for (const answer of answers) if (answer.success === null) context.expect.refusal(answer)
    },
  },
  'AU-404': {
    name: 'Sums are exact: 0.1 plus 0.2 is 0.3, and ten times 0.10 is 1.00',
    source: 'spec 2, D21',
    quote: 'stake-debited',
    impact: 'Floating-point arithmetic: cents appear and disappear, and the books never balance.',
    role: 'sums',
    async run({ wallet, expect, opening, units }) {
      let balance = opening
      for (const count of [10, 20, ...Array<number>(10).fill(10), 7, 29, 57, 115])
        balance = await expect.debit(wallet.bet(units(count)), balance)
      await expect.balance(balance, 'after small bets')
    },
  },
  'AU-405': {
    name: 'Small stakes can be debited until the balance is exactly zero',
    source: 'spec 3, D21',
    quote: 'stake-debited',
    impact:
      'In floating point, 0.30 - 0.10 - 0.10 is less than 0.10: the last bet is refused, or a fraction of a cent remains.',
    async run({ prepare, wallet, expect, opening, units, wholeUnits }) {
      const rest = subtract(opening, units(wholeUnits(opening)))
      await prepare.spendDownTo(add(rest, units(30)), opening)
      for (const left of [20, 10, 0])
        expect.success(await wallet.place(wallet.bet(units(10))), add(rest, units(left)))
      await expect.balance(rest, 'after three bets of a third of the funds')
    },
  },
  'AU-406': {
    name: 'An amount with more decimals than the currency is debited exactly or refused, never rounded',
    source: 'D21, D22',
    quote: 'stake-debited',
    impact: 'Silent rounding to the scale of a column: the platform and the wallet book different amounts.',
    async run(context) {
      const { minorUnits } = context.settings
      const fine = { units: 1n, scale: minorUnits + 1 } // a tenth of the smallest unit
      for (const tenths of [1n, 5n, 9n, 1005n]) {
        const exact = { units: fine.units * tenths, scale: fine.scale }
        await exactOrRefused(context, textOf(exact), exact)
      }
      const long = `${textOf(context.units(100), minorUnits)}${minorUnits === 0 ? '.' : ''}00000000000000004`
      await exactOrRefused(context, long, parseDecimal(long) ?? zero)
    },
  },
  'AU-407': {
    level: 'SHOULD',
    name: 'An amount with more decimals than the currency is refused',
    source: 'D22',
    impact: 'Balances contain fractions of a cent that cannot be paid out.',
    async run(context) {
      const exact = { units: 1005n, scale: context.settings.minorUnits + 1 }
      context.expect.finalRefusal(await exactOrRefused(context, textOf(exact), exact))
    },
  },
  'AU-408': {
    level: 'SHOULD',
    name: 'An amount may have trailing zeros: 1.500 is 1.50',
    source: 'D22',
    impact: 'Every bet of a platform that writes four decimals is refused.',
    async run(context) {
      const { expect, units, settings } = context
      const exact = units(150)
      const text = textOf(exact, settings.minorUnits)
      const writing = `${text}${text.includes('.') ? '' : '.'}000`
      const answer = await exactOrRefused(context, writing, exact)
      if (answer.success === null)
        expect.fail(`success for amount ${writing}`, describeAnswer(answer), answer, withoutSuccess(answer))
    },
  },
  'AU-221': {
    level: 'SHOULD',
    name: 'Amounts are compared by value: 2, 2.00 and 2.000 are the same transaction',
    source: 'D3, D21',
    impact: 'A retry from another serialiser is refused as a conflict.',
    async run({ prepare, wallet, expect, settings, opening, units }) {
      const bet = wallet.bet(units(200))
      const after = await prepare.placed(bet, opening)
      const text = textOf(bet.amount, settings.minorUnits)
      for (const writing of [text, `${text}${text.includes('.') ? '0' : '.0'}`]) {
        const label = `retry of the placebet with amount ${writing}`
        expect.success(await wallet.place(bet, { fields: { amount: raw(writing) }, label }), after)
      }
    },
  },
  'AU-409': {
    name: 'A negative stake is refused and changes no balance',
    source: 'spec 4.1, D22',
    impact: 'A stake of -100 is a deposit of 100.',
    async run(context) {
      await allRefused(context, [raw('-1'), raw('-0.01'), '-1', raw('-1e2')])
    },
  },
  'AU-410': {
    name: 'An amount that has no value as a decimal is refused and changes no balance',
    source: 'spec 2, 4.1, D22',
    impact: 'null, true or "NaN" becomes 0, or the balance is not a number any more.',
    async run(context) {
      const texts = ['', ' ', 'abc', 'NaN', 'Infinity']
      await allRefused(context, [null, true, false, [], [raw('1')], {}, ...texts])
    },
  },
  'AU-413': {
    name: 'A large payout and its clawback keep every digit: 90071992547409.93',
    source: 'spec 2, D21',
    quote: 'unscored-debits',
    needs: ['settle', 'clawbacks'],
    impact:
      'Floating-point numbers lose cents beyond 15 digits. In some currencies that affects every jackpot.',
    runLast: true,
    async run(context) {
      const { prepare, wallet, expect, units, settings } = context
      const { bet, staked } = await prepare.openBet()
      // 2 ** 53 + 1 smallest units, which no float can hold. An amount has at most 15 digits before its point
      // (D22), so a currency without decimals has no such amount.
      const payout = units(settings.minorUnits === 0 ? 900_719_925_474_099n : 9_007_199_254_740_993n)
      await settleLarge(context, bet, payout, staked)
      await expect.executed(wallet.unsettle(bet, 'UNSCORED'), staked)
    },
  },
  'AU-418': {
    name: 'A stake of 15 digits is debited and returned to the last digit: 9876543210123.47',
    source: 'spec 2, 4.1, D21, D22',
    quote: 'stake-debited',
    needs: ['settle', 'clawbacks'],
    impact: 'Numbers of 14 digits, as PHP writes them: large stakes lose cents.',
    runLast: true,
    async run(context) {
      const { prepare, wallet, expect, units } = context
      const { bet, staked } = await prepare.openBet()
      const large = wallet.bet(units(987_654_321_012_347n))
      const before = add(staked, large.amount)
      await settleLarge(context, bet, large.amount, staked)
      await expect.debit(large, before)
      await expect.undone(large, before)
      await expect.executed(wallet.unsettle(bet, 'UNSCORED'), staked)
    },
  },
  'AU-414': {
    name: 'An amount with an exponent is read as its value, or refused',
    source: 'D21, D22',
    quote: 'stake-debited',
    impact: 'The same number in another notation is debited as another amount.',
    async run(context) {
      const exact = context.units(150)
      await exactOrRefused(context, `${textOf(exact)}e0`, exact)
      await exactOrRefused(context, `${exact.units}e-${exact.scale}`, exact)
    },
  },
  'AU-411': {
    name: 'A huge amount is refused quickly and changes no balance: 1e400, 1e2000000000, 60 digits; 1e-399 is not rounded',
    source: 'D22',
    quote: 'funds-insufficient',
    impact: 'One request of 200 bytes occupies the wallet for minutes, or overflows into a negative stake.',
    runLast: true,
    async run(context) {
      const writings = [
        '1e400',
        '1e2000000000',
        '9'.repeat(60),
        '18446744073709551617',
        '9223372036854775808',
        '4294967297',
        '9007199254740993',
      ]
      const isBeyond = (exact: Decimal | null) => exact === null || compare(exact, context.opening) > 0
      await allRefused(context, writings.filter(writing => isBeyond(parseDecimal(writing))).map(raw))
      await exactOrRefused(context, `0.${'0'.repeat(398)}1`, { units: 1n, scale: 399 })
    },
  },
  'AU-415': {
    level: 'SHOULD',
    name: 'An amount that is negative, huge or not a decimal is refused with a 4xx',
    source: 'D22, docs/errors.md',
    impact: 'A 500 for an error of the caller is retried and raises an alarm.',
    async run({ wallet, expect }) {
      const numbers = ['-1', '1e400', '1e2000000000', '9'.repeat(60)]
      for (const amount of [...numbers.map(raw), '-1', null, 'NaN'] as const) {
        const text = write(amount)
        const answer = await wallet.place(wallet.bet(), { fields: { amount }, label: `placebet of ${text}` })
        expect.finalRefusal(answer)
      }
    },
  },
})
