/** Correct wallets pass the audit without a single warning, and an audit that is not possible says why. */

import { createHmac } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  AuditError,
  type AuditOptions,
  type AuditReport,
  auditCases,
  auditWallet,
  renderHtml,
} from 'bet-wallet/audit'
import { afterEach, describe, expect, it } from 'vitest'
import { basePath, credentials } from '../../examples/exchanges.js'
import { start } from '../../examples/running.js'
import { setups } from '../../examples/servers.js'
import { isOfAccounts } from '../wallets/accounts.js'
import { startPlainWallet } from '../wallets/independent/plain.js'
import { cert } from './certificate.js'
import { startTlsFront } from './tls-front.js'

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

async function plain(options: Parameters<typeof startPlainWallet>[0] = {}) {
  const wallet = await startPlainWallet(options)
  closing.push(() => wallet.close())
  return wallet
}

/** Without those that need several accounts. */
const idsOfAll = auditCases.map(({ id }) => id).filter(id => !isOfAccounts(id))
/** AU-241 is most of the calls. */
const withoutOldTransactions = idsOfAll.filter(id => id !== 'AU-241')

/** Starts a server and returns its address. */
async function server(answer: (req: IncomingMessage, res: ServerResponse) => void): Promise<string> {
  const listening = createServer(answer)
  await new Promise<void>(resolve => listening.listen(0, '127.0.0.1', resolve))
  closing.push(async () => {
    listening.closeAllConnections()
    await new Promise(resolve => listening.close(resolve))
  })
  return `http://127.0.0.1:${(listening.address() as AddressInfo).port}`
}

function optionsFor(wallet: Awaited<ReturnType<typeof plain>>): AuditOptions {
  return {
    baseUrl: wallet.url,
    credentials: wallet.credentials,
    playerId: 'player-1',
    otherPlayerId: 'player-2',
    currency: 'EUR',
    settle: { url: '/settlement' },
    timeoutMs: 60_000,
    pauseMs: 1,
    restart: () => {},
  }
}

/** Everything in a report that did not pass. */
function warningsOf(report: AuditReport): string[] {
  return report.results
    .filter(({ verdict }) => verdict !== 'passed')
    .map(
      ({ id, verdict, reason, failure }) =>
        `${id} ${verdict}: ${reason ?? `${failure?.expected}; ${failure?.actual}`}`,
    )
}

const verdictOf = (report: AuditReport, id: string) =>
  report.results.find(result => result.id === id)?.verdict

