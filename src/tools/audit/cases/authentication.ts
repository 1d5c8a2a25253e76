/** AU-7xx: authentication. The interface leaves only the scheme open (spec 5). */

import { subtract } from '../../platform/decimal.js'
import type { AuditCase } from '../audit-case.js'
import { type Answer, type Change, describeAnswer, Skipped, type Stage } from '../stage.js'
import { changesSecrets, schemesOf, type WrongCredentials } from '../wrong-credentials.js'

const needs = ['authentication'] as const

/** Credentials that a wallet must refuse, and how the report names them. */
interface Wrong extends Pick<Change, 'credentials' | 'headers'> {
  name: string
}

/**
 * Expects that calls with each of these credentials are refused and change no balance, where the same calls with the
 * given ones would: of an unsettlement, only if bets can be settled and payouts clawed back.
 */
async function expectNoEntrance(stage: Stage, all: readonly Wrong[]): Promise<void> {
  const { settle, clawbacks } = stage.settings
  const bet = stage.bet()
  let balance = await stage.placeSuccessfully(bet, stage.opening)
  const paid = stage.bet()
  if (settle !== 'unsupported' && clawbacks) {
    const before = balance
    balance = await stage.placeSuccessfully(paid, before)
    await stage.trySettle(paid, 'BET_PAID', stage.units(150))
    balance = await stage.balance()
  }
  for (const { name, ...credentials } of all) {
    const change = (operation: string) => ({ ...credentials, label: `${operation} ${name}` })
    const answers: Answer[] = [
      await stage.place(stage.bet(), change('placebet')),
      await stage.rollback(bet, undefined, change('rollbackbet')),
      await stage.unsettle(paid, 'UNSCORED', undefined, change('unsettlement')),
    ]
    await stage.expectBalance(balance, `after calls ${name}`)
    for (const answer of answers) stage.expectError(answer)
  }
}

/** Those of the given credentials that this wrong one changes. */
function changed(stage: Stage, names: readonly WrongCredentials[]): Wrong[] {
  if (stage.settings.sign !== null) throw new Skipped('calls are signed, and a valid signature may be enough')
  const wrong = names.filter(name => changesSecrets(name, stage.settings))
  if (wrong.length === 0) throw new Skipped('calls have no user name and password')
  return wrong.map(name => ({ name: `with ${name}`, credentials: name }))
}

