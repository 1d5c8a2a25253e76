/** A report in words, for a terminal. Pure: data in, text out. */
import type { AuditReport, AuditResult, Level, Verdict } from './report.js'

/** How a terminal is written to. */
export interface TerminalOptions {
  /** Colours, by escape sequences. */
  colours: boolean
  /** Lines of the table are cut to so many columns; `null`: never. */
  columns: number | null
}

const shown: Record<Verdict, string> = { passed: 'passed', failed: 'FAILED', 'not judged': 'not judged' }

/** The table, what failed and why, what could not be judged, and the sum. */
export function formatReport(report: AuditReport, paper: TerminalOptions): string {
  const failed = report.results.filter(({ verdict }) => verdict === 'failed')
  return [
    ...report.results.map(result => tableLine(result, paper)),
    ...failed.flatMap(result => ['', ...failureLines(result, paper)]),
    ...unjudgedLines(report),
    '',
    ...summaryLines(report, paper),
  ].join('\n')
}

export function formatCases(
  cases: readonly { id: string; level: Level; title: string; source: string }[],
): string {
  return cases
    .map(({ id, level, title, source }) => `${id}  ${level.padEnd(6)}  ${title} (${source})`)
    .join('\n')
}

/** What is going on, in one line. */
export function formatProgress(result: AuditResult, done: number, total: number, columns: number): string {
  const width = 20
  const filled = Math.round((done / total) * width)
  const bar = `${'█'.repeat(filled)}${'░'.repeat(width - filled)}`
  return cut(`[${bar}] ${done}/${total}  ${shown[result.verdict]} ${result.id} ${result.title}`, columns)
}

function tableLine(
  { id, level, title, verdict }: AuditResult,
  { colours, columns }: TerminalOptions,
): string {
  const word = shown[verdict].padEnd(10)
  const rest = `  ${id}  ${level.padEnd(6)}  ${title}`
  const line = columns === null ? rest : cut(rest, columns - word.length)
  return `${colours ? colourOf(verdict, level)(word) : word}${line}`
}

function failureLines(
  { id, level, title, source, failure, exchanges }: AuditResult,
  paper: TerminalOptions,
): string[] {
  if (failure === null) return []
  const sent = failure.exchangeIndex === null ? undefined : exchanges[failure.exchangeIndex]
  const head = `${id} ${level}  ${title} (${source})`
  return [
    paper.colours ? bold(head) : head,
    `  expected  ${plain(failure.expected)}`,
    `  found     ${plain(failure.actual)}`,
    `  costs     ${failure.impact}`,
    ...(sent === undefined
      ? []
      : [
          `  at        ${plain(sent.label)}`,
          ...(sent.curl === '' ? [] : [`  again     ${plain(sent.curl)}`]),
        ]),
  ]
}

function unjudgedLines({ results }: AuditReport): string[] {
  const reasons = new Map<string, string[]>()
  for (const { id, verdict, reason } of results) {
    if (verdict !== 'not judged') continue
    const why = reason ?? ''
    reasons.set(why, [...(reasons.get(why) ?? []), id])
  }
  return [...reasons].flatMap(([reason, ids]) => [
    '',
    `Not judged, because ${plain(reason)}:`,
    ...wrapped(ids),
  ])
}

function wrapped(ids: readonly string[]): string[] {
  const lines: string[] = []
  for (let from = 0; from < ids.length; from += 12) lines.push(`  ${ids.slice(from, from + 12).join(' ')}`)
  return lines
}

function summaryLines(report: AuditReport, { colours }: TerminalOptions): string[] {
  const { results, requests, durationMs, seed, passed, complete, funds, player } = report
  const count = (verdict: Verdict, level?: Level) =>
    results.filter(result => result.verdict === verdict && (level ?? result.level) === result.level).length
  const [must, should, may] = (['MUST', 'SHOULD', 'MAY'] as const).map(level => count('failed', level))
  const unjudged = count('not judged')
  const word = passed ? (complete ? 'PASSED' : 'PASSED as far as it was judged') : 'NOT PASSED'
  const verdict = colours ? (passed ? green : red)(word) : word
  const failures =
    must || should || may ? `${must} MUST, ${should} SHOULD and ${may} MAY failed` : 'none failed'
  const took = `${requests.toLocaleString('en')} requests in ${(durationMs / 1_000).toFixed(1)} s, seed ${seed}`
  const lines = [
    `${verdict}: ${count('passed')} of ${results.length} passed, ${failures}, ${unjudged} not judged (${took}).`,
  ]
  if (funds !== undefined && funds.after !== funds.before) {
    const after = funds.after === null ? 'unknown, since nobody answers any more' : funds.after
    lines.push(
      `The balance of ${player.playerId} was ${funds.before} ${player.currency} before and is now ${after}.`,
    )
  }
  return lines
}

/** Whatever a wallet answers must not steer the terminal. */
function plain(text: string): string {
  return text.replace(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, character => {
    return `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`
  })
}

function cut(text: string, columns: number): string {
  return text.length <= columns ? text : `${text.slice(0, Math.max(0, columns - 1))}…`
}

const sequence = (code: number) => (text: string) => `\u001b[${code}m${text}\u001b[0m`
const [red, green, yellow, bold] = [31, 32, 33, 1].map(sequence) as [
  (text: string) => string,
  (text: string) => string,
  (text: string) => string,
  (text: string) => string,
]

function colourOf(verdict: Verdict, level: Level): (text: string) => string {
  if (verdict === 'passed') return green
  return verdict === 'failed' && level === 'MUST' ? red : yellow
}
