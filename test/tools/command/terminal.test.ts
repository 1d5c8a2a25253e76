/** What others have written must not control the terminal: wallets, platforms, records. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { type Ran, runCommand } from './running.js'

const folder = mkdtempSync(join(tmpdir(), 'bet-wallet-terminal-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const file = (name: string, text: string) => {
  writeFileSync(join(folder, name), text)
  return join(folder, name)
}

const hostile = {
  ESC: '\u001b[2J',
  BEL: '\u0007',
  'C1: CSI': '\u009b2J',
  DEL: '\u007f',
  bidi: '\u202e\u2066',
  'zero width': '\u200b',
  'line end': '\nPASSED: forged',
}
const all = `x${Object.values(hostile).join('y')}z`

/** Only line ends are printed as they are, and no line is of the other side. */
function expectEscaped({ out, error }: Ran): void {
  for (const text of [out, error]) {
    expect(text.match(/(?!\n)[\p{Cc}\p{Cf}]/gu)).toBeNull()
    expect(text).not.toMatch(/^PASSED: forged/m)
    expect(Math.max(...text.split('\n').map(line => line.length))).toBeLessThan(12_000)
  }
}

describe('a wallet', () => {
  const closing: (() => void)[] = []
  afterEach(() => {
    for (const close of closing.splice(0)) close()
  })

  async function answering(status: number, body: unknown): Promise<string> {
    const server = createServer((req, res) => {
      req.resume().on('end', () => {
        res.writeHead(status, { 'content-type': 'application/json' })
        res.end(typeof body === 'string' ? body : JSON.stringify(body))
      })
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    closing.push(() => server.close())
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  it.each([
    ['text', 200, all],
    ['a currency', 200, { balance: 100, currency: all }],
    ['an endless currency', 200, { balance: 100, currency: 'x'.repeat(100_000) }],
    ['an error code', 404, { errorCode: all, description: all }],
    ['an endless error code', 400, { errorCode: 'x'.repeat(100_000), description: '' }],
  ])('that answers %s', async (_, status, body) => {
    const url = await answering(status, body)
    const audit = await runCommand(['audit', url, '--player', 'a', '--currency', 'EUR', '--attempts', '1'])
    expect(audit.error).toMatch(/^Cannot start: /)
    expectEscaped(audit)
    const words = ['simulate', url, '--players', 'a', '--bets', '1', '--pause', '10ms']
    expectEscaped(await runCommand(words))
  })

  it('whose answers are in the report of the audit', async () => {
    const url = await answering(200, { balance: 100, currency: 'EUR', walletTransactionId: all, extra: all })
    const words = ['audit', url, '--player', 'a', '--currency', 'EUR', '--only', 'AU-1*,AU-6*']
    const audit = await runCommand(words)
    expect(audit.out).toMatch(/FAILED: /)
    expectEscaped(audit)
  })
})

describe('records', () => {
  const transaction = {
    ...{ operation: 'placebet', transactionId: all, betId: all, playerId: all, type: null, amount: '1' },
    ...{
      currency: all,
      delta: '0',
      balanceAfter: '1',
      walletTransactionId: all,
      reason: all,
      transactionDate: all,
    },
    ...{ recordedAt: '2026-11-22T10:00:00.000Z', refusal: { errorCode: all, description: all } },
  }
  const bet = { betId: all, playerId: all, currency: all, stake: '1', status: all, revision: 1, credits: {} }
  const config = file(
    'lookups.mjs',
    `const transactions = [${JSON.stringify(transaction)}]
    const bet = ${JSON.stringify(bet)}
    export const lookups = {
      bet: async betId => betId === 'known' ? { betId, bet, transactions } : null,
      transaction: async id => id === 'known' ? transactions : [],
      player: async playerId => {
        if (playerId === 'error') throw new Error(${JSON.stringify(all)})
        return playerId !== 'known' ? null :
          { playerId, accounts: [{ playerId, currency: ${JSON.stringify(all)}, balance: '1' }], transactions, bets: [bet], next: null }
      },
      owed: async () => [],
      transactions: async function* () {},
    }`,
  )

  it.each(['bet', 'transaction', 'player'])('of the command %s', async name => {
    for (const words of [['known'], ['known', '--json', '-'], [all]]) {
      const ran = await runCommand([name, ...words, '--config', config])
      expect(`${ran.out}${ran.error}`).toMatch(/\\u202e/)
      expectEscaped(ran)
    }
    expectEscaped(await runCommand(['player', 'error', '--config', config]))
  })
})

describe("a platform's report", () => {
  const config = file(
    'none.mjs',
    `export const lookups = { bet: async () => null, transaction: async () => [], player: async () => null, owed: async () => [],
      transactions: async function* () {} }`,
  )
  const range = ['--from', '2026-11-22', '--to', '2026-11-23', '--config', config]
  const header = 'transactionId,betId,playerId,operation,type,amount,currency,transactionDate'

  it('with invisible characters in an id, in the lines of its differences', async () => {
    const id = `${hostile.bidi}${hostile['zero width']}` // it may have no control characters
    const report = file('lines.csv', `${header}\nt-1,b-${id},anna,placebet,,1,EUR,2026-11-22T10:00:00Z\n`)
    const lines = join(folder, 'lines.jsonl')
    const { error } = await runCommand(['reconcile', report, ...range, '--lines', lines])
    expect(error).toMatch(/^Written: /)
    const text = readFileSync(lines, 'utf8')
    expect(text).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}]/u)
    expect(JSON.parse(text)).toMatchObject({ report: { betId: `b-${id}` } })
  })

  it.each(Object.entries(hostile).filter(([name]) => name !== 'line end'))('with %s', async (_, text) => {
    const reports = [
      file('broken.jsonl', `{"transactionId": "t-1", ${text}}\n`),
      file('header.csv', `${header.replace('betId', `${text}betId`)}\n`),
      file('word.csv', `${header}\nt-1,b-1,anna,place${text}bet,,1,EUR,2026-11-22T10:00:00Z\n`),
      file('amount.csv', `${header}\nt-1,b-1,anna,placebet,,1${text},EUR,2026-11-22T10:00:00Z\n`),
      file('id.csv', `${header}\nt-${text}1,b-1,anna,placebet,,1,EUR,2026-11-22T10:00:00Z\n`),
    ]
    for (const report of reports) {
      const ran = await runCommand(['reconcile', report, ...range])
      expect(ran.code, ran.error).not.toBe(0)
      expectEscaped(ran)
    }
  })
})
