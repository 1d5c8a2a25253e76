/** A reconciliation as text for a terminal. */

import { escapeInvisible } from '../../visible-text.js'
import { countText, durationText, numberText } from '../html/figures.js'
import { amountText, signed } from './amounts.js'
import type { Difference } from './difference.js'
import type { GroupSum } from './groups.js'
import type { Reconciliation } from './reconciliation.js'
import { orderText } from './sending-order.js'
import { countedCurrencies, isCounted } from './totals.js'
import {
  effectText,
  gapText,
  listed,
  repairNames,
  subjectOf,
  timeText,
  verdictSentence,
  verdictWords,
} from './words.js'

/** Differences per kind, and bets and players. */
const shownMax = 10

/**
 * Formats the verdict, totals, differences with their repairs, and the bets and players that differ most.
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
    gapsText(reconciliation),
    ...kinds.map(({ kind, title, count }) =>
      listOf(
        title,
        count,
        differences.filter(difference => difference.kind === kind),
      ),
    ),
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

function gapsText({ gaps }: Reconciliation): string {
  if (gaps.length === 0) return ''
  const more = gaps.length - shownMax
  return [
    'Gaps',
    ...gaps.slice(0, shownMax).map(gap => `  ${gapText(gap)}`),
    ...(more > 0 ? [`  … and ${numberText(more)} more: --json has them`] : []),
  ].join('\n')
}

function listOf(title: string, count: number, differences: readonly Difference[]): string {
  const order = orderText(differences)
  const shown = listed(differences).slice(0, shownMax)
  const more = count - shown.length
  const where =
    order === '' ? '--json and --lines have them' : '--json has them in this order, --lines in none'
  const rest = more === 0 ? [] : [`  … and ${numberText(more)} more: ${where}`]
  return [title, ...(order === '' ? [] : [`  ${order}`]), ...shown.map(entryOf), ...rest].join('\n')
}

function entryOf(difference: Difference): string {
  const { operation, transactionId, betId, playerId } = subjectOf(difference)
  const { effects, explanation, repair } = difference
  const player = playerId === null ? '' : `, player ${playerId}`
  return [
    `  ${operation} ${transactionId}, bet ${betId}${player}: ${effectText(effects)}`,
    `    ${explanation}`,
    `    ${repairNames[repair.by]}: ${repair.text}`,
    ...repair.calls.map(({ curl }) => `    ${curl}`),
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
