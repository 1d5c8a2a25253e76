/** A reconciliation as text for a terminal. */

import { escapeInvisible } from '../../visible-text.js'
import { countText, durationText, numberText } from '../html/figures.js'
import { amountText, signed } from './amounts.js'
import type { KindTotal } from './collection.js'
import type { Difference } from './difference.js'
import type { GroupSum } from './groups.js'
import type { Reconciliation } from './reconciliation.js'
import { countedCurrencies, isCounted } from './totals.js'
import { effectText, subjectOf, timeText, verdictSentence, verdictWords } from './words.js'

/** Differences per kind, and bets and players. */
const shownMax = 10

/**
 * Formats the verdict, totals, differences with their bets, and the bets and players that differ most.
 *
 * @returns lines without a line end at the end; invisible characters of ids are written like `\u200b`
 */
export function formatReconciliation(reconciliation: Reconciliation): string {
  const { from, to, timeZone, rows, totals, kinds, differences, durationMs, notes, verdict } = reconciliation
  const counts = `Report: ${countText(rows.report, 'row')}; ${numberText(rows.outside)} outside of the range; ${numberText(rows.ignored)} ignored. Wallet: ${countText(rows.wallet, 'transaction')}.`
  const parts = [
    `From ${timeText(from)} to ${timeText(to)}${timeZone === 'UTC' ? '' : `, days of ${timeZone}`}. ${counts}`,
    totals.length === 0 ? '' : totalsTable(reconciliation),
    kinds.length === 0 ? '' : kindsTable(reconciliation),
    ...kinds.map(kind => listOf(kind, differences)),
    groupsTable('Bet', reconciliation.bets, reconciliation.betsOmitted),
    groupsTable('Player', reconciliation.players, reconciliation.playersOmitted),
    notes.join('\n'),
    `${verdictWords[verdict].toUpperCase()}: ${verdictSentence(reconciliation)} (${durationText(durationMs)})`,
  ]
  return escapeInvisible(parts.filter(part => part !== '').join('\n\n'))
}

function totalsTable(reconciliation: Reconciliation): string {
  return table(
    [
      ['Day', 'Operation', 'Currency', 'Report', 'Amount', 'Wallet', 'Amount', 'Difference'],
      ...reconciliation.totals
        .filter(isCounted)
        .map(({ day, operation, currency, report, wallet, difference }) => [
          day || 'all',
          operation,
          currency ?? '?',
          numberText(report.count),
          amountText(report.amount, currency),
          numberText(wallet.count),
          amountText(wallet.amount, currency),
          signed(difference, currency),
        ]),
      ...countedCurrencies(reconciliation).map(({ currency, report, wallet, difference }) => [
        '',
        'net for players',
        currency ?? '?',
        '',
        signed(report, currency),
        '',
        signed(wallet, currency),
        signed(difference, currency),
      ]),
    ],
    3,
  )
}

function kindsTable({ kinds }: Reconciliation): string {
  const rows = kinds.map(({ title, count, effects }) => [title, numberText(count), effectText(effects)])
  return table([['Differences', 'Count', 'Wallet compared with the report'], ...rows], 1)
}

function listOf({ kind, title, sentence, count }: KindTotal, all: readonly Difference[]): string {
  const shown = all.filter(difference => difference.kind === kind).slice(0, shownMax)
  const more = count - shown.length
  const rest = more === 0 ? [] : [`  … and ${numberText(more)} more: --json and --lines have them`]
  return [title, `  ${sentence}`, ...shown.map(entryOf), ...rest].join('\n')
}

function entryOf(difference: Difference): string {
  const { operation, transactionId, betId, playerId } = subjectOf(difference)
  const { effects, explanation, bet } = difference
  const player = playerId === null ? '' : `, player ${playerId}`
  return [
    `  ${operation} ${transactionId}, bet ${betId}${player}: ${effectText(effects)}`,
    `    ${explanation}`,
    ...(bet === null ? [] : ['    The bet in the wallet:', ...bet.map(line => `      ${line}`)]),
  ].join('\n')
}

function groupsTable(name: string, groups: readonly GroupSum[], omitted: number): string {
  if (groups.length === 0) return ''
  const shown = groups.slice(0, shownMax)
  const rows = shown.map(({ id, currency, count, report, wallet, difference }) => [
    id ?? '(unknown)',
    currency ?? '?',
    numberText(count),
    signed(report, currency),
    signed(wallet, currency),
    signed(difference, currency),
  ])
  const more = groups.length - shown.length + omitted
  const header = [name, 'Currency', 'Differences', 'Report', 'Wallet', 'Difference']
  return `${table([header, ...rows], 2)}${more === 0 ? '' : `\n… and ${numberText(more)} more`}`
}

/** Columns with two spaces between them. @param left how many columns are aligned to the left */
function table(rows: readonly (readonly string[])[], left: number): string {
  const widths = (rows[0] ?? []).map((_, index) => Math.max(...rows.map(row => (row[index] ?? '').length)))
  return rows
    .map(row =>
      row
        .map((cell, index) =>
          index < left ? cell.padEnd(widths[index] ?? 0) : cell.padStart(widths[index] ?? 0),
        )
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}