export const authentication: readonly AuditCase[] = [
  {
    id: 'AU-701',
    level: 'MUST',
    title: 'A call without credentials is refused and changes no balance, on all three paths',
    source: 'spec 5, A01',
    needs,
    impact: 'Anyone who finds the address can change the players’ balances.',
    play: stage => expectNoEntrance(stage, [{ name: 'without credentials', credentials: 'none' }]),
  },
  {
    id: 'AU-702',
    level: 'MUST',
    title:
      'A call with wrong credentials, or with a body that was changed after signing, is refused and changes no balance',
    source: 'spec 5, A01',
    needs,
    impact: 'Any guess is as good as the secret.',
    play: stage =>
      expectNoEntrance(
        stage,
        schemesOf(stage.settings).map(name => ({ name: `with ${name}`, credentials: name })),
      ),
  },
  {
    id: 'AU-703',
    level: 'MUST',
    title: 'An unauthenticated call leaves no record: the same call with credentials is decided as new',
    source: 'spec 5, A01',
    needs,
    impact: 'An attacker without a password can use up transactionIds and block bets before they arrive.',
    async play(stage) {
      const bet = stage.bet()
      stage.expectError(
        await stage.place(bet, { credentials: 'none', label: 'placebet without credentials' }),
      )
      const unknown = stage.bet()
      const label = 'rollbackbet without credentials'
      stage.expectError(await stage.rollback(unknown, undefined, { credentials: 'none', label }))
      const after = await stage.expectDebit(bet, stage.opening)
      stage.expectSuccess(await stage.place(unknown), subtract(after, unknown.amount))
    },
  },
  {
    id: 'AU-704',
    level: 'SHOULD',
    title:
      'An unauthenticated call is answered as agreed: 401 AUTHENTICATION_FAILED, exactly errorCode and description',
    source: 'spec 7.2, docs/errors.md',
    needs,
    impact: 'A wrong password looks like a refused bet, or like a fault.',
    async play(stage) {
      for (const credentials of ['none', 'wrong credentials'] as const) {
        const change = (operation: string) => ({
          credentials,
          label: `${operation} with ${credentials === 'none' ? 'no' : 'wrong'} credentials`,
        })
        const answers = [
          await stage.rollback(stage.bet(), undefined, change('rollbackbet')),
          await stage.place(stage.bet(), change('placebet')),
          await stage.unsettle(stage.bet(), 'UNSCORED', undefined, change('unsettlement')),
        ]
        for (const answer of answers) {
          stage.expectAgreedRefusal(answer, 'AUTHENTICATION_FAILED')
          const names = [...(answer.fields?.keys() ?? [])].sort().join(', ')
          if (names !== 'description, errorCode')
            stage.fail('exactly errorCode and description', names, answer)
        }
      }
    },
  },
  {
    id: 'AU-705',
    level: 'MAY',
    title: 'A 401 names the authentication scheme in WWW-Authenticate',
    source: 'docs/errors.md, RFC 9110 11.6.1',
    needs,
    impact: 'Standard clients cannot tell how to authenticate.',
    async play(stage) {
      const label = 'rollbackbet without credentials'
      const answer = await stage.rollback(stage.bet(), undefined, { credentials: 'none', label })
      if (answer.status !== 401) throw new Skipped(`the answer is not a 401 but ${describeAnswer(answer)}`)
      if (answer.headers['www-authenticate'] === undefined)
        stage.fail('the header WWW-Authenticate', 'none', answer)
    },
  },
  {
    id: 'AU-706',
    level: 'SHOULD',
    title:
      'An unauthenticated call learns nothing about its body: malformed and well-formed bodies get the same refusal',
    source: 'docs/errors.md, A01',
    needs,
    impact: 'Attackers without credentials can reach the parser and exploit its defects.',
    async play(stage) {
      const first = await stage.place(stage.bet(), {
        label: 'placebet without credentials',
        credentials: 'none',
      })
      stage.expectFinalRefusal(first)
      const bodies = ['{', '', '[]', '{"transactionId":"t"}']
      for (const body of bodies) {
        const label = `placebet without credentials, with the body ${body || '(none)'}`
        const answer = await stage.call({ label, path: '/placebet', body, credentials: 'none' })
        if (answer.status !== first.status || answer.errorCode !== first.errorCode)
          stage.fail(`the same answer: ${describeAnswer(first)}`, describeAnswer(answer), answer)
      }
    },
  },
  {
    id: 'AU-708',
    level: 'MUST',
    title: 'A password that is empty, cut off, or in the other case is refused and changes no balance',
    source: 'spec 5, A01',
    needs,
    impact: 'A caller who guesses one character of the password, or none, can change the players’ balances.',
    play: stage =>
      expectNoEntrance(
        stage,
        changed(stage, [
          'an empty password',
          'the first character of the password',
          'the first half of the password',
          'all but the last character of the password',
          'the password in the other case',
        ]),
      ),
  },
  {
    id: 'AU-709',
    level: 'MUST',
    title: 'The password with another user name is refused and changes no balance',
    source: 'spec 5, A01',
    needs,
    impact:
      'A user who was removed can still change balances, and the password of one platform opens the account of another.',
    play: stage => expectNoEntrance(stage, changed(stage, ['another user name'])),
  },
  {
    id: 'AU-710',
    level: 'MUST',
    title:
      'A made-up Bearer token, and a JSON Web Token without a signature, are refused and change no balance',
    source: 'spec 5, A01',
    needs,
    impact: 'A caller who invents a token can change the players’ balances.',
    describes: ['too much', 'too little', 'accepted'],
    async play(stage) {
      const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
      const unsigned = `${part({ alg: 'none', typ: 'JWT' })}.${part({ sub: 'platform', scope: 'wallet' })}.`
      await expectNoEntrance(
        stage,
        Object.entries({ 'a made-up Bearer token': 'made-up', 'an unsigned token': unsigned }).map(
          ([name, token]) => ({
            name: `with ${name}`,
            credentials: 'none',
            headers: { authorization: `Bearer ${token}` },
          }),
        ),
      )
    },
  },
  {
    id: 'AU-707',
    level: 'MAY',
    title: 'An unauthenticated call is answered before its body is read',
    source: 'docs/errors.md, A01',
    needs,
    impact: 'Attackers without credentials occupy connections and memory with bodies that never end.',
    async play(stage) {
      if (stage.settings.sign !== null) throw new Skipped('calls are signed, and a signature needs the body')
      const answer = await stage.call({
        label: 'placebet without credentials and without its body',
        path: '/placebet',
        body: ' '.repeat(1_000),
        bodyCommand: 'sleep 2',
        credentials: 'none',
        delivery: { as: 'headers' },
        timeoutMs: Math.min(2_000, stage.settings.timeoutMs),
      })
      stage.expectFinalRefusal(answer)
    },
  },
]
