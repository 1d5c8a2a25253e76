/** AU-8xx: hostile input, and unusual input that is valid. */

import { quoted } from '../../platform/curl.js'
import { compare, subtract, textOf } from '../../platform/decimal.js'
import { type Json, raw, write } from '../../platform/json.js'
import type { AuditCase } from '../audit-case.js'
import { type Answer, type Bet, describeAnswer, type Stage } from '../stage.js'

/** A 5xx that stays is the answer to an unusual id, and no outage. */
const unusual = { mayFail: true } as const

/**
 * Expects that two similar ids are distinct. As transactionIds: both bets are accepted, or the second is
 * refused, but not as a duplicate. As betIds: the rollback of one does not affect the other. Any error is right for
 * an id that the wallet cannot store, if no balance changes: the interface gives no length and no alphabet.
 */
async function expectDistinct(
  stage: Stage,
  name: 'transactionId' | 'betId',
  one: string,
  two: string,
  what: string,
) {
  const bets = [one, two].map(id => ({ ...stage.bet(), [name]: id })) as [Bet, Bet]
  const label = (index: number) => `placebet ${index} of two ${name}s that differ in ${what}`
  const first = await stage.place(bets[0], { ...unusual, label: label(1) })
  if (first.success === null) stage.expectError(first)
  let balance = first.success === null ? stage.opening : subtract(stage.opening, bets[0].amount)
  await stage.expectBalance(balance, `after ${label(1)}`)

  if (name === 'betId') {
    const undone = `rollbackbet of a betId that differs from the placed one in ${what}`
    const answer = await stage.rollback(bets[1], undefined, { ...unusual, label: undone })
    await stage.expectBalance(balance, `after a ${undone}`)
    if (answer.success === null) stage.expectError(answer)
  } else {
    const answer = await stage.place(bets[1], { ...unusual, label: label(2) })
    if (answer.success !== null) balance = subtract(balance, bets[1].amount)
    await stage.expectBalance(balance, `after ${label(2)}`)
    if (answer.success === null) stage.expectError(answer)
    if (first.success !== null && answer.success === null && stage.isDuplicateRefusal(answer))
      stage.fail('two transactions, or a refusal of the id itself', describeAnswer(answer), answer)
  }
  for (const bet of bets) await stage.rollback(bet, undefined, unusual)
  await stage.expectBalance(stage.opening, 'after both bets were rolled back')
  for (const bet of bets) stage.forget(bet)
}

const bytesHuge = 4 * 1_048_576
const depth = 100_000

/** Expects a 4xx and an unchanged balance. */
async function expectFinalRefusalUnchanged(stage: Stage, answer: Answer, what: string): Promise<void> {
  await stage.expectBalance(stage.opening, `after ${what}`)
  stage.expectFinalRefusal(answer)
}

/** A command that prints the body with an id of many x, for the report. */
function printed(body: string, id: string): { bodyCommand: string } {
  const [head = '', tail = ''] = body.split(id)
  const middle = `head -c ${id.length} /dev/zero | tr '\\0' x`
  return { bodyCommand: `(printf %s ${quoted(head)}; ${middle}; printf %s ${quoted(tail)})` }
}

async function expectIdRefused(
  stage: Stage,
  name: 'transactionId' | 'betId' | 'playerId',
  id: string,
  what: string,
): Promise<void> {
  const label = `placebet with a ${name} ${what}`
  const bet = stage.bet()
  stage.track(bet)
  const body = write({ ...stage.placement(bet), [name]: id })
  const call = { label, path: '/placebet', body, ...(id.length > 1_000 ? printed(body, id) : {}) }
  const answer = await stage.call(call)
  // Where this is the betId, the clean-up has to name the bet by it.
  if (answer.success !== null) stage.track({ ...bet, [name]: id })
  await expectFinalRefusalUnchanged(stage, answer, `a ${label}`)
}

/** The text of a placebet with additional JSON text at its end. */
function textWith(
  stage: Stage,
  bet: Bet,
  put: string,
  fields: Record<string, Json | undefined> = {},
): string {
  stage.track(bet)
  const text = write({ ...stage.placement(bet), ...fields })
  return `${text.slice(0, -1)},${put}}`
}

