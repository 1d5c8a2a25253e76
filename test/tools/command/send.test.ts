/** `bet-wallet send`: real calls to a real wallet over HTTP; the rule that it names is the one that decided. */
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { anyOf, basicAuth, createNodeListener, signature } from '../../../src/http/index.js'
import { recordSettlement } from '../../../src/index.js'
import { sentenceOf } from '../../../src/lookups/rules.js'
import type { OutcomeReason } from '../../../src/outcomes.js'
import type { CommitResult, Operation, WalletChanges } from '../../../src/store.js'
import { belowMinimum } from '../../../src/stores/database/refusals.js'
import { createMemoryStore } from '../../../src/stores/memory.js'
import { runCommand } from './running.js'

const servers: Server[] = []
afterAll(() => {
  for (const server of servers) server.close()
})

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  servers.push(server)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** A wallet that keeps the reason of each of its outcomes. */
async function serveWallet(
  clawbacks = true,
  refuse: (changes: WalletChanges) => CommitResult | null = () => null,
) {
  const memory = createMemoryStore([
    { playerId: 'anna', currency: 'EUR', balance: '100.00' },
    { playerId: 'ben', currency: 'EUR', balance: '100.00' },
  ])
  const store = {
    ...memory,
    commit: async (changes: WalletChanges) => refuse(changes) ?? (await memory.commit(changes)),
  }
  const seen: { operation: Operation; reason: OutcomeReason }[] = []
  const options = {
    clawbacks,
    onOutcome: (event: { operation: Operation; reason: OutcomeReason }) => void seen.push(event),
  }
  const wallet = createNodeListener(store, {
    ...options,
    basePath: '/wallet',
    authenticate: anyOf(
      basicAuth({ username: 'platform', password: 'very-secret' }),
      signature({
        ...{
          header: 'x-signature',
          algorithm: 'hmac-sha512',
          secrets: ['signing-secret'],
          encoding: 'base64',
        },
        ...{ prefix: 'v1=', timestamp: { header: 'x-time' }, signed: '{method}{path}{timestamp}.{body}' },
      }),
    ),
    routes: { '/settlement': body => recordSettlement(store, body, options) },
    onAuthenticationFailed: () => {},
  })
  return { url: `${await serve(wallet)}/wallet`, seen }
}

const environment = { BET_WALLET_PASSWORD: 'very-secret' }
const run = (words: string[], url: string) =>
  runCommand(['send', ...words, url, '--user', 'platform'], { environment })

