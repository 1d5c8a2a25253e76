/** A simulation as text for a terminal. */
import { type Chaos, chaosNames } from './chaos.js'
import { faultLines, faultProblems, faultSuccess, replayedText } from './fault-text.js'
import type {
  Difference,
  DifferenceGroup,
  SimulationCost,
  SimulationProgress,
  SimulationReport,
} from './report.js'

const barWidth = 24

/**
 * The progress of a simulation in one line of at most `columns` characters.
 *
 * @param options.bar whether to draw a bar, for a terminal that can overwrite its last line
 */
export function formatSimulationProgress(
  progress: SimulationProgress,
  { bar, columns = 110 }: { bar: boolean; columns?: number },
): string {
  const { differencesCount, failedCalls } = progress
  const share = shareOf(progress)
  const filled = Math.round(share * barWidth)
  const parts = [
    bar ? `[${'█'.repeat(filled)}${'░'.repeat(barWidth - filled)}]` : '',
    `${Math.floor(share * 100)} %`.padStart(5),
    progress.phase,
    `${count(progress.bets)} bets`,
    `${count(progress.requests)} requests`,
    `${count(Math.round(progress.requestsPerSecond))}/s`,
    `p99 ${milliseconds(progress.latencyMs.p99)}`,
    progress.walletUnreachable ? 'THE WALLET DOES NOT ANSWER' : '',
    differencesIn(differencesCount),
    `${count(progress.replaysAbsorbed)} replays`,
    `${count(progress.betsRolledBack)} rollbacks`,
    failedCalls === 0 ? '' : `${count(failedCalls)} failed calls`,
  ].filter(Boolean)
  return parts.join('  ').slice(0, columns)
}

/** The share of betting that is done: by bets or by time, whichever is further. */
function shareOf({ phase, bets, betsMax, elapsedMs, durationMs }: SimulationProgress): number {
  if (phase === 'opening') return 0
  if (phase !== 'betting') return 1
  const byBets = betsMax === null ? 0 : bets / betsMax
  const byTime = durationMs === null ? 0 : elapsedMs / durationMs
  return Math.min(1, Math.max(byBets, byTime))
}

/** The report as text of several lines: what differs and what it costs, a table, and the verdict again. */
export function formatSimulationReport(report: SimulationReport): string {
  const rows = [...countRows(report), ...answerRows(report)]
  const width = Math.max(...rows.map(([name]) => name.length))
  return [
    ...headLines(report),
    ...(report.faults === null ? [] : faultLines(report.faults)),
    ...differenceLines(report),
    ...rows.map(([name, value]) => `${name.padEnd(width)}  ${value}`),
    '',
    'What this simulation cannot see:',
    ...report.limitations.map(sentence => `  ${sentence}`),
    '',
    verdict(report),
  ].join('\n')
}

/** What differs, in groups, and what it costs. */
function headLines(report: SimulationReport): string[] {
  const { costs, groups, passed } = report
  if (passed) return []
  return [
    verdict(report),
    ...(costs.length === 0
      ? ['At the end, every balance is the sum of the calls that were answered with success.']
      : costs.map(costText)),
    '',
    ...groups.slice(0, groupsMax).flatMap(groupLines),
    ...(groups.length > groupsMax
      ? [`       and ${groups.length - groupsMax} other kinds, probably followers`]
      : []),
    '',
  ]
}

export function costText({ currency, players, tooMuch, tooLittle }: SimulationCost): string {
  const parts = [
    isZeroText(tooMuch) ? '' : `${tooMuch} ${currency} too much (the operator's loss)`,
    isZeroText(tooLittle) ? '' : `${tooLittle} ${currency} too little (the players' loss)`,
  ].filter(Boolean)
  return `At the end, the balances of ${playersText(players)} differ: ${parts.join(', ')}.`
}

const isZeroText = (amount: string) => /^[0.]+$/.test(amount)

