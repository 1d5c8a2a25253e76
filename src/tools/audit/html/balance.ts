/** The balances in the answers, as a curve over time. */

import { pathOf, type Scale, scaleOver, stretched } from '../../html/chart.js'
import { countText, durationText, percentText, shortText } from '../../html/figures.js'
import { html, type Markup } from '../../html/markup.js'
import type { AuditExchange } from '../report.js'

interface BalancePoint {
  atMs: number
  /** For the position on the curve only; the page shows `text`. */
  value: number
  text: string
}

/** A period that is marked in the curve. */
export interface Band {
  fromMs: number
  untilMs: number
  /** The failed case of this period; otherwise `null`. */
  failed: { anchor: string; id: string } | null
}

/** In the order of the answers. Balances with an exponent are not drawn: the list of calls shows them. */
export function balancePoints(exchanges: readonly AuditExchange[]): BalancePoint[] {
  return exchanges
    .flatMap(({ balance, answeredAtMs }) =>
      balance !== null && answeredAtMs !== null && /^-?\d{1,40}(\.\d{1,40})?$/.test(balance)
        ? [{ atMs: answeredAtMs, value: Number(balance), text: balance }]
        : [],
    )
    .sort((one, other) => one.atMs - other.atMs)
}

const valuesOf = (points: readonly BalancePoint[]) => points.map(({ value }) => value)

const extremesOf = (points: readonly BalancePoint[]) => {
  const sorted = [...points].sort((one, other) => one.value - other.value)
  return { lowest: sorted.at(0), highest: sorted.at(-1) }
}

/** Whether a few extreme balances, such as a huge payout, would turn the others into a flat line. */
function farApart(points: readonly BalancePoint[]): boolean {
  const values = valuesOf(points).sort((one, other) => one - other)
  const at = (share: number) => values[Math.round((values.length - 1) * share)] ?? 0
  return (at(0.9) - at(0.1)) * 20 < at(1) - at(0)
}

/** The distance from the first balance on a logarithmic scale, in both directions. */
const logarithmic = (first: number) => (value: number) =>
  Math.sign(value - first) * Math.log10(1 + Math.abs(value - first))

/** A balance is valid until the next answer. */
function stepLine(
  points: readonly BalancePoint[],
  shareOf: (ms: number) => number,
  scale: Scale,
  topPx: number,
  heightPx: number,
): Markup {
  const corners = points.map(({ atMs, value }) => [shareOf(atMs), scale(value)] as const)
  return stretched(pathOf(corners, true), '', topPx, heightPx)
}

/** The curve of one case on the time axis of its calls; `null` for fewer than two balances. */
export function caseCurve(
  exchanges: readonly AuditExchange[],
  startMs: number,
  lengthMs: number,
): Markup | null {
  const points = balancePoints(exchanges)
  const { lowest, highest } = extremesOf(points)
  const first = points.at(0)
  const last = points.at(-1)
  if (points.length < 2 || !lowest || !highest || !first || !last) return null
  const ends = [first.value, last.value]
  const within = ends.includes(lowest.value) && ends.includes(highest.value)
  const extremes = within ? '' : `, lowest ${lowest.text}, highest ${highest.text}`
  const words =
    lowest.value === highest.value
      ? `${first.text} throughout`
      : `from ${first.text} to ${last.text}${extremes}`
  return html`<figure class="case-curve">
<figcaption><b>Balance</b> ${words}</figcaption>
<svg class="plot" role="img" width="100%" height="44"><title>Balance in the answers</title><desc>${words}</desc>${stepLine(points, ms => (ms - startMs) / lengthMs, scaleOver(valuesOf(points)), 5, 34)}</svg>
</figure>`
}

/** A time axis on which long pauses are shortened: one timeout would leave no space for the other calls. */
interface Axis {
  /** 0 to 1. */
  shareOf(ms: number): number
  /** The moment at a share of the axis. */
  momentAt(share: number): number
  /** Shares at which a pause of at least a fiftieth of the audit was shortened to a fifth or less. */
  pauses: number[]
}

function axisOver(momentsMs: readonly number[]): Axis {
  const moments = [...new Set([0, ...momentsMs])].sort((one, other) => one - other)
  const gaps = moments.slice(1).map((ms, index) => ms - (moments[index] ?? 0))
  const usual = gaps.toSorted((one, other) => one - other)[Math.floor(gaps.length / 2)] ?? 1
  const gapMax = usual * 10
  const places = [0]
  for (const gap of gaps) places.push((places.at(-1) ?? 0) + Math.min(gap, gapMax))
  const length = places.at(-1) || 1
  const between = (value: number, from: readonly number[], to: readonly number[]) => {
    const next = from.findIndex(candidate => candidate >= value)
    if (next <= 0) return (next === 0 ? to.at(0) : to.at(-1)) ?? 0
    const [a = 0, b = 0, c = 0, d = 0] = [from[next - 1], from[next], to[next - 1], to[next]]
    return c + ((value - a) / (b - a)) * (d - c)
  }
  return {
    shareOf: ms => between(ms, moments, places) / length,
    momentAt: share => between(share * length, places, moments),
    pauses: gaps.flatMap((gap, index) =>
      gap >= gapMax * 5 && gap * 50 >= (moments.at(-1) ?? 0)
        ? [((places[index] ?? 0) + gapMax / 2) / length]
        : [],
    ),
  }
}

