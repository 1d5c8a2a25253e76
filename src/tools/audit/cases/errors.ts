/** AU-6xx: invalid calls are refused with the error record of spec 7. */

import { add, subtract, textOf } from '../../numbers/decimal.js'
import { type Json, raw, write } from '../../wire/json.js'
import { type Answer, describeAnswer } from '../answer.js'
import { casesOf } from '../audit-case.js'
import type { CaseContext } from '../case-context.js'
import { isAgreed } from '../options.js'
import { callForOtherPlayer, callsForUnknownPlayer } from './basics.js'

/** Text that a description must not contain. */
const insides =
  /\bat (?:async )?[\w.<>[\] ]{1,200} \(?(?:file:|node:|\/|[A-Z]:\\)|node_modules|\b(?:SELECT|INSERT INTO|UPDATE \w+ SET|DELETE FROM)\b|\b(?:TypeError|SyntaxError|ReferenceError|NullPointerException|Traceback|PSQLException|SQLSTATE|SqlException|ORA-\d+)\b|\/(?:usr|home|var|app|opt|srv)\/|Unexpected token|in JSON at position/

async function malformed({ wallet }: CaseContext): Promise<Answer[]> {
  const bodies = ['', '{', 'not json', '[]', '"text"', 'null', '42', '{"transactionId":"t",}', "{'a':1}"]
  const answers: Answer[] = []
  for (const path of ['/placebet', '/rollbackbet', '/unsettlement'])
    for (const body of bodies) {
      const label = `${path.slice(1)} with the body ${body || '(none)'}`
      answers.push(await wallet.call({ label, path, body }))
    }
  return answers
}

const required = {
  '/placebet': [
    'transactionId',
    'betId',
    'playerId',
    'sessionId',
    'amount',
    'currency',
    'betType',
    'transactionDate',
  ],
  '/unsettlement': ['transactionId', 'betId', 'playerId', 'type', 'transactionDate'],
  '/rollbackbet': ['transactionId', 'betId', 'playerId', 'type', 'transactionDate'],
} as const

/**
 * Without these fields, a wallet has to guess the player, the bet or the amount. A rollback has one type
 * only, so nothing is guessed without it.
 */
const essential = {
  '/placebet': ['transactionId', 'betId', 'playerId', 'amount', 'currency'],
  '/unsettlement': ['transactionId', 'betId', 'playerId', 'type'],
  '/rollbackbet': ['transactionId', 'betId', 'playerId'],
} as const satisfies Record<keyof typeof required, readonly string[]>

async function fieldsOf({ prepare, wallet }: CaseContext, path: string): Promise<Record<string, Json>> {
  const bet = wallet.bet()
  wallet.openBets.track(bet)
  if (path === '/placebet') return wallet.placement(bet)
  await prepare.placedAnyhow(bet)
  return wallet.reversal(bet, path === '/rollbackbet' ? 'TECHNICAL_ERROR' : 'UNSCORED', wallet.id())
}

/** Sends each operation once per field, with `value` in that field, or without it. */
async function eachField(
  context: CaseContext,
  fieldsByPath: Record<string, readonly string[]>,
  value: Json | undefined,
  what: string,
  judge: (answer: Answer, name: string) => void,
) {
  const { wallet, settings } = context
  for (const [path, names] of Object.entries(fieldsByPath)) {
    const fields = await fieldsOf(context, path)
    for (const name of names) {
      const label = `${path.slice(1)} ${what} ${name}`
      const betId = String(fields.betId)
      if (path === '/placebet') wallet.openBets.track({ betId, playerId: settings.playerId })
      const answer = await wallet.send(path, fields, { fields: { [name]: value }, label })
      if (path === '/placebet' && name === 'betId' && value !== undefined) await undo(context, value, answer)
      judge(answer, name)
    }
  }
}

/** Rolls back an accepted bet whose id is no text: the clean-up does not know what the wallet made of it. */
async function undo({ wallet }: CaseContext, betId: Json, answer: Answer): Promise<void> {
  if (answer.success === null) return
  const label = `rollbackbet with ${write(betId)} as betId`
  await wallet.rollback(wallet.bet(), undefined, { fields: { betId }, label })
}

/** Calls that no retry makes valid: the answers. */
async function refusedFinally({ prepare, wallet, opening, units }: CaseContext): Promise<Answer[]> {
  const { bet } = await prepare.openBet()
  const label = 'placebet with the same transactionId and a different amount'
  return [
    await wallet.place(wallet.bet(add(opening, units(1)))),
    await wallet.placeAnew(bet),
    await wallet.place(bet, { fields: { amount: raw('1.99') }, label }),
    await wallet.rollback({ betId: bet.betId, playerId: `${wallet.id()}-unknown` }),
  ]
}

/** Expects of each answer the error code and the status that were agreed with the platform. */
const agreed =
  (calls: (context: CaseContext) => AsyncIterable<[Answer, code: string]>) =>
  async (context: CaseContext) => {
    for await (const [answer, code] of calls(context)) context.expect.agreedRefusal(answer, code)
  }

export const errors = casesOf({
  'AU-601': {
    name: 'A refusal for insufficient funds or an unknown player has exactly errorCode and description',
    source: 'spec 2, 7.2',
    quote: 'error-body',
    impact: 'The platform cannot read why a bet was refused, and treats it as a fault.',
    role: 'form',
    async run({ wallet, expect, opening, units }) {
      const bet = wallet.bet(add(opening, units(1)))
      expect.exactError(await wallet.place(bet))
      expect.exactError(await wallet.place(bet))
      expect.exactError(await wallet.rollback({ betId: bet.betId, playerId: `${wallet.id()}-unknown` }))
    },
  },
  'AU-602': {
    name: 'A body that is malformed or not an object is refused, with exactly errorCode and description',
    source: 'spec 4, 7',
    quote: 'error-body',
    impact:
      'The platform receives an error page of the framework, or no answer after a crash, instead of an error record.',
    async run(context) {
      for (const answer of await malformed(context)) context.expect.exactError(answer)
      await context.expect.balance(context.opening, 'after malformed bodies')
    },
  },
  'AU-603': {
    level: 'SHOULD',
    name: 'A body that is malformed or not an object is refused with a 4xx',
    source: 'docs/errors.md',
    impact: 'A 500 for an error of the caller is retried and raises an alarm.',
    async run(context) {
      for (const answer of await malformed(context)) context.expect.finalRefusal(answer)
    },
  },
  'AU-604': {
    name: 'A call without transactionId, betId, playerId, amount or currency, or an unsettlement without type, is refused and changes no balance',
    source: 'spec 4.1 to 4.3',
    quote: 'amount-required',
    impact: 'A stake without an id can neither be retried safely nor rolled back.',
    async run(context) {
      const { wallet, expect, opening } = context
      for (const absent of [undefined, null]) {
        const what = absent === null ? 'with null as' : 'without'
        await eachField(context, essential, absent, what, (answer, name) => {
          if (answer.status !== null && answer.status < 400)
            expect.fail(`a refusal (4xx or 5xx) without ${name}`, describeAnswer(answer), answer)
        })
        await wallet.cleanUp()
        await expect.balance(opening, 'after incomplete calls and rollbacks of accepted bets')
      }
    },
  },
  'AU-608': {
    name: 'An unsettlement of an unlisted type debits nothing',
    source: 'spec 4.2',
    quote: 'unsettlement-types',
    impact: 'As in AU-607: money is debited for an unknown reason.',
    needs: ['settle'],
    async run({ prepare, wallet, expect, units }) {
      const { bet, balance } = await prepare.settledBet('BET_PAID', units(150))
      for (const type of ['UNKNOWN', '', '__proto__', 'toString']) {
        const label = `unsettlement of type ${JSON.stringify(type)}`
        const call = wallet.send('/unsettlement', wallet.reversal(bet, type, wallet.id()), {
          label,
          mayFail: true,
        })
        await expect.notExecuted(call, balance)
      }
    },
  },
  'AU-607': {
    level: 'SHOULD',
    name: 'Unlisted values of betType and type, and invalid dates, are refused with a 4xx',
    source: 'spec 4.1 to 4.3, D25, D26',
    impact: 'An unsettlement of an unknown type is treated as one of the known types.',
    async run(context) {
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
        const change = { fields, label: `${path.slice(1)} with ${JSON.stringify(fields)}` }
        context.expect.finalRefusal(await context.wallet.send(path, await fieldsOf(context, path), change))
      }
    },
  },
  'AU-606': {
    level: 'SHOULD',
    name: 'A field of another JSON type (number, object, list) is refused with a 4xx',
    source: 'spec 2',
    impact: 'Whether player 7 and player "7" are the same depends on the database.',
    async run(context) {
      const fields = { ...required, '/placebet': required['/placebet'].filter(name => name !== 'amount') }
      for (const value of [raw('7'), true, ['x'], { x: 'x' }] as const)
        await eachField(context, fields, value, `with ${write(value)} as`, answer =>
          context.expect.finalRefusal(answer),
        )
    },
  },
  'AU-605': {
    level: 'SHOULD',
    name: 'A call without any one of the required fields is refused with a 4xx',
    source: 'spec 4.1 to 4.3',
    impact: 'A field that the platform forgets is noticed only when it is needed.',
    async run(context) {
      await eachField(context, required, undefined, 'without', answer => {
        context.expect.finalRefusal(answer)
        context.expect.exactError(answer)
      })
    },
  },
  'AU-609': {
    level: 'SHOULD',
    name: 'ISO 8601 dates are accepted with Z, with an offset, without a zone, with a space instead of the T, and with up to seven decimals',
    source: 'D25',
    impact:
      'A rollback that is refused for its date leaves a stake in the wallet. Compare the platform’s samples first.',
    async run({ wallet, expect, opening }) {
      const fractions = ['', '.123456', '.1234567'].map(fraction => `2026-11-21T18:00:00${fraction}Z`)
      const zones = ['2026-11-21T19:00:00+01:00', '2026-11-21T18:00:00', '2026-11-21 18:00:00']
      for (const transactionDate of [...fractions, ...zones]) {
        const label = `rollbackbet of ${transactionDate}`
        const answer = await wallet.rollback(wallet.bet(), undefined, { fields: { transactionDate }, label })
        expect.success(answer, opening)
      }
    },
  },
  'AU-610': {
    level: 'SHOULD',
    name: 'The refusals that the interface names have the agreed statuses and error codes',
    source: 'spec 7, docs/errors.md',
    impact: 'The platform reacts to the status: a different status causes a different reaction.',
    run: agreed(async function* ({ wallet, opening, units, foreignFields }) {
      yield [await wallet.place(wallet.bet(add(opening, units(1)))), 'INSUFFICIENT_FUNDS']
      const unknown = { betId: wallet.bet().betId, playerId: `${wallet.id()}-unknown` }
      yield [await wallet.rollback(unknown), 'INVALID_PLAYER']
      const fields = foreignFields()
      const change = { fields, label: `placebet in ${fields.currency}` }
      yield [await wallet.place(wallet.bet(), change), 'INVALID_CURRENCY']
    }),
  },
  'AU-625': {
    name: 'A clawback that exceeds the funds is refused with INSUFFICIENT_FUNDS, or the code agreed for it',
    source: 'spec 4.2, 7',
    quote: 'insufficient-funds-code',
    needs: ['settle', 'clawbacks'],
    impact:
      'The platform books the amount as a debt of the player for this code only: under another one it is never collected.',
    async run({ prepare, expect }) {
      const { refusal } = await prepare.uncollectedBet()
      expect.agreedCode(refusal, 'INSUFFICIENT_FUNDS')
    },
  },
  'AU-626': {
    name: 'A call for an unknown player is refused with INVALID_PLAYER, or the code agreed for it',
    source: 'spec 7',
    quote: 'unknown-player-in-any-call',
    impact:
      'The platform cannot tell an unknown player from a fault, and repeats rollbacks that cannot succeed.',
    async run(context) {
      for (const answer of await callsForUnknownPlayer(context))
        context.expect.agreedCode(answer, 'INVALID_PLAYER')
    },
  },
  'AU-611': {
    level: 'SHOULD',
    name: 'A final refusal has a 4xx status and is never a fault (5xx)',
    source: 'D9',
    impact: 'A 5xx is an unknown outcome: the platform rolls back, retries and escalates.',
    async run(context) {
      for (const answer of await refusedFinally(context)) context.expect.finalRefusal(answer)
    },
  },
  'AU-627': {
    name: 'A refusal is no fault: not every refusal has a 5xx, unless that was agreed',
    source: 'spec 4.2, 7, D9',
    quote: 'platform-retries',
    impact:
      'A fault is an unknown outcome: the platform rolls back each refused bet, and repeats each refused rollback and unsettlement without end.',
    async run(context) {
      const answers = await refusedFinally(context)
      const [first] = answers
      const isFault = ({ status, errorCode }: Answer) =>
        status !== null && status >= 500 && !isAgreed(context.settings, status, errorCode ?? '')
      if (first !== undefined && answers.every(isFault))
        context.expect.fail(
          `a 4xx for one of ${answers.length} refused calls`,
          describeAnswer(first),
          first,
          {
            kind: 'fault',
          },
        )
    },
  },
  'AU-612': {
    level: 'SHOULD',
    name: 'Errors have Content-Type application/json',
    source: 'spec 4',
    impact: 'A client that checks the Content-Type does not read the error.',
    async run({ wallet, expect, opening, units }) {
      const answers = [
        await wallet.place(wallet.bet(add(opening, units(1)))),
        await wallet.call({ label: 'placebet with a malformed body', path: '/placebet', body: '{' }),
      ]
      for (const answer of answers) {
        expect.error(answer)
        expect.typeOfJson(answer)
      }
    },
  },
  'AU-613': {
    level: 'SHOULD',
    name: 'Descriptions contain no internals: no SQL, stack trace, file path or parser message',
    source: 'docs/errors.md',
    impact: 'Errors that quote the database show an attacker what to send next.',
    async run(context) {
      const { wallet, expect } = context
      const answers = await malformed(context)
      answers.push(await wallet.rollback({ betId: "' OR 1=1 --", playerId: "x'; --" }))
      const bet = wallet.bet()
      for (const value of [{ x: 1 }, ['x'], 'x'.repeat(300), '\u0000'] as const)
        for (const name of ['transactionId', 'playerId', 'transactionDate']) {
          const change = { fields: { [name]: value }, label: `placebet with an invalid ${name}` }
          answers.push(await wallet.place(bet, change))
        }
      for (const answer of answers) {
        const inside = insides.exec(answer.text)
        if (inside !== null) expect.fail('no internals of the wallet', JSON.stringify(inside[0]), answer)
      }
    },
  },
  'AU-621': {
    level: 'SHOULD',
    name: 'A bet that is placed or rolled back already, or unknown, is refused with INVALID_BET and its status',
    source: 'D10, D11, D19, docs/errors.md',
    impact: 'The platform cannot tell what is wrong with the bet, and reacts as to another refusal.',
    run: agreed(async function* ({ prepare, wallet, expect }) {
      const { bet } = await prepare.openBet()
      yield [await wallet.placeAnew(bet), 'INVALID_BET']
      await expect.undone(bet)
      for (const reversed of [wallet.bet(), bet])
        yield [await wallet.tryUnsettle(reversed, 'UNSCORED'), 'INVALID_BET']
      const late = wallet.bet()
      await expect.undone(late)
      yield [await wallet.place(late, 'placebet after its rollback'), 'INVALID_BET']
    }),
  },
  'AU-622': {
    level: 'SHOULD',
    name: 'A known transactionId with a different content is refused with TRANSACTION_CONFLICT and its status, whatever differs',
    source: 'D4, docs/errors.md',
    impact: 'The platform cannot tell an id that it has used twice from a bet that is refused.',
    run: agreed(async function* ({ prepare, wallet, expect, units, foreignFields }) {
      const { bet } = await prepare.openBet()
      const playerId = `${wallet.id()}-unknown`
      const amount = raw(textOf(subtract(bet.amount, units(1))))
      const changes = [{ amount }, foreignFields(), { playerId }]
      for (const fields of changes) {
        const label = `retry of the placebet with a different ${Object.keys(fields).join()}`
        yield [await wallet.place(bet, { fields, label }), 'TRANSACTION_CONFLICT']
      }
      const transactionId = wallet.id()
      expect.success(await wallet.rollback(bet, transactionId))
      for (const fields of [{ betId: `${wallet.id()}-b` }, { playerId }]) {
        const label = `retry of the rollbackbet with a different ${Object.keys(fields).join()}`
        yield [await wallet.rollback(bet, transactionId, { fields, label }), 'TRANSACTION_CONFLICT']
      }
    }),
  },
  'AU-623': {
    level: 'SHOULD',
    name: 'A call for a player who does not own the bet is refused with INVALID_PLAYER (a placebet with INVALID_BET) and its status',
    source: 'D15, docs/errors.md',
    needs: ['other-player'],
    impact: 'The platform cannot tell a mix-up of players from a settled bet.',
    run: agreed(async function* (context) {
      const { rollback, unsettlement, placebet } = await callForOtherPlayer(context)
      yield [rollback, 'INVALID_PLAYER']
      yield [unsettlement, 'INVALID_PLAYER']
      yield [placebet, 'INVALID_BET']
    }),
  },
  'AU-624': {
    level: 'SHOULD',
    name: 'A call that is not what the interface describes is refused with INVALID_REQUEST and its status',
    source: 'spec 4, docs/errors.md',
    impact: 'The platform cannot tell a defect of its own from a refused bet.',
    run: agreed(async function* (context) {
      const { wallet } = context
      const malformed = { label: 'placebet with a malformed body', path: '/placebet', body: '{' }
      yield [await wallet.call(malformed), 'INVALID_REQUEST']
      for (const fields of [{ betType: undefined }, { betId: raw('7') }, { amount: raw('-1') }]) {
        const what = `placebet with ${Object.keys(fields).join()} missing or invalid`
        const answer = await wallet.place(wallet.bet(), { fields, label: what })
        if (fields.betId !== undefined) await undo(context, fields.betId, answer)
        yield [answer, 'INVALID_REQUEST']
      }
    }),
  },
})
