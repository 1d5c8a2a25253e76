// cspell:ignore Gxhd Zvcm Vjcm
/** Where transactions are sent to, with which headers, and what the outcome of a direct settlement means. */
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import type { SettlementRequest } from '../../../src/requests.js'
import { Transactions } from '../../../src/tools/random/transactions.js'
import { createTransport, settledReading } from '../../../src/tools/random/transport.js'
import { signerOf } from '../../../src/tools/wire/signer.js'
import { targetSettingsOf, type WalletTarget } from '../../../src/tools/wire/target.js'
import { fixedHeaders } from '../../../src/tools/wire/wallet-client.js'
import { decimal, newBet, openedAccount } from './objects.js'

const open: { close(): void }[] = []
afterEach(() => {
  for (const one of open.splice(0)) one.close()
})

const settingsOf = (target: Partial<WalletTarget>) =>
  targetSettingsOf(
    { baseUrl: 'http://127.0.0.1:9/wallet', timeoutMs: 120_000, ...target },
    { url: '/settlement' },
  )

const transactions = new Transactions('run', () => Date.parse('2026-11-21T10:00:00.000Z'))

function post(
  target: Partial<WalletTarget>,
  mode: 'complete' | 'cut-after' | 'cut-within' = 'complete',
  content: { currency?: string } = {},
) {
  const transport = createTransport(settingsOf(target))
  open.push(transport)
  const { bet } = newBet(openedAccount('100.00'), 10_00n)
  const settlement = { type: 'BET_PAID', amount: 5_50n, ...content } as const
  return transport.post(transactions.create(bet, 'settlement', settlement), mode)
}

describe('the headers of a request', () => {
  const target = {
    credentials: { username: 'platform', password: 'secret' },
    headers: { 'x-key': 'k' },
    settle: { url: 'http://other.example/settle', headers: { 'x-pam': 'p' } },
  }

  test('to the wallet are its headers and credentials', () => {
    expect(fixedHeaders(settingsOf(target), new URL('http://127.0.0.1:9/wallet/placebet'))).toEqual({
      'content-type': 'application/json',
      'x-key': 'k',
      authorization: 'Basic cGxhdGZvcm06c2VjcmV0',
    })
  })

  test('to settlements at another origin are the headers of settle only', () => {
    expect(fixedHeaders(settingsOf(target), new URL('http://other.example/settle'))).toEqual({
      'content-type': 'application/json',
      'x-pam': 'p',
    })
  })

  test('to settlements at the origin of the wallet are both', () => {
    const settings = settingsOf({ ...target, settle: { url: '/settlement', headers: { 'x-pam': 'p' } } })
    expect(fixedHeaders(settings, new URL('http://127.0.0.1:9/wallet/settlement'))).toEqual({
      'content-type': 'application/json',
      'x-key': 'k',
      'x-pam': 'p',
      authorization: 'Basic cGxhdGZvcm06c2VjcmV0',
    })
  })
})

describe('a settlement over HTTP', () => {
  test('goes to the path below the base URL by default', async () => {
    const seen: { url: string | undefined; headers: IncomingHttpHeaders }[] = []
    const server = createServer((request, response) => {
      seen.push({ url: request.url, headers: request.headers })
      request.resume().on('end', () => response.end('done'))
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    open.push({
      close() {
        server.close()
        server.closeAllConnections()
      },
    })
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/wallet`
    expect(await post({ baseUrl, headers: { 'x-key': 'k' } })).toMatchObject({
      kind: 'success',
      balance: null,
    })
    expect(seen).toMatchObject([{ url: '/wallet/settlement', headers: { 'x-key': 'k' } }])
  })
})

describe('a settlement by a function', () => {
  test('is called with the settlement, its amount as decimal text', async () => {
    const calls: SettlementRequest[] = []
    const reading = await post({
      settle: request => {
        calls.push(request)
      },
    })
    expect(reading).toMatchObject({ kind: 'success', status: 200, balance: null })
    expect(calls).toEqual([
      {
        transactionId: expect.stringMatching(/^run-s/),
        betId: expect.stringMatching(/^b/),
        playerId: 'ann',
        type: 'BET_PAID',
        amount: '5.50',
        currency: 'EUR',
        transactionDate: '2026-11-21T10:00:00.000Z',
      },
    ])
  })

  test('in the currency of another account is called with this currency', async () => {
    const currencies: string[] = []
    const settle = ({ currency }: SettlementRequest) => {
      currencies.push(currency)
    }
    await post({ settle }, 'complete', { currency: 'JPY' })
    expect(currencies).toEqual(['JPY'])
  })

  test.each([
    ['cut within the request never arrives', 'cut-within', 0],
    ['cut after the request is done, and its answer is lost', 'cut-after', 1],
  ] as const)('%s', async (_, mode, expected) => {
    let calls = 0
    const settle = () => {
      calls += 1
    }
    expect(await post({ settle }, mode)).toEqual({ kind: 'no-answer', reason: mode })
    expect(calls).toBe(expected)
  })
})

describe('a settlement by a command', () => {
  test.each([
    ['exit 0', 'success'],
    ['exit 3', 'fault'],
  ])('%s is a %s', async (command, kind) => {
    expect((await post({ settle: { command } })).kind).toBe(kind)
  })

  test('that prints the secret of the signatures is masked', async () => {
    const settle = { command: "printf 'of signing-secret' >&2; exit 1" }
    const reading = await post({ settle, sign: signerOf({ header: 'x-signature' }, 'signing-secret') })
    expect(reading).toMatchObject({ errorCode: 'the command ended with code 1: of ***' })
  })
})

describe('the outcome of a direct settlement', () => {
  test.each([
    [{ kind: 'refused', errorCode: 'INVALID_BET' } as const, { kind: 'refusal', errorCode: 'INVALID_BET' }],
    [{ kind: 'unknown', reason: 'try again' } as const, { kind: 'fault', errorCode: 'try again' }],
    [{ kind: 'done', answer: null } as const, { kind: 'success', balance: null }],
    [
      { kind: 'done', answer: { ok: true, balance: '5.50', currency: 'EUR' } } as const,
      { kind: 'success', balance: decimal('5.5'), currency: 'EUR' },
    ],
  ])('%j', (settled, reading) => {
    expect(settledReading(settled)).toMatchObject(reading)
  })
})
