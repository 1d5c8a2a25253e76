/** One case: a failed one told in full, any other folded to a line. */
import { callsOf } from '../excerpt.js'
import type { AuditResult } from '../report.js'
import { countText, durationText } from './figures.js'
import { html, type Markup } from './markup.js'
import { code, noAnswer, timeline } from './timeline.js'

/** What a case came to, in a shape and a word: colour is never the only sign. */
export interface Outcome {
  kind: 'pass' | 'fail' | 'warn' | 'none'
  sign: string
  word: string
}

export function outcomeOf({ verdict, level }: AuditResult): Outcome {
  if (verdict === 'passed') return { kind: 'pass', sign: '✓', word: 'passed' }
  if (verdict === 'not judged') return { kind: 'none', sign: '–', word: 'not judged' }
  return level === 'MUST'
    ? { kind: 'fail', sign: '✕', word: 'failed' }
    : { kind: 'warn', sign: '!', word: 'failed' }
}

/** Where a case stands in the page. Its own id, unless that is nothing to link to. */
export function anchorOf({ id }: AuditResult, index: number): string {
  return /^[A-Z]+-\d+$/.test(id) ? id : `case-${index + 1}`
}

const signOf = ({ kind, sign }: Outcome) => html`<span class="sign ${kind}" aria-hidden="true">${sign}</span>`

/** A failed case, in the order in which its reader asks: what, expected, found, so what, which call, how it came. */
export function failedCase(result: AuditResult, anchor: string): Markup {
  const { id, level, title, source, failure, exchanges } = result
  const outcome = outcomeOf(result)
  const telling = exchanges[failure?.exchangeIndex ?? -1] ?? null
  return html`<article class="case failed ${outcome.kind}" id="${anchor}">
<header>${signOf(outcome)}<p class="origin"><b>${id}</b> ${level} ${outcome.word} <span class="source">${source}</span></p>
<h3>${title}</h3></header>
<dl class="finding">
<div><dt>Expected</dt><dd>${failure?.expected ?? 'Not told.'}</dd></div>
<div class="found"><dt>Found</dt><dd>${failure?.actual ?? 'Not told.'}</dd></div>
<div><dt>In production</dt><dd>${failure?.impact ?? 'Not told.'}</dd></div>
</dl>
${
  telling &&
  html`<h4>The call that gave it away: ${(failure?.exchangeIndex ?? 0) + 1}. ${telling.label}</h4>
${code(telling.curl, 'No curl line.', 'curl')}
${code(telling.status === null ? noAnswer(telling) : `${telling.status} ${telling.answer ?? ''}`, '')}`
}
<h4>All calls of the case</h4>
${timeline(result)}
</article>
`
}

/** A passed or not judged case: a line that unfolds. */
export function foldedCase(result: AuditResult, anchor: string): Markup {
  const { id, level, title, source, reason, exchanges, durationMs } = result
  const effort =
    exchanges.length === 0
      ? 'no call'
      : `${countText(callsOf(exchanges), 'call')}, ${durationText(durationMs)}`
  return html`<details class="case" id="${anchor}">
<summary>${signOf(outcomeOf(result))}<span class="id">${id}</span><h3>${title}${reason === null ? null : html` <span class="reason">${reason}</span>`}</h3><span class="effort">${effort}</span></summary>
<div class="case-body"><p class="origin">${level} ${outcomeOf(result).word} <span class="source">${source}</span></p>
${timeline(result)}</div>
</details>
`
}
