/** A report as one HTML page: for approval, for finance and for the archive. */
import { type Chart, chart } from './chart.js'
import { content, html, Markup } from './markup.js'
import {
  type Block,
  type Cell,
  type Column,
  type Fact,
  type Finding,
  firstOf,
  partsOfCell,
  printedSections,
  type Report,
  shownMax,
  type Table,
} from './model.js'
import { style } from './style.js'

/** Of a page that sends nothing and runs nothing. */
const reportPolicy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"

/**
 * Renders a report as one self-contained HTML file, without scripts and external resources: its Content
 * Security Policy forbids both. All text is treated as hostile and escaped. The same report results in the
 * same bytes.
 *
 * @returns a complete document in UTF-8, which is also well-formed XML
 */
export function pageOf(report: Report): string {
  const { title, verdict, facts = [], footnotes = [] } = report
  const notes = [...footnotes, 'This file loads nothing and runs no scripts.']
  return documentOf(
    `${verdict.word}: ${title}`,
    html`<header class="head ${verdict.tone}"><p class="kind">${title}</p>
<h1>${verdict.word}</h1><p class="sentence">${verdict.sentence}</p>
${factList(facts)}</header>
<main>
${printedSections(report, 'page').map(({ heading, blocks }) => html`<section><h2>${heading}</h2>${blocks.map(blockOf)}</section>`)}
</main>
<footer><h2>How to read this</h2>${notes.map(note => html`<p>${note}</p>`)}</footer>`,
  )
}

/** A self-contained page without external resources. @param head what a page adds to its head */
export function documentOf(
  title: string,
  body: Markup,
  policy = reportPolicy,
  head: Markup | null = null,
): string {
  return html`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8"/>
<meta http-equiv="Content-Security-Policy" content="${new Markup(policy)}"/>
<meta name="viewport" content="width=device-width, initial-scale=1"/>
<meta name="color-scheme" content="light dark"/>
<meta name="referrer" content="no-referrer"/>
<title>${title}</title>
<style>${style}</style>
${head}</head>
<body>
${body}
</body>
</html>
`.text
}

function blockOf(block: Block): Markup {
  switch (block.kind) {
    case 'text':
      return html`<p class="lead">${block.text}</p>`
    case 'code':
      return code(block.text)
    case 'list':
      return html`<ul>${block.items.map(item => html`<li>${item}</li>`)}</ul>`
    case 'facts':
      return factList(block.facts)
    case 'table':
      return tableOf(block)
    case 'findings':
      return findingsOf(block)
    case 'charts':
      return html`<div class="charts">${block.charts.map((each: Chart) => chart(each))}</div>`
  }
}

/** Names and values, in two columns. */
const factList = (facts: readonly Fact[]) =>
  facts.length === 0
    ? html``
    : html`<dl>${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`

/** To be copied: one click selects all of it. */
export const code = (text: string, kind = 'code') =>
  html`<pre class="${kind}"><code>${content(text)}</code></pre>`

const moreText = (more: number) =>
  more > 0 ? html`<p class="lead">… and ${more.toLocaleString('en')} more.</p>` : null

/** Where the page is narrow, each row is a block of names and values. */
export function tableOf({ columns, rows, total }: Omit<Table, 'kind'>): Markup {
  const { shown, more } = firstOf(rows, total, shownMax.page)
  const head = columns.map(column => html`<th scope="col"${classOf(column)}>${column.name}</th>`)
  return html`<table><thead><tr>${head}</tr></thead>
<tbody>${shown.map(
    row => html`<tr>${row.map((cell, index) => cellOf(cell, columns[index] as Column))}</tr>
`,
  )}</tbody></table>${moreText(more)}`
}

const classOf = ({ isNumber = false }: Column) => (isNumber ? html` class="number"` : null)

function cellOf(cell: Cell, column: Column): Markup {
  const { text, tone, link } = partsOfCell(cell)
  const shown = link === undefined ? text : html`<a href="#${link}">${text}</a>`
  return html`<td data-name="${column.name}"${classOf(column)}><span class="${tone}">${shown}</span></td>`
}

function findingsOf({ findings, total }: { findings: readonly Finding[]; total?: number }): Markup {
  const { shown, more } = firstOf(findings, total, shownMax.page)
  return html`${shown.map(findingOf)}${moreText(more)}`
}

function findingOf({ tone, mark, name, title, sentence, facts, code: texts, ...rest }: Finding): Markup {
  const { details = [], anchor, folded = false } = rest
  const head = html`<b class="${tone}">${mark}</b> ${name} <span class="title">${title}</span>`
  const body = html`${sentence ? html`<p class="sentence">${sentence}</p>` : null}
${factList(facts ?? [])}${(texts ?? []).map(text => code(text))}${details.map(blockOf)}`
  const id = anchor === undefined ? null : html` id="${anchor}"`
  return folded
    ? html`<details${id}><summary>${head}</summary>${body}</details>
`
    : html`<article class="finding ${tone}"${id}><h3>${head}</h3>${body}</article>
`
}
