/**
 * The page of `bet-wallet try` over HTTP: each button, what it sends, and what the page says of it.
 *
 * @vitest-environment-options {"process":"try"}
 */
import { createServer, get } from 'node:http'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createMemoryWallet, createTryPage } from '../../../src/tools/try/index.js'
import { until } from '../../until.js'
import { players, type Running, startTryPage } from './running.js'

let running: Running
beforeAll(async () => {
  running = await startTryPage()
})
afterAll(() => running.stop())

/** Presses a button, as a browser without scripts does: the form, then the page that it leads to. */
async function press(name: string, form: Record<string, string>, headers: Record<string, string> = {}) {
  const answer = await fetch(`${running.url}/try/${name}`, {
    method: 'POST',
    body: new URLSearchParams(form),
    headers,
  })
  return { status: answer.status, text: textOf(await answer.text()) }
}

const textOf = (page: string) =>
  page
    .replace(/<(style|script)[^>]*>[\s\S]*?<\/\1>/g, '')
    .replace(/<[^>]+>/g, ' ')
    .replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)))
    .replace(/\s+/g, ' ')

async function placedBet(): Promise<string> {
  const { text } = await press('place', { playerId: 'anna', stake: '10' })
  return /Place the bet: (\S+):/.exec(text)?.[1] ?? ''
}

describe('a button for a new bet', () => {
  test.each([
    ['place', '/placebet 200', '-10', 'The stake was debited (spec 4.1).'],
    ['lose-the-answer', '/placebet 200, /rollbackbet 200', '0', 'the platform never receives it'],
    ['roll-back-first', '/rollbackbet 200, /placebet 400', '0', 'had rolled the bet back already'],
    [
      'deliver-late',
      '/placebet 200, /rollbackbet 200, /placebet 200',
      '0',
      'the answer is the first decision (D2)',
    ],
    ['two-at-once', '/placebet 200, /placebet 200', '-10', 'the answer is the first decision (D2)'],
  ])(
    'given funds, when %s is pressed, then the wire has %s, and the balance changes by %s',
    async (name, calls, change, words) => {
      const before = Number(await running.balanceOf('anna'))
      running.wire.length = 0
      const { status, text } = await press(name, { playerId: 'anna', stake: '10' })
      expect(status).toBe(200)
      expect(running.wire.map(line => line.replace('/wallet', '')).join(', ')).toBe(calls)
      expect(Number(await running.balanceOf('anna')) - before).toBe(Number(change))
      expect(text).toContain(words)
      // The page repeats the answers of the wire.
      for (const line of running.wire) expect(text).toContain(`HTTP/1.1 ${line.split(' ')[1]}`)
    },
  )

  test('given two bets and funds for one, then one is taken and one is refused', async () => {
    running.wire.length = 0
    const { text } = await press('funds-for-one', { playerId: 'kenji', stake: '1' })
    expect(running.wire.map(line => line.split(' ')[1]).sort()).toEqual(['200', '402'])
    expect(await running.balanceOf('kenji')).toBe('0')
    expect(text).toContain(
      'The balance did not cover the stake; nothing was debited, and the refusal is final (D6).',
    )
  })

  test.each([
    ['12.345', 400],
    ['-1', 400],
    ['ten', 400],
    ['', 400],
    ['99999999999999.99', 402],
    ['<b>1</b>', 400],
  ])('given the stake %j, then the wallet itself refuses it with %d', async (stake, status) => {
    running.wire.length = 0
    const { text } = await press('place', { playerId: 'anna', stake })
    expect(running.wire).toEqual([`/wallet/placebet ${status}`])
    expect(text).toContain(`"amount":${stake.startsWith('9') ? stake : ''}`)
    expect(text).toContain(status === 400 ? 'The body is invalid' : 'The balance did not cover the stake')
  })
})

