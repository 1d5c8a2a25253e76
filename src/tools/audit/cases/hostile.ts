/** AU-8xx: hostile input, and unusual input that is valid. */

import { compare, subtract, textOf } from '../../numbers/decimal.js'
import { quoted } from '../../wire/curl.js'
import { type Json, write } from '../../wire/json.js'
import { describeAnswer } from '../answer.js'
import { casesOf } from '../audit-case.js'
import type { CaseContext } from '../case-context.js'
import { onOwnConnection } from '../deliveries.js'
import type { Bet } from '../wallet-calls.js'

type IdName = 'transactionId' | 'betId'

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
  name: IdName,
  one: string,
  two: string,
  what: string,
) {
  const bets = [one, two].map(id => ({ ...wallet.bet(), [name]: id })) as [Bet, Bet]
  const label = (index: number) => `placebet ${index} of two ${name}s that differ in ${what}`
  const first = await wallet.place(bets[0], { ...unusual, label: label(1) })
  if (first.success === null) expect.error(first)
  let balance = first.success === null ? opening : subtract(opening, bets[0].amount)
  await expect.balanceAfter(first, balance)

  if (name === 'betId') {
    const undone = `rollbackbet of a betId that differs from the placed one in ${what}`
    const call = wallet.rollback(bets[1], undefined, { ...unusual, label: undone })
    const answer = await expect.balanceAfter(call, balance)
    if (answer.success === null) expect.error(answer)
  } else {
    const answer = await wallet.place(bets[1], { ...unusual, label: label(2) })
    if (answer.success !== null) balance = subtract(balance, bets[1].amount)
    await expect.balanceAfter(answer, balance)
    if (answer.success === null) expect.error(answer)
    if (first.success !== null && answer.success === null && expect.isDuplicateRefusal(answer))
      expect.fail('two transactions, or a refusal of the id itself', describeAnswer(answer), answer)
  }
  for (const bet of bets) await wallet.rollback(bet, undefined, unusual)
  await expect.balance(opening, 'after both bets were rolled back')
  for (const bet of bets) wallet.openBets.forget(bet)
}

/** For transactionIds and for betIds. */
const eachId =
  (run: (context: CaseContext, name: IdName) => Promise<void>) => async (context: CaseContext) => {
    for (const name of ['transactionId', 'betId'] as const) await run(context, name)
  }

async function distinctPairs(
  context: CaseContext,
  name: IdName,
  pairs: readonly (readonly [one: string, two: string, what: string])[],
) {
  for (const [one, two, what] of pairs) {
    const id = context.wallet.id()
    await expectDistinct(context, name, `${id}-${one}`, `${id}-${two}`, what)
  }
}

