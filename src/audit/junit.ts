/** The report as JUnit XML, for build servers. */
import type { AuditReport, AuditResult } from './report.js'

/** One suite with all cases; a failure has the expected and actual result, the impact and the request. */
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
    ...report.results.flatMap(caseLines),
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n')
}

function caseLines(result: AuditResult): string[] {
  const { id, level, title, source, verdict, reason, failure, exchanges, durationMs } = result
  const head = `    <testcase classname="${level}" name="${escaped(`${id} ${title} (${source})`)}" time="${seconds(durationMs)}"`
  if (verdict === 'passed') return [`${head}/>`]
  if (failure === null)
    return [`${head}>`, `      <skipped message="${escaped(reason ?? '')}"/>`, '    </testcase>']
  const sent = failure.exchangeIndex === null ? undefined : exchanges[failure.exchangeIndex]
  const text = [
    `expected:  ${failure.expected}`,
    `actual:    ${failure.actual}`,
    `impact:    ${failure.impact}`,
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