describe('a button of a placed bet', () => {
  test.each([
    ['send-again', '/placebet 200', '0', 'the answer is the first decision'],
    ['settle', '/settlement 200', '20', 'the payout was credited (D17)'],
    ['settle-wrongly', '/settlement 200, /unsettlement 200', '0', 'the payout was taken back (D18)'],
    ['roll-back', '/rollbackbet 200', '10', 'the stake was returned (spec 4.3)'],
  ])(
    'when %s is pressed twice, then the wire has %s, the balance changes by %s once, and the rest is replayed',
    async (name, calls, change, words) => {
      const betId = await placedBet()
      const before = Number(await running.balanceOf('anna'))
      running.wire.length = 0
      const { text } = await press(name, { betId })
      expect(running.wire.map(line => line.replace('/wallet', '')).join(', ')).toBe(calls)
      expect(text).toContain(words)
      const again = await press(name, { betId })
      expect(again.text).toContain('the answer is the first decision')
      expect(Number(await running.balanceOf('anna')) - before).toBe(Number(change))
    },
  )

  test('then the page has the life of the bet and the account', async () => {
    const betId = await placedBet()
    const { text } = await press('roll-back', { betId })
    expect(text).toContain(
      `${betId} Rolled back Taken once, for 10.00 EUR; rolled back, the stake was returned.`,
    )
    expect(text).toMatch(/anna: \d+\.\d\d EUR Recorded \(UTC\) Bet What happened Change Balance after/)
    expect(text).toMatch(
      new RegExp(
        `${betId} The platform rolled the bet back: the stake of 10\\.00 EUR was returned\\. \\+10\\.00 \\d+\\.\\d\\d`,
      ),
    )
  })
})

describe('the deposit button', () => {
  test('when it is pressed, then the balance rises, no call is sent, and the page says so', async () => {
    const before = Number(await running.balanceOf('anna'))
    running.wire.length = 0
    const { text } = await press('deposit', { playerId: 'anna', amount: '250.5' })
    expect(Number(await running.balanceOf('anna')) - before).toBe(250.5)
    expect(running.wire).toEqual([])
    expect(text).toContain('250.50 EUR deposited for anna, as your cashier does')
  })

  test.each([
    ['anna', '0.001'],
    ['kenji', '0.5'],
    ['anna', '0'],
    ['anna', '-1'],
    ['anna', 'ten'],
    ['anna', ''],
    ['anna', '1'.repeat(16)],
    ['unknown', '1'],
  ])('given %s and the amount %j, then nothing is deposited', async (playerId, amount) => {
    const before = await Promise.all(players.map(player => running.balanceOf(player.playerId)))
    const { status, text } = await press('deposit', { playerId, amount })
    expect(status).toBe(200)
    expect(text).toMatch(/nothing was deposited|There is no such button or player/)
    expect(await Promise.all(players.map(player => running.balanceOf(player.playerId)))).toEqual(before)
  })

  /** Another page, without a wallet behind it. */
  async function pageWith(options: Partial<Parameters<typeof createTryPage>[0]>): Promise<string> {
    const { lookups } = createMemoryWallet(players)
    const own = { baseUrl: 'http://127.0.0.1:1', lookups, playerIds: ['anna'], storage: '' }
    const page = createTryPage({ ...own, ...options })
    const server = createServer((request, response) => void page(request, response))
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => {
      server.close()
      server.closeAllConnections()
    })
    return `http://127.0.0.1:${(server.address() as { port: number }).port}`
  }
  const deposit = (url: string) =>
    fetch(`${url}/try/deposit`, {
      method: 'POST',
      body: new URLSearchParams({ playerId: 'anna', amount: '1' }),
    })

  test('given no deposit, then the page has no such button, and the form moves nothing', async () => {
    const url = await pageWith({})
    expect(await (await fetch(url)).text()).not.toContain('Deposit')
    expect(await (await deposit(url)).text()).toContain('There is no such button or player.')
  })

  test.each<[string, () => Promise<never>]>([
    [
      'throws',
      () => {
        throw new Error('no cashier')
      },
    ],
    ['rejects', () => Promise.reject(new Error('no cashier'))],
  ])(
    'given a deposit that %s, then the answer is 500 with its message, and the page goes on',
    async (_, fails) => {
      const url = await pageWith({ deposit: fails })
      const answer = await deposit(url)
      expect([answer.status, await answer.text()]).toEqual([500, expect.stringContaining('no cashier')])
      expect((await fetch(url)).status).toBe(200)
    },
  )
})

test('the dates of the calls are those of their sending, and a retry has the same', async () => {
  const dates = (text: string) =>
    [...text.matchAll(/"transactionId":"([^"]+)".*?"transactionDate":"([^"]+)"/g)].map(([, id, date]) => [
      id,
      date,
    ])
  const before = Date.now()
  const { text } = await press('lose-the-answer', { playerId: 'anna', stake: '1' })
  const sent = dates(text).slice(0, 2)
  expect(sent).toHaveLength(2)
  for (const [, date = ''] of sent) {
    expect(Date.parse(date)).toBeGreaterThanOrEqual(before)
    expect(Date.parse(date)).toBeLessThanOrEqual(Date.now())
  }
  const betId = await placedBet()
  const first = dates((await press('roll-back', { betId })).text)[0]
  await until(() => Date.now() > Date.parse(first?.[1] ?? ''))
  expect(dates((await press('roll-back', { betId })).text)[0]).toEqual(first)
})

