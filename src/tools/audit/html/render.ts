/** The report of an audit as one HTML page: for approval, for debugging and for the archive. */

import { documentOf, factList, section, verdictBlock } from '../../html/document.js'
import { countText, durationText, momentText, numberText } from '../../html/figures.js'
import { html, type Markup } from '../../html/markup.js'
import type { AuditReport, AuditResult, Level } from '../report.js'
import { unusualReading } from '../text.js'
import { auditCurve, type Band } from './balance.js'
import {
  anchorOf,
  type PlacedCase as Case,
  findingArticle,
  foldedCase,
  followerCase,
  outcomeOf,
} from './case.js'
import { timeSpan } from './timeline.js'

/**
 * Renders the report as one self-contained HTML file, without scripts and external resources: its Content
 * Security Policy forbids both. The same report results in the same bytes. All text is treated as hostile and
 * escaped; invisible characters (controls, direction marks, zero-width characters) are written as `\u200b`.
 *
 * @returns a complete document in UTF-8, which is also well-formed XML
 */
export function renderHtml(report: AuditReport): string {
  const cases = report.results.map((result, index) => ({ result, anchor: anchorOf(result, index) }))
  const { limitations } = report
  const folded = (verdict: AuditResult['verdict']) =>
    cases
      .filter(({ result }) => result.verdict === verdict)
      .map(({ result, anchor }) => foldedCase(result, anchor))
  const passed = folded('passed')
  const skipped = folded('skipped')
  const title = `${verdictOf(report)}: wallet audit of ${report.target}`
  const body = html`${hatching}
${head(report)}
<main>
${failures(report, cases)}
${section(skipped.length > 0, 'skipped', `${countText(skipped.length, 'case')} skipped`, html`<p class="lead">The audit proves nothing about these cases.</p>${skipped}`)}
${section(limitations.length > 0, 'not-seen', 'What this audit cannot see', html`<ul class="not-seen">${limitations.map(sentence => html`<li>${sentence}</li>`)}</ul>`)}
${map(cases)}
${balances(report, cases)}
${section(passed.length > 0, 'passed', `${countText(passed.length, 'case')} passed`, html`${passed}`)}
</main>
${foot}`
  return documentOf(title, body)
}

const levels: readonly Level[] = ['MUST', 'SHOULD']
const meanings: Record<Level, string> = {
  MUST: 'a failure loses or creates money, or violates the interface',
  SHOULD: 'a failure causes disputes or work',
}

/** Each finding with the case that shows it best, then the other failed cases. */
function failures({ findings }: AuditReport, cases: readonly Case[]): Markup {
  const failed = cases.filter(({ result }) => result.verdict === 'failed')
  const anchors = new Map(cases.map(({ result, anchor }) => [result.id, anchor]))
  const shown = new Set<Case>()
  const articles = findings.flatMap((finding, index) => {
    const placed = failed.find(candidate => candidate.result.id === finding.id && !shown.has(candidate))
    if (placed === undefined) return []
    shown.add(placed)
    return [findingArticle(finding, index + 1, placed, anchors)]
  })
  const reasons = new Map(
    findings.flatMap(({ followers }) => followers.map(({ id, reason }) => [id, reason] as const)),
  )
  const others = failed.filter(placed => !shown.has(placed))
  const lead = html`<p class="lead">These cases probably fail for the causes above. Run the audit again when those are fixed.</p>`
  const folded = others.map(placed => followerCase(placed, reasons.get(placed.result.id) ?? ''))
  return html`${section(articles.length > 0, 'failures', countText(articles.length, 'finding'), html`${articles}`)}
${section(others.length > 0, 'followers', `${countText(others.length, 'more failed case')}`, html`${lead}${folded}`)}`
}

function verdictOf({ passed, complete }: AuditReport): string {
  return passed ? (complete ? 'Passed' : 'Passed, incomplete') : 'Failed'
}

const counted = ({ results }: AuditReport, verdict: AuditResult['verdict'], level?: Level) =>
  results.filter(result => result.verdict === verdict && (level === undefined || result.level === level))
    .length

/** The verdict, then the facts of the audit. */
function head(report: AuditReport): Markup {
  const { target, startedAt, player, funds, seed, requests, durationMs, results, passed, complete } = report
  const facts: [string, Markup | string][] = [
    ['Wallet', target],
    ['Player', `${player.playerId}, ${player.currency}`],
    ...(funds ? [['Funds', fundsText(funds, player.currency)] as [string, string]] : []),
    ['Started', html`<time datetime="${startedAt}">${momentText(startedAt)}</time>`],
    ['Duration', `${durationText(durationMs)}, ${countText(requests, 'request')}`],
    ['Seed', String(seed)],
  ]
  return html`<header class="head ${passed ? (complete ? 'pass' : 'warn') : 'fail'}">
<p class="kind">Wallet audit <span>Wallet callback interface for bet transactions</span></p>
${verdictBlock(passed, verdictOf(report), sentences(report))}
<div class="protocol">${factList(facts)}
<table><caption>${countText(results.length, 'case')}</caption><thead><tr><th scope="col"><span class="visually-hidden">Level</span></th><th scope="col">passed</th><th scope="col">failed</th><th scope="col">skipped</th></tr></thead>
<tbody>${levels.map(level => html`<tr><th scope="row">${level}</th>${countCell(counted(report, 'passed', level), 'pass')}${countCell(counted(report, 'failed', level), level === 'MUST' ? 'fail' : 'warn')}${countCell(counted(report, 'skipped', level), 'none')}</tr>`)}</tbody></table></div>
</header>`
}

