/** The frame of a report as one HTML page, and the parts that reports have in common. */
import { content, html, Markup } from './markup.js'
import { style } from './style.js'

/** Of a page that sends nothing and runs nothing. */
const reportPolicy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"

/**
 * A self-contained page without external resources. A report has no scripts either: its Content Security
 * Policy forbids them.
 *
 * @param head what a page adds to its head
 * @returns a complete document in UTF-8, which is also well-formed XML
 */
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

/** The verdict as a picture, a word and a sentence. */
export function verdictBlock(passed: boolean, heading: string, sentence: Markup | string): Markup {
  return html`<div class="verdict"><svg aria-hidden="true" width="64" height="64" viewBox="0 0 64 64"><circle cx="32" cy="32" r="29"/>${passed ? html`<path d="M18 33l10 10 18-21"/>` : html`<path d="M21 21l22 22m0-22l-22 22"/>`}</svg>
<div><h1>${heading}</h1><p class="sentence">${sentence}</p></div></div>`
}

/** Names and values, in two columns. */
export function factList(facts: readonly (readonly [name: string, value: Markup | string])[]): Markup {
  return html`<dl>${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`
}

/** A table whose rows become blocks of names and values where the page is narrow. */
export const wideTable = (names: readonly string[], caption: string | null, rows: readonly Markup[]) =>
  html`<table class="wide">${caption && html`<caption>${caption}</caption>`}
<thead><tr>${names.map(name => html`<th scope="col">${name}</th>`)}</tr></thead>
<tbody>${rows}</tbody></table>`

/** A part of the page with a heading; `null` if it is not wanted. */
export function section(wanted: boolean, id: string, heading: string, body: Markup): Markup | null {
  return wanted
    ? html`<section class="${id}" aria-labelledby="${id}"><h2 id="${id}">${heading}</h2>${body}</section>`
    : null
}

/** A body as it was sent or received, or a command; one click selects all of it. */
export function code(text: string | null, otherwise: string, kind = 'body'): Markup {
  return text
    ? html`<pre class="${kind}"><code>${content(text)}</code></pre>`
    : html`<p class="quiet">${otherwise}</p>`
}
