/** A reconciliation as one HTML page: for finance, for the platform and for the archive. */

import { documentOf, factList, section, verdictBlock, wideTable } from '../html/document.js'
import { countText, durationText, momentText, numberText } from '../html/figures.js'
import { html, type Markup } from '../html/markup.js'
import { amountText, type DecimalText, isZero, signed } from './amounts.js'
import type { Difference } from './difference.js'
import type { GroupSum } from './groups.js'
import type { Reconciliation } from './reconciliation.js'
import { countedCurrencies, type SideTotal } from './totals.js'
import { effectText, subjectOf, verdictSentence, verdictWords } from './words.js'

/** Of each kind: a page with more is too long to read. The JSON has them. */
const shownMax = 100

/**
 * Renders the result as one self-contained HTML file, without scripts and external resources: its Content
 * Security Policy forbids both. All text is treated as hostile and escaped.
 *
 * @returns a complete document in UTF-8, which is also well-formed XML
 */
export function renderReconciliation(reconciliation: Reconciliation): string {
  const { verdict, kinds, totals, notes, from, to } = reconciliation
  const body = html`${head(reconciliation)}
<main>
${section(totals.length > 0, 'totals', 'Totals', totalsTable(reconciliation))}
${section(kinds.length > 0, 'kinds', 'Differences by kind', kindsTable(reconciliation))}
${kinds.map(kind => kindSection(kind, reconciliation.differences))}
${groupSection('bets', 'Bets', reconciliation.bets, reconciliation.betsOmitted)}
${groupSection('players', 'Players', reconciliation.players, reconciliation.playersOmitted)}
${section(notes.length > 0, 'not-seen', 'What was not compared', html`<ul class="not-seen">${notes.map(note => html`<li>${note}</li>`)}</ul>`)}
</main>
${foot}`
  return documentOf(`${verdictWords[verdict]}: reconciliation of ${from} to ${to}`, body)
}

function head(reconciliation: Reconciliation): Markup {
  const { verdict, from, to, timeZone, rows, durationMs } = reconciliation
  const time = (iso: string) => html`<time datetime="${iso}">${momentText(iso)}</time>`
  const isEqual = verdict === 'equal'
  return html`<header class="head ${isEqual ? 'pass' : verdict === 'nothing-compared' ? 'warn' : 'fail'}">
<p class="kind">Reconciliation <span>Platform's report and wallet</span></p>
${verdictBlock(isEqual, verdictWords[verdict], verdictSentence(reconciliation))}
<div class="protocol">${factList([
    ['From', time(from)],
    ['To', time(to)],
    ['Days', timeZone],
    [
      'Report',
      `${countText(rows.report, 'row')}, ${numberText(rows.outside)} more outside of the range, ${numberText(rows.ignored)} ignored`,
    ],
    ['Wallet', `${countText(rows.wallet, 'transaction')}`],
    ['Agree', numberText(rows.equal)],
    ['Duration', durationText(durationMs)],
  ])}
${netTable(reconciliation)}</div>
</header>`
}

const differenceCell = (amount: DecimalText, currency: string | null) =>
  html`<td class="${isZero(amount) ? 'zero' : 'fail'}" data-name="Difference">${signed(amount, currency)}</td>`

const netTable = (reconciliation: Reconciliation) =>
  wideTable(
    ['Currency', 'Report', 'Wallet', 'Difference'],
    'Net for players',
    countedCurrencies(reconciliation).map(
      ({ currency, report, wallet, difference }) =>
        html`<tr><th scope="row">${currency ?? '?'}</th><td class="none" data-name="Report">${signed(report, currency)}</td><td class="none" data-name="Wallet">${signed(wallet, currency)}</td>${differenceCell(difference, currency)}</tr>`,
    ),
  )