describe('a wallet of this library', () => {
  let wallet: Awaited<ReturnType<typeof serveWallet>>
  beforeAll(async () => {
    wallet = await serveWallet()
  })

  const anna = ['--player', 'anna']
  const eur = ['--currency', 'EUR']
  const place = (bet: string, ...more: string[]) => [
    'placebet',
    ...anna,
    ...eur,
    '--bet',
    bet,
    '--transaction',
    bet,
    ...more,
  ]
  const other = (operation: string, bet: string, ...more: string[]) => [
    ...[operation, ...anna, ...(operation === 'settlement' ? eur : []), '--bet', bet],
    ...['--transaction', `${bet}-${operation}`, ...more],
  ]
  /** In this order: each is what the one before has made possible. */
  const calls: [words: string[], reason: OutcomeReason, code: number, advice?: string][] = [
    [place('b-1', '--amount', '30', '--date', '2026-11-21T18:00:00Z'), 'ACCEPTED', 0],
    [place('b-1', '--amount', '31'), 'PAYLOAD_MISMATCH', 1],
    [place('b-1', '--transaction', 'again'), 'BET_ALREADY_EXISTS', 1],
    [place('b-2', '--amount', '1000000'), 'INSUFFICIENT_FUNDS', 1, 'stays refused, .* send a new call'],
    [place('b-3', '--currency', 'USD'), 'CURRENCY_MISMATCH', 1],
    [place('b-4', '--player', 'unknown'), 'UNKNOWN_PLAYER', 1],
    [place('b-5', '--amount', 'ten'), 'INVALID_REQUEST', 1],
    [other('unsettlement', 'b-1'), 'SETTLEMENT_NOT_FOUND', 2],
    [other('unsettlement', 'b-1', '--player', 'ben'), 'BET_OF_ANOTHER_PLAYER', 1],
    [other('settlement', 'b-9'), 'UNKNOWN_BET', 1],
    [other('settlement', 'b-1', '--amount', '60'), 'ACCEPTED', 0],
    [other('rollbackbet', 'b-1'), 'BET_SETTLED', 1],
    [other('unsettlement', 'b-1'), 'ACCEPTED', 0],
    [other('unsettlement', 'b-1', '--transaction', 'second'), 'ALREADY_UNSETTLED', 1],
    [other('rollbackbet', 'b-1'), 'ACCEPTED', 0],
    [other('settlement', 'b-1', '--transaction', 'late'), 'BET_ROLLED_BACK', 1],
    [place('b-10', '--amount', '10'), 'ACCEPTED', 0],
    [other('settlement', 'b-10', '--amount', '50'), 'ACCEPTED', 0],
    [place('b-11', '--amount', '130'), 'ACCEPTED', 0],
    [other('unsettlement', 'b-10'), 'INSUFFICIENT_FUNDS', 1, 'No later call debits the amount'],
    [other('unsettlement', 'b-10', '--transaction', 'third'), 'CLAWBACK_UNCOLLECTED', 1, 'shows the life'],
  ]
  test.each(calls)('%j: %s', async (words, reason, code, advice = '') => {
    const ran = await run(words, wallet.url)
    expect(ran.error).toBe('')
    const [last] = wallet.seen.slice(-1)
    expect(last?.reason).toBe(reason)
    expect(ran.out).toContain(sentenceOf({ operation: last?.operation ?? 'placebet', reason }))
    expect(ran.out).toContain(
      code === 2 ? 'The platform: It sends the same call again' : 'The platform: It does not send',
    )
    expect(ran.code).toBe(code)
    expect(ran.out).toMatch(new RegExp(advice))
    expect(ran.out).not.toContain('very-secret')
  })

  test('what it prints at the end sends the same call: a replay', async () => {
    const { out } = await run(place('b-6', '--amount', '1.50'), wallet.url)
    const [, line = ''] = /npx bet-wallet (send .*)$/m.exec(out) ?? []
    const words = line.split(' ').map(word => word.replace(/^'|'$/g, ''))
    const again = await runCommand([...words, '--user', 'platform'], { environment })
    expect(again.code).toBe(0)
    expect(wallet.seen.at(-1)?.reason).toBe('REPLAYED')
    expect(again.out).toContain(sentenceOf({ operation: 'placebet', reason: 'REPLAYED' }))
  })

  test('the fields that are not given make a call that works', async () => {
    const { code, out } = await run(['placebet', ...anna, ...eur], wallet.url)
    expect(code).toBe(0)
    expect(out).toMatch(
      /^POST http:.*\/wallet\/placebet\n\{"transactionId":"bet-.*"amount":1,"currency":"EUR","odds":1\.85,/,
    )
    expect(out).toMatch(/^200 {2}\{"balance":/m)
    expect(out).not.toContain('was decided before')
  })

  test('--json', async () => {
    const { code, out } = await run([...place('b-2', '--amount', '1000000'), '--json'], wallet.url)
    expect(code).toBe(1)
    expect(JSON.parse(out)).toMatchObject({
      operation: 'placebet',
      status: 402,
      explanation: { result: 'refused', rule: expect.stringContaining('(D6)') },
    })
  })

  test('wrong credentials, and a wrong path', async () => {
    const wrong = await runCommand([
      'send',
      ...place('b-7'),
      wallet.url,
      '--user',
      'platform',
      '--password',
      'wrong',
    ])
    expect([wrong.code, wrong.out]).toEqual([1, expect.stringContaining('does not accept the credentials')])
    const path = await run(place('b-7'), wallet.url.replace('/wallet', '/elsewhere'))
    expect([path.code, path.out]).toEqual([1, expect.stringContaining('There is no such path.')])
  })

  test('signed: by the secret of the environment, with the options of the page', async () => {
    const words = [
      ...[
        'send',
        ...place('b-8'),
        wallet.url,
        '--sign-header',
        'X-Signature',
        '--sign-algorithm',
        'hmac-sha512',
      ],
      ...['--sign-encoding', 'base64', '--sign-prefix', 'v1=', '--sign-timestamp', 'X-Time'],
    ]
    const text = ['--sign-text', '{method}{path}{timestamp}.{body}']
    const signed = await runCommand([...words, ...text], {
      environment: { BET_WALLET_SECRET: 'signing-secret' },
    })
    expect([signed.code, signed.error]).toEqual([0, ''])
    expect(signed.out).not.toContain('signing-secret')
    const other = await runCommand([...words, ...text], {
      environment: { BET_WALLET_SECRET: 'another-secret' },
    })
    expect(other.out).toContain('does not accept the credentials')
    // The default text has no method and path.
    const plain = await runCommand(words, { environment: { BET_WALLET_SECRET: 'signing-secret' } })
    expect(plain.out).toContain('does not accept the credentials')
  })
})

test('the audit signs too', async () => {
  const { url } = await serveWallet()
  const { code, error } = await runCommand(
    [
      ...[
        'audit',
        url,
        '--player',
        'anna',
        '--currency',
        'EUR',
        '--only',
        'AU-101',
        '--sign-header',
        'X-Signature',
      ],
      ...['--sign-algorithm', 'hmac-sha512', '--sign-encoding', 'base64', '--sign-prefix', 'v1='],
      ...['--sign-timestamp', 'X-Time', '--sign-text', '{method}{path}{timestamp}.{body}'],
    ],
    { environment: { BET_WALLET_SECRET: 'signing-secret' } },
  )
  expect([code, error]).toEqual([0, expect.not.stringContaining('Cannot')])
})

test('a wallet that cannot debit clawbacks', async () => {
  const { url, seen } = await serveWallet(false)
  const common = ['--player', 'anna', '--bet', 'b-1']
  await run(['placebet', ...common, '--currency', 'EUR'], url)
  await run(['settlement', ...common, '--currency', 'EUR'], url)
  const { code, out } = await run(['unsettlement', ...common], url)
  expect(seen.at(-1)?.reason).toBe('CLAWBACKS_DISABLED')
  expect(out).toContain(sentenceOf({ operation: 'unsettlement', reason: 'CLAWBACKS_DISABLED' }))
  expect(code).toBe(1)
})

describe("a store that refuses a debit by a rule of the players' table", () => {
  test.each<[Operation, CommitResult]>([
    ['placebet', belowMinimum],
    [
      'placebet',
      {
        ...{ status: 'refused', errorCode: 'INVALID_AMOUNT' },
        description: 'amount: not representable in the balance column',
      },
    ],
    ['unsettlement', belowMinimum],
  ])('%s: %j', async (operation, refusal) => {
    const { url, seen } = await serveWallet(true, ({ transaction, balance }) =>
      transaction.operation === operation && balance !== null ? refusal : null,
    )
    const common = ['--player', 'anna', '--bet', 'b-1']
    const placed = await run(['placebet', ...common, '--currency', 'EUR'], url)
    await run(['settlement', ...common, '--currency', 'EUR'], url)
    const { out } = operation === 'placebet' ? placed : await run(['unsettlement', ...common], url)
    expect(seen.find(({ reason }) => reason === 'REFUSED_BY_STORE')?.operation).toBe(operation)
    expect(out).toContain(sentenceOf({ operation, reason: 'REFUSED_BY_STORE' }))
    expect(out).not.toContain('The balance is lower than')
  })
})

describe('other servers', () => {
  const answering = (status: number, body: string) =>
    serve((_, response) => response.writeHead(status, { location: '/elsewhere' }).end(body))
  const words = ['placebet', '--player', 'anna', '--currency', 'EUR']
  test.each([
    [200, '<html>', 2, 'a success, but the body is not a JSON object: the call may have been recorded'],
    [200, '{"currency":"EUR"}', 2, 'a success, but balance is not a decimal'],
    [200, '{"balance":"1.00"}', 2, 'a success, but currency is missing'],
    [302, '', 2, 'A redirection is no answer of a wallet'],
    [408, '{"errorCode":"INVALID_REQUEST"}', 2, 'The status 408 is no refusal'],
    [425, '', 2, 'The status 425 is no refusal'],
    [429, 'Too Many Requests', 2, 'The status 429 is no refusal'],
    [400, '{"errorCode":"STAKE_LIMIT","description":"amount: too high"}', 1, 'The code is STAKE_LIMIT.'],
    [
      400,
      '{"errorCode":"INVALID_BET","description":"Bet is closed"}',
      1,
      'INVALID_BET, a code of the interface.',
    ],
    [
      402,
      '{"errorCode":"INSUFFICIENT_FUNDS","description":"amount: above the limit of the day"}',
      1,
      'INSUFFICIENT_FUNDS, a code of the interface. It may be a rule of the operator',
    ],
    [404, '{"errorCode":"SETTLEMENT_NOT_FOUND"}', 1, 'Send the settlement of this bet first.'],
    [400, 'Bad Request', 1, 'A refusal without an errorCode'],
    [502, 'Bad Gateway', 2, 'No decision: the platform may send the same call again'],
  ])('%s %s', async (status, body, code, sentence) => {
    const ran = await run(words, await answering(status, body))
    expect([ran.code, ran.out]).toEqual([code, expect.stringContaining(sentence)])
    expect(ran.out.includes('The platform: It sends the same call again')).toBe(code === 2)
  })

  test('no answer: the port is closed, or the answer takes too long', async () => {
    const refused = await run(words, 'http://127.0.0.1:1/wallet')
    expect([refused.code, refused.out]).toEqual([
      2,
      expect.stringMatching(/Nothing listens at this address, so nothing was sent: .*ECONNREFUSED/),
    ])
    expect(refused.out).not.toMatch(/may have been recorded|Send the same ids/)
    const unknown = await run(words, 'http://wallet.invalid/wallet')
    expect(unknown.out).toMatch(/There is no connection, so nothing was sent: getaddrinfo/)
    const silent = await serve(() => {})
    const late = await run([...words, '--timeout', '200ms'], silent)
    expect([late.code, late.out]).toEqual([
      2,
      expect.stringContaining('the time limit has passed. The call may have been recorded.'),
    ])
  })

  test('a settlement elsewhere gets no credentials', async () => {
    const headers: unknown[] = []
    const elsewhere = await serve((request, response) => {
      headers.push(request.headers.authorization)
      response.end()
    })
    const { url } = await serveWallet()
    const settle = [
      'settlement',
      '--player',
      'anna',
      '--currency',
      'EUR',
      '--bet',
      'b',
      '--settle-url',
      elsewhere,
    ]
    const { code, out } = await run(settle, url)
    expect(code).toBe(0)
    expect(headers).toEqual([undefined])
    // The same call again goes to the same place.
    const [, line = ''] = /npx bet-wallet (send .*)$/m.exec(out) ?? []
    const again = line.split(' ').map(word => word.replace(/^'|'$/g, ''))
    expect((await runCommand(again, { environment })).code).toBe(0)
    expect(headers).toEqual([undefined, undefined])
  })
})

test.each([
  [[], 'Name one call'],
  [['settle'], 'Name one call'],
  [['placebet', 'http://127.0.0.1:1', 'more'], 'Name one call'],
  [['rollbackbet'], 'rollbackbet needs --bet'],
  [['placebet', 'http://127.0.0.1:1'], '--player is missing'],
  [['placebet', 'http://127.0.0.1:1', '--player', 'anna'], '--currency is missing'],
  [['placebet', '--sign-prefix', 'v1='], '--sign-prefix needs --sign-header'],
  [['placebet', '--sign-header', 'x-signature'], '--sign-header needs the secret in BET_WALLET_SECRET'],
])('given %j, then exit code 2 and the problem', async (words, problem) => {
  const { code, error } = await runCommand(['send', ...words])
  expect(error).toContain(problem)
  expect(code).toBe(2)
})
