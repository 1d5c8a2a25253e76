/** A simulation as one HTML page: what differs, and the run over time. */
import { type Chart, chart } from '../html/chart.js'
import { documentOf, factList, section, verdictBlock, wideTable } from '../html/document.js'
import { countText, durationText, momentText, numberText } from '../html/figures.js'
import { html, type Markup } from '../html/markup.js'
import { faultAdvice, callText as faultCallText, faultCells, faultColumns } from './fault-text.js'
import type { Latency } from './histogram.js'
import { answerRows, costText, countRows, meanings, sumsText, verdict } from './progress.js'
import type {
  Difference,
  DifferenceGroup,
  InjectedFault,
  PlayerBooks,
  SimulationFaults,
  SimulationReport,
  WrongReplay,
} from './report.js'
import type { PlayerTimeline, SimulationTimeline, TimelinePart } from './timeline.js'

/** A page with more is too long to read. The JSON has them. */
const [differencesMax, curvesMax, playersMax] = [20, 12, 100]

/**
 * Renders the report as one self-contained HTML file, without scripts and external resources: its Content
 * Security Policy forbids both. All text is treated as hostile and escaped.
 *
 * @returns a complete document in UTF-8, which is also well-formed XML
 */
export function renderSimulation(report: SimulationReport): string {
  const { timeline, differences, differencesCount, limitations, durationMs } = report
  const body = html`${head(report)}
<main>
${report.faults && faultSection(report.faults)}
${section(differencesCount > 0, 'differences', countText(differencesCount, 'difference'), html`${groupsTable(report)}${differences.slice(0, differencesMax).map(article)}${moreText(differencesCount - Math.min(differences.length, differencesMax))}`)}
${timeline && section(true, 'time', 'Over time', html`${charts(timeline, durationMs)}`)}
${timeline && section(true, 'balances', 'Balances over time', balanceCharts(timeline, report))}
${section(true, 'books', 'Balances at the end', booksTable(report))}
${section(true, 'counts', 'Counts', factList([...countRows(report), ...answerRows(report)]))}
${section(limitations.length > 0, 'not-seen', 'What this simulation cannot see', html`<ul class="not-seen">${limitations.map(sentence => html`<li>${sentence}</li>`)}</ul>`)}
</main>
${foot}`
  return documentOf(`${verdictWord(report)}: simulated sportsbook on ${report.target}`, body)
}

const verdictWord = ({ passed }: SimulationReport) => (passed ? 'Passed' : 'Failed')

function head(report: SimulationReport): Markup {
  const { passed, target, startedAt, durationMs, requests, seed, runId, books, costs } = report
  const sentences = [verdict(report).replace(/^\w+: /, ''), ...costs.map(costText)].join(' ')
  return html`<header class="head ${passed ? 'pass' : 'fail'}">
<p class="kind">Simulated sportsbook <span>Wallet callback interface for bet transactions</span></p>
${verdictBlock(passed, verdictWord(report), `${sentences.charAt(0).toUpperCase()}${sentences.slice(1)}`)}
<div class="protocol">${factList([
    ['Wallet', target],
    ['Players', numberText(books.players.length)],
    ['Started', html`<time datetime="${startedAt}">${momentText(startedAt)}</time>`],
    ['Duration', `${durationText(durationMs)}, ${countText(requests, 'request')}`],
    ['Seed', `${seed}, ids begin with ${runId}`],
  ])}</div>
</header>`
}

function faultSection(faults: SimulationFaults): Markup | null {
  const { injected, lost, repeated } = faults
  const row = (fault: InjectedFault) => {
    const [command, lost, silent] = faultCells(fault)
    return html`<tr><th scope="row">${command}</th><td class="${fault.lost > 0 ? 'fail' : 'none'}" data-name="Lost">${lost}</td><td class="none" data-name="Silent for">${silent}</td></tr>`
  }
  return section(
    true,
    'faults',
    countText(injected.length, 'fault'),
    html`${wideTable(faultColumns, null, injected.map(row))}
${callList('Lost', lost)}${callList('Decided anew by each retry', repeated)}<p class="lead">${faultAdvice(faults)}</p>`,
  )
}

const callList = (title: string, calls: readonly WrongReplay[]) =>
  calls.length === 0
    ? null
    : html`<h3>${title}</h3><ul class="not-seen">${calls.slice(0, playersMax).map(call => html`<li>${faultCallText(call)}</li>`)}</ul>${moreText(calls.length - playersMax)}`

const moreText = (more: number) =>
  more > 0 ? html`<p class="lead">… and ${numberText(more)} more: see --json.</p>` : null

function groupsTable({ groups }: SimulationReport): Markup {
  const row = ({ kind, operation, type, count, amounts }: DifferenceGroup) =>
    html`<tr><th scope="row">${meanings[kind]}</th><td class="none" data-name="Call">${callText(operation, type)}</td><td class="fail" data-name="Count">${numberText(count)}</td><td class="none" data-name="Amounts">${sumsText(amounts) || '–'}</td></tr>`
  return wideTable(['Difference', 'Call', 'Count', 'Amounts'], null, groups.map(row))
}

const callText = (operation: string | null, type: string | null) =>
  operation === null ? '–' : `${operation}${type === null ? '' : ` ${type}`}`