function totalsTable({ totals }: Reconciliation): Markup {
  const side = (name: string, { count, amount, refused }: SideTotal, currency: string | null) =>
    html`<td class="none" data-name="${name}">${numberText(count)}</td><td class="none" data-name="${name}: amount">${amountText(amount, currency)}</td><td class="${refused === 0 ? 'zero' : 'none'}" data-name="${name}: refused">${numberText(refused)}</td>`
  const rows = totals.map(
    ({ day, operation, currency, report, wallet, difference }) =>
      html`<tr><th scope="row">${day || 'all'} ${operation} ${currency ?? '?'}</th>${side('Report', report, currency)}${side('Wallet', wallet, currency)}${differenceCell(difference, currency)}</tr>
`,
  )
  return wideTable(
    ['Day, operation, currency', 'Report', 'amount', 'refused', 'Wallet', 'amount', 'refused', 'Difference'],
    'Per day, operation and currency: how many, their sum, and refusals, which move nothing',
    rows,
  )
}

function kindsTable({ kinds }: Reconciliation): Markup {
  return html`<table><thead><tr><th scope="col">Kind</th><th scope="col">Count</th><th scope="col">Wallet compared with the report</th></tr></thead>
<tbody>${kinds.map(({ kind, title, count, effects }) => html`<tr><th scope="row"><a href="#${kind}">${title}</a></th><td class="fail">${numberText(count)}</td><td class="none">${effectText(effects)}</td></tr>`)}</tbody></table>`
}

const moreText = (more: number) =>
  more > 0
    ? html`<p class="lead">… and ${numberText(more)} more, which the JSON or the lines have.</p>`
    : null

function kindSection(
  { kind, title, sentence, count }: Reconciliation['kinds'][number],
  all: readonly Difference[],
) {
  const shown = all.filter(difference => difference.kind === kind).slice(0, shownMax)
  return section(
    true,
    kind,
    `${title}: ${numberText(count)}`,
    html`<p class="lead">${sentence}</p>${shown.map(article)}${moreText(count - shown.length)}`,
  )
}

function article(difference: Difference): Markup {
  const { operation, transactionId, betId, playerId } = subjectOf(difference)
  const { wallet, effects, explanation, bet } = difference
  const facts: (readonly [string, string])[] = [
    ['Bet', betId],
    ...(playerId === null ? [] : [['Player', playerId] as const]),
    ...(wallet === null ? [] : [['Wallet id', wallet.walletTransactionId] as const]),
  ]
  return html`<article class="case failed fail">
<header><p class="origin"><b>${effectText(effects)}</b> <span class="source">${operation} ${transactionId}</span></p></header>
<p class="impact">${explanation}</p>
<dl class="finding">${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
${bet === null ? null : html`<p class="lead">The bet in the wallet:</p><ul class="not-seen">${bet.map(line => html`<li>${line}</li>`)}</ul>`}</article>
`
}

function groupSection(id: string, heading: string, groups: readonly GroupSum[], omitted: number) {
  const more = omitted === 0 ? null : html`<p class="lead">… and ${numberText(omitted)} more.</p>`
  // Where no money is counted on either side, sums say nothing.
  const counted = groups.filter(({ report, wallet }) => !isZero(report) || !isZero(wallet))
  const rows = counted.map(
    ({ id: name, currency, count, report, wallet, difference }) =>
      html`<tr><th scope="row">${name ?? 'unknown'}</th><td class="none" data-name="Currency">${currency ?? '?'}</td><td class="none" data-name="Differences">${numberText(count)}</td><td class="none" data-name="Report">${signed(report, currency)}</td><td class="none" data-name="Wallet">${signed(wallet, currency)}</td>${differenceCell(difference, currency)}</tr>
`,
  )
  const names = [heading.slice(0, -1), 'Currency', 'Differences', 'Report', 'Wallet', 'Difference']
  return section(
    counted.length > 0,
    id,
    `${heading} that differ most`,
    html`${wideTable(names, null, rows)}${more}`,
  )
}

const foot = html`<footer><h2>How to read this</h2>
<p>A positive amount: the player has that much more in the wallet than the platform counts. The report was compared with the wallet's records by operation and transactionId; amounts are exact. All differences together explain the totals to the last digit.</p>
<p>This file loads nothing and runs no scripts.</p>
</footer>`
