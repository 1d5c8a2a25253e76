/** No report has the credentials, whatever the wallet writes into its answers. */
import { createHmac } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  AuditError,
  type AuditOptions,
  auditWallet,
  renderHtml,
  renderJunit,
  simulateSportsbook,
} from 'bet-wallet/audit'
import { afterEach, describe, expect, it } from 'vitest'
import { reportOf } from '../../../src/tools/audit/printout.js'
import { textOf } from '../../../src/tools/report/text.js'
import { startPlainWallet } from '../wallets/independent/plain.js'
import { skippingClock } from '../wallets/library.js'

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

const password = 'pä "s3cr3t" <&/\\+=%'
const token = "tok3n'<&>/\\+=%"
const signatures: string[] = []
const authenticated = {
  credentials: { username: 'platform', password },
  headers: { 'x-api-key': token, cookie: 'sid=c00kie-value' },
  sign: ({ body }: { body: Uint8Array }) => {
    const signature = createHmac('sha256', 'k').update(body).digest('hex')
    signatures.push(signature)
    return { 'x-signature': `t=1,v1=${signature}` }
  },
}

const html = (text: string, apostrophe: string) =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", apostrophe)

/** As debug pages write what they show. */
const writings: Record<string, (text: string) => string> = {
  'as it is': text => text,
  'for a URL': encodeURIComponent,
  'for a form': text => String(new URLSearchParams({ v: text })),
  'in base64': text => Buffer.from(text).toString('base64'),
  'in JSON': text => JSON.stringify(text),
  'in JSON of ASCII': text =>
    JSON.stringify(text)
      .replaceAll('/', '\\/')
      .replace(/[^ -~]/g, one => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`),
  'in HTML': text => html(text, '&#39;'),
  'in HTML, hexadecimal': text => html(text, '&#x27;'),
  'in HTML of JSON': text => html(JSON.stringify(text), '&apos;'),
}

/** What the wallet knows of the caller: headers as sent, and what it has read from them. */
function knownOf({ headers }: IncomingMessage): string[] {
  const [, basic = ''] = /^Basic (.*)$/.exec(headers.authorization ?? '') ?? []
  const decoded = Buffer.from(basic, 'base64').toString()
  const [, signature = ''] = /v1=(.*)$/.exec(String(headers['x-signature'] ?? '')) ?? []
  return [
    ...[headers.authorization, basic, decoded, decoded.replace(/^platform:/, ''), headers['x-api-key']],
    ...[headers.cookie, headers.cookie?.replace('sid=', ''), headers['x-signature'], signature],
  ].flatMap(value => (value === undefined || value === '' ? [] : [String(value)]))
}

/** @param answer is called with what the wallet knows, all of it written in all ways */
async function echoing(answer: (shown: string) => { status: number; body: string }, passFirst = 0) {
  const wallet = await startPlainWallet({
    players: [{ playerId: 'player-1', currency: 'EUR', balance: '100.00' }],
  })
  const shown: string[] = []
  let calls = 0
  const front = createServer(async (req, res) => {
    const chunks: Buffer[] = []
    for await (const chunk of req) chunks.push(chunk as Buffer)
    calls += 1
    if (calls <= passFirst) {
      const { username, password: own } = wallet.credentials
      const passed = await fetch(`${wallet.url}${req.url}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Basic ${btoa(`${username}:${own}`)}` },
        body: Buffer.concat(chunks),
      })
      res.writeHead(passed.status, { 'content-type': 'application/json' }).end(await passed.text())
      return
    }
    const written = knownOf(req).flatMap(text => Object.values(writings).map(write => write(text)))
    shown.push(...written)
    const { status, body } = answer(written.join(' | '))
    res.writeHead(status, { 'content-type': 'application/json' }).end(body)
  })
  await new Promise<void>(resolve => front.listen(0, '127.0.0.1', resolve))
  closing.push(async () => {
    front.closeAllConnections()
    await new Promise(resolve => front.close(resolve))
    await wallet.close()
  })
  const { port } = front.address() as AddressInfo
  return { baseUrl: `http://127.0.0.1:${port}`, shown }
}

/** Only the texts in which something is secret: of the scheme, and of the user name, nothing is. */
function expectNone(outputs: readonly string[], shown: readonly string[]): void {
  expect(shown.length).toBeGreaterThan(0)
  for (const output of outputs)
    for (const text of new Set([...shown, ...signatures, 's3cr3t', 'tok3n', 'c00kie']))
      expect([text, output.slice(Math.max(0, output.indexOf(text) - 200)).slice(0, 400)]).toEqual([
        text,
        expect.not.stringContaining(text),
      ])
}

const options = (baseUrl: string): AuditOptions => ({
  ...authenticated,
  baseUrl,
  playerId: 'player-1',
  currency: 'EUR',
  attempts: 1,
  timeoutMs: 60_000,
  raceRounds: 1,
})

const answers: Record<string, (shown: string) => { status: number; body: string }> = {
  'a debug page': shown => ({ status: 500, body: `${'x'.repeat(180)}${shown}` }),
  'a refusal': shown => ({ status: 400, body: JSON.stringify({ errorCode: shown, description: shown }) }),
  'a success': shown => ({
    status: 200,
    body: `{"balance": 100.00, "currency": ${JSON.stringify(shown)}, "walletTransactionId": ${JSON.stringify(shown)}}`,
  }),
}

describe.each(Object.entries(answers))('%s with the request’s headers', (_, answer) => {
  it.each([1, 18, 20])('is in no output of the audit, after %i calls', async calls => {
    const { baseUrl, shown } = await echoing(answer, calls)
    const outputs: string[] = []
    const report = await auditWallet({
      ...options(baseUrl),
      only: ['AU-101', 'AU-102', 'AU-104', 'AU-105', 'AU-6*', 'AU-701', 'AU-703', 'AU-706'],
      onResult: result => outputs.push(JSON.stringify(result)),
    })
    expect(report.passed).toBe(false)
    const text = textOf(reportOf(report))
    outputs.push(JSON.stringify(report), text, renderHtml(report), renderJunit(report))
    expectNone(outputs, shown)
    expect(text).toContain('***')
  })

  it('is in no error of the audit', async () => {
    const { baseUrl, shown } = await echoing(answer)
    const error = await auditWallet(options(baseUrl)).catch((caught: unknown) => caught)
    expect(error).toBeInstanceOf(AuditError)
    expectNone([String(error)], shown)
  })

  it('is in no settlement that fails', async () => {
    const settlements = await echoing(answer)
    const { baseUrl } = await echoing(answer, Number.POSITIVE_INFINITY)
    const settle = { url: `${settlements.baseUrl}/settle`, headers: authenticated.headers }
    const error = await auditWallet({ ...options(baseUrl), settle, only: ['AU-501'] }).then(
      report => JSON.stringify(report),
      (caught: unknown) => String(caught),
    )
    expectNone([error], settlements.shown)
  })

  it.each([0, 2])('is in no output of the simulator, after %i calls', async calls => {
    const { baseUrl, shown } = await echoing(answer, calls)
    // A wallet that answers nothing but faults is retried for long; no report has its text.
    if (answer('').status >= 500) return
    const outputs: string[] = []
    const result = await simulateSportsbook({
      ...authenticated,
      ...{ baseUrl, players: ['player-1'], settle: 'unsupported', bets: 20, chaos: 0, seed: 1 },
      ...{ pauseMs: 10, giveUpAfterMs: 500, concurrency: 1 },
      onDifference: difference => outputs.push(JSON.stringify(difference)),
    }).then(
      report => JSON.stringify(report),
      (caught: unknown) => String(caught),
    )
    expectNone([...outputs, result], shown)
  })
})

describe('a command of the operator', () => {
  const password = 's3cr3t-of-the-wallet'
  const passing = async () => {
    const { baseUrl } = await echoing(() => ({ status: 500, body: '' }), Number.POSITIVE_INFINITY)
    return { ...options(baseUrl), credentials: { username: 'platform', password } }
  }
  /** It names the password, and prints it; of what it prints, the end is shown. */
  const printing = (after: number) => `printf '%s' 'platform:${password}${'x'.repeat(after)}' >&2; exit 1`
  // Where the end begins is within the password.
  const lengths = [0, 490]

  it.each(lengths)('that settles is in no error with the password, and %i characters', async after => {
    const wallet = await passing()
    const settle = { command: printing(after) }
    const error = String(await auditWallet({ ...wallet, settle, only: ['AU-501'] }).catch(String))
    expect(error).toMatch(/failed \(the command ended with code 1: /)
    expectNone([error], [password, 'the-wallet'])
  })

  it('that settles is in no report with the password', async () => {
    const wallet = await passing()
    const settle = { command: `true -u platform:${password}` }
    const report = await auditWallet({ ...wallet, settle, only: ['AU-501'] })
    const text = textOf(reportOf(report))
    const outputs = [JSON.stringify(report), text, renderHtml(report), renderJunit(report)]
    expect(outputs[0]).toContain('| true -u platform:***')
    expectNone(outputs, [password])
  })

  it.each(lengths)(
    'that restarts the wallet is in no report with the password, and %i characters',
    async after => {
      const report = await auditWallet({
        ...(await passing()),
        ...{ settle: { url: '/settlement' }, restart: { command: printing(after) }, only: ['AU-941'] },
      })
      expect(report.results[0]?.reason).toMatch(
        /^the wallet could not be restarted: the command ended with code 1: /,
      )
      expectNone([JSON.stringify(report)], [password, 'the-wallet'])
    },
  )

  it.each(lengths)('that settles is in no output of the simulator, and %i characters', async after => {
    const { credentials, baseUrl } = await passing()
    const outputs: string[] = []
    const result = await simulateSportsbook({
      ...{
        baseUrl,
        credentials,
        players: ['player-1'],
        settle: { command: printing(after) },
        bets: 60,
        seed: 1,
      },
      ...{ chaos: 0, pauseMs: 10, giveUpAfterMs: 500, concurrency: 1, clock: skippingClock() },
      onDifference: difference => outputs.push(JSON.stringify(difference)),
    }).then(
      report => JSON.stringify(report),
      (caught: unknown) => String(caught),
    )
    expect(result).toContain('command')
    expectNone([...outputs, result], [password, 'the-wallet'])
  })
})

it('curl lines have no header of the option settle', async () => {
  const { baseUrl } = await echoing(() => ({ status: 500, body: '' }), Number.POSITIVE_INFINITY)
  const report = await auditWallet({
    ...options(baseUrl),
    settle: { url: '/settlement', headers: { 'x-settle-key': 'k3y-of-settle' } },
    only: ['AU-501'],
  })
  const lines = report.results.flatMap(({ exchanges }) => exchanges.map(({ curl }) => curl))
  expect(lines.join('\n')).toContain('$WALLET_X_SETTLE_KEY')
  expect(JSON.stringify(report)).not.toContain('k3y-of-settle')
})
