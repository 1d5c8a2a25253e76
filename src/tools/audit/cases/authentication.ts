/** AU-7xx: authentication. The interface leaves only the scheme open (spec 5). */

import { subtract } from '../../numbers/decimal.js'
import type { Answer } from '../answer.js'
import { casesOf } from '../audit-case.js'
import type { CaseContext } from '../case-context.js'
import { Skipped } from '../case-outcomes.js'
import type { Bet, Change } from '../wallet-calls.js'
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
async function expectNoEntrance(context: CaseContext, all: readonly Wrong[]) {
  const { prepare, wallet, expect, opening, units, settings } = context
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
  for (const wrong of all) {
    const answers = await callsWith(context, wrong, bet, paid)
    await expect.balance(balance, `after calls ${wrong.name}`)
    for (const answer of answers) expect.error(answer)
  }
}

/** Each operation once: the answers. */
async function callsWith(
  { wallet }: CaseContext,
  { name, ...credentials }: Wrong,
  placed: Bet,
  paid: Bet,
): Promise<Answer[]> {
  const change = (operation: string) => ({ ...credentials, label: `${operation} ${name}` })
  return [
    await wallet.place(wallet.bet(), change('placebet')),
    await wallet.rollback(placed, undefined, change('rollbackbet')),
    await wallet.unsettle(paid, 'UNSCORED', undefined, change('unsettlement')),
  ]
}

const wrongly = (name: WrongCredentials): Wrong => ({ name: `with ${name}`, credentials: name })

/** Those of the given credentials that this wrong one changes. */
function changed({ settings }: CaseContext, names: readonly WrongCredentials[]): Wrong[] {
  if (settings.sign !== null) throw new Skipped('calls are signed, and a valid signature may be enough')
  const wrong = names.filter(name => changesSecrets(name, settings))
  if (wrong.length === 0) throw new Skipped('calls have no user name and password')
  return wrong.map(wrongly)
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
    run: context => expectNoEntrance(context, schemesOf(context.settings).map(wrongly)),
  },
  'AU-703': {
    name: 'An unauthenticated call leaves no record: the same call with credentials is decided as new',
    source: 'spec 5, A01',
    needs,
    impact: 'An attacker without a password can use up transactionIds and block bets before they arrive.',
    async run({ wallet, expect, opening }) {
      const bet = wallet.bet()
      const unknown = wallet.bet()
      const change = (operation: string) =>
        ({ credentials: 'none', label: `${operation} without credentials` }) as const
      expect.error(await wallet.place(bet, change('placebet')))
      expect.error(await wallet.rollback(unknown, undefined, change('rollbackbet')))
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
    async run(context) {
      const { wallet, expect } = context
      for (const wrong of [
        { name: 'without credentials', credentials: 'none' },
        wrongly('wrong credentials'),
      ] as const)
        for (const answer of await callsWith(context, wrong, wallet.bet(), wallet.bet())) {
          expect.agreedRefusal(answer, 'AUTHENTICATION_FAILED')
          expect.exactError(answer)
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
      const label = 'placebet without credentials'
      const first = await wallet.place(wallet.bet(), { label, credentials: 'none' })
      expect.finalRefusal(first)
      for (const body of ['{', '', '[]', '{"transactionId":"t"}']) {
        const call = { label: `${label}, with the body ${body || '(none)'}`, path: '/placebet', body }
        expect.sameRefusal(first, await wallet.call({ ...call, credentials: 'none' }))
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
    run(context) {
      const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
      const unsigned = `${part({ alg: 'none', typ: 'JWT' })}.${part({ sub: 'platform', scope: 'wallet' })}.`
      const wrong = (name: string, token: string): Wrong => ({
        name: `with ${name}`,
        credentials: 'none',
        headers: { authorization: `Bearer ${token}` },
      })
      return expectNoEntrance(context, [
        wrong('a made-up Bearer token', 'made-up'),
        wrong('an unsigned token', unsigned),
      ])
    },
  },
})
