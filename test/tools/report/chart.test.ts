import { describe, expect, it } from 'vitest'
import { type Chart, type ChartPoint, chart } from '../../../src/tools/report/chart.js'
import { tagsOf } from './markup-reader.js'

const points = (...values: readonly (number | string)[]): ChartPoint[] =>
  values.map((value, index) => ({ at: index, value: Number(value), text: String(value) }))

const drawn = (lines: readonly ChartPoint[][], options: Partial<Chart> = {}) => {
  const to = Math.max(1, ...lines.map(each => each.length - 1))
  const { text } = chart({
    ...{
      title: 'Balance',
      lines: lines.map((each, index) => ({ name: lines.length > 1 ? `l${index}` : '', points: each })),
    },
    ...{ from: 0, to, timeText: (at: number) => `t${at}`, steps: true },
    ...options,
  })
  tagsOf(`<!DOCTYPE html>\n${text}\n`)
  return text
}

const pathsOf = (svg: string) => [...svg.matchAll(/ d="([^"]*)"/g)].map(([, path]) => path)

describe('a chart', () => {
  it('says that nothing was measured, without points', () => {
    expect(drawn([])).toContain('Nothing was measured.')
    expect(drawn([[], []])).not.toContain('<svg')
  })

  it('draws one point as a level line to the end', () => {
    const text = drawn([points('12.50')])
    expect(pathsOf(text)).toEqual(['M0 50H1000'])
    expect(text).toContain('12.50 throughout')
  })

  it('goes by steps: the highest at the top, the lowest at the bottom, 0 marked between', () => {
    const text = drawn([points(100, -50, 25)])
    expect(pathsOf(text)).toEqual(['M0 0H500V100H1000V50H1000'])
    expect(text).toContain('<title>Balance</title><desc>from 100 to 25, lowest -50, highest 100</desc>')
    expect(text).toMatch(/class="mark-line" x1="0" x2="100%" y1="80\.0"/)
    expect(drawn([points(1, 2)])).not.toContain('mark-line')
  })

  it('goes straight from point to point without steps, each line with dashes and a name', () => {
    const text = drawn([points(0, 10), points(10, 0), points(5, 5)], { steps: false })
    expect(pathsOf(text)).toEqual(['M0 100L1000 0', 'M0 0L1000 100', 'M0 50L1000 50'])
    expect(text.match(/class="curve-line( dashed| dotted)?" d/g)).toEqual([
      'class="curve-line" d',
      'class="curve-line dashed" d',
      'class="curve-line dotted" d',
    ])
    expect(text).toContain('l0 from 0 to 10, lowest 0, highest 10; l1 from 10 to 0')
    expect(text).toMatch(/class="key">.* l2<\/span>/)
  })

  it('has a logarithmic scale, also for 0', () => {
    expect(pathsOf(drawn([points(1, 100, 10)], { logarithmic: true, steps: false }))).toEqual([
      'M0 100L500 0L1000 50',
    ])
    expect(pathsOf(drawn([points(0, 1)], { logarithmic: true }))).toEqual(['M0 100H1000V0H1000'])
  })

  it('shows huge amounts exactly, and draws them', () => {
    const huge = `${'9'.repeat(40)}.${'9'.repeat(18)}`
    const text = drawn([points(`-${huge}`, '0', huge)])
    expect(pathsOf(text)).toEqual(['M0 100H500V50H1000V0H1000'])
    expect(text).toContain(`lowest -${huge}, highest ${huge}`)
    for (const infinite of ['1e999', '1e308'])
      expect(pathsOf(drawn([points(`-${infinite}`, 0, infinite)]))).toEqual(['M0 100H500V50H1000V0H1000'])
    expect(drawn([points('nothing', 1)])).not.toMatch(/NaN|Infinity/)
  })

  it('escapes all text', () => {
    const attack = '"><script>x</script>'
    const text = drawn([[{ at: 0, value: 1, text: attack }]], { title: attack, timeText: () => attack })
    expect(text).not.toContain('<script')
  })

  it('puts times outside of the axis on its edge', () => {
    const all = [-5, 1, 9].map(at => ({ at, value: at, text: '' }))
    expect(pathsOf(drawn([all], { to: 2 }))).toEqual(['M0 100H500V57.1H1000V0H1000'])
  })
})

it('equal values stand in the middle, and a path has no more decimals than a screen shows', () => {
  const at = (...shares: number[]) =>
    chart({
      ...{ title: 'x', from: 0, to: 3, timeText: String },
      lines: [{ name: '', points: shares.map(share => ({ at: share, value: 5, text: '5' })) }],
    }).text
  expect(at(1)).toContain('d="M333.3 50H1000"')
  expect(at(1, 2)).toContain('d="M333.3 50L666.7 50"')
})
