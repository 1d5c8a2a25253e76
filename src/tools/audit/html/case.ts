/** One case: complete if it shows a finding, otherwise folded to one line. */

import { code } from '../../html/document.js'
import { countText, durationText } from '../../html/figures.js'
import { html, type Markup } from '../../html/markup.js'
import { callsOf } from '../excerpt.js'
import type { AuditFinding, AuditResult } from '../report.js'
import { headlineOf, nameOf } from '../text.js'
import { noAnswer, timeline } from './timeline.js'

/** The result of a case as a shape and a word: colour is never the only sign. */
interface Outcome {
  kind: 'pass' | 'fail' | 'warn' | 'none'
  sign: string
  word: string
}

export function outcomeOf({ verdict, level }: Pick<AuditResult, 'verdict' | 'level'>): Outcome {
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

/** A finding: what the wallet does wrong, what it costs, the case that shows it, the cases it explains. */
export function findingArticle(
  { cause, level, followers }: AuditFinding,
  number: number,
  { result, anchor }: PlacedCase,
  anchors: ReadonlyMap<string, string>,
): Markup {
  const { id, source, failure } = result
  const quote = failure?.quote ?? null
  const outcome = outcomeOf({ verdict: 'failed', level })
  return html`<article class="case failed ${outcome.kind}" id="${anchor}">
<header>${signOf(outcome)}<p class="origin"><b>Finding ${number}</b> ${level} <span class="source">${id} ${outcome.word}</span></p>
<h3>${headlineOf(result)}</h3></header>
<p class="impact">${failure?.impact ?? 'unknown'}</p>
<dl class="finding">
${cause && html`<div><dt>Cause</dt><dd>${cause}</dd></div>`}
<div><dt>Case</dt><dd>${nameOf(result)}</dd></div>
<div><dt>Source</dt><dd>${source}</dd></div>
${quote && html`<div><dt>Interface</dt><dd>“${quote}”</dd></div>`}
${expectation(result)}
</dl>
${decisiveCall(result)}
${followers.length > 0 ? followerList(followers, anchors) : null}
<h4>All calls of the case</h4>
${timeline(result)}
</article>
`
}

/** A case in the page. */
export interface PlacedCase {
  result: AuditResult
  anchor: string
}

function expectation({ failure, balance }: AuditResult): Markup {
  const left =
    balance === null || balance.explained
      ? null
      : html`
<div><dt>Left behind</dt><dd>balance ${balance.after ?? 'unknown'} after all bets were rolled back, ${balance.before} before</dd></div>`
  return html`<div><dt>Expected</dt><dd>${failure?.expected ?? 'unknown'}</dd></div>
<div class="actual"><dt>Actual</dt><dd>${failure?.actual ?? 'unknown'}</dd></div>${left}`
}

/** The call to paste: of a wrong balance, the one that changed it. */
function decisiveCall({ failure, exchanges }: AuditResult): Markup | null {
  const index = failure?.exchangeIndex ?? -1
  const call = exchanges[index]
  if (call === undefined) return null
  const what = failure?.kind === 'balance' ? 'changed the balance' : 'shows the failure'
  return html`<h4>The call that ${what}: ${index + 1}. ${call.label}</h4>
${code(call.curl, 'No curl command.', 'curl')}
${code(call.status === null ? noAnswer(call) : `${call.status} ${call.answer ?? ''}`, '')}`
}

/** The followers with the same reason in one line. */
function followerList(followers: AuditFinding['followers'], anchors: ReadonlyMap<string, string>): Markup {
  const byReason = new Map<string, string[]>()
  for (const { id, reason } of followers) byReason.set(reason, [...(byReason.get(reason) ?? []), id])
  const link = (id: string) => html`<a href="#${anchors.get(id) ?? id}">${id}</a> `
  return html`<h4>Failed with it</h4>
<ul class="followers">${[...byReason].map(([reason, ids]) => html`<li>${ids.map(link)}<span class="quiet">${reason}</span></li>`)}</ul>`
}

/** A failed case that follows another one: a line that unfolds. */
export function followerCase({ result, anchor }: PlacedCase, reason: string): Markup {
  const { id, name, level, source, failure } = result
  const outcome = outcomeOf(result)
  return html`<details class="case follower ${outcome.kind}" id="${anchor}">
<summary>${signOf(outcome)}<span class="id">${id}</span><h3>${name} <span class="reason">${reason}</span></h3><span class="effort">${level} ${outcome.word}</span></summary>
<div class="case-body failed"><p class="origin">${level} ${outcome.word} <span class="source">${source}</span></p>
<p class="impact">${failure?.impact ?? 'unknown'}</p>
<dl class="finding">${expectation(result)}</dl>
${decisiveCall(result)}
${timeline(result)}</div>
</details>
`
}

/** A passed or skipped case: a line that unfolds. */
export function foldedCase(result: AuditResult, anchor: string): Markup {
  const { id, level, name, source, reason, exchanges, durationMs } = result
  const effort =
    exchanges.length === 0
      ? 'no calls'
      : `${countText(callsOf(exchanges), 'call')}, ${durationText(durationMs)}`
  return html`<details class="case" id="${anchor}">
<summary>${signOf(outcomeOf(result))}<span class="id">${id}</span><h3>${name}${reason === null ? null : html` <span class="reason">${reason}</span>`}</h3><span class="effort">${effort}</span></summary>
<div class="case-body"><p class="origin">${level} ${outcomeOf(result).word} <span class="source">${source}</span></p>
${timeline(result)}</div>
</details>
`
}
