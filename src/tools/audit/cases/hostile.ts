/** AU-8xx: hostile input, and unusual input that is valid. */

import { compare, subtract, textOf } from '../../numbers/decimal.js'
import { quoted } from '../../wire/curl.js'
import { type Json, write } from '../../wire/json.js'
import { type Answer, describeAnswer } from '../answer.js'
import { casesOf } from '../audit-case.js'
import type { CaseContext } from '../case-context.js'
import { onOwnConnection } from '../deliveries.js'
import type { Bet } from '../wallet-calls.js'

/** A 5xx that stays is the answer to an unusual id, and no outage. */
const unusual = { mayFail: true } as const

/**
 * Expects that two similar ids are distinct. As transactionIds: both bets are accepted, or the second is
 * refused, but not as a duplicate. As betIds: the rollback of one does not affect the other. Any error is
 * right for an id that the wallet cannot store, if no balance changes: the interface gives no length and no
 * alphabet.
 */
async function expectDistinct(
  { wallet, expect, opening }: CaseContext,
  name: 'transactionId' | 'betId',
  one: string,
  two: string,
  what: string,
) {
  const bets = [one, two].map(id => ({ ...wallet.bet(), [name]: id })) as [Bet, Bet]
  const label = (index: number) => `placebet ${index} of two ${name}s that differ in ${what}`
  const first = await wallet.place(bets[0], { ...unusual, label: label(1) })
  if (first.success === null) expect.error(first)
  let balance = first.success === null ? opening : subtract(opening, bets[0].amount)
  await expect.balance(balance, `after ${label(1)}`)

  if (name === 'betId') {
    const undone = `rollbackbet of a betId that differs from the placed one in ${what}`
    const answer = await wallet.rollback(bets[1], undefined, { ...unusual, label: undone })
    await expect.balance(balance, `after a ${undone}`)
    if (answer.success === null) expect.error(answer)
  } else {
    const answer = await wallet.place(bets[1], { ...unusual, label: label(2) })
    if (answer.success !== null) balance = subtract(balance, bets[1].amount)
    await expect.balance(balance, `after ${label(2)}`)
    if (answer.success === null) expect.error(answer)
    if (first.success !== null && answer.success === null && expect.isDuplicateRefusal(answer))
      expect.fail('two transactions, or a refusal of the id itself', describeAnswer(answer), answer)
  }
  for (const bet of bets) await wallet.rollback(bet, undefined, unusual)
  await expect.balance(opening, 'after both bets were rolled back')
  for (const bet of bets) wallet.openBets.forget(bet)
}

const bytesHuge = 4 * 1_048_576
const depth = 100_000

/** Expects a 4xx and an unchanged balance. */
async function expectFinalRefusalUnchanged(
  { expect, opening }: CaseContext,
  answer: Answer,
  what: string,
): Promise<void> {
  await expect.balance(opening, `after ${what}`)
  expect.finalRefusal(answer)
}

/** The text of a placebet with additional JSON text at its end. */
function textWith(
  { wallet }: CaseContext,
  bet: Bet,
  put: string,
  fields: Record<string, Json | undefined> = {},
): string {
  wallet.openBets.track(bet)
  const text = write({ ...wallet.placement(bet), ...fields })
  return `${text.slice(0, -1)},${put}}`
}

