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
} from '../../platform/decimal.js'
import { type Json, raw, write } from '../../platform/json.js'
import type { AuditCase } from '../audit-case.js'
import { type Answer, type Bet, describeAnswer, Skipped, type Stage, sumOf } from '../stage.js'

/** Sends concurrent bets of which about a third are covered by the funds. */
async function overspend(stage: Stage, round: number) {
  const count = stage.settings.concurrency
  const fitting = BigInt(Math.max(2, Math.floor(count / 3)))
  const stake = stage.units(stage.wholeUnits(stage.opening) / fitting)
  const bets = Array.from({ length: count }, () => stage.bet(stake))
  const answers = await stage.concurrently(count, index =>
    stage.place(bets[index] as Bet, { label: `placebet ${index + 1} of ${textOf(stake)} (round ${round})` }),
  )
  return { bets, answers, stake, fitting: Number(fitting) }
}

/** Expects that the amount is refused, or debited exactly as it is spelled. */
async function exactOrRefused(stage: Stage, writing: string, exact: Decimal): Promise<Answer> {
  const bet = stage.bet(exact)
  const answer = await stage.place(bet, {
    fields: { amount: raw(writing) },
    label: `placebet of ${writing}`,
  })
  const accepted = answer.success !== null
  await stage.expectBalance(
    accepted ? subtract(stage.opening, exact) : stage.opening,
    accepted ? `after ${writing} was accepted` : `after ${writing} was refused`,
  )
  if (!accepted) stage.expectError(answer)
  else stage.expectSuccess(await stage.rollback(bet), stage.opening)
  return answer
}

async function allRefused(stage: Stage, amounts: readonly Json[]): Promise<void> {
  for (const amount of amounts) {
    const bet = stage.bet()
    const what = write(amount)
    const answer = await stage.place(bet, { fields: { amount }, label: `placebet of ${what}` })
    await stage.expectBalance(stage.opening, `after a placebet of ${what}`)
    stage.expectError(answer)
  }
}

/** Only a wide balance column can hold it: a fault is no outage then, and the case is skipped. */
async function settleLarge(stage: Stage, bet: Bet, payout: Decimal, before: Decimal): Promise<void> {
  const problem = await stage.trySettle(bet, 'BET_PAID', payout)
  if (problem !== null)
    throw new Skipped(
      `a payout of ${stage.money(payout)} could not be settled: ${problem}. Too narrow a column?`,
    )
  await stage.expectBalance(add(before, payout), `after a payout of ${stage.money(payout)}`)
}

