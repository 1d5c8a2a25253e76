/** A drill as text for a terminal: one page. */
import { countText, durationText, numberText } from '../html/figures.js'
import { sumsText } from '../simulator/progress.js'
import type { DrillReport, Durability, FaultReport, WrongReplay } from './report.js'

/** More of them are in the report as data. */
const shownMax = 10

/** The report as text of several lines. */
export function formatDrill(report: DrillReport): string {
  const { faults, lost, repeated } = report
  return [
    verdictOf(report),
    ...blameOf(report).map(sentence => `  ${sentence}`),
    '',
    ...tableOf([faultColumns, ...faults.map(faultCells)]),
    ...faults.flatMap(({ name, problems }) => problems.map(problem => `  ${name}: ${problem}`)),
    '',
    ...replayLines('Lost', lost),
    ...replayLines('Decided anew by each retry', repeated),
    ...tableOf(factsOf(report)),
  ].join('\n')
}

/** `FAILED: 3 answered calls were lost.` */
export function verdictOf(report: DrillReport): string {
  const { passed, stopped, faults, lost, repeated, notRetried, costsAfter, simulation } = report
  if (passed) {
    const longest = durationText(Math.max(0, ...faults.map(({ silentMs }) => silentMs)))
    return `PASSED: ${countText(faults.length, 'fault')}, nothing was lost. The longest silence was ${longest}.`
  }
  const never = faults.find(({ answeredAgain }) => answeredAgain === 'never')
  const problems = [
    lost.length > 0 ? `${countText(lost.length, 'answered call')} ${were(lost)} lost` : '',
    repeated.length > 0
      ? `${countText(repeated.length, 'call')} ${were(repeated)} decided anew by each retry`
      : '',
    never === undefined ? '' : `after "${never.name}" the wallet did not answer again`,
    notRetried > 0 ? `${countText(notRetried, 'answered call')} could not be sent again` : '',
    costsAfter.length > 0 ? 'balances are wrong even after the retries' : '',
    faults.some(fault => fault.problems.length > 0) ? 'a command failed' : '',
    stopped ?? '',
    simulation.passed || lost.length > 0
      ? ''
      : `${countText(simulation.differencesCount, 'answer')} under load differed`,
  ].filter(Boolean)
  return `FAILED: ${problems.join('; ')}.`
}

const were = (list: readonly unknown[]) => (list.length === 1 ? 'was' : 'were')

/** What each level means for a failover. */
const consequences: Record<NonNullable<Durability['level']>, string> = {
  alone: 'No other server has its commits: if this server or its disk is lost, so is every answered call.',
  asynchronous: 'It answers before another server has the commit: a failover loses the last answered calls.',
  synchronous:
    'So the settings do not explain the loss: look for an old primary that still accepts writes, a proxy that leads to it, or a wallet that answers before its commit.',
}

/** Which setting is to blame, or would be the next time. */
export function blameOf({ faults, lost, durability }: DrillReport): string[] {
  const lossy = faults.flatMap(fault => (fault.lost > 0 && fault.before !== null ? [fault.before] : []))
  if (lost.length > 0 && lossy.length === 0)
    return ['Give --database-url, and the drill names the setting of the database that is to blame.']
  if (lost.length > 0) return distinct(lossy).map(blameText)
  const always = distinct([...faults.map(({ before }) => before), durability].filter(isWeak))
  if (always.length > 0)
    return ['Nothing was lost this time, and may be the next time.', ...always.map(blameText)]
  const fallback = faults.find(({ after }) => isWeak(after))
  if (fallback?.after == null) return []
  return [`After "${fallback.name}", until its repair: ${blameText(fallback.after)}`]
}

const isWeak = (durability: Durability | null): durability is Durability =>
  durability?.level === 'alone' || durability?.level === 'asynchronous'

function distinct(list: readonly Durability[]): Durability[] {
  return [...new Map(list.map(each => [`${each.level} ${each.reason}`, each])).values()]
}

const blameText = ({ level, reason }: Durability): string =>
  level === null
    ? `The settings of the database could not be read: ${reason}.`
    : `The database is ${level}: ${reason}. ${consequences[level]} See docs/operations.md#durability.`

export const faultColumns = [
  'Fault',
  'Lost',
  'Silent for',
  'Answered again',
  'Database before',
  'Database after',
]

export function faultCells({ name, lost, silentMs, answeredAgain, before, after }: FaultReport): string[] {
  return [
    name,
    numberText(lost),
    answeredAgain === null ? '–' : durationText(silentMs),
    answeredAgain ?? 'the command failed',
    levelText(before),
    levelText(after),
  ]
}

const levelText = (durability: Durability | null): string =>
  durability === null ? '–' : (durability.level ?? 'not readable')

function replayLines(title: string, calls: readonly WrongReplay[]): string[] {
  if (calls.length === 0) return []
  const shown = calls.slice(0, shownMax)
  const more = calls.length - shown.length
  return [
    title,
    ...shown.map(call => `  ${callText(call)}`),
    ...(more === 0 ? [] : [`  and ${numberText(more)} more (--json)`]),
    '',
  ]
}

export function callText(call: WrongReplay): string {
  const { operation, transactionId, betId, playerId, amount, currency, answeredAt, answer, retryAnswer } =
    call
  return (
    `${answeredAt} ${operation} ${transactionId} of ${betId}, player ${playerId}, ${amount} ${currency}: ` +
    `answered ${answer}, and its retry ${retryAnswer}`
  )
}

/** Names and values. */
export function factsOf(report: DrillReport): [string, string][] {
  const { answered, lost, repeated, notRetried, costsBefore, costsAfter, simulation, durability } = report
  const replayed = answered - lost.length - repeated.length - notRetried
  const differences = new Map<string, number>()
  for (const { kind, count } of simulation.groups) differences.set(kind, (differences.get(kind) ?? 0) + count)
  return [
    ['Answered calls', `${numberText(answered)}, of which ${numberText(replayed)} were replayed at the end`],
    ['Balances before the retries', costsText(costsBefore)],
    ['Balances after the retries', costsText(costsAfter)],
    ['Database at the end', durability === null ? '–' : `${levelText(durability)}: ${durability.reason}`],
    ['Load', `${countText(simulation.counts.bets, 'bet')}, ${countText(simulation.requests, 'call')}`],
    [
      'Differences in it',
      [...differences].map(([kind, count]) => `${numberText(count)} × ${kind}`).join(', ') || 'none',
    ],
    ['Ids begin with', `${report.runId}, seed ${report.seed}`],
  ]
}

const costsText = (costs: DrillReport['costsBefore']): string =>
  costs.map(cost => `wrong of ${countText(cost.players, 'player')}: ${sumsText([cost])}`).join('; ') ||
  'right, to the cent'

/** Columns of the width of their longest cell. */
function tableOf(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map(row => row[column]?.length ?? 0)))
  return rows.map(row =>
    row
      .map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0)))
      .join('  '),
  )
}
