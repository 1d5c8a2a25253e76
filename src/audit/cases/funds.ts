/** AU-4xx: the balance under load, and amounts to the last digit (D20 to D22). */
import type { AuditCase } from '../case.js'
import { add, compare, type Decimal, parseDecimal, subtract, textOf, times, zero } from '../decimal.js'
import { type Json, raw, write } from '../json.js'
import { type Answer, type Bet, found, type Stage, sumOf } from '../stage.js'

/** Many bets at once, each of a fifth of the funds or less, so that most of them do not fit. */
async function overspend(stage: Stage, round: number) {
  const count = stage.settings.concurrency
  const fitting = BigInt(Math.max(2, Math.floor(count / 3)))
  const stake = stage.units(stage.wholeUnits(stage.opening) / fitting)
  const bets = Array.from({ length: count }, () => stage.bet(stake))
  const answers = await stage.together(count, index =>
    stage.place(bets[index] as Bet, { label: `placebet ${index + 1} of ${textOf(stake)} (round ${round})` }),
  )
  return { bets, answers, stake, fitting: Number(fitting) }
}

/** Neither more nor less than what was written: refused, or taken exactly. */
async function exactOrRefused(stage: Stage, writing: string, exact: Decimal): Promise<Answer> {
  const bet = stage.bet(exact)
  const answer = await stage.place(bet, {
    fields: { amount: raw(writing) },
    label: `placebet of ${writing}`,
  })
  const taken = answer.success !== null
  await stage.holds(
    taken ? subtract(stage.opening, exact) : stage.opening,
    taken ? `after ${writing} was accepted` : `after ${writing} was refused`,
  )
  if (!taken) stage.refused(answer)
  else stage.accepted(await stage.rollback(bet), stage.opening)
  return answer
}

async function allRefused(stage: Stage, amounts: readonly Json[]): Promise<void> {
  for (const amount of amounts) {
    const bet = stage.bet()
    const shown = JSON.stringify(amount) ?? ''
    const what =
      typeof amount === 'object' && amount !== null && 'written' in amount ? String(amount.written) : shown
    const answer = await stage.place(bet, { fields: { amount }, label: `placebet of ${what}` })
    await stage.holds(stage.opening, `after a placebet of ${what}`)
    stage.refused(answer)
  }
}

