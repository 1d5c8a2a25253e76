/** The page of a simulation: real runs over HTTP, of a correct and of a broken wallet. */
import { describe, expect, it } from 'vitest'
import { renderSimulation } from '../../../src/tools/simulator/page.js'
import type { SimulationReport } from '../../../src/tools/simulator/report.js'
import { expectGoodPage, textOf } from '../report/page-rules.js'
import { simulate } from '../wallets/library.js'

const correct = (await simulate({}, { timeline: true, concurrency: 8 })).report
/** Answers every settlement with 10,000 more than the balance. */
const broken = (
  await simulate(
    {
      call: async ({ operation, next }) => {
        const answer = await next()
        if (operation !== 'settlement') return answer
        return { ...answer, body: answer.body.replace(/"balance":(\d+)/, '"balance":1$1') }
      },
    },
    { timeline: true },
  )
).report

const sectionsOf = (page: string) => [...page.matchAll(/<h2 id="[^"]*">([^<]*)/g)].map(([, title]) => title)

describe('the page of a correct wallet', () => {
  const page = renderSimulation(correct)

  it('says that it passed, and shows the run over time', () => {
    expectGoodPage(page)
    expect(textOf(page)).toContain('Passed The books of 4 players and the wallet agree to the cent.')
    expect(sectionsOf(page)).toEqual([
      ...['Over time', 'Balances over time', 'Balances at the end', 'Counts'],
      'What this simulation cannot see',
    ])
    const titles = [...page.matchAll(/role="img"[^>]*><title>([^<]*)/g)].map(([, title]) => title)
    expect(titles).toEqual([
      ...['Calls', 'Refusals (4xx)', 'Failed calls (5xx, no answer)', 'Injected faults of the network'],
      ...['Latency of the answers', 'ann', 'ben', 'cem', 'dan'],
    ])
  })

  it('has the balances at the start and at the end as exact text', () => {
    for (const { playerId, opening, actual, currency } of correct.books.players) {
      const words = new RegExp(`<title>${playerId}</title><desc>from ${opening} ${currency} to ${actual} `)
      expect(page).toMatch(words)
    }
  })

  it('counts every call and fault of the report', () => {
    const sum = (name: 'calls' | 'faultsInjected' | 'failedCalls') =>
      correct.timeline?.parts.reduce((all, part) => all + part[name], 0)
    expect(sum('faultsInjected')).toBe(Object.values(correct.faultsInjected).reduce((a, b) => a + b))
    expect(sum('failedCalls')).toBe(correct.counts.failedCalls)
    // A request that was cut has no answer to count.
    expect(sum('calls')).toBe(correct.requests - correct.faultsInjected.disconnected)
  })
})

describe('the page of a broken wallet', () => {
  const page = renderSimulation(broken)

  it('shows each kind of difference, what it costs, and the first ones', () => {
    expectGoodPage(page)
    expect(broken.passed).toBe(false)
    expect(textOf(page)).toMatch(/Failed \d+ differences\./)
    expect(sectionsOf(page)[0]).toMatch(/^\d+ differences$/)
    expect(textOf(page)).toContain('an impossible balance was answered')
    expect(page.match(/<article /g)).toHaveLength(Math.min(20, broken.differences.length))
    expect(page).toContain('<title>Differences</title>')
  })

  it('counts every difference over time, also those of the end', async () => {
    let rollbacks = 0
    const { report } = await simulate(
      {
        call: async ({ operation, next }) => {
          const answer = await next()
          if (operation === 'rollbackbet') rollbacks += 1
          // The first four read the opening balances.
          return operation === 'rollbackbet' && rollbacks > 4
            ? { ...answer, body: answer.body.replace(/"balance":(\d+)/, '"balance":1$1') }
            : answer
        },
      },
      { timeline: true, bets: 50, settle: 'unsupported' },
    )
    expect(report.differences.map(({ kind }) => kind)).toContain('closing-balance')
    const counted = report.timeline?.parts.reduce((sum, { differences }) => sum + differences, 0)
    expect(counted).toBe(report.differencesCount)
  })

  it('says how many more there are', () => {
    const [first] = broken.differences as [SimulationReport['differences'][number]]
    const many = Array.from({ length: 100 }, () => first)
    const text = textOf(renderSimulation({ ...broken, differences: many, differencesCount: 12_345 }))
    expect(text).toContain('… and 12,325 more: see --json.')
  })
})

describe('of many players', () => {
  const [player] = correct.books.players as [SimulationReport['books']['players'][number]]
  const seen = correct.timeline?.balances[0]?.balances ?? []
  const ids = Array.from({ length: 150 }, (_, index) => `p-${index}`)
  const report: SimulationReport = {
    ...correct,
    books: {
      players: ids.map(playerId => ({
        ...player,
        playerId,
        ...(['p-45', 'p-140'].includes(playerId) && { actual: '0.01' }),
      })),
    },
    timeline: {
      partMs: 1,
      parts: [],
      balances: ids.slice(0, 50).map(playerId => ({ playerId, currency: 'EUR', balances: seen })),
    },
  }
  const page = renderSimulation(report)

  it('12 curves and 100 rows are shown, first those of players who differ', () => {
    const curves = [...page.matchAll(/<title>(p-\d+.*?)<\/title>/g)].map(([, title]) => title)
    expect(curves).toHaveLength(12)
    expect(curves[0]).toBe('p-45 (differs)')
    expect(textOf(page)).toContain('12 of 150 players.')
    const rows = [...page.matchAll(/<th scope="row">(p-\d+)/g)].map(([, id]) => id)
    expect(rows).toHaveLength(100)
    expect(rows.slice(0, 3)).toEqual(['p-45', 'p-140', 'p-0'])
    expect(textOf(page)).toContain('… and 50 more: see --json.')
  })

  it('charts without a call say so', () => {
    expect(page.match(/Nothing was measured\./g)).toHaveLength(5)
  })
})

it('without a timeline, the rest is shown', () => {
  const page = renderSimulation({ ...correct, timeline: null })
  expectGoodPage(page)
  expect(sectionsOf(page)[0]).toBe('Balances at the end')
})

it('a simulation has a timeline only on request', async () => {
  expect((await simulate({}, { bets: 5 })).report.timeline).toBeNull()
  await expect(simulate({}, { timeline: 'yes' as never })).rejects.toThrow('timeline must be true or false')
})

it('no text of a wallet becomes markup', () => {
  const attack = '"><script>x</script>\u202e'
  const hostile = (value: unknown): unknown =>
    typeof value === 'string'
      ? attack
      : Array.isArray(value)
        ? value.map(hostile)
        : typeof value === 'object' && value !== null
          ? Object.fromEntries(Object.entries(value).map(([key, each]) => [key, hostile(each)]))
          : value
  const page = renderSimulation({
    ...(hostile(broken) as SimulationReport),
    answers: { ...broken.answers, placebet: { [attack]: 3 } },
  })
  expectGoodPage(page)
  expect(page).not.toContain('\u202e')
})
