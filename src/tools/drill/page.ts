/** A drill as one HTML page. */
import { documentOf, factList, section, verdictBlock, wideTable } from '../html/document.js'
import { countText, durationText, momentText, numberText } from '../html/figures.js'
import { html, type Markup } from '../html/markup.js'
import type { DrillReport, FaultReport, WrongReplay } from './report.js'
import { blameOf, callText, factsOf, faultCells, faultColumns, verdictOf } from './text.js'

/** A page with more is too long to read. The JSON has them. */
const callsMax = 100

/**
 * Renders the report as one self-contained HTML file, without scripts and external resources. All text is
 * treated as hostile and escaped.
 *
 * @returns a complete document in UTF-8, which is also well-formed XML
 */
export function renderDrill(report: DrillReport): string {
  const { faults, lost, repeated, passed, target, startedAt, durationMs } = report
  const word = passed ? 'Passed' : 'Failed'
  const sentence = [verdictOf(report).replace(/^\w+: /, ''), ...blameOf(report)].join(' ')
  const body = html`<header class="head ${passed ? 'pass' : 'fail'}">
<p class="kind">Drill <span>Faults of the operator’s own system under load</span></p>
${verdictBlock(passed, word, `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}`)}
<div class="protocol">${factList([
    ['Wallet', target],
    ['Started', html`<time datetime="${startedAt}">${momentText(startedAt)}</time>`],
    ['Duration', durationText(durationMs)],
  ])}</div>
</header>
<main>
${section(true, 'faults', countText(faults.length, 'fault'), html`${wideTable(faultColumns, null, faults.map(faultRow))}${problemsOf(faults)}`)}
${section(lost.length > 0, 'lost', `${countText(lost.length, 'answered call')} lost`, callList(lost))}
${section(repeated.length > 0, 'repeated', `${countText(repeated.length, 'call')} decided anew by each retry`, callList(repeated))}
${section(true, 'counts', 'Counts', factList(factsOf(report)))}
</main>
${foot}`
  return documentOf(`${word}: drill on ${target}`, body)
}

function faultRow(fault: FaultReport): Markup {
  const [name = '', ...cells] = faultCells(fault)
  const tone = (column: number) =>
    column === 0 && fault.lost > 0
      ? 'fail'
      : column === 2 && fault.answeredAgain === 'never'
        ? 'fail'
        : 'none'
  return html`<tr><th scope="row">${name}</th>${cells.map((cell, column) => html`<td class="${tone(column)}" data-name="${faultColumns[column + 1] ?? ''}">${cell}</td>`)}</tr>
`
}

const problemsOf = (faults: readonly FaultReport[]) =>
  faults.flatMap(({ name, problems }) =>
    problems.map(problem => html`<p class="lead">${name}: ${problem}</p>`),
  )

function callList(calls: readonly WrongReplay[]): Markup {
  const more = calls.length - callsMax
  return html`<ul class="not-seen">${calls.slice(0, callsMax).map(call => html`<li>${callText(call)}</li>`)}</ul>${more > 0 ? html`<p class="lead">… and ${numberText(more)} more: see --json.</p>` : null}`
}

const foot = html`<footer><h2>How to read this</h2>
<p>A simulated sportsbook plays the platform while the faults are injected. Silent for: from the last answered call before to the first one after. At the end every answered call is sent again: an answer that is not the replay of the first one means that the wallet has lost the call, which the retry has then decided anew. Balances before and after: these retries. This file loads nothing and runs no scripts.</p>
</footer>`
