/** The report as JUnit XML, for build servers. */

import { describeForeign } from './foreign-answers.js'
import { headlineOf, unusualReading } from './printout.js'
import type { AuditReport, AuditResult } from './report.js'

/**
 * One suite with all cases. A failure has the expected and actual result, the impact, the request, and the
 * case that it follows. The findings and what the audit cannot see are in `system-out`.
 */
export function renderJunit(report: AuditReport): string {
  const failures = report.results.filter(({ verdict }) => verdict === 'failed').length
  const skipped = report.results.filter(({ verdict }) => verdict === 'skipped').length
  const counts = `tests="${report.results.length}" failures="${failures}" errors="0" skipped="${skipped}"`
  const time = seconds(report.durationMs)
  const properties = [
    ['target', report.target],
    ['seed', String(report.seed)],
    ['player', report.player.playerId],
    ['currency', report.player.currency],
    ['requests', String(report.requests)],
  ].map(([name, value]) => `      <property name="${name}" value="${escaped(value ?? '')}"/>`)
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="bet-wallet audit" ${counts} time="${time}">`,
    `  <testsuite name="${escaped(report.target)}" ${counts} time="${time}" timestamp="${report.startedAt.slice(0, 19)}">`,
    '    <properties>',
    ...properties,
    '    </properties>',
    ...report.results.flatMap(result => caseLines(result, report)),
    `    <system-out>${escaped(summaryOf(report))}</system-out>`,
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n')
}

function summaryOf(report: AuditReport): string {
  const { findings, foreignAnswers, results, limitations } = report
  const reading = unusualReading(report)
  return [
    ...foreignAnswers.map(describeForeign),
    ...findings.map(({ id, level, cause, followers }) => {
      const result = results.find(candidate => candidate.id === id)
      const why = cause === null ? '' : ` Cause: ${cause}`
      const also = followers.length === 0 ? '' : ` Also ${followers.map(({ id }) => id).join(', ')}.`
      return `${level} ${id}: ${result === undefined ? '' : headlineOf(result)}. ${result?.failure?.impact ?? ''}${why}${also}`
    }),
    ...(reading === null ? [] : [reading]),
    ...(limitations.length === 0 ? [] : ['What this audit cannot see:', ...limitations]),
  ].join('\n')
}

function caseLines(result: AuditResult, { findings }: AuditReport): string[] {
  const { id, level, name, source, verdict, reason, failure, exchanges, durationMs } = result
  const head = `    <testcase classname="${level}" name="${escaped(`${id} ${name} (${source})`)}" time="${seconds(durationMs)}"`
  if (verdict === 'passed') return [`${head}/>`]
  if (failure === null)
    return [`${head}>`, `      <skipped message="${escaped(reason ?? '')}"/>`, '    </testcase>']
  const finding = findings.find(({ followers }) => followers.some(follower => follower.id === id))
  const follower = finding?.followers.find(candidate => candidate.id === id)
  const cause = findings.find(candidate => candidate.id === id)?.cause ?? null
  const sent = failure.exchangeIndex === null ? undefined : exchanges[failure.exchangeIndex]
  const text = [
    ...(cause === null ? [] : [`cause:     ${cause}`]),
    ...(follower === undefined ? [] : [`follows:   ${finding?.id} (${follower.reason})`]),
    `expected:  ${failure.expected}`,
    `actual:    ${failure.actual}`,
    `impact:    ${failure.impact}`,
    ...(failure.quote === null ? [] : [`interface: "${failure.quote}"`]),
    ...(sent === undefined
      ? []
      : [`request:   ${sent.label}`, ...(sent.curl === '' ? [] : [`reproduce: ${sent.curl}`])]),
  ].join('\n')
  const message = escaped(`expected ${failure.expected}, actual ${failure.actual}`)
  return [
    `${head}>`,
    `      <failure type="${level}" message="${message}">${escaped(text)}</failure>`,
    '    </testcase>',
  ]
}

const seconds = (ms: number) => (ms / 1_000).toFixed(3)

/** Escapes XML. Characters that XML 1.0 does not allow at all are written as in JSON: `\u0000`. */
function escaped(text: string): string {
  return text
    .replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, character => {
      return `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`
    })
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll('\r', '&#13;')
}