const bytesHuge = 4 * 1_048_576
const depth = 100_000

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
      const bet = wallet.bet()
      wallet.openBets.track(bet)
      const levels = (count: number) => `nested ${count.toLocaleString('en')} levels deep`
      const head = write(wallet.placement(bet)).slice(0, -1)
      const answer = await wallet.call({
        label: `placebet with a field ${levels(depth)}`,
        path: '/placebet',
        body: `${'['.repeat(depth)}${']'.repeat(depth)}`,
        bodyCommand: `(head -c ${depth} /dev/zero | tr '\\0' '['; head -c ${depth} /dev/zero | tr '\\0' ']')`,
        delivery: onOwnConnection,
      })
      await expect.balanceAfter(answer, opening)
      if (answer.status !== null && answer.status < 400)
        expect.fail('a refusal', describeAnswer(answer), answer)
      if (answer.exchange.error?.startsWith('no answer within'))
        expect.fail('a refusal before the timeout', answer.exchange.error, answer)
      const added = await wallet.call({
        label: `placebet with an additional field ${levels(5_000)}`,
        path: '/placebet',
        body: `${head},"deep":${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}}`,
        bodyCommand: `(printf %s ${quoted(`${head},"deep":`)}; yes '{"a":' | head -n 5000 | tr -d '\\n'; printf 1; head -c 5001 /dev/zero | tr '\\0' '}')`,
        delivery: onOwnConnection,
      })
      // It is accepted and rolled back, or refused.
      await wallet.cleanUp()
      await expect.balanceAfter(added, opening)
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
      const head = textWith(context, bet, '"padding":"').slice(0, -1)
      const answer = await wallet.call({
        label: 'placebet of 4 MiB',
        path: '/placebet',
        body: `${head}${'x'.repeat(bytesHuge)}"}`,
        bodyCommand: `(printf %s ${quoted(head)}; head -c ${bytesHuge} /dev/zero | tr '\\0' x; printf %s '"}')`,
        delivery: onOwnConnection,
        // A wallet may close the connection before its answer is read.
        attempts: 1,
      })
      await expect.balanceAfter(answer, opening)
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
        await expect.balanceAfter(answer, opening)
        return
      }
      const stake = compare(balance, subtract(opening, other)) === 0 ? other : bet.amount
      const rest = subtract(opening, stake)
      await expect.balanceAfter(answer, rest)
      await expect.balanceAfter(
        wallet.call({ label: `retry of the ${label}`, path: '/placebet', body }),
        rest,
      )
      await expect.undone(bet, opening)
    },
  },
  'AU-805': {
    name: 'Fields of __proto__, of constructor or of another call are not read as fields of the body',
    source: 'spec 4.1, A02',
    quote: 'amount-required',
    impact: 'One body pollutes the process, and every later call inherits its amount or player.',
    async run(context) {
      const { wallet, expect, settings, opening, units } = context
      const amount = textOf(units(100))
      const put = `"__proto__":{"amount":${amount},"currency":"${settings.currency}"},"constructor":{"prototype":{"amount":${amount}}}`
      const fields = { amount: undefined, currency: undefined }
      const polluted = wallet.call({
        label: 'placebet whose amount is in __proto__',
        path: '/placebet',
        body: textWith(context, wallet.bet(), put, fields),
      })
      await expect.notExecuted(polluted, opening)
      const plain = wallet.place(wallet.bet(), { fields, label: 'placebet without an amount' })
      await expect.notExecuted(plain, opening)
    },
  },
  'AU-806': {
    name: 'transactionIds and betIds of 255 characters that differ in the last one are distinct, or answered with an error',
    source: 'spec 1.5, D24',
    quote: 'transaction-id',
    impact: 'A column that truncates ids treats the second bet as a retry of the first: a free bet.',
    run: eachId(async (context, name) => {
      const long = context.wallet.id().padEnd(254, '0')
      await expectDistinct(context, name, `${long}1`, `${long}2`, 'the last of 255 characters')
    }),
  },
  'AU-807': {
    name: 'Ids that differ in case, surrounding spaces or accents are distinct, or answered with an error',
    source: 'spec 1.5, D24',
    quote: 'transaction-id',
    impact: 'A collation that folds them treats one player’s bet as a retry of another’s.',
    run: eachId(async (context, name) => {
      await distinctPairs(context, name, [
        ['x', 'X', 'case'],
        ['x', 'x ', 'a trailing space'],
        ['\u00e9', 'e\u0301', 'the composition of an accent'],
        ['\u00e9', 'e', 'an accent'],
      ])
      const id = context.wallet.id()
      await expectDistinct(context, name, id, ` ${id}`, 'a leading space')
    }),
  },
  'AU-817': {
    name: 'Ids that differ only in characters outside Latin-1 are distinct, or answered with an error',
    source: 'spec 1.5, D24',
    quote: 'transaction-id',
    impact: 'A column that cannot store them writes a question mark for each: two bets become one.',
    run: eachId((context, name) =>
      distinctPairs(context, name, [
        ['\u0416', '\u0429', 'a Cyrillic letter'],
        ['\u{1f600}', '\u{1f601}', 'an emoji'],
        // The low bytes are equal.
        ['\u0141', 'A', 'a Polish letter'],
      ]),
    ),
  },
  'AU-808': {
    name: 'Ids that look like numbers are text: 7 and 07, 1 and 1.0, and numbers of many digits are distinct, or answered with an error',
    source: 'spec 2, D24',
    quote: 'transaction-id',
    impact: 'Ids are compared as numbers: one bet is mistaken for another.',
    run: eachId(async (context, name) => {
      const base = `${Date.now()}${context.random.between(10_000, 99_999)}`
      await expectDistinct(context, name, base, `0${base}`, 'a leading zero')
      await expectDistinct(context, name, `${base}1`, `${base}1.0`, 'a zero after the point')
      // As floats, they would be equal.
      await expectDistinct(context, name, `${base}12`, `${base}13`, 'the last of many digits')
    }),
  },
  'AU-811': {
    level: 'SHOULD',
    name: 'A body that is not UTF-8, or starts with a byte order mark, gets a 4xx',
    source: 'D26',
    impact: 'Two ids that differ in one invalid byte become the same id with a replacement character.',
    async run({ wallet, expect, opening }) {
      const bet = wallet.bet()
      wallet.openBets.track(bet)
      const bytes = Buffer.from(write({ ...wallet.placement(bet), sessionId: 'session-#' }), 'utf8')
      bytes[bytes.indexOf('#')] = 0xff
      const bodies = {
        'placebet that is not UTF-8': bytes,
        'placebet with a byte order mark': `\ufeff${write(wallet.placement(bet))}`,
      }
      for (const [label, body] of Object.entries(bodies)) {
        const call = wallet.call({ label, path: '/placebet', body })
        expect.finalRefusal(await expect.balanceAfter(call, opening))
      }
    },
  },
  'AU-813': {
    name: 'Content-Type application/json is accepted with a charset, and in upper or lower case',
    source: 'spec 1.3',
    quote: 'post-of-json',
    impact: 'The platform’s HTTP client writes "; charset=utf-8", and every bet is refused.',
    async run({ wallet, expect, opening }) {
      let balance = opening
      const types = ['application/json; charset=utf-8', 'application/json;charset=UTF-8', 'Application/JSON']
      for (const type of types) {
        const change = { headers: { 'content-type': type }, label: `placebet with Content-Type ${type}` }
        balance = await expect.debit(wallet.bet(), balance, change)
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
        const call = { label, method, path: '/placebet', body: write(fields), delivery: onOwnConnection }
        await expect.balanceAfter(wallet.call(call), opening)
      }
      const query = new URLSearchParams()
      for (const [name, value] of Object.entries(fields))
        query.set(name, typeof value === 'string' ? value : write(value))
      const call = { label: 'GET /placebet?…', method: 'GET', path: `/placebet?${query}` }
      await expect.balanceAfter(wallet.call(call), opening)
    },
  },
  'AU-816': {
    name: 'Text that resembles SQL, a path or a property is an id like any other, or refused; a query object or a list finds no other bet',
    source: 'D24',
    impact: 'Injection: one id rolls back every bet of the player.',
    async run({ prepare, wallet, expect, settings, opening }) {
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
      const labelOf = (betId: Json) => `rollbackbet of ${JSON.stringify(betId)}`
      for (const betId of texts) {
        const call = wallet.rollback({ betId, playerId: settings.playerId }, undefined, labelOf(betId))
        const answer = await expect.balanceAfter(call, after)
        if (answer.success === null) expect.finalRefusal(answer)
      }
      // Any answer is right: as text, these are ids of unknown bets (spec 4.3). AU-606 judges their types.
      for (const betId of [{ $ne: '' }, { $gt: '' }, ['']] as const) {
        const call = wallet.rollback(held, undefined, { fields: { betId }, label: labelOf(betId) })
        await expect.balanceAfter(call, after)
      }
      await expect.undone(held, opening)
    },
  },
})