export const funds: readonly AuditCase[] = [
  {
    id: 'AU-401',
    level: 'MUST',
    title: 'Of many bets at the same time never more are taken than the funds cover',
    source: 'spec 3, 4.1',
    impact: 'A script that sends twenty bets at once stakes the same money twenty times.',
    async play(stage) {
      for (let round = 1; round <= stage.settings.raceRounds; round += 1) {
        const { bets, answers, stake } = await overspend(stage, round)
        const taken = answers.filter(({ success }) => success !== null).length
        const balance = await stage.balance()
        const rest = subtract(stage.opening, times(stake, taken))
        if (rest.units < 0n) {
          stage.fail(
            `bets of at most ${stage.money(stage.opening)} to be taken`,
            `${taken} of ${stage.money(stake)}, ${stage.money(times(stake, taken))} in all`,
          )
        }
        if (compare(balance, rest) !== 0)
          stage.fail(`balance ${stage.money(rest)} after ${taken} bets were taken`, stage.money(balance))
        for (const bet of bets) stage.accepted(await stage.rollback(bet))
        await stage.holds(stage.opening, 'after all of them were rolled back')
      }
    },
  },
  {
    id: 'AU-402',
    level: 'SHOULD',
    title:
      'Of many bets at the same time exactly as many are taken as the funds cover; the others are INSUFFICIENT_FUNDS',
    source: 'spec 4.1',
    impact: 'Bets that the funds cover are turned away in the busiest minute of the match.',
    async play(stage) {
      const { answers, fitting } = await overspend(stage, 1)
      const taken = answers.filter(({ success }) => success !== null).length
      if (taken !== fitting) stage.fail(`${fitting} bets to be taken`, `${taken} were`)
      for (const answer of answers) if (answer.success === null) stage.refusedAs(answer, 'INSUFFICIENT_FUNDS')
    },
  },
  {
    id: 'AU-403',
    level: 'MUST',
    title:
      'Different bets of one player at the same time are each taken, and their rollbacks too: no update is lost',
    source: 'spec 3',
    impact: 'Two bets that read the same balance write the same balance: one of them was for free.',
    async play(stage) {
      for (let round = 1; round <= stage.settings.raceRounds; round += 1) {
        const bets = Array.from({ length: stage.settings.concurrency }, () =>
          stage.bet(stage.units(stage.random.between(10, 60))),
        )
        const taken = await stage.together(bets.length, index => stage.place(bets[index] as Bet))
        const sum = sumOf(bets.filter((_, index) => taken[index]?.success !== null))
        await stage.holds(subtract(stage.opening, sum), `after ${bets.length} bets at the same time`)
        for (const answer of taken) stage.accepted(answer)
        const given = await stage.together(bets.length, index => stage.rollback(bets[index] as Bet))
        await stage.holds(stage.opening, `after ${bets.length} rollbacks at the same time`)
        for (const answer of given) stage.accepted(answer)
      }
    },
  },
  {
    id: 'AU-404',
    level: 'MUST',
    title: 'Sums are exact: 0.1 and 0.2 are 0.3, and ten times 0.10 is 1.00',
    source: 'spec 2, D21',
    impact: 'Floats: cents appear and disappear, and the books never close.',
    async play(stage) {
      let balance = stage.opening
      for (const units of [10, 20, ...Array<number>(10).fill(10), 7, 29, 57, 115])
        balance = await stage.placed(stage.bet(stage.units(units)), balance)
      await stage.holds(balance, 'after bets of small amounts')
    },
  },
  {
    id: 'AU-405',
    level: 'MUST',
    title: 'Small stakes can be taken until exactly nothing is left',
    source: 'spec 3, D21',
    impact:
      'With floats 0.30 - 0.10 - 0.10 is less than 0.10: the last bet is refused, or a dust of cents stays for ever.',
    async play(stage) {
      const rest = subtract(stage.opening, stage.units(stage.wholeUnits(stage.opening)))
      await stage.spendDownTo(add(rest, stage.units(30)), stage.opening)
      let balance = add(rest, stage.units(30))
      for (let bet = 1; bet <= 3; bet += 1) balance = await stage.placed(stage.bet(stage.units(10)), balance)
      await stage.holds(rest, 'after three bets of a third of the funds')
    },
  },
  {
    id: 'AU-406',
    level: 'MUST',
    title: 'An amount with more decimals than the currency has is taken exactly or refused, never rounded',
    source: 'D21, D22',
    impact:
      'A silent rounding to a column’s scale is a leak: the platform and the wallet book different amounts.',
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
    title: 'An amount with more decimals than the currency has is refused with INVALID_REQUEST',
    source: 'D22',
    impact: 'Fractions of a cent get into balances, and out of no cashier.',
    async play(stage) {
      const exact = { units: 1005n, scale: stage.settings.minorUnits + 1 }
      stage.refusedAs(await exactOrRefused(stage, textOf(exact), exact), 'INVALID_REQUEST')
    },
  },
  {
    id: 'AU-408',
    level: 'SHOULD',
    title: 'An amount may have further zeros: 1.500 is 1.50',
    source: 'D22',
    impact: 'A platform that writes four decimals gets every bet refused.',
    async play(stage) {
      const exact = stage.units(150)
      const text = textOf(exact, stage.settings.minorUnits)
      const writing = `${text}${text.includes('.') ? '' : '.'}000`
      const answer = await exactOrRefused(stage, writing, exact)
      if (answer.success === null) stage.fail(`${writing} to be taken`, found(answer), answer)
    },
  },
  {
    id: 'AU-409',
    level: 'MUST',
    title: 'A negative stake is refused and moves nothing',
    source: 'spec 4.1, D22',
    impact: 'A stake of -100 is a deposit of 100.',
    async play(stage) {
      await allRefused(stage, [raw('-1'), raw('-0.01'), '-1', raw('-1e2')])
    },
  },
  {
    id: 'AU-410',
    level: 'MUST',
    title: 'An amount that is no decimal is refused and moves nothing',
    source: 'spec 2, 4.1, D22',
    impact: 'null, true or "NaN" become 0 or a balance that is no number any more.',
    async play(stage) {
      const texts = ['', ' ', 'abc', 'NaN', 'Infinity', '0x10', '1,5', '1.5 ', '1_000', '١']
      await allRefused(stage, [null, true, false, [], [raw('1')], {}, ...texts])
    },
  },
  {
    id: 'AU-411',
    level: 'MUST',
    title:
      'A gigantic amount is refused in time and moves nothing: 1e400, 1e2000000000, 60 digits, 400 decimals',
    source: 'D22',
    impact:
      'One request of 200 bytes occupies the wallet for minutes, or wraps around into a negative stake.',
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
      const bet = stage.bet()
      const dust = raw(`0.${'0'.repeat(398)}1`)
      const answer = await stage.place(bet, {
        fields: { amount: dust },
        label: 'placebet of 1e-399, written out',
      })
      stage.refused(answer)
      await stage.holds(stage.opening, 'after a placebet of 1e-399')
    },
  },
  {
    id: 'AU-412',
    level: 'MAY',
    title: 'An amount as text is taken as the same decimal',
    source: 'D21',
    impact: 'A platform that guards its decimals by writing them as text gets every bet refused.',
    async play(stage) {
      const bet = stage.bet()
      const text = textOf(bet.amount, stage.settings.minorUnits)
      const answer = await stage.place(bet, { fields: { amount: text }, label: `placebet of "${text}"` })
      stage.accepted(answer, subtract(stage.opening, bet.amount))
    },
  },
  {
    id: 'AU-413',
    level: 'MUST',
    title: 'A large payout keeps every digit, and so does its clawback: 90071992547409.93',
    source: 'spec 2, D21',
    needs: ['settle', 'clawbacks'],
    impact: 'Beyond 15 digits a float loses cents: in currencies of large numbers that is every jackpot.',
    async play(stage) {
      const bet = stage.bet()
      const after = await stage.placed(bet, stage.opening)
      // 2 ** 53 + 1 smallest units: neither a float of units nor one of cents can hold it. An amount has at most 15 digits
      // before its point (D22), so a currency without decimals has none that a float could not hold.
      const payout = stage.units(
        stage.settings.minorUnits === 0 ? 900_719_925_474_099n : 9_007_199_254_740_993n,
      )
      await stage.settle(bet, 'BET_PAID', payout)
      await stage.holds(add(after, payout), `after a payout of ${stage.money(payout)}`)
      stage.accepted(await stage.unsettle(bet, 'UNSCORED'), after)
      await stage.holds(after, 'after its clawback')
    },
  },
  {
    id: 'AU-414',
    level: 'MUST',
    title: 'An amount with an exponent is taken as its value, or refused',
    source: 'D21, D22',
    impact: 'A number in another writing is taken as another number.',
    async play(stage) {
      const exact = stage.units(150)
      await exactOrRefused(stage, `${textOf(exact)}e0`, exact)
      await exactOrRefused(stage, `${exact.units}e-${exact.scale}`, exact)
    },
  },
  {
    id: 'AU-415',
    level: 'SHOULD',
    title: 'An amount that is negative, gigantic or no decimal is refused with INVALID_REQUEST',
    source: 'D22, decisions: errors over HTTP',
    impact: 'A 500 for what the caller did wrong is repeated, and wakes somebody up.',
    async play(stage) {
      const numbers = ['-1', '1e400', '1e2000000000', '9'.repeat(60)]
      for (const amount of [...numbers.map(raw), '-1', null, 'NaN'] as const) {
        const text = write(amount)
        const answer = await stage.place(stage.bet(), { fields: { amount }, label: `placebet of ${text}` })
        stage.refusedAs(answer, 'INVALID_REQUEST')
      }
    },
  },
  {
    id: 'AU-416',
    level: 'MUST',
    title: 'A stake of the currency’s smallest unit is taken as that',
    source: 'spec 4.1, D22',
    impact: 'Currencies with three decimals, or with none, are taken for one with two.',
    async play(stage) {
      const after = await stage.placed(stage.bet(stage.units(1)), stage.opening)
      await stage.holds(after, 'after a stake of the smallest unit')
    },
  },
]
