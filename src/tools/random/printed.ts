/** A run for people: the model that the printers of reports print, and its progress on one line. */
import type { Chart } from '../report/chart.js'
import { countText, durationText, momentText, numberText } from '../report/figures.js'
import { type Block, type Fact, type Finding, onPage, type Report, section } from '../report/model.js'
import { pageOf } from '../report/page.js'
import { textOf } from '../report/text.js'
import {
  type Difference,
  differenceKinds,
  type PlayerBooks,
  type SimulationFaults,
  type SimulationProgress,
  type SimulationReport,
} from './report.js'
import type { SimulationTimeline, TimelinePart } from './timeline.js'

export const formatSimulationReport = (report: SimulationReport): string => textOf(simulationReport(report))

/** Renders the report as one self-contained HTML file, without scripts and external resources. */
export const renderSimulation = (report: SimulationReport): string => pageOf(simulationReport(report))

/** A run in one line. */
export function formatSimulationProgress(progress: SimulationProgress): string {
  const { phase, elapsedMs, bets, betsMax, requests, failedCalls, differencesCount } = progress
  const parts = [
    phase.padEnd('reconciling'.length),
    durationText(elapsedMs),
    betsMax === null ? countText(bets, 'bet') : `${numberText(bets)} of ${countText(betsMax, 'bet')}`,
    countText(requests, 'request'),
    `${numberText(Math.round(progress.requestsPerSecond))}/s`,
    `p99 ${durationText(progress.latencyMs.p99)}`,
    progress.walletUnreachable ? 'THE WALLET DOES NOT ANSWER' : '',
    countText(differencesCount, 'difference'),
    failedCalls === 0 ? '' : countText(failedCalls, 'failed call'),
  ]
  return parts.filter(Boolean).join('  ')
}

const curvesMax = 12

export function simulationReport(report: SimulationReport): Report {
  const { target, startedAt, passed, stopped, differences, differencesCount, timeline, faults } = report
  return {
    title: `Random run on ${target}`,
    verdict: {
      tone: passed ? (stopped ? 'warn' : 'pass') : 'fail',
      word: `${passed ? 'Passed' : 'Failed'}${stopped ? ', stopped' : ''}`,
      sentence: `${sentenceOf(report)}.${foreignSentence(report)}`,
    },
    facts: [['Started', momentText(startedAt)]],
    sections: [
      ...(faults === null
        ? []
        : [section(countText(faults.injected.length, 'fault'), ...faultBlocks(faults))]),
      section(countText(differencesCount, 'difference'), {
        kind: 'findings',
        findings: differences.map(difference => findingOf(difference, accountName(report, difference))),
        total: differencesCount,
      }),
      ...(timeline === null
        ? []
        : [
            onPage('Over time', { kind: 'charts', charts: chartsOf(timeline, report.durationMs) }),
            onPage('Balances over time', ...balanceCharts(timeline, report)),
          ]),
      section('Counts', { kind: 'facts', facts: factsOf(report) }),
    ],
    footnotes: [
      'The run plays the platform over a network with faults, keeps its own books, and compares every balance that the wallet answers with them. Expected: what these books say. Answers of concurrent calls may overtake each other. Failed calls are retried, as the platform does.',
    ],
  }
}

