/** A run for people: the model that the printers of reports print. */
import type { Chart } from '../report/chart.js'
import { countText, durationText, momentText, numberText } from '../report/figures.js'
import type { Block, Fact, Finding, Report, Section, Table } from '../report/model.js'
import { pageOf } from '../report/page.js'
import { textOf } from '../report/text.js'
import { chaosNames } from './chaos.js'
import type {
  Difference,
  PlayerBooks,
  SimulationCost,
  SimulationFaults,
  SimulationReport,
  WrongReplay,
} from './report.js'
import type { SimulationTimeline, TimelinePart } from './timeline.js'

export const formatSimulationReport = (report: SimulationReport): string => textOf(simulationReport(report))

/** Renders the report as one self-contained HTML file, without scripts and external resources. */
export const renderSimulation = (report: SimulationReport): string => pageOf(simulationReport(report))

const curvesMax = 12

export function simulationReport(report: SimulationReport): Report {
  const { target, startedAt, passed, stopped, differences, differencesCount, limitations, timeline, faults } =
    report
  const findings: Block = { kind: 'findings', findings: differences.map(findingOf), total: differencesCount }
  const section = (heading: string, ...blocks: Block[]): Section => ({ heading, blocks })
  const onPage = (heading: string, ...blocks: Block[]): Section => ({ heading, blocks, only: 'page' })
  return {
    title: `Random run on ${target}`,
    verdict: {
      tone: passed ? (stopped ? 'warn' : 'pass') : 'fail',
      word: `${passed ? 'Passed' : 'Failed'}${stopped ? ', stopped' : ''}`,
      sentence: sentenceOf(report),
    },
    facts: [['Started', momentText(startedAt)]],
    sections: [
      ...(faults === null
        ? []
        : [section(countText(faults.injected.length, 'fault'), ...faultBlocks(faults))]),
      section(countText(differencesCount, 'difference'), findings),
      ...(timeline === null
        ? []
        : [
            onPage('Over time', { kind: 'charts', charts: chartsOf(timeline, report.durationMs) }),
            onPage('Balances over time', ...balanceCharts(timeline, report)),
          ]),
      onPage('Balances at the end', booksTable(report)),
      section('Counts', { kind: 'facts', facts: factsOf(report) }),
      section('What this run cannot see', { kind: 'list', items: limitations }),
    ],
    footnotes: [
      'The run plays the platform over a network with faults, keeps its own books, and compares every balance that the wallet answers with them. Expected: what these books say. Answers of concurrent calls may overtake each other. Failed calls are retried, as the platform does.',
    ],
  }
}

function sentenceOf(report: SimulationReport): string {
  const { passed, unjudged, complete, differencesCount, books, faults, costs } = report
  if (passed) {
    const survived = faults === null ? '' : `: ${faultSuccess(faults)}`
    return `the books of ${countText(books.players.length, 'player')} and the wallet agree to the cent${survived}.`
  }
  const problems = [
    ...(faults === null ? [] : faultProblems(faults)),
    ...(complete ? [] : ['the wallet stopped answering']),
    ...(unjudged === null ? [] : [unjudged]),
  ]
  if (differencesCount > 0 || problems.length === 0 || !complete)
    problems.push(countText(differencesCount, 'difference'))
  return [`${problems.join('; ')}.`, ...costs.map(costText)].join(' ')
}

function costText({ currency, players, tooMuch, tooLittle }: SimulationCost): string {
  const isZero = (amount: string) => /^[0.]+$/.test(amount)
  const parts = [
    isZero(tooMuch) ? '' : `${tooMuch} ${currency} too much (the operator's loss)`,
    isZero(tooLittle) ? '' : `${tooLittle} ${currency} too little (the players' loss)`,
  ]
  return `At the end, the balances of ${countText(players, 'player')} differ: ${parts.filter(Boolean).join(', ')}.`
}

// ── Differences ──────────────────────────────────────────────────────────────────────────────────────────

const meanings: Record<Difference['kind'], string> = {
  balance: 'an impossible balance was answered',
  'closing-balance': 'the balance at the end is wrong',
  replay: 'a retry was answered differently from the first call',
  'late-bet': 'a bet was accepted after its rollback',
  overspent: 'more was debited than the player had',
  refused: 'a call that must succeed was refused',
  unanswered: 'there was no definite answer in spite of retries',
  unreadable: 'the answer breaks the interface',
  currency: 'the currency is not the player’s',
}