export const meanings: Record<Difference['kind'], string> = {
  balance: 'an impossible balance was answered',
  'closing-balance': 'the balance at the end is wrong',
  replay: 'a retry was answered differently from the first call',
  'late-bet': 'a bet was accepted after its rollback',
  overspent: 'more was debited than the player had',
  refused: 'a call that must succeed was refused',
  unanswered: 'there was no definite answer in spite of retries',
  contention: 'calls of one bet that meet fail',
  unreadable: 'the answer breaks the interface',
  currency: 'the currency is not the player’s',
  books: 'an error of the simulator',
}

/** What players have too much and too little. */
export const sumsText = (amounts: DifferenceGroup['amounts']): string =>
  amounts
    .flatMap(({ currency, tooMuch, tooLittle }) => [
      ...(isZeroText(tooMuch) ? [] : [`+${tooMuch} ${currency}`]),
      ...(isZeroText(tooLittle) ? [] : [`-${tooLittle} ${currency}`]),
    ])
    .join(', ')

function groupLines({ kind, operation, type, count: times, amounts, first }: DifferenceGroup): string[] {
  const request = operation === null ? '' : ` (${operation}${type === null ? '' : ` ${type}`})`
  const sums = sumsText(amounts)
  const money = sums === '' ? '' : `: ${sums}`
  const where = first.betId === '' ? '' : `, bet ${first.betId}`
  return [
    `${count(times).padStart(6)} × ${kind}${request}, ${meanings[kind]}${money}`,
    `         first: player ${first.playerId}${where}`,
  ]
}

/** More of them are in the report as data. */
const groupsMax = 6
const shownMax = 10

function differenceLines({ differences, differencesCount }: SimulationReport): string[] {
  if (differencesCount === 0) return []
  const shown = differences.slice(0, shownMax)
  const lines = shown.flatMap((difference, index) => linesOf(difference, index + 1))
  const more = differencesCount - shown.length
  return [...lines, ...(more === 0 ? [] : [`     and ${count(more)} more (--json)`]), '']
}

function linesOf(difference: Difference, number: number): string[] {
  const { kind, playerId, betId, operation, transactionId, amount, currency, step } = difference
  const sum = amount === null ? '' : `, ${amount.startsWith('-') ? amount : `+${amount}`} ${currency}`
  return [
    `${String(number).padStart(3)}. ${kind}: player ${playerId}${betId === '' ? '' : `, bet ${betId}`}${sum}`,
    `     expected  ${difference.expected}`,
    `     actual    ${difference.actual}`,
    ...(transactionId === null ? [] : [`     request   ${operation} ${transactionId}, step ${step}`]),
    ...difference.recentTransactions.map(
      (name, place) => `     ${(place === 0 ? 'recent' : '').padEnd(8)}  ${name}`,
    ),
  ]
}

export function countRows(report: SimulationReport): [string, string][] {
  const { counts, latencyMs, requests, durationMs, requestsPerSecond } = report
  const { p50, p90, p99, max } = latencyMs
  return [
    [
      'requests',
      `${count(requests)} with retries and copies, in ${seconds(durationMs)}, ${count(Math.round(requestsPerSecond))}/s`,
    ],
    [
      'latency',
      `p50 ${milliseconds(p50)}, p90 ${milliseconds(p90)}, p99 ${milliseconds(p99)}, max ${milliseconds(max)}`,
    ],
    [
      'bets',
      `${count(counts.bets)}: ${count(counts.betsAccepted)} accepted, ${count(counts.betsRefused)} refused, ` +
        `${count(counts.bets - counts.betsAccepted - counts.betsRefused)} without an answer; ` +
        `${count(counts.multiples)} of all are multiples`,
    ],
    [
      'rolled back',
      `${count(counts.betsRolledBack)}, of which ${count(counts.cancellations)} were accepted, and their settlement was reversed; the others had no answer`,
    ],
    [
      'refused by the wallet',
      `${count(counts.betsRefusedForFunds)} bets for funds, ${count(counts.betsRefusedForCurrency)} for another currency, ` +
        `${count(counts.lateBetsRefused)} because their rollback came first; answers that were lost count too`,
    ],
    ['matches', `${count(counts.matches)}, with ${count(counts.goals)} goals`],
    [
      'settlements',
      `${count(counts.settlements)}, of which ${count(counts.voids)} voids, ${count(counts.cashOuts)} cash-outs, ` +
        `and ${count(counts.recoveries)} payouts less an uncollected clawback`,
    ],
    [
      'unsettlements',
      `${count(counts.unsettlements)}, of which ${count(counts.clawbacksRefused)} were refused for funds; ` +
        `${count(counts.earlyUnsettlements)} calls came before their settlement`,
    ],
    ['uncollected clawbacks', `${debtsText(report.debts)} outstanding`],
    [
      'replays absorbed',
      `${count(counts.replaysAbsorbed)} retries and copies of a call that was decided before`,
    ],
    ['faults injected', faultsText(report.faultsInjected)],
    ['failed calls', failedText(report)],
    [
      'balances judged',
      `${count(counts.balancesExact)} to the cent, ${count(counts.balancesInRange)} within the range of requests in flight`,
    ],
    ['retried at the end', `${count(counts.retriedAtEnd)} transactions; the answers count above too`],
    ...(report.faults === null ? [] : [['answered calls', replayedText(report.faults)] as [string, string]]),
    ['seed', `${report.seed}, ids begin with ${report.runId}`],
  ]
}

