/** Numbers over time as a chart: inline SVG without scripts, readable in black and white. */
import { shortText } from './figures.js'
import { html, type Markup } from './markup.js'

export interface ChartPoint {
  /** In milliseconds, from any origin. */
  at: number
  /** For the position only. */
  value: number
  /** The exact number, as the page shows it. */
  text: string
}

interface ChartLine {
  /** Empty if it is the only one. */
  name: string
  /** In the order of time. All of them are drawn: their maker bounds their number. */
  points: readonly ChartPoint[]
}

export interface Chart {
  title: string
  /** At most three: each has its own dashes. Infinite values are drawn at the edge. */
  lines: readonly ChartLine[]
  /** The ends of the time axis. */
  from: number
  to: number
  timeText(at: number): string
  /** A value is valid until the next one. Otherwise the line goes straight to it. @default false */
  steps?: boolean
  /** @default false */
  logarithmic?: boolean
}

const [topPx, heightPx] = [20, 90]
const dashes = ['', ' dashed', ' dotted']

/** The position of a value: 0 is the highest, 1 the lowest. */
type Scale = (value: number) => number

function scaleOver(lowest: number, highest: number, isLogarithmic: boolean): Scale {
  const place = isLogarithmic ? logarithm : (value: number) => value
  const [least, most] = [place(lowest), place(highest)]
  // Halves: the difference of two huge numbers is infinite.
  const span = most / 2 - least / 2
  return value => (span > 0 ? (most / 2 - place(value) / 2) / span : 0.5)
}

/** The path of a line in a box of 1000 times 100, by shares of its width and height. */
function pathOf(corners: readonly (readonly [x: number, y: number])[], steps: boolean): string {
  const path = corners.map(([share, scaled], index) => {
    const [x, y] = [Number((share * 1000).toFixed(1)), Number((scaled * 100).toFixed(1))]
    if (index === 0) return `M${x} ${y}`
    return steps ? `H${x}V${y}` : `L${x} ${y}`
  })
  return `${path.join('')}${steps || corners.length === 1 ? 'H1000' : ''}`
}

/** The chart with its title, and in words where it begins and ends, its lowest and its highest value. */
export function chart({
  title,
  lines,
  from,
  to,
  timeText,
  steps = false,
  logarithmic = false,
}: Chart): Markup {
  const drawn = lines
    .map(({ name, points }) => ({ name, points: points.map(finite) }))
    .filter(({ points }) => points.length > 0)
  const all = drawn.flatMap(({ points }) => points)
  const { lowest, highest } = extremesOf(all)
  if (lowest === null || highest === null)
    return html`<figure class="chart"><figcaption><b>${title}</b> Nothing was measured.</figcaption></figure>`
  const scale = scaleOver(lowest.value, highest.value, logarithmic)
  const shareOf = (at: number) => Math.min(1, Math.max(0, (at - from) / (to - from || 1)))
  const words = drawn.map(lineWords).join('; ')
  // It fits any width, since the stroke does not scale.
  const paths = drawn.map(({ points }, index) => {
    const corners = points.map(({ at, value }) => [shareOf(at), scale(value)] as const)
    return html`<svg y="${topPx}" width="100%" height="${heightPx}" viewBox="0 0 1000 100" preserveAspectRatio="none"
overflow="visible"><path class="curve-line${dashes[index] ?? ''}" d="${pathOf(corners, steps)}"/></svg>`
  })
  return html`<figure class="chart">
<figcaption><b>${title}</b> ${words}.${logarithmic ? ' The scale is logarithmic.' : ''}${drawn.length > 1 ? drawn.map(legend) : null}</figcaption>
<svg class="plot" role="img" width="100%" height="${topPx + heightPx + 42}"><title>${title}</title><desc>${words}</desc>
<line class="rule" x1="0" x2="100%" y1="${topPx}" y2="${topPx}"/>${zeroLine(lowest.value, highest.value, scale)}
${paths}
<text class="extreme" x="0" y="14">${shortText(highest.text, 44)}</text>
<text class="extreme" x="0" y="${topPx + heightPx + 16}">${lowest.value === highest.value ? '' : shortText(lowest.text, 44)}</text>
<line class="axis-line" x1="0" x2="100%" y1="${topPx + heightPx + 22}" y2="${topPx + heightPx + 22}"/>
${ticks(from, to, timeText)}</svg>
</figure>`
}

/** Within the range in which differences and logarithms are finite. */
const finite = (point: ChartPoint): ChartPoint =>
  Math.abs(point.value) < 1e300 ? point : { ...point, value: Math.sign(point.value) * 1e300 || 0 }

const logarithm = (value: number) => Math.log10(Math.max(value, 1e-3))

function extremesOf(points: readonly ChartPoint[]) {
  let lowest: ChartPoint | null = null
  let highest: ChartPoint | null = null
  for (const point of points) {
    if (lowest === null || point.value < lowest.value) lowest = point
    if (highest === null || point.value > highest.value) highest = point
  }
  return { lowest, highest }
}

function lineWords({ name, points }: ChartLine): string {
  const [first, last] = [points[0], points.at(-1)]
  const { lowest, highest } = extremesOf(points)
  const words =
    lowest?.value === highest?.value
      ? `${first?.text} throughout`
      : `from ${first?.text} to ${last?.text}, lowest ${lowest?.text}, highest ${highest?.text}`
  return name === '' ? words : `${name} ${words}`
}

const legend = ({ name }: ChartLine, index: number) =>
  html` <span class="key"><svg class="plot" aria-hidden="true" width="34" height="8"><line class="curve-line${dashes[index] ?? ''}" x1="0" x2="34" y1="4" y2="4"/></svg> ${name}</span>`

function zeroLine(lowest: number, highest: number, scale: Scale): Markup | null {
  if (lowest >= 0 || highest <= 0) return null
  const y = (topPx + heightPx * scale(0)).toFixed(1)
  return html`<line class="mark-line" x1="0" x2="100%" y1="${y}" y2="${y}"/><text class="mark" x="100%" y="${y}" text-anchor="end">0</text>`
}

const anchors = ['start', 'middle', 'end']

const ticks = (from: number, to: number, timeText: Chart['timeText']) =>
  anchors.map(
    (anchor, index) =>
      html`<text class="${index === 1 ? 'tick-odd' : 'tick'}" x="${index * 50}%" y="${topPx + heightPx + 38}" text-anchor="${anchor}">${timeText(from + ((to - from) * index) / 2)}</text>`,
  )
