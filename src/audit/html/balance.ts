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

/** Where a balance stands: 0 is the highest of all, 1 the lowest. */
type Scale = (value: number) => number

function scaleOver(points: readonly BalancePoint[], bent: (value: number) => number = value => value): Scale {
  const { lowest, highest } = extremesOf(points)
  const top = bent(highest?.value ?? 0)
  const span = top - bent(lowest?.value ?? 0)
  return value => (span === 0 ? 0.5 : (top - bent(value)) / span)
}

/** Whether a few balances are so far off that the others would be one flat line: a huge payout, funds staked at once. */
function farApart(points: readonly BalancePoint[]): boolean {
  const values = points.map(({ value }) => value).sort((one, other) => one - other)
  const at = (share: number) => values[Math.round((values.length - 1) * share)] ?? 0
  return (at(0.9) - at(0.1)) * 20 < at(1) - at(0)
}

/** Distances from the first balance by their powers of ten, both ways. */
const logarithmic = (first: number) => (value: number) =>
  Math.sign(value - first) * Math.log10(1 + Math.abs(value - first))

/** The step line: a balance holds until the next answer names another. Fits any width, since its stroke does not scale. */
function stepLine(
  points: readonly BalancePoint[],
  shareOf: (ms: number) => number,
  scale: Scale,
  topPx: number,
  heightPx: number,
): Markup {
  const x = ({ atMs }: BalancePoint) => Number((shareOf(atMs) * 1000).toFixed(1))
  const y = ({ value }: BalancePoint) => Number((scale(value) * 100).toFixed(1))
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
<svg class="plot" role="img" width="100%" height="44"><title>Balance, as the answers named it</title><desc>${words}</desc>${stepLine(points, ms => (ms - startMs) / lengthMs, scaleOver(points), 5, 34)}</svg>
</figure>`
}

/** An axis of time on which long pauses are shortened: one call that timed out would leave no room for all others. */
interface Axis {
  /** 0 to 1. */
  shareOf(ms: number): number
  /** The moment at a share of the axis. */
  momentAt(share: number): number
  /** Where a long pause, a fiftieth of the whole or more, was shortened to a fifth or less. */
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

  const bent = farApart(points)
  const scale = bent ? scaleOver(points, logarithmic(first.value)) : scaleOver(points)
  const powers = [3, 6, 9, 12, 15].flatMap(power => [
    { value: first.value + 10 ** power, name: `+10${powerText(power)}` },
    { value: first.value - 10 ** power, name: `−10${powerText(power)}` },
  ])
  const marks = bent
    ? [{ value: first.value, name: shortText(first.text, 16) }, ...powers]
    : [{ value: 0, name: '0' }]
  const lines = marks
    .filter(({ value }) => value > lowest.value && value < highest.value)
    .map(({ value, name }) => {
      const y = 30 + 120 * scale(value)
      return html`<line class="mark-line" x1="0" x2="100%" y1="${y.toFixed(1)}" y2="${y.toFixed(1)}"/><text class="mark" x="100%" y="${(y - 3).toFixed(1)}" text-anchor="end">${name}</text>`
    })
  const notes = [
    'Shaded: every other case.',
    failed.length > 0 ? 'Hatched: failed cases.' : '',
    axis.pauses.length > 0 ? 'At the double strokes a long pause is shortened.' : '',
    bent ? 'The scale is by powers of ten around the first balance.' : '',
  ]

  return html`<figure class="audit-curve">
<svg class="plot" role="group" aria-labelledby="curve-title curve-desc" width="100%" height="222">
<title id="curve-title">Balance over the audit</title><desc id="curve-desc">${words}</desc>
${even.map(band => strip(band, 'band'))}
<line class="rule" x1="0" x2="100%" y1="30" y2="30"/><line class="rule" x1="0" x2="100%" y1="150" y2="150"/>
${failed}
${stepLine(points, axis.shareOf, scale, 30, 120)}
${lines}
<text class="extreme" x="0" y="16">${shortText(`highest ${highest.text} ${currency}`, 32)}</text>
<text class="extreme" x="0" y="170">${shortText(`lowest ${lowest.text} ${currency}`, 32)}</text>
<line class="axis-line" x1="0" x2="100%" y1="198" y2="198"/>
${axis.pauses.map(share => html`<svg x="${place(share)}" y="198" overflow="visible"><path class="pause" d="M-4 4l3-8m2 8l3-8"/></svg>`)}
${[0, 0.25, 0.5, 0.75, 1].map((share, index) => html`<text class="tick${index % 2 ? ' tick-odd' : ''}" x="${place(share)}" y="216" text-anchor="${['start', 'middle', 'middle', 'middle', 'end'][index] ?? ''}">${index === 0 ? '0' : durationText(axis.momentAt(share))}</text>`)}
</svg>
<figcaption>${words} ${notes.filter(note => note !== '').join(' ')}</figcaption>
</figure>`
}

const powerText = (power: number) => [...String(power)].map(digit => '⁰¹²³⁴⁵⁶⁷⁸⁹'[Number(digit)]).join('')