/** Availability: failed calls are retried or rolled back, and cost no money. */
function failedText({ answers, counts, requests }: SimulationReport): string {
  if (counts.failedCalls === 0) return 'none'
  const share = ((100 * counts.failedCalls) / requests).toFixed(2)
  const byAnswer = new Map<string, number>()
  for (const [operation, times] of Object.entries(answers)) {
    for (const [answer, count] of Object.entries(times)) {
      const isEarly = operation === 'unsettlement' && answer.endsWith('SETTLEMENT_NOT_FOUND')
      if (isEarly || !/^(?:5|no answer)/.test(answer)) continue
      byAnswer.set(answer, (byAnswer.get(answer) ?? 0) + count)
    }
  }
  const parts = [...byAnswer]
    .sort(([, a], [, b]) => b - a)
    .map(([answer, times]) => `${answer}: ${count(times)}`)
  return `${count(counts.failedCalls)} (${share} %), without injected faults: ${parts.join(', ')}`
}

export function answerRows({ answers }: SimulationReport): [string, string][] {
  return Object.entries(answers).map(([operation, counts]) => {
    const all = Object.entries(counts).sort(([, a], [, b]) => b - a)
    return [
      `answers to ${operation}`,
      all.map(([answer, times]) => `${answer}: ${count(times)}`).join(', ') || 'never',
    ]
  })
}

function debtsText(debts: SimulationReport['debts']): string {
  const all = Object.entries(debts).map(([currency, debt]) => `${debt} ${currency}`)
  return all.join(', ') || 'none'
}

const faultNames: Record<keyof Chaos, string> = {
  requestLost: 'lost requests',
  answerLost: 'lost answers',
  deliveredLate: 'late deliveries',
  delayed: 'delays',
  disconnected: 'disconnects',
  duplicated: 'duplicates',
  reordered: 'reordered',
}

function faultsText(faults: SimulationReport['faultsInjected']): string {
  const injected = chaosNames.filter(name => faults[name] > 0)
  return injected.map(name => `${count(faults[name])} ${faultNames[name]}`).join(', ') || 'none'
}

export function verdict({ passed, complete, differencesCount, books, faults }: SimulationReport): string {
  if (passed) {
    const survived = faults === null ? '' : `: ${faultSuccess(faults)}`
    return `PASSED: the books of ${playersText(books.players.length)} and the wallet agree to the cent${survived}.`
  }
  const problems = [
    ...(faults === null ? [] : faultProblems(faults)),
    ...(complete ? [] : ['the wallet stopped answering']),
  ]
  if (differencesCount > 0 || problems.length === 0 || !complete)
    problems.push(differencesIn(differencesCount))
  return `FAILED: ${problems.join('; ')}.`
}

const playersText = (value: number) => `${count(value)} ${value === 1 ? 'player' : 'players'}`
const differencesIn = (value: number) => `${count(value)} ${value === 1 ? 'difference' : 'differences'}`
const count = (value: number) => value.toLocaleString('en')
const seconds = (value: number) => `${(value / 1000).toFixed(1)} s`
const milliseconds = (value: number) => `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`
