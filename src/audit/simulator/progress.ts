/** A simulation as text for a terminal. */
import { type Chaos, chaosNames } from './chaos.js'
import type { Difference, SimulationProgress, SimulationReport } from './report.js'

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

/** The report as text of several lines: the differences, a table, and the verdict in the last line. */
export function formatSimulationReport(report: SimulationReport): string {
  const rows = [...countRows(report), ...answerRows(report)]
  const width = Math.max(...rows.map(([name]) => name.length))
  return [
    ...differenceLines(report),
    ...rows.map(([name, value]) => `${name.padEnd(width)}  ${value}`),
    '',
    verdict(report),
  ].join('\n')
}

function differenceLines({ differences, differencesCount }: SimulationReport): string[] {
  if (differencesCount === 0) return []
  const lines = [differencesIn(differencesCount).toUpperCase(), '']
  for (const [index, difference] of differences.entries()) lines.push(...linesOf(difference, index + 1))
  if (differences.length < differencesCount)
    lines.push(`     and ${count(differencesCount - differences.length)} more`)
  return [...lines, '']
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

function countRows(report: SimulationReport): [string, string][] {
  const { counts, latencyMs, requests, durationMs, requestsPerSecond } = report
  const { p50, p90, p99, max } = latencyMs
  return [
    ['requests', `${count(requests)} in ${seconds(durationMs)}, ${count(Math.round(requestsPerSecond))}/s`],
    [
      'latency',
      `p50 ${milliseconds(p50)}, p90 ${milliseconds(p90)}, p99 ${milliseconds(p99)}, max ${milliseconds(max)}`,
    ],
    [
      'bets',
      `${count(counts.bets)} (${count(counts.multiples)} multiples): ${count(counts.betsAccepted)} accepted, ` +
        `${count(counts.betsRefused)} refused, ${count(counts.betsRolledBack)} rolled back`,
    ],
    ['matches', `${count(counts.matches)}, with ${count(counts.goals)} goals`],
    [
      'settlements',
      `${count(counts.settlements)}, including ${count(counts.voids)} voids and ${count(counts.cashOuts)} cash-outs`,
    ],
    [
      'unsettlements',
      `${count(counts.unsettlements)}, ${count(counts.clawbacksRefused)} of them refused for lack of funds; ` +
        `${count(counts.earlyUnsettlements)} arrived before their settlement`,
    ],
    [
      'uncollected clawbacks',
      `${debtsText(report.debts)} outstanding; recovered from ${count(counts.recoveries)} winnings`,
    ],
    ['replays absorbed', count(counts.replaysAbsorbed)],
    ['late bets refused', count(counts.lateBetsRefused)],
    ['faults injected', faultsText(report.faultsInjected)],
    ['failed calls', counts.failedCalls === 0 ? 'none' : count(counts.failedCalls)],
    [
      'balances judged',
      `${count(counts.balancesExact)} to the cent, ${count(counts.balancesInRange)} within the range of requests in flight`,
    ],
    ['retried at the end', `${count(counts.retriedAtEnd)} transactions`],
    ['seed', `${report.seed}, ids begin with ${report.runId}`],
  ]
}

function answerRows({ answers }: SimulationReport): [string, string][] {
  return Object.entries(answers).map(([operation, counts]) => {
    const all = Object.entries(counts).sort(([, a], [, b]) => b - a)
    return [operation, all.map(([answer, times]) => `${answer}: ${count(times)}`).join(', ') || 'never']
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

function verdict({ passed, complete, differencesCount, books }: SimulationReport): string {
  const players = `${count(books.players.length)} ${books.players.length === 1 ? 'player' : 'players'}`
  if (passed) return `PASSED: the books of ${players} and the wallet agree to the cent.`
  if (complete) return `FAILED: ${differencesIn(differencesCount)}.`
  return `FAILED: the wallet stopped answering; ${differencesIn(differencesCount)}.`
}

const differencesIn = (value: number) => `${count(value)} ${value === 1 ? 'difference' : 'differences'}`
const count = (value: number) => value.toLocaleString('en')
const seconds = (value: number) => `${(value / 1000).toFixed(1)} s`
const milliseconds = (value: number) => `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`
