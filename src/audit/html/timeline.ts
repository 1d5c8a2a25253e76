/** The calls of a case: one row each, on one time axis, so that what ran at the same time is seen side by side. */

import { callsOf } from '../excerpt.js'
import type { AuditExchange, AuditResult } from '../report.js'
import { caseCurve } from './balance.js'
import { axisEnd, countText, durationText, percentText } from './figures.js'
import { content, html, type Markup } from './markup.js'

/** What became of a call: shape and word say it, not the colour alone. */
type Fate = 'success' | 'refusal' | 'fault' | 'broken'

const fateOf = ({ status }: AuditExchange): Fate =>
  status === null ? 'broken' : status < 400 ? 'success' : status < 500 ? 'refusal' : 'fault'

/** When a case began and how long its axis is, in milliseconds. */
export function timeSpan({ exchanges, durationMs }: AuditResult): { startMs: number; lengthMs: number } {
  const startMs = exchanges.reduce(
    (least, { sentAtMs }) => Math.min(least, sentAtMs),
    Number.POSITIVE_INFINITY,
  )
  const endMs = exchanges.reduce((most, call) => Math.max(most, call.answeredAtMs ?? call.sentAtMs), startMs)
  // A call that nobody answered lasts as long as its case did.
  const open = exchanges.some(({ answeredAtMs }) => answeredAtMs === null)
  return { startMs, lengthMs: axisEnd(Math.max(endMs - startMs, open ? durationMs : 0)) }
}

/** A race has hundreds of calls. Paper shows so many of a case that did not fail, and the bodies of so many of one that did. */
const paperCallsMax = 8

/** The calls and the balance of a case. Of a failed case every call has its curl line, and the telling one is marked. */
export function timeline(result: AuditResult): Markup {
  const { exchanges, failure } = result
  if (exchanges.length === 0) return html`<p class="quiet">No call was sent.</p>`
  const { startMs, lengthMs } = timeSpan(result)
  const calls = callsOf(exchanges)
  const more = calls - paperCallsMax
  const onPaper = failure ? 'All bodies' : `The other ${countText(more, 'call')}`
  const rows = exchanges.map((exchange, index) =>
    row(exchange, index, {
      startMs,
      lengthMs,
      telling: failure?.exchangeIndex === index,
      withCurl: failure !== null,
    }),
  )
  return html`<div class="timeline">
<p class="axis"><span class="axis-name">${countText(calls, 'call')}, times from the first</span><span class="ticks"><span>0</span><span>${durationText(lengthMs / 2)}</span><span>${durationText(lengthMs)}</span></span><span class="head-status">Answer</span><span class="head-balance">Balance</span></p>
<ol>${rows}</ol>
${
  more > 0
    ? html`<p class="on-paper">${onPaper}: in the file that this was printed from.</p>
`
    : null
}${caseCurve(exchanges, startMs, lengthMs)}
</div>`
}

interface Place {
  startMs: number
  lengthMs: number
  telling: boolean
  withCurl: boolean
}

function row(
  exchange: AuditExchange,
  index: number,
  { startMs, lengthMs, telling, withCurl }: Place,
): Markup {
  const { label, method, path, body, curl, status, answer, balance, error, sentAtMs, answeredAtMs, omitted } =
    exchange
  const others =
    omitted === 0 ? null : html` <i>and ${countText(omitted, 'more like it', 'more like it')}</i>`
  const fate =
    answeredAtMs === null ? noAnswer(exchange) : `answered after ${durationText(answeredAtMs - sentAtMs)}`
  const trouble = error ?? (answeredAtMs === null ? 'no answer' : null)
  const later = index < paperCallsMax || telling ? null : html` class="${withCurl ? 'later-body' : 'later'}"`
  return html`<li${later}><details class="call ${fateOf(exchange)}${telling ? ' telling' : ''}">
<summary><span class="nr">${index + 1}</span><span class="label">${label}${trouble && html` <i>${trouble}</i>`}${others}</span>${bar(exchange, startMs, lengthMs)}<b class="status">${status ?? 'none'}</b><span class="balance">${balance}</span></summary>
<dl class="bodies"><dt>${method} ${path}</dt><dd>${code(body, 'No body.')}</dd>
<dt>${status === null ? 'No answer' : `Answer ${status}`}</dt><dd>${code(answer, 'Nothing came back.')}<p class="quiet">Sent at ${durationText(sentAtMs - startMs)}, ${fate}.</p></dd>
${withCurl ? html`<dt class="again">To send it again</dt><dd class="again">${code(curl, 'No curl line.', 'curl')}</dd>` : null}</dl>
</details></li>
`
}

/** Why there is no answer, in words. */
export const noAnswer = ({ error }: AuditExchange) => `no answer: ${error ?? 'reason unknown'}`

/** Text of the wire as it was; it wraps, and one click selects all of it. */
export function code(text: string | null, otherwise: string, kind = 'body'): Markup {
  return text
    ? html`<pre class="${kind}"><code>${content(text)}</code></pre>`
    : html`<p class="quiet">${otherwise}</p>`
}

/** From the request to its answer. Without an answer: a broken line to the end of the case, and a cross. */
function bar({ sentAtMs, answeredAtMs }: AuditExchange, startMs: number, lengthMs: number): Markup {
  const from = percentText(sentAtMs - startMs, lengthMs)
  if (answeredAtMs === null) {
    return html`<svg class="bar" aria-hidden="true" width="100%" height="16"><line x1="${from}" x2="100%" y1="8" y2="8"/><circle cx="${from}" cy="8" r="2.5"/><svg x="100%" overflow="visible"><path d="M-9 4l8 8m0-8l-8 8"/></svg></svg>`
  }
  const width = percentText(Math.max(answeredAtMs - sentAtMs, lengthMs / 200), lengthMs)
  return html`<svg class="bar" aria-hidden="true" width="100%" height="16"><rect x="${from}" y="4" width="${width}" height="8"/></svg>`
}
