/** The report for people: what the terminal and the page print. */
import { countText, durationText, momentText } from '../report/figures.js'
import {
  type Block,
  type Fact,
  type Finding,
  onPage,
  type Report,
  section,
  type Tone,
} from '../report/model.js'
import { pageOf } from '../report/page.js'
import { callsOf } from './excerpt.js'
import { describeForeign } from './foreign-answers.js'
import type { AuditExchange, AuditFinding, AuditReport, AuditResult, Level, Verdict } from './report.js'

/** The graver one first. */
export const levels: readonly Level[] = ['MUST', 'SHOULD']
const marks: Record<Verdict, string> = { passed: 'passed', failed: 'FAILED', skipped: 'skipped' }

const toneOf = ({ verdict, level }: Pick<AuditResult, 'verdict' | 'level'>): Tone =>
  verdict === 'passed' ? 'pass' : verdict === 'skipped' ? 'none' : level === 'MUST' ? 'fail' : 'warn'

/** What failed, at which call. */
export function headlineOf({ failure, exchanges, name }: AuditResult): string {
  if (failure === null) return name
  const label = exchanges[failure.exchangeIndex ?? -1]?.label
  return `${label === undefined ? '' : `${label}: `}${failure.actual} instead of ${failure.expected}`
}

/** How balances were read, if not in the usual way; otherwise `null`. */
export function unusualReading({ balancesReadBy: { reason } }: AuditReport): string | null {
  return reason === null ? null : `Balances were read by the smallest bet and its rollback: ${reason}.`
}

/**
 * Renders the report as one self-contained HTML file, without scripts and external resources. The same report
 * results in the same bytes.
 *
 * @returns a complete document in UTF-8, which is also well-formed XML
 */
export const renderHtml = (report: AuditReport): string => pageOf(reportOf(report))

/** Foreign answers, the findings, the cases, what was skipped, what the audit cannot see. */
export function reportOf(report: AuditReport): Report {
  const { target, startedAt, player, funds, results, findings, limitations } = report
  const reading = unusualReading(report)
  const first = findings.flatMap(finding => {
    const result = results.find(({ id }) => id === finding.id)
    return result === undefined ? [] : [printedFinding(finding, result)]
  })
  return {
    title: `Wallet audit of ${target}`,
    verdict: verdictOf(report),
    facts: [
      ['player', `${player.playerId}, ${player.currency}`],
      ...(funds === undefined ? [] : [['balance', fundsText(funds, player.currency)] as const]),
      ['started', momentText(startedAt)],
    ],
    sections: [
      section("Answers that are not the interface's", {
        kind: 'list',
        items: report.foreignAnswers.map(describeForeign),
      }),
      section(countText(findings.length, 'finding'), {
        kind: 'findings',
        findings: first,
        total: first.length,
      }),
      { heading: 'Cases', only: 'text', blocks: [tableOf(results)] },
      onPage('Cases', tableOf(results), { kind: 'findings', findings: results.map(caseOf) }),
      section('Skipped', { kind: 'facts', facts: skippedFacts(results) }),
      section('What this audit cannot see', {
        kind: 'list',
        items: [...(reading === null ? [] : [reading]), ...limitations],
      }),
    ],
    footnotes: [
      'A failed MUST loses or creates money, or violates the interface; a failed SHOULD causes disputes or work.',
      'Secrets are replaced by environment variables, such as $WALLET_PASSWORD.',
    ],
  }
}

/** `150 passed, 3 failed (1 MUST, 2 SHOULD; 2 findings), 5 skipped (3,754 requests in 10.3 s, seed 1)` */
function verdictOf({ passed, complete, results, findings, ...report }: AuditReport): Report['verdict'] {
  const count = (verdict: Verdict, level?: Level) =>
    results.filter(result => result.verdict === verdict && (level === undefined || result.level === level))
      .length
  const failed = levels
    .filter(level => count('failed', level) > 0)
    .map(level => `${count('failed', level)} ${level}`)
  const counts = [
    `${count('passed')} passed`,
    `${count('failed')} failed${failed.length === 0 ? '' : ` (${failed.join(', ')}; ${countText(findings.length, 'finding')})`}`,
    `${count('skipped')} skipped`,
  ]
  const effort = `${countText(report.requests, 'request')} in ${(report.durationMs / 1_000).toFixed(1)} s, seed ${report.seed}`
  return {
    tone: passed ? (complete ? 'pass' : 'warn') : 'fail',
    word: passed ? (complete ? 'Passed' : 'Passed, incomplete') : 'Failed',
    sentence: `${counts.join(', ')} (${effort})`,
  }
}

function fundsText({ before, after }: NonNullable<AuditReport['funds']>, currency: string): string {
  if (after === before) return `${before} ${currency}, and the same at the end`
  return `${before} ${currency}, ${after ?? 'unknown'} at the end`
}

const tableOf = (results: readonly AuditResult[]): Block => ({
  kind: 'table',
  columns: ['', 'Case', 'Level', 'Requirement'].map(name => ({ name })),
  rows: results.map(result => [
    { text: marks[result.verdict], tone: toneOf(result) },
    { text: result.id, tone: 'none', link: result.id },
    result.level,
    result.name,
  ]),
})