export const hostile = casesOf({
  'AU-801': {
    name: 'A body nested 100,000 levels deep is refused quickly, and the wallet continues to answer',
    source: 'A02',
    impact: 'One request of 200 kB ends the process, and with it every call in flight.',
    async run({ wallet, expect, opening }) {
      const label = `placebet with a field nested ${depth.toLocaleString('en')} levels deep`
      const bet = wallet.bet()
      wallet.openBets.track(bet)
      const head = write(wallet.placement(bet)).slice(0, -1)
      const answer = await wallet.call({
        label,
        path: '/placebet',
        body: `${'['.repeat(depth)}${']'.repeat(depth)}`,
        bodyCommand: `(head -c ${depth} /dev/zero | tr '\\0' '['; head -c ${depth} /dev/zero | tr '\\0' ']')`,
        delivery: onOwnConnection,
      })
      await expect.balance(opening, `after a body nested ${depth.toLocaleString('en')} levels deep`)
      if (answer.status !== null && answer.status < 400)
        expect.fail('a refusal', describeAnswer(answer), answer)
      if (answer.exchange.error?.startsWith('no answer within'))
        expect.fail('a refusal before the timeout', answer.exchange.error, answer)
      const nested = `,"deep":${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}}`
      await wallet.call({
        label: 'placebet with an additional field nested 5,000 levels deep',
        path: '/placebet',
        body: `${head}${nested}`,
        bodyCommand: `(printf %s ${quoted(`${head},"deep":`)}; yes '{"a":' | head -n 5000 | tr -d '\\n'; printf 1; head -c 5001 /dev/zero | tr '\\0' '}')`,
        delivery: onOwnConnection,
      })
      await wallet.cleanUp()
      await expect.balance(
        opening,
        'after an additional field nested 5,000 levels deep, accepted and rolled back or refused',
      )
    },
  },
  'AU-802': {
    level: 'SHOULD',
    name: 'A body of 4 MiB is refused with PAYLOAD_TOO_LARGE',
    source: 'docs/errors.md, A02',
    impact: 'A few requests exhaust the memory of the wallet.',
    async run(context) {
      const { wallet, expect, opening } = context
      const bet = wallet.bet()
      const body = textWith(context, bet, `"padding":"${'x'.repeat(bytesHuge)}"`)
      const head = textWith(context, bet, '"padding":"').slice(0, -1)
      const answer = await wallet.call({
        label: 'placebet of 4 MiB',
        path: '/placebet',
        body,
        bodyCommand: `(printf %s ${quoted(head)}; head -c ${bytesHuge} /dev/zero | tr '\\0' x; printf %s '"}')`,
        delivery: onOwnConnection,
        // A wallet may close the connection before its answer is read.
        attempts: 1,
      })
      await expect.balance(opening, 'after a placebet of 4 MiB')
      // Closing the connection on such a body is a refusal too.
      if (answer.status !== null) expect.agreedRefusal(answer, 'PAYLOAD_TOO_LARGE')
    },
  },
  'AU-803': {
    name: 'Duplicate keys are refused, or one value is used consistently: one of the two stakes is debited once',
    source: 'D26',
    impact: 'A filter in front of the wallet reads one amount, and the wallet reads the other.',
    async run(context) {
      const { wallet, expect, opening, units } = context
      const bet = wallet.bet(units(110))
      const other = units(170)
      const body = textWith(context, bet, `"amount":${textOf(other)}`)
      const label = 'placebet with two amounts'
      const answer = await wallet.call({ label, path: '/placebet', body })
      const balance = await expect.currentBalance()
      if (answer.success === null) {
        expect.error(answer)
        await expect.balance(opening, `after a ${label} was refused`)
        return
      }
      const stake = compare(balance, subtract(opening, other)) === 0 ? other : bet.amount
      await expect.balance(subtract(opening, stake), `after a ${label}`)
      await wallet.call({ label: `retry of the ${label}`, path: '/placebet', body })
      await expect.balance(subtract(opening, stake), `after the retry of the ${label}`)
      expect.success(await wallet.rollback(bet), opening)
    },
  },
  'AU-805': {
    name: 'Fields of __proto__, of constructor or of another call are not read as fields of the body',
    source: 'spec 4.1, A02',
    quote: 'amount-required',
    impact: 'One body pollutes the process, and every later call inherits its amount or player.',
    async run(context) {
      const { expect, opening, wallet, units, settings } = context
      const amount = textOf(units(100))
      const put = `"__proto__":{"amount":${amount},"currency":"${settings.currency}"},"constructor":{"prototype":{"amount":${amount}}}`
      const without = { amount: undefined, currency: undefined }
      const polluted = await wallet.call({
        label: 'placebet whose amount is in __proto__',
        path: '/placebet',
        body: textWith(context, wallet.bet(), put, without),
      })
      await expect.notExecuted(polluted, opening, 'after a placebet whose amount is in __proto__')
      const plain = await wallet.place(wallet.bet(), { fields: without, label: 'placebet without an amount' })
      await expect.notExecuted(plain, opening, 'after a placebet without an amount')
    },
  },
  'AU-806': {
    name: 'transactionIds and betIds of 255 characters that differ in the last one are distinct, or answered with an error',
    source: 'spec 1.5, D24',
    quote: 'transaction-id',
    impact: 'A column that truncates ids treats the second bet as a retry of the first: a free bet.',
    async run(context) {
      for (const name of ['transactionId', 'betId'] as const) {
        const long = context.wallet.id().padEnd(254, '0')
        await expectDistinct(context, name, `${long}1`, `${long}2`, 'the last of 255 characters')
      }
    },
  },
  'AU-807': {
    name: 'Ids that differ in case, surrounding spaces or accents are distinct, or answered with an error',
    source: 'spec 1.5, D24',
    quote: 'transaction-id',
    impact: 'A collation that folds them treats one player’s bet as a retry of another’s.',
    async run(context) {
      for (const name of ['transactionId', 'betId'] as const) {
        const pairs = [
          ['x', 'X', 'case'],
          ['x', 'x ', 'a trailing space'],
          ['\u00e9', 'e\u0301', 'the composition of an accent'],
          ['\u00e9', 'e', 'an accent'],
        ] as const
        for (const [one, two, what] of pairs) {
          const id = context.wallet.id()
          await expectDistinct(context, name, `${id}-${one}`, `${id}-${two}`, what)
        }
        const id = context.wallet.id()
        await expectDistinct(context, name, `${id}`, ` ${id}`, 'a leading space')
      }
    },
  },
  'AU-817': {
    name: 'Ids that differ only in characters outside Latin-1 are distinct, or answered with an error',
    source: 'spec 1.5, D24',
    quote: 'transaction-id',
    impact: 'A column that cannot store them writes a question mark for each: two bets become one.',
    async run(context) {
      const pairs = [
        ['\u0416', '\u0429', 'a Cyrillic letter'],
        ['\u{1f600}', '\u{1f601}', 'an emoji'],
        // The low bytes are equal.
        ['\u0141', 'A', 'a Polish letter'],
      ] as const
      for (const name of ['transactionId', 'betId'] as const)
        for (const [one, two, what] of pairs) {
          const id = context.wallet.id()
          await expectDistinct(context, name, `${id}-${one}`, `${id}-${two}`, what)
        }
    },
  },
  'AU-808': {
    name: 'Ids that look like numbers are text: 7 and 07, 1 and 1.0, and numbers of many digits are distinct, or answered with an error',
    source: 'spec 2, D24',
    quote: 'transaction-id',
    impact: 'Ids are compared as numbers: one bet is mistaken for another.',
    async run(context) {
      const { wallet, random } = context
      const digits = `${Date.now()}${random.between(100, 999)}${wallet.id().length}`
      const tail = random.between(10_000, 99_999)
      const base = `${digits}${tail}`
      for (const name of ['transactionId', 'betId'] as const) {
        await expectDistinct(context, name, base, `0${base}`, 'a leading zero')
        await expectDistinct(context, name, `${base}1`, `${base}1.0`, 'a zero after the point')
        // As floats, they would be equal.
        await expectDistinct(context, name, `${base}12`, `${base}13`, 'the last of many digits')
      }
    },
  },
  'AU-811': {
    level: 'SHOULD',
    name: 'A body that is not UTF-8, or starts with a byte order mark, gets a 4xx',
    source: 'D26',
    impact: 'Two ids that differ in one invalid byte become the same id with a replacement character.',
    async run(context) {
      const { wallet } = context
      const bet = wallet.bet()
      wallet.openBets.track(bet)
      const text = write({ ...wallet.placement(bet), sessionId: 'session-#' })
      const bytes = Buffer.from(text, 'utf8')
      bytes[bytes.indexOf('#')] = 0xff
      const broken = await wallet.call({
        label: 'placebet that is not UTF-8',
        path: '/placebet',
        body: bytes,
      })
      await expectFinalRefusalUnchanged(context, broken, 'a placebet that is not UTF-8')
      const marked = `\ufeff${write(wallet.placement(bet))}`
      const label = 'placebet with a byte order mark'
      await expectFinalRefusalUnchanged(
        context,
        await wallet.call({ label, path: '/placebet', body: marked }),
        `a ${label}`,
      )
    },
  },
  'AU-813': {
    name: 'Content-Type application/json is accepted with a charset, and in upper or lower case',
    source: 'spec 1.3',
    quote: 'post-of-json',
    impact: 'The platform’s HTTP client writes "; charset=utf-8", and every bet is refused.',
    async run({ wallet, expect, opening }) {
      let balance = opening
      for (const type of [
        'application/json; charset=utf-8',
        'application/json;charset=UTF-8',
        'Application/JSON',
      ]) {
        const bet = wallet.bet()
        balance = subtract(balance, bet.amount)
        const label = `placebet with Content-Type ${type}`
        expect.success(await wallet.place(bet, { headers: { 'content-type': type }, label }), balance)
      }
    },
  },
  'AU-814': {
    name: 'Only POST changes a balance',
    source: 'spec 1.3, 4',
    quote: 'post-of-json',
    impact: 'A link, a crawler or a prefetch places bets.',
    async run({ wallet, expect, opening }) {
      const bet = wallet.bet()
      wallet.openBets.track(bet)
      const fields = wallet.placement(bet)
      for (const method of ['GET', 'PUT', 'PATCH', 'DELETE']) {
        const label = `${method} /placebet with a body`
        await wallet.call({
          label,
          method,
          path: '/placebet',
          body: write(fields),
          delivery: onOwnConnection,
        })
        await expect.balance(opening, `after ${label}`)
      }
      const query = new URLSearchParams()
      for (const [name, value] of Object.entries(fields))
        query.set(name, typeof value === 'string' ? value : write(value))
      await wallet.call({ label: 'GET /placebet?…', method: 'GET', path: `/placebet?${query}` })
      await expect.balance(opening, 'after GET /placebet?…')
    },
  },
  'AU-816': {
    name: 'Text that resembles SQL, a path or a property is an id like any other, or refused; a query object or a list finds no other bet',
    source: 'D24',
    impact: 'Injection: one id rolls back every bet of the player.',
    async run({ prepare, wallet, expect, opening, settings }) {
      const held = wallet.bet()
      const after = await prepare.placed(held, opening)
      const texts = [
        "' OR '1'='1",
        "'; DELETE FROM bets; --",
        '%',
        '_',
        '*',
        '../../etc/passwd',
        '$ne',
        '{{7*7}}',
        'constructor',
        '__proto__',
      ]
      for (const betId of texts) {
        const label = `rollbackbet of ${JSON.stringify(betId)}`
        const answer = await wallet.rollback({ betId, playerId: settings.playerId }, undefined, label)
        await expect.balance(after, `after a ${label}`)
        if (answer.success === null) expect.finalRefusal(answer)
      }
      // Any answer is right: as text, these are ids of unknown bets (spec 4.3). AU-606 judges their types.
      for (const betId of [{ $ne: '' }, { $gt: '' }, ['']] as const) {
        const label = `rollbackbet of ${JSON.stringify(betId)}`
        await wallet.rollback(held, undefined, { fields: { betId }, label })
        await expect.balance(after, `after a ${label}`)
      }
      expect.success(await wallet.rollback(held), opening)
    },
  },
})
