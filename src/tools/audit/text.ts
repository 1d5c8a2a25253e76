/** The report as text for a terminal. */
import { describeForeign } from './foreign-answers.js'
import type { AuditFinding, AuditReport, AuditResult, Level, Verdict } from './report.js'

interface TerminalOptions {
  /** Colours by escape sequences. */
  colours: boolean
  /** Maximum width of the lines of the table; `null`: no limit. */
  columns: number | null
}

const marks: Record<Verdict, string> = { passed: 'passed', failed: 'FAILED', skipped: 'skipped' }

/**
 * The findings, the table of cases, the skipped cases, what the audit cannot see, and the result. The command
 * escapes all text of the report before: the answer of a wallet must not control the terminal.
 */
export function formatReport(report: AuditReport, terminal: TerminalOptions): string {
  const { findings, results } = report
  return [
    ...report.foreignAnswers.flatMap(foreign => [`BEFORE THE WALLET  ${describeForeign(foreign)}`, '']),
    ...findings
      .slice(0, findingsInFull)
      .flatMap((finding, index) => [...findingLines(finding, index + 1, report, terminal), '']),
    ...findings
      .slice(findingsInFull)
      .map((finding, index) => `${index + 1 + findingsInFull}. ${shortFinding(finding, results)}`),
    ...(findings.length > findingsInFull ? [''] : []),
    ...results.map(result => tableLine(result, terminal)),
    ...skippedLines(report),
    ...limitationsLines(report),
    '',
    ...summaryLines(report, terminal),
  ].join('\n')
}

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
  return cut(`[${bar}] ${done}/${total}  ${marks[result.verdict]} ${result.id} ${result.name}`, columns)
}

/** The progress where there is no terminal, with the cases that have failed since the last line. */
export function formatProgressLine(done: number, total: number, failed: readonly string[]): string {
  return `${done} of ${total} cases${failed.length === 0 ? '' : `, failed: ${failed.join(', ')}`}`
}

function tableLine({ id, level, name, verdict }: AuditResult, { colours, columns }: TerminalOptions): string {
  const mark = marks[verdict].padEnd(7)
  const rest = `  ${id}  ${level.padEnd(6)}  ${name}`
  const line = columns === null ? rest : cut(rest, columns - mark.length)
  return `${colours ? colourOf(verdict, level)(mark) : mark}${line}`
}

/** What failed, at which call. */
export function headlineOf({ failure, exchanges, name }: AuditResult): string {
  if (failure === null) return name
  const label = exchanges[failure.exchangeIndex ?? -1]?.label
  return `${label === undefined ? '' : `${label}: `}${failure.actual} instead of ${failure.expected}`
}

/** The name, unless the case was not reached. */
export function nameOf({ name, failure }: AuditResult): string {
  return failure?.isPreparation ? `not reached, a step before it failed: ${name}` : name
}

/** The others have a line each: they often go with the first ones. */
const findingsInFull = 5

/** `MUST  AU-204  rollbackbet 7-b: success with balance 102.00 EUR instead of …; also AU-205` */
export function shortFinding(
  { id, level, followers }: AuditFinding,
  results: readonly AuditResult[],
): string {
  const result = results.find(candidate => candidate.id === id)
  const also = followers.map(follower => follower.id).join(', ')
  return `${level}  ${id}  ${result === undefined ? '' : headlineOf(result)}${also === '' ? '' : `; also ${also}`}`
}

/** One finding: what it is and what it costs, the call to paste, and the cases that it explains. */
function findingLines(
  { id, level, cause, followers }: AuditFinding,
  number: number,
  { results }: AuditReport,
  { colours }: TerminalOptions,
): string[] {
  const result = results.find(candidate => candidate.id === id)
  if (result === undefined || result.failure === null) return []
  const { source, exchanges } = result
  const { expected, actual, impact, quote, exchangeIndex } = result.failure
  const sent = exchangeIndex === null ? undefined : exchanges[exchangeIndex]
  const head = `${number}. ${level}  ${headlineOf(result)}`
  const lines = [
    colours ? bold(head) : head,
    `  impact     ${impact}`,
    ...(cause === null ? [] : [`  cause      ${cause}`]),
    `  case       ${id}  ${nameOf(result)} (${source})`,
    ...(quote === null ? [] : [`  interface  "${quote}"`]),
    `  expected   ${expected}`,
    `  actual     ${actual}`,
  ]
  if (sent !== undefined) lines.push(`  request    ${sent.label}`)
  if (sent !== undefined && sent.curl !== '') lines.push(`  reproduce  ${sent.curl}`)
  return [...lines, ...followerLines(followers, results)]
}