function fundsText({ before, after }: NonNullable<AuditReport['funds']>, currency: string): string {
  const end = after === null ? 'unknown after' : after === before ? 'unchanged after' : `${after} after`
  return `${before} ${currency} before, ${end}`
}

const countCell = (count: number, kind: string) =>
  html`<td class="${count === 0 ? 'zero' : kind}">${numberText(count)}</td>`

function sentences(report: AuditReport): Markup {
  const failedMust = counted(report, 'failed', 'MUST')
  const failedOther = counted(report, 'failed') - failedMust
  const passedMust = numberText(counted(report, 'passed', 'MUST'))
  const skipped = counted(report, 'skipped')
  const reading = unusualReading(report)
  const reasons = new Map<string, number>()
  for (const { reason } of report.results)
    if (reason !== null) reasons.set(reason, (reasons.get(reason) ?? 0) + 1)
  const shown = [...reasons]
    .slice(0, 3)
    .map(([reason, count]) => (reasons.size > 1 ? `${reason} (${count})` : reason))
  if (reasons.size > 3) shown.push('and other reasons')
  const first =
    failedMust > 0
      ? html`<b>${countText(failedMust, 'MUST case')} failed</b>, ${passedMust} passed: ${countText(report.findings.length, 'finding')}.`
      : html`No MUST case failed, ${passedMust} passed.`
  return html`${first}${failedOther > 0 ? html` ${countText(failedOther, 'SHOULD case')} failed.` : null}${
    skipped > 0
      ? html` ${countText(skipped, 'case was', 'cases were')} skipped: ${shown.join('; ')}.`
      : report.complete
        ? ' No case was skipped.'
        : ' Not all cases were run.'
  }${reading && ` ${reading}`}`
}

/** All cases as tiles, by level. */
function map(cases: readonly Case[]): Markup {
  const groups = levels.map(level => ({
    level,
    members: cases.filter(({ result }) => result.level === level),
  }))
  const tile = ({ result, anchor }: Case) => {
    const { kind, sign, word } = outcomeOf(result)
    return html`<li><a class="tile ${kind}" href="#${anchor}" title="${result.name}"><span aria-hidden="true">${sign}</span> ${result.id}<span class="visually-hidden"> ${word}: ${result.name}</span></a></li>`
  }
  return html`<nav aria-labelledby="map"><h2 id="map">All cases</h2>
${groups.map(({ level, members }) => (members.length === 0 ? null : html`<div class="group"><p><b>${level}</b> ${meanings[level]}</p><ul>${members.map(tile)}</ul></div>`))}
<p class="legend"><span><i class="tile pass">✓</i> passed</span> <span><i class="tile fail">✕</i> MUST failed</span> <span><i class="tile warn">!</i> SHOULD failed</span> <span><i class="tile none">–</i> skipped</span></p></nav>`
}

function balances({ player }: AuditReport, cases: readonly Case[]): Markup | null {
  const bands = cases.flatMap(({ result, anchor }): Band[] => {
    if (result.exchanges.length === 0) return []
    const { startMs } = timeSpan(result)
    const failed = result.verdict === 'failed' ? { anchor, id: result.id } : null
    return [{ fromMs: startMs, untilMs: startMs + result.durationMs, failed }]
  })
  const exchanges = cases.flatMap(({ result }) => result.exchanges)
  const curve = auditCurve(exchanges, bands, player.currency)
  return (
    curve &&
    html`<section aria-labelledby="balance"><h2 id="balance">The balance during the audit</h2>${curve}</section>`
  )
}

/** The pattern behind failed cases in the curve: visible without colours too. */
const hatching = html`<svg class="visually-hidden" aria-hidden="true" width="0" height="0"><defs><pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect class="hatch-line" width="1.5" height="6"/></pattern></defs></svg>`

/** What the bars of calls mean. */
const barMeanings = [
  ['success', html`<rect x="0" y="4" width="40" height="8"/>`, 'success'],
  ['refusal', html`<rect x="1" y="4" width="38" height="8"/>`, 'refusal, 4xx'],
  ['fault', html`<rect x="0" y="4" width="40" height="8"/>`, 'fault, 5xx'],
  [
    'unanswered',
    html`<line x1="2" x2="40" y1="8" y2="8"/><circle cx="3" cy="8" r="2.5"/><path d="M31 4l8 8m0-8l-8 8"/>`,
    'no answer',
  ],
] as const

const legend = barMeanings.map(
  ([kind, shape, words]) =>
    html`<li><svg class="bar ${kind}" aria-hidden="true" width="40" height="16">${shape}</svg> ${words}</li>`,
)

const foot = html`<footer><h2>How to read this</h2>
<p>Every case sends calls to the running wallet and judges only the answers. A bar shows a call, from its sending to its answer.</p>
<ul class="legend">${legend}</ul>
<p>Of many similar calls, the first and the last ones are shown. Bodies and answers are cut after 2,000 characters. Invisible characters are written like \\u200b. Credentials are not included: the curl commands read them from environment variables. This file loads nothing and runs no scripts.</p>
</footer>`
