/** A simulation in words, for a terminal. Pure: texts in and out. */
import { chaosNames } from './chaos.js'
import type { SimulationProgress, SimulationReport } from './report.js'

const barWidth = 24

/**
 * One line on how far it is, at most `columns` wide.
 *
 * @param options.bar whether with a bar, for a terminal that can write over its last line
 */
export function formatProgress(
  progress: SimulationProgress,
  { bar, columns = 110 }: { bar: boolean; columns?: number },
): string {
  const { phase, bets, betsMax, elapsedMs, durationMs, differencesCount, walletUnreachable, failedCalls } =
    progress
  const share =
    phase === 'opening'
      ? 0
      : phase !== 'betting'
        ? 1
        : Math.min(
            1,
            Math.max(betsMax === null ? 0 : bets / betsMax, durationMs === null ? 0 : elapsedMs / durationMs),
          )
  const filled = Math.round(share * barWidth)
  const parts = [
    bar ? `[${'█'.repeat(filled)}${'░'.repeat(barWidth - filled)}]` : '',
    `${Math.floor(share * 100)} %`.padStart(5),
    phase,
    `${count(bets)} bets`,
    `${count(progress.requests)} requests`,
    `${count(Math.round(progress.requestsPerSecond))}/s`,
    `p99 ${milliseconds(progress.latencyMs.p99)}`,
    walletUnreachable ? 'THE WALLET DOES NOT ANSWER' : '',
    differencesIn(differencesCount),
    `${count(progress.replaysAbsorbed)} replays`,
    `${count(progress.betsRolledBack)} rollbacks`,
    failedCalls === 0 ? '' : `${count(failedCalls)} failed calls`,
  ].filter(Boolean)
  return parts.join('  ').slice(0, columns)
}

/** The report as text of several lines. Differences first: they are what it is about. */
export function formatReport(report: SimulationReport): string {
  const { counts, latencyMs, differences, differencesCount } = report
  const lines: string[] = []

  if (differencesCount > 0) {
    lines.push(differencesIn(differencesCount).toUpperCase(), '')
    for (const [index, difference] of differences.entries()) {
      const {
        kind,
        playerId,
        betId,
        operation,
        transactionId,
        amount,
        currency,
        expected,
        actual,
        recentTransactions,
      } = difference
      const sum = amount === null ? '' : `, ${amount.startsWith('-') ? amount : `+${amount}`} ${currency}`
      lines.push(
        `${String(index + 1).padStart(3)}. ${kind}: player ${playerId}${betId === '' ? '' : `, bet ${betId}`}${sum}`,
        `     expected  ${expected}`,
        `     found     ${actual}`,
      )
      if (transactionId !== null)
        lines.push(`     at        ${operation} ${transactionId}, step ${difference.step}`)
      for (const [place, name] of recentTransactions.entries())
        lines.push(`     ${place === 0 ? 'since' : '     '}     ${name}`)
    }
    if (differences.length < differencesCount) {
      lines.push(`     and ${count(differencesCount - differences.length)} more`)
    }
    lines.push('')
  }

  const injected = chaosNames.filter(name => report.faultsInjected[name] > 0)
  const table: [string, string][] = [
    [
      'requests',
      `${count(report.requests)} in ${seconds(report.durationMs)}, ${count(Math.round(report.requestsPerSecond))}/s`,
    ],
    [
      'latency',
      `p50 ${milliseconds(latencyMs.p50)}, p90 ${milliseconds(latencyMs.p90)}, ` +
        `p99 ${milliseconds(latencyMs.p99)}, max ${milliseconds(latencyMs.max)}`,
    ],
    [
      'bets',
      `${count(counts.bets)} (${count(counts.multiples)} multiples): ${count(counts.betsAccepted)} accepted, ` +
        `${count(counts.betsRefused)} refused, ${count(counts.betsRolledBack)} rolled back`,
    ],
    ['matches', `${count(counts.matches)}, with ${count(counts.goals)} goals`],
    [
      'settlements',
      `${count(counts.settlements)}, of them ${count(counts.voids)} voids and ${count(counts.cashOuts)} cash-outs`,
    ],
    [
      'unsettlements',
      `${count(counts.unsettlements)}, of them ${count(counts.clawbacksRefused)} refused for funds; ` +
        `${count(counts.earlyUnsettlements)} calls came before their settlement; debts recovered from ${count(counts.recoveries)} winnings`,
    ],
    [
      'debts outstanding',
      Object.entries(report.debts)
        .map(([currency, debt]) => `${debt} ${currency}`)
        .join(', ') || 'none',
    ],
    ['replays absorbed', count(counts.replaysAbsorbed)],
    ['late bets refused', count(counts.lateBetsRefused)],
    [
      'faults injected',
      injected.map(name => `${inWords(name)} ${count(report.faultsInjected[name])}`).join(', ') || 'none',
    ],
    ['failed calls', counts.failedCalls === 0 ? 'none' : count(counts.failedCalls)],
    [
      'balances judged',
      `${count(counts.balancesExact)} to the cent, ${count(counts.balancesInRange)} within what was on its way`,
    ],
    ['repeated at the end', `${count(counts.retriedAtEnd)} transactions`],
    ['seed', `${report.seed}, ids begin with ${report.runId}`],
  ]
  for (const [operation, answers] of Object.entries(report.answers)) {
    const all = Object.entries(answers).sort(([, a], [, b]) => b - a)
    table.push([operation, all.map(([answer, times]) => `${answer}: ${count(times)}`).join(', ') || 'never'])
  }
  const width = Math.max(...table.map(([name]) => name.length))
  for (const [name, value] of table) lines.push(`${name.padEnd(width)}  ${value}`)

  lines.push('', verdict(report))
  return lines.join('\n')
}

function verdict({ passed, complete, differencesCount, books }: SimulationReport): string {
  const players = `${count(books.players.length)} ${books.players.length === 1 ? 'player' : 'players'}`
  if (passed) return `Reconciled: the books of ${players} and the wallet agree to the cent.`
  if (complete) return `NOT RECONCILED: ${differencesIn(differencesCount)}.`
  return `NOT RECONCILED: the wallet stopped answering; ${differencesIn(differencesCount)}.`
}

const inWords = (name: string) => name.replace(/[A-Z]/g, letter => ` ${letter.toLowerCase()}`)
const differencesIn = (value: number) => `${count(value)} ${value === 1 ? 'difference' : 'differences'}`
const count = (value: number) => value.toLocaleString('en')
const seconds = (value: number) => `${(value / 1000).toFixed(1)} s`
const milliseconds = (value: number) => `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`