function findingOf(difference: Difference): Finding {
  const { kind, playerId, betId, operation, transactionId, amount, currency } = difference
  const facts: [string, string | null][] = [
    ['Bet', betId || null],
    ['Call', transactionId && `${operation} ${transactionId}`],
    ['Amount', amount && `${amount.startsWith('-') ? '' : '+'}${amount} ${currency}`],
    ['Expected', difference.expected],
    ['Actual', difference.actual],
    ['Recent calls', difference.recentTransactions.join('; ') || null],
  ]
  return {
    tone: 'fail',
    mark: kind,
    name: playerId,
    title: meanings[kind],
    facts: facts.filter((fact): fact is [string, string] => fact[1] !== null),
  }
}

const isWrong = ({ expected, actual }: PlayerBooks) => expected === null || actual !== expected

function booksTable({ books: { players } }: SimulationReport): Table {
  const names = ['Player', 'Currency', 'At the start', 'Expected', 'Wallet']
  const sorted = players.toSorted((one, other) => Number(isWrong(other)) - Number(isWrong(one)))
  return {
    kind: 'table',
    columns: names.map((name, index) => ({ name, isNumber: index > 1 })),
    total: players.length,
    rows: sorted.map(player => {
      const { playerId, currency, opening, expected, expectedLeast, expectedMost, actual } = player
      const text = actual ?? 'no answer'
      const wanted = expected ?? `${expectedLeast} to ${expectedMost}`
      return [playerId, currency, opening, wanted, isWrong(player) ? { text, tone: 'fail' } : text]
    }),
  }
}

// ── Counts ───────────────────────────────────────────────────────────────────────────────────────────────

/** What was counted. */
function factsOf(report: SimulationReport): Fact[] {
  const { counts, latencyMs, requests, durationMs, requestsPerSecond, faultsInjected, faults } = report
  const n = numberText
  const latencies = Object.entries(latencyMs).map(([name, ms]) => `${name} ${durationText(ms)}`)
  const unanswered = counts.bets - counts.betsAccepted - counts.betsRefused
  const injected = chaosNames.filter(name => faultsInjected[name] > 0)
  const share = ((100 * counts.failedCalls) / requests).toFixed(2)
  return [
    [
      'Requests',
      `${n(requests)} with retries and copies, in ${durationText(durationMs)}, ${n(Math.round(requestsPerSecond))}/s`,
    ],
    ['Latency', latencies.join(', ')],
    [
      'Bets',
      `${n(counts.bets)}: ${n(counts.betsAccepted)} accepted, ${n(counts.betsRefused)} refused, ` +
        `${n(unanswered)} without an answer; ${n(counts.betsRolledBack)} rolled back`,
    ],
    [
      'Refused bets',
      `${n(counts.betsRefusedForFunds)} for funds, ${n(counts.invalidBetsRefused)} for their currency or player, ` +
        `${n(counts.lateBetsRefused)} because their rollback came first; answers that were lost count too`,
    ],
    ['Settlements', n(counts.settlements)],
    [
      'Unsettlements',
      `${n(counts.unsettlements)}, of which ${n(counts.clawbacksRefused)} were refused for funds; ` +
        `${n(counts.earlyUnsettlements)} calls came before their settlement`,
    ],
    ['Wrong calls', `${n(counts.wrongCalls)}, which must change nothing`],
    ['Replays', `${n(counts.replaysAbsorbed)} retries and copies of a call that was decided before`],
    [
      'Faults of the network',
      injected.map(name => `${name} ${n(faultsInjected[name])}`).join(', ') || 'none',
    ],
    [
      'Failed calls',
      counts.failedCalls === 0 ? 'none' : `${n(counts.failedCalls)} (${share} %): 5xx, or no answer`,
    ],
    [
      'Balances judged',
      `${n(counts.balancesExact)} to the cent, ${n(counts.balancesInRange)} within the range of requests in flight`,
    ],
    ['Retried at the end', `${n(counts.retriedAtEnd)} transactions; the answers count above too`],
    ...(faults === null ? [] : [replayedFact(faults)]),
    ...Object.entries(report.answers).map(([operation, answers]): Fact => {
      const all = Object.entries(answers).sort(([, a], [, b]) => b - a)
      return [
        `Answers to ${operation}`,
        all.map(([answer, times]) => `${answer}: ${n(times)}`).join(', ') || 'never',
      ]
    }),
    ['Seed', `${report.seed}, ids begin with ${report.runId}`],
  ]
}

// ── Charts ───────────────────────────────────────────────────────────────────────────────────────────────

const axis = (durationMs: number): Pick<Chart, 'from' | 'to' | 'timeText'> => ({
  from: 0,
  to: durationMs,
  timeText: at => (at === 0 ? '0' : durationText(at)),
})