test('a bet that was refused has no sentence that contradicts it', async () => {
  const { text } = await press('place', { playerId: 'kenji', stake: '999999' })
  expect(text).toContain('Never taken: its placebet was refused (INSUFFICIENT_FUNDS)')
  expect(text).toContain('No bet was taken under this id: it holds nothing.')
})

describe('what the page does not do', () => {
  test.each([
    ['place', { playerId: 'unknown', stake: '10' }, 'There is no such player.'],
    ['roll-back', { betId: 'unknown' }, 'There is no such button or bet.'],
    ['steal', { playerId: 'anna' }, 'There is no such button or bet.'],
  ])('given %s with %j, then nothing is sent, and the page says so', async (name, form, words) => {
    running.wire.length = 0
    expect((await press(name, form)).text).toContain(words)
    expect(running.wire).toEqual([])
  })

  test.each([
    { origin: 'http://example.com' },
    { origin: 'null' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
  ])('given a form of another site, with %j, then it is refused, and nothing is sent', async headers => {
    running.wire.length = 0
    const form = { playerId: 'anna', stake: '1' }
    expect((await press('place', form, headers)).status).toBe(403)
    expect(running.wire).toEqual([])
  })

  test('given a name of another site that leads here, then nothing is shown', async () => {
    const { port } = new URL(running.url)
    const status = await new Promise(resolve => {
      const asked = get({ host: '127.0.0.1', port, headers: { host: `example.com:${port}` } }, answer => {
        answer.resume()
        resolve(answer.statusCode)
      })
      asked.end()
    })
    expect(status).toBe(403)
  })

  test('given a frame of another site, then its browser does not show the page', async () => {
    const { headers } = await fetch(`${running.url}/`)
    expect(headers.get('x-frame-options')).toBe('DENY')
    expect(headers.get('content-security-policy')).toBe("frame-ancestors 'none'")
  })

  test('given a form of 20 kB, then 413, and nothing is sent', async () => {
    running.wire.length = 0
    expect((await press('place', { playerId: 'anna', stake: '1'.repeat(20_000) })).status).toBe(413)
    expect(running.wire).toEqual([])
  })

  test('given lookups that fail, then 500 with the reason, and the process goes on', async () => {
    const failing = async () => {
      throw new Error('no database')
    }
    const page = createTryPage({
      baseUrl: 'http://127.0.0.1:1',
      lookups: { bet: failing, player: failing },
      playerIds: ['anna'],
      storage: '',
    })
    const answers: unknown[] = []
    const response = {
      writeHead: (status: number) => answers.push(status),
      end: (text?: string) => answers.push(text),
    }
    const request = {
      method: 'GET',
      url: '/',
      headers: { host: 'localhost' },
      async *[Symbol.asyncIterator]() {},
    }
    await page(request, response)
    expect(answers).toEqual([500, 'The page failed: no database'])
  })

  test('given a base URL of https, then it is refused', () => {
    const { lookups } = createMemoryWallet(players)
    expect(() => createTryPage({ baseUrl: 'https://wallet', lookups, playerIds: [], storage: '' })).toThrow(
      'baseUrl must begin with http://',
    )
  })

  test.each(['/other', '/try/place'])('given GET %s, then 404', async path => {
    expect((await fetch(`${running.url}${path}`)).status).toBe(404)
  })

  test('given a wallet that is gone, then the call has no answer, and the page says why', async () => {
    const { lookups } = createMemoryWallet(players)
    const page = createTryPage({
      baseUrl: 'http://127.0.0.1:1/wallet',
      lookups,
      playerIds: ['anna'],
      storage: '',
    })
    const server = createServer((request, response) => void page(request, response))
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(server.address() as { port: number }).port}/try/place`
    const answer = await fetch(url, {
      method: 'POST',
      body: new URLSearchParams({ playerId: 'anna', stake: '1' }),
    })
    expect(textOf(await answer.text())).toContain('No answer: the connection was refused (ECONNREFUSED)')
    server.close()
    server.closeAllConnections()
  })
})