export const hostile: readonly AuditCase[] = [
  {
    id: 'AU-801',
    level: 'MUST',
    title: 'A body nested 100,000 levels deep is refused quickly, and the wallet continues to answer',
    source: 'A02',
    impact: 'One request of 200 kB ends the process, and with it every call in flight.',
    async play(stage) {
      const label = `placebet with a field nested ${depth.toLocaleString('en')} levels deep`
      const bet = stage.bet()
      stage.track(bet)
      const head = write(stage.placement(bet)).slice(0, -1)
      const answer = await stage.call({
        label,
        path: '/placebet',
        body: `${'['.repeat(depth)}${']'.repeat(depth)}`,
        bodyCommand: `(head -c ${depth} /dev/zero | tr '\\0' '['; head -c ${depth} /dev/zero | tr '\\0' ']')`,
        delivery: { as: 'own connection' },
      })
      await stage.expectBalance(
        stage.opening,
        `after a body nested ${depth.toLocaleString('en')} levels deep`,
      )
      if (answer.status !== null && answer.status < 400)
        stage.fail('a refusal', describeAnswer(answer), answer)
      if (answer.exchange.error?.startsWith('no answer within'))
        stage.fail('a refusal before the timeout', answer.exchange.error, answer)
      const nested = `,"deep":${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}}`
      await stage.call({
        label: 'placebet with an additional field nested 5,000 levels deep',
        path: '/placebet',
        body: `${head}${nested}`,
        bodyCommand: `(printf %s ${quoted(`${head},"deep":`)}; yes '{"a":' | head -n 5000 | tr -d '\\n'; printf 1; head -c 5001 /dev/zero | tr '\\0' '}')`,
        delivery: { as: 'own connection' },
      })
      await stage.cleanUp()
      await stage.expectBalance(
        stage.opening,
        'after an additional field nested 5,000 levels deep, accepted and rolled back or refused',
      )
    },
  },
  {
    id: 'AU-802',
    level: 'SHOULD',
    title: 'A body of 4 MiB is refused with PAYLOAD_TOO_LARGE',
    source: 'docs/errors.md, A02',
    impact: 'A few requests exhaust the memory of the wallet.',
    async play(stage) {
      const bet = stage.bet()
      const body = textWith(stage, bet, `"padding":"${'x'.repeat(bytesHuge)}"`)
      const head = textWith(stage, bet, '"padding":"').slice(0, -1)
      const answer = await stage.call({
        label: 'placebet of 4 MiB',
        path: '/placebet',
        body,
        bodyCommand: `(printf %s ${quoted(head)}; head -c ${bytesHuge} /dev/zero | tr '\\0' x; printf %s '"}')`,
        delivery: { as: 'own connection' },
        // A wallet may close the connection before its answer is read.
        attempts: 1,
      })
      await stage.expectBalance(stage.opening, 'after a placebet of 4 MiB')
      // Closing the connection on such a body is a refusal too.
      if (answer.status !== null) stage.expectAgreedRefusal(answer, 'PAYLOAD_TOO_LARGE')
    },
  },
  {
    id: 'AU-803',
    level: 'MUST',
    title:
      'Duplicate keys are refused, or one value is used consistently: one of the two stakes is debited once',
    source: 'D26',
    impact: 'A filter in front of the wallet reads one amount, and the wallet reads the other.',
    async play(stage) {
      const bet = stage.bet(stage.units(110))
      const other = stage.units(170)
      const body = textWith(stage, bet, `"amount":${textOf(other)}`)
      const label = 'placebet with two amounts'
      const answer = await stage.call({ label, path: '/placebet', body })
      const balance = await stage.balance()
      if (answer.success === null) {
        stage.expectError(answer)
        await stage.expectBalance(stage.opening, `after a ${label} was refused`)
        return
      }
      const stake = compare(balance, subtract(stage.opening, other)) === 0 ? other : bet.amount
      await stage.expectBalance(subtract(stage.opening, stake), `after a ${label}`)
      await stage.call({ label: `retry of the ${label}`, path: '/placebet', body })
      await stage.expectBalance(subtract(stage.opening, stake), `after the retry of the ${label}`)
      stage.expectSuccess(await stage.rollback(bet), stage.opening)
    },
  },
  {
    id: 'AU-804',
    level: 'MAY',
    title: 'Of duplicate keys, the last one is used',
    source: 'D26',
    impact: 'Two parsers read different values from one body.',
    async play(stage) {
      const bet = stage.bet(stage.units(110))
      const last = stage.units(170)
      const body = textWith(stage, bet, `"amount":${textOf(last)}`)
      const answer = await stage.call({ label: 'placebet with two amounts', path: '/placebet', body })
      stage.expectSuccess(answer, subtract(stage.opening, last))
    },
  },
  {
    id: 'AU-805',
    level: 'MUST',
    title: 'Fields of __proto__, of constructor or of another call are not read as fields of the body',
    source: 'spec 4.1, A02',
    quote: 'amount | decimal | yes',
    impact: 'One body pollutes the process, and every later call inherits its amount or player.',
    async play(stage) {
      const amount = textOf(stage.units(100))
      const put = `"__proto__":{"amount":${amount},"currency":"${stage.settings.currency}"},"constructor":{"prototype":{"amount":${amount}}}`
      const without = { amount: undefined, currency: undefined }
      const polluted = await stage.call({
        label: 'placebet whose amount is in __proto__',
        path: '/placebet',
        body: textWith(stage, stage.bet(), put, without),
      })
      await expectRefusedUnchanged(stage, polluted, 'a placebet whose amount is in __proto__')
      const plain = await stage.place(stage.bet(), { fields: without, label: 'placebet without an amount' })
      await expectRefusedUnchanged(stage, plain, 'a placebet without an amount')
    },
  },
  {
    id: 'AU-806',
    level: 'MUST',
    title:
      'transactionIds and betIds of 255 characters that differ in the last one are distinct, or answered with an error',
    source: 'spec 1.5, D24',
    quote: 'identifies the transaction; the key of idempotency',
    impact: 'A column that truncates ids treats the second bet as a retry of the first: a free bet.',
    async play(stage) {
      for (const name of ['transactionId', 'betId'] as const) {
        const long = stage.id().padEnd(254, '0')
        await expectDistinct(stage, name, `${long}1`, `${long}2`, 'the last of 255 characters')
      }
    },
  },
  {
    id: 'AU-807',
    level: 'MUST',
    title: 'Ids that differ in case, surrounding spaces or accents are distinct, or answered with an error',
    source: 'spec 1.5, D24',
    quote: 'identifies the transaction; the key of idempotency',
    impact: 'A collation that folds them treats one player’s bet as a retry of another’s.',
    async play(stage) {
      for (const name of ['transactionId', 'betId'] as const) {
        const pairs = [
          ['x', 'X', 'case'],
          ['x', 'x ', 'a trailing space'],
          ['\u00e9', 'e\u0301', 'the composition of an accent'],
          ['\u00e9', 'e', 'an accent'],
        ] as const
        for (const [one, two, what] of pairs) {
          const id = stage.id()
          await expectDistinct(stage, name, `${id}-${one}`, `${id}-${two}`, what)
        }
        const id = stage.id()
        await expectDistinct(stage, name, `${id}`, ` ${id}`, 'a leading space')
      }
    },
  },
  {
    id: 'AU-817',
    level: 'MUST',
    title: 'Ids that differ only in characters outside Latin-1 are distinct, or answered with an error',
    source: 'spec 1.5, D24',
    quote: 'identifies the transaction; the key of idempotency',
    impact: 'A column that cannot store them writes a question mark for each: two bets become one.',
    describes: ['too much', 'too little'],
    async play(stage) {
      const pairs = [
        ['\u0416', '\u0429', 'a Cyrillic letter'],
        ['\u{1f600}', '\u{1f601}', 'an emoji'],
        // The low bytes are equal.
        ['\u0141', 'A', 'a Polish letter'],
      ] as const
      for (const name of ['transactionId', 'betId'] as const)
        for (const [one, two, what] of pairs) {
          const id = stage.id()
          await expectDistinct(stage, name, `${id}-${one}`, `${id}-${two}`, what)
        }
    },
  },
  {
    id: 'AU-808',
    level: 'MUST',
    title:
      'Ids that look like numbers are text: 7 and 07, 1 and 1.0, and numbers of many digits are distinct, or answered with an error',
    source: 'spec 2, D24',
    quote: 'identifies the transaction; the key of idempotency',
    impact: 'Ids are compared as numbers: one bet is mistaken for another.',
    async play(stage) {
      const digits = `${Date.now()}${stage.random.between(100, 999)}${stage.id().length}`
      const tail = stage.random.between(10_000, 99_999)
      const base = `${digits}${tail}`
      for (const name of ['transactionId', 'betId'] as const) {
        await expectDistinct(stage, name, base, `0${base}`, 'a leading zero')
        await expectDistinct(stage, name, `${base}1`, `${base}1.0`, 'a zero after the point')
        // As floats, they would be equal.
        await expectDistinct(stage, name, `${base}12`, `${base}13`, 'the last of many digits')
      }
    },
  },
  {
    id: 'AU-809',
    level: 'MAY',
    title: 'Ids of 255 characters and in any language are accepted',
    source: 'D24',
    impact: 'The first id from another market is refused.',
    async play(stage) {
      for (const end of ['0'.repeat(200), '-Ünï-球迷-😀', '-a\'b"c\\d', '-\u200d-\u202e'] as const) {
        const id = `${stage.id()}${end}`.slice(0, 255)
        const bet = { ...stage.bet(), transactionId: id, betId: id }
        const placed = await stage.place(bet, unusual)
        if (placed.success === null) {
          // Once, and not by the clean-up: a wallet that cannot store the id answers each rollback of it with 5xx.
          await stage.rollback(bet, id, unusual)
          stage.forget(bet)
        }
        stage.expectSuccess(placed, subtract(stage.opening, bet.amount))
        stage.expectSuccess(await stage.rollback(bet, id, unusual), stage.opening)
      }
    },
  },
  {
    id: 'AU-810',
    level: 'MAY',
    title: 'Ids that are empty, too long, or contain control characters or half a surrogate pair get a 4xx',
    source: 'D24',
    impact: 'A NUL character breaks databases: a 500 that is retried indefinitely, instead of a refusal.',
    async play(stage) {
      const ids: [string, string][] = [
        ['', 'that is empty'],
        ['x'.repeat(256), 'of 256 characters'],
        ['x'.repeat(10_000), 'of 10,000 characters'],
        ['a\u0000b', 'with NUL'],
        ['a\u0007b', 'with a control character'],
        ['a\nb', 'with a line feed'],
        ['a\ud800b', 'with half a surrogate pair'],
      ]
      for (const name of ['transactionId', 'betId', 'playerId'] as const)
        for (const [id, what] of ids) await expectIdRefused(stage, name, id, what)
    },
  },
  {
    id: 'AU-811',
    level: 'SHOULD',
    title: 'A body that is not UTF-8, or starts with a byte order mark, gets a 4xx',
    source: 'D26',
    impact: 'Two ids that differ in one invalid byte become the same id with a replacement character.',
    async play(stage) {
      const bet = stage.bet()
      stage.track(bet)
      const text = write({ ...stage.placement(bet), sessionId: 'session-#' })
      const bytes = Buffer.from(text, 'utf8')
      bytes[bytes.indexOf('#')] = 0xff
      const broken = await stage.call({ label: 'placebet that is not UTF-8', path: '/placebet', body: bytes })
      await expectFinalRefusalUnchanged(stage, broken, 'a placebet that is not UTF-8')
      const marked = `\ufeff${write(stage.placement(bet))}`
      const label = 'placebet with a byte order mark'
      await expectFinalRefusalUnchanged(
        stage,
        await stage.call({ label, path: '/placebet', body: marked }),
        `a ${label}`,
      )
    },
  },
  {
    id: 'AU-812',
    // The interface says what the platform sends, and not that a wallet must check it.
    level: 'MAY',
    title:
      'A missing Content-Type, or one other than application/json, is refused with UNSUPPORTED_MEDIA_TYPE',
    source: 'spec 1.3, docs/errors.md',
    impact: 'A form in a browser can place a bet.',
    async play(stage) {
      for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/xml', null]) {
        const label = `placebet with Content-Type ${type ?? '(none)'}`
        const answer = await stage.place(stage.bet(), { headers: { 'content-type': type }, label })
        await stage.expectBalance(stage.opening, `after a ${label}`)
        stage.expectAgreedRefusal(answer, 'UNSUPPORTED_MEDIA_TYPE')
      }
    },
  },
  {
    id: 'AU-813',
    level: 'MUST',
    title: 'Content-Type application/json is accepted with a charset, and in upper or lower case',
    source: 'spec 1.3',
    quote: 'Every call is a POST with Content-Type: application/json.',
    impact: 'The platform’s HTTP client writes "; charset=utf-8", and every bet is refused.',
    async play(stage) {
      let balance = stage.opening
      for (const type of [
        'application/json; charset=utf-8',
        'application/json;charset=UTF-8',
        'Application/JSON',
      ]) {
        const bet = stage.bet()
        balance = subtract(balance, bet.amount)
        const label = `placebet with Content-Type ${type}`
        stage.expectSuccess(await stage.place(bet, { headers: { 'content-type': type }, label }), balance)
      }
    },
  },
  {
    id: 'AU-814',
    level: 'MUST',
    title: 'Only POST changes a balance',
    source: 'spec 1.3, 4',
    quote: 'Every call is a POST with Content-Type: application/json.',
    impact: 'A link, a crawler or a prefetch places bets.',
    async play(stage) {
      const bet = stage.bet()
      stage.track(bet)
      const fields = stage.placement(bet)
      for (const method of ['GET', 'PUT', 'PATCH', 'DELETE']) {
        const label = `${method} /placebet with a body`
        await stage.call({
          label,
          method,
          path: '/placebet',
          body: write(fields),
          delivery: { as: 'own connection' },
        })
        await stage.expectBalance(stage.opening, `after ${label}`)
      }
      const query = new URLSearchParams()
      for (const [name, value] of Object.entries(fields))
        query.set(name, typeof value === 'string' ? value : write(value))
      await stage.call({ label: 'GET /placebet?…', method: 'GET', path: `/placebet?${query}` })
      await stage.expectBalance(stage.opening, 'after GET /placebet?…')
    },
  },
  {
    id: 'AU-815',
    level: 'MAY',
    title: 'Keys that differ in case or spaces are not accepted: "Amount", "amount "',
    source: 'spec 4.1',
    impact: 'A stake is read from a field that the interface does not define.',
    async play(stage) {
      for (const name of ['Amount', 'AMOUNT', 'amount ']) {
        const bet = stage.bet()
        const fields = { amount: undefined, [name]: raw(textOf(bet.amount)) }
        const label = `placebet with ${JSON.stringify(name)} for amount`
        const answer = await stage.place(bet, { fields, label })
        await expectRefusedUnchanged(stage, answer, `a ${label}`)
      }
    },
  },
  {
    id: 'AU-816',
    level: 'MUST',
    title:
      'Text that resembles SQL, a path or a property is an id like any other, or refused; a query object or a list finds no other bet',
    source: 'D24',
    impact: 'Injection: one id rolls back every bet of the player.',
    async play(stage) {
      const held = stage.bet()
      const after = await stage.placeSuccessfully(held, stage.opening)
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
        const answer = await stage.rollback({ betId, playerId: stage.settings.playerId }, undefined, {
          label,
        })
        await stage.expectBalance(after, `after a ${label}`)
        if (answer.success === null) stage.expectFinalRefusal(answer)
      }
      // Any answer is right: as text, these are ids of unknown bets (spec 4.3). AU-606 judges their types.
      for (const betId of [{ $ne: '' }, { $gt: '' }, ['']] as const) {
        const label = `rollbackbet of ${JSON.stringify(betId)}`
        await stage.rollback(held, undefined, { fields: { betId }, label })
        await stage.expectBalance(after, `after a ${label}`)
      }
      stage.expectSuccess(await stage.rollback(held), stage.opening)
    },
  },
]

async function expectRefusedUnchanged(stage: Stage, answer: Answer, what: string): Promise<void> {
  await stage.expectBalance(stage.opening, `after ${what}`)
  stage.expectError(answer)
}
