/** AU-6xx: what is wrong is refused, in the form that spec 7 describes. */
import type { AuditCase } from '../case.js'
import { add } from '../decimal.js'
import { type Json, raw } from '../json.js'
import { type Answer, found, type Stage } from '../stage.js'

/** Exactly errorCode and description, both text (spec 7.2). */
function exactError(stage: Stage, answer: Answer): void {
  stage.refused(answer)
  const { fields } = answer
  if (fields === null) stage.fail('a JSON object with errorCode and description', found(answer), answer)
  const names = [...fields.keys()].sort().join(', ')
  if (names !== 'description, errorCode')
    stage.fail('exactly errorCode and description', names === '' ? 'no field' : names, answer)
  for (const name of ['errorCode', 'description']) {
    const value = fields.get(name)
    if (typeof value !== 'string' || value.trim() === '')
      stage.fail(`${name} to be text`, answer.text.slice(0, 200), answer)
  }
}

/** What a description must not tell. */
const insides =
  /\bat (?:async )?[\w.<>[\] ]+ \(?(?:file:|node:|\/|[A-Z]:\\)|node_modules|\b(?:SELECT|INSERT INTO|UPDATE \w+ SET|DELETE FROM)\b|\b(?:TypeError|SyntaxError|ReferenceError|NullPointerException|Traceback|PSQLException|SQLSTATE|SqlException|ORA-\d+)\b|\/(?:usr|home|var|app|opt|srv)\/|Unexpected token|in JSON at position/

async function malformed(stage: Stage): Promise<Answer[]> {
  const bodies = ['', '{', 'not json', '[]', '"text"', 'null', '42', '{"transactionId":"t",}', "{'a':1}"]
  const answers: Answer[] = []
  for (const path of ['/placebet', '/rollbackbet', '/unsettlement'])
    for (const body of bodies)
      answers.push(
        await stage.call({ label: `${path.slice(1)} with the body ${body || '(none)'}`, path, body }),
      )
  return answers
}

const required = {
  '/placebet': [
    ...[
      'transactionId',
      'betId',
      'playerId',
      'sessionId',
      'amount',
      'currency',
      'betType',
      'transactionDate',
    ],
  ],
  '/unsettlement': ['transactionId', 'betId', 'playerId', 'type', 'transactionDate'],
  '/rollbackbet': ['transactionId', 'betId', 'playerId', 'type', 'transactionDate'],
} as const

/** Without these a wallet has to guess whose money moves, for what, and how much. */
const essential = ['transactionId', 'betId', 'playerId', 'amount', 'currency', 'type']

async function fieldsOf(stage: Stage, path: string): Promise<Record<string, Json>> {
  const bet = stage.bet()
  stage.expectBet(bet)
  if (path === '/placebet') return stage.placement(bet)
  stage.accepted(await stage.place(bet))
  return stage.reversal(bet, path === '/rollbackbet' ? 'TECHNICAL_ERROR' : 'UNSCORED', stage.id())
}

/** Every required field of every operation, with this value instead, or left out. */
async function eachField(
  stage: Stage,
  value: Json | undefined,
  what: string,
  judge: (answer: Answer, name: string) => Promise<void> | void,
  skip: readonly string[] = [],
): Promise<void> {
  for (const [path, names] of Object.entries(required)) {
    const fields = await fieldsOf(stage, path)
    for (const name of names) {
      if (skip.includes(name)) continue
      const label = `${path.slice(1)} ${what} ${name}`
      const betId = String(fields.betId)
      if (path === '/placebet') stage.expectBet({ betId, playerId: stage.settings.playerId })
      await judge(await stage.send(path, fields, { fields: { [name]: value }, label }), name)
    }
  }
}

export const errors: readonly AuditCase[] = [
  {
    id: 'AU-601',
    level: 'MUST',
    title: 'A refusal of the interface’s own (funds, player) has a body of exactly errorCode and description',
    source: 'spec 2, 7.2',
    impact: 'The platform cannot read why a bet was refused, and treats it as a fault.',
    async play(stage) {
      const bet = stage.bet(add(stage.opening, stage.units(1)))
      exactError(stage, await stage.place(bet))
      exactError(stage, await stage.place(bet, { label: 'the refused placebet again' }))
      exactError(stage, await stage.rollback({ betId: bet.betId, playerId: `${stage.id()}-nobody` }))
    },
  },
  {
    id: 'AU-602',
    level: 'MUST',
    title: 'A body that is malformed or no object is refused, with exactly errorCode and description',
    source: 'spec 4, 7',
    impact: 'An error page of the framework’s, or a crash, where the platform expects an error record.',
    async play(stage) {
      for (const answer of await malformed(stage)) exactError(stage, answer)
      await stage.holds(stage.opening, 'after malformed bodies')
    },
  },
  {
    id: 'AU-603',
    level: 'SHOULD',
    title: 'A body that is malformed or no object is refused with INVALID_REQUEST',
    source: 'decisions: errors over HTTP',
    impact: 'A 500 for what the caller did wrong is repeated, and wakes somebody up.',
    async play(stage) {
      for (const answer of await malformed(stage)) stage.refusedAs(answer, 'INVALID_REQUEST')
    },
  },
  {
    id: 'AU-604',
    level: 'MUST',
    title:
      'A call without transactionId, betId, playerId, type, amount or currency is refused and moves nothing',
    source: 'spec 4.1 to 4.3',
    impact: 'A stake without an id can never be repeated safely nor rolled back.',
    async play(stage) {
      for (const absent of [undefined, null]) {
        await eachField(
          stage,
          absent,
          absent === null ? 'with null as' : 'without',
          async (answer, name) => {
            if (!essential.includes(name)) return
            if (answer.status !== null && answer.status < 400)
              stage.fail(`a refusal (4xx or 5xx) without ${name}`, found(answer), answer)
          },
          required['/placebet'].filter(name => !essential.includes(name)),
        )
        await stage.giveBack()
        await stage.holds(stage.opening, 'after incomplete calls, and the bets among them rolled back')
      }
    },
  },
  {
    id: 'AU-605',
    level: 'SHOULD',
    title: 'A call without any one of the required fields is refused with INVALID_REQUEST',
    source: 'spec 4.1 to 4.3',
    impact: 'What the platform forgets to send is not noticed before it matters.',
    async play(stage) {
      await eachField(stage, undefined, 'without', answer => {
        stage.refusedAs(answer, 'INVALID_REQUEST')
        exactError(stage, answer)
      })
    },
  },
  {
    id: 'AU-606',
    level: 'SHOULD',
    title: 'A field of another JSON type (number, object, list) is refused with INVALID_REQUEST',
    source: 'spec 2',
    impact: 'A player 7 and a player "7" are one or two, as the database likes.',
    async play(stage) {
      for (const value of [raw('7'), true, ['x'], { x: 'x' }] as const)
        await eachField(
          stage,
          value,
          `with ${JSON.stringify(value)} as`,
          answer => stage.refusedAs(answer, 'INVALID_REQUEST'),
          ['amount'],
        )
    },
  },
  {
    id: 'AU-607',
    level: 'SHOULD',
    title: 'Values that the interface does not list are refused with INVALID_REQUEST: betType, types, dates',
    source: 'spec 4.1 to 4.3, D25, D26',
    impact: 'An unsettlement of an unknown type is taken for one of the known ones.',
    async play(stage) {
      const wrong = [
        ['/placebet', { betType: 'SYSTEM' }],
        ['/placebet', { betType: 'single' }],
        ['/placebet', { transactionDate: 'yesterday' }],
        ['/placebet', { transactionDate: '2026-02-30T10:00:00Z' }],
        ['/unsettlement', { type: 'UNKNOWN' }],
        ['/unsettlement', { type: 'unscored' }],
        ['/rollbackbet', { type: 'CHANGED_MY_MIND' }],
      ] as const
      for (const [path, fields] of wrong) {
        const label = `${path.slice(1)} with ${JSON.stringify(fields)}`
        stage.refusedAs(
          await stage.send(path, await fieldsOf(stage, path), { fields, label }),
          'INVALID_REQUEST',
        )
      }
    },
  },
  {
    id: 'AU-608',
    level: 'MUST',
    title: 'An unsettlement of a type that the interface does not list takes nothing',
    source: 'spec 4.2',
    impact: 'As AU-607: money is taken back for a reason that nobody knows.',
    needs: ['settle'],
    async play(stage) {
      const bet = stage.bet()
      const staked = await stage.placed(bet, stage.opening)
      await stage.settle(bet, 'BET_PAID', stage.units(150))
      const balance = add(staked, stage.units(150))
      await stage.holds(balance, 'after the settlement')
      for (const type of ['UNKNOWN', '', '__proto__', 'toString']) {
        const label = `unsettlement of type ${JSON.stringify(type)}`
        const answer = await stage.send('/unsettlement', stage.reversal(bet, type, stage.id()), { label })
        await stage.holds(balance, `after an ${label}`)
        stage.refused(answer)
      }
    },
  },
  {
    id: 'AU-609',
    level: 'SHOULD',
    title: 'ISO 8601 dates are taken with Z, with an offset, without a zone, and with a space for the T',
    source: 'D25',
    impact: 'A refused date on a rollback strands a stake: compare it with the platform’s samples first.',
    async play(stage) {
      const dates = ['2026-11-21T18:00:00Z', '2026-11-21T18:00:00.123456Z', '2026-11-21T19:00:00+01:00']
      for (const transactionDate of [...dates, '2026-11-21T18:00:00', '2026-11-21 18:00:00']) {
        const label = `rollbackbet of ${transactionDate}`
        const answer = await stage.rollback(stage.bet(), undefined, { fields: { transactionDate }, label })
        stage.accepted(answer, stage.opening)
      }
    },
  },
  {
    id: 'AU-610',
    level: 'SHOULD',
    title: 'The statuses and codes of what this interface refuses are those that were agreed',
    source: 'spec 7, decisions: errors over HTTP',
    impact: 'The platform reacts to the status: another one than agreed is another reaction.',
    async play(stage) {
      const over = stage.bet(add(stage.opening, stage.units(1)))
      stage.refusedAs(await stage.place(over), 'INSUFFICIENT_FUNDS')
      const nobody = { betId: stage.bet().betId, playerId: `${stage.id()}-nobody` }
      stage.refusedAs(await stage.rollback(nobody), 'INVALID_PLAYER')
      const currency = stage.foreignCurrency()
      const foreign = await stage.place(stage.bet(), {
        fields: { currency },
        label: `placebet in ${currency}`,
      })
      stage.refusedAs(foreign, 'INVALID_CURRENCY')
    },
  },
  {
    id: 'AU-611',
    level: 'SHOULD',
    title: 'A refusal for good is a definite 4xx, and never a fault (5xx)',
    source: 'D9',
    impact: 'A 5xx says "perhaps": the platform rolls back, retries and calls.',
    async play(stage) {
      const over = stage.bet(add(stage.opening, stage.units(1)))
      const bet = stage.bet()
      stage.accepted(await stage.place(bet))
      const answers = [
        await stage.place(over),
        await stage.place({ ...bet, transactionId: stage.id() }, { label: 'the same bet under another id' }),
        await stage.place(bet, {
          fields: { amount: raw('1.99') },
          label: 'the same id with another amount',
        }),
        await stage.rollback({ betId: bet.betId, playerId: `${stage.id()}-nobody` }),
      ]
      for (const answer of answers) stage.definite(answer)
    },
  },
  {
    id: 'AU-612',
    level: 'SHOULD',
    title: 'Errors come as application/json',
    source: 'spec 4',
    impact: 'A client that looks at the Content-Type does not read the error.',
    async play(stage) {
      const answers = [
        await stage.place(stage.bet(add(stage.opening, stage.units(1)))),
        await stage.call({ label: 'placebet with a malformed body', path: '/placebet', body: '{' }),
      ]
      for (const answer of answers) {
        stage.refused(answer)
        const type = answer.headers['content-type'] ?? 'none'
        if (!/^application\/json\b/i.test(type)) stage.fail('Content-Type application/json', type, answer)
      }
    },
  },
  {
    id: 'AU-613',
    level: 'SHOULD',
    title: 'A description tells nothing from inside: no SQL, no stack, no path, no parser’s words',
    source: 'decisions: errors over HTTP',
    impact: 'Errors that quote the database teach an attacker what to send next.',
    async play(stage) {
      const answers = [
        ...(await malformed(stage)),
        await stage.rollback({ betId: "' OR 1=1 --", playerId: "x'; --" }),
      ]
      const bet = stage.bet()
      for (const value of [{ x: 1 }, ['x'], 'x'.repeat(300), '\u0000'] as const)
        for (const name of ['transactionId', 'playerId', 'transactionDate'])
          answers.push(
            await stage.place(bet, { fields: { [name]: value }, label: `placebet with a strange ${name}` }),
          )
      for (const answer of answers) {
        const inside = insides.exec(answer.text)
        if (inside !== null) stage.fail('nothing from inside the wallet', JSON.stringify(inside[0]), answer)
      }
    },
  },
  {
    id: 'AU-614',
    level: 'MAY',
    title: 'What is no call of the interface (another path, another method) is an error record too',
    source: 'spec 7.2, decisions: errors over HTTP',
    impact: 'A page of the framework’s in the platform’s log, and nobody knows whose it is.',
    async play(stage) {
      const body = '{}'
      const nowhere = await stage.call({ label: 'a path that is not there', path: '/placebets', body })
      stage.refusedAs(nowhere, 'NOT_FOUND')
      exactError(stage, nowhere)
      for (const method of ['GET', 'PUT', 'DELETE']) {
        const answer = await stage.call({ label: `${method} /placebet`, method, path: '/placebet' })
        stage.refusedAs(answer, 'METHOD_NOT_ALLOWED')
        exactError(stage, answer)
      }
    },
  },
]