function sentenceOf({
  passed,
  inconclusive,
  complete,
  differencesCount,
  books,
  faults,
}: SimulationReport): string {
  const none = { injected: [], stopped: null, notRetried: 0, notCompared: 0 }
  const { injected, stopped, notRetried, notCompared } = faults ?? none
  const unread =
    notCompared === 0
      ? ''
      : `; the balance after ${countText(notCompared, 'retry', 'retries')} could not be read`
  if (passed) {
    const longest = durationText(Math.max(0, ...injected.map(({ silentMs }) => silentMs)))
    const survived = `: ${countText(injected.length, 'fault')}, nothing was lost, and the longest silence was ${longest}`
    const players = new Set(books.players.map(({ playerId }) => playerId)).size
    const accounts =
      players === books.players.length ? '' : ` with ${countText(books.players.length, 'account')}`
    return `the books of ${countText(players, 'player')}${accounts} and the wallet agree to the cent${faults === null ? '' : survived}${unread}`
  }
  const lost = lostOf(injected)
  const problems = [
    lost === 0 ? '' : `${countText(lost, 'answered call')} ${lost === 1 ? 'was' : 'were'} lost`,
    notRetried === 0 ? '' : `${countText(notRetried, 'answered call')} had no answer at the end`,
    unread.slice(2),
    stopped ?? '',
    complete ? '' : 'the wallet stopped answering',
    inconclusive ?? '',
  ].filter(Boolean)
  if (differencesCount > 0 || problems.length === 0 || !complete)
    problems.push(countText(differencesCount, 'difference'))
  return problems.join('; ')
}

/** Named first, since no rule of the wallet explains it. */
function foreignSentence({ foreignAnswers }: SimulationReport): string {
  if (foreignAnswers === null) return ''
  const all = Object.values(foreignAnswers.answers).reduce((sum, times) => sum + times, 0)
  const answers = `${countText(all, 'answer')}, the first one ${foreignAnswers.first}`
  return ` Not the interface's, probably from before the wallet: ${answers}.`
}

/** The player, with the currency where there are several accounts. */
function accountName({ books }: SimulationReport, { playerId, currency }: Difference | PlayerBooks): string {
  const accounts = books.players.filter(each => each.playerId === playerId)
  return accounts.length > 1 ? `${playerId} ${currency}` : playerId
}

function findingOf(difference: Difference, name: string): Finding {
  const { kind, betId, operation, transactionId, amount, currency } = difference
  const facts: [string, string | null][] = [
    ['Bet', betId],
    ['Call', `${operation} ${transactionId}`],
    ['Amount', amount && `${amount.startsWith('-') ? '' : '+'}${amount} ${currency}`],
    ['Expected', difference.expected],
    ['Actual', difference.actual],
    ['Recent calls', difference.recentTransactions.join('; ') || null],
  ]
  return {
    tone: 'fail',
    mark: kind,
    name,
    title: differenceKinds[kind],
    facts: facts.filter((fact): fact is [string, string] => fact[1] !== null),
  }
}

const isWrong = ({ expected, actual }: PlayerBooks) => expected === null || actual !== expected

// ── Counts ───────────────────────────────────────────────────────────────────────────────────────────────

/** What was counted: each count by its name. */
function factsOf(report: SimulationReport): Fact[] {
  const { counts, latencyMs, requests, durationMs, requestsPerSecond, faultsInjected, answers } = report
  const rate = numberText(Math.round(requestsPerSecond))
  return [
    ['Requests', `${numberText(requests)} in ${durationText(durationMs)}, ${rate}/s`],
    ['Latency', listOf(latencyMs, durationText)],
    ...Object.entries(counts).map(([name, count]): Fact => [wordsOf(name), numberText(count)]),
    ['Faults of the network', listOf(faultsInjected, numberText) || 'none'],
    ...Object.entries(answers).map(
      ([operation, all]): Fact => [`Answers to ${operation}`, listOf(all, numberText, ': ') || 'never'],
    ),
    ['Before the wallet', listOf(report.foreignAnswers?.answers ?? {}, numberText, ': ') || 'none'],
    ['Seed', `${report.seed}, ids begin with ${report.runId}`],
  ]
}

/** `p50 1.2 ms, p90 3 ms`: those that are not 0. */
const listOf = (numbers: object, text: (number: number) => string, between = ' ') =>
  Object.entries(numbers)
    .filter(([, number]) => number > 0)
    .map(([name, number]) => `${name}${between}${text(number)}`)
    .join(', ')

