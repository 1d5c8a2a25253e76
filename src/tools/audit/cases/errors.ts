/** AU-6xx: invalid calls are refused with the error record of spec 7. */

import { add, subtract, textOf } from '../../platform/decimal.js'
import { type Json, raw, write } from '../../platform/json.js'
import { quoteOf } from '../answer.js'
import type { AuditCase } from '../audit-case.js'
import { type Answer, describeAnswer, type Stage } from '../stage.js'
import { callForOtherPlayer, callsForUnknownPlayer } from './basics.js'
import { uncollectedBet } from './clawbacks.js'

/** Expects exactly errorCode and description, both non-empty strings (spec 7.2). */
function exactError(stage: Stage, answer: Answer): void {
  stage.expectError(answer)
  const { fields } = answer
  if (fields === null)
    stage.fail('a JSON object with errorCode and description', describeAnswer(answer), answer)
  const names = [...fields.keys()].sort().join(', ')
  if (names !== 'description, errorCode')
    stage.fail('exactly errorCode and description', names === '' ? 'no fields' : names, answer)
  for (const name of ['errorCode', 'description']) {
    const value = fields.get(name)
    if (typeof value !== 'string' || value.trim() === '')
      stage.fail(`${name} as a non-empty string`, quoteOf(answer), answer)
  }
}

