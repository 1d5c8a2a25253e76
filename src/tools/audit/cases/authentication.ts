/** AU-7xx: authentication. The interface leaves only the scheme open (spec 5). */

import { subtract } from '../../numbers/decimal.js'
import { type Answer, describeAnswer } from '../answer.js'
import { casesOf } from '../audit-case.js'
import type { CaseContext } from '../case-context.js'
import { Skipped } from '../case-outcomes.js'
import type { Change } from '../wallet-calls.js'
import { changesSecrets, schemesOf, type WrongCredentials } from '../wrong-credentials.js'

const needs = ['authentication'] as const

/** Credentials that a wallet must refuse, and how the report names them. */
interface Wrong extends Pick<Change, 'credentials' | 'headers'> {
  name: string
}

/**
 * Expects that calls with each of these credentials are refused and change no balance, where the same calls
 * with the given ones would: of an unsettlement, only if bets can be settled and payouts clawed back.
 */
async function expectNoEntrance(
  { prepare, wallet, expect, opening, units, settings }: CaseContext,
  all: readonly Wrong[],
): Promise<void> {
  const { settle, clawbacks } = settings
  const bet = wallet.bet()
  let balance = await prepare.placed(bet, opening)
  const paid = wallet.bet()
  if (settle !== 'unsupported' && clawbacks) {
    const before = balance
    balance = await prepare.placed(paid, before)
    await wallet.trySettle(paid, 'BET_PAID', units(150))
    balance = await expect.currentBalance()
  }
  for (const { name, ...credentials } of all) {
    const change = (operation: string) => ({ ...credentials, label: `${operation} ${name}` })
    const answers: Answer[] = [
      await wallet.place(wallet.bet(), change('placebet')),
      await wallet.rollback(bet, undefined, change('rollbackbet')),
      await wallet.unsettle(paid, 'UNSCORED', undefined, change('unsettlement')),
    ]
    await expect.balance(balance, `after calls ${name}`)
    for (const answer of answers) expect.error(answer)
  }
}

/** Those of the given credentials that this wrong one changes. */
function changed({ settings }: CaseContext, names: readonly WrongCredentials[]): Wrong[] {
  if (settings.sign !== null) throw new Skipped('calls are signed, and a valid signature may be enough')
  const wrong = names.filter(name => changesSecrets(name, settings))
  if (wrong.length === 0) throw new Skipped('calls have no user name and password')
  return wrong.map(name => ({ name: `with ${name}`, credentials: name }))
}

export const authentication = casesOf({
  'AU-701': {
    name: 'A call without credentials is refused and changes no balance, on all three paths',
    source: 'spec 5, A01',
    needs,
    impact: 'Anyone who finds the address can change the players’ balances.',
    run: context => expectNoEntrance(context, [{ name: 'without credentials', credentials: 'none' }]),
  },
  'AU-702': {
    name: 'A call with wrong credentials, or with a body that was changed after signing, is refused and changes no balance',
    source: 'spec 5, A01',
    needs,
    impact: 'Any guess is as good as the secret.',
    run: context =>
      expectNoEntrance(
        context,
        schemesOf(context.settings).map(name => ({ name: `with ${name}`, credentials: name })),
      ),
  },
  'AU-703': {
    name: 'An unauthenticated call leaves no record: the same call with credentials is decided as new',
    source: 'spec 5, A01',
    needs,
    impact: 'An attacker without a password can use up transactionIds and block bets before they arrive.',
    async run({ wallet, expect, opening }) {
      const bet = wallet.bet()
      expect.error(await wallet.place(bet, { credentials: 'none', label: 'placebet without credentials' }))
      const unknown = wallet.bet()
      const label = 'rollbackbet without credentials'
      expect.error(await wallet.rollback(unknown, undefined, { credentials: 'none', label }))
      const after = await expect.debit(bet, opening)
      expect.success(await wallet.place(unknown), subtract(after, unknown.amount))
    },
  },
  'AU-704': {
    level: 'SHOULD',
    name: 'An unauthenticated call is answered as agreed: 401 AUTHENTICATION_FAILED, exactly errorCode and description',
    source: 'spec 7.2, docs/errors.md',
    needs,
    impact: 'A wrong password looks like a refused bet, or like a fault.',
    async run({ wallet, expect }) {
      for (const credentials of ['none', 'wrong credentials'] as const) {
        const change = (operation: string) => ({
          credentials,
          label: `${operation} with ${credentials === 'none' ? 'no' : 'wrong'} credentials`,
        })
        const answers = [
          await wallet.rollback(wallet.bet(), undefined, change('rollbackbet')),
          await wallet.place(wallet.bet(), change('placebet')),
          await wallet.unsettle(wallet.bet(), 'UNSCORED', undefined, change('unsettlement')),
        ]
        for (const answer of answers) {
          expect.agreedRefusal(answer, 'AUTHENTICATION_FAILED')
          expect.exactError(answer)
        }
      }
    },
  },
  'AU-706': {
    level: 'SHOULD',
    name: 'An unauthenticated call learns nothing about its body: malformed and well-formed bodies get the same refusal',
    source: 'docs/errors.md, A01',
    needs,
    impact: 'Attackers without credentials can reach the parser and exploit its defects.',
    async run({ wallet, expect }) {
      const first = await wallet.place(wallet.bet(), {
        label: 'placebet without credentials',
        credentials: 'none',
      })
      expect.finalRefusal(first)
      const bodies = ['{', '', '[]', '{"transactionId":"t"}']
      for (const body of bodies) {
        const label = `placebet without credentials, with the body ${body || '(none)'}`
        const answer = await wallet.call({ label, path: '/placebet', body, credentials: 'none' })
        if (answer.status !== first.status || answer.errorCode !== first.errorCode)
          expect.fail(`the same answer: ${describeAnswer(first)}`, describeAnswer(answer), answer)
      }
    },
  },
  'AU-708': {
    name: 'A password that is empty, cut off, or in the other case is refused and changes no balance',
    source: 'spec 5, A01',
    needs,
    impact: 'A caller who guesses one character of the password, or none, can change the players’ balances.',
    run: context =>
      expectNoEntrance(
        context,
        changed(context, [
          'an empty password',
          'the first character of the password',
          'the first half of the password',
          'all but the last character of the password',
          'the password in the other case',
        ]),
      ),
  },
  'AU-709': {
    name: 'The password with another user name is refused and changes no balance',
    source: 'spec 5, A01',
    needs,
    impact:
      'A user who was removed can still change balances, and the password of one platform opens the account of another.',
    run: context => expectNoEntrance(context, changed(context, ['another user name'])),
  },
  'AU-710': {
    name: 'A made-up Bearer token, and a JSON Web Token without a signature, are refused and change no balance',
    source: 'spec 5, A01',
    needs,
    impact: 'A caller who invents a token can change the players’ balances.',
    async run(context) {
      const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
      const unsigned = `${part({ alg: 'none', typ: 'JWT' })}.${part({ sub: 'platform', scope: 'wallet' })}.`
      await expectNoEntrance(
        context,
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
})