/** The followers that are shown with their results; the others are named only. */
const followersMax = 12

function followerLines(followers: AuditFinding['followers'], results: readonly AuditResult[]): string[] {
  const lines = followers.slice(0, followersMax).map(({ id, reason }, index) => {
    const { expected = '', actual = '' } = results.find(result => result.id === id)?.failure ?? {}
    const text = `${id}  ${reason}: expected ${expected}, actual ${actual}`
    return `  ${index === 0 ? 'also       ' : '           '}${text}`
  })
  const others = followers.slice(followersMax).map(({ id }) => id)
  return others.length === 0 ? lines : [...lines, `  and ${others.length} others:`, ...wrapped(others)]
}

/** How balances were read, if not in the usual way; otherwise `null`. */
export function unusualReading({ balancesReadBy: { reason } }: AuditReport): string | null {
  return reason === null ? null : `Balances were read by the smallest bet and its rollback: ${reason}.`
}

function limitationsLines(report: AuditReport): string[] {
  const reading = unusualReading(report)
  const lines = report.limitations.map(sentence => `  ${sentence}`)
  return [
    ...(reading === null ? [] : ['', reading]),
    ...(lines.length === 0 ? [] : ['', 'What this audit cannot see:', ...lines]),
  ]
}

function skippedLines({ results }: AuditReport): string[] {
  const reasons = new Map<string, string[]>()
  for (const { id, verdict, reason } of results) {
    if (verdict !== 'skipped') continue
    const text = reason ?? ''
    reasons.set(text, [...(reasons.get(text) ?? []), id])
  }
  return [...reasons].flatMap(([reason, ids]) => ['', `Skipped, because ${reason}:`, ...wrapped(ids)])
}

function wrapped(ids: readonly string[]): string[] {
  const lines: string[] = []
  for (let from = 0; from < ids.length; from += 12) lines.push(`  ${ids.slice(from, from + 12).join(' ')}`)
  return lines
}

/** `FAILED: 150 passed, 3 failed (1 MUST, 2 SHOULD), 5 skipped (3,754 requests in 10.3 s, seed 1)` */
function summaryLines(report: AuditReport, { colours }: TerminalOptions): string[] {
  const { results, requests, durationMs, seed, passed, complete, funds, player } = report
  const lines: string[] = []
  if (funds !== undefined && funds.after !== funds.before) {
    const after = funds.after === null ? 'unknown: the wallet stopped answering' : funds.after
    lines.push(
      `The balance of ${player.playerId} was ${funds.before} ${player.currency} and is now ${after}.`,
    )
  }
  const word = `${passed ? 'PASSED' : 'FAILED'}${passed && !complete ? ', INCOMPLETE' : ''}`
  const count = (verdict: Verdict) => results.filter(result => result.verdict === verdict).length
  const failed = count('failed')
  const counts = [
    `${count('passed')} passed`,
    `${failed} failed${failed === 0 ? '' : ` (${levelsOfFailed(results)}; ${findingsText(report)})`}`,
    `${count('skipped')} skipped`,
  ]
  const effort = `${requests.toLocaleString('en')} requests in ${(durationMs / 1_000).toFixed(1)} s, seed ${seed}`
  lines.push(`${colours ? (passed ? green : red)(word) : word}: ${counts.join(', ')} (${effort})`)
  return lines
}

function findingsText({ findings: { length } }: AuditReport): string {
  return `${length} ${length === 1 ? 'finding' : 'findings'}`
}

function levelsOfFailed(results: readonly AuditResult[]): string {
  return (['MUST', 'SHOULD'] as const)
    .map(level => ({
      level,
      count: results.filter(result => result.verdict === 'failed' && result.level === level).length,
    }))
    .filter(({ count }) => count > 0)
    .map(({ level, count }) => `${count} ${level}`)
    .join(', ')
}

function cut(text: string, columns: number): string {
  return text.length <= columns ? text : `${text.slice(0, Math.max(0, columns - 1))}…`
}

type Paint = (text: string) => string

const sequence =
  (code: number): Paint =>
  text =>
    `\u001b[${code}m${text}\u001b[0m`
const red = sequence(31)
const green = sequence(32)
const yellow = sequence(33)
const bold = sequence(1)

function colourOf(verdict: Verdict, level: Level): Paint {
  if (verdict === 'passed') return green
  return verdict === 'failed' && level === 'MUST' ? red : yellow
}