function article(difference: Difference): Markup {
  const { kind, playerId, betId, operation, transactionId, amount, currency } = difference
  const facts: [string, string][] = [
    ['Player', playerId],
    ...(betId === '' ? [] : [['Bet', betId] as [string, string]]),
    ...(transactionId === null ? [] : [['Call', `${operation} ${transactionId}`] as [string, string]]),
    ['Expected', difference.expected],
    ['Actual', difference.actual],
    ...(difference.recentTransactions.length === 0
      ? []
      : [['Recent calls', difference.recentTransactions.join('; ')] as [string, string]]),
  ]
  return html`<article class="case failed fail">
<header><p class="origin"><b>${amount === null ? '' : `${amount.startsWith('-') ? '' : '+'}${amount} ${currency}`}</b> <span class="source">${kind}</span></p></header>
<p class="impact">${meanings[kind]}</p>
<dl class="finding">${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl></article>
`
}

type Series = readonly [name: string, read: (part: TimelinePart, ms: number) => number | null]

const perSecond =
  (count: (part: TimelinePart) => number) =>
  (part: TimelinePart, ms: number): number =>
    (count(part) * 1000) / ms

const percentile =
  (name: keyof Latency) =>
  ({ latencyMs }: TimelinePart) =>
    latencyMs?.[name] ?? null

function charts({ parts, partMs }: SimulationTimeline, durationMs: number): Markup[] {
  const draw = (
    title: string,
    series: readonly Series[],
    text: (value: number) => string,
    logarithmic = false,
  ) => {
    const lines = series.map(([name, read]) => ({
      name,
      points: parts.flatMap((part, index) => {
        const at = index * partMs
        // The run ends within the last part.
        const value = read(part, Math.max(1, Math.min(partMs, durationMs - at)))
        return value === null ? [] : [{ at, value, text: text(value) }]
      }),
    }))
    return chart({ ...axis(durationMs), title, lines, logarithmic, steps: !logarithmic })
  }
  const rate = (value: number) =>
    `${value >= 10 ? numberText(Math.round(value)) : Number(value.toFixed(1))}/s`
  return [
    draw('Calls', [['', perSecond(part => part.calls)]], rate),
    draw('Refusals (4xx)', [['', perSecond(part => part.refusals)]], rate),
    draw('Failed calls (5xx, no answer)', [['', perSecond(part => part.failedCalls)]], rate),
    draw('Injected faults of the network', [['', perSecond(part => part.faultsInjected)]], rate),
    ...(parts.some(({ differences }) => differences > 0)
      ? [draw('Differences', [['', ({ differences }) => differences]], numberText)]
      : []),
    draw(
      'Latency of the answers',
      [
        ['p50', percentile('p50')],
        ['p99', percentile('p99')],
        ['maximum', percentile('max')],
      ],
      durationText,
      true,
    ),
  ]
}

const axis = (durationMs: number): Pick<Chart, 'from' | 'to' | 'timeText'> => ({
  from: 0,
  to: durationMs,
  timeText: at => (at === 0 ? '0' : durationText(at)),
})

const isWrong = ({ expected, actual }: PlayerBooks) => expected === null || actual !== expected

/** Players whose books differ come first. */
function balanceCharts({ balances }: SimulationTimeline, { books, durationMs }: SimulationReport): Markup {
  const wrong = new Set(books.players.filter(isWrong).map(({ playerId }) => playerId))
  const ofAnswers = balances.filter(player => player.balances.length > 0)
  const sorted = ofAnswers.toSorted(
    (one, other) => Number(wrong.has(other.playerId)) - Number(wrong.has(one.playerId)),
  )
  const shown = sorted.slice(0, curvesMax)
  const draw = ({ playerId, currency, balances: seen }: PlayerTimeline) =>
    chart({
      ...axis(durationMs),
      title: `${playerId}${wrong.has(playerId) ? ' (differs)' : ''}`,
      steps: true,
      lines: [
        {
          name: '',
          points: seen.map(({ atMs, balance }) => ({
            at: atMs,
            value: Number(balance),
            text: `${balance} ${currency}`,
          })),
        },
      ],
    })
  const count =
    books.players.length > shown.length
      ? html`<p class="lead">${shown.length} of ${countText(books.players.length, 'player')}.</p>`
      : null
  return html`${count}<div class="charts">${shown.map(draw)}</div>`
}

function booksTable({ books }: SimulationReport): Markup {
  const sorted = books.players.toSorted((one, other) => Number(isWrong(other)) - Number(isWrong(one)))
  const row = (player: PlayerBooks) => {
    const { playerId, currency, opening, expected, expectedLeast, expectedMost, actual, debt } = player
    const wanted = expected ?? `${expectedLeast} to ${expectedMost}`
    return html`<tr><th scope="row">${playerId}</th><td class="none" data-name="Currency">${currency}</td><td class="none" data-name="At the start">${opening}</td><td class="none" data-name="Expected">${wanted}</td><td class="${isWrong(player) ? 'fail' : 'pass'}" data-name="Wallet">${actual ?? 'no answer'}</td><td class="none" data-name="Owed to the platform">${debt}</td></tr>
`
  }
  const names = ['Player', 'Currency', 'At the start', 'Expected', 'Wallet', 'Owed to the platform']
  const rows = sorted.slice(0, playersMax).map(row)
  return html`${wideTable(names, null, rows)}${moreText(sorted.length - rows.length)}`
}

const foot = html`<footer><h2>How to read this</h2>
<p>The simulator plays the platform over a network with faults, keeps its own books, and compares every balance that the wallet answers with them. Expected: what these books say. Of each stretch of time, a curve has the lowest, the highest and the last balance that was answered; answers of concurrent calls may overtake each other. Failed calls are retried, as the platform does. This file loads nothing and runs no scripts.</p>
</footer>`