export const funds: readonly AuditCase[] = [
  {
    id: 'AU-401',
    level: 'MUST',
    title: 'Concurrent bets never debit more than the funds',
    source: 'spec 3, 4.1',
    quote: 'The player must have the funds.',
    impact: 'A script that sends twenty bets at once stakes the same money twenty times.',
    async play(stage) {
      for (let round = 1; round <= stage.settings.raceRounds; round += 1) {
        const { bets, answers, stake } = await overspend(stage, round)
        const accepted = answers.filter(({ success }) => success !== null).length
        const balance = await stage.balance()
        const rest = subtract(stage.opening, times(stake, accepted))
        if (rest.units < 0n) {
          stage.fail(
            `bets of at most ${stage.money(stage.opening)} in all`,
            `${accepted} bets of ${stage.money(stake)}, ${stage.money(times(stake, accepted))} in all`,
          )
        }
        if (compare(balance, rest) !== 0)
          stage.fail(`balance ${stage.money(rest)} after ${accepted} accepted bets`, stage.money(balance))
        for (const bet of bets) stage.expectSuccess(await stage.rollback(bet))
        await stage.expectBalance(stage.opening, 'after all bets were rolled back')
      }
    },
  },
  {
    id: 'AU-402',
    level: 'SHOULD',
    title: 'Of concurrent bets, as many are accepted as the funds cover; the others are refused',
    source: 'spec 4.1',
    impact: 'Bets that the funds cover are refused in the busiest minute of the match.',
    async play(stage) {
      const { answers, fitting } = await overspend(stage, 1)
      const accepted = answers.filter(({ success }) => success !== null).length
      if (accepted !== fitting) stage.fail(`${fitting} accepted bets`, `${accepted} accepted bets`)
      for (const answer of answers) if (answer.success === null) stage.expectRefusal(answer)
    },
  },
  {
    id: 'AU-403',
    level: 'MUST',
    title: 'Concurrent bets of one player, and their rollbacks, are all applied: no update is lost',
    source: 'spec 3',
    quote: 'funds suffice | the stake is debited',
    impact: 'Two bets read the same balance and write the same balance: one of them was free.',
    async play(stage) {
      for (let round = 1; round <= stage.settings.raceRounds; round += 1) {
        const bets = Array.from({ length: stage.settings.concurrency }, () =>
          stage.bet(stage.units(stage.random.between(10, 60))),
        )
        const accepted = await stage.concurrently(bets.length, index => stage.place(bets[index] as Bet))
        const sum = sumOf(bets.filter((_, index) => accepted[index]?.success !== null))
        await stage.expectBalance(subtract(stage.opening, sum), `after ${bets.length} concurrent bets`)
        for (const answer of accepted) stage.expectSuccess(answer)
        const returned = await stage.concurrently(bets.length, index => stage.rollback(bets[index] as Bet))
        await stage.expectBalance(stage.opening, `after ${bets.length} concurrent rollbacks`)
        for (const answer of returned) stage.expectSuccess(answer)
      }
    },
  },
  {
    id: 'AU-404',
    level: 'MUST',
    title: 'Sums are exact: 0.1 plus 0.2 is 0.3, and ten times 0.10 is 1.00',
    source: 'spec 2, D21',
    quote: 'funds suffice | the stake is debited',
    impact: 'Floating-point arithmetic: cents appear and disappear, and the books never balance.',
    async play(stage) {
      let balance = stage.opening
      for (const units of [10, 20, ...Array<number>(10).fill(10), 7, 29, 57, 115])
        balance = await stage.expectDebit(stage.bet(stage.units(units)), balance)
      await stage.expectBalance(balance, 'after small bets')
    },
  },
  {
    id: 'AU-405',
    level: 'MUST',
    title: 'Small stakes can be debited until the balance is exactly zero',
    source: 'spec 3, D21',
    quote: 'funds suffice | the stake is debited',
    impact:
      'In floating point, 0.30 - 0.10 - 0.10 is less than 0.10: the last bet is refused, or a fraction of a cent remains.',
    async play(stage) {
      const rest = subtract(stage.opening, stage.units(stage.wholeUnits(stage.opening)))
      await stage.spendDownTo(add(rest, stage.units(30)), stage.opening)
      let balance = add(rest, stage.units(30))
      for (let bet = 1; bet <= 3; bet += 1)
        balance = await stage.expectDebit(stage.bet(stage.units(10)), balance)
      await stage.expectBalance(rest, 'after three bets of a third of the funds')
    },
  },
  {
    id: 'AU-406',
    level: 'MUST',
    title: 'An amount with more decimals than the currency is debited exactly or refused, never rounded',
    source: 'D21, D22',
    quote: 'funds suffice | the stake is debited',
    impact: 'Silent rounding to the scale of a column: the platform and the wallet book different amounts.',
    async play(stage) {
      const { minorUnits } = stage.settings
      const fine = { units: 1n, scale: minorUnits + 1 } // a tenth of the smallest unit
      for (const tenths of [1n, 5n, 9n, 1005n]) {
        const exact = { units: fine.units * tenths, scale: fine.scale }
        await exactOrRefused(stage, textOf(exact), exact)
      }
      const long = `${textOf(stage.units(100), minorUnits)}${minorUnits === 0 ? '.' : ''}00000000000000004`
      await exactOrRefused(stage, long, parseDecimal(long) ?? zero)
    },
  },
  {
    id: 'AU-407',
    level: 'SHOULD',
    title: 'An amount with more decimals than the currency is refused',
    source: 'D22',
    impact: 'Balances contain fractions of a cent that cannot be paid out.',
    async play(stage) {
      const exact = { units: 1005n, scale: stage.settings.minorUnits + 1 }
      stage.expectFinalRefusal(await exactOrRefused(stage, textOf(exact), exact))
    },
  },
  {
    id: 'AU-408',
    level: 'SHOULD',
    title: 'An amount may have trailing zeros: 1.500 is 1.50',
    source: 'D22',
    impact: 'Every bet of a platform that writes four decimals is refused.',
    async play(stage) {
      const exact = stage.units(150)
      const text = textOf(exact, stage.settings.minorUnits)
      const writing = `${text}${text.includes('.') ? '' : '.'}000`
      const answer = await exactOrRefused(stage, writing, exact)
      if (answer.success === null) stage.fail(`success for amount ${writing}`, describeAnswer(answer), answer)
    },
  },
  {
    id: 'AU-409',
    level: 'MUST',
    title: 'A negative stake is refused and changes no balance',
    source: 'spec 4.1, D22',
    impact: 'A stake of -100 is a deposit of 100.',
    async play(stage) {
      await allRefused(stage, [raw('-1'), raw('-0.01'), '-1', raw('-1e2')])
    },
  },
  {
    id: 'AU-410',
    level: 'MUST',
    title: 'An amount that has no value as a decimal is refused and changes no balance',
    source: 'spec 2, 4.1, D22',
    impact: 'null, true or "NaN" becomes 0, or the balance is not a number any more.',
    async play(stage) {
      const texts = ['', ' ', 'abc', 'NaN', 'Infinity']
      await allRefused(stage, [null, true, false, [], [raw('1')], {}, ...texts])
    },
  },
  {
    id: 'AU-417',
    level: 'MAY',
    title: 'Text that only some parsers read as a decimal is refused: "0x10", "1,5", "1.5 ", "1_000", "١"',
    source: 'D22',
    impact: 'Two systems read different amounts from one text. No platform is known to send such text.',
    async play(stage) {
      await allRefused(stage, ['0x10', '1,5', '1.5 ', '1_000', '١'])
    },
  },
  {
    id: 'AU-411',
    level: 'MUST',
    title:
      'A huge amount is refused quickly and changes no balance: 1e400, 1e2000000000, 60 digits; 1e-399 is not rounded',
    source: 'D22',
    quote: 'funds do not suffice | none: INSUFFICIENT_FUNDS',
    impact: 'One request of 200 bytes occupies the wallet for minutes, or overflows into a negative stake.',
    async play(stage) {
      const writings = [
        '1e400',
        '1e2000000000',
        '9'.repeat(60),
        '18446744073709551617',
        '9223372036854775808',
        '4294967297',
        '9007199254740993',
      ]
      const beyond = writings.filter(
        writing =>
          (parseDecimal(writing)?.units ?? null) === null ||
          compare(parseDecimal(writing) ?? zero, stage.opening) > 0,
      )
      await allRefused(stage, beyond.map(raw))
      await exactOrRefused(stage, `0.${'0'.repeat(398)}1`, { units: 1n, scale: 399 })
    },
  },
  {
    id: 'AU-412',
    level: 'MAY',
    title: 'An amount as a string is read as the same decimal',
    source: 'D21',
    impact: 'Every bet of a platform that writes decimals as strings is refused.',
    async play(stage) {
      const bet = stage.bet()
      const text = textOf(bet.amount, stage.settings.minorUnits)
      const answer = await stage.place(bet, { fields: { amount: text }, label: `placebet of "${text}"` })
      stage.expectSuccess(answer, subtract(stage.opening, bet.amount))
    },
  },
  {
    id: 'AU-413',
    level: 'MUST',
    title: 'A large payout and its clawback keep every digit: 90071992547409.93',
    source: 'spec 2, D21',
    quote:
      'the wallet debits what the BET_PAID settlement of the bet credited, or answers INSUFFICIENT_FUNDS',
    needs: ['settle', 'clawbacks'],
    impact:
      'Floating-point numbers lose cents beyond 15 digits. In some currencies that affects every jackpot.',
    async play(stage) {
      const bet = stage.bet()
      const after = await stage.placeSuccessfully(bet, stage.opening)
      // 2 ** 53 + 1 smallest units, which no float can hold. An amount has at most 15 digits before its point
      // (D22), so a currency without decimals has no such amount.
      const payout = stage.units(
        stage.settings.minorUnits === 0 ? 900_719_925_474_099n : 9_007_199_254_740_993n,
      )
      await settleLarge(stage, bet, payout, after)
      stage.expectSuccess(await stage.unsettle(bet, 'UNSCORED'), after)
      await stage.expectBalance(after, 'after its clawback')
    },
  },
  {
    id: 'AU-418',
    level: 'MUST',
    title: 'A stake of 15 digits is debited and returned to the last digit: 9876543210123.47',
    source: 'spec 2, 4.1, D21, D22',
    quote: 'funds suffice | the stake is debited',
    needs: ['settle', 'clawbacks'],
    impact: 'Numbers of 14 digits, as PHP writes them: large stakes lose cents.',
    describes: ['too much', 'too little'],
    async play(stage) {
      const bet = stage.bet()
      const after = await stage.placeSuccessfully(bet, stage.opening)
      const stake = stage.units(987_654_321_012_347n)
      await settleLarge(stage, bet, stake, after)
      const large = stage.bet(stake)
      await stage.expectDebit(large, add(after, stake))
      stage.expectSuccess(await stage.rollback(large), add(after, stake))
      stage.expectSuccess(await stage.unsettle(bet, 'UNSCORED'), after)
      await stage.expectBalance(after, 'after the rollback of a stake of 15 digits')
    },
  },
  {
    id: 'AU-414',
    level: 'MUST',
    title: 'An amount with an exponent is read as its value, or refused',
    source: 'D21, D22',
    quote: 'funds suffice | the stake is debited',
    impact: 'The same number in another notation is debited as another amount.',
    async play(stage) {
      const exact = stage.units(150)
      await exactOrRefused(stage, `${textOf(exact)}e0`, exact)
      await exactOrRefused(stage, `${exact.units}e-${exact.scale}`, exact)
    },
  },
  {
    id: 'AU-415',
    level: 'SHOULD',
    title: 'An amount that is negative, huge or not a decimal is refused with a 4xx',
    source: 'D22, docs/errors.md',
    impact: 'A 500 for an error of the caller is retried and raises an alarm.',
    async play(stage) {
      const numbers = ['-1', '1e400', '1e2000000000', '9'.repeat(60)]
      for (const amount of [...numbers.map(raw), '-1', null, 'NaN'] as const) {
        const text = write(amount)
        const answer = await stage.place(stage.bet(), { fields: { amount }, label: `placebet of ${text}` })
        stage.expectFinalRefusal(answer)
      }
    },
  },
  {
    id: 'AU-416',
    level: 'MUST',
    title: 'A stake of the smallest unit of the currency is debited exactly',
    source: 'spec 4.1, D22',
    quote: 'funds suffice | the stake is debited',
    impact: 'A currency with three decimals, or with none, is treated as one with two.',
    async play(stage) {
      const after = await stage.expectDebit(stage.bet(stage.units(1)), stage.opening)
      await stage.expectBalance(after, 'after a stake of the smallest unit')
    },
  },
]
