/** AU-7xx: who may call. The specification leaves open how; that it is asked is not open. */
import type { AuditCase } from '../case.js'
import { subtract } from '../decimal.js'
import { found, Skipped } from '../stage.js'

const needs = ['authentication'] as const

export const authentication: readonly AuditCase[] = [
  {
    id: 'AU-701',
    level: 'MUST',
    title: 'A call without credentials is refused and moves nothing, on each of the three paths',
    source: 'spec 5, scenario A01',
    needs,
    impact: 'Anybody who finds the address moves the players’ money.',
    async play(stage) {
      const bet = stage.bet()
      const after = await stage.placed(bet, stage.opening)
      const change = { credentials: 'none' } as const
      const label = (operation: string) => `${operation} without credentials`
      const answers = [
        await stage.place(stage.bet(), { ...change, label: label('placebet') }),
        await stage.rollback(bet, undefined, { ...change, label: label('rollbackbet') }),
        await stage.unsettle(bet, 'UNSCORED', undefined, { ...change, label: label('unsettlement') }),
      ]
      await stage.holds(after, 'after calls without credentials')
      for (const answer of answers) stage.refused(answer)
    },
  },
  {
    id: 'AU-702',
    level: 'MUST',
    title:
      'A call with wrong credentials, or whose body was changed after it was signed, is refused and moves nothing',
    source: 'spec 5, scenario A01',
    needs,
    impact: 'A guess is as good as the secret.',
    async play(stage) {
      const bet = stage.bet()
      const after = await stage.placed(bet, stage.opening)
      const change = { credentials: 'wrong' } as const
      const answers = [
        await stage.place(stage.bet(), { ...change, label: 'placebet with wrong credentials' }),
        await stage.rollback(bet, undefined, { ...change, label: 'rollbackbet with wrong credentials' }),
        await stage.unsettle(bet, 'UNSCORED', undefined, {
          ...change,
          label: 'unsettlement with wrong credentials',
        }),
      ]
      await stage.holds(after, 'after calls with wrong credentials')
      for (const answer of answers) stage.refused(answer)
    },
  },
  {
    id: 'AU-703',
    level: 'MUST',
    title: 'A call that was not let in leaves no trace: the same call with credentials is decided as new',
    source: 'spec 5, scenario A01',
    needs,
    impact: 'Who knows no password can still use up transactionIds, and have bets refused before they come.',
    async play(stage) {
      const bet = stage.bet()
      stage.refused(await stage.place(bet, { credentials: 'none', label: 'placebet without credentials' }))
      const unknown = stage.bet()
      const label = 'rollbackbet without credentials'
      stage.refused(await stage.rollback(unknown, undefined, { credentials: 'none', label }))
      const after = await stage.placed(bet, stage.opening)
      stage.accepted(await stage.place(unknown), subtract(after, unknown.amount))
    },
  },
  {
    id: 'AU-704',
    level: 'SHOULD',
    title:
      'A call that is not let in is answered as agreed: 401 AUTHENTICATION_FAILED, exactly errorCode and description',
    source: 'spec 7.2, decisions: errors over HTTP',
    needs,
    impact: 'A wrong password looks like a refused bet, or like a fault.',
    async play(stage) {
      for (const credentials of ['none', 'wrong'] as const) {
        const label = `rollbackbet with ${credentials === 'none' ? 'no' : 'wrong'} credentials`
        const answer = await stage.rollback(stage.bet(), undefined, { credentials, label })
        stage.refusedAs(answer, 'AUTHENTICATION_FAILED')
        const names = [...(answer.fields?.keys() ?? [])].sort().join(', ')
        if (names !== 'description, errorCode') stage.fail('exactly errorCode and description', names, answer)
      }
    },
  },
  {
    id: 'AU-705',
    level: 'MAY',
    title: 'A 401 names the way of authentication in WWW-Authenticate',
    source: 'decisions: errors over HTTP, RFC 9110 11.6.1',
    needs,
    impact: 'Standard clients do not know what they are asked for.',
    async play(stage) {
      const label = 'rollbackbet without credentials'
      const answer = await stage.rollback(stage.bet(), undefined, { credentials: 'none', label })
      if (answer.status !== 401) throw new Skipped(`the answer is no 401 but ${found(answer)}`)
      if (answer.headers['www-authenticate'] === undefined)
        stage.fail('the header WWW-Authenticate', 'none', answer)
    },
  },
  {
    id: 'AU-706',
    level: 'SHOULD',
    title:
      'Who is not let in learns nothing of the body: a malformed and a well-formed one are refused alike',
    source: 'decisions: errors over HTTP, scenario A01',
    needs,
    impact: 'The parser works for strangers: its faults are theirs to use.',
    async play(stage) {
      const bodies = ['{', '', '[]', '{"transactionId":"t"}']
      for (const body of bodies) {
        const label = `placebet without credentials, with the body ${body || '(none)'}`
        const answer = await stage.call({ label, path: '/placebet', body, credentials: 'none' })
        stage.refusedAs(answer, 'AUTHENTICATION_FAILED')
      }
    },
  },
  {
    id: 'AU-707',
    level: 'SHOULD',
    title: 'Who is not let in is answered before the body is read',
    source: 'decisions: errors over HTTP, scenario A01',
    needs,
    impact: 'Strangers occupy connections and memory with bodies that never end.',
    async play(stage) {
      if (stage.settings.sign !== null) throw new Skipped('calls are signed: a signature needs the body')
      const answer = await stage.call({
        label: 'placebet without credentials, whose body never comes',
        path: '/placebet',
        body: ' '.repeat(1_000),
        bodyCommand: 'sleep 2',
        credentials: 'none',
        line: { as: 'head only' },
        timeoutMs: Math.min(2_000, stage.settings.timeoutMs),
      })
      stage.refusedAs(answer, 'AUTHENTICATION_FAILED')
    },
  },
]
