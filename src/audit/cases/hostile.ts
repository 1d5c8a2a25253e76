/** AU-8xx: input that nobody sends by accident, and some that one does. */
import type { AuditCase } from '../case.js'
import { quoted } from '../curl.js'
import { add, compare, subtract, textOf } from '../decimal.js'
import { type Json, raw, write } from '../json.js'
import { type Answer, type Bet, found, type Stage } from '../stage.js'

/**
 * Two ids that differ in so little. As transactionIds: both bets are taken, or the second is refused for what it is, but
 * not as a repetition. As betIds: the rollback of one does not undo the other.
 */
async function toldApart(
  stage: Stage,
  name: 'transactionId' | 'betId',
  one: string,
  two: string,
  what: string,
) {
  const bets = [one, two].map(id => ({ ...stage.bet(), [name]: id })) as [Bet, Bet]
  const label = (index: number) => `placebet ${index} of two ${name}s that differ in ${what}`
  const first = await stage.place(bets[0], { label: label(1) })
  if (first.success === null) stage.definite(first)
  let balance = first.success === null ? stage.opening : subtract(stage.opening, bets[0].amount)
  await stage.holds(balance, `after ${label(1)}`)

  if (name === 'betId') {
    const undone = `rollbackbet of a betId that differs from the one that was placed in ${what}`
    const answer = await stage.rollback(bets[1], undefined, { label: undone })
    await stage.holds(balance, `after a ${undone}`)
    if (answer.success === null) stage.definite(answer)
  } else {
    const answer = await stage.place(bets[1], { label: label(2) })
    if (answer.success !== null) balance = subtract(balance, bets[1].amount)
    await stage.holds(balance, `after ${label(2)}`)
    if (answer.success === null) stage.definite(answer)
    if (first.success !== null && answer.success === null && stage.isRepetition(answer))
      stage.fail('two transactions, or a refusal of the id itself', found(answer), answer)
  }
  for (const bet of bets) await stage.rollback(bet)
  await stage.holds(stage.opening, 'after both bets were rolled back')
}

const bytesHuge = 4 * 1_048_576
const depth = 100_000

/** Refused as the caller's fault, and nothing moved. */
async function turnedAway(stage: Stage, answer: Answer, what: string): Promise<void> {
  await stage.holds(stage.opening, `after ${what}`)
  stage.definite(answer)
}

/** The text of a placebet, with something put in by hand. */
function textWith(
  stage: Stage,
  bet: Bet,
  put: string,
  fields: Record<string, Json | undefined> = {},
): string {
  stage.expectBet(bet)
  const text = write({ ...stage.placement(bet), ...fields })
  return `${text.slice(0, -1)},${put}}`
}