/** A finding: what failed and what it costs, the call to paste, and the cases that failed with it. */
function printedFinding({ level, cause, followers }: AuditFinding, result: AuditResult): Finding {
  const { id, name, source, failure, exchanges } = result
  const sent = exchanges[failure?.exchangeIndex ?? -1]
  const facts: (Fact | null)[] = [
    cause === null ? null : ['cause', cause],
    ['case', `${failure?.isPreparation ? 'not reached, a step before it failed: ' : ''}${name} (${source})`],
    ...failureFacts(result),
    followers.length === 0 ? null : ['also', alsoText(followers)],
  ]
  return {
    tone: toneOf({ verdict: 'failed', level }),
    mark: level,
    name: id,
    title: headlineOf(result),
    sentence: failure?.impact ?? '',
    facts: facts.filter(fact => fact !== null),
    code: sent === undefined || sent.curl === '' ? [] : [sent.curl],
  }
}

function failureFacts({ failure, exchanges, balance }: AuditResult): Fact[] {
  if (failure === null) return []
  const { quote, expected, actual, exchangeIndex } = failure
  const sent = exchanges[exchangeIndex ?? -1]
  const left = balance === null || balance.explained ? null : balance
  const facts: (Fact | null)[] = [
    quote === null ? null : ['interface', `"${quote}"`],
    ['expected', expected],
    ['actual', actual],
    sent === undefined ? null : ['request', sent.label],
    sent === undefined ? null : ['answer', answerText(sent)],
    left && ['left behind', `balance ${left.after ?? 'unknown'} after its rollbacks, ${left.before} before`],
  ]
  return facts.filter(fact => fact !== null)
}

/** `AU-204, AU-205 as AU-201: the same answer; AU-991 …` */
function alsoText(followers: AuditFinding['followers']): string {
  return idsByReason(followers)
    .map(([reason, ids]) => `${ids.join(', ')} ${reason}`)
    .join('; ')
}

function idsByReason(items: readonly { id: string; reason: string | null }[]) {
  const idsOf = new Map<string | null, string[]>()
  for (const { id, reason } of items) idsOf.set(reason, [...(idsOf.get(reason) ?? []), id])
  return [...idsOf]
}

/** On the page: a line that unfolds to the calls of the case. */
function caseOf(result: AuditResult): Finding {
  const { id, level, name, source, verdict, reason, failure, exchanges, durationMs } = result
  const effort = [`${countText(callsOf(exchanges), 'call')} in ${durationText(durationMs)}`, reason]
  return {
    tone: toneOf(result),
    mark: marks[verdict],
    name: `${id} ${level}`,
    title: `${name} (${source})`,
    sentence: failure?.impact ?? '',
    facts: failureFacts(result),
    details: [
      { kind: 'text', text: effort.filter(text => text !== null).join('; ') },
      {
        kind: 'table',
        columns: [
          { name: 'At ms', isNumber: true },
          { name: 'Call' },
          { name: 'Body' },
          { name: 'Answer' },
          { name: 'Balance', isNumber: true },
        ],
        rows: exchanges.map(exchange => [
          String(Math.round(exchange.sentAtMs)),
          `${exchange.label}${exchange.omitted === 0 ? '' : ` (and ${exchange.omitted} alike)`}`,
          exchange.body,
          answerText(exchange),
          exchange.balance ?? '',
        ]),
      },
    ],
    anchor: id,
    folded: true,
  }
}

const answerText = ({ status, answer, error }: AuditExchange) =>
  status === null ? `none: ${error ?? 'unknown reason'}` : `${status} ${answer ?? ''}`

/** By reason, the ids. */
function skippedFacts(results: readonly AuditResult[]): Fact[] {
  const skipped = results.filter(({ verdict }) => verdict === 'skipped')
  return idsByReason(skipped).map(([reason, ids]) => [reason ?? '', ids.join(' ')])
}

/** `AU-101  MUST    A placebet debits the stake … (spec 4.1)` */
export function formatCases(
  cases: readonly { id: string; level: Level; name: string; source: string }[],
): string {
  return cases
    .map(({ id, level, name, source }) => `${id}  ${level.padEnd(6)}  ${name} (${source})`)
    .join('\n')
}

/** The progress in one line. */
export function formatProgress(result: AuditResult, done: number, total: number, columns: number): string {
  const width = 20
  const filled = Math.round((done / total) * width)
  const bar = `${'█'.repeat(filled)}${'░'.repeat(width - filled)}`
  const text = `[${bar}] ${done}/${total}  ${marks[result.verdict]} ${result.id} ${result.name}`
  return text.length <= columns ? text : `${text.slice(0, Math.max(0, columns - 1))}…`
}

/** The progress where there is no terminal, with the cases that have failed since the last line. */
export function formatProgressLine(done: number, total: number, failed: readonly string[]): string {
  return `${done} of ${total} cases${failed.length === 0 ? '' : `, failed: ${failed.join(', ')}`}`
}