/** The curve of the whole audit. Every other case is shaded, and the failed ones have their names. */
export function auditCurve(
  exchanges: readonly AuditExchange[],
  bands: readonly Band[],
  currency: string,
): Markup | null {
  const points = balancePoints(exchanges)
  const { lowest, highest } = extremesOf(points)
  const first = points.at(0)
  const last = points.at(-1)
  if (!lowest || !highest || !first || !last) return null
  const axis = axisOver([
    ...points.map(({ atMs }) => atMs),
    ...bands.flatMap(({ fromMs, untilMs }) => [fromMs, untilMs]),
  ])
  const even = bands.filter((band, index) => index % 2 === 1 && band.failed === null)
  const failed = failedBands(bands, axis)
  const words = `${countText(points.length, 'answer')} with a balance. The first was ${first.text}, the last ${last.text}, the lowest ${lowest.text}, the highest ${highest.text} ${currency}.`
  const isLogarithmic = farApart(points)
  const scale = scaleOver(valuesOf(points), isLogarithmic ? logarithmic(first.value) : null)
  const notes = [
    'Shaded: every other case.',
    failed.length > 0 ? 'Hatched: failed cases.' : '',
    axis.pauses.length > 0 ? 'Double strokes: a long pause is shortened.' : '',
    isLogarithmic ? 'The scale is logarithmic around the first balance.' : '',
  ]
  const pauses = axis.pauses.map(
    share =>
      html`<svg x="${percentText(share, 1)}" y="198" overflow="visible"><path class="pause" d="M-4 4l3-8m2 8l3-8"/></svg>`,
  )

  return html`<figure class="audit-curve">
<svg class="plot" role="group" aria-labelledby="curve-title curve-desc" width="100%" height="222">
<title id="curve-title">Balance over the audit</title><desc id="curve-desc">${words}</desc>
${even.map(band => strip(band, axis, 'band'))}
<line class="rule" x1="0" x2="100%" y1="30" y2="30"/><line class="rule" x1="0" x2="100%" y1="150" y2="150"/>
${failed}
${stepLine(points, axis.shareOf, scale, 30, 120)}
${markLines(isLogarithmic ? first : null, lowest, highest, scale)}
<text class="extreme" x="0" y="16">${shortText(`highest ${highest.text} ${currency}`, 32)}</text>
<text class="extreme" x="0" y="170">${shortText(`lowest ${lowest.text} ${currency}`, 32)}</text>
<line class="axis-line" x1="0" x2="100%" y1="198" y2="198"/>
${pauses}
${ticks(axis)}
</svg>
<figcaption>${words} ${notes.filter(note => note !== '').join(' ')}</figcaption>
</figure>`
}

function strip({ fromMs, untilMs }: Band, axis: Axis, kind: string): Markup {
  const from = axis.shareOf(fromMs)
  const width = Math.max(axis.shareOf(untilMs) - from, 0.002)
  return html`<rect class="${kind}" x="${percentText(from, 1)}" y="24" width="${percentText(width, 1)}" height="132"/>`
}

function failedBands(bands: readonly Band[], axis: Axis): Markup[] {
  const failed: Markup[] = []
  let freeFrom = 0
  for (const band of bands) {
    if (band.failed === null) continue
    const { anchor, id } = band.failed
    const at = Math.min(axis.shareOf(band.fromMs), 0.86)
    // A name takes about an eighth of a phone's width. It is omitted if the previous one is too near.
    const name =
      at >= freeFrom
        ? html`<text class="band-name" x="${percentText(at, 1)}" y="187">✕ ${shortText(id, 8)}</text>`
        : null
    if (name !== null) freeFrom = at + 0.14
    failed.push(html`<a href="#${anchor}"><title>${id} failed</title>${strip(band, axis, 'band-failed')}${name}</a>
`)
  }
  return failed
}

/** @param first of a logarithmic scale: marks are powers of ten around it; `null`: one mark at 0 */
function markLines(
  first: BalancePoint | null,
  lowest: BalancePoint,
  highest: BalancePoint,
  scale: Scale,
): Markup[] {
  const powers = [3, 6, 9, 12, 15]
  const marks =
    first === null
      ? [{ value: 0, name: '0' }]
      : [
          { value: first.value, name: shortText(first.text, 16) },
          ...powers.map(power => ({ value: first.value + 10 ** power, name: `+10${powerText(power)}` })),
          ...powers.map(power => ({ value: first.value - 10 ** power, name: `−10${powerText(power)}` })),
        ]
  return marks
    .filter(({ value }) => value > lowest.value && value < highest.value)
    .map(({ value, name }) => {
      const y = 30 + 120 * scale(value)
      return html`<line class="mark-line" x1="0" x2="100%" y1="${y.toFixed(1)}" y2="${y.toFixed(1)}"/><text class="mark" x="100%" y="${(y - 3).toFixed(1)}" text-anchor="end">${name}</text>`
    })
}

function ticks(axis: Axis): Markup[] {
  const anchors = ['start', 'middle', 'middle', 'middle', 'end']
  return anchors.map((anchor, index) => {
    const share = index / 4
    const text = index === 0 ? '0' : durationText(axis.momentAt(share))
    return html`<text class="tick${index % 2 ? ' tick-odd' : ''}" x="${percentText(share, 1)}" y="216" text-anchor="${anchor}">${text}</text>`
  })
}

const powerText = (power: number) => [...String(power)].map(digit => '⁰¹²³⁴⁵⁶⁷⁸⁹'[Number(digit)]).join('')
