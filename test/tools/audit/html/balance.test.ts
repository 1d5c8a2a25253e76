import { describe, expect, it } from 'vitest'
import { auditCurve, balancePoints, caseCurve } from '../../../../src/tools/audit/html/balance.js'
import type { AuditExchange } from '../../../../src/tools/audit/report.js'

const call = (answeredAtMs: number | null, balance: string | null): AuditExchange => ({
  label: 'placebet',
  sentAtMs: 0,
  answeredAtMs,
  method: 'POST',
  path: '/placebet',
  body: '{}',
  curl: 'curl',
  status: answeredAtMs === null ? null : 200,
  answer: null,
  balance,
  error: answeredAtMs === null ? 'timed out' : null,
  omitted: 0,
})

/** The corners of the curve, in thousandths of the width and hundredths of the height. */
function cornersOf(svg: string): [number, number][] {
  const path = /d="(M[^"]*)H1000"/.exec(svg)?.[1] ?? ''
  return [...path.matchAll(/[MH](-?[\d.]+)[ V]+(-?[\d.]+)/g)].map(([, x, y]) => [Number(x), Number(y)])
}

describe('the points of a balance curve', () => {
  it('come in the order of the answers, as they were written', () => {
    const points = balancePoints([call(30, '70.00'), call(10, '100.005'), call(null, '1'), call(20, null)])
    expect(points.map(({ atMs, text }) => [atMs, text])).toEqual([
      [10, '100.005'],
      [30, '70.00'],
    ])
  })

  it.each(['1e999', 'Infinity', 'NaN', '', ' 1', '1,5', '0x10', '9'.repeat(41), '<b>'])(
    'do not include %j',
    balance => {
      expect(balancePoints([call(1, balance)])).toEqual([])
    },
  )

  it('include what is below zero, and what no float can hold', () => {
    expect(balancePoints([call(1, '-0.01'), call(2, '9'.repeat(40))]).map(({ value }) => value)).toEqual([
      -0.01, 1e40,
    ])
  })
})

describe('the curve of a case', () => {
  it('goes by steps, on the axis of the calls', () => {
    const curve = caseCurve([call(110, '100'), call(150, '0'), call(200, '50')], 100, 100)?.text ?? ''
    expect(cornersOf(curve)).toEqual([
      [100, 0],
      [500, 100],
      [1000, 50],
    ])
    expect(curve).toContain('from 100 to 50, lowest 0, highest 100')
  })

  it('is level for a constant balance, and says so', () => {
    const curve = caseCurve([call(1, '5.00'), call(2, '5.00')], 0, 4)?.text ?? ''
    expect(cornersOf(curve).map(([, y]) => y)).toEqual([50, 50])
    expect(curve).toContain('5.00 throughout')
  })

  it('is not drawn from fewer than two balances', () => {
    expect(caseCurve([call(1, '5.00'), call(2, null)], 0, 2)).toBeNull()
  })
})

describe('the curve of the audit', () => {
  it('shortens a long pause, and marks it', () => {
    const moments = [0, 10, 20, 30, 40, 30_040, 30_050, 30_060]
    const curve =
      auditCurve(
        moments.map((ms, index) => call(ms, String(index))),
        [],
        'EUR',
      )?.text ?? ''
    const places = cornersOf(curve).map(([x]) => x)
    expect(places).toEqual([...places].sort((one, other) => one - other))
    expect((places[5] ?? 0) - (places[4] ?? 0)).toBeCloseTo(625, 0)
    expect((places[1] ?? 0) - (places[0] ?? 0)).toBeCloseTo(62.5, 0)
    expect(curve.match(/class="pause"/g)).toHaveLength(1)
    expect(curve).toContain('>30.06 s<')
  })

  it('is proportional to time without a long pause', () => {
    const curve =
      auditCurve([call(0, '1'), call(10, '2'), call(40, '3'), call(50, '4')], [], 'EUR')?.text ?? ''
    expect(cornersOf(curve).map(([x]) => x)).toEqual([0, 200, 800, 1000])
    expect(curve).not.toContain('class="pause"')
  })

  it('names the failed cases, links to them, and omits names that would overlap', () => {
    const band = (fromMs: number, id: string) => ({ fromMs, untilMs: fromMs + 5, failed: { anchor: id, id } })
    const bands = [band(0, 'AU-01'), band(10, 'AU-02'), band(60, 'AU-03')]
    const curve = auditCurve([call(50, '1'), call(100, '2')], bands, 'EUR')?.text ?? ''
    expect([...curve.matchAll(/href="#([^"]*)"/g)].map(([, anchor]) => anchor)).toEqual([
      'AU-01',
      'AU-02',
      'AU-03',
    ])
    expect([...curve.matchAll(/✕ ([^<]*)</g)].map(([, id]) => id)).toEqual(['AU-01', 'AU-03'])
  })

  const curveOf = (balances: string[]) =>
    auditCurve(
      balances.map((text, ms) => call(ms, text)),
      [],
      'EUR',
    )?.text ?? ''
  const marksOf = (curve: string) =>
    [...curve.matchAll(/class="mark"[^>]*>([^<]*)</g)].map(([, name]) => name)

  it('marks zero if the balance fell below it', () => {
    expect(marksOf(curveOf(['10', '-10']))).toEqual(['0'])
    expect(marksOf(curveOf(['10', '0']))).toEqual([])
    expect(marksOf(curveOf(['10', '10']))).toEqual([])
  })

  it('is logarithmic if a few balances are extreme, and says so', () => {
    const usual = Array.from({ length: 40 }, (_, index) => (index % 2 === 0 ? '1000' : '991'))
    const curve = curveOf([...usual, '1000000999'])
    expect(marksOf(curve)).toEqual(['1000', '+10³', '+10⁶'])
    expect(curve).toContain('is logarithmic')
    const [one, other] = cornersOf(curve)
    expect((other?.[1] ?? 0) - (one?.[1] ?? 0)).toBeCloseTo(10)
    expect(curveOf(usual)).not.toContain('is logarithmic')
  })

  it('is not drawn without balances', () => {
    expect(auditCurve([call(1, null), call(null, null)], [], 'EUR')).toBeNull()
  })
})
