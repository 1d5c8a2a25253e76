/** AU-7xx: authentication. The interface leaves only the scheme open (spec 5). */
import type { AuditCase } from '../audit-case.js'
import { subtract } from '../decimal.js'
import { type Answer, describeAnswer, Skipped, type Stage } from '../stage.js'
import { changesSecrets, type WrongCredentials } from '../wrong-credentials.js'

const needs = ['authentication'] as const

/** Expects that calls with each of these credentials are refused and change no balance. */
async function expectNoEntrance(stage: Stage, all: readonly WrongCredentials[]): Promise<void> {
  if (stage.settings.sign !== null) throw new Skipped('calls are signed, and a valid signature may be enough')
  const wrong = all.filter(name => changesSecrets(name, stage.settings))
  if (wrong.length === 0) throw new Skipped('calls have no user name and password')
  const bet = stage.bet()
  const after = await stage.placeSuccessfully(bet, stage.opening)
  for (const credentials of wrong) {
    const change = (operation: string) => ({ credentials, label: `${operation} with ${credentials}` })
    const answers: Answer[] = [
      await stage.place(stage.bet(), change('placebet')),
      await stage.rollback(bet, undefined, change('rollbackbet')),
      await stage.unsettle(bet, 'UNSCORED', undefined, change('unsettlement')),
    ]
    await stage.expectBalance(after, `after calls with ${credentials}`)
    for (const answer of answers) stage.expectError(answer)
  }
}

export const authentication: readonly AuditCase[] = [
  {
    id: 'AU-701',
    level: 'MUST',
    title: 'A call without credentials is refused and changes no balance, on all three paths',
    source: 'spec 5, A01',
    needs,
    impact: 'Anyone who finds the address can change the players’ balances.',
    async play(stage) {
      const bet = stage.bet()
      const after = await stage.placeSuccessfully(bet, stage.opening)
      const change = { credentials: 'none' } as const
      const label = (operation: string) => `${operation} without credentials`
      const answers = [
        await stage.place(stage.bet(), { ...change, label: label('placebet') }),
        await stage.rollback(bet, undefined, { ...change, label: label('rollbackbet') }),
        await stage.unsettle(bet, 'UNSCORED', undefined, { ...change, label: label('unsettlement') }),
      ]
      await stage.expectBalance(after, 'after calls without credentials')
      for (const answer of answers) stage.expectError(answer)
    },
  },
  {
    id: 'AU-702',
    level: 'MUST',
    title:
      'A call with wrong credentials, or with a body that was changed after signing, is refused and changes no balance',
    source: 'spec 5, A01',
    needs,
    impact: 'Any guess is as good as the secret.',
    async play(stage) {
      const bet = stage.bet()
      const after = await stage.placeSuccessfully(bet, stage.opening)
      const change = { credentials: 'wrong credentials' } as const
      const answers = [
        await stage.place(stage.bet(), { ...change, label: 'placebet with wrong credentials' }),
        await stage.rollback(bet, undefined, { ...change, label: 'rollbackbet with wrong credentials' }),
        await stage.unsettle(bet, 'UNSCORED', undefined, {
          ...change,
          label: 'unsettlement with wrong credentials',
        }),
      ]
      await stage.expectBalance(after, 'after calls with wrong credentials')
      for (const answer of answers) stage.expectError(answer)
    },
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
      const after = await stage.placeSuccessfully(bet, stage.opening)
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
        const label = `rollbackbet with ${credentials === 'none' ? 'no' : 'wrong'} credentials`
        const answer = await stage.rollback(stage.bet(), undefined, { credentials, label })
        stage.expectAgreedRefusal(answer, 'AUTHENTICATION_FAILED')
        const names = [...(answer.fields?.keys() ?? [])].sort().join(', ')
        if (names !== 'description, errorCode') stage.fail('exactly errorCode and description', names, answer)
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
      expectNoEntrance(stage, [
        'an empty password',
        'the first character of the password',
        'the first half of the password',
        'all but the last character of the password',
        'the password in the other case',
      ]),
  },
  {
    id: 'AU-709',
    level: 'MUST',
    title: 'The password with another user name is refused and changes no balance',
    source: 'spec 5, A01',
    needs,
    impact:
      'A user who was removed can still change balances, and the password of one platform opens the account of another.',
    play: stage => expectNoEntrance(stage, ['another user name']),
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
