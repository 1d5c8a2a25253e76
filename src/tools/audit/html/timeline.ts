/** The calls of a case, one row each on a common time axis, so that concurrent calls are visible. */

import { code } from '../../html/document.js'
import { axisEnd, countText, durationText, percentText } from '../../html/figures.js'
import { html, type Markup } from '../../html/markup.js'
import { callsOf } from '../excerpt.js'
import type { AuditExchange, AuditResult } from '../report.js'
import { caseCurve } from './balance.js'

/** The outcome of a call: shown by shape and word, not by colour alone. */
type CallOutcome = 'success' | 'refusal' | 'fault' | 'unanswered'

const callOutcomeOf = ({ status }: AuditExchange): CallOutcome =>
  status === null ? 'unanswered' : status < 400 ? 'success' : status < 500 ? 'refusal' : 'fault'

/** The start of a case and the length of its time axis, in milliseconds. */
export function timeSpan({ exchanges, durationMs }: AuditResult): { startMs: number; lengthMs: number } {
  const startMs = exchanges.reduce(
    (least, { sentAtMs }) => Math.min(least, sentAtMs),
    Number.POSITIVE_INFINITY,
  )
  const endMs = exchanges.reduce((most, call) => Math.max(most, call.answeredAtMs ?? call.sentAtMs), startMs)
  // A call without an answer is drawn to the end of its case.
  const open = exchanges.some(({ answeredAtMs }) => answeredAtMs === null)
  return { startMs, lengthMs: axisEnd(Math.max(endMs - startMs, open ? durationMs : 0)) }
}

/** The maximum on paper, since a race has hundreds: of calls, or of bodies in a failed case. */
const paperCallsMax = 8

/** The calls and the balance of a case. A failed case has curl commands, and its decisive call is marked. */
export function timeline(result: AuditResult): Markup {
  const { exchanges, failure } = result
  if (exchanges.length === 0) return html`<p class="quiet">No calls were sent.</p>`
  const { startMs, lengthMs } = timeSpan(result)
  const calls = callsOf(exchanges)
  const more = calls - paperCallsMax
  const onPaper = failure ? 'All bodies' : `The other ${countText(more, 'call')}`
  const rows = exchanges.map((exchange, index) =>
    row(exchange, index, {
      startMs,
      lengthMs,
      decisive: failure?.exchangeIndex === index,
      withCurl: failure !== null,
    }),
  )
  return html`<div class="timeline">
<p class="axis"><span class="axis-name">${countText(calls, 'call')}, time from the first</span><span class="ticks"><span>0</span><span>${durationText(lengthMs / 2)}</span><span>${durationText(lengthMs)}</span></span><span class="head-status">Answer</span><span class="head-balance">Balance</span></p>
<ol>${rows}</ol>
${
  more > 0
    ? html`<p class="on-paper">${onPaper}: see the file from which this was printed.</p>
`
    : null
}${caseCurve(exchanges, startMs, lengthMs)}
</div>`
}

interface Place {
  startMs: number
  lengthMs: number
  decisive: boolean
  withCurl: boolean
}

function row(
  exchange: AuditExchange,
  index: number,
  { startMs, lengthMs, decisive, withCurl }: Place,
): Markup {
  const { label, method, path, body, curl, status, answer, balance, error, sentAtMs, answeredAtMs, omitted } =
    exchange
  const others = omitted === 0 ? null : html` <i>and ${countText(omitted, 'similar call')}</i>`
  const timing =
    answeredAtMs === null ? noAnswer(exchange) : `answered after ${durationText(answeredAtMs - sentAtMs)}`
  const problem = error ?? (answeredAtMs === null ? 'no-answer' : null)
  const later = index < paperCallsMax || decisive ? null : html` class="${withCurl ? 'later-body' : 'later'}"`
  return html`<li${later}><details class="call ${callOutcomeOf(exchange)}${decisive ? ' decisive' : ''}">
<summary><span class="nr">${index + 1}</span><span class="label">${label}${problem && html` <i>${problem}</i>`}${others}</span>${bar(exchange, startMs, lengthMs)}<b class="status">${status ?? 'none'}</b><span class="balance">${balance}</span></summary>
<dl class="bodies"><dt>${method} ${path}</dt><dd>${code(body, 'No body.')}</dd>
<dt>${status === null ? 'No answer' : `Answer ${status}`}</dt><dd>${code(answer, 'No answer.')}<p class="quiet">Sent at ${durationText(sentAtMs - startMs)}, ${timing}.</p></dd>
${withCurl ? html`<dt class="reproduce">Reproduce</dt><dd class="reproduce">${code(curl, 'No curl command.', 'curl')}</dd>` : null}</dl>
</details></li>
`
}

/** The reason for a missing answer. */
export const noAnswer = ({ error }: AuditExchange) => `no answer: ${error ?? 'unknown reason'}`

/** From the request to its answer. Without an answer: a dashed line to the end of the case, and a cross. */
function bar({ sentAtMs, answeredAtMs }: AuditExchange, startMs: number, lengthMs: number): Markup {
  const from = percentText(sentAtMs - startMs, lengthMs)
  if (answeredAtMs === null) {
    return html`<svg class="bar" aria-hidden="true" width="100%" height="16"><line x1="${from}" x2="100%" y1="8" y2="8"/><circle cx="${from}" cy="8" r="2.5"/><svg x="100%" overflow="visible"><path d="M-9 4l8 8m0-8l-8 8"/></svg></svg>`
  }
  const width = percentText(Math.max(answeredAtMs - sentAtMs, lengthMs / 200), lengthMs)
  return html`<svg class="bar" aria-hidden="true" width="100%" height="16"><rect x="${from}" y="4" width="${width}" height="8"/></svg>`
}