function chartsOf({ parts, partMs }: SimulationTimeline, durationMs: number): Chart[] {
  const lineOf = (
    name: string,
    read: (part: TimelinePart) => number | undefined,
    text: (value: number) => string,
  ) => ({
    name,
    points: parts.flatMap((part, index) => {
      const value = read(part)
      return value === undefined ? [] : [{ at: index * partMs, value, text: text(value) }]
    }),
  })
  const counted: [string, 'calls' | 'refusals' | 'failedCalls' | 'faultsInjected' | 'differences'][] = [
    ['Calls', 'calls'],
    ['Refusals (4xx)', 'refusals'],
    ['Failed calls (5xx, no answer)', 'failedCalls'],
    ['Injected faults of the network', 'faultsInjected'],
    ['Differences', 'differences'],
  ]
  return [
    ...counted.map(([title, name]) => ({
      ...axis(durationMs),
      title: `${title} in ${durationText(partMs)}`,
      steps: true,
      lines: [lineOf('', part => part[name], numberText)],
    })),
    {
      ...axis(durationMs),
      title: 'Latency of the answers',
      logarithmic: true,
      lines: (['p50', 'p99', 'max'] as const).map(name =>
        lineOf(name, part => part.latencyMs?.[name], durationText),
      ),
    },
  ]
}

/** Players whose books differ come first. */
function balanceCharts({ balances }: SimulationTimeline, { books, durationMs }: SimulationReport): Block[] {
  const ofPlayer = new Map(books.players.map(player => [player.playerId, player]))
  const differs = (playerId: string) => isWrong(ofPlayer.get(playerId) as PlayerBooks)
  const shown = balances
    .filter(player => player.balances.length > 0)
    .sort((one, other) => Number(differs(other.playerId)) - Number(differs(one.playerId)))
    .slice(0, curvesMax)
  const charts = shown.map(({ playerId, currency, balances: seen }): Chart => {
    const opening = { atMs: 0, balance: ofPlayer.get(playerId)?.opening ?? '' }
    const points = [opening, ...seen].map(({ atMs, balance }) => ({
      ...{ at: atMs, value: Number(balance), text: `${balance} ${currency}` },
    }))
    const title = `${playerId}${differs(playerId) ? ' (differs)' : ''}`
    return { ...axis(durationMs), title, steps: true, lines: [{ name: '', points }] }
  })
  const isPart = books.players.length > shown.length
  const text = isPart ? `${shown.length} of ${countText(books.players.length, 'player')}.` : ''
  return [
    { kind: 'text', text },
    { kind: 'charts', charts },
  ]
}

// ── Faults by the operator's commands ──────────────────────────────────────────────────────────────────

/** What was wrong, one part of a sentence each. */
function faultProblems({ stopped, lost, repeated, notRetried, costsAfter }: SimulationFaults): string[] {
  const were = (list: readonly unknown[]) => (list.length === 1 ? 'was' : 'were')
  return [
    lost.length > 0 ? `${countText(lost.length, 'answered call')} ${were(lost)} lost` : '',
    repeated.length > 0
      ? `${countText(repeated.length, 'call')} ${were(repeated)} decided anew by each retry`
      : '',
    notRetried > 0 ? `${countText(notRetried, 'answered call')} could not be sent again` : '',
    costsAfter.length > 0 ? 'balances are wrong even after the retries' : '',
    stopped ?? '',
  ].filter(Boolean)
}

function faultSuccess({ injected }: SimulationFaults): string {
  const longest = durationText(Math.max(0, ...injected.map(({ silentMs }) => silentMs)))
  return `${countText(injected.length, 'fault')}, nothing was lost, and the longest silence was ${longest}`
}

function faultBlocks({ injected, lost, repeated }: SimulationFaults): Block[] {
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
    callsTable('Lost', lost),
    callsTable('Decided anew by each retry', repeated),
    {
      kind: 'text',
      text:
        lost.length === 0
          ? ''
          : 'bet-wallet check names the durability of the database (docs/operations.md#durability). If it is synchronous, look for an old primary that still accepts writes, a proxy that leads to it, or a wallet that answers before its commit.',
    },
  ]
}

function callsTable(name: string, calls: readonly WrongReplay[]): Table {
  const columns = [name, 'Call', 'Bet', 'Player', 'Amount', 'Answered', 'Retry']
  return {
    kind: 'table',
    columns: columns.map(each => ({ name: each, isNumber: each === 'Amount' })),
    total: calls.length,
    rows: calls.map(
      ({ answeredAt, operation, transactionId, betId, playerId, amount, currency, ...answers }) => [
        ...[answeredAt, `${operation} ${transactionId}`, betId, playerId, `${amount} ${currency}`],
        ...[answers.answer, answers.retryAnswer],
      ],
    ),
  }
}

function replayedFact({ answered, lost, repeated, notRetried }: SimulationFaults): Fact {
  const replayed = answered - lost.length - repeated.length - notRetried
  return [
    'Answered calls',
    `${numberText(answered)}, of which ${numberText(replayed)} were replayed at the end`,
  ]
}