describe('a correct wallet passes without a single warning, nothing skipped', () => {
  it.each(['Express 5', 'Koa 3', 'node:http'])('the example in %s', async name => {
    const setup = setups.find(candidate => candidate.name === name)
    if (setup === undefined) throw new Error(`there is no setup ${name}`)
    const { port, inside, stop } = await start(setup)
    closing.push(stop)
    const report = await auditWallet({
      baseUrl: `http://127.0.0.1:${port}${basePath}`,
      credentials,
      playerId: 'anna',
      otherPlayerId: 'kenji',
      currency: 'EUR',
      settle: { url: '/settlement' },
      timeoutMs: 60_000,
      pauseMs: 1,
      restart: () => {},
    })
    expect(warningsOf(report)).toEqual([])
    expect(report).toMatchObject({ formatVersion: 1, passed: true, complete: true })
    expect(report.results.map(({ id }) => id)).toEqual(idsOfAll)
    expect(inside.errors).toEqual([])
    // All stakes were returned, and the credits that settlements left were staked.
    expect(inside.store.account('anna')?.balance).toBe('100')
    expect(inside.store.account('kenji')?.balance).toBe('5000')
    // Thousands of calls are shortened to a report that a browser opens at once.
    expect(report.requests).toBeGreaterThan(3_500)
    const bytesMax = 9_400 * idsOfAll.length
    expect(Buffer.byteLength(renderHtml(report))).toBeLessThan(bytesMax)
    expect(Buffer.byteLength(JSON.stringify(report))).toBeLessThan(bytesMax)
  })

  it.each([
    ['EUR', '100.00'],
    ['JPY', '5000'],
    ['KWD', '100.000'],
    ['BTC', '1.00000000'],
  ])('the independent wallet, written from the interface alone, in %s', async (currency, balance) => {
    const players = ['player-1', 'player-2'].map(playerId => ({ playerId, currency, balance }))
    const wallet = await plain({ players })
    // One round without old transactions is enough for the effects of another currency.
    const short = currency === 'EUR' ? { raceRounds: 6 } : { raceRounds: 1, only: withoutOldTransactions }
    const report = await auditWallet({ ...optionsFor(wallet), currency, ...short })
    expect(warningsOf(report)).toEqual([])
    expect(report.complete).toBe(true)
    expect(report.funds?.after).toBe(report.funds?.before)
  })

  it('a wallet without clawbacks, with the option clawbacks: false', async () => {
    const wallet = await plain({ clawbacks: false })
    const report = await auditWallet({ ...optionsFor(wallet), clawbacks: false, raceRounds: 1 })
    expect(report.results.filter(({ verdict }) => verdict === 'failed').map(({ id }) => id)).toEqual([])
    const reasons = new Set(report.results.map(({ reason }) => reason))
    expect([...reasons]).toEqual([null, 'clawbacks are disabled (--no-clawbacks)'])
    expect(verdictOf(report, 'AU-502')).toBe('passed')
  })

  it('the same player several times, with any seed', async () => {
    const wallet = await plain()
    for (const seed of [1, 1, 77]) {
      const options = { ...optionsFor(wallet), seed, raceRounds: 1, only: withoutOldTransactions }
      const report = await auditWallet(options)
      expect(warningsOf(report)).toEqual([])
      expect(report.funds).toEqual({ before: '100.00', after: '100.00' })
    }
  })

  it('calls that are signed by a hook', async () => {
    const secret = 'between the platform and us'
    const signatureOf = (body: Uint8Array) => createHmac('sha256', secret).update(body).digest('hex')
    const wallet = await plain()
    const { username, password } = wallet.credentials
    const basic = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
    const baseUrl = await server(async (req, res) => {
      try {
        const chunks: Buffer[] = []
        for await (const chunk of req as AsyncIterable<Buffer>) chunks.push(chunk)
        const body = Buffer.concat(chunks)
        const isAuthenticated =
          req.headers['x-signature'] === signatureOf(body) && req.headers['x-key'] === 'k-1'
        const { 'x-signature': _, 'x-key': __, host: ___, ...headers } = req.headers as Record<string, string>
        const passed = await fetch(`${wallet.url}${req.url}`, {
          method: req.method ?? 'POST',
          headers: {
            'content-type': headers['content-type'] ?? '',
            ...(isAuthenticated ? { authorization: basic } : {}),
          },
          ...(req.method === 'GET' ? {} : { body }),
        })
        res.writeHead(passed.status, { 'content-type': 'application/json' }).end(await passed.text())
      } catch {
        res.destroy() // the caller has disconnected
      }
    })
    const report = await auditWallet({
      baseUrl,
      playerId: 'player-1',
      currency: 'EUR',
      headers: { 'X-Key': 'k-1' },
      sign: ({ body }) => ({ 'x-signature': signatureOf(body) }),
      only: ['AU-101', 'AU-104', 'AU-701', 'AU-702', 'AU-703'],
    })
    expect(warningsOf(report)).toEqual([])
    expect(JSON.stringify(report)).not.toContain('k-1"')
    expect(report.results[0]?.exchanges[0]?.curl).toContain('-H "x-key: $WALLET_X_KEY"')
  })
})

describe('https', () => {
  it('needs a trusted certificate, for which the option tls can name the authority', async () => {
    const wallet = await plain()
    const front = await startTlsFront(wallet.url)
    closing.unshift(() => front.close())
    // Calls on kept-alive connections, and calls with a connection of their own.
    const options = {
      ...optionsFor(wallet),
      baseUrl: front.url,
      only: ['AU-101', 'AU-502', 'AU-902', 'AU-906'],
    }
    const report = await auditWallet({ ...options, tls: { ca: cert } })
    expect(warningsOf(report)).toEqual([])
    await expect(auditWallet(options)).rejects.toMatchObject({
      code: 'UNREACHABLE',
      message: expect.stringContaining('self-signed certificate'),
    })
  })
})

