/** A run for people: real runs over HTTP, of a correct and of a broken wallet. */
import { describe, expect, it } from 'vitest'
import { formatSimulationReport, renderSimulation } from '../../../src/tools/random/printed.js'
import type { SimulationReport } from '../../../src/tools/random/report.js'
import { expectGoodPage, textOf } from '../report/page-rules.js'
import { brokenWallets } from '../wallets/broken.js'
import { simulate } from '../wallets/library.js'

const correct = (await simulate({}, { seed: 2, timeline: true, concurrency: 4 })).report
const lateBets = brokenWallets.find(({ name }) => name.startsWith('accepts a bet that arrives after'))
const broken = (
  await simulate(lateBets?.break(() => {}, Date.now) ?? {}, { seed: 2, chaos: 1, timeline: true })
).report

const sectionsOf = (page: string) => [...page.matchAll(/<h2>([^<]*)/g)].map(([, title]) => title)

describe('a correct wallet', () => {
  const text = formatSimulationReport(correct)
  const page = renderSimulation(correct)

  it('has passed, and every count is printed', () => {
    expect(text.split('\n').at(-1)).toBe('PASSED: the books of 4 players and the wallet agree to the cent.')
    for (const name of [
      'Bets',
      'Bets accepted',
      'Bets refused for funds',
      'Late bets refused',
      'Replays absorbed',
    ])
      expect(text).toMatch(new RegExp(`^ +${name} +[1-9]`, 'm'))
    expect(Object.keys(correct.counts)).toHaveLength(17)
    expect(text).toMatch(/^ +Before the wallet +none$/m)
    expect(text).toMatch(/^ +Seed +2, ids begin with run$/m)
    expect(text).toMatch(/^ +Faults of the network +requestLost \d+, answerLost \d+, deliveredLate \d+, /m)
    expect(text).toMatch(/^ +Answers to placebet +200: [0-9,]+/m)
    expect(text).not.toMatch(/undefined|NaN|null/)
  })

  it('has no heading without lines: charts are on the page only', () => {
    const lines = text.split('\n')
    const headings = lines.filter((line, index) => /^\S/.test(line) && lines[index - 1] === '').slice(0, -1)
    expect(headings).toEqual(['Counts'])
  })

  it('has charts of calls, faults, latencies and balances on its page', () => {
    expectGoodPage(page)
    expect(sectionsOf(page)).toEqual([...['Over time', 'Balances over time', 'Counts', 'How to read this']])
    const titles = [...page.matchAll(/role="img"[^>]*><title>([^<]*)/g)].map(([, title]) => title)
    expect(titles.map(title => title?.replace(/ in .*/, ''))).toEqual([
      ...['Calls', 'Refusals (4xx)', 'Failed calls (5xx, no answer)', 'Injected faults of the network'],
      ...['Differences', 'Latency of the answers', 'ann', 'ben', 'cem', 'dan'],
    ])
    for (const { playerId, opening, actual, currency } of correct.books.players) {
      const words = new RegExp(`<title>${playerId}</title><desc>from ${opening} ${currency} to ${actual} `)
      expect(page).toMatch(words)
    }
  })

  it('counts every call and fault of the report over time', () => {
    const sum = (name: 'calls' | 'faultsInjected' | 'failedCalls') =>
      correct.timeline?.parts.reduce((all, part) => all + part[name], 0)
    expect(sum('faultsInjected')).toBe(Object.values(correct.faultsInjected).reduce((a, b) => a + b))
    expect(sum('failedCalls')).toBe(correct.counts.failedCalls)
    // A request that was cut has no answer to count.
    expect(sum('calls')).toBe(correct.requests - correct.faultsInjected.disconnected)
  })

  it('has a timeline only on request', async () => {
    expect(sectionsOf(renderSimulation({ ...correct, timeline: null }))[0]).toBe('Counts')
    expect((await simulate({}, { bets: 5 })).report.timeline).toBeNull()
    await expect(simulate({}, { timeline: 'yes' as never })).rejects.toThrow('timeline must be true or false')
  })
})

describe('a broken wallet', () => {
  it('shows of each of the first differences the player, bet, call and amount', () => {
    const text = formatSimulationReport(broken)
    const lines = text.split('\n')
    expect(lines.at(-1)).toMatch(/^FAILED: \d+ differences\.$/)
    const first = lines.findIndex(line => line.includes('late-bet'))
    expect(lines[first]).toMatch(/^ {2}late-bet +[a-z]+ +a bet was accepted after its rollback$/)
    expect(lines.slice(first + 1, first + 6)).toEqual([
      expect.stringMatching(/^ {4}Bet +run-b\d+$/),
      expect.stringMatching(/^ {4}Call +placebet run-p\d+$/),
      expect.stringMatching(/^ {4}Amount +-[0-9.]+ (EUR|JPY|KWD)$/),
      expect.stringMatching(/Expected +a refusal: its rollback was answered with success before it was sent/),
      expect.stringMatching(/Actual +200$/),
    ])
    const more = broken.differencesCount - 10
    expect(lines).toContain(`  … and ${more.toLocaleString('en')} more`)
  })

  it('counts every difference over time, also those of the end', () => {
    expect(broken.differences.map(({ kind }) => kind)).toContain('closing-balance')
    const counted = broken.timeline?.parts.reduce((sum, { differences }) => sum + differences, 0)
    expect(counted).toBe(broken.differencesCount)
  })

  it('of many players shows 12 curves, first those of players who differ', () => {
    const [player] = correct.books.players as [SimulationReport['books']['players'][number]]
    const ids = Array.from({ length: 40 }, (_, index) => `p-${index}`)
    const [part] = correct.timeline?.parts ?? []
    if (part === undefined) throw new Error('no timeline')
    const balances = Object.fromEntries(ids.map(playerId => [playerId, '1.00']))
    const players = ids.map(playerId => ({
      ...player,
      playerId,
      ...(playerId === 'p-30' && { actual: '0.01' }),
    }))
    const page = renderSimulation({
      ...correct,
      ...{ books: { players }, timeline: { partMs: 1, parts: [{ ...part, balances }] } },
    })
    const curves = [...page.matchAll(/<title>(p-\d+.*?)<\/title>/g)].map(([, title]) => title)
    expect([curves.length, curves[0]]).toEqual([12, 'p-30 (differs)'])
    expect(textOf(page)).toContain('12 of 40 players.')
  })

  it('has no text that becomes markup', () => {
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
})
