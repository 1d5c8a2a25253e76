/** The balances that the answers named, as a curve over time. */
import type { AuditExchange } from '../report.js'
import { countText, durationText, percentText, shortText } from './figures.js'
import { html, type Markup } from './markup.js'

export interface BalancePoint {
  atMs: number
  /** For the place on the curve only; what is shown is `text`. */
  value: number
  text: string
}

/** A stretch of time that is marked in the curve. */
export interface Band {
  fromMs: number
  untilMs: number
  /** Of a failed case: where it is told, and its name. Else `null`. */
  failed: { anchor: string; id: string } | null
}

/** In the order of the answers. Balances that are no plain decimal cannot be drawn: the list of calls shows them. */
export function balancePoints(exchanges: readonly AuditExchange[]): BalancePoint[] {
  return exchanges
    .flatMap(({ balance, answeredAtMs }) =>
      balance !== null && answeredAtMs !== null && /^-?\d{1,40}(\.\d{1,40})?$/.test(balance)
        ? [{ atMs: answeredAtMs, value: Number(balance), text: balance }]
        : [],
    )
    .sort((one, other) => one.atMs - other.atMs)
}

const extremesOf = (points: readonly BalancePoint[]) => {
  const sorted = [...points].sort((one, other) => one.value - other.value)
  return { lowest: sorted.at(0), highest: sorted.at(-1) }
}

/** The step line: a balance holds until the next answer names another. Fits any width, since its stroke does not scale. */
function stepLine(
  points: readonly BalancePoint[],
  shareOf: (ms: number) => number,
  topPx: number,
  heightPx: number,
): Markup {
  const { lowest, highest } = extremesOf(points)
  const span = (highest?.value ?? 0) - (lowest?.value ?? 0)
  const x = ({ atMs }: BalancePoint) => Number((shareOf(atMs) * 1000).toFixed(1))
  const y = ({ value }: BalancePoint) =>
    Number((span === 0 ? 50 : 100 - ((value - (lowest?.value ?? 0)) / span) * 100).toFixed(1))
  const path = points.map((point, index) =>
    index === 0 ? `M${x(point)} ${y(point)}` : `H${x(point)}V${y(point)}`,
  )
  return html`<svg y="${topPx}" width="100%" height="${heightPx}" viewBox="0 0 1000 100" preserveAspectRatio="none"
overflow="visible"><path class="curve-line" d="${path.join('')}H1000"/></svg>`
}

/** One case's curve, drawn to the time axis of its calls. Nothing where there is nothing to draw. */
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
<svg class="plot" role="img" width="100%" height="44"><title>Balance, as the answers named it</title><desc>${words}</desc>${stepLine(points, ms => (ms - startMs) / lengthMs, 5, 34)}</svg>
</figure>`
}

/** An axis of time on which long pauses are shortened: one call that timed out would leave no room for all others. */
interface Axis {
  /** 0 to 1. */
  shareOf(ms: number): number
  /** The moment at a share of the axis. */
  momentAt(share: number): number
  /** Where a pause was shortened to a fifth or less. */
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
      gap >= gapMax * 5 ? [((places[index] ?? 0) + gapMax / 2) / length] : [],
    ),
  }
}

/** The curve of the whole audit, with every other case shaded and the failed ones named. */
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
  const place = (share: number) => percentText(share, 1)
  const strip = ({ fromMs, untilMs }: Band, kind: string) => {
    const from = axis.shareOf(fromMs)
    return html`<rect class="${kind}" x="${place(from)}" y="24" width="${place(Math.max(axis.shareOf(untilMs) - from, 0.002))}" height="132"/>`
  }

  const failed: Markup[] = []
  let roomFrom = 0
  for (const band of bands) {
    if (band.failed === null) continue
    const at = Math.min(axis.shareOf(band.fromMs), 0.86)
    // A name takes about an eighth of a phone's width. Where the one before is too near, the band stays without.
    const name =
      at >= roomFrom &&
      html`<text class="band-name" x="${place(at)}" y="187">✕ ${shortText(band.failed.id, 8)}</text>`
    if (name) roomFrom = at + 0.14
    failed.push(html`<a href="#${band.failed.anchor}"><title>${band.failed.id} failed</title>${strip(band, 'band-failed')}${name || null}</a>
`)
  }
  const even = bands.filter((band, index) => index % 2 === 1 && band.failed === null)
  const words = `${countText(points.length, 'answer')} named a balance. The first was ${first.text}, the last ${last.text}, the lowest ${lowest.text}, the highest ${highest.text} ${currency}.`

  const zeroAt = 30 + (120 * highest.value) / (highest.value - lowest.value || 1)
  const zero =
    lowest.value < 0 && highest.value > 0
      ? html`<line class="zero-line" x1="0" x2="100%" y1="${zeroAt.toFixed(1)}" y2="${zeroAt.toFixed(1)}"/><text class="extreme" x="100%" y="${(zeroAt - 4).toFixed(1)}" text-anchor="end">0</text>`
      : null

  return html`<figure class="audit-curve">
<svg class="plot" role="group" aria-labelledby="curve-title curve-desc" width="100%" height="222">
<title id="curve-title">Balance over the audit</title><desc id="curve-desc">${words}</desc>
${even.map(band => strip(band, 'band'))}
<line class="rule" x1="0" x2="100%" y1="30" y2="30"/><line class="rule" x1="0" x2="100%" y1="150" y2="150"/>
${zero}
${failed}
${stepLine(points, axis.shareOf, 30, 120)}
<text class="extreme" x="0" y="16">${shortText(`highest ${highest.text} ${currency}`, 32)}</text>
<text class="extreme" x="0" y="170">${shortText(`lowest ${lowest.text} ${currency}`, 32)}</text>
<line class="axis-line" x1="0" x2="100%" y1="198" y2="198"/>
${axis.pauses.map(share => html`<svg x="${place(share)}" y="198" overflow="visible"><path class="pause" d="M-4 4l3-8m2 8l3-8"/></svg>`)}
${[0, 0.25, 0.5, 0.75, 1].map((share, index) => html`<text class="tick${index % 2 ? ' tick-odd' : ''}" x="${place(share)}" y="216" text-anchor="${['start', 'middle', 'middle', 'middle', 'end'][index] ?? ''}">${index === 0 ? '0' : durationText(axis.momentAt(share))}</text>`)}
</svg>
<figcaption>${words} Shaded: every other case.${failed.length > 0 ? ' Hatched: failed cases.' : null}${axis.pauses.length > 0 ? ' At the double strokes a long pause is shortened.' : null}</figcaption>
</figure>`
}
