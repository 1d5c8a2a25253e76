/** The counts of a soak as a table with one column per phase. "–": not counted in this phase. */
import type { PhaseReport } from './run.js'

type Row = readonly [name: string, value: (report: PhaseReport) => number | null]

const killNames: Record<string, string> = {
  wallet: 'kills of a wallet process',
  postgres: 'kills of PostgreSQL',
}

/** One row for each kind of fault. */
const killsOf = (reports: readonly PhaseReport[]): Row[] =>
  [...new Set(reports.flatMap(({ kills }) => Object.keys(kills)))].map(kind => [
    killNames[kind] ?? kind,
    ({ kills }) => kills[kind] ?? 0,
  ])

const lines: readonly Row[] = [
  ['calls in flight at kills and cut-overs', ({ inFlightAtKills }) => inFlightAtKills],
  ['calls sent', ({ traffic }) => traffic.sent],
  ['  answered with success', ({ traffic }) => traffic.succeeded],
  ['  refused', ({ traffic }) => traffic.refused],
  ['  answered 500 or 503', ({ traffic }) => traffic.faults],
  ['  not answered', ({ traffic }) => traffic.unanswered],
  ['  of them abandoned by the platform', ({ traffic }) => traffic.abandoned],
  ['retried', ({ traffic }) => traffic.retried],
  ['sent twice concurrently', ({ traffic }) => traffic.twice],
  ['delivered late', ({ traffic }) => traffic.late],
  ['lost answers of COMMIT (COMMIT_UNKNOWN)', ({ faults }) => faults.COMMIT_UNKNOWN ?? 0],
  ['bets', ({ books }) => books?.bets ?? 0],
  ['  rolled back', ({ books }) => books?.rolledBack ?? 0],
  ['  of them before they arrived', ({ books }) => books?.tombstones ?? 0],
  ['  settled', ({ books }) => books?.settled ?? 0],
  ['transactions', ({ books }) => books?.transactions ?? 0],
  ['  recorded refusals', ({ books }) => books?.recordedRefusals ?? 0],
  ['  of the legacy integration', ({ books }) => books?.imported ?? 0],
  ['uncollected clawbacks', ({ traffic }) => traffic.debts],
  ['movements by the PAM itself', ({ books }) => books?.movements ?? 0],
  ['changes of balances', ({ books }) => books?.balanceChanges ?? 0],
  ['answered, lost, and found to be lost', ({ lost }) => lost?.answers.length ?? null],
  ['calls retried at the end', ({ retriedAtEnd }) => retriedAtEnd],
  ['differences', ({ differences }) => differences.length],
]

const sumOf = (values: readonly (number | null)[]) =>
  values.every(each => each === null) ? null : values.reduce<number>((sum, each) => sum + (each ?? 0), 0)

export function tableOf(reports: readonly PhaseReport[]): string {
  const heads = [...reports.map(({ name }) => name), 'all']
  const widths = heads.map(head => Math.max(head.length, 8))
  const row = (name: string, cells: readonly string[]) =>
    [name.padEnd(40), ...cells.map((cell, index) => cell.padStart(widths[index] ?? 8))].join('  ')
  const body = [...killsOf(reports), ...lines].map(([name, value]) => {
    const values = reports.map(value)
    return row(
      name,
      [...values, sumOf(values)].map(each => each?.toLocaleString('en') ?? '–'),
    )
  })
  return [
    row('', heads),
    row(
      '─'.repeat(40),
      widths.map(width => '─'.repeat(width)),
    ),
    ...body,
  ].join('\n')
}