describe('the cases', () => {
  it('have different ids, and sources that name a section, a decision, a scenario or a page', () => {
    expect(new Set(auditCases.map(({ id }) => id)).size).toBe(auditCases.length)
    const section = /^(?:spec )?[1-9](?:\.[1-9])?(?: rule [1-9])?(?: to 4\.3)?$/
    const other = /^(?:D(?:[1-9]|1[0-9]|2[0-9])|A0[12]|docs\/errors\.md|RFC 9110 11\.6\.1)$/
    const unresolved = auditCases.flatMap(({ id, source }) =>
      source
        .split(', ')
        .filter(part => !section.test(part) && !other.test(part))
        .map(part => `${id}: ${part}`),
    )
    expect(unresolved).toEqual([])
  })
})

describe('settlements', () => {
  it('by a function', async () => {
    const wallet = await plain()
    const { username, password } = wallet.credentials
    const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
    const settle: AuditOptions['settle'] = async settlement => {
      const answer = await fetch(`${wallet.url}/settlement`, {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/json' },
        body: JSON.stringify(settlement),
      })
      if (!answer.ok) throw new Error(`settlement: ${answer.status}`)
    }
    const report = await auditWallet({ ...optionsFor(wallet), settle, only: ['AU-5*'] })
    expect(warningsOf(report)).toEqual([])
  })

  it('by a command that reads a line of JSON', async () => {
    const wallet = await plain()
    const { username, password } = wallet.credentials
    const folder = mkdtempSync(join(tmpdir(), 'bet-wallet-'))
    closing.push(async () => rmSync(folder, { recursive: true }))
    const script = join(folder, 'settle.mjs')
    writeFileSync(
      script,
      `let body = ''
      for await (const chunk of process.stdin) body += chunk
      const answer = await fetch('${wallet.url}/settlement', {
        method: 'POST',
        headers: { authorization: 'Basic ' + btoa('${username}:${password}'), 'content-type': 'application/json' },
        body,
      })
      process.exitCode = answer.ok ? 0 : 3`,
    )
    const command = `"${process.execPath}" "${script}"`
    const report = await auditWallet({
      ...optionsFor(wallet),
      settle: { command },
      only: ['AU-502', 'AU-503'],
    })
    expect(warningsOf(report)).toEqual([])
  })

  it('not at all: the cases are skipped, with the reason', async () => {
    const wallet = await plain()
    const report = await auditWallet({
      ...optionsFor(wallet),
      settle: 'unsupported',
      only: ['AU-101', 'AU-502'],
    })
    expect(verdictOf(report, 'AU-101')).toBe('passed')
    expect(report.results[1]).toMatchObject({
      verdict: 'skipped',
      reason: 'no way to settle was given (--settle-url, --settle-command)',
    })
    expect(report).toMatchObject({ passed: true, complete: false })
  })

  it('never with BET_PAID: no pass, since the MUSTs of its unsettlements were not judged', async () => {
    const wallet = await plain()
    const url = `${wallet.url}/settlement`
    const { username, password } = wallet.credentials
    const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
    const settle: AuditOptions['settle'] = async settlement => {
      if (settlement.type === 'BET_PAID') return { ok: false, errorCode: 'CLOSED' }
      const headers = { authorization, 'content-type': 'application/json' }
      const { ok } = await fetch(url, { method: 'POST', headers, body: JSON.stringify(settlement) })
      return { ok, errorCode: 'FAILED' }
    }
    const report = await auditWallet({ ...optionsFor(wallet), settle, only: ['AU-101', 'AU-5*'] })
    const unjudged = report.results.filter(({ verdict }) => verdict !== 'passed')
    expect(unjudged.filter(({ level }) => level === 'MUST').length).toBeGreaterThan(0)
    for (const { verdict, reason } of unjudged)
      expect([verdict, reason]).toEqual([
        'skipped',
        expect.stringMatching(/could not be settled: refused: CLOSED/),
      ])
    expect(report).toMatchObject({ passed: false, complete: false })
  })

  it.each([
    ['at an unknown address', { url: '/nowhere' }, /POST http:\S+\/nowhere failed \(404/],
    ['by a command that fails', { command: 'echo broken >&2; exit 4' }, /ended with code 4: broken/],
    [
      'by a function that throws',
      () => Promise.reject(new Error('no such queue')),
      /the settle function failed \(no such queue\)/,
    ],
    ['by a function that refuses', () => ({ ok: false, errorCode: 'CLOSED' }), /refused: CLOSED/],
  ] as const)('%s: the audit is not possible, and the message says why', async (_, settle, message) => {
    const wallet = await plain()
    const audit = auditWallet({ ...optionsFor(wallet), settle, only: ['AU-101', 'AU-502'] })
    await expect(audit).rejects.toMatchObject({
      code: 'SETTLEMENT_FAILED',
      message: expect.stringMatching(message),
    })
    // The bet was rolled back, and cases that settle nothing need no settlement.
    const report = await auditWallet({ ...optionsFor(wallet), settle, only: ['AU-101'] })
    expect(report).toMatchObject({ complete: true, funds: { before: '100.00' } })
  })

  it('at another origin: without the credentials of the wallet', async () => {
    const seen: (string | undefined)[] = []
    const url = await server((req, res) => {
      seen.push(req.headers.authorization, req.headers['x-settle'] as string)
      res.writeHead(500).end()
    })
    const wallet = await plain()
    const settle = { url: `${url}/settle`, headers: { 'x-settle': 'mine' } }
    const audit = auditWallet({ ...optionsFor(wallet), settle, only: ['AU-502'] })
    await expect(audit).rejects.toMatchObject({ code: 'SETTLEMENT_FAILED' })
    expect(seen.slice(0, 2)).toEqual([undefined, 'mine'])
    expect(new Set(seen)).toEqual(new Set([undefined, 'mine']))
  })
})

describe('the estimate', () => {
  it('is of the answers that cases wait for one after the other, before the first case', async () => {
    const wallet = await plain()
    const order: string[] = []
    let inFlight = 0
    let waits = 0
    // One wait: as long as a call is in flight, whichever others are.
    const baseUrl = await server(async (req, res) => {
      const chunks: Buffer[] = []
      for await (const chunk of req as AsyncIterable<Buffer>) chunks.push(chunk)
      if (inFlight === 0) waits += 1
      inFlight += 1
      const answer = await fetch(`${wallet.url}${req.url}`, {
        method: 'POST',
        headers: {
          authorization: req.headers.authorization ?? '',
          'content-type': req.headers['content-type'] ?? '',
        },
        body: Buffer.concat(chunks),
      })
      const text = await answer.text()
      inFlight -= 1
      res.writeHead(answer.status, { 'content-type': 'application/json' }).end(text)
    })
    let estimate = { latencyMs: 0, durationMs: 0 }
    await auditWallet({
      ...{ ...optionsFor(wallet), baseUrl, only: ['AU-1*', 'AU-22*', 'AU-50*', 'AU-51*'] },
      onStart(given) {
        estimate = given
        order.push('start')
        waits = 0
      },
      onResult: () => order.push('result'),
    })
    expect(order.indexOf('start')).toBe(0)
    expect(order.filter(entry => entry === 'start')).toHaveLength(1)
    const expected = estimate.durationMs / estimate.latencyMs
    expect(waits / expected).toBeGreaterThan(0.4)
    expect(waits / expected).toBeLessThan(2.5)
  })
})

describe('the report', () => {
  it('has for a failure the expected and the actual result, the impact, and a command to reproduce it', async () => {
    const wallet = await plain({ fault: 'no-tombstone' })
    const report = await auditWallet({ ...optionsFor(wallet), only: ['AU-301'] })
    const [result] = report.results
    expect(report).toMatchObject({ passed: false, complete: true, target: wallet.url.replace(/\/$/, '') })
    expect(result).toMatchObject({ id: 'AU-301', level: 'MUST', verdict: 'failed', reason: null })
    expect(result?.failure?.expected).toBe('balance 100.00 EUR after placebet after its rollback')
    expect(result?.failure?.actual).toMatch(/^balance 9[78]\.[0-9]{2} EUR, [12]\.[0-9]{2} EUR too little$/)
    expect(result?.failure?.impact).toContain('loses the stake')
    const [rollback, placebet, read] = result?.exchanges ?? []
    expect(rollback).toMatchObject({ path: '/rollbackbet', status: 200, balance: '100.00', error: null })
    expect(placebet).toMatchObject({
      path: '/placebet',
      status: 200,
      label: 'placebet after its rollback',
    })
    // The call that changed the balance, and not the one that read it.
    expect(result?.failure?.exchangeIndex).toBe(1)
    expect(read?.label).toBe('read the balance (rollback of an unknown bet)')
    expect(placebet?.curl).toMatch(
      /^curl -i -u "\$WALLET_USER:\$WALLET_PASSWORD" -H 'content-type: application\/json' --data-binary '\{"transactionId":.*\}' 'http:\/\/127/,
    )
    expect(JSON.stringify(report)).not.toContain(wallet.credentials.password)
  })

  it('is the same for the same seed, except for ids and times', async () => {
    const callsOf = async () => {
      const wallet = await plain()
      const only = ['AU-1*', 'AU-20*', 'AU-21*', 'AU-502']
      const report = await auditWallet({
        ...optionsFor(wallet),
        seed: 5,
        concurrency: 2,
        raceRounds: 2,
        only,
      })
      return report.results.flatMap(({ id, exchanges }) =>
        exchanges.map(({ label, balance }) => `${id} ${label} ${id === 'AU-203' ? '' : balance}`),
      )
    }
    expect(await callsOf()).toEqual(await callsOf())
  })

  it('shortens bodies and answers', async () => {
    const wallet = await plain()
    const report = await auditWallet({ ...optionsFor(wallet), only: ['AU-8*'] })
    const longest = (name: 'body' | 'curl') =>
      Math.max(...report.results.flatMap(({ exchanges }) => exchanges.map(exchange => exchange[name].length)))
    expect(longest('body')).toBeLessThanOrEqual(2_001)
    expect(longest('curl')).toBeLessThanOrEqual(12_000)
  })

  it('is announced result by result', async () => {
    const wallet = await plain()
    const announced: string[] = []
    await auditWallet({
      ...optionsFor(wallet),
      only: ['AU-101', 'AU-102'],
      onResult: ({ id }, { done, total }) => announced.push(`${id} ${done}/${total}`),
    })
    expect(announced).toEqual(['AU-101 1/2', 'AU-102 2/2'])
  })
})

describe('an audit that ends early', () => {
  it('by a signal, after the current case', async () => {
    const wallet = await plain()
    const stop = new AbortController()
    const report = await auditWallet({
      ...optionsFor(wallet),
      only: ['AU-101', 'AU-102', 'AU-103'],
      signal: stop.signal,
      onResult() {
        stop.abort()
      },
    })
    expect(report.results.map(({ verdict }) => verdict)).toEqual(['passed', 'skipped', 'skipped'])
    expect(report.results[1]?.reason).toBe('the audit was stopped')
    expect(report.funds).toEqual({ before: '100.00', after: '100.00' })
  })

  it('by its time budget', async () => {
    const wallet = await plain()
    const report = await auditWallet({
      ...optionsFor(wallet),
      timeBudgetMs: 50,
      // The budget is used up after the first result in any case.
      onResult() {
        const until = performance.now() + 60
        while (performance.now() < until);
      },
      only: ['AU-101', 'AU-102', 'AU-103'],
    })
    const over = { verdict: 'skipped', reason: 'the time budget was used up' }
    expect(report.results.slice(1)).toMatchObject([over, over])
    expect(report).toMatchObject({ passed: true, complete: false })
  })

  it('when the wallet stops answering: the case fails, and the others are skipped', async () => {
    const wallet = await startPlainWallet()
    let settlements = 0
    const report = await auditWallet({
      ...optionsFor(wallet),
      only: ['AU-101', 'AU-502', 'AU-104'],
      // The first settlement is that of the checks before the cases.
      settle: () => {
        settlements += 1
        return settlements === 2 ? wallet.close() : undefined
      },
    })
    const verdicts = Object.fromEntries(report.results.map(({ id, verdict }) => [id, verdict]))
    expect(verdicts).toEqual({ 'AU-101': 'passed', 'AU-104': 'passed', 'AU-502': 'failed' })
    expect(report.funds?.after).toBeNull()
  })
})

describe('an audit that is not possible', () => {
  async function errorOf(options: Partial<AuditOptions>, fallback?: Awaited<ReturnType<typeof plain>>) {
    const wallet = fallback ?? (await plain())
    try {
      await auditWallet({ ...optionsFor(wallet), ...options })
    } catch (error) {
      if (error instanceof AuditError) return `${error.code}: ${error.message}`
      throw error
    }
    return 'nothing'
  }

  it('no answer', async () => {
    const free = createServer()
    await new Promise<void>(resolve => free.listen(0, '127.0.0.1', resolve))
    const { port } = free.address() as AddressInfo
    await new Promise(resolve => free.close(resolve))
    const error = await errorOf({ baseUrl: `http://127.0.0.1:${port}` })
    expect(error).toMatch(/^UNREACHABLE: No answer from http:\S+: the connection was refused/)
  })

  it('another path', async () => {
    const wallet = await plain()
    expect(await errorOf({ baseUrl: `${wallet.url}/x` }, wallet)).toMatch(
      /^NOT_A_WALLET: .*\/x\/rollbackbet.*404/,
    )
  })

  it('a page that is not a wallet', async () => {
    const baseUrl = await server((_, res) => res.end('<html>Welcome</html>'))
    expect(await errorOf({ baseUrl })).toMatch(/^NOT_A_WALLET: .*200 <html>/)
  })

  it('a redirect, which is not followed', async () => {
    const followed: string[] = []
    const elsewhere = await server((req, res) => {
      followed.push(req.url ?? '')
      res.end()
    })
    const baseUrl = await server((_, res) => res.writeHead(308, { location: elsewhere }).end())
    expect(await errorOf({ baseUrl })).toMatch(
      /^NOT_A_WALLET: .*redirect \(308\)\. Redirects are not followed/,
    )
    expect(followed).toEqual([])
  })

  it('wrong credentials, which the message does not show', async () => {
    const error = await errorOf({ credentials: { username: 'platform', password: 'hunter-2' } })
    expect(error).toMatch(/^AUTHENTICATION_FAILED: .*401/)
    expect(error).not.toContain('hunter-2')
  })

  it('an unknown player', async () => {
    expect(await errorOf({ playerId: 'unknown-player' })).toMatch(/^UNKNOWN_PLAYER: .*unknown-player/)
    expect(await errorOf({ otherPlayerId: 'unknown-player-2' })).toMatch(
      /^UNKNOWN_PLAYER: .*unknown-player-2/,
    )
  })

  it('another currency', async () => {
    expect(await errorOf({ currency: 'USD' })).toBe(
      'CURRENCY_MISMATCH: The currency of player-1 is EUR, not USD: a bet in USD is answered with 400 INVALID_CURRENCY',
    )
  })

  it('insufficient funds, with the missing amount', async () => {
    const wallet = await plain({
      players: ['player-1', 'player-2'].map(playerId => ({ playerId, currency: 'EUR', balance: '19.99' })),
    })
    expect(await errorOf({}, wallet)).toBe(
      'INSUFFICIENT_TEST_FUNDS: player-1 has 19.99 EUR, and the audit needs at least 20.00 EUR: deposit 0.01 EUR or more',
    )
  })

  it('a balance that cannot be read', async () => {
    const baseUrl = await server((_, res) => res.writeHead(500).end('oops'))
    expect(await errorOf({ baseUrl })).toMatch(/^BALANCE_UNREADABLE: .*500 oops/)
  })

  it.each<[string, Record<string, unknown>]>([
    ['baseUrl must be a URL of http or https', { baseUrl: 'ftp://host' }],
    ['baseUrl must not contain a user or password', { baseUrl: 'http://user:secret@host' }],
    ['baseUrl must not contain "?"', { baseUrl: 'http://host/?a=1' }],
    ['playerId must be the id of a test player; there is no default', { playerId: undefined }],
    ['currency must be', { currency: '' }],
    ['currency must be a currency code', { currency: '€' }],
    ['otherPlayerId must differ from playerId', { otherPlayerId: 'player-1' }],
    ['credentials.username', { credentials: { username: 'a:b', password: 'x' } }],
    ['credentials.password', { credentials: { username: 'a', password: '' } }],
    ['headers: "x y" is not a valid header name', { headers: { 'x y': '1' } }],
    ['headers: the value of x must be text on one line', { headers: { x: 'a\nb' } }],
    ['sign must be a function', { sign: 'sha256' }],
    ['settle must be', { settle: 'somehow' }],
    ['settle must be', { settle: { url: 'settlement' } }],
    ['settle must be', { settle: { url: '/s', command: 'true' } }],
    ['tls must be an object', { tls: 'certificate' }],
    ['clawbacks must be', { clawbacks: 'no' }],
    ['statusCodes: unknown code "FUNDS"', { statusCodes: { FUNDS: 400 } }],
    ['statusCodes.INVALID_BET must be a status', { statusCodes: { INVALID_BET: 99 } }],
    ['errorCodes.INVALID_BET must be an error code', { errorCodes: { INVALID_BET: [] } }],
    ['minorUnits must be a function', { minorUnits: 2 }],
    ['minorUnits("EUR") must be a whole number from 0 to 18', { minorUnits: () => 19 }],
    ['concurrency must be a whole number from 2 to 64', { concurrency: 1 }],
    ['raceRounds must be', { raceRounds: 0.5 }],
    ['timeoutMs must be', { timeoutMs: 0 }],
    ['timeBudgetMs must be', { timeBudgetMs: 0 }],
    ['seed must be', { seed: -1 }],
    ['only must list at least one case', { only: [] }],
    ['only: there is no case "AU-1"', { only: ['AU-1'] }],
    ['signal must be an AbortSignal', { signal: {} }],
    ['unknown option "player"', { player: 'anna' }],
  ])('an option: %s', async (message, options) => {
    const error = await errorOf(options as Partial<AuditOptions>)
    expect(error.startsWith(`INVALID_OPTIONS: Invalid options: ${message}`), error).toBe(true)
    expect(error).not.toContain('secret')
  })
})

describe('agreements with the platform', () => {
  it('are judged if they are given: statuses and error codes', async () => {
    const wallet = await plain()
    const only = ['AU-102', 'AU-610', 'AU-621']
    const options = { ...optionsFor(wallet), only }
    const agreed = await auditWallet({
      ...options,
      statusCodes: { INVALID_BET: [400, 422] },
      errorCodes: { INVALID_BET: '*' },
    })
    expect(warningsOf(agreed)).toEqual([])
    const other = await auditWallet({
      ...options,
      statusCodes: { INVALID_BET: 422, INSUFFICIENT_FUNDS: 403 },
    })
    expect(other.results.map(({ verdict }) => verdict)).toEqual(['passed', 'failed', 'failed'])
    expect(other.passed).toBe(true)
    // A refusal is a refusal whatever its code: only the cases about codes judge it.
    const renamed = await auditWallet({
      ...options,
      errorCodes: { INSUFFICIENT_FUNDS: ['NO_FUNDS', 'POOR'] },
    })
    expect(renamed.results[0]?.verdict).toBe('passed')
    expect(renamed.results[1]?.failure?.expected).toBe('a refusal NO_FUNDS or POOR')
  })
})