/** Text that a description must not contain. */
const insides =
  /\bat (?:async )?[\w.<>[\] ]{1,200} \(?(?:file:|node:|\/|[A-Z]:\\)|node_modules|\b(?:SELECT|INSERT INTO|UPDATE \w+ SET|DELETE FROM)\b|\b(?:TypeError|SyntaxError|ReferenceError|NullPointerException|Traceback|PSQLException|SQLSTATE|SqlException|ORA-\d+)\b|\/(?:usr|home|var|app|opt|srv)\/|Unexpected token|in JSON at position/

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

/**
 * Without these fields, a wallet has to guess the player, the bet or the amount. A rollback has one type only, so
 * nothing is guessed without it.
 */
const essential = {
  '/placebet': ['transactionId', 'betId', 'playerId', 'amount', 'currency'],
  '/unsettlement': ['transactionId', 'betId', 'playerId', 'type'],
  '/rollbackbet': ['transactionId', 'betId', 'playerId'],
} as const satisfies Record<keyof typeof required, readonly string[]>

async function fieldsOf(stage: Stage, path: string): Promise<Record<string, Json>> {
  const bet = stage.bet()
  stage.track(bet)
  if (path === '/placebet') return stage.placement(bet)
  await stage.placePrepared(bet)
  return stage.reversal(bet, path === '/rollbackbet' ? 'TECHNICAL_ERROR' : 'UNSCORED', stage.id())
}

/** Sends each operation once per field, with `value` in that field, or without it. */
async function eachField(
  stage: Stage,
  fieldsByPath: Record<string, readonly string[]>,
  value: Json | undefined,
  what: string,
  judge: (answer: Answer, name: string) => void,
): Promise<void> {
  for (const [path, names] of Object.entries(fieldsByPath)) {
    const fields = await fieldsOf(stage, path)
    for (const name of names) {
      const label = `${path.slice(1)} ${what} ${name}`
      const betId = String(fields.betId)
      if (path === '/placebet') stage.track({ betId, playerId: stage.settings.playerId })
      const answer = await stage.send(path, fields, { fields: { [name]: value }, label })
      if (path === '/placebet' && name === 'betId' && value !== undefined) await undo(stage, value, answer)
      judge(answer, name)
    }
  }
}

/** Rolls back an accepted bet whose id is no text: the clean-up does not know what the wallet has made of it. */
async function undo(stage: Stage, betId: Json, answer: Answer): Promise<void> {
  if (answer.success === null) return
  const label = `rollbackbet with ${write(betId)} as betId`
  await stage.rollback(stage.bet(), undefined, { fields: { betId }, label })
}

export const errors: readonly AuditCase[] = [
  {
    id: 'AU-601',
    level: 'MUST',
    title: 'A refusal for insufficient funds or an unknown player has exactly errorCode and description',
    source: 'spec 2, 7.2',
    quote: 'Its body has errorCode and description, and nothing else.',
    impact: 'The platform cannot read why a bet was refused, and treats it as a fault.',
    async play(stage) {
      const bet = stage.bet(add(stage.opening, stage.units(1)))
      exactError(stage, await stage.place(bet))
      exactError(stage, await stage.place(bet, { label: 'retry of the refused placebet' }))
      exactError(stage, await stage.rollback({ betId: bet.betId, playerId: `${stage.id()}-unknown` }))
    },
  },
  {
    id: 'AU-602',
    level: 'MUST',
    title: 'A body that is malformed or not an object is refused, with exactly errorCode and description',
    source: 'spec 4, 7',
    quote: 'Its body has errorCode and description, and nothing else.',
    impact:
      'The platform receives an error page of the framework, or no answer after a crash, instead of an error record.',
    async play(stage) {
      for (const answer of await malformed(stage)) exactError(stage, answer)
      await stage.expectBalance(stage.opening, 'after malformed bodies')
    },
  },
  {
    id: 'AU-603',
    level: 'SHOULD',
    title: 'A body that is malformed or not an object is refused with a 4xx',
    source: 'docs/errors.md',
    impact: 'A 500 for an error of the caller is retried and raises an alarm.',
    async play(stage) {
      for (const answer of await malformed(stage)) stage.expectFinalRefusal(answer)
    },
  },
  {
    id: 'AU-604',
    level: 'MUST',
    title:
      'A call without transactionId, betId, playerId, amount or currency, or an unsettlement without type, is refused and changes no balance',
    source: 'spec 4.1 to 4.3',
    quote: 'amount | decimal | yes',
    impact: 'A stake without an id can neither be retried safely nor rolled back.',
    async play(stage) {
      for (const absent of [undefined, null]) {
        await eachField(
          stage,
          essential,
          absent,
          absent === null ? 'with null as' : 'without',
          (answer, name) => {
            if (answer.status !== null && answer.status < 400)
              stage.fail(`a refusal (4xx or 5xx) without ${name}`, describeAnswer(answer), answer)
          },
        )
        await stage.cleanUp()
        await stage.expectBalance(stage.opening, 'after incomplete calls and rollbacks of accepted bets')
      }
    },
  },
  {
    id: 'AU-605',
    level: 'SHOULD',
    title: 'A call without any one of the required fields is refused with a 4xx',
    source: 'spec 4.1 to 4.3',
    impact: 'A field that the platform forgets is noticed only when it is needed.',
    async play(stage) {
      await eachField(stage, required, undefined, 'without', answer => {
        stage.expectFinalRefusal(answer)
        exactError(stage, answer)
      })
    },
  },
  {
    id: 'AU-606',
    level: 'SHOULD',
    title: 'A field of another JSON type (number, object, list) is refused with a 4xx',
    source: 'spec 2',
    impact: 'Whether player 7 and player "7" are the same depends on the database.',
    async play(stage) {
      const fields = { ...required, '/placebet': required['/placebet'].filter(name => name !== 'amount') }
      for (const value of [raw('7'), true, ['x'], { x: 'x' }] as const)
        await eachField(stage, fields, value, `with ${write(value)} as`, answer =>
          stage.expectFinalRefusal(answer),
        )
    },
  },
  {
    id: 'AU-607',
    level: 'SHOULD',
    title: 'Unlisted values of betType and type, and invalid dates, are refused with a 4xx',
    source: 'spec 4.1 to 4.3, D25, D26',
    impact: 'An unsettlement of an unknown type is treated as one of the known types.',
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
        stage.expectFinalRefusal(await stage.send(path, await fieldsOf(stage, path), { fields, label }))
      }
    },
  },
  {
    id: 'AU-608',
    level: 'MUST',
    title: 'An unsettlement of an unlisted type debits nothing',
    source: 'spec 4.2',
    quote: 'unsettlement: UNVOIDED or UNSCORED',
    impact: 'As in AU-607: money is debited for an unknown reason.',
    needs: ['settle'],
    async play(stage) {
      const bet = stage.bet()
      const staked = await stage.placeSuccessfully(bet, stage.opening)
      await stage.settle(bet, 'BET_PAID', stage.units(150))
      const balance = add(staked, stage.units(150))
      await stage.expectBalance(balance, 'after the settlement')
      for (const type of ['UNKNOWN', '', '__proto__', 'toString']) {
        const label = `unsettlement of type ${JSON.stringify(type)}`
        const answer = await stage.send('/unsettlement', stage.reversal(bet, type, stage.id()), { label })
        await stage.expectBalance(balance, `after an ${label}`)
        stage.expectError(answer)
      }
    },
  },
  {
    id: 'AU-609',
    level: 'SHOULD',
    title:
      'ISO 8601 dates are accepted with Z, with an offset, without a zone, with a space instead of the T, and with up to seven decimals',
    source: 'D25',
    impact:
      'A rollback that is refused for its date leaves a stake in the wallet. Compare the platform’s samples first.',
    async play(stage) {
      const fractions = ['', '.123456', '.1234567'].map(fraction => `2026-11-21T18:00:00${fraction}Z`)
      const zones = ['2026-11-21T19:00:00+01:00', '2026-11-21T18:00:00', '2026-11-21 18:00:00']
      for (const transactionDate of [...fractions, ...zones]) {
        const label = `rollbackbet of ${transactionDate}`
        const answer = await stage.rollback(stage.bet(), undefined, { fields: { transactionDate }, label })
        stage.expectSuccess(answer, stage.opening)
      }
    },
  },
  {
    id: 'AU-610',
    level: 'SHOULD',
    title: 'The refusals that the interface names have the agreed statuses and error codes',
    source: 'spec 7, docs/errors.md',
    impact: 'The platform reacts to the status: a different status causes a different reaction.',
    async play(stage) {
      const over = stage.bet(add(stage.opening, stage.units(1)))
      stage.expectAgreedRefusal(await stage.place(over), 'INSUFFICIENT_FUNDS')
      const unknown = { betId: stage.bet().betId, playerId: `${stage.id()}-unknown` }
      stage.expectAgreedRefusal(await stage.rollback(unknown), 'INVALID_PLAYER')
      const currency = stage.foreignCurrency()
      const foreign = await stage.place(stage.bet(), {
        fields: { currency },
        label: `placebet in ${currency}`,
      })
      stage.expectAgreedRefusal(foreign, 'INVALID_CURRENCY')
    },
  },
  {
    id: 'AU-625',
    level: 'MUST',
    title: 'A clawback that exceeds the funds is refused with INSUFFICIENT_FUNDS, or the code agreed for it',
    source: 'spec 4.2, 7',
    quote: 'the answer is INSUFFICIENT_FUNDS.',
    needs: ['settle', 'clawbacks'],
    impact:
      'The platform books the amount as a debt of the player for this code only: under another one it is never collected.',
    describes: ['other refusal'],
    async play(stage) {
      const { refusal } = await uncollectedBet(stage)
      stage.expectAgreedCode(refusal, 'INSUFFICIENT_FUNDS')
    },
  },
  {
    id: 'AU-626',
    level: 'MUST',
    title: 'A call for an unknown player is refused with INVALID_PLAYER, or the code agreed for it',
    source: 'spec 7',
    quote: 'rollbackbet, and any call that names a player | the player is unknown or invalid',
    impact:
      'The platform cannot tell an unknown player from a fault, and repeats rollbacks that cannot succeed.',
    describes: ['other refusal'],
    async play(stage) {
      for (const answer of await callsForUnknownPlayer(stage))
        stage.expectAgreedCode(answer, 'INVALID_PLAYER')
    },
  },
  {
    id: 'AU-611',
    level: 'SHOULD',
    title: 'A final refusal has a 4xx status and is never a fault (5xx)',
    source: 'D9',
    impact: 'A 5xx is an unknown outcome: the platform rolls back, retries and escalates.',
    async play(stage) {
      const over = stage.bet(add(stage.opening, stage.units(1)))
      const bet = stage.bet()
      await stage.placePrepared(bet)
      const answers = [
        await stage.place(over),
        await stage.place(
          { ...bet, transactionId: stage.id() },
          { label: 'placebet for the same bet under another transactionId' },
        ),
        await stage.place(bet, {
          fields: { amount: raw('1.99') },
          label: 'placebet with the same transactionId and a different amount',
        }),
        await stage.rollback({ betId: bet.betId, playerId: `${stage.id()}-unknown` }),
      ]
      for (const answer of answers) stage.expectFinalRefusal(answer)
    },
  },
  {
    id: 'AU-612',
    level: 'SHOULD',
    title: 'Errors have Content-Type application/json',
    source: 'spec 4',
    impact: 'A client that checks the Content-Type does not read the error.',
    async play(stage) {
      const answers = [
        await stage.place(stage.bet(add(stage.opening, stage.units(1)))),
        await stage.call({ label: 'placebet with a malformed body', path: '/placebet', body: '{' }),
      ]
      for (const answer of answers) {
        stage.expectError(answer)
        const type = answer.headers['content-type'] ?? 'none'
        if (!/^application\/json\b/i.test(type)) stage.fail('Content-Type application/json', type, answer)
      }
    },
  },
  {
    id: 'AU-613',
    level: 'SHOULD',
    title: 'Descriptions contain no internals: no SQL, stack trace, file path or parser message',
    source: 'docs/errors.md',
    impact: 'Errors that quote the database show an attacker what to send next.',
    async play(stage) {
      const answers = [
        ...(await malformed(stage)),
        await stage.rollback({ betId: "' OR 1=1 --", playerId: "x'; --" }),
      ]
      const bet = stage.bet()
      for (const value of [{ x: 1 }, ['x'], 'x'.repeat(300), '\u0000'] as const)
        for (const name of ['transactionId', 'playerId', 'transactionDate'])
          answers.push(
            await stage.place(bet, { fields: { [name]: value }, label: `placebet with an invalid ${name}` }),
          )
      for (const answer of answers) {
        const inside = insides.exec(answer.text)
        if (inside !== null) stage.fail('no internals of the wallet', JSON.stringify(inside[0]), answer)
      }
    },
  },
  {
    id: 'AU-621',
    level: 'SHOULD',
    title:
      'A bet that is placed or rolled back already, or unknown, is refused with INVALID_BET and its status',
    source: 'D10, D11, D19, docs/errors.md',
    impact: 'The platform cannot tell what is wrong with the bet, and reacts as to another refusal.',
    async play(stage) {
      const bet = stage.bet()
      await stage.placePrepared(bet)
      const second = await stage.place(
        { ...bet, transactionId: stage.id() },
        { label: 'placebet for the same bet under another transactionId' },
      )
      stage.expectAgreedRefusal(second, 'INVALID_BET')
      stage.expectSuccess(await stage.rollback(bet))
      for (const reversed of [stage.bet(), bet]) {
        const answer = await stage.unsettle(reversed, 'UNSCORED', undefined, { mayFail: true })
        stage.expectAgreedRefusal(answer, 'INVALID_BET')
      }
      const late = stage.bet()
      stage.expectSuccess(await stage.rollback(late))
      const answer = await stage.place(late, { label: 'placebet after its rollback' })
      stage.expectAgreedRefusal(answer, 'INVALID_BET')
    },
  },
  {
    id: 'AU-622',
    level: 'SHOULD',
    title:
      'A known transactionId with a different content is refused with TRANSACTION_CONFLICT and its status, whatever differs',
    source: 'D4, docs/errors.md',
    impact: 'The platform cannot tell an id that it has used twice from a bet that is refused.',
    async play(stage) {
      const bet = stage.bet()
      await stage.placePrepared(bet)
      const playerId = `${stage.id()}-unknown`
      const amount = raw(textOf(subtract(bet.amount, stage.units(1))))
      const changes = [{ amount }, { currency: stage.foreignCurrency() }, { playerId }]
      for (const fields of changes) {
        const label = `retry of the placebet with a different ${Object.keys(fields).join()}`
        stage.expectAgreedRefusal(await stage.place(bet, { fields, label }), 'TRANSACTION_CONFLICT')
      }
      const transactionId = stage.id()
      stage.expectSuccess(await stage.rollback(bet, transactionId))
      for (const fields of [{ betId: `${stage.id()}-b` }, { playerId }]) {
        const label = `retry of the rollbackbet with a different ${Object.keys(fields).join()}`
        const answer = await stage.rollback(bet, transactionId, { fields, label })
        stage.expectAgreedRefusal(answer, 'TRANSACTION_CONFLICT')
      }
    },
  },
  {
    id: 'AU-623',
    level: 'SHOULD',
    title:
      'A call for a player who does not own the bet is refused with INVALID_PLAYER (a placebet with INVALID_BET) and its status',
    source: 'D15, docs/errors.md',
    needs: ['other-player'],
    impact: 'The platform cannot tell a mix-up of players from a settled bet.',
    async play(stage) {
      const { rollback, unsettlement, placebet } = await callForOtherPlayer(stage)
      stage.expectAgreedRefusal(rollback, 'INVALID_PLAYER')
      stage.expectAgreedRefusal(unsettlement, 'INVALID_PLAYER')
      stage.expectAgreedRefusal(placebet, 'INVALID_BET')
    },
  },
  {
    id: 'AU-624',
    level: 'SHOULD',
    title: 'A call that is not what the interface describes is refused with INVALID_REQUEST and its status',
    source: 'spec 4, docs/errors.md',
    impact: 'The platform cannot tell a defect of its own from a refused bet.',
    async play(stage) {
      const body = '{'
      const label = 'placebet with a malformed body'
      stage.expectAgreedRefusal(await stage.call({ label, path: '/placebet', body }), 'INVALID_REQUEST')
      for (const fields of [{ betType: undefined }, { betId: raw('7') }, { amount: raw('-1') }]) {
        const what = `placebet with ${Object.keys(fields).join()} missing or invalid`
        const answer = await stage.place(stage.bet(), { fields, label: what })
        if (fields.betId !== undefined) await undo(stage, fields.betId, answer)
        stage.expectAgreedRefusal(answer, 'INVALID_REQUEST')
      }
    },
  },
  {
    id: 'AU-614',
    level: 'MAY',
    title: 'An unknown path or method is answered with an error record too',
    source: 'spec 7.2, docs/errors.md',
    impact: 'The platform’s log contains an HTML page of the framework instead of an error code.',
    async play(stage) {
      const body = '{}'
      const nowhere = await stage.call({ label: 'unknown path', path: '/placebets', body })
      stage.expectAgreedRefusal(nowhere, 'NOT_FOUND')
      exactError(stage, nowhere)
      for (const method of ['GET', 'PUT', 'DELETE']) {
        const answer = await stage.call({ label: `${method} /placebet`, method, path: '/placebet' })
        stage.expectAgreedRefusal(answer, 'METHOD_NOT_ALLOWED')
        exactError(stage, answer)
      }
    },
  },
]