export const hostile: readonly AuditCase[] = [
  {
    id: 'AU-801',
    level: 'MUST',
    title: 'A body that is nested 100,000 deep is refused in time, and the wallet goes on answering',
    source: 'scenario A02',
    impact: 'One request of 200 kB ends the process, and with it every call that is under way.',
    async play(stage) {
      const label = `placebet with a field nested ${depth.toLocaleString('en')} deep`
      const bet = stage.bet()
      stage.expectBet(bet)
      const head = write(stage.placement(bet)).slice(0, -1)
      const answer = await stage.call({
        label,
        path: '/placebet',
        body: `${'['.repeat(depth)}${']'.repeat(depth)}`,
        bodyCommand: `(head -c ${depth} /dev/zero | tr '\\0' '['; head -c ${depth} /dev/zero | tr '\\0' ']')`,
        line: { as: 'alone' },
      })
      await stage.holds(stage.opening, `after a body nested ${depth.toLocaleString('en')} deep`)
      if (answer.status !== null && answer.status < 400) stage.fail('a refusal', found(answer), answer)
      if (answer.exchange.error?.startsWith('no answer within'))
        stage.fail('a refusal in time', answer.exchange.error, answer)
      const nested = `,"deep":${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}}`
      await stage.call({
        label: 'placebet with a further field nested 5,000 deep',
        path: '/placebet',
        body: `${head}${nested}`,
        bodyCommand: `(printf %s ${quoted(`${head},"deep":`)}; yes '{"a":' | head -n 5000 | tr -d '\\n'; printf 1; head -c 5001 /dev/zero | tr '\\0' '}')`,
        line: { as: 'alone' },
      })
      await stage.giveBack()
      await stage.holds(
        stage.opening,
        'after a further field nested 5,000 deep, taken and rolled back or refused',
      )
    },
  },
  {
    id: 'AU-802',
    level: 'SHOULD',
    title: 'A body of 4 MiB is refused with PAYLOAD_TOO_LARGE',
    source: 'decisions: errors over HTTP, scenario A02',
    impact: 'A handful of requests fills the memory of the wallet.',
    async play(stage) {
      const bet = stage.bet()
      const body = textWith(stage, bet, `"padding":"${'x'.repeat(bytesHuge)}"`)
      const head = textWith(stage, bet, '"padding":"').slice(0, -1)
      const answer = await stage.call({
        label: 'placebet of 4 MiB',
        path: '/placebet',
        body,
        bodyCommand: `(printf %s ${quoted(head)}; head -c ${bytesHuge} /dev/zero | tr '\\0' x; printf %s '"}')`,
        line: { as: 'alone' },
      })
      await stage.holds(stage.opening, 'after a placebet of 4 MiB')
      // Who closes the line on such a body has refused it as well.
      if (answer.status !== null) stage.refusedAs(answer, 'PAYLOAD_TOO_LARGE')
    },
  },
  {
    id: 'AU-803',
    level: 'MUST',
    title:
      'Duplicate keys are refused, or one of the two values counts, for good: a stake is one of them and taken once',
    source: 'D26',
    impact: 'A filter in front reads one amount and the wallet the other one.',
    async play(stage) {
      const bet = stage.bet(stage.units(110))
      const other = stage.units(170)
      const body = textWith(stage, bet, `"amount":${textOf(other)}`)
      const label = 'placebet with two amounts'
      const answer = await stage.call({ label, path: '/placebet', body })
      const balance = await stage.balance()
      if (answer.success === null) {
        stage.refused(answer)
        await stage.holds(stage.opening, `after a ${label} was refused`)
        return
      }
      const stake = compare(balance, subtract(stage.opening, other)) === 0 ? other : bet.amount
      await stage.holds(subtract(stage.opening, stake), `after a ${label}`)
      await stage.call({ label: `the same ${label}`, path: '/placebet', body })
      await stage.holds(subtract(stage.opening, stake), `after the same ${label}`)
      stage.accepted(await stage.rollback(bet), stage.opening)
    },
  },
  {
    id: 'AU-804',
    level: 'MAY',
    title: 'Of duplicate keys the last one counts',
    source: 'D26',
    impact: 'Two readers of one body disagree.',
    async play(stage) {
      const bet = stage.bet(stage.units(110))
      const last = stage.units(170)
      const body = textWith(stage, bet, `"amount":${textOf(last)}`)
      const answer = await stage.call({ label: 'placebet with two amounts', path: '/placebet', body })
      stage.accepted(answer, subtract(stage.opening, last))
    },
  },
  {
    id: 'AU-805',
    level: 'MUST',
    title: 'Fields of __proto__, constructor or another’s call are not taken for fields of the body',
    source: 'spec 4.1, scenario A02',
    impact: 'A body pollutes the process, and every later call inherits its amount or player.',
    async play(stage) {
      const amount = textOf(stage.units(100))
      const put = `"__proto__":{"amount":${amount},"currency":"${stage.settings.currency}"},"constructor":{"prototype":{"amount":${amount}}}`
      const without = { amount: undefined, currency: undefined }
      const polluted = await stage.call({
        label: 'placebet whose amount is in __proto__',
        path: '/placebet',
        body: textWith(stage, stage.bet(), put, without),
      })
      await turnedAwayAtAll(stage, polluted, 'a placebet whose amount is in __proto__')
      const plain = await stage.place(stage.bet(), { fields: without, label: 'placebet without an amount' })
      await turnedAwayAtAll(stage, plain, 'a placebet without an amount')
    },
  },
  {
    id: 'AU-806',
    level: 'MUST',
    title: 'transactionIds and betIds of 255 characters that differ in the last one are two, or refused',
    source: 'spec 1.5, D24',
    impact: 'A column that cuts ids takes the second bet for a repetition of the first: a bet for free.',
    async play(stage) {
      for (const name of ['transactionId', 'betId'] as const) {
        const long = stage.id().padEnd(254, '0')
        await toldApart(stage, name, `${long}1`, `${long}2`, 'the last of 255 characters')
      }
    },
  },
  {
    id: 'AU-807',
    level: 'MUST',
    title: 'Ids that differ in case, in spaces around them or in accents are two, or refused',
    source: 'spec 1.5, D24',
    impact: 'A collation that folds them takes one player’s bet for a repetition of another’s.',
    async play(stage) {
      for (const name of ['transactionId', 'betId'] as const) {
        const pairs = [
          ['x', 'X', 'case'],
          ['x', 'x ', 'a space at the end'],
          ['\u00e9', 'e\u0301', 'the composition of an accent'],
          ['\u00e9', 'e', 'an accent'],
        ] as const
        for (const [one, two, what] of pairs) {
          const id = stage.id()
          await toldApart(stage, name, `${id}-${one}`, `${id}-${two}`, what)
        }
        const id = stage.id()
        await toldApart(stage, name, `${id}`, ` ${id}`, 'a space at the beginning')
      }
    },
  },
  {
    id: 'AU-808',
    level: 'MUST',
    title: 'Ids that look like numbers are text: 7, 07, 7.0 and 1e3 and 1000 are different, or refused',
    source: 'spec 2, D24',
    impact: 'Ids are compared as numbers: a bet is taken for another one.',
    async play(stage) {
      const digits = `${Date.now()}${stage.random.between(100, 999)}${stage.id().length}`
      const tail = stage.random.between(10_000, 99_999)
      const base = `${digits}${tail}`
      for (const name of ['transactionId', 'betId'] as const) {
        await toldApart(stage, name, base, `0${base}`, 'a zero in front')
        await toldApart(stage, name, `${base}1`, `${base}1.0`, 'a zero behind the point')
        // Beyond 15 digits they are one float.
        await toldApart(stage, name, `${base}12`, `${base}13`, 'the last of many digits')
      }
    },
  },
  {
    id: 'AU-809',
    level: 'SHOULD',
    title: 'Ids of 255 characters and of any language are taken',
    source: 'D24',
    impact: 'The first id from another market is refused.',
    async play(stage) {
      let balance = stage.opening
      for (const end of ['0'.repeat(200), '-Ünï-球迷-😀', '-a\'b"c\\d', '-\u200d-\u202e'] as const) {
        const id = `${stage.id()}${end}`.slice(0, 255)
        const bet = { ...stage.bet(), transactionId: id, betId: id }
        balance = await stage.placed(bet, balance)
        balance = add(balance, bet.amount)
        stage.accepted(await stage.rollback(bet, id), balance)
      }
    },
  },
  {
    id: 'AU-810',
    level: 'SHOULD',
    title:
      'Ids that are empty, longer than 255 characters, or hold NUL, control characters or half a surrogate pair are a 4xx',
    source: 'D24',
    impact: 'A NUL breaks databases: a 500, repeated for ever, instead of a refusal.',
    async play(stage) {
      const ids: [string, string][] = [
        ['', 'that is empty'],
        ['x'.repeat(256), 'of 256 characters'],
        ['x'.repeat(10_000), 'of 10,000 characters'],
        ['a\u0000b', 'with NUL'],
        ['a\u0007b', 'with a control character'],
        ['a\nb', 'with a line feed'],
      ]
      for (const name of ['transactionId', 'betId', 'playerId']) {
        for (const [id, what] of ids) {
          const label = `placebet with a ${name} ${what}`
          const answer = await stage.place(stage.bet(), { fields: { [name]: id }, label })
          await turnedAway(stage, answer, `a ${label}`)
        }
        const bet = stage.bet()
        const body = write({ ...stage.placement(bet), [name]: raw('"a\\ud800b"') })
        const label = `placebet with half a surrogate pair in its ${name}`
        await turnedAway(stage, await stage.call({ label, path: '/placebet', body }), `a ${label}`)
      }
    },
  },
  {
    id: 'AU-811',
    level: 'SHOULD',
    title: 'A body that is no UTF-8, or begins with a byte order mark, is a 4xx',
    source: 'D26',
    impact: 'Two ids that differ in a broken byte become one id with a replacement character.',
    async play(stage) {
      const bet = stage.bet()
      stage.expectBet(bet)
      const text = write({ ...stage.placement(bet), sessionId: 'session-#' })
      const bytes = Buffer.from(text, 'utf8')
      bytes[bytes.indexOf('#')] = 0xff
      const broken = await stage.call({ label: 'placebet that is no UTF-8', path: '/placebet', body: bytes })
      await turnedAway(stage, broken, 'a placebet that is no UTF-8')
      const marked = `\ufeff${write(stage.placement(bet))}`
      const label = 'placebet with a byte order mark'
      await turnedAway(stage, await stage.call({ label, path: '/placebet', body: marked }), `a ${label}`)
    },
  },
  {
    id: 'AU-812',
    level: 'SHOULD',
    title: 'A Content-Type other than application/json, or none, is refused with UNSUPPORTED_MEDIA_TYPE',
    source: 'spec 1.3, decisions: errors over HTTP',
    impact: 'What a browser’s form can send is taken as a bet.',
    async play(stage) {
      for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/xml', null]) {
        const label = `placebet with Content-Type ${type ?? '(none)'}`
        const answer = await stage.place(stage.bet(), { headers: { 'content-type': type }, label })
        await stage.holds(stage.opening, `after a ${label}`)
        stage.refusedAs(answer, 'UNSUPPORTED_MEDIA_TYPE')
      }
    },
  },
  {
    id: 'AU-813',
    level: 'MUST',
    title: 'Content-Type application/json is taken with a charset and in any case',
    source: 'spec 1.3',
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
        stage.accepted(await stage.place(bet, { headers: { 'content-type': type }, label }), balance)
      }
    },
  },
  {
    id: 'AU-814',
    level: 'MUST',
    title: 'Only POST moves money',
    source: 'spec 1.3, 4',
    impact: 'A link, a crawler or a prefetch places bets.',
    async play(stage) {
      const bet = stage.bet()
      stage.expectBet(bet)
      const fields = stage.placement(bet)
      for (const method of ['GET', 'PUT', 'PATCH', 'DELETE']) {
        const label = `${method} /placebet with a body`
        await stage.call({ label, method, path: '/placebet', body: write(fields), line: { as: 'alone' } })
        await stage.holds(stage.opening, `after ${label}`)
      }
      const query = new URLSearchParams()
      for (const [name, value] of Object.entries(fields))
        query.set(name, typeof value === 'string' ? value : write(value))
      await stage.call({ label: 'GET /placebet?…', method: 'GET', path: `/placebet?${query}` })
      await stage.holds(stage.opening, 'after GET /placebet?…')
    },
  },
  {
    id: 'AU-815',
    level: 'MUST',
    title: 'Keys that hide in other cases or spaces are not taken: "Amount", "amount "',
    source: 'spec 4.1',
    impact: 'A stake is read from a field that the specification does not know.',
    async play(stage) {
      for (const name of ['Amount', 'AMOUNT', 'amount ']) {
        const bet = stage.bet()
        const fields = { amount: undefined, [name]: raw(textOf(bet.amount)) }
        const label = `placebet with ${JSON.stringify(name)} for amount`
        const answer = await stage.place(bet, { fields, label })
        await turnedAwayAtAll(stage, answer, `a ${label}`)
      }
    },
  },
  {
    id: 'AU-816',
    level: 'MUST',
    title:
      'Text that would be SQL, a path or a property is an id like any other, or refused; a query object is refused',
    source: 'D24',
    impact: 'Injection: one id gives back every bet of the player.',
    async play(stage) {
      const held = stage.bet()
      const after = await stage.placed(held, stage.opening)
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
        await stage.holds(after, `after a ${label}`)
        if (answer.success === null) stage.definite(answer)
      }
      for (const betId of [{ $ne: '' }, { $gt: '' }, [held.betId]] as const) {
        const label = `rollbackbet of ${JSON.stringify(betId)}`
        const answer = await stage.rollback(held, undefined, { fields: { betId }, label })
        await stage.holds(after, `after a ${label}`)
        stage.refused(answer)
      }
      stage.accepted(await stage.rollback(held), stage.opening)
    },
  },
]

async function turnedAwayAtAll(stage: Stage, answer: Answer, what: string): Promise<void> {
  await stage.holds(stage.opening, `after ${what}`)
  stage.refused(answer)
}
