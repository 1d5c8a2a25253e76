/** The forms of a report: curl commands for a shell, JUnit XML, and the text of the terminal. */
import { execFile } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import { type AuditReport, auditWallet, renderJunit } from 'bet-wallet/audit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { formatProgressLine, renderHtml, reportOf } from '../../../src/tools/audit/printout.js'
import { textOf } from '../../../src/tools/report/text.js'
import { curlLine, quoted } from '../../../src/tools/wire/curl.js'
import { startPlainWallet } from '../wallets/independent/plain.js'

const hasCurl = await promisify(execFile)('curl', ['--version']).then(
  () => true,
  () => false,
)

const received: { method: string; url: string; headers: NodeJS.Dict<string | string[]>; body: Buffer }[] = []
const server = createServer(async (req, res) => {
  const chunks: Buffer[] = []
  for await (const chunk of req as AsyncIterable<Buffer>) chunks.push(chunk)
  received.push({
    method: req.method ?? '',
    url: req.url ?? '',
    headers: req.headers,
    body: Buffer.concat(chunks),
  })
  res.end('{}')
})
let base = ''
beforeAll(async () => {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => new Promise(resolve => server.close(resolve)))

async function paste(line: string) {
  received.length = 0
  const env = {
    ...process.env,
    NO_PROXY: '*',
    no_proxy: '*',
    WALLET_USER: 'u',
    WALLET_PASSWORD: 'p:q',
    WALLET_X_KEY: "k'1",
  }
  await promisify(execFile)('sh', ['-c', line], { env })
  return received[0]
}

// Needs curl on the machine.
describe.skipIf(!hasCurl)('a curl command, pasted into a shell', () => {
  const parts = { method: 'POST', headers: [], user: null }

  it.each([
    ['an object', '{"a":1}'],
    ['apostrophes, quotes, dollars and backslashes', `{"a":"it's \\"$HOME\\" \`id\` !! \\\\ %s %"}`],
    ['other languages', '{"a":"Ünï 球迷 😀"}'],
    ['a byte order mark', '\ufeff{"a":1}'],
    ['control characters', '{"a":"\u0000\u0007\n"}'],
    ['a body that starts like a file name for curl', '@/etc/passwd'],
    ['an empty body', ''],
  ])('sends exactly the body: %s', async (_, body) => {
    const line = curlLine({ ...parts, url: `${base}/placebet`, body: Buffer.from(body) })
    const sent = await paste(line)
    expect(sent).toMatchObject({ method: 'POST', url: '/placebet' })
    expect(sent?.body.toString('utf8')).toBe(body)
  })

  it('sends bytes that are not text', async () => {
    const body = Buffer.from([0x7b, 0xff, 0x00, 0x27, 0x5c, 0x25, 0x7d])
    const sent = await paste(curlLine({ ...parts, url: `${base}/placebet`, body }))
    expect(sent?.body).toEqual(body)
  })

  it('sends method, headers and secrets, which it reads from the environment', async () => {
    const headers = [
      { name: 'content-type', value: 'application/json', secret: false },
      { name: 'x-key', value: 'not shown', secret: true },
    ]
    const line = curlLine({
      method: 'PUT',
      url: `${base}/a?b='c'`,
      headers,
      user: '"$WALLET_USER:$WALLET_PASSWORD"',
      body: Buffer.from('{}'),
    })
    expect(line).not.toContain('not shown')
    const sent = await paste(line)
    expect(sent).toMatchObject({ method: 'PUT', url: "/a?b='c'" })
    expect(sent?.headers).toMatchObject({
      'content-type': 'application/json',
      'x-key': "k'1",
      authorization: `Basic ${btoa('u:p:q')}`,
    })
  })

  it('sends the long bodies of the audit', async () => {
    const wallet = await startPlainWallet()
    const { url, credentials } = wallet
    const options = {
      baseUrl: url,
      credentials,
      playerId: 'player-1',
      currency: 'EUR',
      timeoutMs: 60_000,
      only: ['AU-801', 'AU-802'],
    }
    const report = await auditWallet(options)
    await wallet.close()
    const lines = report.results.flatMap(({ exchanges }) =>
      exchanges.filter(({ body }) => body.length > 2_000),
    )
    expect(lines.map(({ label }) => label)).toEqual([
      'placebet with a field nested 100,000 levels deep',
      'placebet with an additional field nested 5,000 levels deep',
      'placebet of 4 MiB',
    ])
    for (const { curl, body } of lines) {
      const sent = await paste(curl.replace(/http:\/\/[^/']+/, base))
      const text = sent?.body.toString('utf8') ?? ''
      expect(text.startsWith(body.slice(0, -1))).toBe(true)
      expect(() => JSON.parse(text.length > 1_000_000 ? text : text.replace(/^\[+\]+$/, '[]'))).not.toThrow()
    }
  })
})

it('quotes an apostrophe for the shell', () => {
  expect(quoted("it's")).toBe(`'it'\\''s'`)
})

const report: AuditReport = {
  formatVersion: 1,
  target: 'http://wallet/?a&b<c>"d"',
  startedAt: '2026-11-21T18:00:00.000Z',
  durationMs: 1_234,
  seed: 1,
  player: { playerId: 'anna', currency: 'EUR' },
  requests: 3,
  balancesReadBy: { by: 'bet-and-rollback', reason: 'a & b' },
  findings: [
    {
      ...{ id: 'AU-101', level: 'MUST', cause: 'The <cause> & more.' },
      followers: [{ id: 'AU-104', reason: 'probably as AU-101' }],
    },
  ],
  foreignAnswers: [],
  limitations: ['What "no client" & no test sees.'],
  passed: false,
  complete: false,
  results: [
    {
      ...{ id: 'AU-101', level: 'MUST', name: 'It <works> & more', source: 'spec 4.1' },
      ...{ verdict: 'failed', reason: null, durationMs: 10 },
      balance: { before: '100.00', after: '98.29', explained: false },
      failure: {
        kind: 'balance',
        difference: '-1.71',
        expected: '"70"',
        actual: 'NUL \u0000, ESC \u001b[31m, half \ud800 and ]]>',
        impact: 'Money.',
        quote: 'It <works>.',
        exchangeIndex: 0,
      },
      exchanges: [
        {
          ...{
            label: 'placebet',
            sentAtMs: 0,
            answeredAtMs: 1,
            method: 'POST',
            path: '/placebet',
            body: '{}',
          },
          ...{ curl: "curl '\u001b]0;x'", status: 500, answer: '', balance: null, error: null, omitted: 0 },
        },
      ],
    },
    {
      ...{ id: 'AU-104', level: 'SHOULD', name: 'It follows', source: 'D6' },
      ...{ verdict: 'failed', reason: null, durationMs: 10, balance: null, exchanges: [] },
      failure: {
        ...{ kind: 'other', difference: null, expected: 'one', actual: 'two', impact: 'Time.' },
        ...{ quote: null, exchangeIndex: null },
      },
    },
    {
      ...{
        id: 'AU-502',
        level: 'MUST',
        name: 'Two',
        source: 'D7',
        verdict: 'skipped',
        reason: 'no way & means',
      },
      ...{ failure: null, exchanges: [], balance: null, durationMs: 0 },
    },
    {
      ...{ id: 'AU-503', level: 'SHOULD', name: 'Three', source: 'D7', verdict: 'passed', reason: null },
      ...{ failure: null, exchanges: [], balance: null, durationMs: 5 },
    },
  ],
}

describe('JUnit XML', () => {
  it('contains every case, escaped, without characters that XML does not allow', () => {
    const xml = renderJunit(report)
    expect(xml).toContain('tests="4" failures="2" errors="0" skipped="1" time="1.234"')
    expect(xml).toContain('name="AU-101 It &lt;works&gt; &amp; more (spec 4.1)" time="0.010"')
    expect(xml).toContain('<skipped message="no way &amp; means"/>')
    expect(xml).toContain('NUL \\u0000, ESC \\u001b[31m, half \\ud800 and ]]&gt;')
    expect(xml).toContain('<testsuite name="http://wallet/?a&amp;b&lt;c&gt;&quot;d&quot;"')
    expect(xml).toContain('cause:     The &lt;cause&gt; &amp; more.\n')
    expect(xml).toContain('interface: &quot;It &lt;works&gt;.&quot;\n')
    expect(xml).toContain('follows:   AU-101 (probably as AU-101)\n')
    expect(xml).toMatch(
      /<system-out>MUST AU-101: placebet: NUL .* instead of &quot;70&quot;\. Money\. Cause: The &lt;cause&gt; &amp; more\. Also AU-104\.\nBalances were read by the smallest bet and its rollback: a &amp; b\.\nWhat this audit cannot see:\nWhat &quot;no client&quot; &amp; no test sees\.<\/system-out>/,
    )
    const bare = xml.replace(/&(?:amp|lt|gt|quot|#13);/g, '')
    expect(bare).not.toMatch(/&/)
    expect(xml.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cs}\ufffe\uffff]/u)
    // All elements are closed in order.
    const open: string[] = []
    for (const [, closing, name, empty] of xml.matchAll(/<(\/?)([a-z-]+)(?:\s+[a-z]+="[^"<]*")*(\/?)>/g)) {
      if (closing === '/') expect(open.pop()).toBe(name)
      else if (empty === '') open.push(name ?? '')
    }
    expect(open).toEqual([])
    expect(xml.match(/<[^?]/g)?.length).toBe(
      [...xml.matchAll(/<\/?[a-z-]+(?:\s+[a-z]+="[^"<]*")*\/?>/g)].length,
    )
  })
})

it('names the cases that have failed since the last line of progress', () => {
  expect(formatProgressLine(10, 158, [])).toBe('10 of 158 cases')
  expect(formatProgressLine(20, 158, ['AU-112', 'AU-113'])).toBe('20 of 158 cases, failed: AU-112, AU-113')
})

describe('the terminal and the page', () => {
  const text = textOf(reportOf(report))
  const words = (page: string) =>
    page
      .replace(/<[^>]*>/g, '')
      .replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)))
      .replace(/\s+/g, ' ')

  it('cannot be controlled by the answer of a wallet', () => {
    expect(text.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u)
    expect(text).toContain('ESC \\u001b[31m')
  })

  it('have the same facts: of each finding, of what was skipped and of what cannot be seen', () => {
    const foreign = { sender: 'a rate limiter', firstRequest: 101, requests: 166, answer: '429 Too many' }
    const whole = { ...report, foreignAnswers: [foreign], funds: { before: '100.00', after: '97.00' } }
    const printed = [textOf(reportOf(whole)), words(renderHtml(whole))]
    for (const fact of [
      'Request 101 was answered by a rate limiter: 429 Too many. So were 165 others.',
      ...['Money.', 'The <cause> & more.', 'It <works> & more (spec 4.1)', '"It <works>."', '"70"'],
      ...[
        "curl '\\u001b]0;x'",
        'AU-104 probably as AU-101',
        'no way & means',
        'What "no client" & no test sees.',
      ],
      'Balances were read by the smallest bet and its rollback: a & b.',
      ...['100.00 EUR, 97.00 at the end', '3 requests in 1.2 s, seed 1', '1 failed'].slice(0, 2),
    ])
      for (const one of printed) expect(one).toContain(fact)
  })

  it('show what stands before the wallet first, then what failed, and the verdict last', () => {
    const foreign = { sender: 'a redirect', firstRequest: 1, requests: 1, answer: '301' }
    const lines = textOf(reportOf({ ...report, foreignAnswers: [foreign] })).split('\n')
    const places = [
      /^ {2}Request 1 was/,
      /^ {2}MUST {2}AU-101 {2}placebet: NUL/,
      /^ {2}FAILED/,
      /^ {2}no way & means/,
    ]
    const found = places.map(place => lines.findIndex(line => place.test(line)))
    expect(found).toEqual(found.toSorted((one, other) => one - other))
    expect(found).not.toContain(-1)
  })

  it('leave out what says nothing', () => {
    const usual: AuditReport = {
      ...report,
      balancesReadBy: { by: 'rollback', reason: null },
      limitations: [],
    }
    expect(textOf(reportOf(usual))).not.toMatch(/cannot see|were read|not the interface/)
  })

  it('end with the result, and the levels of the failed cases', () => {
    const last = (changes: Partial<AuditReport>) =>
      textOf(reportOf({ ...report, ...changes }))
        .split('\n')
        .at(-1)
    expect(last({})).toBe(
      'FAILED: 1 passed, 2 failed (1 MUST, 1 SHOULD; 1 finding), 1 skipped (3 requests in 1.2 s, seed 1)',
    )
    const results = report.results.filter(({ verdict }) => verdict !== 'failed')
    expect(last({ results, passed: true })).toBe(
      'PASSED, INCOMPLETE: 1 passed, 0 failed, 1 skipped (3 requests in 1.2 s, seed 1)',
    )
    expect(last({ results: results.slice(1), passed: true, complete: true })).toBe(
      'PASSED: 1 passed, 0 failed, 0 skipped (3 requests in 1.2 s, seed 1)',
    )
  })
})
