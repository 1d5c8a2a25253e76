/** One case: complete if it failed, otherwise folded to one line. */
import { callsOf } from '../excerpt.js'
import type { AuditResult } from '../report.js'
import { countText, durationText } from './figures.js'
import { html, type Markup } from './markup.js'
import { code, noAnswer, timeline } from './timeline.js'

/** The result of a case as a shape and a word: colour is never the only sign. */
export interface Outcome {
  kind: 'pass' | 'fail' | 'warn' | 'none'
  sign: string
  word: string
}

export function outcomeOf({ verdict, level }: AuditResult): Outcome {
  if (verdict === 'passed') return { kind: 'pass', sign: '✓', word: 'passed' }
  if (verdict === 'skipped') return { kind: 'none', sign: '–', word: 'skipped' }
  return level === 'MUST'
    ? { kind: 'fail', sign: '✕', word: 'failed' }
    : { kind: 'warn', sign: '!', word: 'failed' }
}

/** The anchor of a case: its id, unless that is no valid anchor. */
export function anchorOf({ id }: AuditResult, index: number): string {
  return /^[A-Z]+-\d+$/.test(id) ? id : `case-${index + 1}`
}

const signOf = ({ kind, sign }: Outcome) => html`<span class="sign ${kind}" aria-hidden="true">${sign}</span>`

/** A failed case: requirement, expected, actual, impact, the call that shows it, and all calls. */
export function failedCase(result: AuditResult, anchor: string): Markup {
  const { id, level, title, source, failure, exchanges } = result
  const outcome = outcomeOf(result)
  const decisive = exchanges[failure?.exchangeIndex ?? -1] ?? null
  return html`<article class="case failed ${outcome.kind}" id="${anchor}">
<header>${signOf(outcome)}<p class="origin"><b>${id}</b> ${level} ${outcome.word} <span class="source">${source}</span></p>
<h3>${title}</h3></header>
<dl class="finding">
<div><dt>Expected</dt><dd>${failure?.expected ?? 'unknown'}</dd></div>
<div class="actual"><dt>Actual</dt><dd>${failure?.actual ?? 'unknown'}</dd></div>
<div><dt>Impact</dt><dd>${failure?.impact ?? 'unknown'}</dd></div>
</dl>
${
  decisive &&
  html`<h4>The call that shows the failure: ${(failure?.exchangeIndex ?? 0) + 1}. ${decisive.label}</h4>
${code(decisive.curl, 'No curl command.', 'curl')}
${code(decisive.status === null ? noAnswer(decisive) : `${decisive.status} ${decisive.answer ?? ''}`, '')}`
}
<h4>All calls of the case</h4>
${timeline(result)}
</article>
`
}

/** A passed or skipped case: a line that unfolds. */
export function foldedCase(result: AuditResult, anchor: string): Markup {
  const { id, level, title, source, reason, exchanges, durationMs } = result
  const effort =
    exchanges.length === 0
      ? 'no calls'
      : `${countText(callsOf(exchanges), 'call')}, ${durationText(durationMs)}`
  return html`<details class="case" id="${anchor}">
<summary>${signOf(outcomeOf(result))}<span class="id">${id}</span><h3>${title}${reason === null ? null : html` <span class="reason">${reason}</span>`}</h3><span class="effort">${effort}</span></summary>
<div class="case-body"><p class="origin">${level} ${outcomeOf(result).word} <span class="source">${source}</span></p>
${timeline(result)}</div>
</details>
`
}