/** `Bets refused for funds` for `betsRefusedForFunds` */
const wordsOf = (name: string) =>
  name.replace(/^.|[A-Z]/g, (letter, at) => (at === 0 ? letter.toUpperCase() : ` ${letter.toLowerCase()}`))

// ── Charts ───────────────────────────────────────────────────────────────────────────────────────────────

const axis = (durationMs: number): Pick<Chart, 'from' | 'to' | 'timeText'> => ({
  from: 0,
  to: durationMs,
  timeText: at => (at === 0 ? '0' : durationText(at)),
})

const counted = {
  calls: 'Calls',
  refusals: 'Refusals (4xx)',
  failedCalls: 'Failed calls (5xx, no answer)',
  faultsInjected: 'Injected faults of the network',
  differences: 'Differences',
} as const

function chartsOf({ parts, partMs }: SimulationTimeline, durationMs: number): Chart[] {
  type Values = (part: TimelinePart) => number | undefined
  const lineOf = (name: string, values: Values, text: (value: number) => string) => ({
    name,
    points: parts.flatMap((part, index) => {
      const value = values(part)
      return value === undefined ? [] : [{ at: index * partMs, value, text: text(value) }]
    }),
  })
  const names = Object.keys(counted) as (keyof typeof counted)[]
  const latencies = (['p50', 'p99', 'max'] as const).map(name =>
    lineOf(name, ({ latencyMs }) => latencyMs?.[name], durationText),
  )
  return [
    ...names.map(name => ({
      ...axis(durationMs),
      title: `${counted[name]} in ${durationText(partMs)}`,
      steps: true,
      lines: [lineOf('', part => part[name], numberText)],
    })),
    { ...axis(durationMs), title: 'Latency of the answers', logarithmic: true, lines: latencies },
  ]
}

/** Players whose books differ come first. */
function balanceCharts({ parts, partMs }: SimulationTimeline, report: SimulationReport): Block[] {
  const { books, durationMs } = report
  const differing = books.players.filter(isWrong)
  const shown = [...new Set([...differing, ...books.players])]
    .filter(books => parts.some(({ balances }) => Object.hasOwn(balances, accountName(report, books))))
    .slice(0, curvesMax)
  const charts = shown.map((player): Chart => {
    const { currency, opening } = player
    const name = accountName(report, player)
    const pointOf = (at: number, balance: string) => ({
      at,
      value: Number(balance),
      text: `${balance} ${currency}`,
    })
    const points = parts.flatMap(({ balances }, index) =>
      Object.hasOwn(balances, name) ? [pointOf((index + 1) * partMs, `${balances[name]}`)] : [],
    )
    const title = `${name}${isWrong(player) ? ' (differs)' : ''}`
    return {
      ...axis(durationMs),
      title,
      steps: true,
      lines: [{ name: '', points: [pointOf(0, opening), ...points] }],
    }
  })
  const isPart = books.players.length > shown.length
  const text = isPart ? `${shown.length} of ${countText(books.players.length, 'player')}.` : ''
  return [
    { kind: 'text', text },
    { kind: 'charts', charts },
  ]
}

// ── Faults by the operator's commands ──────────────────────────────────────────────────────────────────

const lostOf = (injected: SimulationFaults['injected']) => injected.reduce((sum, { lost }) => sum + lost, 0)

function faultBlocks({ injected }: SimulationFaults): Block[] {
  const hint =
    'bet-wallet check names the durability of the database (docs/operations.md#durability). If it is synchronous, look for an old primary that still accepts writes, a proxy that leads to it, or a wallet that answers before its commit.'
  return [
    {
      kind: 'table',
      columns: [{ name: 'Fault' }, { name: 'Lost', isNumber: true }, { name: 'Silent for', isNumber: true }],
      rows: injected.map(({ command, lost, silentMs }) => [
        command,
        numberText(lost),
        durationText(silentMs),
      ]),
    },
    { kind: 'text', text: lostOf(injected) === 0 ? '' : hint },
  ]
}
