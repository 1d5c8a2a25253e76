import { describe, expect, it } from 'vitest'
import { renderHtml } from '../../../../src/tools/audit/html/render.js'
import type { AuditReport } from '../../../../src/tools/audit/report.js'
import { palettes } from '../../../../src/tools/report/style.js'
import { tagsOf } from '../../report/markup-reader.js'
import { failingReport, largeReport, passingReport, withEveryText } from './sample.js'

const samples: [string, AuditReport][] = [
  ['failing', failingReport],
  ['passing', passingReport],
  ['large', largeReport],
  ['empty', { ...passingReport, results: [] }],
  ['all texts alike', withEveryText(failingReport, () => 'a text')],
]

const shapeOf = (page: string) =>
  tagsOf(page).map(({ name, attributes }) => `${name} ${Object.keys(attributes).join(' ')}`)

describe('the page', () => {
  it.each(samples)('is well-formed, its links resolve, its ids are unique: %s', (_, report) => {
    const tags = tagsOf(renderHtml(report))
    const ids = tags.flatMap(({ attributes }) => attributes.id ?? [])
    expect(new Set(ids).size).toBe(ids.length)
    for (const { attributes } of tags) {
      const named = [attributes.href?.slice(1), ...(attributes['aria-labelledby']?.split(' ') ?? [])]
      for (const id of named) if (id !== undefined) expect(ids).toContain(id)
    }
    const tiles = tags.filter(({ name, attributes }) => name === 'a' && attributes.class?.startsWith('tile'))
    expect(tiles).toHaveLength(report.results.length)
  })

  it.each(samples)('loads nothing and runs no scripts: %s', (_, report) => {
    const page = renderHtml(report)
    const tags = tagsOf(page)
    const loading = [
      'script',
      'link',
      'img',
      'image',
      'use',
      'iframe',
      'object',
      'embed',
      'base',
      'form',
      'foreignObject',
    ]
    expect(tags.filter(({ name }) => loading.includes(name))).toEqual([])
    const names = new Set(tags.flatMap(({ attributes }) => Object.keys(attributes)))
    expect([...names].filter(name => /^on|^src|^style$|^action$|^xlink|^data$/.test(name))).toEqual([])
    for (const { attributes } of tags) expect(attributes.href ?? '#').toMatch(/^#/)
    const style = page.slice(page.indexOf('<style>'), page.indexOf('</style>'))
    expect(style.match(/@import|@font-face|https?:|url\((?!#hatch\))/g)).toBeNull()
    const policy = tags.find(({ attributes }) => attributes['http-equiv'] === 'Content-Security-Policy')
    expect(policy?.attributes.content).toBe(
      "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'",
    )
  })

  it.each(samples)('has its headings in order and names for its pictures: %s', (_, report) => {
    const page = renderHtml(report)
    const tags = tagsOf(page)
    const levels = tags.flatMap(({ name }) => (/^h\d$/.test(name) ? [Number(name[1])] : []))
    expect(levels[0]).toBe(1)
    levels.forEach((level, index) => void expect(level - (levels[index - 1] ?? 0)).toBeLessThanOrEqual(1))
    expect(levels.filter(level => level === 1)).toHaveLength(1)
    expect(tags.find(({ name }) => name === 'html')?.attributes.lang).toBe('en')
    // Every picture has a name or is hidden from screen readers; nested pictures belong to the outer one.
    for (const [, attributes = ''] of page.matchAll(/<svg((?:\s+[\w:-]+="[^"]*")*)>(?!<title>|\n<title)/g)) {
      expect(attributes).toMatch(/aria-hidden="true"|overflow="visible"/)
    }
  })

  it('is the same for the same report, which is not changed', () => {
    const report = structuredClone(failingReport)
    const page = renderHtml(report)
    expect(report).toEqual(failingReport)
    expect(renderHtml(structuredClone(failingReport))).toBe(page)
  })

  it('stays below 1.5 MB for 80 cases with 600 calls', () => {
    expect(largeReport.results).toHaveLength(80)
    expect(largeReport.requests).toBe(600)
    expect(Buffer.byteLength(renderHtml(largeReport))).toBeLessThan(1_500_000)
  })
})

describe('text from a foreign wallet', () => {
  const hostile = [
    ['a script', '<script>alert(1)</script>'],
    [
      'the end of any element',
      `"'></title></style></code></pre></svg></details>--></textarea><script>alert(1)</script>`,
    ],
    ['an attribute', `" onmouseover="alert(1)" x='`],
    ['a picture', '<img src=x onerror=alert(1)><svg onload=alert(1)>'],
    ['entities', '&lt;script&gt; &#60;b&#62; &amp;amp; &'],
    ['CDATA and comments', ']]><![CDATA[ <!-- -->'],
    ['an address', 'javascript:alert(1)'],
    [
      'invisible characters',
      '\u0000\u0008\u001b[31m\u007f\u0085\u00ad\u200b\u200f\u202e\u2066\ufeff\ufffe\ud800x\udc00\u{e0001}\r',
    ],
  ] as const

  it.each(hostile)('adds nothing to the page, in any field: %s', (_, text) => {
    const page = renderHtml(withEveryText(failingReport, path => `${path} ${text}`))
    const harmless = renderHtml(withEveryText(failingReport, path => `${path} text`))
    expect(shapeOf(page)).toEqual(shapeOf(harmless))
  })

  it('is shown in every field', () => {
    const shown = renderHtml(withEveryText(failingReport, path => `[${path}]`))
    const missing: string[] = []
    withEveryText(failingReport, path => {
      if (!shown.includes(`[${path}]`)) missing.push(path)
      return path
    })
    // Only failed cases show curl commands; the others show the bodies.
    const failed = failingReport.results.flatMap(({ verdict }, index) =>
      verdict === 'failed' ? [index] : [],
    )
    const curls = missing.filter(path => path.endsWith('.curl'))
    // What a failed case left behind is shown if nothing explains it; `actual` says the difference in words.
    const explained = failingReport.results.flatMap(({ balance }, index) =>
      balance?.explained
        ? [`report.results.${index}.balance.before`, `report.results.${index}.balance.after`]
        : [],
    )
    const inWords = ['.failure.difference', 'balancesReadBy.by']
    const numbers = missing.filter(
      path => explained.includes(path) || inWords.some(field => path.endsWith(field)),
    )
    expect(missing.filter(path => !numbers.includes(path))).toEqual(curls)
    expect(curls.length).toBeGreaterThan(0)
    expect(curls.filter(path => failed.includes(Number(path.split('.')[2])))).toEqual([])
  })

  it('is shown with invisible characters as JSON escapes', () => {
    const page = renderHtml(
      withEveryText(failingReport, () => 'a\u200bb\u202ec\u00a0d\u0000e\ud83df\u{e0001}g\u3164h\ufff9'),
    )
    expect(page).toContain('a\\u200bb\\u202ec\\u00a0d\\u0000e\\ud83df\\udb40\\udc01g\\u3164h\\ufff9')
    expect(page.replace(/[\n\t ]/g, '')).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Z}]/u)
  })

  it('keeps letters of all scripts and its line breaks', () => {
    const text = 'Zoë Ōsaka 何事 المستخدم ⚽ 👍\n\tnext'
    expect(renderHtml(withEveryText(failingReport, () => text))).toContain(text)
  })
})

describe('the page shows', () => {
  const textOf = (page: string) =>
    page
      .slice(page.indexOf('<body>'))
      .replace(/<[^>]*>/g, ' ')
      .replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)))
      .replace(/\s+/g, ' ')
  const failing = textOf(renderHtml(failingReport))

  it('the verdict first, with the numbers of failed and skipped cases and the reasons', () => {
    expect(failing).toMatch(
      /^ Wallet audit .{0,80} Failed 3 MUST cases failed , 18 passed: 3 findings\. 1 SHOULD case failed\. 4 cases were skipped: no way to settle was given \(3\); the time budget was used up \(1\)\./,
    )
    expect(textOf(renderHtml(passingReport))).toMatch(
      / Passed No MUST case failed, 16 passed\. No case was skipped\./,
    )
  })

  it('no plain pass if cases were skipped', () => {
    const results = failingReport.results.filter(({ verdict }) => verdict !== 'failed')
    const partly = textOf(renderHtml({ ...failingReport, results, passed: true }))
    expect(partly).toContain('Passed, incomplete')
    expect(partly).toContain('4 cases were skipped')
  })

  it('that an audit is incomplete although no case was skipped', () => {
    const page = textOf(renderHtml({ ...passingReport, complete: false }))
    expect(page).toContain('Passed, incomplete No MUST case failed, 16 passed. Not all cases were run.')
  })

  it('the error of a connection that broke within an answer', () => {
    const results = passingReport.results.map(result => ({
      ...result,
      exchanges: result.exchanges.map(exchange => ({ ...exchange, error: 'cut off in the body' })),
    }))
    expect(textOf(renderHtml({ ...passingReport, results }))).toContain(
      'placebet 30.00 cut off in the body 200',
    )
  })

  it('on paper only the first calls of a race, and the number of the others', () => {
    const page = renderHtml(passingReport)
    expect(page.match(/<li class="later">/g)).toHaveLength(9)
    expect(textOf(page)).toContain('The other 9 calls: see the file from which this was printed.')
    const failed = renderHtml({
      ...failingReport,
      results: failingReport.results.filter(({ failure }) => failure),
    })
    expect(failed.match(/<li class="later-body">/g)).toHaveLength(16)
    expect(failed).not.toContain('<li class="later">')
  })

  it('at most three reasons in the head', () => {
    const results = failingReport.results.map((result, index) =>
      result.verdict === 'skipped' ? { ...result, reason: `reason ${index}` } : result,
    )
    expect(textOf(renderHtml({ ...failingReport, results }))).toMatch(/reason \d+ \(1\); and other reasons\./)
  })

  it('time, player, seed, duration and number of requests', () => {
    expect(failing).toContain(
      `Wallet https://wallet.example.test/callbacks Player audit-player, EUR Funds 1000.00 EUR before, 998.00 after Started 21 November 2026, 07:45:57 UTC Duration 5.80 s, ${failingReport.requests} requests Seed 42`,
    )
  })

  it('findings first, then the cases that follow them, each with all its details', () => {
    const order = [
      '3 findings',
      'Finding 1 MUST AU-108 failed',
      'Finding 2 MUST AU-111 failed',
      'Finding 3 MUST AU-123 failed',
      '1 more failed case',
      'AU-126 Ids that only look alike are different ids the balance was already unexplained after AU-108',
      '4 cases skipped',
      'What this audit cannot see',
      'All cases',
      '20 cases passed',
    ]
    const places = order.map(heading => failing.indexOf(heading))
    expect(places).toEqual([...places].sort((one, other) => one - other))
    expect(Math.min(...places)).toBeGreaterThan(0)
    for (const { failure, exchanges } of failingReport.results) {
      if (failure === null) continue
      const call = exchanges[failure.exchangeIndex ?? -1]
      for (const part of [failure.expected, failure.actual, failure.impact, failure.quote ?? ''])
        expect(failing).toContain(part)
      const what = failure.kind === 'balance' ? 'changed the balance' : 'shows the failure'
      if (call)
        expect(failing).toContain(`call that ${what}: ${(failure.exchangeIndex ?? 0) + 1}. ${call.label}`)
    }
  })

  it('what failed as the heading of a finding, what it costs, a likely cause, and links to the cases that follow it', () => {
    expect(failing).toMatch(
      /AU-108 failed zero stake, to read the balance: 16 of 24 bets accepted, .* A player who sends bets in parallel .* Likely cause Concurrent bets are checked against the same funds: a race\. \(likely, because AU-108/,
    )
    expect(failing).toContain('Case Concurrent bets never debit more than the funds Source spec 4.1, D6')
    expect(failing).toContain('Failed with it AU-126 the balance was already unexplained after AU-108')
    expect(renderHtml(failingReport)).toContain('<a href="#AU-126">AU-126</a>')
    expect(failing).toContain('balance 960.00 after all bets were rolled back, 1000.00 before')
  })

  it('a failed case that is in no finding', () => {
    const page = textOf(renderHtml({ ...failingReport, findings: [] }))
    expect(page).toContain('4 more failed cases')
    for (const { failure } of failingReport.results) if (failure) expect(page).toContain(failure.actual)
  })

  it('what the audit cannot see, and how balances were read if not in the usual way', () => {
    for (const sentence of failingReport.limitations) expect(failing).toContain(sentence)
    expect(failing).not.toContain('Balances were read')
    expect(
      textOf(
        renderHtml({ ...passingReport, balancesReadBy: { by: 'bet-and-rollback', reason: 'it is so' } }),
      ),
    ).toContain('No case was skipped. Balances were read by the smallest bet and its rollback: it is so.')
    expect(textOf(renderHtml({ ...passingReport, limitations: [] }))).not.toContain('cannot see')
  })

  it('a failure whose call is missing', () => {
    const results = failingReport.results.map(result =>
      result.failure ? { ...result, failure: { ...result.failure, exchangeIndex: 99 } } : result,
    )
    const page = textOf(renderHtml({ ...failingReport, results }))
    expect(page).toContain('16 of 24 bets accepted')
    expect(page).not.toContain('The call that')
  })

  it('how many calls were omitted, and where', () => {
    const results = passingReport.results.map((result, index) => {
      const [first, ...rest] = result.exchanges
      return index > 0 || first === undefined
        ? result
        : { ...result, exchanges: [{ ...first, omitted: 1_200 }, ...rest] }
    })
    const page = textOf(renderHtml({ ...passingReport, results }))
    const calls = (passingReport.results[0]?.exchanges.length ?? 0) + 1_200
    expect(page).toContain('and 1,200 similar calls')
    expect(page).toContain(`${calls.toLocaleString('en')} calls, time from the first`)
    expect(page).toContain(`${calls.toLocaleString('en')} calls, `)
    expect(failing).not.toMatch(/and [\d,]+ similar call/)
  })

  it('every call with its status, or the reason why it has none', () => {
    expect(failing).toContain('placebet 30.00, given up closed by us after 2 ms none')
    expect(failing).toContain('concurrent placebet 1.00 502')
    expect(failing).toContain('no answer: timed out after 5,000 ms')
  })
})

describe('the colours', () => {
  const luminance = (hex: string) => {
    const [red = 0, green = 0, blue = 0] = [1, 3, 5].map(at => {
      const part = Number.parseInt(hex.slice(at, at + 2), 16) / 255
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
    })
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
  }
  const contrast = (one: string, other: string) => {
    const [dark = 0, light = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b)
    return (light + 0.05) / (dark + 0.05)
  }

  it.each(Object.entries(palettes))(
    'are readable by %s: a contrast of at least 4.5 on plain and shaded background',
    (_, css) => {
      const colours = Object.fromEntries(
        [...css.matchAll(/--(\w+): (#\w{6});/g)].map(([, name, hex]) => [name, hex]),
      )
      expect(Object.keys(colours)).toHaveLength(10)
      for (const ground of [colours.paper, colours.wash]) {
        for (const name of ['ink', 'soft', 'pass', 'fail', 'warn', 'none', 'call']) {
          expect(contrast(colours[name] ?? '', ground ?? ''), name).toBeGreaterThanOrEqual(4.5)
        }
      }
    },
  )

  it('are measured correctly', () => {
    expect(contrast('#000000', '#ffffff')).toBeCloseTo(21)
    expect(contrast('#777777', '#ffffff')).toBeCloseTo(4.48, 2)
  })
})
